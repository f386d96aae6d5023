"""The rules of Riviera: what its rules page says, and the compiled code against the reference."""

import random
from collections import Counter
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from aleator.ext.games.riviera import Riviera, valid_mask
from aleator.search import Position
from aleator.search.games import codec
from tests.reference import riviera as reference

CARDS = reference.CARDS
UNLIKELY = 1e-5

OPTIONS = st.one_of(
    st.fixed_dictionaries(
        {
            "players": st.integers(2, 6),
            "mode": st.sampled_from(["simultaneous", "sequential"]),
            "powers": st.sampled_from([True, True, False]),
            "preroll_powers": st.sampled_from(["before_stop", "after_stop"]),
            "hand_size": st.sampled_from([1, 2, 3, 5, 10]),
            "target": st.sampled_from([10, 40]),
            "max_rounds": st.sampled_from([None, 2]),
            "max_same_colour_in_hand": st.sampled_from([None, 4, 6]),
        }
    )
)


def parse(line, **options):
    extra = "".join(f" {name}={str(value).lower()}" for name, value in options.items())
    return Position.parse(f"riviera {line}{extra}")


def moves(position, seat):
    return {move.notation for move in position.moves(seat)}


def play(position, *rounds, **outcome):
    """Apply moves, each a dict or the move of the only seat to act, the last with an outcome."""
    for number, told in enumerate(rounds, 1):
        chosen = dict.fromkeys(position.seats_to_act, told) if isinstance(told, str) else told
        found = {seat: position.find_move(text, seat) for seat, text in chosen.items()}
        last = outcome if number == len(rounds) and outcome else None
        position, _ = position.apply(found, seed=None if last else 1, outcome=last)
    return position


def dice(text):
    return [
        {"colour": colour, "value": int(value)}
        for colour, value in zip(text[::2], text[1::2], strict=True)
    ]


def body(position):
    return position.notation.removeprefix("riviera ")


# Dice, cards, turns


def test_valid_cards():
    """Dice r3 g5 p2 b6: the die itself, or with one other."""
    shown = valid_mask([3, 5, 2, 6, 0, 0])
    valid = {card for number, card in enumerate(CARDS) if shown >> number & 1}
    assert valid == {
        *("r3", "r8", "r5", "r9"),
        *("g5", "g8", "g7", "g11"),
        *("p2", "p5", "p7", "p8"),
        *("b6", "b9", "b11", "b8"),
    }


def test_golden_die_only_adds():
    shown = valid_mask([3, 0, 0, 0, 0, 4])
    assert {card for number, card in enumerate(CARDS) if shown >> number & 1} == {"r3", "r7"}
    assert valid_mask([0, 0, 0, 0, 0, 4]) == 0


@pytest.mark.parametrize("golden", [False, True])
def test_valid_cards_of_all_dice(golden):
    for values in product(range(1, 7), repeat=3):
        shown = dict(zip("rg*" if golden else "rgp", values, strict=True))
        mask = valid_mask([shown.get(colour, 0) for colour in "rgpbo*"])
        for number, card in enumerate(CARDS):
            assert mask >> number & 1 == reference.is_valid(card, shown)


def test_chances_of_values():
    """The table of the page, for four dice."""
    expected = [0.167, 0.237, 0.307, 0.377, 0.448, 0.518, 0.421, 0.351, 0.281, 0.211, 0.140, 0.070]
    counts = Counter()
    for values in product(range(1, 7), repeat=4):
        mask = valid_mask([*values, 0, 0])
        counts.update(value for value in range(12) if mask >> value & 1)
    assert [counts[value] / 6**4 for value in range(12)] == pytest.approx(expected, abs=5e-4)


def test_must_play_a_valid_card():
    line = "1.1 play 01 0 r3g5p2b6 - 0:in:r3r4:-,0:in:r12g12:-"
    position = parse(line, hand_size=2)
    assert moves(position, 0) == {"r3"}
    assert moves(position, 1) == {"crash", "last_chance"}
    used = parse("1.1 play 01 0 r3g5p2b6 - 0:in:r3r4:-,0:in:r12g12:-:used", hand_size=2)
    assert moves(used, 1) == {"crash"}


