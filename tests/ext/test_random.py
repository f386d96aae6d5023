"""Chance: every outcome as likely as the rules say."""

from collections import Counter

import pytest
from scipy.stats import chisquare

from aleator.ext.games.roygbiv import Roygbiv


def test_set_up_draws_uniformly():
    game = Roygbiv(players=4)
    states = [game.unpack(game.new_game(seed)) for seed in range(14_000)]
    centres = Counter(fields["cells"][24] for fields in states)
    starts = Counter(fields["seat_to_act"] for fields in states)
    dice = Counter(die for fields in states for hand in fields["hands"] for die in hand)
    for counter, categories in ((centres, 7), (starts, 4), (dice, 7)):
        assert len(counter) == categories
        assert chisquare(list(counter.values())).pvalue > 1e-4


def test_start_seat_can_be_named_and_is_checked():
    game = Roygbiv(players=3)
    assert {game.seats_to_act(game.new_game(seed, start_seat=2)) for seed in range(20)} == {(2,)}
    with pytest.raises(ValueError, match="seat"):
        game.new_game(1, start_seat=3)


def test_seeds_of_neighbours_give_unrelated_games():
    # About 100,000 set-ups differ, so a few of 1,000 fall together.
    game = Roygbiv()
    assert len({game.new_game(seed) for seed in range(1_000)}) > 980


def test_draws_follow_the_bag():
    """A draw is as likely as the dice of that value left in the bag."""
    game = Roygbiv()
    state = game.new_game(8)
    (seat,) = game.seats_to_act(state)
    after = game.apply_move(state, seat, game.legal_moves(state, seat)[0])
    fields = game.unpack(after)
    bag = [
        7 - fields["played"][value - 1] - sum(hand.count(value) for hand in fields["hands"])
        for value in range(1, 8)
    ]
    drawn = Counter()
    for seed in range(10_000):
        hand = game.unpack(game.advance(after, seed))["hands"][seat]
        drawn.update(Counter(hand) - Counter(fields["hands"][seat]))
    expected = [10_000 * count / sum(bag) for count in bag]
    assert chisquare([drawn[value] for value in range(1, 8)], expected).pvalue > 1e-4
