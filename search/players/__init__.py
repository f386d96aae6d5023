"""Reference players: fixed ways to play a game that the engine is measured against.

The players of a game are in the module here that is named like the game, in its `PLAYERS`, by the
names that stand for them in the specification of a bot.
"""

import random
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TypeAlias

from aleator.search.position import Move, Position

Player: TypeAlias = Callable[[Position, int, random.Random], Move]
"""Chooses a move: from what the seat knows, the seat, and its own luck."""


@cache
def players_of(game: str) -> Mapping[str, Player]:
    """The reference players of a game by name; empty if it has none."""
    if game not in {module.name for module in iter_modules(__path__)}:
        return {}
    players: Mapping[str, Player] = import_module(f"{__name__}.{game}").PLAYERS
    return players
