"""My Shelfie as SVG: a bookshelf for each seat, and the dice on a tray below.

Every compartment has the colour of its row, pale while it is blank. Marks look as if drawn with a
pen; those made lately are framed in orange, and so are the dice or spaces of a highlighted move.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from aleator.search.games.my_shelfie_invariants import (
    BLANK,
    CIRCLED,
    COLUMNS,
    CROSSED,
    DICE,
    FACES,
    ITEMS,
    ROWS,
    SIDE,
    SPACES,
    line_points,
)
from aleator.service.drawing.base import Record, Scene
from aleator.service.drawing.svg import Group, Picture, fitting

# What everything of an item is coloured, and the tint of its blank compartments.
COLOURS = {
    "plants": "#f48fb1",
    "games": "#ffd92e",
    "books": "#f2f2f2",
    "trophies": "#86cdf9",
    "cats": "#74c365",
    "jokers": "#c9a2f5",
}
TINTS = {
    "plants": "#fdeaf1",
    "games": "#fff8d6",
    "books": "#fbfbf9",
    "trophies": "#e6f4fe",
    "cats": "#e4f3e0",
}
INK = "#2b2118"
PEN = "#1d3d8f"
WOOD = "#8a5a33"
SHADE = "#6b4325"
NEW = "#ff7a00"
PAPER = "#faf6ef"

CELL = 68  # from one compartment to the next
ROOM = 60  # of which the compartment takes
LABEL = 116  # left of the compartments
TOTAL = 60  # right of them
HEAD = 62  # name and score, above the shelf
TOP = 34  # within the shelf, above the first row
FOOT = 40
SHELF_WIDTH = LABEL + SIDE * CELL + TOTAL
SHELF_HEIGHT = TOP + SIDE * CELL + FOOT
MARGIN = 24
TRAY = 116
DIE = 64
LONGEST_NAME = 20

# Pictures of the faces, each within -10..10 both ways.
ICONS: dict[str, tuple[tuple[str, dict[str, str | float]], ...]] = {
    "plants": (
        ("path", {"d": "M-5 2H5L3.6 10H-3.6Z"}),
        ("path", {"d": "M0 2C-1-4-5-8-9-8C-9-3-5 1 0 2ZM0 2C0-4 4-9 8-10C9-4 5 1 0 2Z"}),
    ),
    "games": (
        ("circle", {"cx": 0, "cy": -6, "r": 4}),
        ("path", {"d": "M-2.6-3H2.6L4.6 5H6V9.5H-6V5H-4.6Z"}),
    ),
    "books": (("path", {"d": "M-9-8H-5V9H-9ZM-4-5H0V9H-4ZM1.2-7.4L5-8.6L9.8 7.8L6 9Z"}),),
    "trophies": (
        ("path", {"d": "M-5-9H5V-3C5 1 3 3 1 3.6V6H4V9H-4V6H-1V3.6C-3 3-5 1-5-3Z"}),
        (
            "path",
            {
                "d": "M-5-7H-9C-9-2-7 0-4 0M5-7H9C9-2 7 0 4 0",
                "fill": "none",
                "stroke": INK,
                "stroke_width": 1.6,
            },
        ),
    ),
    "cats": (
        ("path", {"d": "M-8-9L-3-5H3L8-9V2C8 6 4 9 0 9C-4 9-8 6-8 2Z"}),
        ("circle", {"cx": -3.2, "cy": 0, "r": 1.4, "fill": "#ffffff"}),
        ("circle", {"cx": 3.2, "cy": 0, "r": 1.4, "fill": "#ffffff"}),
    ),
    "jokers": (
        (
            "path",
            {"d": "M0-10L2.9-3.4L10-2.9L4.6 1.8L6.4 9L0 5.1L-6.4 9L-4.6 1.8L-10-2.9L-2.9-3.4Z"},
        ),
    ),
}


def marked_spaces(events: Sequence[Mapping[str, Any]], seat: int) -> Iterator[int]:
    """The spaces that a seat marked in these events."""
    for event in events:
        for happened in event.values():
            if happened.get("seat") == seat:
                yield from _numbers(happened.get("spaces", ()))


def draw_svg(scene: Scene, highlight: Record | None = None) -> str:
    """The scene as an SVG document.

    Parameters
    ----------
    scene
        What to show.
    highlight
        A typed move of the seat to act, to point out.
    """
    state = scene.state
    seats = len(state["sheets"])
    lines = -(-seats // 2)
    width = 2 * SHELF_WIDTH + 3 * MARGIN
    shelves_height = lines * (HEAD + SHELF_HEIGHT + MARGIN)
    height = shelves_height + (TRAY if "dice" in state else 0)
    picture = Picture(width, height, "My Shelfie: The Dice Game")
    picture.add("rect", width=width, height=height, fill=PAPER)
    acting = state.get("seat_to_act")
    for seat in range(seats):
        # The last shelf of an odd number stands in the middle.
        place = 0.5 if seat == seats - 1 and seats % 2 else seat % 2
        shelf = picture.add(
            "g",
            transform=f"translate({MARGIN + place * (SHELF_WIDTH + MARGIN):g}"
            f" {seat // 2 * (HEAD + SHELF_HEIGHT + MARGIN)})",
        )
        wanted = _wanted(state, seat, highlight) if seat == acting and highlight else set()
        _draw_shelf(shelf, scene, seat, wanted)
    if "dice" in state:
        _draw_tray(picture, scene, shelves_height, width, (highlight or {}).get("keep"))
    return picture.write()


def _wanted(state: Mapping[str, Any], seat: int, move: Mapping[str, Any]) -> set[int]:
    """The spaces that a move would mark."""
    spaces = state["sheets"][seat]["spaces"]
    if "cross" in move:
        return {space for space in ROWS[move["cross"].get("row", 0)] if spaces[space] == BLANK}
    return set(_numbers(move.get("circle", {}).get("spaces", ())))


def _numbers(spaces: Sequence[Mapping[str, int]]) -> Iterator[int]:
    for space in spaces:
        yield SIDE * space["row"] + space["column"]


def _draw_shelf(shelf: Group, scene: Scene, seat: int, wanted: set[int]) -> None:
    spaces = scene.state["sheets"][seat]["spaces"]
    values = scene.options["values"]
    points = {line: line_points(spaces, values, line) for line in (*ROWS, *COLUMNS)}
    score = sum(count or 0 for count in points.values())
    _draw_head(shelf, scene, seat, score)
    case = shelf.add("g", transform=f"translate(0 {HEAD})")
    case.add("rect", width=SHELF_WIDTH, height=SHELF_HEIGHT, rx=12, fill=WOOD)
    case.add(
        "rect", x=5, y=5, width=SHELF_WIDTH - 10, height=SHELF_HEIGHT - 10, rx=8, fill="none",
        stroke=SHADE, stroke_width=2,
    )  # fmt: skip
    for column in range(SIDE):
        _draw_pips(case, LABEL + column * CELL + ROOM / 2, TOP / 2 + 4, column + 1)
    for row, item in enumerate(ITEMS):
        top = TOP + row * CELL
        _draw_label(case, item, top)
        case.add("rect", x=10, y=top + ROOM + 1, width=SHELF_WIDTH - 20, height=5, rx=2, fill=SHADE)
        _draw_points(case, LABEL + SIDE * CELL + 22, top + ROOM / 2, points[ROWS[row]])
    for column in range(SIDE):
        middle = LABEL + column * CELL + ROOM / 2
        _draw_points(case, middle, TOP + SIDE * CELL + 14, points[COLUMNS[column]])
    new = set(marked_spaces(scene.events, seat))
    for space in range(SPACES):
        cell = case.add(
            "g",
            transform=f"translate({LABEL + space % SIDE * CELL} {TOP + space // SIDE * CELL})",
        )
        _draw_space(cell, ITEMS[space // SIDE], spaces[space], str(values[space]))
        if space in new or space in wanted:
            cell.add(
                "rect", x=-1, y=-1, width=ROOM + 2, height=ROOM + 2, rx=8, fill="none",
                stroke=NEW, stroke_width=5, stroke_dasharray="9 5" if space in wanted else "none",
            )  # fmt: skip


def _draw_head(shelf: Group, scene: Scene, seat: int, score: int) -> None:
    """The seat's name and score, with a flag for the one to act."""
    acts = scene.state.get("seat_to_act") == seat
    if acts:
        shelf.add("path", d="M6 24L22 34L6 44Z", fill=NEW)
    name = scene.names[seat]
    if len(name) > LONGEST_NAME:
        name = f"{name[: LONGEST_NAME - 1]}…"
    _write(shelf, name, 30 if acts else 8, 34, 24, text_anchor="start", font_weight="bold")
    _write(
        shelf, str(score), SHELF_WIDTH - 8, 34, 30, text_anchor="end", font_weight="bold", fill=PEN
    )
    if scene.win_shares and scene.win_shares[seat]:
        word = "won" if scene.win_shares[seat] == 1 else "shares the win"
        right = SHELF_WIDTH - 20 - 20 * len(str(score))
        _write(shelf, word, right, 34, 18, text_anchor="end", fill=PEN)


