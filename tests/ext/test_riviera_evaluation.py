"""What Riviera's evaluation knows: exact chances, the rule-based player, policy and win shares."""

import random
from itertools import product
from statistics import fmean

import pytest

from aleator.ext.games.riviera import Riviera
from aleator.ext.games.riviera_weights import POLICIES
from aleator.search import Engine, Limits, Position
from aleator.search.players import players_of
from tests.reference import riviera as reference

CARDS = reference.CARDS
COLOURS = "rgpbo"
STARS = (2, 2, 2, 1, 1, 1, 1, 2, 2, 2, 3, 5)
OPTIONS = [
    {"players": players, "mode": mode, "preroll_powers": powers, "max_rounds": rounds}
    for players in (2, 3, 6)
    for mode in ("simultaneous", "sequential")
    for powers, rounds in (("before_stop", None), ("after_stop", 2))
]


def parse(line, **options):
    extra = "".join(f" {name}={value}" for name, value in options.items())
    return Position.parse(f"riviera {line}{extra}")


def mask(cards):
    return sum(1 << CARDS.index(card) for card in cards)


def brute_force(hand, colours, golden, nine):
    """The chance of no valid card, and the stars of the best one, over all rolls."""
    names = [*colours, *("*" if golden else "")]
    failed = gained = rolls = 0
    for faces in product(range(1, 7), repeat=len(names)):
        rolls += 1
        shown = [dict(zip(names, faces, strict=True))]
        if nine:
            shown += [
                shown[0] | {name: (face + step - 1) % 6 + 1}
                for name, face in shown[0].items()
                for step in (1, -1)
            ]
        stars = [
            STARS[reference.value(card) - 1]
            for dice in shown
            for card in hand
            if reference.is_valid(card, dice)
        ]
        failed += not stars
        gained += max(stars, default=0)
    return failed / rolls, gained / rolls


@pytest.mark.parametrize("golden", [False, True])
@pytest.mark.parametrize("nine", [False, True])
@pytest.mark.parametrize("colours", ["rgpb", "rgpbo", "rbo", "g", "po"])
def test_chances_are_those_of_all_rolls(colours, nine, golden):
    if len(colours) == 5 and (nine or golden):
        pytest.skip("too many rolls for the reference")
    luck = random.Random(f"{colours}{nine}{golden}")
    rules = Riviera(players=5)
    deck = [card for card in CARDS if card[0] in colours or luck.random() < 0.2]
    hand = luck.sample(deck, min(len(deck), 3))
    usable = sum(1 << COLOURS.index(colour) for colour in colours)
    found = rules.outlook(mask(hand), usable, golden, nine)
    assert found == pytest.approx(brute_force(hand, colours, golden, nine), abs=1e-5)


def test_one_card_is_valid_as_often_as_the_rules_say():
    rules = Riviera()
    told = (0.167, 0.237, 0.307, 0.377, 0.448, 0.518, 0.421, 0.351, 0.281, 0.211, 0.140, 0.070)
    for value, chance in enumerate(told, 1):
        fail, _ = rules.outlook(mask([f"g{value}"]), 0b1111)
        assert 1 - fail == pytest.approx(chance, abs=6e-4)


def test_a_hand_without_usable_dice_fails():
    assert Riviera().outlook(mask(["r1", "g6"]), 0) == (1, 0)


LOSES_BY_STOPPING = (
    "3.8 stop 0 0 rgpb - 1:in:r12g12:r1r2r3r8r9r10r11p12:used,39:stopped:??:g1g2g3g4g5g6g7g8"
)
RULES_MOVES = [
    # One card left: the twelve stars are not worth more than half a chance to win at once.
    ("1.9 stop 01 0 rgpb - 0:in:r6:r1r2r3r4r5r7r8r9r10,0:in:?:g1g2g3g4g5g6g7g8g9", 0, "more"),
    # A hand that can hardly fail.
    ("1.1 stop 01 0 rgpb - 0:in:r5r6g5g6p6b6b7b3g7:r12,0:in:?????????:g1", 0, "more"),
    # Much at stake, no Last Chance, and two cards that are hardly ever valid.
    (
        "1.8 stop 01 0 rgpb - 0:in:r12g12:r1r2r3r8r9r10r11p12:used,0:in:??:g1g2g3g4g5g6g7g8",
        0,
        "stop",
    ),
    # The same, but the other one has banked what wins.
    (LOSES_BY_STOPPING, 0, "more"),
    # To stop wins.
    ("3.1 stop 0 0 rgpb - 39:in:r5r6g5g6p6b6b7b3g7:r12,0:stopped:?????????:g1", 0, "stop"),
    # Five stars for a card that is hardly ever valid.
    ("1.1 play 01 0 r6g6p3b1 - 0:in:r6r12g1g2p1p2p9b2b3b7:-,0:in:??????????:-", 0, "r12"),
    # A Grand Slam.
    (
        "1.9 extra 0 0 r6g6p3b1 - 0:in:r6:r1r2r3r4r5r7r8r9r10,0:stopped:?????????:g1",
        0,
        "r6",
    ),
]


