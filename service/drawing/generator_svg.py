"""Generator as an SVG: the whole board from above.

Every node is a disc in the middle of a tinted panel, with its four children around it, theirs
around them, and so on; the rods of a quadrangle run from panel to panel. Pyramids are squares seen
from above, so that a tower shows all its pieces, one inside the other.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from aleator.service.drawing.base import Record, Scene
from aleator.service.drawing.svg import Group, Picture, fitting

COLOURS = "GRYB"
CORNERS = {"G": (-1, -1), "R": (1, -1), "Y": (1, 1), "B": (-1, 1)}  # clockwise from the top left
NAMES = {"G": "green", "R": "red", "Y": "yellow", "B": "blue"}
SIZES = {"S": "small", "M": "medium", "L": "large"}
LEVELS = 4

BOARD = 792
MARGIN = 24
SIDEBAR = 300
WIDTH = MARGIN + BOARD + MARGIN + SIDEBAR
HEIGHT = MARGIN + BOARD + MARGIN

# By level, from 1: how far a node lies from the middle of its quadrangle, along each axis, and the
# sides and radii of what is drawn there. The alleys between the discs are wide enough for the rods.
SPREAD = (0, 197, 97, 46, 20)
PANEL = (0, 388, 186, 88)
ROUNDING = (0, 15, 11, 8)
RADIUS = (0, 25, 22, 16, 12.5)
ROD = (0, 5, 4, 3, 2.2)
PIECE = {"L": 31, "M": 21.5, "S": 13}  # sides of the squares


class Ink(NamedTuple):
    """The shades of one colour."""

    full: str
    dark: str
    light: str
    pale: str


INKS = {
    "G": Ink("#2fa84f", "#14602a", "#7fd697", "#d9f2df"),
    "R": Ink("#dc3b3b", "#861717", "#f59191", "#fbdede"),
    "Y": Ink("#f2c01d", "#8a6500", "#ffe27a", "#fdf3cd"),
    "B": Ink("#3277d8", "#153f80", "#8db8f5", "#dce9fb"),
}
INK = "#1f2430"
FAINT = "#5d6472"
PAPER = "#ffffff"
MARK = "#c2188f"


class Point(NamedTuple):
    """A place in the picture."""

    x: float
    y: float


def draw_svg(scene: Scene, highlight: Record | None) -> str:
    """The board, the stashes and the die; `highlight` is a typed move to point out."""
    picture = Picture(WIDTH, HEIGHT, "Generator")
    picture.add("rect", width=WIDTH, height=HEIGHT, fill=PAPER)
    picture.place(_board())
    for seat in scene.state["seats"]:
        for stack in seat.get("stacks", ()):
            _draw_stack(picture, stack["node"], stack["pieces"], seat["colour"])
    if highlight is not None:
        _draw_move(picture, scene.state, highlight)
    _draw_sidebar(picture, scene)
    return picture.write()


def _place(node: str) -> Point:
    middle = MARGIN + BOARD / 2
    steps = [(SPREAD[level], CORNERS[colour]) for level, colour in enumerate(node, 1)]
    return Point(
        middle + sum(spread * x for spread, (x, _) in steps),
        middle + sum(spread * y for spread, (_, y) in steps),
    )


@cache
def _board() -> Group:
    """Panels first, then rods, then nodes, so that nothing hides what matters."""
    picture = Group()
    nodes = list(COLOURS)
    for node in nodes:
        if len(node) < LEVELS:
            nodes += [node + colour for colour in COLOURS]
    for node in nodes:
        if len(node) < LEVELS:
            side = PANEL[len(node)]
            centre = _place(node)
            picture.add(
                "rect",
                x=centre.x - side / 2,
                y=centre.y - side / 2,
                width=side,
                height=side,
                rx=ROUNDING[len(node)],
                fill=INKS[node[-1]].pale,
                stroke=_border(node),
                stroke_width=2.5,
            )
    for node in ["", *nodes]:
        if len(node) < LEVELS:
            _draw_quadrangle(picture, node)
    for node in nodes:
        _draw_node(picture, node)
    return picture


def _border(node: str) -> str:
    """The frame of a node's panel: the more to see, the more it holds."""
    ink = INKS[node[-1]]
    return (ink.full, ink.light, PAPER)[len(node) - 1]


def _draw_quadrangle(picture: Group, parent: str) -> None:
    level = len(parent) + 1
    corners = [_place(parent + colour) for colour in COLOURS]
    picture.add(
        "polygon",
        points=" ".join(f"{corner.x:g},{corner.y:g}" for corner in corners),
        fill="none",
        stroke="#8b93a3",
        stroke_width=ROD[level],
        stroke_linejoin="round",
    )


