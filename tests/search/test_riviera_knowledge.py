"""What seats of Riviera know, and determinizations against exact enumeration."""

import random
from collections import Counter

import pytest
from scipy import stats

from aleator.ext.games.riviera import valid_mask
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


def small_world(seed, size):
    """What seat 0 sees of a table with `size` hidden cards in each of three other hands.

    Seats 1 and 2 may have crashed and seats 1-3 used their Last Chances, and it is not looked to
    whether any hands agree with that.
    """
    chooser = random.Random(seed)
    cards = chooser.sample(IN_PLAY, len(IN_PLAY))
    hands = [reference.ordered(cards[seat::4][:size]) for seat in range(4)]
    seats = [
        {"status": reference.IN, "played": cards[seat::4][size:], "last_chance_used": True}
        for seat in range(4)
    ]
    for seat in (1, 2):
        if chooser.random() < 0.9:
            seats[seat] |= {"status": reference.CRASHED, "crash": {"dice": some_dice(chooser)}}
    for seat in (1, 2, 3):
        if chooser.random() < 0.5:
            seats[seat]["last_chance"] = {"dice": some_dice(chooser)}
    return {
        "round": 1,
        "turn": 12 - size,
        "phase": reference.STOP,
        "token": 0,
        "waiting": [0, *(seat for seat in (1, 2, 3) if seats[seat]["status"] == reference.IN)],
        "dice": [{"colour": colour} for colour in "rgpb"],
        "hands": [{"cards": hands[0]}, *({"cards": [], "hidden_count": size} for _ in range(3))],
        "exchanges": [],
        "seats": seats,
    }


class SmallGame:
    """The end of a round without a pile, of which seat 0 is shown only what it may know.

    Cards are exchanged among hands of a few cards and played one by each seat; seats may find
    that they hold no valid card for some dice. All that is left to `chooser`.
    """

    def __init__(self, chooser, players, size):
        self.chooser = chooser
        cards = chooser.sample(IN_PLAY, len(IN_PLAY))
        tens = [card for card in cards if card[1:] == "10"]
        others = [card for card in cards if card[1:] != "10"]
        full = len(IN_PLAY) // players
        self.options = {
            "players": players,
            "hand_size": full,
            "max_same_colour_in_hand": None,
        }
        self.hands = []
        self.seats = []
        for _ in range(players):
            self.hands.append({"cards": [others.pop() for _ in range(size)]})
            self.seats.append(
                {"status": reference.IN, "score": 0, "played": [], "last_chance_used": True}
            )
        for seat, ten in zip(chooser.choices(range(players), k=4), tens, strict=True):
            self.seats[seat]["played"].append(ten)
        for seat in self.seats:
            seat["played"] += [others.pop() for _ in range(full - size - len(seat["played"]))]
            seat["played"] = reference.ordered(seat["played"])
        self.tens = [s for s in range(players) for c in self.seats[s]["played"] if c[1:] == "10"]
        chooser.shuffle(self.tens)
        self.exchanges = []

    def exchange(self):
        seat = self.tens.pop()
        other = self.chooser.choice([s for s in range(len(self.seats)) if s != seat])
        given, drawn = (self.chooser.sample(self.hands[s]["cards"], 2) for s in (seat, other))
        self.exchanges.append(
            {
                "seat": seat,
                "opponent": other,
                "given": reference.ordered(given),
                "drawn": reference.ordered(drawn),
                "played": [len(belongings["played"]) for belongings in self.seats],
            }
        )
        for one, lost, got in ((seat, given, drawn), (other, drawn, given)):
            kept = [card for card in self.hands[one]["cards"] if card not in lost]
            self.hands[one]["cards"] = [*kept, *got]

    def play(self):
        for hand, seat in zip(self.hands, self.seats, strict=True):
            card = hand["cards"].pop(self.chooser.randrange(len(hand["cards"])))
            seat["played"].append(card)

    def fail_to_play(self):
        seat = self.chooser.randrange(1, len(self.seats))
        dice = some_dice(self.chooser)
        if "last_chance" not in self.seats[seat] and not held(self.hands[seat]["cards"], dice):
            self.seats[seat]["last_chance"] = {"dice": dice}
            if self.exchanges:
                self.seats[seat]["last_chance"]["exchanges"] = len(self.exchanges)

    def crash(self):
        seat = self.chooser.randrange(1, len(self.seats))
        dice = some_dice(self.chooser)
        if not held(self.hands[seat]["cards"], dice):
            self.seats[seat] |= {"status": reference.CRASHED, "crash": {"dice": dice}}

    def observation(self):
        players = range(len(self.seats))
        for seat in self.seats:
            before = 0
            for count in [e["played"][self.seats.index(seat)] for e in self.exchanges]:
                seat["played"][before:count] = reference.ordered(seat["played"][before:count])
                before = count
            seat["played"][before:] = reference.ordered(seat["played"][before:])
        for hand in self.hands:
            hand["cards"] = reference.ordered(hand["cards"])
        waiting = [s for s in players if self.seats[s]["status"] == reference.IN]
        record = {
            "round": 1,
            "turn": len(self.seats[0]["played"]),
            "phase": reference.STOP,
            "token": 0,
            "waiting": waiting,
            "extra_plays": [],
            "golden_next": False,
            "dice": [{"colour": colour} for colour in "rgpb"],
            "hands": self.hands,
            "exchanges": self.exchanges,
            "discard": {"cards": []},
            "pile_size": 0,
            "seats": self.seats,
        }
        return reference.observe(record, 0, self.options)


