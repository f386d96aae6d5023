"""What the codec of ROYGBIV reads, writes and says; what it refuses is in `test_codecs` too."""

from copy import deepcopy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aleator.search import Position
from aleator.search.errors import InvalidInput, UnknownGame
from aleator.search.games import codec, codec_class
from tests.search.codec_cases.roygbiv import NOTATION
from tests.search.refusals import paths, refused_state


def state_after(plies, players=2, seed=11, **options):
    """The record of a game in which every fifth legal move was played."""
    position = Position.create("roygbiv", {"players": players, **options}, seed)
    for ply in range(plies):
        moves = position.moves()
        move = moves[(5 * ply + 3) % len(moves)]
        position, _ = position.apply({move.seat: move}, seed=ply)
    return position


@settings(max_examples=60)
@given(
    st.sampled_from([2, 3, 4, 6]), st.booleans(), st.integers(0, 48), st.integers(0, 9),
    st.integers(-1, 5),
)  # fmt: skip
def test_round_trips(players, open_hands, plies, seed, viewer):
    position = state_after(plies, players, seed, open_hands=open_hands)
    if 0 <= viewer < players:
        position = position.observe(viewer)
    assert Position.parse(position.notation) == position
    assert Position.from_record("roygbiv", position.options, position.record) == position


def test_notation_is_as_documented():
    position = state_after(48, 3, open_hands=True)
    words = position.notation.split(" ")
    assert words[0] == "roygbiv"
    assert words[3] == "-,-,-"
    assert words[5:] == ["-", "open_hands=true"]
    assert "." not in words[1]


def test_dice_are_conserved():
    record = Position.parse(NOTATION).record
    record["hands"] = [{"dice": [1, 2, 7]}, {"dice": [2, 7, 3]}]
    (violation,) = refused_state("roygbiv", record).violations
    assert violation.path == "hands[1].dice[1]"
    assert "one 7 too many" in violation.message


def test_faces_cannot_fall():
    record = Position.parse(NOTATION).record
    record["cells"][42:44] = [4, 4]
    record["played"] = [0, 0, 0, 2, 3, 6, 7]
    (violation,) = refused_state("roygbiv", record).violations
    assert violation.path == "cells"


def test_faces_come_from_dice_played():
    record = Position.parse(NOTATION).record
    record["cells"][6] = 5
    record["cells"][48] = 0
    assert paths(refused_state("roygbiv", record)) == ["cells[6]"]


def test_scores_before_the_first_play():
    record = Position.create("roygbiv", seed=1, start_seat=0).record
    record["cells"][:2] = [1, 0]
    record["cells"][24] = 7
    record["played"] = [1, 0, 0, 0, 0, 0, 1]
    record["hands"] = [{"hidden_count": 3}, {"dice": [2, 2, 2]}]
    record["seat_to_act"] = 1
    codec("roygbiv").read_state(record)
    record["cells"][0] = 7
    record["scores"] = [0, 1]
    assert paths(refused_state("roygbiv", record)) == ["scores[1]"]


def test_a_full_board_has_no_seat_to_act():
    record = state_after(48).record
    record["seat_to_act"] = 0
    assert paths(refused_state("roygbiv", record)) == ["seat_to_act"]


@pytest.mark.parametrize("plies", [41, 42, 43, 47])
@pytest.mark.parametrize("players", [2, 3, 4, 6])
def test_hand_sizes_follow_from_the_plies(players, plies):
    record = state_after(plies, players).record
    for seat, hand in enumerate(record["hands"]):
        wrong = deepcopy(record)
        size = len(hand["dice"])
        for other in {0, 1, 2, 3} - {size}:
            wrong["hands"][seat] = {"hidden_count": other}
            assert paths(refused_state("roygbiv", wrong, players=players)) == [
                f"hands[{seat}].hidden_count"
            ]
    moved_on = {**record, "seat_to_act": (record["seat_to_act"] + 1) % players}
    sizes = {len(hand["dice"]) for hand in record["hands"]}
    if len(sizes) > 1:
        assert all(
            path.startswith("hands")
            for path in paths(refused_state("roygbiv", moved_on, players=players))
        )


def test_open_hands_hide_nothing():
    record = Position.parse(NOTATION).observe(0).record
    assert paths(refused_state("roygbiv", record, open_hands=True)) == ["hands[1].hidden_count"]


def test_several_parts_of_a_broken_notation_are_named():
    with pytest.raises(InvalidInput) as caught:
        Position.parse("roygbiv ....... 12 1a,22 x 0")
    assert len(caught.value.violations) == 4


def test_notation_and_what_is_said_beside_it():
    beside = {"open_hands": True, "players": 2}
    assert Position.parse(NOTATION, "roygbiv", beside).options == beside
    with pytest.raises(InvalidInput) as caught:
        Position.parse(NOTATION, "roygbiv", {"players": 3})
    assert paths(caught.value) == ["options.players"]
    with pytest.raises(InvalidInput) as caught:
        Position.parse(NOTATION, "riviera")
    assert paths(caught.value) == ["notation"]


def test_options_may_be_whole_floats():
    assert codec("roygbiv", {"players": 3.0}) is codec("roygbiv", {"players": 3})


def test_moves_in_and_out():
    position = Position.parse(NOTATION)
    for move in position.moves():
        assert position.find_move(move.notation) == move
        assert position.find_move(move.record) == move
    assert position.find_move({"value": 2, "row": 0, "column": 6}).notation == "2@g1"


