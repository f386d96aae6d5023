"""Bounds the memory of the trees that bots keep between their moves."""

from itertools import count
from weakref import WeakValueDictionary

from aleator.search import Trees


class Shelf:
    """The trees kept now, over all games; those kept longest are forgotten first.

    Parameters
    ----------
    memory : int
        Bytes that they take at most.
    """

    def __init__(self, memory: int) -> None:
        self._memory = memory
        self._numbers = count()
        # In the order in which they were kept; those of games that have ended are gone.
        self._kept: WeakValueDictionary[int, Trees] = WeakValueDictionary()

    @property
    def footprint(self) -> int:
        """Bytes that the trees take."""
        return sum(trees.footprint for trees in self._kept.values())

    def put(self, trees: Trees) -> None:
        """Keep what a search has left, for as long as there is memory for it."""
        sizes = {}
        for number, kept in list(self._kept.items()):
            if kept is trees or not kept.footprint:  # a search has taken what it had
                del self._kept[number]
            else:
                sizes[number] = kept.footprint
        number = next(self._numbers)
        self._kept[number] = trees
        sizes[number] = trees.footprint
        total = sum(sizes.values())
        for number, size in sizes.items():
            if total <= self._memory:
                break
            oldest = self._kept.pop(number, None)
            if oldest is not None:
                oldest.clear()
            total -= size
