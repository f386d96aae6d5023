"""A clock for all moves of a seat in a game, and how much of it a move may have.

What is left is spread evenly over the decisions that the seat has probably still to make, a
number that each game estimates from its position. Where that is uncertain the estimate grows with
the length of the game, so that a long game goes on with ever less time for each move, but never
with none.
"""

from dataclasses import dataclass

from aleator.search.position import Position

RESERVE = 0.25
"""Seconds that are kept back for what happens besides searching."""
RESERVE_SHARE = 0.3
"""Share of the time left that is kept back at most."""
INCREMENT_SHARE = 0.8
"""Of the increment, what is spent at once."""
MOST_SHARE = 0.2
"""Of the time left, what one move may have, however few decisions seem to be left."""


@dataclass
class Clock:
    """A clock, which runs by what `spend` is told.

    Attributes
    ----------
    left : float
        Seconds.
    increment : float
        Seconds to add to what is left after each move.
    """

    left: float
    increment: float = 0.0

    @property
    def usable(self) -> float:
        """Seconds after which the next move must be made."""
        return max(0.0, self.left - min(RESERVE, RESERVE_SHARE * self.left))

    def budget(self, position: Position, seat: int) -> float:
        """Seconds to spend on the move of a seat that is to act."""
        share = self.usable / max(1.0, position.decisions_left(seat))
        return min(share + INCREMENT_SHARE * self.increment, MOST_SHARE * self.usable)

    def spend(self, seconds: float) -> None:
        """Count time that the seat took."""
        self.left = max(0.0, self.left - seconds)