def test_moves_in_english():
    position = Position.parse(
        "roygbiv ......./......./......./...3.../......./...2.../....... 0110000 ???,456 0,0 1"
    )
    described = {move.notation: move.description for move in position.moves()}
    assert described["4@d1"] == "Put a 4 on d1, capturing 2 and 3 for 5 points."
    assert described["4@a1"] == "Put a 4 on a1, capturing nothing."


def test_events_and_drawn_dice():
    position = Position.parse(
        "roygbiv ......./......./......./...1.../......./......./....... 1000000 234,567 0,0 0"
    )
    move = position.find_move("2@d1")
    after, events = position.apply({0: move}, outcome={"drawn": 7})
    assert after.record["hands"][0] == {"dice": [3, 4, 7]}
    assert [event.record for event in events] == [
        {
            "played": {
                "seat": 0, "value": 2, "row": 0, "column": 3, "points": 1,
                "captured": [{"row": 3, "column": 3, "value": 1}],
            }
        },
        {"drew": {"seat": 0}},
    ]  # fmt: skip
    assert [event.description for event in events] == [
        "Seat 0 put a 2 on d1, capturing 1 for 1 point.",
        "Seat 0 drew a die.",
    ]
    open_position = Position.parse(f"{position.notation} open_hands=true")
    _, events = open_position.apply({0: open_position.find_move("2@d1")}, outcome={"drawn": 7})
    assert events[1].record == {"drew": {"seat": 0, "value": 7}}


def test_outcomes_that_cannot_be():
    position = Position.parse(
        "roygbiv ......2/......./......./...3.../......./......./....... 0110000 222,222 0,0 1"
    )
    move = position.find_move("2@d1")
    for outcome, path in (
        ({"drawn": 2}, "outcome.roygbiv.drawn"),
        ({"drawn": 8}, "outcome.roygbiv.drawn"),
        ({"drawn": 0}, "outcome.roygbiv.drawn"),
        ({}, "outcome.roygbiv.drawn"),
        ({"dice": 1}, "outcome.roygbiv.dice"),
    ):
        with pytest.raises(InvalidInput) as caught:
            position.apply({1: move}, outcome=outcome)
        assert path in paths(caught.value)


def test_the_end_is_an_event_without_a_draw():
    position = state_after(47)
    (move, *_) = position.moves()
    after, events = position.apply({move.seat: move})
    assert [event.kind for event in events] == ["played", "finished"]
    assert events[1].record == {"finished": {"scores": list(after.scores)}}
    with pytest.raises(InvalidInput) as caught:
        position.apply({move.seat: move}, outcome={"drawn": 1})
    assert paths(caught.value) == ["outcome"]


numbers = st.integers(-1, 9) | st.sampled_from([2**31, 2**32, 2**64, -(2**63), 10**30])


def plays_on(position):
    """Whatever was accepted must be safe to search: the compiled code does not check again."""
    rules = position.codec.rules
    for seat in range(position.seats):
        full = rules.determinization(position.state, seat, 1)
        assert rules.is_full(full)
        if position.codec.hand_known(position.state, seat):
            assert rules.observe_state(full, seat) == position.observe(seat).state
        if not position.finished:
            rules.run_playouts(full, 3, 2)
    assert Position.parse(position.notation) == position


def read(function):
    """A position, or None and the paths of what is wrong with it."""
    try:
        return function(), []
    except InvalidInput as error:
        return None, paths(error)
    except UnknownGame:
        return None, ["game"]


@settings(max_examples=150)
@given(st.sampled_from([2, 3, 4, 6]), st.integers(0, 48), st.booleans(), st.data())
def test_changed_records_are_refused_or_play_on(players, plies, hidden, data):
    record = deepcopy(state_after(plies, players).record)
    if hidden:
        for hand in record["hands"][1:]:
            hand["hidden_count"] = len(hand.pop("dice"))
    for _ in range(data.draw(st.integers(1, 3))):
        name = data.draw(st.sampled_from(sorted(record)))
        if name == "seat_to_act":
            record[name] = data.draw(numbers)
            continue
        index = data.draw(st.integers(0, len(record[name]) - 1))
        if name == "hands":
            changed = st.lists(numbers, max_size=4).map(lambda dice: {"dice": dice})
            record[name][index] = data.draw(
                changed | numbers.map(lambda count: {"hidden_count": count})
            )
        else:
            record[name][index] = data.draw(numbers)
    position, found = read(lambda: Position.from_record("roygbiv", {"players": players}, record))
    if position is not None:
        plays_on(position)
    assert all(path.startswith("roygbiv.") for path in found)


@settings(max_examples=150)
@given(st.sampled_from([2, 3]), st.integers(0, 48), st.integers(0, 120), st.data())
def test_changed_notation_is_refused_or_plays_on(players, plies, place, data):
    text = state_after(plies, players).notation
    inserted = data.draw(st.text(alphabet='0123456789./,?- =a"\t\u00e9', max_size=3))
    text = text[:place] + inserted + text[place + data.draw(st.integers(0, 3)) :]
    position, found = read(lambda: Position.parse(text))
    if position is not None:
        plays_on(position)
    assert all(path in {"game", "notation"} for path in found)


def test_rules_and_options_for_readers():
    found = codec_class("roygbiv")
    assert found.rules_markdown().startswith("# ROYGBIV\n")
    players, open_hands = found.option_list()
    assert players[:4] == ("players", "integer", 2, (2, 3, 4, 6))
    assert open_hands[:4] == ("open_hands", "boolean", False, ())