def test_reserved_die_is_not_usable_by_others():
    """Neither alone nor in a sum; the golden die is usable by all."""
    line = "1.3 play 01 0 r3g5p2b6*4 - 0:in:r3r8g5p5g11:r2b11:reserved@r,0:in:r5r9g8g9g7:b1b2"
    position = parse(line, hand_size=7)
    assert moves(position, 0) == {"r3", "r8", "g5", "p5", "g11"}
    assert moves(position, 1) == {"g9", "g7"}


def test_crashing_seats_reservation_binds_until_clean_up():
    position = parse(
        "1.2 play 012 0 r3g5p2b6 - 0:in:r12b12:r2:reserved@r:used,0:in:r3g12:g1,0:in:r4g5:g2",
        hand_size=3,
        mode="sequential",
    )
    position = play(position, "crash")
    assert moves(position, 1) == {"crash", "last_chance"}
    assert "reserved@r" in position.notation
    position = play(position, "last_chance", "g5")
    assert body(position).startswith("1.2 stop 12 1")
    assert "reserved" not in position.notation


def deal_of(text, rolled="r3g5p2b6"):
    hands = [{"cards": cards_in(hand)} for hand in text.split()]
    return {"hands": hands, "dice": dice(rolled)}


def cards_in(text):
    found = []
    while text:
        card = next(card for card in reversed(CARDS) if text.startswith(card))
        found.append(card)
        text = text.removeprefix(card)
    return found


def test_last_chance_once_a_game():
    position = parse("1.1 play 01 0 r3g5p2b6 - 0:in:r12b12:-,0:in:r3b6:-", hand_size=2)
    position = play(
        position, {0: "last_chance", 1: "r3"}, {0: "more", 1: "more"}, dice=dice("r1g1p1b1")
    )
    assert moves(position, 0) == {"crash"}
    assert moves(position, 1) == {"crash", "last_chance"}
    final = play(position, {0: "crash", 1: "crash"}, **deal_of("r12b12 r3g3", "r1g1p1b1"))
    assert final.record["round"] == 2
    assert moves(final, 0) == {"crash"}


def test_choices_are_revealed_together():
    position = parse("1.1 play 01 0 r3g5p2b6 - 0:in:r3r4:-,0:in:g5g12:-", hand_size=2)
    rules, state = position.codec.rules, position.state
    noted = rules.apply_move(state, 0, position.find_move("r3", 0).code)
    assert rules.seats_to_act(noted) == (1,)
    assert rules.unpack(noted)["played"] == [0, 0]
    seen = Position(position.codec, rules.observe_state(noted, 1))
    assert body(seen).split()[6] == "0:in:??:-:chose@?,0:in:g5g12:-"
    assert rules.legal_moves(seen.state, 1) == [CARDS.index("g5")]


def test_token_passes_every_turn():
    position = parse("1.1 play 01 1 r3g5p2b6 - 0:in:r3r4:-,0:in:g5g12:-", hand_size=2)
    position = play(position, {0: "r3", 1: "g5"})
    assert position.record["token"] == 0
    position = play(position, {0: "more", 1: "stop"}, dice=dice("r6g6p6b6"))
    position = play(position, {0: "last_chance"})
    assert position.record["token"] == 1


def test_round_ends_when_everybody_crashed():
    line = "1.1 play 01 0 r1g1p1b1 - 3:in:r12r11:-:used,4:in:g12g11:-:used"
    position = play(parse(line, hand_size=2), {0: "crash", 1: "crash"}, **deal_of("r1r2 g1g2"))
    assert body(position) == (
        "2.1 play 01 1 r3g5p2b6 - 3:in:r1r2:-:used,4:in:g1g2:-:used hand_size=2"
    )


def test_sequential_choices_are_public_at_once():
    line = "1.1 play 01 1 r3g5p2b6 - 0:in:r3r4:-,0:in:g5g12:-"
    position = parse(line, hand_size=2, mode="sequential")
    assert position.seats_to_act == (1,)
    position = play(position, "g5")
    assert position.record["seats"][1]["played"] == ["g5"]
    assert position.seats_to_act == (0,)
    position = play(position, "r3")
    assert position.seats_to_act == (0,)
    position = play(position, "stop")
    assert position.record["seats"][0]["status"] == 2
    assert position.seats_to_act == (1,)


# Grand Slam and the end


