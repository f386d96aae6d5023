"""Generator at a terminal and as SVG."""

import random
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from rich.console import Console

from aleator.search import Position
from aleator.service.drawing import GeneratorDrawing, Scene

NAMES = ["Ann <b>", "Ben & Co", "Cleo", "Dan"]
NOTATION = "generator G:M,YG:SML,RYG:SM,RGYB:S/Y:SL,YYY:M,RBGB:S 0 R 57"


def positions(players, seed):
    """Positions of a random game, and its end, with the events that led there."""
    rng = random.Random(seed)
    position = Position.create("generator", {"players": players, "max_rolls": 150}, seed)
    yield position, []
    while not position.finished:
        moves = position.moves()
        move = rng.choice(moves[1:] or moves)
        position, events = position.apply({move.seat: move}, seed=rng.getrandbits(64))
        yield position, [event.record for event in events]


def scene_of(position, events=()):
    return Scene(position.record, position.options, NAMES[: position.seats], events)


def texts(svg):
    return [element.text for element in ET.fromstring(svg).iter() if element.text]


@pytest.mark.parametrize("players", [2, 3, 4])
def test_svg_of_the_states_of_a_random_game(players):
    drawing = GeneratorDrawing()
    for number, (position, events) in enumerate(positions(players, seed=players)):
        if number % 8 and not position.finished:
            continue
        moves = position.moves() if not position.finished else [None]
        move = moves[number % len(moves)]
        scene = scene_of(position, events)
        svg = drawing.svg(scene, None if move is None else move.record)
        root = ET.fromstring(svg)
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        for element in root.iter():
            assert element.tag.rpartition("}")[2] in {
                "svg", "g", "title", "rect", "circle", "polygon", "path", "text",
            }  # fmt: skip
            assert not {name for name in element.attrib if name.endswith("href")}
            assert not any("url(" in value for value in element.attrib.values())
        shown = texts(svg)
        for seat in position.record["seats"]:
            for stack in seat["stacks"]:
                title = f"{stack['node']}: "
                assert any(text.startswith(title) for text in shown)
        assert f"roll {position.record['rolls']}" in shown
        assert ("The game is over." in shown) == position.finished


def test_svg_shows_all_nodes_and_the_winner():
    position = Position.parse("generator RG:L,YRG:M,BRYG:S/Y:M - - 50")
    scene = replace(scene_of(position), win_shares=[1.0, 0.0])
    shown = texts(GeneratorDrawing().svg(scene))
    assert "Won by Ann <b>." in shown
    assert sum(set(text) <= set("GRYB") and len(text) > 1 for text in shown) == 336


def test_a_highlight_changes_the_picture():
    position = Position.parse(NOTATION)
    drawing = GeneratorDrawing()
    plain = drawing.svg(scene_of(position))
    pictures = {drawing.svg(scene_of(position), move.record) for move in position.moves()[1:]}
    assert len(pictures) > 3
    assert plain not in pictures
    assert drawing.svg(scene_of(position), {"pass_turn": {}}) == plain


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_terminal(width):
    console = Console(width=width, color_system=None, record=True)
    with console.capture() as capture:
        console.print(
            GeneratorDrawing().draw(
                scene_of(
                    Position.parse(NOTATION),
                    [{"moved": {"seat": 1, "from_node": "YRR", "to_node": "YRG", "pieces": "S"}}],
                )
            )
        )
    text = capture.get()
    words = " ".join(text.split())
    for expected in ("Roll 57", "▸ Ann <b>", "rolled red", "S×2 M×2 L×4", "S×3 M×4 L×4"):
        assert expected in words
    for stack in ("G:M", "YG:SML", "RYG:SM", "RGYB:S", "Y:SL", "YYY:M", "RBGB:S"):
        assert stack in words
    assert max(map(len, text.splitlines())) <= width


def test_terminal_places_pieces_and_letters():
    console = Console(width=80, color_system=None)
    with console.capture() as capture:
        console.print(GeneratorDrawing().draw(scene_of(Position.parse(NOTATION))))
    rows = capture.get().splitlines()[:27]
    names = " ".join(rows).replace("ySML", "y SML").split()
    assert sorted(map(len, set(names) - {"M", "S", "SM", "SL", "SML"})) == [1] * 4 + [2] * 15 + (
        [3] * 62
    )
    assert len(names) == 340
    assert rows[6].split() == ["M", "r"]
    assert rows[20].split() == ["b", "SL"]
    assert rows[1].split() == ["ggg", "ggr", "grg", "grr", "rgg", "rgr", "rrg", "rrr"]


@pytest.mark.parametrize(
    ("width", "height", "seats", "board"),
    [
        (100, 40, 2, 27),
        (100, 40, 4, 27),
        (80, 40, 2, 27),
        (80, 40, 4, 17),
        (80, 24, 2, 17),
        (80, 24, 3, 17),
        (80, 24, 4, 17),
    ],
)
def test_terminal_shows_all_without_scrolling(width, height, seats, board):
    console = Console(width=width, height=height, color_system=None, force_terminal=True)
    for number, (position, events) in enumerate(positions(seats, seed=3)):
        if number % 20:
            continue
        with console.capture() as capture:
            console.print(GeneratorDrawing().draw(scene_of(position, events)))
        rows = capture.get().splitlines()
        assert len(rows) + seats <= height  # thoughts and the prompt
        assert rows[board - 1].split()[0] == "b"
        assert max(map(len, rows)) <= width


def test_what_happened_is_told():
    before = Position.parse("generator G:M/Y:SL,GR:S 1 G 9")
    captured, first = before.apply({1: before.find_move("GR-G")}, outcome={"rolled": "B"})
    passed, second = captured.apply({1: captured.find_move("pass")}, outcome={"rolled": "G"})
    scene = scene_of(passed, [event.record for event in first + second])
    console = Console(width=120, color_system=None)
    with console.capture() as capture:
        console.print(GeneratorDrawing().draw(scene))
    lines = [line[68:].strip() for line in capture.get().splitlines()]
    for expected in (
        "Ben & Co moved S GR → G, took M",
        "Ben & Co rolled B for an extra turn",
        "Ben & Co passed",
        "Ann <b> rolled G",
    ):
        assert expected in lines


def test_colours_are_in_the_picture():
    console = Console(width=120, force_terminal=True, color_system="truecolor")
    with console.capture() as capture:
        console.print(GeneratorDrawing().draw(scene_of(Position.parse(NOTATION))))
    assert "\x1b[1;38;2;255;255;255;48;2;31;139;59mSML" in capture.get()


@pytest.mark.parametrize(
    ("typed", "notation"),
    [
        ("pass", "pass"), (" P ", "pass"), ("enter s", "enter:S"), ("e m", "enter:M"),
        ("ENTER:L", "enter:L"), ("gr gry", "GR-GRY"), ("GR-GRY", "GR-GRY"), ("gr > gry", "GR-GRY"),
        ("gr gry top", "GR-GRY:top"), ("gr-gry:two", "GR-GRY:two"), ("what", "what"),
        ("gr gry low", "gr gry low"), ("", ""),
    ],
)  # fmt: skip
def test_loose_spellings(typed, notation):
    assert GeneratorDrawing().read_move(typed) == notation


def test_all_moves_may_be_typed_as_they_are_written():
    for position, _ in positions(2, seed=9):
        if not position.finished:
            for move in position.moves():
                assert GeneratorDrawing().read_move(move.notation) == move.notation
