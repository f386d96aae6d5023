from collections.abc import Sequence
from typing import TypedDict

from aleator.ext.core.game import Game, State

class GoofspielFields(TypedDict):
    hands: list[list[int]]
    bids: list[int | None]
    prizes: list[int]
    deck: list[int]
    scores: list[int]

class Goofspiel(Game):
    cards: int
    def __init__(self, players: int = 2, cards: int = 13) -> None: ...
    def pack(
        self,
        hands: Sequence[Sequence[int]],
        bids: Sequence[int | None],
        prizes: Sequence[int],
        deck: Sequence[int],
        scores: Sequence[int],
    ) -> State: ...
    def unpack(self, state: State) -> GoofspielFields: ...
    def turn_over(self, state: State, prize: int) -> State: ...