def test_grand_slams_at_one_reveal_win_jointly():
    line = "3.2 play 012 0 r1g5p2b6 - 9:in:r1:r7,3:in:g5:g4,39:in:b6p12:b7"
    position = parse(line.replace("39:in:b6p12:b7", "39:in:b6:b7"), hand_size=2)
    final = play(position, {0: "r1", 1: "g5", 2: "b6"})
    assert final.win_shares == pytest.approx((1 / 3, 1 / 3, 1 / 3))
    assert final.scores == (9, 3, 39)


def test_grand_slam_comes_before_extra_plays():
    line = "1.3 play 01 0 r1g1p2b6 - 0:in:r1:r7r2,0:in:g1g2:g12:used"
    final = play(parse(line, hand_size=3), {0: "r1", 1: "g1"})
    assert final.win_shares == (1, 0)


def test_sequential_grand_slam_wins_alone():
    line = "1.2 play 01 1 r1g5p2b6 - 0:in:r1:r7,0:in:g5:g12"
    final = play(parse(line, hand_size=2, mode="sequential"), "g5")
    assert final.win_shares == (0, 1)


def test_grand_slam_by_an_extra_play():
    line = "1.2 play 01 0 r1g5p2b6 - 0:in:r1r3:r7,0:in:g5g7:g12"
    position = play(parse(line, hand_size=3), {0: "r1", 1: "g5"})
    final = play(position, "r3")
    assert final.win_shares == (1, 0)


def test_highest_score_wins_and_ties_share():
    line = "1.1 stop 01 1 rgpb - 39:in:r1r2:r3,37:in:g1g2:g12"
    assert play(parse(line, hand_size=3), {0: "stop", 1: "stop"}).win_shares == (0, 1)
    tied = parse("1.1 stop 01 1 rgpb - 39:in:r1r2:r10,36:in:g1g2:g12", hand_size=3)
    final = play(tied, {0: "stop", 1: "stop"})
    assert final.scores == (41, 41)
    assert final.win_shares == (0.5, 0.5)


def test_crashed_seats_bank_nothing():
    line = "1.2 play 0 1 r1g1p1b1 - 39:in:r12:r4:used,3:stopped:g2:g12"
    position = play(parse(line, hand_size=2), "crash", **deal_of("r1r2 g1g2"))
    assert position.scores == (39, 8)


def test_max_rounds():
    position = parse("2.1 stop 01 1 rgpb - 2:in:r1:r3,1:in:g1:g3", hand_size=2, max_rounds=2)
    final = play(position, {0: "stop", 1: "stop"})
    assert final.win_shares == (1, 0)
    assert final.scores == (4, 3)


# Powers


def test_extra_play_by_the_same_dice():
    line = "1.1 play 01 0 r1g1p2b6 - 0:in:r1g1p2p9:-,0:in:b6g12g11r12:-"
    position = play(parse(line, hand_size=4), {0: "r1", 1: "b6"})
    assert position.seats_to_act == (0,)
    assert moves(position, 0) == {"pass", "g1", "p2"}
    position = play(position, "g1")
    assert moves(position, 0) == {"pass", "p2"}
    position = play(position, "p2")
    assert body(position).startswith("1.1 powers 0 0")


def test_extra_play_without_a_valid_card_is_a_pass():
    line = "1.1 play 01 0 r1g5p5b5 - 0:in:r1r12p12:-,0:in:b5g12g11:-"
    position = play(parse(line, hand_size=3), {0: "r1", 1: "b5"})
    assert moves(position, 0) == {"pass"}
    assert body(play(position, "pass")).startswith("1.1 stop 01 1")


def test_sequential_extra_play_is_completed_inside_the_turn():
    line = "1.1 play 01 0 r1g1p2b6 - 0:in:r1g1p2:-,0:in:b6g12g11:-"
    position = play(parse(line, hand_size=3, mode="sequential"), "r1")
    assert body(position).startswith("1.1 extra 0+1 0")
    position = play(position, "pass")
    assert position.seats_to_act == (1,)


