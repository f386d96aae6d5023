"""What a search takes others, and itself, to know: on a game whose right answer is plain."""

import pytest

from tests.ext.searches import grown
from tests.ext.small_games import compile_game

LEAVE, GO_ON, HEADS, TAILS = range(1, 5)


@pytest.fixture(scope="module")
def coin(tmp_path_factory):
    """The compiled module of the game."""
    return compile_game("coin", tmp_path_factory.mktemp("coin"))


def shares(game, simulations, **tuning):
    """What each move of seat 0 is worth to it, as a search says."""
    state = game.advance(game.new_game(1), 1)
    search = grown(game, state, 0, simulations, knowledge=False, tuning=tuning)
    return {move: won[0] / visits for move, visits, won, *_ in search.root_statistics()}


@pytest.mark.parametrize("own_trees", [False, True])
def test_a_seat_cannot_choose_by_what_it_does_not_know(coin, own_trees):
    """Guessing is even, so that leaving for 0.6 is better; who could look would always win."""
    found = shares(coin.Coin(0.6, dealt=True), 4_000, own_trees=own_trees)
    assert found[LEAVE] == pytest.approx(0.6)
    assert found[GO_ON] == pytest.approx(0.5, abs=0.05)


def test_others_do_not_see_secret_moves_where_each_has_its_own_tree(coin):
    """A coin that nobody sees is guessed half the time, so that laying it beats leaving for 0.4."""
    found = shares(coin.Coin(0.4, dealt=False), 4_000, own_trees=True)
    assert found[LEAVE] == pytest.approx(0.4)
    assert found[HEADS] == pytest.approx(0.5, abs=0.05)
    assert found[TAILS] == pytest.approx(0.5, abs=0.05)


def test_others_see_all_that_the_seat_sees_in_a_single_tree(coin):
    """The same game: known to be wrong, and why trees of one's own are there."""
    found = shares(coin.Coin(0.4, dealt=False), 4_000, own_trees=False)
    assert max(found, key=found.get) == LEAVE
    assert max(found[HEADS], found[TAILS]) < 0.1
