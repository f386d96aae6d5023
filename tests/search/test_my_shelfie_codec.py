"""What the codec of My Shelfie reads, writes and says; what it refuses is in `test_codecs` too."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aleator.search import Position
from aleator.search.errors import IllegalMove, InvalidInput
from aleator.search.games import codec, codec_class
from tests.search.codec_cases.my_shelfie import NOTATION
from tests.search.refusals import paths, refused_state

EMPTY = "...../...../...../...../....."


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
    assert paths(refused_state("my_shelfie", record | change)) == list(change)


def test_options_in_the_notation():
    values = [n - 12 for n in range(25)]
    position = Position.create("my_shelfie", {"values": values, "end": "immediate"}, 1)
    assert position.notation.endswith(f" values=[{','.join(map(str, values))}] end=immediate")
    assert Position.parse(position.notation).options["values"] == values


def test_values_may_be_whole_floats():
    assert codec("my_shelfie", {"values": [2.0] * 25}).options["values"] == [2] * 25


def test_spaces_come_in_any_order():
    position = Position.parse(NOTATION)
    spaces = [{"row": 2, "column": 1}, {"row": 0, "column": 2}]
    assert position.find_move({"circle": {"spaces": spaces}}).notation == "circle:p3+b2"
    assert position.find_move("circle:b2+p3").notation == "circle:p3+b2"


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
