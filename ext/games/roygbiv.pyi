from collections.abc import Sequence
from typing import TypedDict

from aleator.ext.core.game import Game, State

class RoygbivFields(TypedDict):
    cells: list[int]
    played: list[int]
    hands: list[list[int] | int]
    scores: list[int]
    seat_to_act: int | None

class Roygbiv(Game):
    open_hands: bool
    def __init__(self, players: int = 2, open_hands: bool = False) -> None: ...
    def pack(
        self,
        cells: Sequence[int],
        played: Sequence[int],
        hands: Sequence[Sequence[int] | int],
        scores: Sequence[int],
        seat_to_act: int | None,
    ) -> State: ...
    def unpack(self, state: State) -> RoygbivFields: ...
    def captured(self, state: State, move: int) -> list[tuple[int, int]]: ...
    def values_captured(self, state: State, move: int) -> tuple[int, ...]: ...
    def draw(self, state: State, value: int) -> State: ...