def test_powers_go_clockwise_from_the_token():
    line = (
        "1.1 powers 012 2 r2g2p2b2 -"
        " 0:in:r3r4:r2:power@r2,0:in:g3g4:g11:power@g11,0:in:p3p4:p10:power@p10"
    )
    position = parse(line, hand_size=3)
    assert position.seats_to_act == (2,)
    position = play(position, "pass")
    assert position.seats_to_act == (0,)
    position = play(position, "use")
    assert body(position).split()[6].startswith("0:in:r3r4:r2:reserves@r,")
    position = play(position, "use")
    assert body(position).startswith("1.1 stop 012 0 rgpb+* - 0:in:r3r4:r2:reserved@r,")
    position = play(position, dict.fromkeys(range(3), "more"), dice=dice("r1g1p1b1*1"))
    assert not position.record["golden_next"]


def test_several_golden_dice_are_one():
    line = "1.1 powers 01 0 r2g2p2b2 - 0:in:r3:r11:power@r11,0:in:g3:g11:power@g11"
    position = play(parse(line, hand_size=2), "use", "use", {0: "more", 1: "more"})
    assert sum(die["colour"] == "*" for die in position.record["dice"]) == 1


def test_stopping_drops_reservation_and_nine_but_not_the_golden_die():
    line = "1.1 stop 012 0 rgpb+* - 0:in:r3:r2:reserved@r,0:in:g3:g9:power@g9,0:in:p3:p11"
    position = parse(line, hand_size=2)
    position = play(position, {0: "stop", 1: "stop", 2: "more"}, dice=dice("r3g1p1b1*2"))
    assert body(position).split()[:5] == ["1.2", "play", "2", "0", "r3g1p1b1*2"]
    assert "reserved" not in position.notation
    assert "power" not in position.notation
    assert moves(position, 2) == {"p3"}


def test_nines_turn_dice_in_order():
    line = "1.2 nines 01 1 r1g6p3b4 - 0:in:r3r4:r9:power@r9,0:in:g3g4:g9:power@g9"
    position = parse(line, hand_size=3)
    assert position.seats_to_act == (1,)
    assert moves(position, 1) == {"pass", *(f"{die}{sign}1" for die in "rgpb" for sign in "+-")}
    position = play(position, "r-1")
    assert moves(position, 0) == {"pass", *(f"{die}{sign}1" for die in "gpb" for sign in "+-")}
    position = play(position, "g+1")
    assert body(position).startswith("1.2 play 01 1 r6!g1!p3b4 - ")


def test_nines_may_turn_golden_and_reserved_dice():
    line = "1.2 nines 0 1 r1g6p3b4*2 - 0:in:r3r4:r9:power@r9,0:in:g3g4:b2:reserved@b,0:in:p8p4:p11"
    position = parse(line, hand_size=3)
    assert {"*+1", "b-1"} <= moves(position, 0)


def test_swap():
    line = "1.1 powers 0 0 r2g2p2b2 - 0:in:r3r4:r10:power@r10,0:in:g3g4:g8,0:in:p4:p8p1"
    position = parse(line, hand_size=3)
    assert moves(position, 0) == {"pass", "swap:1:r3,r4"}
    after = play(position, "swap:1:r4,r3", drawn=["g4", "g3"])
    assert body(after).split()[5:7] == [
        "0>1:r3r4/g3g4",
        "0:in:g3g4:r10,0:in:r3r4:g8,0:in:p4:p1p8",
    ]
    # The third seat sees only that a swap took place.
    seen = body(after.observe(2)).split()[5:7]
    assert seen == ["0>1", "0:in:??:r10,0:in:??:g8,0:in:p4:p1p8"]
    assert body(after.observe(1)).split()[5:7] == [
        "0>1:r3r4/g3g4",
        "0:in:g3g4:r10,0:in:r3r4:g8,0:in:?:p1p8",
    ]


def test_swapped_ten_gives_no_power():
    line = "1.1 powers 0 0 r2g2p2b2 - 0:in:r3r4:r10:power@r10,0:in:b10g4:g8"
    after = play(parse(line, hand_size=3), "swap:1:r3,r4", drawn=["b10", "g4"])
    assert body(after).startswith("1.1 stop 01 1 ")


def test_swap_needs_two_cards():
    alone = parse("1.1 powers 0 0 r2g2p2b2 - 0:in:r4:r10:power@r10,0:in:g3:g8", hand_size=2)
    assert moves(alone, 0) == {"pass"}