def held(cards, dice):
    shown = {die["colour"]: die["value"] for die in dice}
    return sum(reference.is_valid(card, shown) for card in cards)


def exact_hands(record, options=OPTIONS):
    """All hands that agree, as bit masks, with their probabilities."""
    full = {**record, "extra_plays": [], "golden_next": False, "pile_size": 0}
    full.setdefault("discard", {"cards": []})
    shares = Counter()
    for probability, world in reference.determinizations(full, options):
        shares[tuple(mask(hand["cards"]) for hand in world["hands"])] += float(probability)
    return shares


def assert_agree(counts, shares):
    """Counts and exact probabilities, by a chi-square test; what is rare is put together."""
    assert set(counts) <= set(shares)
    samples = sum(counts.values())
    common = [outcome for outcome in shares if samples * shares[outcome] >= 5]
    observed = [counts[outcome] for outcome in common]
    expected = [samples * shares[outcome] for outcome in common]
    if samples - sum(expected) > 1e-6:
        observed.append(samples - sum(observed))
        expected.append(samples - sum(expected))
    if len(expected) > 1:
        assert stats.chisquare(observed, expected).pvalue > UNLIKELY


def mask(cards):
    return sum(1 << reference.CARDS.index(card) for card in cards)


def sampled_hands(position, samples, viewer=0):
    rules = position.codec.rules
    return Counter(
        tuple(rules.unpack(rules.determinization(position.state, viewer, seed))["hands"])
        for seed in range(samples)
    )


@pytest.mark.parametrize("seed", range(12))
def test_determinizations_are_uniform(seed):
    """Also where three hands are limited at once."""
    game = SmallGame(random.Random(seed), 4, size=3)
    for _ in range(3):
        game.fail_to_play()
    game.crash()
    record = game.observation()
    position = Position.from_record("riviera", game.options, record)
    assert_agree(sampled_hands(position, SAMPLES), exact_hands(record, game.options))


@pytest.mark.parametrize("seed", range(30))
def test_determinizations_follow_what_is_known_through_swaps(seed):
    """Which cards a swap between others moved is as chance would have it, and all told agrees."""
    chooser = random.Random(seed)
    game = SmallGame(chooser, players=3, size=4)
    game.play()
    course = ["exchange"] * chooser.randint(2, 3) + ["play"] * chooser.randint(0, 1)
    chooser.shuffle(course)
    for step in course:
        getattr(game, step)()
    record = game.observation()
    position = Position.from_record("riviera", game.options, record)
    assert position.observe(0) == position
    assert position.record == record
    full = {**record, "extra_plays": [], "golden_next": False, "pile_size": 0}
    worlds = {frozen(world) for _, world in reference.determinizations(full, game.options)}
    for sample in range(200):
        world = position.codec.rules.determinization(position.state, 0, sample)
        assert frozen(position.codec.write_state(world)) in worlds
    assert_agree(sampled_hands(position, SAMPLES), exact_hands(record, game.options))