def _draw_node(picture: Group, node: str) -> None:
    level = len(node)
    centre = _place(node)
    ink = INKS[node[-1]]
    disc = picture.add("g")
    disc.add("title", node)
    disc.add(
        "circle",
        cx=centre.x,
        cy=centre.y,
        r=RADIUS[level],
        fill=ink.pale,
        stroke=ink.full,
        stroke_width=3.4 - 0.4 * level,
    )
    _write(disc, centre, node[-1], size=RADIUS[level] * 0.95, fill=ink.dark, anchor="middle")


def _draw_stack(picture: Group, node: str, pieces: str, colour: str) -> None:
    centre = _place(node)
    stack = picture.add("g")
    stack.add("title", f"{node}: {NAMES[colour]} {'/'.join(pieces)}")
    # What stands here hides the letter of the node, so its ring must tell the colour.
    stack.add(
        "circle", cx=centre.x, cy=centre.y, r=RADIUS[len(node)] - 1.2, fill=INKS[node[-1]].pale
    )
    for size in reversed(pieces):
        _draw_pyramid(stack, centre, size, INKS[colour])


def _draw_pyramid(group: Group, centre: Point, size: str, ink: Ink) -> None:
    """A square in four facets, lit from the top left."""
    half = PIECE[size] / 2
    x, y = centre
    corners = [
        (x - half, y - half),
        (x + half, y - half),
        (x + half, y + half),
        (x - half, y + half),
    ]
    shades = (ink.light, ink.full, ink.dark, ink.full)
    for number, shade in enumerate(shades):
        (ax, ay), (bx, by) = corners[number], corners[(number + 1) % 4]
        group.add(
            "polygon",
            points=f"{ax:g},{ay:g} {bx:g},{by:g} {x:g},{y:g}",
            fill=shade,
            stroke=shade,
            stroke_width=0.4,
        )
    group.add(
        "rect",
        x=x - half,
        y=y - half,
        width=2 * half,
        height=2 * half,
        rx=1.5,
        fill="none",
        stroke=INK,
        stroke_width=1.5,
    )


def _draw_move(picture: Group, state: Record, move: Record) -> None:
    """A ring on the node moved to, with an arrow from where the pieces stand, or what enters."""
    if "step" in move:
        origin, target = _place(move["step"]["from_node"]), _place(move["step"]["to_node"])
        start = RADIUS[len(move["step"]["from_node"])]
        radius = RADIUS[len(move["step"]["to_node"])]
        _draw_ring(picture, origin, start, dashed=True)
        _draw_ring(picture, target, radius, dashed=False)
        _draw_arrow(picture, origin, target, start + 4, radius + 4)
    elif "enter" in move:
        colour = state["seats"][state["seat_to_act"]]["colour"]
        centre = _place(colour)
        if colour not in _occupied(state):
            picture.add("circle", cx=centre.x, cy=centre.y, r=RADIUS[1], fill=PAPER)
            ghost = picture.add("g", opacity=0.6)
            _draw_pyramid(ghost, centre, move["enter"]["size"], INKS[colour])
        _draw_ring(picture, centre, RADIUS[1], dashed=False)


def _occupied(state: Record) -> set[str]:
    return {stack["node"] for seat in state["seats"] for stack in seat.get("stacks", ())}


def _draw_ring(picture: Group, centre: Point, radius: float, *, dashed: bool) -> None:
    ring = picture.add("g", fill="none")
    ring.add("circle", cx=centre.x, cy=centre.y, r=radius + 3, stroke=PAPER, stroke_width=6)
    ring.add(
        "circle",
        cx=centre.x,
        cy=centre.y,
        r=radius + 3,
        stroke=MARK,
        stroke_width=3.2,
        stroke_dasharray="4 3" if dashed else "none",
    )


