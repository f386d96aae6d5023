"""What the engine knows of ROYGBIV: against the reference, against the rules, and in play."""

import itertools
import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aleator.ext.games import roygbiv_evaluation as evaluation
from aleator.search import Engine, Limits, Position
from aleator.search.games import codec
from aleator.search.players import players_of
from tests.reference import roygbiv as reference
from tests.reference import roygbiv_evaluation as slow

seeds = st.integers(0, 2**32 - 1)


def after(plies, seed, players=2):
    """A position after so many plays; captures are likelier than at random."""
    position = Position.create("roygbiv", {"players": players}, seed)
    luck = random.Random(seed)
    greedy = players_of("roygbiv")["greedy"]
    for ply in range(plies):
        (seat,) = position.seats_to_act
        if luck.random() < 0.5:
            move = greedy(position, seat, luck)
        else:
            move = luck.choice(position.moves(seat))
        position, _ = position.apply({seat: move}, seed=seed + ply)
    return position


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 47), seeds)
def test_features_as_in_the_reference(plies, seed):
    position = after(plies, seed)
    for viewer in (None, 0, 1):
        assert evaluation.features(position.state, viewer) == pytest.approx(
            slow.features(position.record, viewer), abs=1e-5
        )


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 41), seeds)
def test_a_pending_draw_is_left_open(plies, seed):
    """The features before a draw are the mean of those after it, for all but the best captures."""
    position = after(plies, seed)
    rules = position.codec.rules
    (seat,) = position.seats_to_act
    state = rules.apply_move(position.state, seat, rules.legal_moves(position.state, seat)[0])
    bag = reference.unseen(position.record)
    drawn = [
        [count / bag.total() * x for x in evaluation.features(rules.draw(state, value))]
        for value, count in bag.items()
    ]
    mean = [sum(column) for column in zip(*drawn, strict=True)]
    before = evaluation.features(state)
    others = [*range(72), 74, *range(77, 83), *range(85, 88)]
    if bag.total() > 1:  # otherwise nothing is unseen after the draw
        others += [83, 84]
    assert [before[i] for i in others] == pytest.approx([mean[i] for i in others], abs=1e-5)
    # The die to be drawn is the only one that is not known.
    assert before[75:77] == pytest.approx([0, 1 / 3])
    assert before[73] == pytest.approx(mean[73], abs=1e-5)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 47), seeds)
def test_positions_that_the_rules_cannot_tell_apart_are_worth_the_same(plies, seed):
    position = after(plies, seed)
    rules = position.codec.rules
    shares, scores = rules.evaluate_state(position.state, 1)
    assert sum(shares) == pytest.approx(1)
    assert all(0 <= share <= 1 for share in shares)
    priors = dict(zip(legal_records(position), priors_of(position), strict=True))
    for state, seats, changed in reference.symmetries(position.record, position.options):
        other = Position.from_record("roygbiv", position.options, state)
        other_shares, other_scores = rules.evaluate_state(other.state, 1)
        assert [other_shares[seat] for seat in seats] == pytest.approx(shares, abs=1e-4)
        assert [other_scores[seat] for seat in seats] == pytest.approx(scores, abs=1e-2)
        other_priors = dict(zip(legal_records(other), priors_of(other), strict=True))
        for move, prior in priors.items():
            assert other_priors[freeze(changed(dict(move)))] == pytest.approx(prior, abs=1e-4)


def freeze(record):
    return tuple(sorted(record.items()))


def legal_records(position):
    (seat,) = position.seats_to_act
    codes = position.codec.rules.legal_moves(position.state, seat)
    return [freeze(position.codec.write_move(code)) for code in codes]


def priors_of(position):
    (seat,) = position.seats_to_act
    return position.codec.rules.move_priors(position.state, seat)


@settings(max_examples=30, deadline=None)
@given(st.sampled_from((2, 3, 4, 6)), st.integers(0, 47), seeds)
def test_priors_look_only_at_what_the_seat_knows(players, plies, seed):
    position = after(plies, seed, players)
    rules = position.codec.rules
    (seat,) = position.seats_to_act
    drawn = [rules.determinization(position.state, seat, luck) for luck in range(3)]
    priors = [rules.move_priors(state, seat) for state in drawn]
    assert len(priors[0]) == len(rules.legal_moves(position.state, seat))
    assert priors[1] == priors[0]
    assert priors[2] == priors[0]


