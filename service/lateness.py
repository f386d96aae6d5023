"""How late searches end, learned from those that have ended.

A search ends later than it is told: it has to see that its time is over, to put its answer together
and to hand it over, and beside other busy programs its thread may have to wait for a core first.
What is late is lost, so what counts is how late searches are at worst: a rise is learned from the
first search that shows it, and forgotten slowly.
"""

FIRST = 0.001
MOST = 0.1
"""Seconds that a search is thought to be late at first, and at most."""
MEMORY = 0.95
"""How much of what was expected so far is kept when one is less late."""


class Lateness:
    """How late searches end.

    Attributes
    ----------
    expected : float
        Seconds by which the next one will hardly be later.
    """

    def __init__(self) -> None:
        self.expected = FIRST

    def learn(self, seconds: float) -> None:
        """See how late one was."""
        seconds = min(seconds, MOST)
        self.expected = max(seconds, MEMORY * self.expected + (1 - MEMORY) * seconds)

    def within(self, seconds: float) -> float:
        """Tell how much of the time left to a search to keep for its lateness: half at most."""
        return min(self.expected, max(0.0, seconds / 2))
