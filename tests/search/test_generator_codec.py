"""What the codec of Generator reads, writes, refuses and says."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aleator.search import Position
from aleator.search.errors import IllegalMove, InvalidInput
from aleator.search.games import codec, codec_class

NOTATION = "generator G:M,GR:ML,RYG:SM/Y:SL,YY:M,RBGB:S 0 R 57"


def refusal(record, **options):
    with pytest.raises(InvalidInput) as caught:
        codec("generator", options).read_state(record)
    return caught.value.violations


def paths(violations):
    return [violation.path for violation in violations]


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


def test_the_example_is_a_position():
    example = codec_class("generator").example
    assert Position.parse(example).notation == example


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


@pytest.mark.parametrize(
    ("place", "value", "expected"),
    [
        (("seats",), [], ["seats"]),
        (("seats",), [{}] * 3, ["seats"]),
        (("seats", 0, "colour"), "Y", ["seats[0].colour"]),
        (("seats", 0, "stacks"), [{"node": "G", "pieces": "S"}] * 16, ["seats[0].stacks"]),
        (("seats", 0, "stacks", 1, "node"), "GX", ["seats[0].stacks[1].node"]),
        (("seats", 0, "stacks", 1, "node"), "", ["seats[0].stacks[1].node"]),
        (("seats", 0, "stacks", 1, "node"), "GRYBG", ["seats[0].stacks[1].node"]),
        (("seats", 0, "stacks", 1, "node"), "G", ["seats[0].stacks[1].node"]),
        (("seats", 1, "stacks", 1, "node"), "GR", ["seats[1].stacks[1].node"]),
        (("seats", 0, "stacks", 1, "node"), "GRY", ["seats[0].stacks[1].pieces"]),
        (("seats", 0, "stacks", 2, "node"), "RYGG", ["seats[0].stacks[2].pieces"]),
        (("seats", 0, "stacks", 1, "pieces"), "LM", ["seats[0].stacks[1].pieces"]),
        (("seats", 0, "stacks", 1, "pieces"), "MM", ["seats[0].stacks[1].pieces"]),
        (("seats", 0, "stacks", 1, "pieces"), "XL", ["seats[0].stacks[1].pieces"]),
        (("seats", 0, "stacks", 2, "pieces"), "", ["seats[0].stacks[2].pieces"]),
        (("seats", 0, "stacks", 2, "pieces"), "M", ["seats[0].stash.small"]),
        (("seats", 1, "stash", "large"), 5, ["seats[1].stash.large"]),
        (("seats", 1, "stash", "large"), -1, ["seats[1].stash.large"]),
        (("seats", 1, "stash"), {}, [f"seats[1].stash.{size}" for size in
                                     ("small", "medium", "large")]),
        (("seat_to_act",), 2, ["seat_to_act"]),
        (("seat_to_act",), -1, ["seat_to_act"]),
        (("rolled",), "", ["rolled"]),
        (("rolled",), "X", ["rolled"]),
        (("rolled",), "RY", ["rolled"]),
        (("rolls",), 0, ["rolls"]),
        (("rolls",), 2001, ["rolls"]),
        (("rolls",), 5, ["rolls"]),  # 9 pieces on the board, 7 of them entered
    ],
)  # fmt: skip
def test_violations_are_named(place, value, expected):
    record = Position.parse(NOTATION).record
    inner = record
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    assert paths(refusal(record)) == expected


def test_there_are_five_of_each_size():
    stacks = [{"node": node, "pieces": "S"} for node in ("G", "GR", "GY", "GB", "R", "Y")]
    record = {"seats": [{"stacks": stacks}, {}], "seat_to_act": 0, "rolled": "G", "rolls": 99}
    assert paths(refusal(record)) == ["seats[0].stacks"]
    del stacks[5]
    codec("generator").read_state(record)


def test_a_seat_acts_unless_the_game_is_finished():
    record = Position.parse(NOTATION).record
    del record["seat_to_act"]
    assert paths(refusal(record)) == ["rolled"]
    del record["rolled"]
    (violation,) = refusal(record)
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


def test_everything_wrong_is_said_at_once():
    record = Position.parse(NOTATION).record
    record["seats"][0]["colour"] = "B"
    record["seats"][0]["stacks"][0]["node"] = "X"
    record["seats"][1]["stacks"][0]["pieces"] = "LS"
    record["seat_to_act"] = 7
    record["rolled"] = "P"
    record["rolls"] = 0
    assert paths(refusal(record)) == [
        "seats[0].colour",
        "seats[0].stacks[0].node",
        "seats[1].stacks[0].pieces",
        "seat_to_act",
        "rolled",
        "rolls",
    ]


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"rolls": "57"}, "rolls"),
        ({"rolls": True}, "rolls"),
        ({"rolled": 1}, "rolled"),
        ({"seats": [{"stacks": [{"node": 1, "pieces": "S"}]}, {}]}, "seats[0].stacks[0].node"),
        ({"die": 1}, "die"),
    ],
)
def test_other_types_are_refused(change, path):
    assert path in paths(refusal(Position.parse(NOTATION).record | change))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("generator", "four fields"),
        (NOTATION + " 1", "four fields"),
        ("generator G:M 0 R 1", "BOARD must have 2, 3 or 4 parts"),
        ("generator G:M/Y:M/B:M/R:M/G:S 0 R 1", "BOARD must have 2, 3 or 4 parts"),
        ("generator GM/Y:M 0 R 1", "BOARD must be of nodes and pieces, such as GRY:SL, not 'GM'"),
        ("generator G:M,/Y:M 0 R 1", "BOARD must be of nodes and pieces"),
        ("generator /Y:M 0 R 1", "BOARD must be of nodes and pieces"),
        ("generator G:M/Y:M x R 1", "SEAT must be a digit or -, not 'x'"),
        ("generator G:M/Y:M 0 X 1", "ROLLED must be G, R, Y, B or -, not 'X'"),
        ("generator G:M/Y:M 0 R many", "ROLLS must be a number, not 'many'"),
        ("generator G:M/Y:M 0 R 9999999", "ROLLS must be a number"),
        ("generator G:M/Y:M - R 1", "rolled: must be unset"),
        ("generator G:M/Y:M 0 - 1", "rolled: must be G, R, Y or B"),
        ("generator G:M/Y:M 0 R 1 players=2", "must not give players"),
        ("generator G:M/Y:M 0 R 1 horizontal=both", "options.horizontal"),
        ("generator G:M/Y:M 0 R 1 max_rolls=0", "options.max_rolls"),
        ("generator GGGG:L/Y:M 0 R 1", "seats[0].stacks[0].pieces: must not have L on level 4"),
    ],
)
def test_broken_notation(text, expected):
    with pytest.raises(InvalidInput) as caught:
        Position.parse(text)
    assert set(paths(caught.value.violations)) == {"notation"}
    assert expected in str(caught.value)


@pytest.mark.parametrize(
    ("options", "path"),
    [
        ({"players": 5}, "options.players"),
        ({"players": 1}, "options.players"),
        ({"horizontal": "any"}, "options.horizontal"),
        ({"forced_move": "yes"}, "options.forced_move"),
        ({"max_rolls": 65536}, "options.max_rolls"),
        ({"max_rolls": 0}, "options.max_rolls"),
        ({"colours": ["G"]}, "options.colours"),
    ],
)
def test_bad_options(options, path):
    with pytest.raises(InvalidInput) as caught:
        codec("generator", options)
    assert paths(caught.value.violations) == [path]


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
    "text",
    ["", "Pass", "enter", "enter:X", "enter:SM", "GR", "GR-", "GR-GX", "GR-GRYBG", "GR-GY:up",
     "GR-GR", "GR-BR", "G-GRY", "GR-GY ", "GR-GY\n", "x" * 99],
)  # fmt: skip
def test_broken_moves(text):
    with pytest.raises(InvalidInput) as caught:
        Position.parse(NOTATION).find_move(text)
    assert paths(caught.value.violations) == ["notation"]
    assert not isinstance(caught.value, IllegalMove)


@pytest.mark.parametrize(
    ("record", "found"),
    [
        ({}, ["generator"]),
        ({"pass_turn": {}, "enter": {"size": "S"}}, ["generator"]),
        ({"enter": {}}, ["generator.enter.size"]),
        ({"enter": {"size": "X"}}, ["generator.enter.size"]),
        ({"step": {}}, ["generator.step.from_node", "generator.step.to_node"]),
        ({"step": {"from_node": "g", "to_node": "GR", "unit": 4}},
         ["generator.step.from_node", "generator.step.unit"]),
        ({"step": {"from_node": "G", "to_node": "GRY"}}, ["generator.step"]),
        ({"fly": {}}, ["generator.fly"]),
    ],
)  # fmt: skip
def test_broken_typed_moves(record, found):
    with pytest.raises(InvalidInput) as caught:
        Position.parse(NOTATION).find_move(record)
    assert paths(caught.value.violations)[: len(found)] == found


@pytest.mark.parametrize(
    ("position", "move", "reason"),
    [
        ("G:M/Y:M 0 R 9 forced_move=true", "pass", "only when there is no other legal move"),
        ("-/Y:M 0 R 9", "enter:S", "only on a roll of its own colour, green, and red was rolled"),
        ("G:M/Y:M 0 G 9", "enter:S", "start node G is taken by a stack of the seat itself"),
        ("G:S/Y:M 0 G 9 enter_stacks=true", "enter:M", "medium pyramid cannot stand on the small"),
        ("R:L,RG:L,RR:L,RY:L,RB:L/Y:M 0 G 9", "enter:L", "the stash of seat 0 holds no large"),
        ("-/G:SL 0 G 9", "enter:S", "cannot capture yellow's tower S/L on G"),
        ("G:M/Y:M 0 R 9", "Y-YR", "seat 0 has no piece on Y"),
        ("G:M/Y:M 0 R 9", "B-BR", "seat 0 has no piece on B"),
        ("G:M/Y:M 0 R 9", "G-GY", "GY is not of the colour rolled, red"),
        ("G:M/Y:M 0 R 9", "G-GR:top", "a single pyramid, which moves as the whole stack"),
        ("G:ML/Y:M 0 R 9", "G-GR:two", "no tower of three stands on G"),
        ("G:SML/Y:M 0 R 9", "G-GR:two", "only the option sub_towers"),
        ("GY:L/Y:M 0 R 9", "GY-GYR", "level 3, and a large pyramid stays on levels 1-2"),
        ("GY:SL/Y:M 0 R 9", "GY-GYR", "level 3, and a large pyramid stays on levels 1-2"),
        ("G:M/Y:M 0 Y 9", "G-Y", "a medium pyramid cannot capture yellow's medium pyramid on Y"),
        ("G:M,R:S/Y:M 0 R 9", "G-R", "a medium pyramid cannot stand on the small pyramid on R"),
        ("G:M/- 0 Y 9 horizontal=adjacent", "G-Y", "with adjacent corners it is out of reach"),
    ],
)
def test_illegal_moves(position, move, reason):
    with pytest.raises(IllegalMove) as caught:
        Position.parse(f"generator {position}").find_move(move)
    (violation,) = caught.value.violations
    assert violation.path == "notation"
    assert reason in violation.message


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
        assert path in paths(caught.value.violations)


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
