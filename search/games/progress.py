"""Whether a few moves lead from one position to another, for the checks of what players report.

A search through all sequences of moves, which games cut short by what a move can change at most. It
gives up after some effort, and then anything is taken to be possible.
"""

from collections.abc import Callable, Iterable
from typing import TypeVar

Place = TypeVar("Place")

EFFORT = 600
"""Positions looked at: a few milliseconds."""


def can_lead(start: Place, moves: int, following: Callable[[Place, int], Iterable[Place]]) -> bool:
    """Whether so many moves can lead to where a game is known to be.

    Parameters
    ----------
    start : object
        Where the moves begin.
    moves : int
        How many, at least 1.
    following : callable
        Gives all places after one move, of which so many moves, the second parameter, can still
        lead to the goal as far as can be seen; with none left, the goal itself or nothing.
    """
    effort = 0

    def leads(place: Place, left: int) -> bool:
        nonlocal effort
        for after in following(place, left - 1):
            effort += 1
            if left == 1 or effort > EFFORT or leads(after, left - 1):
                return True
        return False

    return leads(start, moves)