def test_redraw_when_alone():
    line = "1.1 powers 0 0 r2g2p2b2 - 0:in:r3r4:r10:power@r10,0:crashed:g3g4:g8"
    position = parse(line, hand_size=3)
    assert moves(position, 0) == {"pass", "redraw:r3,r4"}
    after = play(position, "redraw:r3,r4", drawn=["p1", "b12"])
    seen = body(after).split()[5:7]
    assert seen == ["0>d:r3r4/p1b12", "0:in:p1b12:r10,0:crashed:g3g4:g8"]
    assert after.record["discard"] == {"cards": ["r3", "r4"]}
    assert after.record["pile_size"] == 48 - 6 - 2
    assert body(after.observe(1)).split()[5] == "0>d"
    assert after.observe(1).record["discard"] == {"cards": [], "hidden_count": 2}


def test_redraw_needs_two_cards_in_the_pile():
    rest = ["".join(f"{colour}{value}" for value in range(1, 12)) for colour in "gpb"]
    position = parse(
        f"1.1 powers 0 0 r2g2p2b2 - 0:in:r1r2r3r4r5r6r7r8r9r11r12:r10:power@r10,"
        f"0:crashed:{rest[0]}:g12,0:crashed:{rest[1]}:p12,0:crashed:{rest[2]}:b12",
        hand_size=12,
        max_same_colour_in_hand="null",
    )
    assert moves(position, 0) == {"pass"}


def test_redraw_of_the_last_cards():
    """With hands of 15 the pile has three cards, and after a redraw one."""
    hands = [f"{c}1{c}2{c}3{c}4{c}5{c}6{c}7{c}8{c}9{c}11{c}12" for c in "rg"]
    line = (
        "1.4 powers 0 0 r2g2p2b2 {exchanges} "
        f"0:in:{hands[0]}:p10p5p6{{later}}r10:power@r10,"
        f"0:crashed:{hands[1]}:g10b4b5b6,0:crashed:{'?' * 11}:b9b10b11b12"
    )
    full = {"hand_size": 15, "max_same_colour_in_hand": "null"}
    before = parse(line.format(exchanges="-", later=""), **full)
    assert len(moves(before, 0)) == 1 + 11 * 10 // 2
    after = parse(line.format(exchanges="0>d:p4p7/r1r2", later="/"), **full)
    assert moves(after, 0) == {"pass"}


def test_powers_after_stop():
    """They follow the new Start token, only seats still in use them, for the coming roll."""
    line = "1.1 play 01 0 r2g2p2b2 - 0:in:r2r4:-,0:in:g2g4:-"
    position = parse(line, hand_size=2, preroll_powers="after_stop")
    position = play(position, {0: "r2", 1: "g2"})
    assert body(position).startswith("1.1 stop 01 1 rgpb ")
    stopped = play(position, {0: "stop", 1: "more"})
    assert stopped.seats_to_act == (1,)
    position = play(position, {0: "more", 1: "more"})
    assert position.seats_to_act == (1,)
    position = play(position, "use", "use", dice=dice("r4g4p1b1"))
    assert body(position).split()[6] == "0:in:r4:r2:reserved@r,0:in:g4:g2:reserved@g"
    assert moves(position, 0) == {"r4"}


def test_without_powers():
    line = "1.1 play 01 0 r1g2p2b6 - 0:in:r1r4:-,0:in:g2g4:-"
    position = play(parse(line, hand_size=2, powers=False), {0: "r1", 1: "g2"})
    assert body(position).startswith("1.1 stop 01 1")


# Chance


def test_removed_colour():
    colours = Counter()
    for seed in range(200):
        position = Position.create("riviera", seed=seed)
        colours[body(position).split()[4][::2]] += 1
    assert len(colours) == 5
    named = Position.create("riviera", {"removed_colour": "purple"}, seed=1)
    assert body(named).split()[4][::2] == "rgbo"
    assert len(Position.create("riviera", {"players": 5}, seed=1).record["dice"]) == 5


def test_start_token():
    tokens = Counter(
        Position.create("riviera", {"players": 3}, seed=seed).record["token"] for seed in range(300)
    )
    assert stats.chisquare([tokens[seat] for seat in range(3)]).pvalue > UNLIKELY
    assert Position.create("riviera", seed=1, start_seat=1).record["token"] == 1


