"""How late searches end, learned from those that have ended.

A search ends later than it is told: it has to see that its time is over, to put its answer together
and to hand it over, and beside other busy programs its thread may have to wait for a core first.
What is late is lost, so what counts is how late searches are at worst: a rise is learned from the
first search that shows it, and forgotten slowly: with each search that is less late, and with time,
so that one hiccup of a quiet server does not shorten its searches for minutes.
"""

from collections.abc import Callable
from math import exp2
from time import monotonic

FIRST = 0.001
MOST = 0.1
"""Seconds that a search is thought to be late at first, and at most."""
MEMORY = 0.95
"""How much of what was expected so far is kept when one is less late."""
HALF_LIFE = 10.0
"""Seconds without a search in which half of what was expected beyond the first is forgotten."""


class Lateness:
    """How late searches end.

    Parameters
    ----------
    clock : callable
        Tells the time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._expected = FIRST
        self._learned = clock()

    @property
    def expected(self) -> float:
        """Seconds by which the next one will hardly be later."""
        beyond = max(0.0, self._expected - FIRST)
        passed = self._clock() - self._learned
        return self._expected - beyond * (1.0 - exp2(-passed / HALF_LIFE))

    def learn(self, seconds: float) -> None:
        """See how late one was."""
        seconds = min(seconds, MOST)
        self._expected = max(seconds, MEMORY * self.expected + (1 - MEMORY) * seconds)
        self._learned = self._clock()

    def within(self, seconds: float) -> float:
        """Tell how much of the time left to a search to keep for its lateness: half at most."""
        return min(self.expected, max(0.0, seconds / 2))
