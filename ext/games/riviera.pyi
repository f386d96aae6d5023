from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from aleator.ext.core.game import Game, State

class RivieraFields(TypedDict):
    hands: list[int]
    played: list[int]
    chance_dice: list[list[int] | None]
    chance_after: list[int]
    crash_dice: list[list[int] | None]
    scores: list[int]
    choices: list[int]
    powers: list[int]
    reserved: list[int]
    reserving: list[int]
    exchanges: list[tuple[int, int, int, int, int]]
    dice: list[int]
    heap: int
    heap_size: int
    pile_size: int
    round: int
    turn: int
    phase: str
    token: int
    removed: int
    inside: int
    stopped: int
    used: int
    waiting: int
    extra: int
    turned: int
    golden: int

class Riviera(Game):
    @property
    def sequential(self) -> bool: ...
    @property
    def after_stop(self) -> bool: ...
    @property
    def hand_size(self) -> int: ...
    def __init__(
        self,
        players: int = 2,
        mode: str = "simultaneous",
        powers: bool = True,
        stars: Sequence[int] = ...,
        hand_size: int = 10,
        target: int = 40,
        removed_colour: str = "random",
        max_same_colour_in_hand: int | None = 6,
        reroll_first_roll: bool = True,
        preroll_powers: str = "before_stop",
        max_rounds: int | None = None,
    ) -> None: ...
    def pack(self, fields: RivieraFields) -> State: ...
    def unpack(self, state: State) -> RivieraFields: ...
    def can_deal(self) -> bool: ...
    def pending_chance(self, state: State) -> str | None: ...
    def asked_seats(self, state: State) -> tuple[int, int | None]: ...
    def choose_by_rules(self, state: State, seat: int) -> int: ...
    def policy_terms(self, state: State, seat: int) -> list[list[float]]: ...
    def luck_of_roll(self, state: State) -> list[float]: ...
    def outlook(
        self, hand: int, colours: int, golden: bool = False, nine: bool = False
    ) -> tuple[float, float]: ...
    def run_policies(
        self,
        weights: Sequence[Mapping[str, Any] | None],
        count: int,
        seed: int,
        first: State | None = None,
    ) -> list[tuple[list[float], list[tuple[list[int], int]]]]: ...
    def play_rounds(
        self,
        weights: Mapping[str, Any],
        scores: Sequence[int],
        used: int,
        count: int,
        seed: int,
    ) -> dict[tuple[tuple[float, ...], int | None], int]: ...
    def settle(self, state: State, result: int | Sequence[int] | None = None) -> State: ...

def valid_mask(dice: Sequence[int]) -> int: ...
def pair_mask(number: int) -> int: ...
