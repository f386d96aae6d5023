"""ROYGBIV drawn as coloured dice on a 7x7 board.

The last play is marked ``>5<`` and each die it captured shows what it was and
what it became, ``3>5``, so a picture without colours tells the same story.
Values have the colours of the rainbow in order: red 1 to violet 7.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.style import Style
from rich.table import Table
from rich.text import Text

from aleator.service.drawing.base import Drawing, Record, Scene
from aleator.service.drawing.roygbiv_svg import (
    BACK,
    COLUMNS,
    SHADES,
    SIDE,
    draw_svg,
    plays,
    unseen,
)

CELL_WIDTH = 5
BOARD_WIDTH = 2 + SIDE * (CELL_WIDTH + 1)
LOOSE_MOVE = re.compile(r"([0-9])[ @]*([a-z][0-9])")

EMPTY = 0
HIDDEN = -1
INK = {
    EMPTY: Style(dim=True),
    **{
        value: Style(color=shade.ink, bgcolor=shade.fill, bold=True)
        for value, shade in SHADES.items()
    },
    HIDDEN: Style(color=BACK.ink, bgcolor=BACK.fill),
}


class RoygbivDrawing(Drawing):
    """Board, hands, scores and the dice still to come."""

    game: ClassVar[str] = "roygbiv"
    move_help: ClassVar[str] = "5 e4  puts a 5 on column e, row 4 (also 5@e4)"

    def draw(self, scene: Scene) -> RenderableType:
        """Picture of a scene, with all that the person may know."""
        return _Picture(scene)

    def svg(self, scene: Scene, highlight: Record | None = None) -> str:
        """The same as an SVG document, with a move pointed out."""
        return draw_svg(scene, highlight)

    def read_move(self, text: str) -> str:
        """``5 d4``, ``5D4`` and ``5@d4`` all mean ``5@d4``."""
        found = LOOSE_MOVE.fullmatch(text.strip().lower())
        return "@".join(found.groups()) if found else text


class _Picture:
    """Board and tables side by side where the terminal is wide enough, else one above the other."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        board = _Board(self.scene.state["cells"], self.scene.events)
        tables = Group(
            _seats(self.scene), Text(), *_unseen(self.scene.state), Text(), _plays(self.scene)
        )
        if options.max_width >= BOARD_WIDTH + 33:
            beside = Table.grid(padding=(0, 3))
            beside.add_column(width=BOARD_WIDTH)
            beside.add_row(board, Padding(tables, (1, 0, 0, 0)))
            yield beside
        else:
            yield board
            yield tables


class _Board:
    """The 49 cells between grid lines, with the events pointed out."""

    def __init__(self, cells: Sequence[int], events: Sequence[Mapping[str, Any]]) -> None:
        self.cells = cells
        self.marks: dict[int, tuple[str, Style]] = {}
        for played in plays(events):
            value = played["value"]
            for die in played.get("captured", ()):
                self._mark(die, f"{die['value']}→{value}", INK[value])
            self._mark(played, f"▸{value}◂", INK[value] + Style(underline=True))

    def _mark(self, place: Mapping[str, Any], label: str, style: Style) -> None:
        self.marks[place["row"] * SIDE + place["column"]] = (label, style)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        grid = box.SQUARE.substitute(options)
        widths = [CELL_WIDTH] * SIDE
        yield Text("  " + "".join(f"{name:^{CELL_WIDTH + 1}}" for name in COLUMNS))
        yield Text(" " + grid.get_top(widths), style="bright_black")
        for row in range(SIDE):
            if row:
                yield Text(" " + grid.get_row(widths), style="bright_black")
            yield Text.assemble(str(row + 1), *self._row(row, grid.mid_vertical))
        yield Text(" " + grid.get_bottom(widths), style="bright_black")

    def _row(self, row: int, line: str) -> Iterator[tuple[str, Style]]:
        border = Style(color="bright_black")
        for column in range(SIDE):
            index = row * SIDE + column
            value = self.cells[index]
            label, style = self.marks.get(index, (str(value) if value else "·", INK[value]))
            yield line, border
            yield f"{label:^{CELL_WIDTH}}", style
        yield line, border


def _seats(scene: Scene) -> Table:
    """Seats with their scores and hands, the one to act pointed at."""
    state = scene.state
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right")
    table.add_column()
    table.add_column(justify="right")
    table.add_column()
    for seat, (name, score, hand) in enumerate(
        zip(scene.names, state["scores"], state["hands"], strict=True)
    ):
        acts = state.get("seat_to_act") == seat
        table.add_row(
            "▸" if acts else "",
            Text(name, style="bold" if acts else ""),
            Text(str(score), style="bold"),
            _hand(hand),
        )
    return table


def _plays(scene: Scene) -> Table:
    """The plays to point out: who, which die, where, what it took, for how much."""
    table = Table.grid(padding=(0, 1))
    for played in plays(scene.events):
        taken = sorted(die["value"] for die in played.get("captured", ()))
        table.add_row(
            scene.names[played["seat"]],
            _dice([played["value"]]),
            f"on {COLUMNS[played['column']]}{played['row'] + 1}",
            Text.assemble("took ", *((str(value), INK[value]) for value in taken)) if taken else "",
            Text(f"+{played.get('points', 0)}", style="bold"),
        )
    return table


def _hand(hand: Mapping[str, Any]) -> Text:
    return _dice([*hand.get("dice", ()), *[HIDDEN] * hand.get("hidden_count", 0)])


def _dice(values: Sequence[int]) -> Text:
    return Text(" ").join(
        Text(" ? " if value == HIDDEN else f" {value} ", style=INK[value]) for value in values
    )


def _unseen(state: Mapping[str, Any]) -> Iterator[RenderableType]:
    """The dice that the seat has not seen, by value, and how many of them the bag holds."""
    counts, bag = unseen(state)
    yield Text.assemble("In the bag  ", (str(bag), "bold"))
    if sum(counts):
        yield Text("Not seen yet")
        yield _dice(range(1, 8))
        yield Text(" ".join(f"{f'×{count}':^3}" if count else "   " for count in counts))
