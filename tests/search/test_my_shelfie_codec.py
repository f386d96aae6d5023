"""What the codec of My Shelfie reads, writes, refuses and says."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aleator.search import Position
from aleator.search.errors import IllegalMove, InvalidInput
from aleator.search.games import codec, codec_class

EMPTY = "...../...../...../...../....."
# Seat 0 has crossed the row of games; seat 1 has completed column 1.
NOTATION = "my_shelfie xo.../xoxox/x...o/xo.../x....,oo.../o..../o.oo./oo.../ooo.. ppgbjj 0 0 1"


def refusal(record, **options):
    with pytest.raises(InvalidInput) as caught:
        codec("my_shelfie", options).read_state(record)
    return caught.value.violations


def paths(violations):
    return [violation.path for violation in violations]


def position_of(fields, **options):
    return Position.parse(f"my_shelfie {fields}", None, options)


@settings(max_examples=60)
@given(
    st.sampled_from([2, 3, 4]), st.sampled_from(["complete_round", "immediate"]),
    st.integers(0, 2**64 - 1), st.integers(1, 4),
)  # fmt: skip
def test_every_position_of_a_game_is_accepted(players, end, seed, greed):
    """Also of games with many circles, and so with blocks."""
    position = Position.create("my_shelfie", {"players": players, "end": end}, seed)
    for ply in range(66 * players):
        assert Position.parse(position.notation) == position
        assert Position.from_record("my_shelfie", position.options, position.record) == position
        if position.finished:
            return
        moves = position.moves()
        move = moves[len(moves) - 1 - (seed >> ply % 50) % max(1, len(moves) // greed)]
        position, _ = position.apply({move.seat: move}, seed=ply)


def test_the_examples_are_positions():
    for notation in (codec_class("my_shelfie").example, NOTATION):
        assert Position.parse(notation).notation == notation


@pytest.mark.parametrize(
    ("place", "value", "path"),
    [
        (("sheets", 0, "spaces", 7), 3, "sheets[0].spaces[7]"),
        (("sheets", 0, "spaces", 7), -1, "sheets[0].spaces[7]"),
        (("sheets", 1, "spaces"), [0] * 24, "sheets[1].spaces"),
        (("sheets", 1, "spaces"), [0] * 26, "sheets[1].spaces"),
        (("sheets",), [{"spaces": [0] * 25}], "sheets"),
        (("sheets",), [], "sheets"),
        (("sheets", 0, "spaces", 2), 2, "sheets[0].spaces[2]"),
        (("sheets", 1, "spaces", 2), 2, "sheets[1].spaces[2]"),
        (("sheets", 0, "spaces", 10), 0, "sheets[0].spaces[10]"),
        (("dice", "jokers"), 3, "dice"),
        (("dice", "cats"), 7, "dice.cats"),
        (("dice", "cats"), -1, "dice.cats"),
        (("dice",), {}, "dice"),
        (("dice",), None, "dice"),
        (("rerolls",), 3, "rerolls"),
        (("seat_to_act",), 2, "seat_to_act"),
        (("seat_to_act",), None, "seat_to_act"),
        (("start_seat",), 2, "start_seat"),
        (("start_seat",), None, "start_seat"),
    ],
)
def test_one_violation_is_named(place, value, path):
    """Each invariant of a state is broken once."""
    record = Position.parse(NOTATION).record
    inner = record
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    # Some values break an invariant that another one rests on: the named one must be among them.
    assert path in paths(refusal(record))


@pytest.mark.parametrize(
    ("fields", "path", "message"),
    [
        pytest.param(
            f"ooooo/...../...../...../.....,{EMPTY} pppppp 0 1 0", "sheets[1].spaces[0]",
            "seat 0 has completed the row of plants", id="blank in a blocked line",
        ),
        pytest.param(
            "ooooo/...../...../...../.....,ooooo/...../...../...../..... pppppp 0 1 0",
            "sheets[1].spaces", "seat 0 has it complete", id="a line complete twice",
        ),
        pytest.param(
            "ooooo/ooooo/...../...../.....,xxxxx/xxxxx/...../...../..... pppppp 2 0 0",
            "seat_to_act", "the round is complete", id="another round",
        ),
        pytest.param(
            "xxxxx/xxxxx/...../...../.....,oo.../...../...../...../..... - 0 0 0",
            "dice", "must be set", id="no dice",
        ),
        pytest.param(
            f"ooo../ooo../...../...../.....,{EMPTY} pppppp 0 1 0", "sheets",
            "take turns", id="six circles need two turns, the other seat had none",
        ),
        pytest.param(
            "o..../...../...../...../.....,ooo../ooo../ooo../ooo../..... pppppp 0 1 0", "sheets",
            "take turns", id="one circle is one turn, twelve need four",
        ),
        pytest.param(
            "xxxxx/ooo../...../...../.....,o..../...../...../...../..... pppppp 0 0 0", "sheets",
            "take turns", id="a crossed row is a turn, too",
        ),
        pytest.param(
            "xxxxx/xxxxx/...../...../.....,oo.../...../...../...../..... pppppp 2 1 1",
            "seat_to_act", "the round is complete", id="the round ends before the start seat",
        ),
    ],
)  # fmt: skip
def test_sheets_that_play_cannot_reach(fields, path, message):
    with pytest.raises(InvalidInput) as caught:
        codec("my_shelfie").parse_state(fields.split(" "))
    assert any(found == path and message in text for found, text in caught.value.violations)


def test_an_immediate_end_leaves_no_turns():
    sheets = "xxxxx/xxxxx/...../...../.....,oo.../...../...../...../....."
    assert position_of(f"{sheets} pppppp 2 1 0").seats_to_act == (1,)
    with pytest.raises(InvalidInput, match="so the game is finished"):
        position_of(f"{sheets} pppppp 2 1 0 end=immediate")
    assert position_of(f"{sheets} - 0 - 0 end=immediate").finished


def test_a_seat_without_blank_spaces_has_nothing_to_decide():
    full = "/".join(["xxxxx"] * 5)
    with pytest.raises(InvalidInput, match="seat 1 has nothing to decide"):
        position_of(f"oo.../oo.../oo.../oo.../.....,{full} pppppp 2 1 0")


@pytest.mark.parametrize("change", [{"dice": {"cats": 6}}, {"rerolls": 1}])
def test_a_finished_game_has_no_dice(change):
    fields = "xxxxx/xxxxx/...../...../.....,oo.../...../...../...../..... - 0 - 0"
    record = position_of(fields).record
    assert "dice" not in record
    assert paths(refusal(record | change)) == list(change)


def test_everything_wrong_is_said_at_once():
    record = Position.parse(NOTATION).record
    record["sheets"][0]["spaces"][3] = 9
    record["sheets"][1]["spaces"][4] = 9
    record["dice"]["cats"] = 7
    record["rerolls"] = 4
    record["seat_to_act"] = 5
    record["start_seat"] = 6
    assert sorted(paths(refusal(record))) == [
        "dice.cats", "rerolls", "seat_to_act", "sheets[0].spaces[3]", "sheets[1].spaces[4]",
        "start_seat",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"sheets": "o"}, "sheets"),
        ({"rerolls": True}, "rerolls"),
        ({"dice": {"plants": 6.0}}, "dice.plants"),
        ({"dice": {"dogs": 1}}, "dice.dogs"),
        ({"scores": [1, 2]}, "scores"),
    ],
)
def test_other_types_are_refused(change, path):
    assert path in paths(refusal(Position.parse(NOTATION).record | change))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("my_shelfie", "five fields"),
        (NOTATION + " 1", "five fields"),
        (NOTATION.replace("/x....,", ","), "sheet 0 must be 5 rows of 5 of .ox"),
        (NOTATION.replace("ooo..", "oOo.."), "sheet 1 must be"),
        (NOTATION.replace("/ooo..", "/ooo..,"), "sheet 2 must be"),
        (NOTATION.replace("ppgbjj", "ppgbj*"), "DICE must be letters of pgbtcj or -"),
        (NOTATION.replace("ppgbjj", "ppgbj"), "dice: must add up to 6 dice, not 5"),
        (NOTATION.replace("jj 0", "jj -"), "REROLLS must be a digit"),
        (NOTATION.replace("jj 0", "jj 7"), "rerolls: must be 0..2"),
        (NOTATION[:-3] + "x 1", "SEAT must be a digit or -"),
        (NOTATION[:-1] + "-", "START must be a digit"),
        (NOTATION.partition(",")[0] + " pppppp 0 0 0", "SHEETS must hold 2, 3 or 4 sheets, not 1"),
        (NOTATION + " players=2", "must not give players"),
        (NOTATION + " end=later", "options.end"),
        (NOTATION + " values=[1,2]", "options.values"),
        (NOTATION + " values=oops", "options.values"),
    ],
)
def test_broken_notation(text, expected):
    with pytest.raises(InvalidInput) as caught:
        Position.parse(text)
    assert set(paths(caught.value.violations)) == {"notation"}
    assert expected in str(caught.value)
    assert len(str(caught.value)) < 600


def test_options_in_the_notation():
    values = [n - 12 for n in range(25)]
    position = Position.create("my_shelfie", {"values": values, "end": "immediate"}, 1)
    assert position.notation.endswith(f" values=[{','.join(map(str, values))}] end=immediate")
    assert Position.parse(position.notation).options["values"] == values


@pytest.mark.parametrize(
    ("options", "path"),
    [
        ({"players": 5}, "options.players"),
        ({"players": 1}, "options.players"),
        ({"values": [1] * 24}, "options.values"),
        ({"values": [1] * 26}, "options.values"),
        ({"values": [1.5] + [1] * 24}, "options.values[0]"),
        ({"values": [1] * 24 + [100_001]}, "options.values[24]"),
        ({"values": [1] * 24 + [float("nan")]}, "options.values[24]"),
        ({"values": 3}, "options.values"),
        ({"end": "never"}, "options.end"),
        ({"rounds": 3}, "options.rounds"),
    ],
)
def test_bad_options(options, path):
    with pytest.raises(InvalidInput) as caught:
        codec("my_shelfie", options)
    assert paths(caught.value.violations) == [path]


def test_values_may_be_whole_floats():
    assert codec("my_shelfie", {"values": [2.0] * 25}).options["values"] == [2] * 25


@pytest.mark.parametrize(
    "text",
    [
        "", "keep", "keep:", "keep:x", "keep:ppppppp", "keep:-p", "circle:", "circle:p6",
        "circle:j1", "circle:p1+p1", "circle:p1+p2+g1+b1", "circle:p1,p2", "cross:j", "cross:pp",
        "cross:p ", "roll:p", "x" * 99,
    ],
)  # fmt: skip
def test_broken_moves(text):
    with pytest.raises(InvalidInput) as caught:
        Position.parse(NOTATION).find_move(text)
    assert paths(caught.value.violations) == ["notation"]
    assert not isinstance(caught.value, IllegalMove)


@pytest.mark.parametrize(
    ("record", "path"),
    [
        ({}, ""),
        ({"keep": {}, "cross": {"row": 1}}, ""),
        ({"keep": {"plants": 7}}, ".keep.plants"),
        ({"keep": {"plants": 4, "cats": 3}}, ".keep"),
        ({"keep": {"seat": 1}}, ".keep.seat"),
        ({"circle": {}}, ".circle.spaces"),
        ({"circle": {"spaces": [{"row": 0, "column": 5}]}}, ".circle.spaces[0].column"),
        ({"circle": {"spaces": [{"row": 0}]}}, ".circle.spaces[0].column"),
        ({"circle": {"spaces": [{"row": 0, "column": 0}] * 2}}, ".circle.spaces[1]"),
        ({"circle": {"spaces": [{"row": 0, "column": c} for c in range(4)]}}, ".circle.spaces"),
        ({"cross": {}}, ".cross.row"),
        ({"cross": {"row": 5}}, ".cross.row"),
    ],
)
def test_broken_typed_moves(record, path):
    with pytest.raises(InvalidInput) as caught:
        Position.parse(NOTATION).find_move(record)
    assert paths(caught.value.violations) == [f"my_shelfie{path}"]


def test_spaces_come_in_any_order():
    position = Position.parse(NOTATION)
    spaces = [{"row": 2, "column": 1}, {"row": 0, "column": 2}]
    assert position.find_move({"circle": {"spaces": spaces}}).notation == "circle:p3+b2"
    assert position.find_move("circle:b2+p3").notation == "circle:p3+b2"


@pytest.mark.parametrize(
    ("move", "reason"),
    [
        ("circle:p2", "plants 2 is circled already"),
        ("circle:g1", "games 1 is crossed already"),
        ("circle:t2", "trophies 2 is circled already"),
        ("circle:c2+c3", "do not pay for cats 2 and cats 3"),
        ("cross:p", "only if nothing can be circled"),
        ("keep:pp", "cannot be rolled again in this turn"),
    ],
)
def test_illegal_moves(move, reason):
    with pytest.raises(IllegalMove) as caught:
        Position.parse(NOTATION).find_move(move)
    (violation,) = caught.value.violations
    assert reason in violation.message


def test_illegal_moves_of_other_moments():
    rolling = Position.parse(NOTATION.replace("jj 0", "jj 1"))
    jokers = Position.parse(NOTATION.replace("ppgbjj", "jjjjjj"))
    crossing = position_of(
        "ooooo/xxxxx/oxxxx/ooxxx/ooo..,xxxxx/oo.../oo.../oo.../oo... tttttt 0 0 1"
    )
    for position, move, reason in (
        (rolling, "keep:ppp", "do not show so many plants, but 2"),
        (rolling, "circle:p3", "first say which to keep"),
        (jokers, "circle:p3+p4", "six jokers circle exactly one space"),
        (crossing, "cross:p", "the row of plants has no blank space"),
    ):
        with pytest.raises(IllegalMove, match=reason):
            position.find_move(move)


def test_moves_in_english():
    rolling = Position.parse(NOTATION.replace("jj 0", "jj 1"))
    described = {
        notation: rolling.find_move(notation).description
        for notation in ("keep:-", "keep:p", "keep:ppgbj", "keep:ppgbjj")
    }
    assert described == {
        "keep:-": "Roll all six dice again.",
        "keep:p": "Keep 1 plant and roll the other 5 dice again.",
        "keep:ppgbj": "Keep 2 plants, 1 game, 1 book and 1 joker and roll the other die again.",
        "keep:ppgbjj": "Keep all six dice and stop rolling.",
    }
    position = Position.parse(NOTATION)
    assert position.find_move("circle:p3+b2").description == (
        "Circle plants 3 and books 2, for 2 points."
    )
    code = position.codec.parse_move("cross:c")
    assert position.codec.describe_move(None, 0, code) == "Cross the row of cats."


def happening(position, notation, **chance):
    move = position.find_move(notation)
    after, events = position.apply({move.seat: move}, **chance)
    for event in events:
        assert list(event.record) == [event.kind]
    return after, events


def test_events_of_keeping_dice():
    rolling = Position.parse(NOTATION.replace("jj 0", "jj 2"))
    after, events = happening(rolling, "keep:ppj", outcome={"rolls": [{"plants": 2, "jokers": 1}]})
    assert after.notation.endswith("ppppjj 1 0 1")
    assert [event.description for event in events] == [
        "Seat 0 kept 2 plants and 1 joker.",
        "Seat 0 rolled 2 plants and 1 joker.",
    ]
    assert events[1].record["rolled"]["dice"]["plants"] == 2
    _, events = happening(rolling, "keep:ppgbjj")
    assert [event.description for event in events] == ["Seat 0 kept all six dice."]


def test_events_of_blocking():
    position = position_of(
        "o..../o..../o..../o..../.oooo,o..../..o../...../...../.o..o cccccc 0 0 0"
    )
    after, events = happening(position, "circle:c1", outcome={"rolls": [{"cats": 6}]})
    assert after.notation.endswith("cccccc 2 1 0")
    assert [(event.seat, event.kind, event.description) for event in events] == [
        (0, "circled", "Seat 0 circled cats 1, for 2 points."),
        (0, "completed", "Seat 0 completed the row of cats."),
        (0, "completed", "Seat 0 completed column 1."),
        (
            1,
            "blocked",
            "Seat 1 had to cross games 1, books 1, trophies 1, cats 1, cats 3 and cats 4.",
        ),
        (1, "rolled", "Seat 1 rolled 6 cats."),
    ]
    assert [event.record["completed"] for event in events[1:3]] == [
        {"seat": 0, "row": 4}, {"seat": 0, "column": 0},
    ]  # fmt: skip
    assert events[3].record["blocked"]["by_seat"] == 0
    assert events[3].record["blocked"]["spaces"][0] == {"row": 1, "column": 0}


ONE_ROW_FULL = "oooxx/oooo./oo.../oo.../.....,ooo../oo.../oo.../oo.../....."


def test_events_of_the_last_round():
    position = position_of(f"{ONE_ROW_FULL} gggggg 0 0 0")
    after, events = happening(position, "circle:g5", seed=1)
    assert after.seats_to_act == (1,)
    assert [(event.seat, event.kind) for event in events] == [
        (0, "circled"), (0, "completed"), (1, "blocked"), (0, "last_round"), (1, "rolled"),
    ]  # fmt: skip
    assert events[3].description == (
        "Seat 0 has two rows without a blank space: this is the last round."
    )


def test_the_last_round_is_announced_once():
    other = EMPTY.replace("..", "oo", 1)
    position = position_of(f"oooxx/xxxxx/...../...../.....,{other},{other} pppppp 0 1 0")
    _, events = happening(position, "circle:p3", seed=1)
    assert [event.kind for event in events] == ["circled", "rolled"]


@pytest.mark.parametrize(("start", "end"), [(1, "complete_round"), (0, "immediate")])
def test_events_of_the_end(start, end):
    position = position_of(f"{ONE_ROW_FULL} gggggg 0 0 {start} end={end}")
    after, events = happening(position, "circle:g5")
    assert [event.kind for event in events] == ["circled", "completed", "blocked", "finished"]
    assert after.scores == (37, 18)
    assert events[-1].seat is None
    assert events[-1].description == "The game is over: seat 0 has 37, seat 1 has 18."
    assert events[-1].record == {"finished": {"scores": [37, 18]}}


# Seat 0 cannot circle anything with trophies.
NOTHING_TO_CIRCLE = "ooo../oo.../oo.../oxxxx/.....,oo.../oo.../oo.../oo.../....."


def test_events_of_crossing():
    position = position_of(f"{NOTHING_TO_CIRCLE} tttttt 0 0 0")
    _, events = happening(position, "cross:p", seed=1)
    assert [event.kind for event in events] == ["crossed", "last_round", "rolled"]
    assert events[0].description == "Seat 0 crossed the row of plants: plants 4 and plants 5."
    assert events[0].record["crossed"]["spaces"] == [
        {"row": 0, "column": 3}, {"row": 0, "column": 4},
    ]  # fmt: skip


# Seat 0 circles cats 1 and so blocks the last blank spaces of seat 1.
PASSING = (
    "ooooo/o..../o..../o..../.....,xxxxx/.oooo/.oooo/.oooo/.oooo,xxxxx/ooo../oo.../oo.../o...."
)


def test_events_of_a_turn_without_decision():
    position = position_of(f"{PASSING} cccccc 0 0 0")
    rolls = [{"plants": 6}, {"cats": 5, "jokers": 1}]
    after, events = happening(position, "circle:c1", outcome={"rolls": rolls})
    assert after.seats_to_act == (2,)
    assert [(event.seat, event.kind) for event in events] == [
        (0, "circled"), (0, "completed"), (1, "blocked"), (1, "last_round"), (1, "passed"),
        (2, "rolled"),
    ]  # fmt: skip
    assert events[4].description == "Seat 1 has no blank space left and passes."
    assert events[5].description == "Seat 2 rolled 5 cats and 1 joker."


@pytest.mark.parametrize(
    ("rolls", "path", "message"),
    [
        ([], "rolls[0]", "is missing: seat 1 rolls 6 dice"),
        ([{"cats": 6}], "rolls[1]", "is missing: seat 2 rolls 6 dice"),
        ([{"cats": 5}, {"cats": 6}], "rolls[0]", "must add up to the 6 dice that seat 1 rolls"),
        ([{"cats": 6}, {"cats": 6, "jokers": 1}], "rolls[1]", "not 7"),
        ([{"cats": 6}, {"cats": 7}], "rolls[1].cats", "must be 0..6, not 7"),
        ([{"cats": 6}] * 3, "rolls[2]", "is too many: 2 are needed"),
        ([{"dogs": 6}], "rolls[0].dogs", "is unknown"),
    ],
)
def test_outcomes_that_cannot_be(rolls, path, message):
    position = position_of(f"{PASSING} cccccc 0 0 0")
    with pytest.raises(InvalidInput) as caught:
        happening(position, "circle:c1", outcome={"rolls": rolls})
    (violation,) = caught.value.violations
    assert violation.path == f"outcome.my_shelfie.{path}"
    assert message in violation.message


def test_a_reroll_is_of_the_dice_not_kept():
    position = Position.parse(NOTATION.replace("jj 0", "jj 2"))
    with pytest.raises(InvalidInput, match="must add up to the 3 dice that seat 0 rolls, not 6"):
        happening(position, "keep:ppj", outcome={"rolls": [{"plants": 6}]})
    with pytest.raises(InvalidInput, match="no chance event follows"):
        happening(position, "keep:ppgbjj", outcome={"rolls": []})


def test_rules_and_options_for_readers():
    found = codec_class("my_shelfie")
    assert found.rules_markdown().startswith("# My Shelfie")
    assert found.example in found.rules_markdown()
    players, values, end = found.option_list()
    assert players[:4] == ("players", "integer", 2, (2, 3, 4))
    assert values[:4] == ("values", "array", [1, 2, 3, 5, 8] * 5, ())
    assert end[:4] == ("end", "string", "complete_round", ("complete_round", "immediate"))
