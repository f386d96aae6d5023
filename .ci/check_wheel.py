"""Import every module of an installed Aleator and make it suggest a move, from its wheel alone."""

import pkgutil
from importlib import import_module

import aleator
from aleator.search import Engine, Limits, Position

OF_EXTRAS = {"choix", "numpy", "opentelemetry", "scipy"}
"""What the wheel alone has not: matches and traces need it."""

modules = [module.name for module in pkgutil.walk_packages(aleator.__path__, "aleator.")]
for name in modules:
    if name.endswith("__main__"):
        continue
    try:
        import_module(name)
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in OF_EXTRAS:
            raise

position = Position.create("roygbiv", seed=1)
analysis = Engine().suggest(position, limits=Limits(simulations=1000), seed=1)
assert analysis.best_move.notation in {move.notation for move in position.moves()}
print(f"{len(modules)} modules; from the opening, play {analysis.best_move.notation}")
