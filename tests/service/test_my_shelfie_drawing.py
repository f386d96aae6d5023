"""Pictures of My Shelfie: what they show, and that they are sound whatever the position."""

import random
from xml.etree import ElementTree as ET

import pytest
from rich.console import Console

from aleator.search import Position
from aleator.service.drawing import Scene
from aleator.service.drawing.my_shelfie import MyShelfieDrawing
from aleator.service.drawing.my_shelfie_svg import NEW

SVG = "{http://www.w3.org/2000/svg}"
NAMES = ["You", "Bot <1>", "Bot & 2", "A name that is far too long to be shown"]
# Seat 1 has completed column 1.
NOTATION = "my_shelfie xo.../xoxox/x...o/xo.../x....,oo.../o..../o.oo./oo.../ooo.. ppgbjj 0 0 1"


def scene_of(position, events=()):
    return Scene(
        state=position.record,
        options=position.options,
        names=NAMES[: position.seats],
        events=[event.record for event in events],
    )


def drawn(scene):
    console = Console(width=100, color_system=None)
    with console.capture() as capture:
        console.print(MyShelfieDrawing().draw(scene))
    return capture.get()


def frames(svg):
    """The orange frames of a picture, as their dash patterns."""
    return [
        element.get("stroke-dasharray")
        for element in ET.fromstring(svg).iter(f"{SVG}rect")
        if element.get("stroke") == NEW
    ]


def positions(options):
    """Every fifth position of a random game, and the last one, with the events before it."""
    chooser = random.Random(1)
    position = Position.create("my_shelfie", options, seed=2)
    events = []
    for ply in range(66 * position.seats):
        if position.finished or ply % 5 == 0:
            yield position, events
        if position.finished:
            return
        move = chooser.choice(position.moves())
        position, events = position.apply({move.seat: move}, seed=chooser.getrandbits(64))


@pytest.mark.parametrize("options", [{}, {"players": 3}, {"players": 4, "end": "immediate"}])
def test_every_position_has_pictures(options):
    for number, (position, events) in enumerate(positions(options)):
        scene = scene_of(position, events)
        moves = [None] if position.finished else [move.record for move in position.moves()]
        svg = MyShelfieDrawing().svg(scene, moves[number % len(moves)])
        root = ET.fromstring(svg)
        assert root.tag == f"{SVG}svg"
        allowed = {"svg", "title", "g", "rect", "circle", "path", "text"}
        assert {element.tag.removeprefix(SVG) for element in root.iter()} <= allowed
        assert "url(" not in svg
        assert "href" not in svg
        text = drawn(scene)
        assert max(map(len, text.splitlines())) <= 100
        shown = {element.text for element in root.iter(f"{SVG}text")}
        for seat, score in enumerate(position.scores):
            assert f"{score:g}" in shown
            assert NAMES[seat][:8] in text


def test_a_terminal_without_colours_tells_it_all():
    position = Position.parse(NOTATION)
    lines = drawn(scene_of(position)).splitlines()
    assert "You  6" in lines[0]
    assert lines[2].split() == [
        "│", "plants", "×", "(2)", "3", "5", "8", "·", "│",
        "│", "plants", "(1)", "(2)", "3", "5", "8", "·", "│",
    ]  # fmt: skip
    assert lines[7].split()[1:6] == ["·", "6", "·", "·", "·"]
    assert "plant   plant   game   book   joker   joker" in lines[-1]


def test_what_happened_lately_is_marked():
    position = Position.parse(NOTATION)
    move = position.find_move("circle:p3+b2")
    after, events = position.apply({0: move}, outcome={"rolls": [{"cats": 6}]})
    text = drawn(scene_of(after, events))
    assert text.count("▸3◂") == 1
    assert text.count("▸2◂") == 1
    assert "You circled  p3   b2" in text
    assert frames(MyShelfieDrawing().svg(scene_of(after, events))) == ["none", "none"]


@pytest.mark.parametrize(
    ("move", "count"), [("circle:p3+b2", 2), ("keep:ppj", 3), ("cross:c", 4), ("keep:-", 0)]
)
def test_a_highlighted_move(move, count):
    position = Position.parse(NOTATION)
    record = position.codec.write_move(position.codec.parse_move(move))
    assert len(frames(MyShelfieDrawing().svg(scene_of(position), record))) == count


def test_long_values_fit():
    position = Position.create("my_shelfie", {"values": [-100_000] * 25}, seed=1)
    assert max(map(len, drawn(scene_of(position)).splitlines())) <= 100
    assert "-100000" in MyShelfieDrawing().svg(scene_of(position))


@pytest.mark.parametrize(
    ("typed", "notation"),
    [
        ("keep ppj", "keep:ppj"),
        ("Keep -", "keep:-"),
        ("keep", "keep:-"),
        ("ppj", "keep:ppj"),
        ("keep p p j", "keep:ppj"),
        ("circle p2 g3", "circle:p2+g3"),
        ("p2, g3", "circle:p2+g3"),
        ("P2+G3", "circle:p2+g3"),
        ("circle:p2+g3", "circle:p2+g3"),
        ("cross t", "cross:t"),
        ("what", "what"),
        ("", ""),
    ],
)
def test_moves_as_people_type_them(typed, notation):
    assert MyShelfieDrawing().read_move(typed) == notation


def test_all_moves_may_be_typed_as_they_are_written():
    for rerolls in range(3):
        for move in Position.parse(NOTATION.replace("jj 0", f"jj {rerolls}")).moves():
            assert MyShelfieDrawing().read_move(move.notation) == move.notation
