"""Import every module of an installed Aleator and make it suggest a move, from its wheel alone."""

import pkgutil
from importlib import import_module

import aleator
from aleator.search import Engine, Limits, Position

TRACES = "aleator.service.telemetry.traces"
"""Needs an extra, which the wheel alone has not."""

modules = [module.name for module in pkgutil.walk_packages(aleator.__path__, "aleator.")]
for name in modules:
    if not name.endswith("__main__") and name != TRACES:
        import_module(name)

position = Position.create("roygbiv", seed=1)
analysis = Engine().suggest(position, limits=Limits(simulations=1000), seed=1)
assert analysis.best_move.notation in {move.notation for move in position.moves()}
print(f"{len(modules)} modules; from the opening, play {analysis.best_move.notation}")