def _draw_label(case: Group, item: str, top: float) -> None:
    case.add("rect", x=14, y=top + 4, width=LABEL - 24, height=ROOM - 8, rx=6, fill=COLOURS[item])
    _draw_icon(case, item, 14 + (LABEL - 24) / 2, top + 23, 1.3)
    _write(case, item, 14 + (LABEL - 24) / 2, top + 46, 13)


def _draw_pips(case: Group, x: float, y: float, count: int) -> None:
    """As many little dice as a space needs."""
    for index in range(count):
        left = x + (index - count / 2) * 11 + 1
        case.add("rect", x=left, y=y - 4.5, width=9, height=9, rx=2, fill=PAPER)


def _draw_points(case: Group, x: float, y: float, points: int | None) -> None:
    text = "–" if points is None else str(points)  # noqa: RUF001
    _write(
        case, text, x, y, fitting(text, 17, 46), fill="#c9a986" if points is None else "#ffffff",
        font_weight="bold",
    )  # fmt: skip


def _draw_space(cell: Group, item: str, mark: int, value: str) -> None:
    fill = {CIRCLED: COLOURS[item], CROSSED: "#d9d4cc"}.get(mark, TINTS[item])
    cell.add("rect", width=ROOM, height=ROOM, rx=7, fill=fill)
    if mark != CROSSED:
        _write(
            cell, value, ROOM / 2, ROOM / 2, fitting(value, 25, 40), font_weight="bold",
            fill_opacity=0.55 if mark == BLANK else 1,
        )  # fmt: skip
    if mark == CIRCLED:
        # A ring whose ends do not quite meet.
        cell.add(
            "path",
            d="M40 9.5C23 3 7 14 7 31C7 46 18 54 31 54C45 54 54 44 53 29C52 17 43 8 30 8.5",
            fill="none", stroke=PEN, stroke_width=4, stroke_linecap="round",
        )  # fmt: skip
    if mark == CROSSED:
        cell.add(
            "path", d="M12 12L48 48M48 12L12 48", fill="none", stroke="#7d766d", stroke_width=5,
            stroke_linecap="round",
        )  # fmt: skip


