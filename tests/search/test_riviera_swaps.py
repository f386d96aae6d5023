"""What seats of Riviera learn of each other's knowledge when whole hands are swapped."""

import random

from aleator.search import Engine, Limits, Position
from tests.reference import riviera as reference

OPTIONS = {
    "players": 3,
    "hand_size": 4,
    "removed_colour": "orange",
    "reroll_first_roll": False,
}
DICE = [
    {"colour": "r", "value": 4},
    {"colour": "g", "value": 4},
    {"colour": "p", "value": 4},
    {"colour": "b", "value": 6},
]


def whole_hand_moves(hand1, hand2, given):
    """Seats 1 and 2 swap; then seat 2, down to the two cards it got, gives them to seat 0.

    Returns the full positions, with what seat 0 is told of what led to each.
    """
    line = (
        "riviera 1.1 powers 1 1 r4g4p6b6 - 0:in:b1b2b3:b6,"
        f"0:in:{hand1}:r10:power@r10,0:in:{hand2}:p6"
    )
    positions = [Position.parse(line, "riviera", OPTIONS)]
    told = []

    def step(moves, **outcome):
        position = positions[-1]
        found = {seat: position.find_move(text, seat) for seat, text in moves.items()}
        after, events = position.apply(found, seed=None if outcome else 1, outcome=outcome or None)
        positions.append(after)
        told.append([event.description for event in events])

    step({1: f"swap:2:{given}"}, drawn=["g5", "g6"])
    step(dict.fromkeys(range(3), "more"), dice=DICE)
    step({0: "last_chance", 1: "p10", 2: "g10"})
    while positions[-1].seats_to_act != (2,):
        step({positions[-1].seats_to_act[0]: "pass"})
    step({2: "swap:0:p3,p4"}, drawn=["b1", "b2"])
    return positions, told


def test_a_whole_hand_does_not_tell_who_knows_it():
    """Of what seats 1 and 2 swapped among themselves, seat 0 sees the same in both worlds."""
    one, told_of_one = whole_hand_moves("p10p3p4", "g10g5g6", "p3,p4")
    other, told_of_other = whole_hand_moves("p10g10p4", "p3g5g6", "g10,p4")
    assert told_of_one == told_of_other
    assert [p.observe(0).notation for p in one] == [p.observe(0).notation for p in other]
    assert [p.observe(0).state for p in one] != [p.observe(1).state for p in one]
    # Seat 1 goes on knowing where the cards are that it gave: all cards of the hand moved.
    assert one[-1].observe(1).record["hands"][0]["cards"] == ["p3", "p4"]
    # Seat 0 has seen seat 2 give them, and of the swap before only that it took place.
    first, second = one[-1].observe(0).record["exchanges"]
    assert first == {"seat": 1, "opponent": 2, "played": [1, 1, 1]}
    assert second["given"] == ["p3", "p4"]
    assert second["drawn"] == ["b1", "b2"]


def test_each_seat_sees_what_the_reference_shows():
    positions, _ = whole_hand_moves("p10p3p4", "g10g5g6", "p3,p4")
    for position in positions:
        for seat in range(3):
            shown = reference.observe(position.record, seat, position.options)
            assert position.observe(seat).record == shown


def test_a_card_drawn_back_is_no_more_with_others():
    """Seat 1 draws the two cards that it gave to seat 0, and gives it others."""
    line = (
        "riviera 1.2 powers 1 0 r4g4p6b6 1>0:p3p4/r2r5 0:in:p3p4:g1/b1,"
        "0:in:r2r5:r10/b10:power@b10,0:in:r3r8:r6/r7"
    )
    position = Position.parse(line, "riviera", OPTIONS)
    assert position.observe(1).record["hands"][0] == {"cards": ["p3", "p4"]}
    drawn = {"drawn": ["p3", "p4"]}
    after, _ = position.apply({1: position.find_move("swap:0:r2,r5", 1)}, outcome=drawn)
    assert after.observe(1).record["hands"][0] == {"cards": ["r2", "r5"]}
    assert after.observe(2).record["hands"][0] == {"cards": [], "hidden_count": 2}
    assert after.notation.split()[6] == "1>0:p3p4/r2r5,1>0:r2r5/p3p4"


def busy_round(seed):
    """The positions of a round in which seats go on and swap whenever they can."""
    chooser = random.Random(seed)
    position = Position.create("riviera", {"players": chooser.choice([3, 4, 6])}, seed)
    positions = []
    while not position.finished and position.record["round"] == 1:
        positions.append(position)
        moves = {}
        for seat in position.seats_to_act:
            legal = position.moves(seat)
            wanted = [
                move for move in legal if move.notation.startswith(("more", "swap", "redraw"))
            ]
            moves[seat] = chooser.choice(wanted or legal)
        position, _ = position.apply(moves, seed=chooser.getrandbits(60))
    return positions


def swapped_positions():
    """Positions of busy rounds, right after exchanges and at the end, with all that happened."""
    for seed in range(16):
        positions = busy_round(seed)
        counts = [len(position.record["exchanges"]) for position in positions]
        chosen = [i for i in range(1, len(counts)) if counts[i] > counts[i - 1]]
        if counts[-1] > 1:
            yield from (positions[i] for i in {*chosen, len(counts) - 1})


def test_each_seat_sees_what_it_may_and_no_more():
    """In rounds with several swaps: by the reference, and of all worlds that agree the same."""
    mixed = 0
    for position in swapped_positions():
        rules = position.codec.rules
        for seat in range(position.seats):
            view = position.observe(seat)
            assert view.record == reference.observe(position.record, seat, position.options)
            assert Position.parse(view.notation) == view
            seen = ["given" in exchange for exchange in view.record["exchanges"]]
            mixed += len({*seen}) > 1
            for seed in range(5):
                state = rules.determinization(view.state, seat, seed)
                world = Position(position.codec, state)
                assert world.observe(seat) == view
                assert rules.determinization(position.state, seat, seed) == state
                assert rules.information_key(state, seat) == rules.information_key(
                    position.state, seat
                )
                # What was drawn of the exchanges fits the cards, by the checks of input.
                assert Position.from_record("riviera", position.options, world.record) == world
    assert mixed > 10


def test_no_search_depends_on_swaps_among_others():
    searched = 0
    for position in swapped_positions():
        for seat in position.seats_to_act[:1]:
            view = position.observe(seat)
            if view.is_full or len(position.moves(seat)) == 1:
                continue
            state = position.codec.rules.determinization(view.state, seat, 1)
            answers = [
                Engine().suggest(world, seat, Limits(simulations=50), seed=1).candidates
                for world in (position, Position(position.codec, state))
            ]
            assert answers[0] == answers[1]
            searched += 1
    assert searched > 5