def test_deals_are_uniform_among_acceptable_ones():
    """How often a hand's largest colour has so many cards, against counting."""
    rules = Riviera(hand_size=3, max_same_colour_in_hand=2, removed_colour="red")
    seen = Counter()
    for seed in range(4000):
        (hand, _) = rules.unpack(rules.new_game(seed))["hands"]
        seen[max((hand >> 12 * c & 4095).bit_count() for c in range(5))] += 1
    # 4 colours: three different ones, or a pair and one; the second hand hardly matters.
    ones, twos = 4 * 12**3, 4 * 66 * 36
    expected = [4000 * ones / (ones + twos), 4000 * twos / (ones + twos)]
    assert set(seen) == {1, 2}
    assert stats.chisquare([seen[1], seen[2]], expected).pvalue > UNLIKELY


@pytest.mark.parametrize("reroll", [True, False])
def test_rerolls_of_the_first_roll(reroll):
    """If a roll leaves somebody without a valid card with probability p, the last does with p^3."""
    rules = Riviera(hand_size=1, removed_colour="red", reroll_first_roll=reroll)
    masks = [valid_mask([0, *values, 0]) for values in product(range(1, 7), repeat=4)]
    # By card, the rolls for which it is valid, as bits.
    rolls = [
        sum(1 << number for number, mask in enumerate(masks) if mask >> card & 1)
        for card in range(len(CARDS))
    ]
    excess = variance = 0
    for seed in range(1500):
        fields = rules.unpack(rules.new_game(seed))
        hands = fields["hands"]
        lucky = rolls[hands[0].bit_length() - 1] & rolls[hands[1].bit_length() - 1]
        unlucky = 1 - lucky.bit_count() / len(masks)
        if reroll:
            unlucky **= 3
        shown = valid_mask(fields["dice"])
        excess += (not all(hand & shown for hand in hands)) - unlucky
        variance += unlucky * (1 - unlucky)
    assert abs(excess) < 4 * variance**0.5


def test_swaps_are_uniform():
    line = "1.1 powers 0 0 r2g2p2b2 - 0:in:r3r4:r10:power@r10,0:in:g3g4g5:-:used"
    position = parse(line, hand_size=3)
    swap = {0: position.find_move("swap:1:r3,r4")}
    drawn = Counter(
        tuple(position.apply(swap, seed=seed)[0].record["hands"][0]["cards"]) for seed in range(600)
    )
    assert len(drawn) == 3
    assert stats.chisquare(list(drawn.values())).pvalue > UNLIKELY


# Against the reference


def follow(after, seat=None, before=None):
    """Chance of the reference, as it came out in the compiled code."""

    def chance(kind, known):
        if kind == "roll":
            return [die["value"] for die in after["dice"]]
        if kind == "deal":
            return [hand["cards"] for hand in after["hands"]]
        return [c for c in after["hands"][seat]["cards"] if c not in before["hands"][seat]["cards"]]

    return chance


@settings(max_examples=40, deadline=None)
@given(options=OPTIONS, seed=st.integers(0, 2**32), greedy=st.booleans())
def test_against_reference(options, seed, greedy):
    """Everything alike: moves, states, what seats see, the result; `greedy` avoids stopping."""
    bound = codec("riviera", options)
    full = bound.options
    chooser = random.Random(seed)
    position = Position.create("riviera", options, seed)
    while not position.finished:
        record = position.record
        assert list(position.seats_to_act) == reference.actors(record, full)
        chosen = {}
        for seat in position.seats_to_act:
            listed = reference.legal_moves(record, seat, full)
            found = {bound.read_move(move) for move in listed}
            assert found == set(bound.rules.legal_moves(position.state, seat))
            chosen[seat] = chooser.choice(pick(listed, greedy))
        moves_found = {seat: position.find_move(move, seat) for seat, move in chosen.items()}
        after, _ = position.apply(moves_found, seed=chooser.getrandbits(64))
        told = after.record
        chance = follow(told, seat=next(iter(chosen)), before=record)
        assert told == reference.step(record, chosen, full, chance)
        for seat in range(position.seats):
            assert after.observe(seat).record == reference.observe(told, seat, full)
        position = after
    expected = reference.win_shares(position.record, full)
    assert position.win_shares == pytest.approx(list(map(float, expected)))


def pick(listed, greedy):
    """Moves that lead deep into a round, for rarer powers: no stops, no passes."""
    if not greedy:
        return listed
    return [move for move in listed if not {"stop", "pass_on", "crash"} & set(move)] or listed