@pytest.mark.parametrize("plies", [0, 1, 20, 33, 40, 42])
def test_hands_of_dice_that_players_keep_are_likelier(plies):
    """One die of the other's hand, whichever, is as drawn; the others have their weights."""
    position = after(plies, 7)
    (seat,) = position.seats_to_act
    rules = position.codec.rules
    plain = rules.enumerate_determinizations(position.state, seat)
    weighed = rules.enumerate_determinizations(position.state, seat, knowledge=True)
    hands = [rules.unpack(world)["hands"][1 - seat] for _, world in plain]
    assert [world for _, world in weighed] == [world for _, world in plain]
    factors = [1.0] * len(hands)
    if 0 < plies < 42:
        weights = dict(zip(range(1, 8), evaluation.weights()["keeping"][48 - plies], strict=True))
        assert max(weights.values()) > 1.3 * min(weights.values()) > 0
        factors = [
            sum(math.prod(weights[die] for die in kept) for kept in itertools.combinations(hand, 2))
            for hand in hands
        ]
    chances = [chance for chance, _ in plain]
    mean = sum(chance * factor for chance, factor in zip(chances, factors, strict=True))
    # A tenth of them is not swayed, whatever players keep.
    assert [chance for chance, _ in weighed] == pytest.approx(
        [c * (0.1 + 0.9 * factor / mean) for c, factor in zip(chances, factors, strict=True)]
    )


@settings(max_examples=20, deadline=None)
@given(st.integers(44, 47), seeds)
def test_the_last_plays_are_solved(plies, seed):
    position = after(plies, seed)
    shares, scores = position.codec.rules.evaluate_state(position.state, 1)
    expected = slow.best_ending(position.record, position.options)
    assert scores[0] - scores[1] == expected[0] - expected[1]
    assert sum(scores) >= sum(position.scores)
    sure = 0.5 if scores[0] == scores[1] else float(scores[0] > scores[1])
    assert shares[0] == pytest.approx(sure, abs=0.04)


@settings(max_examples=10, deadline=None)
@given(st.sampled_from((3, 4, 6)), st.integers(0, 40), seeds)
def test_playouts_of_more_seats_are_whole_games(players, plies, seed):
    position = after(plies, seed, players)
    rules = position.codec.rules
    results = [rules.evaluate_state(position.state, luck) for luck in range(20)]
    for shares, scores in results:
        assert sum(shares) == pytest.approx(1, abs=1e-5)
        assert all(new >= old for new, old in zip(scores, position.scores, strict=True))
        best = max(range(players), key=scores.__getitem__)
        assert shares[best] == max(shares)
    assert len({scores for _, scores in results}) > 1


def test_weights_can_be_replaced_and_restored():
    before = evaluation.weights()
    position = after(10, 1)
    rules = position.codec.rules
    usual = rules.evaluate_state(position.state, 1)
    nothing = {
        "inner": [[0.0] * len(row) for row in before["inner"]],
        "inner_bias": [0.0] * len(before["inner_bias"]),
        "outer": [[0.0] * len(row) for row in before["outer"]],
        "outer_bias": [0.5, 0.0],
        "scales": [10.0] * len(before["scales"]),
        "keeping": before["keeping"],
    }
    evaluation.use_weights(nothing)
    try:
        _, scores = rules.evaluate_state(position.state, 1)
        (seat,) = position.seats_to_act
        gains = [new - old for new, old in zip(scores, position.scores, strict=True)]
        assert gains[seat] == pytest.approx(10)  # half of the unit, 20 points
        assert gains[1 - seat] == pytest.approx(0)
    finally:
        evaluation.use_weights(before)
    assert rules.evaluate_state(position.state, 1) == usual


def test_features_are_for_two_seats():
    with pytest.raises(ValueError, match="two seats"):
        evaluation.features(Position.create("roygbiv", {"players": 3}, 1).state)


