from collections.abc import Sequence

from aleator.ext.core.game import State
from aleator.ext.games.my_shelfie_turn import TurnSolver

SHAPE: tuple[int, int]

class WinShare(TurnSolver):
    def __init__(
        self,
        players: int,
        values: Sequence[int],
        immediate_end: bool = False,
        weights: object = None,
    ) -> None: ...
    def win_shares(self, state: State) -> tuple[float, ...]: ...

class LineBonus(TurnSolver):
    def __init__(
        self,
        players: int,
        values: Sequence[int],
        immediate_end: bool = False,
        *,
        share: float = 0.9,
        bonus: float = 0.8,
    ) -> None: ...