def _draw_arrow(picture: Group, origin: Point, target: Point, before: float, after: float) -> None:
    """An arrow that bends a little, off the rods, from disc to disc."""
    dx, dy = target.x - origin.x, target.y - origin.y
    length = (dx * dx + dy * dy) ** 0.5
    across = Point(-dy / length, dx / length)
    bend = min(0.18 * length, 40)
    middle = Point(
        (origin.x + target.x) / 2 + across.x * bend, (origin.y + target.y) / 2 + across.y * bend
    )
    start = _towards(origin, middle, before)
    tip = _towards(target, middle, after)
    head = _towards(tip, middle, 9)
    back = _towards(head, middle, 4)
    left = Point(back.x + across.x * 7, back.y + across.y * 7)
    right = Point(back.x - across.x * 7, back.y - across.y * 7)
    curve = f"M{start.x:.1f},{start.y:.1f} Q{middle.x:.1f},{middle.y:.1f} {head.x:.1f},{head.y:.1f}"
    for stroke, width in ((PAPER, 8), (MARK, 4)):
        picture.add(
            "path", d=curve, fill="none", stroke=stroke, stroke_width=width, stroke_linecap="round"
        )
    picture.add(
        "polygon",
        points=" ".join(f"{point.x:.1f},{point.y:.1f}" for point in (tip, left, right)),
        fill=MARK,
        stroke=PAPER,
        stroke_width=1.5,
        paint_order="stroke",
        stroke_linejoin="round",
    )


def _towards(origin: Point, target: Point, distance: float) -> Point:
    dx, dy = target.x - origin.x, target.y - origin.y
    length = (dx * dx + dy * dy) ** 0.5
    part = min(distance / length, 1) if length else 0
    return Point(origin.x + dx * part, origin.y + dy * part)


def _draw_sidebar(picture: Group, scene: Scene) -> None:
    state = scene.state
    left = MARGIN + BOARD + MARGIN
    _write(picture, Point(left, 44), "Generator", size=26, weight="bold")
    _write(picture, Point(left, 72), f"roll {state['rolls']}", size=15, fill=FAINT)
    top = 104.0
    for seat, name in enumerate(scene.names):
        _draw_seat(picture, Point(left, top), state, seat, name)
        top += 168
    if state.get("seat_to_act") is None:
        result = scene.result or "The game is over."
        size = fitting(result, 17, SIDEBAR)
        _write(picture, Point(left, top + 16), result, size=size, weight="bold")


def _draw_seat(picture: Group, corner: Point, state: Record, seat: int, name: str) -> None:
    """A card with the seat's stash, and with the die if it is the seat's turn."""
    record: Mapping[str, Any] = state["seats"][seat]
    ink = INKS[record["colour"]]
    acts = state.get("seat_to_act") == seat
    x, y = corner
    picture.add(
        "rect",
        x=x,
        y=y,
        width=SIDEBAR - MARGIN,
        height=152,
        rx=12,
        fill=ink.pale,
        stroke=ink.full if acts else "none",
        stroke_width=4,
    )
    _write(picture, Point(x + 18, y + 28), name, size=19, weight="bold")
    _write(picture, Point(x + 18, y + 52), NAMES[record["colour"]], size=14, fill=ink.dark)
    if acts:
        _draw_die(picture, Point(x + SIDEBAR - MARGIN - 46, y + 36), state["rolled"])
    _write(picture, Point(x + 18, y + 84), "stash", size=13, fill=FAINT)
    stash = record["stash"]
    for number, (size, name_of_size) in enumerate(SIZES.items()):
        centre = Point(x + 42 + number * 84, y + 116)
        _draw_pyramid(picture.add("g"), centre, size, ink)
        _write(picture, Point(centre.x + 24, centre.y), f"×{stash.get(name_of_size, 0)}", size=16)


def _draw_die(picture: Group, centre: Point, colour: str) -> None:
    """A four-sided die that shows a colour, and its letter."""
    ink = INKS[colour]
    x, y = centre
    die = picture.add("g")
    die.add("title", f"rolled {NAMES[colour]}")
    corners: Sequence[Point] = (Point(x, y - 25), Point(x + 28, y + 21), Point(x - 28, y + 21))
    die.add(
        "polygon",
        points=" ".join(f"{corner.x:g},{corner.y:g}" for corner in corners),
        fill=ink.full,
        stroke=INK,
        stroke_width=3,
        stroke_linejoin="round",
    )
    dark = colour == "Y"
    _write(
        die, Point(x, y + 6), colour, size=22, weight="bold", anchor="middle",
        fill=INK if dark else PAPER,
    )  # fmt: skip


def _write(
    group: Group,
    place: Point,
    text: str,
    *,
    size: float,
    fill: str = INK,
    anchor: str = "start",
    weight: str = "normal",
) -> None:
    """Text whose capitals are centred on the height of `place`."""
    group.add(
        "text",
        text,
        x=place.x,
        y=place.y + size * 0.36,
        font_size=size,
        fill=fill,
        text_anchor=anchor,
        font_weight=weight,
    )