def late_positions(games):
    """What seats of two know in games of the rule-based player, where it can be listed."""
    for seed in range(games):
        position = Position.create("riviera", {"players": 2, "hand_size": 4}, seed)
        luck = random.Random(seed)
        while not position.finished:
            rules = position.codec.rules
            for seat in position.seats_to_act:
                listed = rules.enumerate_determinizations(position.state, seat)
                if listed is not None and len(listed) > 1:
                    yield position.observe(seat), listed
            moves = {
                seat: position.find_move(
                    position.codec.write_move(rules.choose_by_rules(position.state, seat)), seat
                )
                for seat in position.seats_to_act
            }
            position, _ = position.apply(moves, seed=luck.getrandbits(64))


def test_few_determinizations_are_listed():
    """One hand of a few cards is hidden, after swaps and Last Chances too: as enumerated."""
    told = set()
    for position, listed in late_positions(games=60):
        seats = position.record["seats"]
        kind = bool(position.record.get("exchanges")), any("last_chance" in seat for seat in seats)
        if kind in told:
            continue
        told.add(kind)
        exact = reference.determinizations(position.record, position.options)
        write = position.codec.write_state
        assert {frozen(write(world)): probability for probability, world in listed} == (
            pytest.approx({frozen(record): float(probability) for probability, record in exact})
        )
    assert len(told) == 4


@pytest.mark.parametrize("seed", range(30))
def test_determinizations_with_all_that_can_be_told(seed):
    """Known cards, Last Chances and crashes, before and after swaps among four seats."""
    chooser = random.Random(seed)
    game = SmallGame(chooser, players=4, size=3)
    course = ["exchange"] * 2 + ["fail_to_play"] * 3 + ["play"]
    chooser.shuffle(course)
    for step in [*course, "crash"]:
        getattr(game, step)()
    record = game.observation()
    position = Position.from_record("riviera", game.options, record)
    assert position.record == record
    assert_agree(sampled_hands(position, SAMPLES), exact_hands(record, game.options))


def frozen(value):
    """A record as something hashable."""
    if isinstance(value, dict):
        return tuple((key, frozen(value[key])) for key in sorted(value))
    return tuple(map(frozen, value)) if isinstance(value, list) else value


def test_what_nothing_agrees_with_is_refused():
    outcomes = Counter()
    for seed in range(60):
        record = small_world(seed, size=2)
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


def test_deals_are_found_where_two_limits_meet():
    """Two hands of four can hold at most two of four cards, and two of the other sixteen."""
    few = reference.ordered(card for card in IN_PLAY if card in {"r6", "r12", "g6", "g12"})
    many = [card for card in IN_PLAY if held([card], dice_of("r1g2p3b6"))]
    rest = [card for card in IN_PLAY if card not in few and card not in many]
    assert len(many) == 16
    tens = [card for card in rest if card[1:] == "10"]
    rest = [*(card for card in rest if card not in tens), *tens]
    played = ["".join(rest[4 + 8 * seat : 12 + 8 * seat]) for seat in range(3)]
    line = (
        f"1.8 stop 012 0 rgpb 2>1 0:in:{''.join(rest[:4])}:{played[0]},"
        f"0:in:????:{played[1]}:used:chance@r6g6,"
        f"0:in:????:{played[2]}:used:chance@r1g2p3b6"
    )
    position = parse(line, hand_size=12, max_same_colour_in_hand="null")
    firsts = Counter()
    for hands, count in sampled_hands(position, 1000).items():
        for hand in hands[1:]:
            assert (hand & mask(few)).bit_count() == (hand & mask(many)).bit_count() == 2
        firsts[hands[1] & mask(few)] += count
    assert len(firsts) == 6
    assert stats.chisquare(list(firsts.values())).pvalue > UNLIKELY


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
    assert seats_shown(position.observe(1))[1].endswith(":used:chance@r6g4p1b3")


def most_told(position, holder, viewer):
    """The most cards valid for the dice of the Last Chance that determinizations deal."""
    rules = position.codec.rules
    view = rules.observe_state(position.state, viewer)
    valid = valid_mask([6, 4, 1, 3, 0, 0])
    worlds = (rules.unpack(rules.determinization(view, viewer, seed)) for seed in range(2000))
    return max((world["hands"][holder] & valid).bit_count() for world in worlds)


def test_swap_takes_knowledge_along():
    """A third seat can tell of two cards less each way; the two seats saw what moved."""
    position = after_swap()
    assert seats_shown(position)[1].endswith(":used:chance@r6g4p1b3")
    assert most_told(position, 1, viewer=0) == 1
    assert most_told(position, 1, viewer=2) == 2
    assert most_told(position, 0, viewer=2) == 3
    assert most_told(position, 0, viewer=1) == 3


