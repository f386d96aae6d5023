"""My Shelfie drawn as bookshelves, with the dice below them.

A circled space is ``(5)``, a crossed one ``×``, a blank one only its value; what was marked since
the person's last move is ``▸5◂`` or ``▸×◂``. So a picture without colours tells the same story.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from rich import box
from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.style import Style
from rich.table import Table
from rich.text import Text

from aleator.search.games.my_shelfie_invariants import (
    CIRCLED,
    COLUMNS,
    CROSSED,
    FACES,
    ITEMS,
    ROWS,
    SIDE,
    SINGULARS,
    line_name,
    line_points,
)
from aleator.service.drawing.base import Drawing, Record, Scene
from aleator.service.drawing.my_shelfie_svg import COLOURS, draw_svg, marked_spaces

LABEL_WIDTH = 10
INITIALS = "pgbtcj"  # of FACES
TIMES = ("", "one roll", "two rolls")


class MyShelfieDrawing(Drawing):
    """Sheets with their points by line, and the dice of the seat to act."""

    game: ClassVar[str] = "my_shelfie"
    move_help: ClassVar[str] = (
        "keep ppj  keeps two plants and a joker (keep -  none, all six letters stop rolling)\n"
        "circle p2 g3  circles plants 2 and games 3    cross t  crosses the row of trophies"
    )

    def draw(self, scene: Scene) -> RenderableType:
        """Picture of a scene, with all that the person may know."""
        sheets = [_sheet(scene, seat) for seat in range(len(scene.names))]
        return Group(Columns(sheets), *_story(scene), *_dice(scene.state))

    def svg(self, scene: Scene, highlight: Record | None = None) -> str:
        """The scene as an SVG document; `highlight` is a typed move of the seat to act."""
        return draw_svg(scene, highlight)

    def read_move(self, text: str) -> str:
        """``keep``, ``ppj``, ``p2 g3``, ``circle p2, g3`` and ``cross t``, in any case."""
        words = text.lower().replace(":", " ").replace("+", " ").replace(",", " ").split()
        kind = words.pop(0) if words and words[0] in ("keep", "circle", "cross") else ""
        joined = "".join(words)
        if kind == "circle" or (not kind and any(map(str.isdigit, joined))):
            return f"circle:{'+'.join(words)}"
        if kind or (joined and set(joined) <= {*INITIALS, "-"}):
            return f"{kind or 'keep'}:{joined or '-'}"
        return text


def _sheet(scene: Scene, seat: int) -> Panel:
    """A seat's sheet: its rows and columns with their points, and its score."""
    spaces = scene.state["sheets"][seat]["spaces"]
    values = scene.options["values"]
    width = 2 + max(len(str(value)) for value in values)
    marked = set(marked_spaces(scene.events, seat))
    points = {line: line_points(spaces, values, line) for line in (*ROWS, *COLUMNS)}
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(width=LABEL_WIDTH)
    for _ in range(SIDE):
        grid.add_column(width=width, justify="center")
    grid.add_column(width=width + 1, justify="right")
    dim = Style(dim=True)
    grid.add_row(Text("dice", dim), *(Text(str(n), dim) for n in range(1, SIDE + 1)))
    for item, row in zip(ITEMS, ROWS, strict=True):
        label = Text(f" {item} ", Style(color="#000000", bgcolor=COLOURS[item]))
        cells = (_cell(spaces[space], values[space], item, space in marked) for space in row)
        grid.add_row(label, *cells, _points(points[row]))
    grid.add_row("", *(_points(points[column]) for column in COLUMNS))
    acts = scene.state.get("seat_to_act") == seat
    score = sum(count or 0 for count in points.values())
    title = Text.assemble("▸ " if acts else "", scene.names[seat], "  ", (str(score), "bold"))
    return Panel(
        grid,
        box=box.ROUNDED,
        title=title,
        title_align="left",
        border_style="bold" if acts else "bright_black",
        expand=False,
    )


def _cell(mark: int, value: int, item: str, new: bool) -> Text:  # noqa: FBT001
    colour = COLOURS[item]
    if mark == CROSSED:
        return Text("▸×◂" if new else "×", Style(dim=not new))
    if mark == CIRCLED:
        style = Style(color="#000000", bgcolor=colour, bold=True)
        return Text(f"▸{value}◂" if new else f"({value})", style)
    return Text(str(value), Style(color=colour))


def _points(points: int | None) -> Text:
    return Text("·", "dim") if points is None else Text(str(points), "bold")


def _story(scene: Scene) -> Iterator[Text]:
    """What happened lately, a line for each seat's part in it."""
    events = list(scene.events)
    if events and "rolled" in events[-1]:
        events.pop()  # those dice lie on the table now
    seat = None
    line = Text()
    for kind, happened in (item for event in events for item in event.items()):
        if kind == "finished":
            continue
        if happened["seat"] != seat:
            if line:
                yield line
            seat = happened["seat"]
            line = Text(scene.names[seat], "bold")
        else:
            line.append(",")
        line.append(" ").append(_told(kind, happened))
    if line:
        yield line


def _told(kind: str, happened: Mapping[str, Any]) -> Text:
    """An event in a few words and colours."""
    spaces = [
        _chip(ITEMS[space["row"]], f"{INITIALS[space['row']]}{space['column'] + 1}")
        for space in happened.get("spaces", ())
    ]
    match kind:
        case "kept" | "rolled":
            return Text.assemble(kind, " ", _chips(happened["dice"], INITIALS) or "nothing")
        case "completed":
            line = ROWS[happened["row"]] if "row" in happened else COLUMNS[happened["column"]]
            return Text(f"completed {line_name(line)}")
        case "blocked":
            return Text("had to cross ").append(Text(" ").join(spaces))
        case "last_round":
            return Text("has two rows without a blank: the last round", "bold")
        case "passed":
            return Text("has no blank space left and passes")
    return Text(f"{kind} ").append(Text(" ").join(spaces))


def _chips(dice: Mapping[str, int], names: Sequence[str]) -> Text:
    return Text(" ").join(
        _chip(face, name)
        for face, name in zip(FACES, names, strict=True)
        for _ in range(dice.get(face, 0))
    )


def _chip(face: str, name: str) -> Text:
    return Text(f" {name} ", Style(color="#000000", bgcolor=COLOURS[face]))


def _dice(state: Mapping[str, Any]) -> Iterator[Text]:
    """The six dice, and what may be done with them."""
    if "dice" in state:
        rerolls = state["rerolls"]
        todo = f"  keep some, {TIMES[rerolls]} more" if rerolls else "  circle or cross"
        yield Text("Dice ").append(_chips(state["dice"], SINGULARS)).append(todo)
