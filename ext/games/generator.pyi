from collections.abc import Sequence
from typing import TypedDict

from aleator.ext.core.game import Game, State

class GeneratorFields(TypedDict):
    stacks: list[list[tuple[int, int]]]
    stash: list[list[int]]
    seat_to_act: int | None
    rolled: int | None
    rolls: int

class Generator(Game):
    @property
    def colours(self) -> tuple[int, ...]: ...
    @property
    def adjacent(self) -> bool: ...
    @property
    def forced_move(self) -> bool: ...
    @property
    def sub_towers(self) -> bool: ...
    @property
    def enter_stacks(self) -> bool: ...
    @property
    def max_rolls(self) -> int: ...
    def __init__(
        self,
        players: int = 2,
        horizontal: str = "any_corner",
        forced_move: bool = False,
        sub_towers: bool = False,
        enter_stacks: bool = False,
        max_rolls: int = 2000,
    ) -> None: ...
    def move_leads(self, state: State, replies: bool) -> list[tuple[int, float]]: ...
    def standings(self, state: State) -> list[tuple[float, float]]: ...
    def step(self, origin: int, target: int, unit: int) -> int: ...
    def step_parts(self, move: int) -> tuple[int, int, int] | None: ...
    def pack(
        self,
        stacks: Sequence[Sequence[tuple[int, int]]],
        seat_to_act: int | None,
        rolled: int | None,
        rolls: int,
    ) -> State: ...
    def unpack(self, state: State) -> GeneratorFields: ...
    def roll(self, state: State, colour: int) -> State: ...
