"""Pictures of Riviera: what they show, and that they are sound whatever the position."""

import random
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from rich.console import Console

from aleator.search import Position
from aleator.service.drawing import Scene
from aleator.service.drawing.riviera import RivieraDrawing
from aleator.service.drawing.riviera_svg import MARK

SVG = "{http://www.w3.org/2000/svg}"
NAMES = ["You", "Bot <1>", "Bot & 2", "A name that is far too long to be shown", "4", "5"]
NOTATION = (
    "riviera 2.3 play 01 1 r3!g5p2b6*4 - 11:in:r4g2g8p12b1b3b7b9:r11b2:reserved@b,"
    "8:in:????????:g1g6:used"
)


def scene_of(position, seat=None, events=(), before=()):
    return Scene(
        state=position.record,
        options=position.options,
        names=NAMES[: position.seats],
        events=events,
        before=before,
        seat=seat,
    )


def drawn(scene):
    console = Console(width=120, color_system=None)
    with console.capture() as capture:
        console.print(RivieraDrawing().draw(scene))
    return capture.get()


def titles(svg):
    return [element.text for element in ET.fromstring(svg).iter(f"{SVG}title")]


def marked(svg):
    return [element for element in ET.fromstring(svg).iter() if MARK in element.attrib.values()]


def words(svg):
    return [element.text for element in ET.fromstring(svg).iter(f"{SVG}text")]


def test_text():
    lines = drawn(scene_of(Position.parse(NOTATION))).splitlines()
    assert "Round 2, turn 3  play a card" in lines[0]
    assert "r3 ⚂ ↻" in lines[2]
    assert "*4 ⚃" in lines[2]
    assert any("You" in line and "r4   g2   g8" in line for line in lines)
    assert any("has reserved blue" in line and "★5" in line for line in lines)
    assert any("Bot <1> ●" in line and line.count("?") == 8 for line in lines)


def story(scene):
    """What is told below the picture of the same scene without events."""
    plain = replace(scene, events=(), before=())
    return drawn(scene).removeprefix(drawn(plain)).split()


def test_text_tells_what_happened():
    rolled = {"rolled": {"dice": [{"colour": "r", "value": 2}, {"colour": "*", "value": 5}]}}
    told = {
        "You played r12": {"played": {"seat": 0, "card": "r12"}},
        "Bot <1> used the Last Chance": {"used_last_chance": {"seat": 1}},
        "You crashed": {"crashed": {"seat": 0}},
        "You stopped with ★4": {"stopped": {"seat": 0, "stars": 4}},
        "Bot <1> went on": {"went_on": {"seat": 1}},
        "You passed": {"passed": {"seat": 0}},
        "You made no use of r10": {"passed": {"seat": 0, "card": "r10"}},
        "You turned * from 6 to 1": {
            "turned": {"seat": 0, "die": "*", "from_value": 6, "to_value": 1}
        },
        "You reserved red": {"reserved": {"seat": 0, "die": "r"}},
        "You added the golden die": {"added_golden": {"seat": 0}},
        "You swapped two cards with Bot <1>": {"swapped": {"seat": 0, "opponent": 1}},
        "You discarded two cards for two of the pile": {"redrew": {"seat": 0}},
        "rolled r2 ⚁ *5 ⚄": rolled,
        "The round is over: You 3, Bot <1> 0": {"round_ended": {"scores": [3, 0]}},
        "Grand Slam by Bot <1>": {"finished": {"scores": [3, 0], "grand_slam": [1]}},
    }
    position = Position.parse(NOTATION)
    for words, event in told.items():
        events = [event, {"went_on": {"seat": 1}}]
        lines = " ".join(story(scene_of(position, events=events)))
        assert lines.removesuffix("Bot <1> went on").removesuffix(" · ").strip() == words
    # The dice rolled last are on the table.
    assert not story(scene_of(position, events=[rolled]))


SWAP = (
    "riviera 1.1 powers 0 0 r2g2p2b2 - 0:in:r3r4:r10:power@r10,0:in:g3g4:g8,0:in:p3p4:p8"
    " hand_size=3"
)


@pytest.mark.parametrize(
    ("seat", "cards"),
    [
        (0, ": You gave r3 r4 and got g3 g4"),
        (1, ": Bot <1> gave g3 g4 and got r3 r4"),
        (2, ""),
        (None, ""),
    ],
)
def test_only_the_two_seats_of_a_swap_are_told_its_cards(seat, cards):
    before = Position.parse(SWAP)
    after, events = before.apply({0: before.find_move("swap:1:r3,r4")}, seed=1)
    views = [before, after] if seat is None else [before.observe(seat), after.observe(seat)]
    records = [event.record for event in events]
    scene = scene_of(views[1], seat, records, [views[0].record] * len(records))
    assert " ".join(story(scene)) == f"You swapped two cards with Bot <1>{cards}"
    assert "gave" not in story(replace(scene, before=()))


