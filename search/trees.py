"""What is kept of a seat's search for its next one."""

from collections.abc import Sequence

from aleator.ext.core.reuse import can_continue, continue_tree
from aleator.ext.core.search import Search


class Trees:
    """The trees of a seat's last search, for its next one to go on from.

    For one seat of one game, and one search at a time; meanwhile any thread may clear them.
    """

    def __init__(self) -> None:
        self._searches: Sequence[Search] = ()
        self._move = 0

    @property
    def footprint(self) -> int:
        """Bytes that they take."""
        return sum(search.footprint for search in self._searches)

    def clear(self) -> None:
        """Forget them."""
        self._searches = ()

    def keep(self, searches: Sequence[Search], move: int) -> None:
        """Keep the trees of a search that was answered with a move, instead of those before.

        None are kept that no search could go on from.
        """
        self._move = move
        self._searches = searches if all(can_continue(search, move) for search in searches) else ()

    def take(self) -> "Trees":
        """Hand them out: nothing is kept any more."""
        taken = Trees()
        taken._searches, taken._move = self._searches, self._move
        self.clear()
        return taken

    def footprint_of(self, index: int) -> int:
        """Bytes that one of them takes; 0 if there is none."""
        return self._searches[index].footprint if index < len(self._searches) else 0

    def continue_in(self, searches: Sequence[Search]) -> int:
        """Let each of the trees go on in one of another search, where it fits.

        Returns
        -------
        int
            How many earlier simulations came by what was kept.
        """
        return sum(
            continue_tree(search, earlier, self._move)
            for search, earlier in zip(searches, self._searches, strict=False)
            if type(search) is type(earlier)
            and search.game is earlier.game
            and search.seat == earlier.seat
        )
