from collections.abc import Sequence
from typing import Final, TypedDict

from aleator.ext.core.game import Game, State
from aleator.ext.games.my_shelfie_evaluation import WinShare

HAND_DICE: Final[tuple[tuple[int, ...], ...]]
CIRCLE_SETS: Final[tuple[tuple[int, ...], ...]]
CIRCLE_MOVES: Final[int]
CROSS_MOVES: Final[int]
LARGEST_VALUE: Final[int]

class MyShelfieFields(TypedDict):
    sheets: list[list[int]]
    dice: list[int]
    rerolls: int
    seat_to_act: int | None
    start_seat: int

class MyShelfie(Game):
    @property
    def judge(self) -> WinShare: ...
    @property
    def immediate_end(self) -> bool: ...
    def __init__(
        self, players: int = 2, values: Sequence[int] = ..., immediate_end: bool = False
    ) -> None: ...
    def pack(
        self,
        sheets: Sequence[Sequence[int]],
        dice: Sequence[int],
        rerolls: int,
        seat_to_act: int | None,
        start_seat: int,
    ) -> State: ...
    def unpack(self, state: State) -> MyShelfieFields: ...
    def dice_to_roll(self, state: State) -> int: ...
    def roll(self, state: State, dice: Sequence[int]) -> State: ...
