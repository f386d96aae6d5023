"""Ratings and the sequential test, on games whose truth is known."""

import math

import numpy as np
import pytest

from aleator.search.errors import InvalidInput
from aleator.search.ratings import SequentialTest, expected_share, rate


def simulated_sets(rng, elos, sets):
    """Sets of pairs, each of two players with two games whose results hang together."""
    played = []
    for first in range(len(elos)):
        for second in range(first):
            chance = expected_share(elos[first] - elos[second], 2)
            for _ in range(sets):
                luck = rng.random()
                wins = (luck < chance) + ((luck + 0.3 * rng.random()) % 1 < chance)
                counts = np.zeros((len(elos), len(elos)))
                counts[first, second], counts[second, first] = wins, 2 - wins
                played.append(counts)
    return played


def test_intervals_hold_the_truth_about_as_often_as_they_say():
    rng = np.random.default_rng(1)
    elos = [150, -50, 0]
    held = 0
    for _ in range(200):
        ratings = rate(simulated_sets(rng, elos, 30), anchor=2)
        assert ratings[2].elo == 0
        assert ratings[2].interval == (0, 0)
        for elo, rating in zip(elos[:2], ratings[:2], strict=True):
            held += rating.interval[0] <= elo <= rating.interval[1]
    assert 0.92 < held / 400 < 0.99


def test_many_games_find_the_ratings_also_at_a_table_of_three():
    rng = np.random.default_rng(2)
    elos = np.array([120, 0, -80])
    strengths = 10 ** (elos / 400)
    sets = []
    for winner in rng.choice(3, size=4000, p=strengths / strengths.sum()):
        counts = np.zeros((3, 3))
        counts[winner] = 1
        counts[winner, winner] = 0
        sets.append(counts)
    assert [rating.elo for rating in rate(sets, anchor=1)] == pytest.approx(elos, abs=20)


def test_who_always_won_has_a_rating_with_an_end():
    counts = np.array([[0, 2], [0, 0]])
    (rating, _) = rate([counts] * 20, anchor=1)
    # 40 of 40 games in 20 sets; the exact bound of 20 successes is a share of 0.83.
    assert 100 < rating.interval[0] < 400 < rating.elo
    (rating, _) = rate([counts], anchor=1)
    assert rating.interval[0] < 0


@pytest.mark.parametrize(("elo", "accepted"), [(0, 0), (40, 40)])
def test_a_sequential_test_is_seldom_wrong(elo, accepted):
    rng = np.random.default_rng(3)
    test = SequentialTest(0, 40, seats=2)
    wrong = 0
    for _ in range(60):
        shares: list[float] = []
        decided = None
        while decided is None:
            shares.extend(rng.binomial(2, expected_share(elo, 2), size=10) / 2)
            decided = test.decide(shares)
        wrong += decided != accepted
    assert wrong <= 6


def test_the_hypotheses_must_be_two():
    for elo1 in (0, -5, math.inf, math.nan):
        with pytest.raises(InvalidInput, match="elo1: must be above elo0"):
            SequentialTest(0, elo1, seats=2)


def test_expected_shares():
    assert expected_share(0, 4) == 0.25
    assert expected_share(400, 2) == pytest.approx(10 / 11)
