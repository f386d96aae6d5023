"""What the codec of Generator reads, writes and says; what it refuses is in `test_codecs` too."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aleator.search import Position
from aleator.search.errors import InvalidInput
from aleator.search.games import codec, codec_class
from tests.search.codec_cases.generator import NOTATION
from tests.search.refusals import paths, refused_state


@settings(max_examples=40)
@given(
    st.sampled_from([2, 3, 4]),
    st.sampled_from(["any_corner", "adjacent"]),
    st.booleans(),
    st.sampled_from([50, 2000]),
    st.integers(0, 80),
    st.integers(0, 999),
)
def test_round_trips(players, horizontal, forced, max_rolls, rolls, seed):
    options = {
        "players": players,
        "horizontal": horizontal,
        "forced_move": forced,
        "max_rolls": max_rolls,
    }
    rng = random.Random(seed)
    position = Position.create("generator", options, seed)
    for _ in range(rolls):
        if position.finished:
            break
        move = rng.choice(position.moves())
        position, _ = position.apply({move.seat: move}, seed=rng.getrandbits(64))
    assert Position.parse(position.notation) == position
    assert Position.from_record("generator", position.options, position.record) == position
    assert position.observe(1) == position


def test_notation_is_as_documented():
    position = Position.parse("generator G:M/Y:M 1 B 1 horizontal=adjacent forced_move=true")
    assert position.options["horizontal"] == "adjacent"
    assert position.options["forced_move"] is True
    assert position.notation == "generator G:M/Y:M 1 B 1 horizontal=adjacent forced_move=true"
    for players, board in ((2, "-/YG:L"), (3, "-/YG:L/-"), (4, "-/YG:L/-/B:S")):
        position = Position.parse(f"generator {board} 0 G 9")
        assert position.options["players"] == players
        assert position.notation == f"generator {board} 0 G 9"


def test_typed_state():
    record = Position.parse(NOTATION).record
    assert record == {
        "seats": [
            {
                "colour": "G",
                "stacks": [
                    {"node": "G", "pieces": "M"},
                    {"node": "GR", "pieces": "ML"},
                    {"node": "RYG", "pieces": "SM"},
                ],
                "stash": {"small": 4, "medium": 2, "large": 4},
            },
            {
                "colour": "Y",
                "stacks": [
                    {"node": "Y", "pieces": "SL"},
                    {"node": "YY", "pieces": "M"},
                    {"node": "RBGB", "pieces": "S"},
                ],
                "stash": {"small": 3, "medium": 4, "large": 4},
            },
        ],
        "seat_to_act": 0,
        "rolled": "R",
        "rolls": 57,
    }
    for seat in record["seats"]:
        del seat["colour"], seat["stash"]
        seat["stacks"].reverse()
    assert Position.from_record("generator", None, record) == Position.parse(NOTATION)


def test_there_are_five_of_each_size():
    stacks = [{"node": node, "pieces": "S"} for node in ("G", "GR", "GY", "GB", "R", "Y")]
    record = {"seats": [{"stacks": stacks}, {}], "seat_to_act": 0, "rolled": "G", "rolls": 99}
    assert paths(refused_state("generator", record)) == ["seats[0].stacks"]
    del stacks[5]
    codec("generator").read_state(record)


def test_a_seat_acts_unless_the_game_is_finished():
    record = Position.parse(NOTATION).record
    del record["seat_to_act"]
    assert paths(refused_state("generator", record)) == ["rolled"]
    del record["rolled"]
    (violation,) = refused_state("generator", record).violations
    assert violation.path == "seat_to_act"
    assert "must be set: nobody has won" in violation.message
    codec("generator", {"max_rolls": 57}).read_state(record)


def test_a_winner_ends_the_game():
    won = "RG:L,YRG:M,BRYG:S"
    finished = Position.parse(f"generator {won}/Y:M - - 50")
    assert finished.finished
    assert finished.win_shares == (1, 0)
    with pytest.raises(InvalidInput, match="seat_to_act: must be unset: seat 0 has won"):
        Position.parse(f"generator {won}/Y:M 1 R 50")
    with pytest.raises(InvalidInput, match="two winners: seats 0 and 1"):
        Position.parse(f"generator {won}/RY:L,GGY:M,BRRY:S - - 50")


def test_moves_in_and_out():
    position = Position.parse("generator YB:SML,R:S/G:M 0 G 50 sub_towers=true")
    written = {move.notation: move.record for move in position.moves()}
    assert written == {
        "pass": {"pass_turn": {}},
        "enter:S": {"enter": {"size": "S"}},
        "R-RG": {"step": {"from_node": "R", "to_node": "RG", "unit": 1}},
        "YB-YG": {"step": {"from_node": "YB", "to_node": "YG", "unit": 1}},
        "YB-YG:top": {"step": {"from_node": "YB", "to_node": "YG", "unit": 2}},
        "YB-YG:two": {"step": {"from_node": "YB", "to_node": "YG", "unit": 3}},
        "YB-YBG:top": {"step": {"from_node": "YB", "to_node": "YBG", "unit": 2}},
        "YB-YBG:two": {"step": {"from_node": "YB", "to_node": "YBG", "unit": 3}},
        "R-G": {"step": {"from_node": "R", "to_node": "G", "unit": 1}},
    }
    for move in position.moves():
        assert position.find_move(move.notation) == position.find_move(move.record) == move
    unit_left_out = {"step": {"from_node": "R", "to_node": "RG"}}
    assert position.find_move(unit_left_out).notation == "R-RG"


@pytest.mark.parametrize(
    ("position", "move", "expected"),
    [
        ("G:M/Y:M 0 R 9", "pass", "Pass."),
        ("-/Y:M 0 G 9", "enter:S", "Enter a small pyramid on G."),
        ("-/G:M 0 G 9", "enter:S",
         "Enter a small pyramid on G, capturing yellow's medium pyramid."),
        ("G:M/Y:M 0 R 9", "G-GR", "Move the medium pyramid from G to GR."),
        ("G:ML/Y:M 0 R 9", "G-GR", "Move the tower M/L from G to GR."),
        ("G:ML/Y:M 0 R 9", "G-GR:top", "Move the medium pyramid from the tower M/L on G to GR."),
        ("G:SML/Y:M 0 R 9 sub_towers=true", "G-R:two",
         "Move the tower S/M from the tower S/M/L on G to R."),
        ("G:S,R:L/Y:M 0 R 9", "G-R", "Move the small pyramid from G to R, onto the large pyramid."),
        ("G:S/R:ML 0 R 9", "G-R",
         "Move the small pyramid from G to R, capturing yellow's tower M/L."),
        ("R:L,YRG:M,BRYG:S/Y:M 0 G 50", "R-RG", "Move the large pyramid from R to RG, and win."),
    ],
)  # fmt: skip
def test_moves_in_english(position, move, expected):
    found = Position.parse(f"generator {position}").find_move(move)
    assert found.description == expected


def test_moves_without_a_position_in_english():
    bound = codec("generator")
    for text, expected in (
        ("pass", "Pass."),
        ("enter:M", "Enter a medium pyramid."),
        ("G-GR", "Move the whole stack from G to GR."),
        ("G-GR:top", "Move the top piece from G to GR."),
        ("G-GR:two", "Move the upper two pieces from G to GR."),
    ):
        assert bound.describe_move(None, 0, bound.parse_move(text)) == expected


@pytest.mark.parametrize(
    ("position", "move", "kinds", "first", "told"),
    [
        ("G:M/Y:M 0 R 9", "pass", ["passed", "rolled"], {"seat": 0},
         ["Green passed.", "Yellow rolled blue."]),
        ("-/G:M 0 G 9", "enter:S", ["entered", "rolled"],
         {"seat": 0, "size": "S", "node": "G", "captured": {"seat": 1, "pieces": "M"}},
         ["Green entered a small pyramid on G and captured yellow's medium pyramid.",
          "Green rolled blue again after the capture."]),
        ("G:M/Y:SL 1 B 9", "Y-B:top", ["moved", "rolled"],
         {"seat": 1, "from_node": "Y", "to_node": "B", "pieces": "S"},
         ["Yellow moved the small pyramid from the tower S/L on Y to B.", "Green rolled blue."]),
        ("R:L,YRG:M,BRYG:S/Y:M 0 G 50", "R-RG", ["moved", "finished"],
         {"seat": 0, "from_node": "R", "to_node": "RG", "pieces": "L"},
         ["Green moved the large pyramid from R to RG.",
          "Green has a large, a medium and a small pyramid in place in three branches and wins."]),
        ("G:M/Y:M 0 R 50 max_rolls=50", "pass", ["passed", "finished"], {"seat": 0},
         ["Green passed.", "The game is drawn after 50 rolls."]),
    ],
)  # fmt: skip
def test_events(position, move, kinds, first, told):
    before = Position.parse(f"generator {position}")
    (seat,) = before.seats_to_act
    outcome = None if kinds[1] == "finished" else {"rolled": "B"}
    after, events = before.apply({seat: before.find_move(move)}, outcome=outcome)
    assert [event.kind for event in events] == kinds
    assert events[0].record == {kinds[0]: first}
    assert [event.description for event in events] == told
    if kinds[1] == "rolled":
        (roller,) = after.seats_to_act
        assert events[1].seat == roller
        extra = roller == seat
        assert events[1].record == {"rolled": {"seat": roller, "colour": "B", "extra_turn": extra}}
    elif after.win_shares == (1, 0):
        assert events[1][0] == 0
        assert events[1].record == {"finished": {"winner": 0}}
    else:
        assert events[1].seat is None
        assert events[1].record == {"finished": {}}


def test_outcomes_that_cannot_be():
    position = Position.parse(NOTATION)
    for outcome, path in (
        ({}, "outcome.generator.rolled"),
        ({"rolled": "P"}, "outcome.generator.rolled"),
        ({"rolled": "RG"}, "outcome.generator.rolled"),
        ({"die": "R"}, "outcome.generator.die"),
    ):
        with pytest.raises(InvalidInput) as caught:
            position.apply({0: position.find_move("pass")}, outcome=outcome)
        assert path in paths(caught.value)


def test_rules_and_options_for_readers():
    found = codec_class("generator")
    assert found.rules_markdown().startswith("# Generator\n")
    options = {option.name: option[1:4] for option in found.option_list()}
    assert options == {
        "players": ("integer", 2, (2, 3, 4)),
        "horizontal": ("string", "any_corner", ("any_corner", "adjacent")),
        "forced_move": ("boolean", False, ()),
        "sub_towers": ("boolean", False, ()),
        "enter_stacks": ("boolean", False, ()),
        "max_rolls": ("integer", 2000, ()),
    }
