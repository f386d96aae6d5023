"""Whether a few moves lead from one position to another, for the checks of what players report.

A search through all sequences of moves, which games cut short by what a move can change at most. It
gives up after some effort, and then anything is taken to be possible.
"""

from collections.abc import Callable, Iterable
from typing import TypeVar

Place = TypeVar("Place")

EFFORT = 250
"""Positions looked at: a few milliseconds."""


def can_lead(
    start: Place,
    moves: int,
    following: Callable[[Place], Iterable[Place]],
    promising: Callable[[Place, int], bool],
) -> bool:
    """Whether so many moves can lead to where a game is known to be.

    Parameters
    ----------
    start : object
        Where the moves begin.
    moves : int
        How many, at least 1.
    following : callable
        Gives all places after one move.
    promising : callable
        Whether so many more moves, the second parameter, can lead on to the goal, as far as can be
        seen; with none, whether it is reached.
    """
    effort = 0

    def leads(place: Place, left: int) -> bool:
        nonlocal effort
        for after in following(place):
            effort += 1
            if effort > EFFORT:
                return True
            if promising(after, left - 1) and (left == 1 or leads(after, left - 1)):
                return True
        return False

    return promising(start, moves) and leads(start, moves)