def test_a_seat_that_had_no_valid_card_may_get_two():
    line = (
        "1.2 powers 1 0 r1g1p1b1 - 0:in:r4r6r8:r2r3,"
        "0:in:g1g2g3g6:r10:used:power@r10:chance@r6g4p1b3,0:in:b3b6b8:b7b9"
    )
    after = play(parse(line, hand_size=5), "swap:0:g1,g2", drawn=["r4", "r6"])
    assert most_told(after, 1, viewer=2) == 2
    assert most_told(after, 0, viewer=2) == 1
    assert most_told(after, 1, viewer=0) == 1


def test_both_cards_of_a_swap_may_be_known():
    """Seat 1 held no valid card, and by its hand got just the two cards that seat 2 knows.

    Seat 0 has neither now, so that b12, valid then too, cannot have moved as well.
    """
    line = (
        "1.13 stop 012 0 rgpb 2>0:r4g4/r11g10,0>1 0:in:???:r6r7p1p7p8p9p11p12b5b6b7b9b10,"
        "0:in:????:r5r9r12g2g6g11g12p4p6b4b8b11:used:chance@r4g6p3b6,"
        "0:in:r3r11g10:r2r8r10g1g5g7g8g9p2p3p5b1b2"
    )
    position = parse(line, hand_size=16, max_same_colour_in_hand="null")
    rules = position.codec.rules
    known, other = mask(["r4", "g4"]), mask(["b12"])
    hands = [
        rules.unpack(rules.determinization(position.state, 2, seed))["hands"][1]
        for seed in range(2000)
    ]
    assert any(hand & other for hand in hands)
    assert any(hand & known == known for hand in hands)
    assert not any(hand & known == known and hand & other for hand in hands)
    exact = exact_hands(position.record, position.options)
    assert_agree(sampled_hands(position, SAMPLES, viewer=2), exact)


def test_swapped_cards_are_known_to_both():
    position = after_swap()
    assert seats_shown(position.observe(0))[1].startswith("0:in:r4r6????:-:used")
    assert seats_shown(position.observe(1))[0] == "0:in:g1g2???:r10"
    assert seats_shown(position.observe(2))[0] == "0:in:?????:r10"
    assert seats_shown(position.observe(2))[1].startswith("0:in:??????:-:used:chance@")


def test_played_cards_count_against_a_limit():
    """Seat 1 plays the one valid card that it got, and holds none for sure again."""
    position = play(after_swap(), "more", dice=dice_of("r6g1p1b1"))
    position = play(position, {0: "g1", 1: "r6", 2: "last_chance"})
    assert ":/r6:used:chance@" in seats_shown(position)[1]
    assert most_told(position, 1, viewer=0) == 0
    assert most_told(position, 1, viewer=2) == 1


def dice_of(text):
    return [
        {"colour": colour, "value": int(value)}
        for colour, value in zip(text[::2], text[1::2], strict=True)
    ]


def places_of(position, viewer, card, samples=20_000):
    """How often determinizations put a card into each hand."""
    rules = position.codec.rules
    view = rules.observe_state(position.state, viewer)
    counts = Counter()
    for seed in range(samples):
        hands = rules.unpack(rules.determinization(view, viewer, seed))["hands"]
        counts.update(seat for seat, hand in enumerate(hands) if hand & mask([card]))
    return counts


def test_known_cards_move_by_chance():
    """Of ten cards of seat 1, seat 0 knows two; seat 1 swaps two with seat 2.

    Each card has moved with probability 2/10, both have with 1/45, and neither lies elsewhere.
    """
    line = (
        "1.2 powers 1 0 r1g1p1b1 0>1:r4r6/g1g2 0:in:g1g2r3r7r8r9p1p2p3p4:r10/r2,"
        "0:in:r4r6g3g4g5g6g7g8g9g11:/r12g10:power@g10,0:in:b1b2b3b4b5b6b7b8b9b10:/b12p12"
    )
    position = parse(line, hand_size=12, max_same_colour_in_hand="null")
    after = play(position, "swap:2:g3,g4", drawn=["b1", "b2"])
    assert seats_shown(after.observe(0))[1] == "0:in:??????????:/r12g10"
    assert after.observe(0).notation.split()[6] == "0>1:r4r6/g1g2,1>2"
    for card in ("r4", "r6"):
        counts = places_of(after, 0, card)
        assert stats.binomtest(counts[2], 20_000, 2 / 10).pvalue > UNLIKELY
        assert counts[1] + counts[2] == 20_000
    rules = after.codec.rules
    both = sum(
        rules.unpack(rules.determinization(after.state, 0, seed))["hands"][2] & mask(["r4", "r6"])
        == mask(["r4", "r6"])
        for seed in range(20_000)
    )
    assert stats.binomtest(both, 20_000, 1 / 45).pvalue > UNLIKELY


