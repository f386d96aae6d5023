"""Generator drawn for a terminal: all 340 nodes, those without pieces as small letters.

A node stands in the middle of its four children, green at the top left, red at the top right,
yellow at the bottom right, blue at the bottom left; they stand in the middle of theirs, and so on.
Its name is its colours from the outside in: GRY is the yellow child of GR. Empty nodes bear their
names as far as there is room, those further in the last letter of theirs. Pieces are capital
letters in the colour of their seat, the top one first; beside or below the board every stack is
named, so a picture without colours tells the same story.

A low terminal gets a picture with fewer rows, and if there are too many still, the seats side by
side, without their stacks. A narrow one gets only the stacks and stashes.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import ClassVar

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.style import Style
from rich.table import Table
from rich.text import Text

from aleator.service.drawing.base import Drawing, Record, Scene
from aleator.service.drawing.generator_svg import draw_svg

COLOURS = "GRYB"
NAMES = {"G": "green", "R": "red", "Y": "yellow", "B": "blue"}
RIGHT = "RY"  # the colours of the nodes right of their parent
LOWER = "YB"  # and below it
SIZES = {"S": "small", "M": "medium", "L": "large"}
LEVELS = 4
# Lines of the board in both directions, by the level of the nodes on them: 15 for each branch, and
# one between the branches.
BRANCH = (4, 3, 4, 2, 4, 3, 4, 1, 4, 3, 4, 2, 4, 3, 4)
LINES = (*BRANCH, 0, *BRANCH)
# By level: how many lines a node's panel reaches to each side.
REACH = (0, 7, 3, 1, 0)
TABLES_WIDTH = 32
GAP = 3
LEGEND = "GRY is yellow in red in green"
BETWEEN_SEATS = "   "

PIECE = {
    "G": Style(color="#ffffff", bgcolor="#1f8b3b", bold=True),
    "R": Style(color="#ffffff", bgcolor="#c9302c", bold=True),
    "Y": Style(color="#000000", bgcolor="#f2c01d", bold=True),
    "B": Style(color="#ffffff", bgcolor="#2a62c9", bold=True),
}
EMPTY = {
    "G": Style(color="#4fc46e"),
    "R": Style(color="#f07c7c"),
    "Y": Style(color="#dcb83c"),
    "B": Style(color="#7fabf5"),
}
# The ground of a panel: dark, so that letters and pieces stand out on any terminal.
GROUND = {
    "G": Style(bgcolor="#13301b"),
    "R": Style(bgcolor="#361a1b"),
    "Y": Style(bgcolor="#332b0e"),
    "B": Style(bgcolor="#16263f"),
}
BETWEEN = Style(bgcolor="#101216")
MOVED = Style(reverse=True)
LOOSE_STEP = re.compile(r"([GRYB]+)[ >-]+([GRYB]+)(?:[ :]+(TOP|TWO))?")
LOOSE_ENTRY = re.compile(r"(?:E|ENTER)[ :]*([SML])")


class GeneratorDrawing(Drawing):
    """The four-level board, the stacks and the stashes of the seats."""

    game: ClassVar[str] = "generator"
    move_help: ClassVar[str] = (
        "gr gry  moves the stack on GR to GRY (gr gry top: its top piece)\nenter s    pass\n"
        "A node is named by its colours from the outside in: GRY is the yellow node of GR, the\n"
        "red one of the green branch. Around a node are its four: green at the top left,\n"
        "red at the top right, yellow at the bottom right, blue at the bottom left."
    )

    def draw(self, scene: Scene) -> RenderableType:
        """Picture of a scene, with all that the person may know."""
        return _Picture(scene)

    def svg(self, scene: Scene, highlight: Record | None = None) -> str:
        """The same as an SVG document, with a move pointed out."""
        return draw_svg(scene, highlight)

    def read_move(self, text: str) -> str:
        """``gr gry top``, ``GR>GRY top`` and the like mean ``GR-GRY:top``."""
        loose = text.strip().upper()
        if loose in {"P", "PASS"}:
            return "pass"
        entry = LOOSE_ENTRY.fullmatch(loose)
        if entry:
            return f"enter:{entry[1]}"
        step = LOOSE_STEP.fullmatch(loose)
        if step:
            part = f":{step[3].lower()}" if step[3] else ""
            return f"{step[1]}-{step[2]}{part}"
        return text


@dataclass(frozen=True)
class _Layout:
    """How the lines of the board are laid out.

    Attributes
    ----------
    merged
        The levels whose rows share the row above them: no column has nodes of two levels.
    widths
        The characters that a column takes, by level.
    named
        The deepest level whose empty nodes bear their whole names.
    """

    merged: frozenset[int]
    widths: tuple[int, ...]
    named: int

    @property
    def width(self) -> int:
        """Characters of a row."""
        return sum(self.widths[level] for level in LINES)

    def rows(self) -> list[list[int]]:
        """The lines of each row."""
        rows: list[list[int]] = []
        for line, level in enumerate(LINES):
            if level in self.merged:
                rows[-1].append(line)
            else:
                rows.append([line])
        return rows


TALL = _Layout(merged=frozenset({2}), widths=(3, 3, 4, 3, 1), named=3)
LOW = _Layout(merged=frozenset({1, 2, 3}), widths=(1, 5, 5, 4, 1), named=2)


class _Picture:
    """Board and tables side by side where the terminal is wide enough, else one above the other."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        seats = len(self.scene.names)
        # As many rows are needed below for what the bots thought and the prompt.
        room = console.height - seats if console.is_terminal else math.inf
        rows = len(TALL.rows())
        width = options.max_width
        if width >= TALL.width + GAP + TABLES_WIDTH and rows <= room:
            beside = Table.grid(padding=(0, GAP, 0, 0))
            beside.add_column(width=TALL.width, no_wrap=True)
            beside.add_row(Group(*_board(self.scene, TALL)), Group(*_tables(self.scene)))
            yield beside
        # The same layout whatever happened, so that the board stays where it is.
        elif width >= TALL.width and rows + _most_rows(seats) <= room:
            yield from _board(self.scene, TALL)
            yield from _tables(self.scene)
        elif width >= LOW.width:
            yield from _board(self.scene, LOW)
            brief = list(_brief_tables(self.scene))
            lines = sum(len(text.wrap(console, width)) for text in brief)
            if len(LOW.rows()) + lines > room:
                brief = list(_shortest_tables(self.scene, width))
            yield from brief
        else:
            yield Text(f"The board takes {TALL.width} columns.", style="dim")
            yield from _tables(self.scene)


