"""What every drawing of a game offers."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from rich.console import RenderableType

Record = dict[str, Any]


@dataclass(frozen=True)
class Scene:
    """One moment of a game, as one seat sees it.

    Attributes
    ----------
    state
        Record of the observation of the person's seat.
    options
        Options of the game, none left out.
    names
        What to call each seat.
    events
        Records of the public events to point out, oldest first.
    before
        For each of these events, what the seat saw before the moves that it came of; empty if that
        is not known.
    seat
        The seat in question: that of the person who looks, or the one that a highlighted move is
        of; None if there is none.
    win_shares
        Each seat's share of the win; empty while the game goes on.
    """

    state: Record
    options: Record
    names: Sequence[str]
    events: Sequence[Record] = ()
    before: Sequence[Record] = ()
    seat: int | None = None
    win_shares: Sequence[float] = ()

    @property
    def result(self) -> str:
        """Who won, as a sentence; empty while the game goes on."""
        winners = [name for name, share in zip(self.names, self.win_shares, strict=False) if share]
        if not winners:
            return ""
        return f"{'Won' if len(winners) == 1 else 'Shared'} by {' and '.join(winners)}."


class Drawing(ABC):
    """How one game is shown to a person and how the person types a move."""

    game: ClassVar[str]
    move_help: ClassVar[str]
    """One line: how a move is typed, with an example."""

    @abstractmethod
    def draw(self, scene: Scene) -> RenderableType:
        """Picture of a scene, with all that the person may know."""

    @abstractmethod
    def svg(self, scene: Scene, highlight: Record | None = None) -> str:
        """The same as an SVG document without scripts and references.

        Parameters
        ----------
        scene
            What to show.
        highlight
            A typed legal move of the seat in question, to point out.
        """

    @abstractmethod
    def read_move(self, text: str) -> str:
        """Notation of the move that a person typed in a looser spelling.

        What is not understood is returned as it is, so that the game's own
        notation explains what is wrong with it.
        """