def test_one_card_of_three_stays():
    """Seat 0 knew two of three cards; two of the three moved, so that one of its two did."""
    line = (
        "1.2 powers 1 0 r6g4p1b3 0>1:r4r6/g1g2 0:in:g1g2r8:r10/g5,"
        "0:in:r4r6g3:/g10g6:power@g10,0:in:b3b6b8:/b7b1"
    )
    position = parse(line, hand_size=5)
    after = play(position, "swap:2:r4,g3", drawn=["b3", "b6"])
    assert seats_shown(after.observe(0))[1] == "0:in:???:/g6g10"
    assert seats_shown(after.observe(0))[2] == "0:in:???:/b1b7"
    assert seats_shown(after.observe(2))[1] == "0:in:b3b6?:/g6g10"
    assert seats_shown(after.observe(1))[0] == "0:in:g1g2?:r10/g5"
    rules = after.codec.rules
    known = mask(["r4", "r6"])
    counts = Counter()
    for seed in range(3000):
        hands = rules.unpack(rules.determinization(after.state, 0, seed))["hands"]
        assert (hands[1] | hands[2]) & known == known
        counts[hands[1] & known] += 1
    assert set(counts) == {0, mask(["r4"]), mask(["r6"])}
    assert stats.chisquare(list(counts.values())).pvalue > UNLIKELY


def test_a_card_played_tells_where_the_others_are():
    """Seat 1 had r4, r6 and g3 and gave two of them; then it plays r4, so that r6 has gone."""
    line = (
        "1.3 stop 012 0 rgpb 0>1:r4r6/g1g2,1>2 0:in:g1g2:r10/g5/r8,"
        "0:in:??:/g6g10/r4,0:in:r6?:/b1b7/b9"
    )
    position = parse(line, hand_size=5)
    assert position.observe(0) == position
    assert places_of(position, 0, "r6", 200) == {2: 200}


def test_a_last_chance_tells_where_a_known_card_is():
    """Of seat 1's cards seat 0 knew r6; seat 1 swapped, and then held no valid card."""
    line = (
        "1.3 stop 012 0 rgpb 0>1:r4r6/g1g2,1>2 0:in:g1g2:r10/g5/r8,"
        "0:in:???:/g6g10:used:chance@r6g4p1b3~2,0:in:r6?:/b1b7/b9"
    )
    position = parse(line, hand_size=5)
    assert position.observe(0) == position
    assert places_of(position, 0, "r6", 200) == {2: 200}


def test_redraw_hides_what_was_discarded():
    line = "1.2 powers 1 0 r6g4p1b3 - 0:stopped:r3r4r5:r8,0:in:g3g6r1:g10:power@g10:used"
    position = parse(line, hand_size=4)
    after = play(position, "redraw:g3,g6", drawn=["b3", "b6"])
    assert after.notation.split()[6] == "1>d:g3g6/b3b6"
    assert after.observe(0).notation.split()[6] == "1>d"
    assert after.observe(0).record["discard"] == {"cards": [], "hidden_count": 2}
    assert after.observe(1).notation.split()[6] == "1>d:g3g6/b3b6"
    assert seats_shown(after.observe(0))[1] == "0:in:???:g10:used"


def test_crashed_hands_hold_nothing_valid():
    line = "1.1 play 0 0 r6g4p1b3 - 0:in:r6r9:-,0:crashed:??:-:used:crash@r6g4p1b3"
    position = parse(line, hand_size=2)
    rules = position.codec.rules
    for seed in range(300):
        full = Position(position.codec, rules.determinization(position.state, 0, seed))
        assert held(full.record["hands"][1]["cards"], dice_of("r6g4p1b3")) == 0
