"""ROYGBIV as SVG: the dice on a dark board, and beside it the seats with their hands.

Values have the colours of the rainbow in order: red 1 to violet 7. What was played lately is framed
in white, and each die it captured keeps its old value in a corner. A highlighted move shows the die
where it would lie, framed in white, with beams to the dice that it would capture; those are framed
in broken white, with their new value in a corner.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from aleator.search import Position
from aleator.search.games.roygbiv import RoygbivCodec
from aleator.service.drawing.base import Record, Scene
from aleator.service.drawing.svg import Group, Picture, fitting

SIDE = 7
COPIES = 7
COLUMNS = "abcdefg"


class Shade(NamedTuple):
    """How a die looks: its colour, and that of its digit."""

    fill: str
    ink: str


LIGHT = "#ffffff"
DARK = "#1b1d24"
SHADES = {
    1: Shade("#c81e3a", LIGHT),
    2: Shade("#f58a1f", DARK),
    3: Shade("#ffd92e", DARK),
    4: Shade("#4cb944", DARK),
    5: Shade("#2274d9", LIGHT),
    6: Shade("#352a94", LIGHT),
    7: Shade("#c08cf5", DARK),
}
BACK = Shade("#5b606d", "#c9ccd4")
PAPER = "#f4f3f0"
TABLE = "#242832"
HOLE = "#323846"
LABELS = "#98a0b0"
FAINT = "#666c79"
MARK = "#ffffff"

MARGIN = 24
LABEL = 32  # above and left of the cells
CELL = 82  # from one cell to the next
DIE = 68
BOARD = LABEL + SIDE * CELL + 10
SIDEBAR = 390
LEFT = MARGIN + BOARD + MARGIN  # of the sidebar
WIDTH = LEFT + SIDEBAR + MARGIN
HEIGHT = MARGIN + BOARD + MARGIN
CARD = 66  # height of a seat's card
SMALL_DIE = 40
LONGEST_NAME = 14


class Unseen(NamedTuple):
    """The dice that the seat has not seen, by value, and how many dice the bag holds."""

    counts: list[int]
    bag: int


def unseen(state: Mapping[str, Any]) -> Unseen:
    """What is neither on the board nor in a hand that is known."""
    hands = state["hands"]
    known = [value for hand in hands for value in hand.get("dice", ())]
    counts = [
        COPIES - played - known.count(value) for value, played in enumerate(state["played"], 1)
    ]
    return Unseen(counts, sum(counts) - sum(hand.get("hidden_count", 0) for hand in hands))


def plays(events: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """The plays among some events."""
    return (event["played"] for event in events if "played" in event)


def draw_svg(scene: Scene, highlight: Record | None = None) -> str:
    """The scene as an SVG document.

    Parameters
    ----------
    scene
        What to show.
    highlight
        A typed move of the seat to act, to point out with its captures.
    """
    picture = Picture(WIDTH, HEIGHT, "ROYGBIV")
    picture.add("rect", width=WIDTH, height=HEIGHT, fill=PAPER)
    board = picture.add("g", transform=f"translate({MARGIN} {MARGIN})")
    _draw_table(board)
    captured = [] if highlight is None else _captures(scene, highlight)
    if highlight is not None:
        _draw_beams(board, highlight, captured)
    for index, value in enumerate(scene.state["cells"]):
        if value:
            row, column = divmod(index, SIDE)
            _draw_die(board, *_middle(row, column), DIE, value, place=_name(row, column))
    for played in plays(scene.events):
        _draw_frame(board, played)
        for die in played.get("captured", ()):
            _draw_corner(board, die, die["value"])
    if highlight is not None:
        _draw_move(board, highlight, captured)
    _draw_sidebar(picture, scene)
    return picture.write()


def _captures(scene: Scene, move: Record) -> list[Record]:
    """The dice that a move of the seat to act would capture, as the rules say."""
    position = Position.from_record(RoygbivCodec.id, scene.options, scene.state)
    codec = position.codec
    assert isinstance(codec, RoygbivCodec)
    return codec.captures(position.state, codec.read_move(move))


def _middle(row: int, column: int) -> tuple[float, float]:
    return LABEL + (column + 0.5) * CELL, LABEL + (row + 0.5) * CELL


def _name(row: int, column: int) -> str:
    return f"{COLUMNS[column]}{row + 1}"


def _draw_table(board: Group) -> None:
    board.add("rect", width=BOARD, height=BOARD, rx=18, fill=TABLE)
    for line in range(SIDE):
        along, _ = _middle(0, line)
        _write(board, COLUMNS[line], along, 0.55 * LABEL, 17, fill=LABELS)
        _write(board, str(line + 1), 0.55 * LABEL, along, 17, fill=LABELS)
        for column in range(SIDE):
            _draw_square(board, *_middle(line, column), DIE, HOLE)


def _draw_square(group: Group, x: float, y: float, size: float, fill: str) -> None:
    group.add(
        "rect", x=x - size / 2, y=y - size / 2, width=size, height=size, rx=0.18 * size, fill=fill
    )


def _draw_die(
    group: Group, x: float, y: float, size: float, value: int | None, *, place: str = ""
) -> None:
    """A die; without a value one that is hidden."""
    die = group.add("g")
    die.add("title", "hidden die" if value is None else f"{place} {value}".lstrip())
    shade = BACK if value is None else SHADES[value]
    _draw_square(die, x, y, size, shade.fill)
    if value is None:
        inner = 0.72 * size
        die.add(
            "rect", x=x - inner / 2, y=y - inner / 2, width=inner, height=inner, rx=0.15 * inner,
            fill="none", stroke=shade.ink, stroke_width=0.03 * size,
            stroke_dasharray=f"{0.08 * size:g}",
        )  # fmt: skip
    text = "?" if value is None else str(value)
    _write(die, text, x, y, 0.56 * size, fill=shade.ink, font_weight="bold")


def _draw_frame(board: Group, place: Mapping[str, Any], *, dashed: bool = False) -> None:
    x, y = _middle(place["row"], place["column"])
    size = DIE + 5
    board.add(
        "rect", x=x - size / 2, y=y - size / 2, width=size, height=size, rx=0.2 * size,
        fill="none", stroke=MARK, stroke_width=3 if dashed else 5.5,
        stroke_dasharray="9 5" if dashed else "none",
    )  # fmt: skip


def _draw_corner(board: Group, place: Mapping[str, Any], value: int) -> None:
    """A small die at the lower right corner of a larger one."""
    x, y = _middle(place["row"], place["column"])
    x, y = x + 0.4 * DIE, y + 0.4 * DIE
    _draw_square(board, x, y, 34, TABLE)
    _draw_die(board, x, y, 29, value)


def _draw_beams(board: Group, move: Record, captured: Sequence[Mapping[str, Any]]) -> None:
    """Bands from the cell of a move to the dice that it captures, to lie below the dice."""
    x, y = _middle(move["row"], move["column"])
    for die in captured:
        to_x, to_y = _middle(die["row"], die["column"])
        board.add(
            "line", x1=x, y1=y, x2=to_x, y2=to_y, stroke=SHADES[move["value"]].fill,
            stroke_width=16, stroke_linecap="round",
        )  # fmt: skip


def _draw_move(board: Group, move: Record, captured: Sequence[Mapping[str, Any]]) -> None:
    """The die where it would lie, the new values of what it captures, and the points."""
    x, y = _middle(move["row"], move["column"])
    place = _name(move["row"], move["column"])
    _draw_die(board, x, y, DIE, move["value"], place=place)
    for die in captured:
        _draw_frame(board, die, dashed=True)
        _draw_corner(board, die, move["value"])
    _draw_frame(board, move)
    badge = board.add("g")
    badge.add("rect", x=x - 2, y=y - 0.66 * DIE, width=48, height=26, rx=13, fill=MARK)
    points = sum(die["value"] for die in captured)
    _write(badge, f"+{points}", x + 22, y - 0.66 * DIE + 13, 17, fill=DARK, font_weight="bold")


def _draw_sidebar(picture: Group, scene: Scene) -> None:
    state = scene.state
    sidebar = picture.add("g", transform=f"translate({LEFT} {MARGIN})")
    _write(sidebar, "ROYGBIV", 0, 16, 28, text_anchor="start", font_weight="bold")
    if "seat_to_act" not in state:
        over = scene.result or "The board is full."
        size = fitting(over, 17, SIDEBAR - 150)
        _write(sidebar, over, SIDEBAR, 18, size, text_anchor="end", fill=FAINT)
    top = 46.0
    for seat in range(len(state["hands"])):
        _draw_seat(sidebar.add("g", transform=f"translate(0 {top:g})"), scene, seat)
        top += CARD + 8
    _draw_unseen(sidebar.add("g", transform=f"translate(0 {top + 8:g})"), unseen(state))


def _draw_seat(card: Group, scene: Scene, seat: int) -> None:
    """The seat's name, hand and score, with a flag and a frame if it is to act."""
    state = scene.state
    acts = state.get("seat_to_act") == seat
    card.add(
        "rect", x=2, y=2, width=SIDEBAR - 4, height=CARD - 4, rx=12,
        fill="#ffffff", stroke=DARK if acts else "#dcd9d2", stroke_width=3.5 if acts else 1.5,
    )  # fmt: skip
    middle = CARD / 2
    if acts:
        card.add("path", d=f"M14 {middle - 9:g}L28 {middle:g}L14 {middle + 9:g}Z", fill=DARK)
    name = scene.names[seat]
    if len(name) > LONGEST_NAME:
        name = f"{name[: LONGEST_NAME - 1]}…"
    weight = "bold" if acts else "normal"
    _write(card, name, 36, middle, 18, text_anchor="start", font_weight=weight)
    hand = state["hands"][seat]
    dice = [*hand.get("dice", ()), *[None] * hand.get("hidden_count", 0)]
    for number, value in enumerate(dice):
        _draw_die(card, 202 + number * (SMALL_DIE + 6), middle, SMALL_DIE, value)
    score = str(state["scores"][seat])
    _write(card, score, SIDEBAR - 18, middle, 25, text_anchor="end", font_weight="bold")


def _draw_unseen(group: Group, left: Unseen) -> None:
    """How many dice the bag holds, and what may be in it or in hidden hands."""
    _write(group, f"In the bag: {left.bag}", 2, 10, 17, text_anchor="start", font_weight="bold")
    if not sum(left.counts):
        return
    _write(group, "Not seen yet", SIDEBAR - 2, 10, 15, text_anchor="end", fill=FAINT)
    for value, count in enumerate(left.counts, 1):
        x = 22 + (value - 1) * (SIDEBAR - 44) / (SIDE - 1)
        die = group.add("g", opacity=1 if count else 0.2)
        _draw_die(die, x, 52, SMALL_DIE, value)
        _write(group, f"×{count}", x, 88, 15, fill=DARK if count else FAINT)


def _write(
    group: Group, text: str, x: float, y: float, size: float, **attributes: str | float
) -> None:
    """Text around the height `y`, centred at `x` unless told otherwise."""
    centred: dict[str, str | float] = {"text_anchor": "middle", "fill": DARK}
    group.add("text", text, x=x, y=y + 0.36 * size, font_size=size, **(centred | attributes))