@pytest.mark.parametrize(
    ("notation", "best", "tempting"),
    [
        # The 7 would bring 21 points now, and seat 1 the win by one. The 3, put where nobody gains
        # much, brings nothing, but the 7 then goes where seat 1 did not: won by two.
        (
            "5777777/.777777/.777776/7777777/5777776/5777777/.777776 7667776 37,2 115,139 0",
            "3@a2",
            21,
        ),
        (
            "7777777/.65.564/5557.77/2777777/7477777/7777777/7576567 7677766 27,6 87,107 0",
            "2@e3",
            33,
        ),
    ],
)
def test_finds_the_one_play_that_wins(notation, best, tempting):
    """Endings that the search wins, and that the most points at once throw away."""
    position = Position.parse(f"roygbiv {notation}")
    options = position.options
    state = position.record
    margins = {}
    points = {}
    for move in reference.legal_moves(state):
        ((_, following),) = reference.successors(state, move, options)
        ending = slow.best_ending(following, options)
        name = position.find_move(move).notation
        margins[name] = ending[0] - ending[1]
        points[name] = following["scores"][0] - state["scores"][0]
    assert [name for name, margin in margins.items() if margin > 0] == [best]
    assert max(points.values()) == tempting
    for seed in range(5):
        analysis = Engine().suggest(position, limits=Limits(simulations=200), seed=seed)
        assert analysis.best_move.notation == best


def played(start, trace):
    """A game of self-play."""
    samples = {
        "features": np.zeros((48, len(evaluation.weights()["inner"])), np.float32),
        "gains": np.zeros((48, 2), np.float32),
        "margins": np.zeros(48, np.float32),
        "empty": np.zeros(48, np.int32),
        "forms": np.zeros(48, np.int32),
    }
    evaluation.self_play(start, 2, noise=1, random_moves=0.1, trace=trace, **samples)
    return samples


def test_self_play_notes_whole_games():
    """What is learned from: the gains of both seats add up to a game, whatever the form."""
    rules = codec("roygbiv").rules
    start = rules.new_game(1)
    samples = played(start, trace=1)
    forms, gains = samples["forms"], samples["gains"]
    assert set(forms) == {0, 1, 2}
    assert forms[47] < 2
    assert list(samples["empty"]) == [48 - row - (forms[row] == 2) for row in range(48)]
    # The final margin, as the seat that starts sees it, is the same from every position.
    ends = samples["margins"] + gains[:, 0] - gains[:, 1]
    sign = (-1) ** (np.arange(48) + (forms == 2))
    assert set(ends * sign) == {ends[0] * sign[0]}
    # Nobody's gains to come grow, and the first position has them all.
    mine = np.where(sign == sign[0], gains[:, 0], gains[:, 1])
    assert all(np.diff(mine) <= 0)
    assert gains[0].sum() > 100
    first = evaluation.features(start, None if forms[0] == 0 else rules.seats_to_act(start)[0])
    assert forms[0] == 2 or samples["features"][0] == pytest.approx(first)


def test_self_play_mixes_predictions_with_the_end():
    start = codec("roygbiv").rules.new_game(3)
    ends = {}
    for trace in (0, 0.25, 1):
        samples = played(start, trace)
        sign = (-1) ** (np.arange(48) + (samples["forms"] == 2))
        ends[trace] = sign * (samples["margins"] + samples["gains"] @ [1, -1])
    assert ends[0.25][47] == ends[1][47]
    mixed = 0.25 * ends[0.25][1:] + 0.75 * ends[0][:-1]
    assert ends[0.25][:-1] == pytest.approx(mixed, abs=1e-3)
    assert len(set(np.round(ends[0], 3))) > 30  # a prediction for each position


def test_self_play_refuses_what_it_cannot_use():
    arrays = {
        "features": np.zeros((47, 88), np.float32),
        "gains": np.zeros((48, 2), np.float32),
        "margins": np.zeros(48, np.float32),
        "empty": np.zeros(48, np.int32),
        "forms": np.zeros(48, np.int32),
    }
    with pytest.raises(ValueError, match="too small"):
        evaluation.self_play(
            codec("roygbiv").rules.new_game(1), 1, noise=1, random_moves=0, trace=1, **arrays
        )
    with pytest.raises(ValueError, match="two seats"):
        evaluation.self_play(
            codec("roygbiv", {"players": 3}).rules.new_game(1),
            1,
            noise=1,
            random_moves=0,
            trace=1,
            **arrays,
        )
