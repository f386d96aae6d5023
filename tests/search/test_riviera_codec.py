"""What the codec of Riviera reads, writes and says."""

import pytest

from aleator.search import Position
from aleator.search.errors import IllegalMove, InvalidInput
from aleator.search.games import codec
from tests.search.codec_cases.riviera import FULL, LINE
from tests.search.refusals import paths, refused


def faults(line):
    error = refused(Position.parse, line)
    assert set(paths(error)) == {"notation"}
    return [message for _, message in error.violations]


def test_record_of_the_example():
    record = Position.parse(LINE).record
    assert record["hands"][1] == {"cards": [], "hidden_count": 8}
    assert record["pile_size"] == 28
    assert record["dice"][0] == {"colour": "r", "value": 3}
    assert record["seats"][1]["last_chance"] == {
        "dice": [
            {"colour": "r", "value": 2},
            {"colour": "g", "value": 4},
            {"colour": "p", "value": 4},
            {"colour": "b", "value": 5},
        ]
    }


SWAPPED = (
    "riviera 2.3 play 01 1 r3g5p2b6 0>1:g3r6/p12b1"
    " 11:in:r4g2g8p12b1b3b7b9:r10/b5,8:in:g3r6??????:g1g6:used:chance@r2g4p4b5"
)


def test_visible_cards_of_hidden_hands_are_known_to_somebody():
    line = LINE.replace("????????", "g3???????")
    assert "list in `exchanges`" in faults(line)[0]
    assert Position.parse(SWAPPED).observe(0) == Position.parse(SWAPPED)
    assert "list in `exchanges`" in faults(SWAPPED.replace("g3r6??", "g3p1??"))[0]


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        ("0>1:g3r6", "0>1:g3g3", "exchanges[0].given[0]"),
        ("0>1:g3r6", "0>1:g3o6", "exchanges[0].given[1]"),
        ("0>1:g3r6", "0>1:g3r4", "exchanges[0].given[1]"),
        ("/p12b1", "/p12b2", "exchanges[0].drawn[1]"),
        ("/p12b1 ", "/p12g1 ", "exchanges[0].drawn[1]"),
        ("0>1:", "1>0:", "exchanges[0].seat"),
        ("r10/b5", "/r10b5", "exchanges[0].seat"),
        ("0>1", "0>d", "exchanges"),
        ("p4b5", "p4b5~2", "seats[1].last_chance.exchanges"),
    ],
)
def test_exchanges_must_agree_with_the_cards(old, new, path):
    assert any(path in fault for fault in faults(SWAPPED.replace(old, new, 1)))


def test_nothing_but_the_exchanges_tells_of_the_heap():
    line = (
        "riviera 1.2 powers 0 1 r2g2p2b2 0>d:r3r4/p1b12"
        " 0:in:p1b12:p10/r10:power@r10,0:crashed:??:g8g9:used"
    )
    position = Position.parse(line + " hand_size=4")
    record = position.record
    assert record["discard"] == {"cards": ["r3", "r4"]}
    again = {key: part for key, part in record.items() if key != "discard"}
    assert Position.from_record("riviera", position.options, again) == position
    with pytest.raises(InvalidInput, match="discard"):
        Position.from_record(
            "riviera", position.options, {**record, "discard": {"cards": ["r3", "r5"]}}
        )


def test_cards_must_agree_with_what_was_told():
    assert "no way to deal" in faults(SWAPPED.replace("p4b5", "p4b5~1"))[0]
    crashed = SWAPPED.replace("01 1 r3", "0 1 r3").replace("8:in", "8:crashed")
    assert "was valid when the seat crashed" in faults(crashed.replace("chance", "crash"))[0]


@pytest.mark.parametrize("seats", ["0:in:r3:-", ",".join(["0:in:?:-"] * 7)])
def test_number_of_seats(seats):
    with pytest.raises(InvalidInput, match="2 to 6 seats"):
        Position.parse(f"riviera 1.1 play 0 0 r3g5p2b6 - {seats} hand_size=1")


def test_rerolls_by_default():
    assert codec("riviera").options["reroll_first_roll"]
    assert not codec("riviera", {"mode": "sequential"}).options["reroll_first_roll"]
    both = codec("riviera", {"mode": "sequential", "reroll_first_roll": True})
    assert both.options["reroll_first_roll"]