def _most_rows(seats: int) -> int:
    """The rows that tables take: the roll, two for each seat, and two for what each seat did."""
    return 1 + 4 * seats


def _line_of(node: str, far: str) -> int:
    """The line of a node, where `far` are the colours below, or to the right."""
    line = (len(LINES) + 1) // 2 * (node[0] in far) + REACH[1]
    for level, colour in enumerate(node[1:], 2):
        line += (REACH[level] + 1) * (1 if colour in far else -1)
    return line


@cache
def _nodes() -> dict[tuple[int, int], str]:
    """The nodes by line and column."""
    nodes = list(COLOURS)
    for node in nodes:
        if len(node) < LEVELS:
            nodes += [node + colour for colour in COLOURS]
    return {(_line_of(node, LOWER), _line_of(node, RIGHT)): node for node in nodes}


@cache
def _grounds() -> dict[tuple[int, int], Style]:
    """What is behind each line and column: the ground of the smallest panel there."""
    lines = range(len(LINES))
    grounds = {(line, column): BETWEEN for line in lines for column in lines}
    for (line, column), node in _nodes().items():  # larger panels come first
        reach = REACH[len(node)]
        if reach:
            for down, right in product(range(-reach, reach + 1), repeat=2):
                grounds[line + down, column + right] = GROUND[node[-1]]
    return grounds


def _board(scene: Scene, layout: _Layout) -> list[Text]:
    """The rows of the board."""
    labels = {}
    for node in _nodes().values():
        name = node if len(node) <= layout.named else node[-1]
        labels[node] = (name.lower(), EMPTY[node[-1]])
    for seat in scene.state["seats"]:
        for stack in seat.get("stacks", ()):
            labels[stack["node"]] = (stack["pieces"], PIECE[seat["colour"]])
    for node in _changed(scene.events):
        text, style = labels[node]
        labels[node] = (text, style + MOVED)
    return [Text().join(_row(lines, labels, layout)) for lines in layout.rows()]