@pytest.mark.parametrize(("line", "seat", "move"), RULES_MOVES)
def test_rule_based_player(line, seat, move):
    position = parse(line)
    chosen = players_of("riviera")["rules"](position.observe(seat), seat, random.Random(0))
    assert chosen.notation == move


POLICY_MOVES = [
    # The green, or the purple die makes the red 12 valid, beside the red six.
    ("1.2 nines 0 1 r6g5p1b2 - 0:in:r12b7p4g2g3:r9:power@r9,0:in:?????:g8", {"g+1", "p-1"}),
    # Only so is any card valid: the other cards need what no single turn brings.
    ("1.2 nines 0 1 r1g4p6b6 - 0:in:g3p3:r9:power@r9,0:in:??:g8", {"g-1"}),
    # Two twelves are hardly ever valid; what is kept nearly always is.
    (
        "1.1 powers 0 0 r2g2p2b2 - 0:in:r12g12r6p6b5g5p7:r10:power@r10,0:in:???????:g8",
        {"swap:1:r12,g12"},
    ),
]


@pytest.mark.parametrize(("line", "moves"), POLICY_MOVES)
def test_the_policy_turns_and_gives_what_serves_the_hand(line, moves):
    hand = line.split(":")[2]
    position = parse(line, hand_size=sum(not sign.isdigit() for sign in hand) + 1)
    rules = position.codec.rules
    priors = rules.move_priors(rules.determinization(position.state, 0, 1), 0)
    legal = position.moves(0)
    assert legal[max(range(len(legal)), key=priors.__getitem__)].notation in moves


@pytest.fixture(scope="module", params=OPTIONS, ids=str)
def positions(request):
    """Positions of all phases, met in games that the policy plays, and some random moves."""
    luck = random.Random(str(request.param))
    found = []
    position = Position.create("riviera", request.param, seed=luck.getrandbits(60))
    while not position.finished and len(found) < 150:
        found.append(position)
        rules = position.codec.rules
        moves = {}
        for seat in position.seats_to_act:
            legal = position.moves(seat)
            priors = rules.move_priors(position.state, seat)
            best = max(range(len(legal)), key=priors.__getitem__)
            moves[seat] = luck.choice(legal) if luck.random() < 0.2 else legal[best]
        position, _ = position.apply(moves, seed=luck.getrandbits(60))
    return found


def test_priors_look_only_at_what_the_seat_knows(positions):
    for position in positions:
        rules = position.codec.rules
        for seat in position.seats_to_act:
            priors = rules.move_priors(position.state, seat)
            assert len(priors) == len(position.moves(seat))
            for seed in range(2):
                other = rules.determinization(position.observe(seat).state, seat, seed)
                assert priors == rules.move_priors(other, seat)


def test_evaluations_are_win_shares(positions):
    for position in positions[::5]:
        shares, scores = position.codec.rules.evaluate_state(position.state, 3)
        assert sum(shares) == pytest.approx(1, abs=1e-5)
        # Luck is taken out, so that a single share may lie outside of 0 to 1.
        assert all(-3 < share < 4 for share in shares)
        assert all(score >= now for score, now in zip(scores, position.scores, strict=True))


LUCK_LINES = [
    # A die may be turned; the golden die joins; a die is reserved.
    "2.2 stop 01 1 rgpb - 11:in:r4g2g8p12b1b3b7b9:r11r9:power@r9,8:in:p1p2p3p4b2b4b5b8:g1g6:used",
    "2.7 stop 01 0 rgpb+* - 17:in:r12g12p12:r9g3g4g5g6p6r11,8:in:p1p2p3:p4g1g2b1b2b3b4",
    "2.7 stop 01 0 rgpb - 17:in:r12g12p1:r11r9g3g4g5g6p6,8:in:p2b12p4:g1b1b2b3b4b5g2:reserved@g",
]