@pytest.mark.parametrize("mode", ["simultaneous", "sequential"])
@pytest.mark.parametrize("reroll", [True, False])
def test_notation_tells_of_first_rolls_what_the_mode_does_not(mode, reroll):
    options = {"mode": mode, "reroll_first_roll": reroll}
    position = Position.create("riviera", options, seed=1)
    assert Position.parse(position.notation) == position
    told = "reroll_first_roll" in position.notation
    assert told == (reroll == (mode == "sequential"))


def test_more_of_one_colour_than_there_are_is_no_limit():
    position = Position.create("riviera", {"max_same_colour_in_hand": 10**20}, seed=1)
    free = Position.create("riviera", {"max_same_colour_in_hand": None}, seed=1)
    assert position.record == free.record
    assert Position.parse(position.notation) == position


def test_named_colour_is_out():
    line = FULL.replace("hand_size=2", "hand_size=2 removed_colour=red")
    assert "the options remove" in "; ".join(faults(line))


@pytest.mark.parametrize(
    ("text", "record"),
    [
        ("r12", {"play": {"card": "r12"}}),
        ("last_chance", {"last_chance": {}}),
        ("pass", {"pass_on": {}}),
        ("*+1", {"turn": {"die": "*"}}),
        ("b-1", {"turn": {"die": "b", "down": True}}),
        ("swap:1:r3,b10", {"swap": {"opponent": 1, "cards": ["r3", "b10"]}}),
        ("redraw:r3,b10", {"redraw": {"cards": ["r3", "b10"]}}),
    ],
)
def test_moves(text, record):
    bound = codec("riviera")
    code = bound.parse_move(text)
    assert bound.format_move(code) == text
    assert bound.write_move(code) == record
    assert bound.read_move(record) == code


def test_second_last_chance_is_explained():
    position = Position.parse(FULL.replace("r3r4:-", "r4r12:-:used"))
    with pytest.raises(IllegalMove, match="used its Last Chance already"):
        position.find_move("last_chance", 0)


@pytest.mark.parametrize(
    ("line", "seat", "text", "words"),
    [
        (FULL, 0, "r3", "Play the red 3, worth 2 stars."),
        (
            "riviera 1.1 stop 01 1 rgpb - 0:in:r1:r12,0:in:g1:g4 hand_size=2",
            0,
            "stop",
            "Stop: leave the round and bank 5 stars.",
        ),
        (
            "riviera 1.2 nines 0 1 r1g6p3b4 - 0:in:r3r4:r9:power@r9,0:in:g3g4:g8 hand_size=3",
            0,
            "r-1",
            "Turn the red die down by one, from 1 to 6.",
        ),
        (
            "riviera 1.1 powers 0 0 r2g2p2b2 - 0:in:r3:r2:power@r2,0:in:g3:g8 hand_size=2",
            0,
            "use",
            "Reserve the red die of the next roll.",
        ),
        (
            "riviera 1.1 powers 0 0 r2g2p2b2 - 0:in:r3r4:r10:power@r10,0:in:g3g4:g8 hand_size=3",
            0,
            "swap:1:r3,r4",
            "Give the red 3 and the red 4 to seat 1 for two cards drawn from its hand.",
        ),
    ],
)
def test_descriptions(line, seat, text, words):
    assert Position.parse(line).find_move(text, seat).description == words


# Outcomes and events


def outcome_error(position, moves, outcome):
    found = {seat: position.find_move(text, seat) for seat, text in moves.items()}
    with pytest.raises(InvalidInput) as error:
        position.apply(found, outcome=outcome)
    return [
        (path.removeprefix("outcome.riviera."), message) for path, message in error.value.violations
    ]


STOPPING = "riviera 1.1 stop 01 1 rgpb - 0:in:r1:r12,0:in:g1:g4 hand_size=2"
DICE = [{"colour": colour, "value": 3} for colour in "rgpb"]
HANDS = [{"cards": ["r1", "r2"]}, {"cards": ["b1", "b2"]}]