def _row(
    lines: Sequence[int], labels: Mapping[str, tuple[str, Style]], layout: _Layout
) -> Iterator[Text]:
    for column, level in enumerate(LINES):
        width = layout.widths[level]
        ground = _grounds()[lines[0], column]
        nodes = [_nodes()[line, column] for line in lines if (line, column) in _nodes()]
        if nodes:
            text, style = labels[nodes[0]]
            room = width - len(text)
            yield Text.assemble(
                (" " * (room // 2), ground),
                (text, ground + style),
                (" " * (room - room // 2), ground),
            )
        else:
            yield Text(" " * width, style=ground)


def _changed(events: Sequence[Record]) -> Iterator[str]:
    """The nodes that pieces left or came to."""
    for event in events:
        for details in event.values():
            for name in ("node", "from_node", "to_node"):
                if name in details:
                    yield details[name]


def _tables(scene: Scene) -> Iterator[RenderableType]:
    """The roll, two lines for each seat, and what happened, a line each."""
    yield _roll(scene).append(LEGEND, style="dim")
    for title, holdings in _seats(scene):
        yield title
        yield Padding(holdings, (0, 0, 0, 2))
    for line in list(_happened(scene))[-2 * len(scene.names) :]:
        yield Padding(line, (0, 0, 0, 2))


def _brief_tables(scene: Scene) -> Iterator[Text]:
    """The same in fewer lines: the roll and what happened, and one for each seat."""
    yield _roll(scene).append(Text("; ").join(_happened(scene)) or Text(LEGEND, style="dim"))
    for title, holdings in _seats(scene):
        yield title.append("   ").append(holdings)


def _shortest_tables(scene: Scene, width: int) -> Iterator[Text]:
    """A line for the roll and the last that happened, and for as many seats as find room in it."""
    line = _roll(scene)
    latest: list[Text] = []
    for happened in reversed(list(_happened(scene))):
        longer = Text("; ").join([happened, *latest])
        if line.cell_len + longer.cell_len > width:
            break
        latest.insert(0, happened)
    yield line.append(Text("; ").join(latest) or Text(LEGEND, style="dim"))
    line = Text()
    for title, stash in _seats(scene, with_stacks=False):
        seat = title.append(" ").append(stash)
        if line and line.cell_len + len(BETWEEN_SEATS) + seat.cell_len > width:
            yield line
            line = Text()
        line = line.append(BETWEEN_SEATS).append(seat) if line else seat
    yield line


def _roll(scene: Scene) -> Text:
    return Text.assemble((f"Roll {scene.state['rolls']}", "bold"), "   ")


def _seats(scene: Scene, *, with_stacks: bool = True) -> Iterator[tuple[Text, Text]]:
    """By seat what it is and does, and what it has in the stash and on the board."""
    state = scene.state
    for number, (name, seat) in enumerate(zip(scene.names, state["seats"], strict=True)):
        acts = state.get("seat_to_act") == number
        title = Text("▸ " if acts else "  ").append(name, style="bold")
        title.append(" ").append(f" {NAMES[seat['colour']]} ", style=PIECE[seat["colour"]])
        if acts:
            rolled = state["rolled"]
            title.append("  rolled ").append(f" {NAMES[rolled]} ", style=PIECE[rolled])
        stash = seat["stash"]
        counts = " ".join(f"{size}×{stash.get(named, 0)}" for size, named in SIZES.items())
        if not with_stacks:
            yield title, Text(counts)
            continue
        stacks = "  ".join(f"{stack['node']}:{stack['pieces']}" for stack in seat.get("stacks", ()))
        yield title, Text(f"stash {counts}  board {stacks or '-'}")


def _happened(scene: Scene) -> Iterator[Text]:
    """The events to point out, a line each."""
    colours = [seat["colour"] for seat in scene.state["seats"]]
    for event in scene.events:
        ((kind, details),) = event.items()
        if kind == "finished":
            continue
        line = Text(f"{scene.names[details['seat']]} ")
        match kind:
            case "rolled":
                line.append("rolled ").append(details["colour"], style=PIECE[details["colour"]])
                line.append(" for an extra turn" if details["extra_turn"] else "")
            case "entered":
                line.append("entered ")
                line.append(details["size"], style=PIECE[colours[details["seat"]]])
                line.append(f" on {details['node']}")
            case "moved":
                line.append("moved ")
                line.append(details["pieces"], style=PIECE[colours[details["seat"]]])
                line.append(f" {details['from_node']} → {details['to_node']}")
            case _:
                line.append(kind)
        if "captured" in details:
            captured = details["captured"]
            line.append(", took ").append(
                captured["pieces"], style=PIECE[colours[captured["seat"]]]
            )
        yield line
