"""Choices that seats make at once and in secret: on games whose solution is known."""

import numpy as np
import pytest

from tests.ext.searches import grown
from tests.ext.small_games import compile_game

SIMULATIONS = 20_000

# What seat 0 has of the win, and with what chance each seat is to make its moves. Solved by hand:
# a mixed move of one seat is worth the same as its others, by the chances of the other seat.
UNEQUAL_PENNIES = ([[1, 0.25], [0, 0.75]], [[1 / 2, 1 / 2], [1 / 3, 2 / 3]])
# Stone blunts scissors for all of the win, other victories are worth three quarters.
DEAR_STONE = ([[0.5, 0.25, 1], [0.75, 0.5, 0.25], [0, 0.75, 0.5]], 2 * [[1 / 4, 1 / 2, 1 / 4]])
DOMINATED = ([[0.5, 0.8, 0.9], [0.2, 0.1, 0.8]], [[1, 0], [1, 0, 0]])


SOLVED = {
    "unequal pennies": UNEQUAL_PENNIES,
    "dear stone": DEAR_STONE,
    "dominated": DOMINATED,
}


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    """The games by name, made once.

    In the checked build the package's classes are of Python's stable interface and this one is
    not: each object of it that goes takes a reference too many from the class.
    """
    module = compile_game("matrix", tmp_path_factory.mktemp("matrix"))
    return {name: module.Matrix(shares) for name, (shares, _) in SOLVED.items()}


def searched(game, seat, **tuning):
    """The rows of the root's statistics, by move."""
    search = grown(game, game.new_game(1), seat, SIMULATIONS, knowledge=False, tuning=tuning)
    return sorted(search.root_statistics())


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("name", SOLVED)
def test_regret_matching_finds_the_mixed_strategy(games, name, seat):
    shares, solution = SOLVED[name]
    rows = searched(games[name], seat, mixed=True)
    strategy = np.array([row[6] for row in rows])
    strategy /= strategy.sum()
    assert strategy == pytest.approx(solution[seat], abs=0.06)
    # Whoever knows it gains next to nothing by that.
    own = np.array(shares) if seat == 0 else 1 - np.array(shares).T
    value = np.array(solution[seat]) @ own @ np.array(solution[1 - seat])
    assert (strategy @ own).min() > value - 0.02


@pytest.mark.parametrize("seat", [0, 1])
def test_decoupled_uct_finds_a_dominant_move(games, seat):
    rows = searched(games["dominated"], seat, mixed=False)
    move, visits, won, *_ = max(rows, key=lambda row: row[1])
    assert move == 0
    assert visits > 0.9 * SIMULATIONS
    assert won[seat] / visits == pytest.approx(0.5, abs=0.05)
