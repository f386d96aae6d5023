"""What Generator's evaluation believes: the race against plain dynamic programming, and sense."""

import itertools
import json
import math
import random
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aleator.ext.games import generator_draws
from aleator.ext.games.generator import Generator
from aleator.ext.games.generator_network import SHAPE, get_weights, set_weights
from aleator.ext.games.generator_training import Trainer
from aleator.search import Engine, Limits, Position
from tests.reference import generator as reference

CLOSE = 0.02  # rolls: where value iteration ends
HOPELESS = 99


def standing(board, seat=0, **options):
    """(race, danger) of a seat."""
    extra = "".join(f" {name}={str(value).lower()}" for name, value in options.items())
    position = Position.parse(f"generator {board} 0 R 50{extra}")
    return position.codec.rules.standings(position.state)[seat]


@pytest.mark.parametrize(
    ("board", "expected"),
    [
        ("RG:L,YGG:M,BGRR:S/-", 4),  # only green is left
        ("RG:L,YGG:M,BGR:S/-", 4),
        ("RG:L,YGG:M,BR:S/-", 5),  # any way down, then green
        ("RG:L,YGG:M,B:S/-", 6),
        ("RG:L,YGG:M,G:S/-", 10),  # blue, two rolls of any colour, green
        ("R:L,YRR:M,BGGG:S/-", 8),  # green twice
        # The yellow tower cannot be taken and keeps green out of the branch of Y.
        ("RG:L,BGGG:S/Y:SL", HOPELESS),
    ],
)
def test_short_races(board, expected):
    assert standing(board)[0] == pytest.approx(expected, abs=CLOSE)


def test_ones_own_stacks_are_in_the_way():
    shut, open_, free = (standing(f"RG:L,YGGG:S,R:M{more}/-")[0] for more in (",B:S", ",BR:S", ""))
    assert open_ == free == pytest.approx(9, abs=CLOSE)  # blue, any way down, green
    assert open_ + 1 <= shut < HOPELESS


@pytest.mark.parametrize(
    ("board", "seat", "danger"),
    [
        # A quarter of what is lost, and of the roll that the captor gets again.
        ("RG:L/RR:M", 0, None),
        ("RG:SL/RR:S", 0, 0),  # topped by a small one
        ("RG:L/R:L", 0, 0),  # not by a large one
        ("RRG:M/RR:M", 0, 0),
        ("RRG:M/RR:S", 0, None),
        ("RRGG:S/RRG:S", 0, None),
        ("G:M/-", 0, 0),
        ("Y:M/-", 0, None),  # a small one may enter there
        ("RGG:M/RG:M", 0, 0),
    ],
)
def test_danger(board, seat, danger):
    race, found = standing(board, seat)
    if danger is None:
        lost = standing("-/" + board.split("/")[1], seat)[0]
        danger = (1 + lost - race) / 4
    assert found == pytest.approx(danger, abs=CLOSE)


OPTIONS = st.fixed_dictionaries(
    {
        "players": st.sampled_from([2, 3, 4]),
        "horizontal": st.sampled_from(["any_corner", "adjacent"]),
        "forced_move": st.booleans(),
        "sub_towers": st.booleans(),
        "enter_stacks": st.booleans(),
    }
)


@settings(deadline=None, max_examples=25)
@given(options=OPTIONS, seed=st.integers(0, 2**32))
def test_estimates_are_shares_and_look_at_the_move_made(options, seed):
    rng = random.Random(seed)
    position = Position.create("generator", options, seed=seed)
    rules = position.codec.rules
    for _ in range(25):
        (seat,) = position.seats_to_act
        shares, scores = rules.evaluate_state(position.state, 1)
        assert sum(shares) == pytest.approx(1, abs=1e-5)
        assert min(shares) >= 0
        assert scores == position.scores
        moves = position.moves()
        priors = rules.move_priors(position.state, seat)
        number = rng.randrange(len(moves))
        position, _ = position.apply({seat: moves[number]}, seed=rng.getrandbits(64))
        if position.finished:
            assert priors[number] == position.win_shares[seat]
            return
        # The die rolled since then does not change the estimate.
        after = rules.evaluate_state(position.state, 1)[0][seat]
        assert priors[number] == pytest.approx(after, abs=1e-6)


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 2**32))
def test_danger_is_what_the_next_roll_can_take(seed):
    """The danger is 0 exactly if no roll lets the opponent capture, by the rules."""
    rng = random.Random(seed)
    position = Position.create("generator", seed=seed)
    for _ in range(60):
        if position.finished:
            return
        (seat,) = position.seats_to_act
        rules = position.codec.rules
        pieces = rules.unpack(position.state)["stash"]
        taken = 0
        for rolled in range(4):
            fields = rules.unpack(position.state)
            del fields["stash"]
            rolled_state = rules.pack(**{**fields, "rolled": rolled})
            for move in rules.legal_moves(rolled_state, seat):
                after = rules.unpack(rules.apply_move(rolled_state, seat, move))["stash"]
                taken += sum(after[1 - seat]) > sum(pieces[1 - seat])
        danger = rules.standings(position.state)[1 - seat][1]
        assert (danger > 0) == (taken > 0)
        position, _ = position.apply({seat: rng.choice(position.moves())}, seed=rng.getrandbits(64))


