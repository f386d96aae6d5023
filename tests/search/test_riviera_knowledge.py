"""What seats of Riviera know, and determinizations against exact enumeration."""

import random
from collections import Counter

import pytest
from scipy import stats

from aleator.search import Position
from aleator.search.errors import InvalidInput
from tests.reference import riviera as reference

UNLIKELY = 1e-6
SAMPLES = 3000

# With four hands of 12 there is no pile, so that few cards can be out of sight.
OPTIONS = {"players": 4, "hand_size": 12, "max_same_colour_in_hand": None}
IN_PLAY = [card for card in reference.CARDS if card[0] in "rgpb"]


def parse(line, **options):
    extra = "".join(f" {name}={str(value).lower()}" for name, value in options.items())
    return Position.parse(f"riviera {line}{extra}")


def play(position, *moves, **outcome):
    """Apply moves, each a dict or the same for all that act, the last one with an outcome."""
    for number, told in enumerate(moves, 1):
        chosen = dict.fromkeys(position.seats_to_act, told) if isinstance(told, str) else told
        found = {seat: position.find_move(text, seat) for seat, text in chosen.items()}
        last = outcome if number == len(moves) and outcome else None
        position, _ = position.apply(found, seed=None if last else 1, outcome=last)
    return position


def seats_shown(position):
    return position.notation.split()[7].split(",")


def some_dice(chooser):
    dice = [{"colour": colour, "value": chooser.randint(1, 6)} for colour in "rgpb"]
    return dice[: chooser.randint(2, 4)]


def small_world(seed, agreeing, size):
    """What seat 0 sees of a table with `size` hidden cards in each of three other hands.

    Seats 1 and 2 may have crashed, and the Last Chances of seats 1-3 may tell something of any
    hand. If `agreeing`, what was told is true of some deal of the hidden cards.
    """
    chooser = random.Random(seed)
    cards = chooser.sample(IN_PLAY, len(IN_PLAY))
    hands = [reference.ordered(cards[seat::12][:size]) for seat in range(4)]
    seats = [
        {
            "status": reference.IN,
            "played": [],
            "last_chance_used": True,
        }
        for seat in range(4)
    ]
    others = [card for card in IN_PLAY if not any(card in hand for hand in hands)]
    for number, seat in enumerate(seats):
        seat["played"] = others[number::4]
    for seat in (1, 2):
        dice = some_dice(chooser)
        if chooser.random() < (0.5 if agreeing else 0.9) and (
            not agreeing or not held(hands[seat], dice)
        ):
            seats[seat] |= {"status": reference.CRASHED, "crash": {"dice": dice}}
    for seat in (1, 2, 3):
        dice = some_dice(chooser)
        limits = []
        for holder in chooser.sample([1, 2, 3], chooser.randint(0, 2)):
            most = held(hands[holder], dice) if agreeing else 0
            limits.append({"seat": holder, "at_most": most})
        if limits:
            seats[seat]["last_chance"] = {"dice": dice, "limits": limits}
    return {
        "round": 1,
        "turn": 12 - size,
        "phase": reference.STOP,
        "token": 0,
        "waiting": [0, *(seat for seat in (1, 2, 3) if seats[seat]["status"] == reference.IN)],
        "dice": [{"colour": colour} for colour in "rgpb"],
        "hands": [{"cards": hands[0]}, *({"cards": [], "hidden_count": size} for _ in range(3))],
        "discard": {"cards": []},
        "seats": seats,
    }


def held(cards, dice):
    shown = {die["colour"]: die["value"] for die in dice}
    return sum(reference.is_valid(card, shown) for card in cards)


def full_record(record):
    """With what may be left out."""
    return {**record, "extra_plays": [], "golden_next": False, "pile_size": 0}


def exact_hands(record):
    """All ways to deal the hidden cards, as bit masks of the hands."""
    deals = reference.determinizations(full_record(record), OPTIONS)
    return {tuple(mask(hand["cards"]) for hand in full["hands"]) for _, full in deals}


def mask(cards):
    return sum(1 << reference.CARDS.index(card) for card in cards)


def sampled_hands(position, samples):
    rules = position.codec.rules
    return Counter(
        tuple(rules.unpack(rules.determinization(position.state, 0, seed))["hands"])
        for seed in range(samples)
    )