def _draw_tray(
    picture: Group, scene: Scene, top: float, width: float, keep: Mapping[str, int] | None
) -> None:
    state = scene.state
    gap = 14
    tray = picture.add("g", transform=f"translate({MARGIN} {top})")
    tray.add("rect", width=width - 2 * MARGIN, height=TRAY - MARGIN, rx=12, fill="#2f5d50")
    left = 24.0
    for face in FACES:
        for index in range(state["dice"].get(face, 0)):
            kept = keep is not None and index < keep.get(face, 0)
            _draw_die(tray, face, left, (TRAY - MARGIN - DIE) / 2, kept=kept)
            left += DIE + gap
    assert left == 24 + DICE * (DIE + gap), "six dice lie there"
    rerolls = state["rerolls"]
    rest = {0: "No rolls left", 1: "1 roll left", 2: "2 rolls left"}[rerolls]
    left += 16
    _write(
        tray, scene.names[state["seat_to_act"]][:LONGEST_NAME], left, 34, 20, fill="#ffffff",
        text_anchor="start", font_weight="bold",
    )  # fmt: skip
    _write(tray, rest, left, 62, 18, fill="#d5e8e0", text_anchor="start")


def _draw_die(tray: Group, face: str, x: float, y: float, *, kept: bool) -> None:
    die = tray.add("g", transform=f"translate({x:g} {y:g})")
    die.add("rect", x=2, y=4, width=DIE, height=DIE, rx=12, fill="#1f4238")
    die.add("rect", width=DIE, height=DIE, rx=12, fill=COLOURS[face])
    _draw_icon(die, face, DIE / 2, DIE / 2, 2.1)
    if kept:
        die.add(
            "rect", x=-3, y=-3, width=DIE + 6, height=DIE + 6, rx=14, fill="none", stroke=NEW,
            stroke_width=6,
        )  # fmt: skip


def _draw_icon(group: Group, face: str, x: float, y: float, scale: float) -> None:
    icon = group.add("g", transform=f"translate({x:g} {y:g}) scale({scale:g})", fill=INK)
    for tag, attributes in ICONS[face]:
        icon.add(tag, None, **attributes)


def _write(
    group: Group, text: str, x: float, y: float, size: float, **attributes: str | float
) -> None:
    """Text around the height `y`, centred at `x` unless told otherwise."""
    centred: dict[str, str | float] = {"text_anchor": "middle", "fill": INK}
    group.add("text", text, x=x, y=y + 0.36 * size, font_size=size, **(centred | attributes))