def test_svg():
    svg = RivieraDrawing().svg(scene_of(Position.parse(NOTATION)))
    found = titles(svg)
    assert found.count("hidden card") == 8
    assert "red die: 3" in found
    assert "golden die: 4" in found
    assert "purple 12, 5 stars" in found
    assert {"turned", "for You"} <= set(words(svg))
    assert not marked(svg)


def test_svg_tells_choices_beside_what_a_seat_may_use():
    position = Position.parse(
        "riviera 3.1 stop 01 0 rgpb - 0:in:r1r2:r10:power@r10,9:in:g2g3:g1 hand_size=3"
        " preroll_powers=after_stop max_rounds=5"
    )
    chosen, _ = position.apply({0: position.find_move("more", 0)})
    for seat, told in ((0, "chose more"), (1, "has chosen")):
        shown = set(words(RivieraDrawing().svg(scene_of(chosen.observe(seat)))))
        assert {told, "may use r10: swap", "Round 3 of 5, turn 1"} <= shown
        assert ("chose more" in shown) == (seat == 0)


@pytest.mark.parametrize(("text", "count"), [("g8", 1), ("b9", 1)])
def test_highlighted_card(text, count):
    position = Position.parse(NOTATION)
    move = position.find_move(text, 0)
    assert len(marked(RivieraDrawing().svg(scene_of(position, 0), move.record))) == count


@pytest.mark.parametrize(
    ("line", "text", "word"),
    [
        ("1.1 stop 01 1 rgpb - 0:in:r1:r12,0:in:g1:g4 hand_size=2", "stop", "stop"),
        (
            "1.1 powers 0 0 r2g2p2b2 - 0:in:r3r4:r10:power@r10,0:in:g3g4:g8 hand_size=3",
            "swap:1:r3,r4",
            "swap with Bot <1>",
        ),
        (
            "1.2 nines 0 1 r1g6p3b4 - 0:in:r3r4:r9:power@r9,0:in:g3g4:g8 hand_size=3",
            "r-1",
            "turn down",
        ),
    ],
)
def test_highlighted_words(line, text, word):
    position = Position.parse(f"riviera {line}")
    svg = RivieraDrawing().svg(scene_of(position, 0), position.find_move(text, 0).record)
    assert word in words(svg)
    assert marked(svg)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"players": 6, "stars": [9] * 12},
        {"players": 4, "mode": "sequential", "hand_size": 12, "max_same_colour_in_hand": None},
        {"hand_size": 24},
    ],
)
def test_all_positions_are_drawn(options):
    """Inside the picture, with as many backs as there are hidden cards, each move highlighted."""
    chooser = random.Random(8)
    position = Position.create("riviera", options, 8)
    for _ in range(25):
        if position.finished:
            break
        moves = {}
        for seat in position.seats_to_act:
            moves[seat] = chooser.choice(position.moves(seat))
            view = position.observe(seat)
            svg = RivieraDrawing().svg(scene_of(view, seat), moves[seat].record)
            record = view.record
            hidden = sum(
                place.get("hidden_count", 0) for place in [*record["hands"], record["discard"]]
            )
            assert titles(svg).count("hidden card") == hidden
            assert marked(svg)
            assert_inside(svg)
            assert drawn(scene_of(view, seat))
        position, _ = position.apply(moves, seed=chooser.getrandbits(64))


def assert_inside(svg):
    root = ET.fromstring(svg)
    _, _, width, height = map(float, root.get("viewBox").split())
    for element in root.iter(f"{SVG}rect"):
        left, top = float(element.get("x", 0)), float(element.get("y", 0))
        assert left >= 0
        assert top >= 0
        assert left + float(element.get("width")) <= width
        assert top + float(element.get("height")) <= height


@pytest.mark.parametrize(
    ("typed", "notation"),
    [
        ("R12", "r12"),
        ("last chance", "last_chance"),
        ("lc", "last_chance"),
        ("Stop", "stop"),
        ("b +1", "b+1"),
        ("r-", "r-1"),
        ("*+", "*+1"),
        ("swap 1 r3 b10", "swap:1:r3,b10"),
        ("swap with seat 1 r3, b10", "swap:1:r3,b10"),
        ("redraw r3 b10", "redraw:r3,b10"),
        ("swap:1:r3,b10", "swap:1:r3,b10"),
        ("what?", "what?"),
    ],
)
def test_moves_as_typed(typed, notation):
    assert RivieraDrawing().read_move(typed) == notation