@pytest.mark.parametrize("line", LUCK_LINES)
def test_the_luck_of_all_rolls_makes_up_for_itself(line):
    position = parse(line)
    more = next(move for move in position.moves(0) if move.notation == "more")
    other = next(move for move in position.moves(1) if move.notation == "more")
    rules = position.codec.rules
    state = rules.apply_move(rules.apply_move(position.state, 0, more.code), 1, other.code)
    state = rules.settle(state)
    golden = (1, 2, 3, 4, 5, 6) if "+*" in line else (0,)
    lucks = [
        rules.luck_of_roll(rules.settle(state, (*dice, 0, last)))
        for dice in product(range(1, 7), repeat=4)
        for last in golden
    ]
    assert max(first for first, _ in lucks) > 0.001
    assert fmean(first for first, _ in lucks) == pytest.approx(0, abs=1e-5)
    assert all(first == pytest.approx(-second) for first, second in lucks)


def test_rule_based_player_plays_legal_moves_from_its_own_view(positions):
    player = players_of("riviera")["rules"]
    for position in positions:
        for seat in position.seats_to_act:
            move = player(position.observe(seat), seat, random.Random(0))
            assert move in position.moves(seat)


def test_a_lead_is_worth_more_than_to_be_behind():
    line = (
        "4.8 stop 0 0 rgpb - {}:in:r12g12:r1r2r3r8r9r10r11p12:used,20:stopped:??:g1g2g3g4g5g6g7g8"
    )
    worth = []
    for score in (0, 7, 14, 21):
        position = parse(line.format(score))
        state = position.codec.rules.determinization(position.state, 0, 5)
        seeds = range(200)
        shares = [position.codec.rules.evaluate_state(state, seed)[0][0] for seed in seeds]
        worth.append(fmean(shares))
    assert worth == sorted(worth)
    assert worth[0] < 0.4
    assert worth[3] > 0.9


@pytest.mark.parametrize("used", [0, 0b11])
def test_a_leader_does_not_bank_too_early_what_the_other_one_can_beat(used):
    ends = Riviera().play_rounds(POLICIES[2], (35, 30), used, 1000, seed=3)
    won = sum(count for (shares, then), count in ends.items() if then is None and shares[0] == 1)
    lost = sum(count for (shares, then), count in ends.items() if then is None and shares[0] == 0)
    assert won > 1.1 * lost


def test_the_table_of_win_shares_is_the_same_for_both_seats():
    table = POLICIES[2]["shares"]
    assert len(table) == 4
    for unused, other in ((0, 0), (1, 2), (3, 3)):
        for first, second in product(range(40), repeat=2):
            assert table[unused][first][second] + table[other][second][first] == (
                pytest.approx(1, abs=2e-4)
            )
    # By stars still needed, less one: nearer is better, but for noise, and so is a Last Chance.
    assert table[0][19][39] > table[0][29][39] + 0.05 > table[0][39][39] + 0.1
    assert table[1][39][39] > 0.55


@pytest.mark.parametrize(
    ("line", "move"),
    [
        # To stop wins the game, and to go on may lose it.
        ("3.1 stop 0 0 rgpb - 39:in:r5r6g5g6p6b6b7b3g7:r12,0:stopped:?????????:g1", "stop"),
        # To stop loses it, since the other one has banked 40.
        (LOSES_BY_STOPPING, "more"),
        # A crash would cost nothing yet, the Last Chance has no use in the last round.
        ("2.1 play 0 0 r1g1p1b1 - 0:in:r12g12:-,0:stopped:?:g9", "last_chance"),
    ],
)
def test_search_finds_what_is_right(line, move):
    options = {"hand_size": 2, "max_rounds": 2} if line.startswith("2.1") else {}
    found = Engine().suggest(parse(line, **options), 0, Limits(simulations=2000), seed=1)
    assert found.best_move.notation == move


def test_the_same_luck_for_all_games_of_a_seed():
    rules = Riviera(players=3)
    assert rules.run_policies([None] * 3, 3, 7) == rules.run_policies([None] * 3, 3, 7)
    (shares, rounds), *_ = rules.run_policies([None] * 3, 1, 8)
    assert sum(shares) == pytest.approx(1)
    assert all(len(scores) == 3 for scores, _ in rounds)
