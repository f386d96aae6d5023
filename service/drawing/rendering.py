"""Pictures as strings, for programs that show or send them."""

from enum import Enum
from io import StringIO

from rich.console import Console
from rich.text import Text

from aleator.search import Move, Position
from aleator.search.errors import InvalidInput
from aleator.service.drawing import DRAWINGS, Drawing, Scene

TEXT_WIDTH = 120
"""Characters that a line of text may have."""
TEXT_HEIGHT = 100
"""Lines that a drawing may take without being abridged."""
MOVE_STYLE = "bold green"


class Format(Enum):
    """What a picture is made of."""

    TEXT = "text"
    ANSI = "ansi"
    SVG = "svg"

    @property
    def media_type(self) -> str:
        """What the web calls it."""
        return "image/svg+xml" if self is Format.SVG else "text/plain; charset=utf-8"


def find_drawing(game: str) -> Drawing:
    """The drawing of a game.

    Raises
    ------
    InvalidInput
        If it has none; the path is ``game``.
    """
    if game not in DRAWINGS:
        raise InvalidInput.at("game", f"{game} has no drawing; there are {', '.join(DRAWINGS)}")
    return DRAWINGS[game]()


def render(
    drawing: Drawing, position: Position, format_: Format, highlight: Move | None = None
) -> str:
    """Draw a position as it is, with nothing hidden but what it hides itself.

    Parameters
    ----------
    drawing
        That of the position's game.
    position
        A full state or an observation.
    format_
        What to make of it.
    highlight
        A legal move to point out.
    """
    scene = Scene(
        state=position.record,
        options=position.options,
        names=[f"Seat {seat}" for seat in range(position.seats)],
        seat=highlight.seat if highlight else None,
        win_shares=position.win_shares or (),
    )
    if format_ is Format.SVG:
        return drawing.svg(scene, highlight.record if highlight else None)
    # The environment is left out, since it may ask for colours or forbid them.
    console = Console(
        file=StringIO(),
        width=TEXT_WIDTH,
        height=TEXT_HEIGHT,
        color_system="truecolor" if format_ is Format.ANSI else None,
        force_terminal=format_ is Format.ANSI,
        legacy_windows=False,
        _environ={},
    )
    with console.capture() as capture:
        console.print(drawing.draw(scene))
        if scene.result:
            console.print(Text(f"\n{scene.result}", "bold"))
        if highlight:
            console.print()
            console.print(_highlighted(scene, highlight))
    text = capture.get()
    if format_ is Format.TEXT:  # what fills up lines shows only if it has a colour
        text = "".join(f"{line.rstrip()}\n" for line in text.splitlines())
    return text


def _highlighted(scene: Scene, move: Move) -> Text:
    """A line on the move that is pointed out."""
    return Text.assemble(
        f"{scene.names[move.seat]}: ", (move.notation, MOVE_STYLE), f"  {move.description}"
    )