@pytest.mark.parametrize("players", [2, 3, 4])
def test_seats_are_alike(players):
    """At the start nobody but the seat that rolls next is better off, and it little."""
    position = Position.create("generator", {"players": players}, seed=1, start_seat=0)
    shares, _ = position.codec.rules.evaluate_state(position.state, 1)
    assert shares[0] == max(shares) < 1 / players + 0.12


@pytest.mark.parametrize("seat", [0, 1])
def test_two_seats_opposite_each_other_are_alike(seat):
    """Turning the board by two colours exchanges green and yellow, red and blue."""
    boards = ["G:M,RG:L,RBR:S", "YR:M,B:SL,GYGG:S"]
    turned = [board.translate(str.maketrans("GRYB", "YBGR")) for board in reversed(boards)]
    shares = []
    for stacks, to_act in ((boards, seat), (turned, 1 - seat)):
        position = Position.parse(f"generator {'/'.join(stacks)} {to_act} R 50")
        shares.append(position.codec.rules.evaluate_state(position.state, 1)[0])
    assert shares[0] == pytest.approx(shares[1][::-1], abs=1e-5)


NO_DRAWS = {"late": -1e4, "later": 0, "sure": 0, "length": 1e-3, "shorter": 0}


@pytest.mark.parametrize("colours", [2, 4])
@pytest.mark.parametrize("rolls", [4, 40, 399])
def test_draws_are_allowed_for(colours, rolls):
    """What the text of the module says, written anew."""
    others = "/-" * (colours - 1)
    position = Position.parse(f"generator RG:L,YGG:M,G:S{others} 0 R {rolls} max_rolls=400")
    evaluate = position.codec.rules.evaluate_state
    weights = json.loads(files("aleator.ext.games").joinpath("generator_draws.json").read_text())
    told = evaluate(position.state, 1)[0]
    try:
        generator_draws.set_weights(NO_DRAWS)
        shares = evaluate(position.state, 1)[0]
    finally:
        generator_draws.set_weights(weights)
    made = rolls - 1  # the estimate is that before the roll
    logit = math.log(max(shares) / (1 - max(shares)))
    locked = 1 / (
        1
        + math.exp(
            weights["sure"] * logit - weights["late"] - weights["later"] * math.log(made + 1)
        )
    )
    used_up = math.exp(-(400 - made) / (weights["length"] * math.exp(-weights["shorter"] * logit)))
    draw = 1 - (1 - locked) * (1 - used_up)
    assert told == pytest.approx(
        [(1 - draw) * share + draw / colours for share in shares], abs=1e-5
    )


def test_draws_need_all_their_weights():
    with pytest.raises(ValueError, match="late, later, sure, length, shorter"):
        generator_draws.set_weights({"late": 1})


def test_weights_fit_the_evaluation():
    with pytest.raises(ValueError, match="of shape"):
        set_weights(np.zeros((SHAPE[0] - 1, SHAPE[1]), np.float32))


def test_what_it_learns_is_nearer_to_how_games_end():
    """From no knowledge at all, with few games: far from equal shares, and the right way."""
    rules = Generator(max_rolls=400)
    kept = np.frombuffer(get_weights(), np.float32).reshape(SHAPE).copy()
    try:
        begin = 0.1 * np.random.default_rng(1).standard_normal(SHAPE)
        set_weights(begin.astype(np.float32))
        trainer = Trainer(rules, 1)
        trainer.learn(200, 2e-3, 0.8, 0.998, 0.02, by_lead=True)
        shares, ends, *_ = (np.array(values) for values in trainer.judge(20))
        assert ((shares - ends) ** 2).mean() < 0.9 * ((0.5 - ends) ** 2).mean()
    finally:
        set_weights(kept)