def test_outcome_of_a_round():
    position = Position.parse(STOPPING)
    moves = {seat: position.find_move("stop", seat) for seat in (0, 1)}
    after, events = position.apply(moves, outcome={"hands": HANDS, "dice": DICE})
    assert after.notation == (
        "riviera 2.1 play 01 1 r3g3p3b3 - 5:in:r1r2:-,1:in:b1b2:- hand_size=2"
    )
    assert [event.description for event in events] == [
        "Seat 0 stopped and banked 5 stars.",
        "Seat 1 stopped and banked 1 star.",
        "Round 1 is over: seat 0 has 5, seat 1 has 1.",
        "Round 2: every seat has 2 new cards.",
        "The dice show red 3, green 3, purple 3, blue 3.",
    ]
    assert [event.kind for event in events] == [
        "stopped",
        "stopped",
        "round_ended",
        "dealt",
        "rolled",
    ]


@pytest.mark.parametrize(
    ("outcome", "path", "words"),
    [
        ({"dice": DICE}, "hands", "must be the 2 hands dealt"),
        ({"hands": HANDS}, "dice", "must be the dice rolled, r g p b"),
        ({"hands": HANDS, "dice": [*DICE, {"colour": "*", "value": 1}]}, "dice", "r g p b"),
        ({"hands": [HANDS[0], HANDS[0]], "dice": DICE}, "hands[1].cards[0]", "not among"),
        ({"hands": [HANDS[0], {"cards": ["b1"]}], "dice": DICE}, "hands[1].cards", "be 2"),
        (
            {"hands": [HANDS[0], {"cards": ["o1", "b1"]}], "dice": DICE},
            "hands[1].cards[0]",
            "not among",
        ),
        (
            {"hands": HANDS, "dice": DICE, "drawn": ["r3"]},
            "drawn",
            "must be left out",
        ),
        ({"hands": HANDS, "dice": [{"colour": "r", "value": 7}]}, "dice[0].value", ""),
        ({"rolls": []}, "rolls", ""),
    ],
)
def test_bad_outcomes(outcome, path, words):
    found = outcome_error(Position.parse(STOPPING), {0: "stop", 1: "stop"}, outcome)
    assert any(place == path and words in message for place, message in found)


SWAPPING = "riviera 1.1 powers 0 0 r2g2p2b2 - 0:in:r3r4:r10:power@r10,0:in:g3g4:g8 hand_size=3"


@pytest.mark.parametrize(
    ("drawn", "path"),
    [
        ([], "drawn"),
        (["g3", "g3"], "drawn"),
        (["g3", "r3"], "drawn[1]"),
    ],
)
def test_bad_draws(drawn, path):
    found = outcome_error(Position.parse(SWAPPING), {0: "swap:1:r3,r4"}, {"drawn": drawn})
    assert [place for place, _ in found] == [path]


def test_events_of_a_swap_tell_no_cards():
    position = Position.parse(SWAPPING)
    _, (event,) = position.apply({0: position.find_move("swap:1:r3,r4")}, seed=1)
    assert event.record == {"swapped": {"seat": 0, "opponent": 1}}
    assert event.description == "Seat 0 swapped two cards with seat 1."


def test_events_of_a_reveal():
    position = Position.parse(FULL.replace("g5g12", "g1g12"))
    moves = {0: position.find_move("r3", 0), 1: position.find_move("last_chance", 1)}
    _, events = position.apply(moves, seed=1)
    assert [event.description for event in events] == [
        "Seat 0 played the red 3, worth 2 stars.",
        "Seat 1 had no valid card and used its Last Chance.",
    ]


def test_events_of_a_grand_slam():
    line = "riviera 1.2 play 01 0 r1g5p2b6 - 9:in:r1:r7,3:in:g5g7:g4:used hand_size=2"
    position = Position.parse(line.replace("g5g7:g4", "g5:g4"))
    moves = {0: position.find_move("r1", 0), 1: position.find_move("g5", 1)}
    _, events = position.apply(moves, seed=1)
    assert events[-1].record == {"finished": {"scores": [9, 3], "grand_slam": [0, 1]}}
    assert events[-1].description == (
        "Grand Slam: seat 0 and seat 1 played the last card and won the game."
    )
