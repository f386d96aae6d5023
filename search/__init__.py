"""The engine as a library: positions, limits, analyses.

    from aleator.search import Engine, Limits, Position
    position = Position.create("roygbiv", seed=1)
    print(Engine().suggest(position, limits=Limits(time=1.0)).best_move.notation)

Pure Python over the compiled rules and search in `aleator.ext`; it knows nothing of gRPC. Errors
are in `aleator.search.errors`, the games' codecs in `aleator.search.games`, bots and matches in
`aleator.search.bots` and `aleator.search.match`.
"""

from aleator.ext.core.search import StopFlag
from aleator.search.analysis import (
    Analysis,
    Candidate,
    Estimate,
    Report,
    Statistics,
    StopReason,
)
from aleator.search.engine import Engine
from aleator.search.errors import AleatorError
from aleator.search.limits import Limits
from aleator.search.position import Move, Position
from aleator.search.strength import Strength
from aleator.search.trees import Trees

__all__ = [
    "AleatorError",
    "Analysis",
    "Candidate",
    "Engine",
    "Estimate",
    "Limits",
    "Move",
    "Position",
    "Report",
    "Statistics",
    "StopFlag",
    "StopReason",
    "Strength",
    "Trees",
]