@pytest.mark.parametrize(
    ("position", "best"),
    [
        # Yellow wins with its next yellow; only the capture prevents it for long.
        ("R:M,YG:L,G:S/RY:L,GRY:M,BRR:S 0 Y 60", "R-RY"),
        # On the start node of yellow, which has nothing left on the board, the tower ends the
        # game for yellow, though it is no closer to coupling there.
        ("G:SM,RG:L,B:M/- 0 Y 60", "G-Y"),
    ],
)
def test_what_a_search_finds(position, best):
    for seed in range(3):
        analysis = Engine().suggest(
            Position.parse(f"generator {position}"), limits=Limits(simulations=2000), seed=seed
        )
        assert analysis.best_move.notation == best


def test_a_search_is_worth_what_expectimax_says():
    """One move, the next roll, and the best reply: all of it, by the rules."""
    position = Position.parse("generator R:M,YG:L,G:S/RY:L,GRY:M,BR:S 0 Y 60")
    rules = position.codec.rules
    analysis = Engine(tuning={"depth": 2}).suggest(
        position, limits=Limits(simulations=5000), seed=1
    )
    expected = {}
    for move in position.moves():
        after = rules.apply_move(position.state, 0, move.code)
        total = 0
        for rolled in range(4):
            state = rules.roll(after, rolled)
            (seat,) = rules.seats_to_act(state)
            shares = [
                rules.evaluate_state(rules.apply_move(state, seat, reply), 1)[0]
                for reply in rules.legal_moves(state, seat)
            ]
            total += max(shares, key=lambda share, seat=seat: share[seat])[0]
        expected[move.notation] = total / 4
    assert analysis.best_move.notation == max(expected, key=expected.get)
    # The first simulation of a move says what it looks like at once.
    for candidate in analysis.candidates:
        if candidate.visits > 500:
            assert candidate.estimate.win_share[0] == pytest.approx(
                expected[candidate.move.notation], abs=0.002
            )


def plain_races(options, mediums, smalls):
    """Expected rolls to couple, by nodes of M and S, with L on RG; node by node.

    Plain value iteration with the rods of the reference. The two stay on the nodes given.
    """
    rods = {
        (node, rolled): reference.destinations(node, rolled, {**reference.DEFAULTS, **options})
        for node in {*mediums, *smalls}
        for rolled in reference.COLOURS
    }
    values = {}
    for places in itertools.product(mediums, smalls):
        board = {"RG": (0, "L"), places[0]: (0, "M"), places[1]: (0, "S")}
        won = places[0] != places[1] and reference.has_won(board, 0, "G")
        values[places] = 0 if won else HOPELESS
    change = HOPELESS
    while change > CLOSE / 100:
        change = 0
        for (medium, small), old in values.items():
            if not old:
                continue
            total = 0
            for rolled in reference.COLOURS:
                ends = [(end, small) for end in rods[medium, rolled] if end != small]
                ends += [(medium, end) for end in rods[small, rolled]]
                total += min([old, *(values[end] for end in ends if end in values)])
            values[medium, small] = min(old, 1 + total / 4)
            change = max(change, old - values[medium, small])
    return values


# With neighbouring corners only, climbing one level and coming down again is a shortcut, and the
# table does not know which colour opens it: it takes that of the branch.
ROUGHLY = 0.8


@pytest.mark.parametrize(("horizontal", "error"), [("any_corner", CLOSE), ("adjacent", ROUGHLY)])
def test_two_pieces_share_the_rolls(horizontal, error):
    """Each in a branch of its own, which it has no reason to leave."""
    mediums = [node for node in reference.NODES if node[0] == "Y" and len(node) <= 3]
    smalls = [node for node in reference.NODES if node[0] == "B"]
    races = plain_races({"horizontal": horizontal}, mediums, smalls)
    for (medium, small), expected in random.Random(1).sample(sorted(races.items()), 200):
        if expected:
            board = f"RG:L,{medium}:M,{small}:S/-"
            found = standing(board, horizontal=horizontal)[0]
            assert found == pytest.approx(expected, abs=error), board


@pytest.mark.parametrize(("horizontal", "error"), [("any_corner", CLOSE), ("adjacent", ROUGHLY)])
def test_a_piece_finds_its_branch(horizontal, error):
    """One small pyramid on level 1 or 2 anywhere, the others in place."""
    mediums = ["YGG"]
    races = plain_races({"horizontal": horizontal}, mediums, reference.NODES)
    for small in reference.NODES:
        # In the branches of the other two it may be those that move instead.
        if len(small) <= 2 and small[0] in "GB":
            found = standing(f"RG:L,YGG:M,{small}:S/-", horizontal=horizontal)[0]
            # A new one from the stash may be quicker.
            again = standing("RG:L,YGG:M/-", horizontal=horizontal)[0]
            expected = min(races["YGG", small], again)
            assert found == pytest.approx(expected, abs=error), small
