"""Generator drawn for a terminal: all 340 nodes, those without pieces as small letters.

A node stands in the middle of its four children, green at the top left, red at the top right,
yellow at the bottom right, blue at the bottom left; they stand in the middle of theirs, and so on.
Pieces are capital letters in the colour of their seat, the top one first; tables beside the board
name every stack, so a picture without colours tells the same story.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
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
LOW = "YB"  # and below it
SIZES = {"S": "small", "M": "medium", "L": "large"}
LEVELS = 4
# Rows, and columns, of the board: 15 for each branch and one between them.
LINES = 31
# By level: how many lines a node's panel reaches to each side, and the characters its column takes.
REACH = (0, 7, 3, 1, 0)
WIDTHS = (3, 5, 3, 2, 1)  # 0: the column between the branches
TABLES_WIDTH = 44

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
        "gr gry  moves the stack on GR to GRY (gr gry top: its top piece), enter s, pass"
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


class _Picture:
    """Board and tables side by side where the terminal is wide enough, else one above the other."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        board = _board(self.scene)
        width = board[0].cell_len
        tables = Group(*_seats(self.scene), Text(), *_happened(self.scene))
        if options.max_width >= width + TABLES_WIDTH:
            beside = Table.grid(padding=(0, 3))
            beside.add_column(width=width, no_wrap=True)
            beside.add_row(Group(*board), tables)
            yield beside
        else:
            yield from board
            yield Text()
            yield tables


def _line_of(node: str, far: str) -> int:
    """The row or column of a node, where `far` are the colours below, or to the right."""
    line = (LINES + 1) // 2 * (node[0] in far) + REACH[1]
    for level, colour in enumerate(node[1:], 2):
        line += (REACH[level] + 1) * (1 if colour in far else -1)
    return line


@cache
def _nodes() -> dict[tuple[int, int], str]:
    """The nodes by row and column."""
    nodes = list(COLOURS)
    for node in nodes:
        if len(node) < LEVELS:
            nodes += [node + colour for colour in COLOURS]
    return {(_line_of(node, LOW), _line_of(node, RIGHT)): node for node in nodes}


@cache
def _grounds() -> dict[tuple[int, int], Style]:
    """What is behind each row and column: the ground of the smallest panel there."""
    grounds = {(row, column): BETWEEN for row in range(LINES) for column in range(LINES)}
    for (row, column), node in _nodes().items():  # larger panels come first
        reach = REACH[len(node)]
        if reach:
            for down, right in product(range(-reach, reach + 1), repeat=2):
                grounds[row + down, column + right] = GROUND[node[-1]]
    return grounds


@cache
def _widths() -> list[int]:
    """The characters that each column takes: as many as what stands there may need."""
    widths = [WIDTHS[0]] * LINES
    for (_, column), node in _nodes().items():
        widths[column] = WIDTHS[len(node)]
    return widths


def _board(scene: Scene) -> list[Text]:
    """The rows of the board."""
    labels = {node: (node[-1].lower(), EMPTY[node[-1]]) for node in _nodes().values()}
    for seat in scene.state["seats"]:
        for stack in seat.get("stacks", ()):
            labels[stack["node"]] = (stack["pieces"], PIECE[seat["colour"]])
    for node in _changed(scene.events):
        text, style = labels[node]
        labels[node] = (text, style + MOVED)
    return [Text().join(_row(row, labels)) for row in range(LINES)]


def _row(row: int, labels: Mapping[str, tuple[str, Style]]) -> Iterator[Text]:
    for column, width in enumerate(_widths()):
        ground = _grounds()[row, column]
        node = _nodes().get((row, column))
        if node is None:
            yield Text(" " * width, style=ground)
        else:
            text, style = labels[node]
            room = width - len(text)
            yield Text.assemble(
                (" " * (room // 2), ground),
                (text, ground + style),
                (" " * (room - room // 2), ground),
            )


def _changed(events: Sequence[Record]) -> Iterator[str]:
    """The nodes that pieces left or came to."""
    for event in events:
        for details in event.values():
            for name in ("node", "from_node", "to_node"):
                if name in details:
                    yield details[name]


def _seats(scene: Scene) -> Iterator[RenderableType]:
    """The roll, and by seat the stash and all stacks."""
    state = scene.state
    yield Text(f"Roll {state['rolls']}", style="bold")
    for number, (name, seat) in enumerate(zip(scene.names, state["seats"], strict=True)):
        acts = state.get("seat_to_act") == number
        yield Text()
        title = Text("▸ " if acts else "  ").append(name, style="bold")
        title.append(" ").append(f" {NAMES[seat['colour']]} ", style=PIECE[seat["colour"]])
        if acts:
            rolled = state["rolled"]
            title.append("  rolled ").append(f" {NAMES[rolled]} ", style=PIECE[rolled])
        yield title
        stash = seat["stash"]
        counts = "  ".join(f"{size}×{stash.get(named, 0)}" for size, named in SIZES.items())
        yield Text(f"  stash  {counts}")
        stacks = "  ".join(f"{stack['node']}:{stack['pieces']}" for stack in seat.get("stacks", ()))
        yield Padding(Text(f"board  {stacks or '-'}"), (0, 0, 0, 2))


def _happened(scene: Scene) -> Iterator[Text]:
    """The events to point out, a line each."""
    colours = [seat["colour"] for seat in scene.state["seats"]]
    for event in scene.events:
        ((kind, details),) = event.items()
        if kind == "finished":
            continue
        line = Text(f"  {scene.names[details['seat']]} ")
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