@pytest.mark.parametrize("seed", range(12))
def test_determinizations_are_uniform(seed):
    """Also where three hands are limited at once, and two limits hold for one of them."""
    record = small_world(seed, agreeing=True, size=3)
    position = Position.from_record("riviera", OPTIONS, record)
    expected = exact_hands(record)
    sampled = sampled_hands(position, SAMPLES)
    assert set(sampled) <= expected
    if len(expected) > 1:
        assert stats.chisquare([sampled[deal] for deal in expected]).pvalue > UNLIKELY


def test_what_nothing_agrees_with_is_refused():
    outcomes = Counter()
    for seed in range(60):
        record = small_world(seed, agreeing=False, size=2)
        possible = bool(exact_hands(record))
        outcomes[possible] += 1
        if possible:
            Position.from_record("riviera", OPTIONS, record)
        else:
            with pytest.raises(InvalidInput, match="no way to deal the hidden cards"):
                Position.from_record("riviera", OPTIONS, record)
    assert min(outcomes[True], outcomes[False]) > 5


def test_hard_deals_are_found():
    """Two hands of twelve that take all cards but those that only a third one can hold."""
    told = "crash@r6g6p6b6"  # valid: sixes and twelves, eight cards
    cards = [card for card in IN_PLAY if card[1:] not in ("6", "12")]
    own = "".join(cards[:3])
    played = ["".join(cards[3 + 9 * seat : 12 + 9 * seat]) for seat in range(4)]
    rest = [*cards[39:], *(card for card in IN_PLAY if card not in cards)]
    assert len(rest) == 9
    line = (
        f"1.9 stop 0 0 rgpb - 0:in:{own}:{played[0]}:used,0:crashed:???:{played[1]}:{told},"
        f"0:stopped:???:{played[2]},0:stopped:???:{played[3]}"
    )
    with pytest.raises(InvalidInput, match="no way"):
        parse(line, hand_size=12, max_same_colour_in_hand="null")
    # With two more of the other cards out of sight there is just one hand for the crashed seat.
    low = cards[39:] + cards[3:5]
    line = line.replace("".join(cards[3:5]), rest[-2] + rest[-1], 1)
    position = parse(line, hand_size=12, max_same_colour_in_hand="null")
    for hands in sampled_hands(position, 50):
        assert hands[1] == mask(low)


def test_hidden_choices_are_legal_moves():
    position = parse("1.1 play 01 0 r3g5p2b6 - 0:in:r3r8:-,0:in:g5g12:-", hand_size=2)
    rules = position.codec.rules
    chosen = rules.apply_move(position.state, 0, position.find_move("r3", 0).code)
    view = rules.observe_state(chosen, 1)
    worlds = Counter()
    for seed in range(2000):
        fields = rules.unpack(rules.determinization(view, 1, seed))
        (hand, _), (choice, _) = fields["hands"], fields["choices"]
        worlds[hand, choice] += 1
    exact = reference.determinizations(position.codec.write_state(view), position.options)
    # Hands are alike likely, and then the moves that each allows.
    expected = Counter()
    for probability, record in exact:
        fields = rules.unpack(position.codec.read_state(record))
        expected[fields["hands"][0], fields["choices"][0]] += float(probability)
    assert set(worlds) <= set(expected)
    moves = Counter()
    for (_, choice), count in worlds.items():
        moves[choice] += count
    shares = Counter()
    for (_, choice), probability in expected.items():
        shares[choice] += probability
    common = [choice for choice in shares if shares[choice] > 0.004]
    observed = [moves[choice] for choice in common]
    scale = sum(observed) / sum(shares[choice] for choice in common)
    frequencies = [scale * shares[choice] for choice in common]
    assert stats.chisquare(observed, frequencies).pvalue > UNLIKELY


# What is told by a Last Chance, and what swaps make of it. For dice r6 g4 p1 b3, of seat 1's
# hand nothing is valid, and of the cards that move only r6.

BEFORE = "1.1 play 012 0 r6g4p1b3 - 0:in:r4r6r8r10r12g5:-,0:in:g1g2g3g6g8g9:-,0:in:b3b6b7b8b9b10:-"


def after_last_chance():
    return play(parse(BEFORE, hand_size=6), {0: "r10", 1: "last_chance", 2: "b7"})


def after_swap():
    return play(after_last_chance(), "swap:1:r4,r6", drawn=["g1", "g2"])


def test_last_chance_tells_of_the_hand():
    position = after_last_chance()
    assert seats_shown(position)[1] == "0:in:g1g2g3g6g8g9:-:used:chance@r6g4p1b3"
    assert seats_shown(position.observe(2))[1] == "0:in:??????:-:used:chance@r6g4p1b3"
    assert seats_shown(position.observe(1))[1] == "0:in:g1g2g3g6g8g9:-:used"


def test_swap_takes_knowledge_along():
    """A third seat can tell of two cards less each way; the two seats saw what moved."""
    limits = after_swap().record["seats"][1]["last_chance"]["limits"]
    assert limits == [
        {"seat": 0, "at_most": 3},
        {"seat": 1, "at_most": 1, "viewers": [0, 1]},
        {"seat": 1, "at_most": 2, "viewers": [2]},
    ]


def test_a_seat_that_had_no_valid_card_may_get_two():
    line = (
        "1.2 powers 1 0 r1g1p1b1 - 0:in:r4r6r8:r2r3,"
        "0:in:g1g2g3g6:r10:used:power@r10:chance@r6g4p1b3,0:in:b3b6b8:b7b9"
    )
    after = play(parse(line, hand_size=5), "swap:0:g1,g2", drawn=["r4", "r6"])
    assert after.record["seats"][1]["last_chance"]["limits"] == [
        {"seat": 0, "at_most": 1},
        {"seat": 1, "at_most": 1, "viewers": [0, 1]},
        {"seat": 1, "at_most": 2, "viewers": [2]},
    ]


def test_swapped_cards_are_known_to_both():
    position = after_swap()
    assert seats_shown(position.observe(0))[1].startswith("0:in:r4r6????:-:used")
    assert seats_shown(position.observe(1))[0] == "0:in:g1g2???:r10:knows@r4r6"
    assert seats_shown(position.observe(2))[0] == "0:in:?????:r10"
    assert seats_shown(position.observe(2))[1].startswith("0:in:??????:-:used:chance@")


def test_played_cards_count_against_a_limit():
    """Seat 1 plays the one valid card that it got, and holds none for sure again."""
    position = play(after_swap(), "more", dice=dice_of("r6g1p1b1"))
    position = play(position, {0: "g1", 1: "r6", 2: "last_chance"})
    limits = position.record["seats"][1]["last_chance"]["limits"]
    assert {"seat": 1, "at_most": 0, "viewers": [0, 1]} in limits
    assert {"seat": 1, "at_most": 1, "viewers": [2]} in limits


def dice_of(text):
    return [
        {"colour": colour, "value": int(value)}
        for colour, value in zip(text[::2], text[1::2], strict=True)
    ]


def test_swap_with_others_ends_what_was_known_of_cards():
    """Seat 0 knew of r4 and r6 with seat 1; then seat 1 swaps two cards with seat 2."""
    line = (
        "1.2 powers 1 0 r6g4p1b3 - 0:in:g1g2r8:r10g5:knows@r4r6,"
        "0:in:r4r6g3:g10g6:knows@g1g2:power@g10,0:in:b3b6b8:b7b1"
    )
    position = parse(line, hand_size=5)
    after = play(position, "swap:2:r4,g3", drawn=["b3", "b6"])
    assert seats_shown(after.observe(0))[1] == "0:in:???:g6g10:knows@g1g2"
    assert seats_shown(after.observe(0))[2] == "0:in:???:b1b7"
    assert seats_shown(after.observe(2))[1] == "0:in:b3b6?:g6g10:knows@r4g3"
    assert seats_shown(after.observe(1))[0] == "0:in:g1g2?:r10g5"


def test_redraw_hides_what_was_discarded():
    line = "1.2 powers 1 0 r6g4p1b3 - 0:stopped:r3r4r5:r8,0:in:g3g6r1:g10:power@g10:used"
    position = parse(line, hand_size=4)
    after = play(position, "redraw:g3,g6", drawn=["b3", "b6"])
    assert after.notation.split()[6] == "g3g6"
    assert after.observe(0).notation.split()[6] == "??"
    assert after.observe(1).notation.split()[6] == "g3g6"
    assert seats_shown(after.observe(0))[1] == "0:in:???:g10:used"


def test_crashed_hands_hold_nothing_valid():
    line = "1.1 play 0 0 r6g4p1b3 - 0:in:r6r9:-,0:crashed:??:-:used:crash@r6g4p1b3"
    position = parse(line, hand_size=2)
    rules = position.codec.rules
    for seed in range(300):
        full = Position(position.codec, rules.determinization(position.state, 0, seed))
        assert held(full.record["hands"][1]["cards"], dice_of("r6g4p1b3")) == 0
