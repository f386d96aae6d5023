"""The solver: exact values, and its refusal where there are none to be had."""

import random

import pytest

from aleator.ext.core.solver import Solver
from aleator.ext.games.roygbiv import Roygbiv
from aleator.search import Engine, Limits, Position, StopReason, Strength
from tests.ext.searches import FAR


def minimax(game, state):
    """(win shares, scores) of best play, written as plainly as can be."""
    if game.finished(state):
        return game.win_shares(state), game.scores(state)
    (seat,) = game.seats_to_act(state)
    after = [game.apply_move(state, seat, move) for move in game.legal_moves(state, seat)]
    return max((minimax(game, one) for one in after), key=lambda end: rank(end, seat))


def rank(end, seat):
    shares, scores = end
    return shares[seat], scores[seat] - scores[1 - seat]


def endgame(seed, plies_left, **options):
    """A position of a random game with so many plies left."""
    chooser = random.Random(seed)
    position = Position.create("roygbiv", options, seed)
    for _ in range(48 - plies_left):
        move = chooser.choice(position.moves())
        position, _ = position.apply({move.seat: move}, seed=chooser.getrandbits(64))
    return position


@pytest.mark.parametrize("seed", range(6))
def test_values_are_those_of_plain_minimax(seed):
    position = endgame(seed, 4)
    game = position.codec.rules
    seat = position.acting_seat()
    moves = game.legal_moves(position.state, seat)
    observation = game.observe_state(position.state, seat)
    assert not game.is_full(observation)
    values = Solver(game, 10**6, FAR).solve(observation, seat, moves)
    for move, (shares, scores, line) in zip(moves, values, strict=True):
        after = game.apply_move(position.state, seat, move)
        assert rank((shares, scores), 1 - seat) == rank(minimax(game, after), 1 - seat)
        state = position.state
        for line_seat, line_move in line:
            state = game.apply_move(state, line_seat, line_move)
        assert line[0] == (seat, move)
        assert (game.win_shares(state), game.scores(state)) == (shares, scores)


def test_luck_and_secrets_and_size_are_refused():
    position = endgame(1, 9)
    game = position.codec.rules
    seat = position.acting_seat()
    moves = game.legal_moves(position.state, seat)
    assert Solver(game, 10**6, FAR).solve(position.state, seat, moves) is None
    late = endgame(1, 5)
    seat = late.acting_seat()
    moves = game.legal_moves(late.state, seat)
    assert Solver(game, 100, FAR).solve(late.state, seat, moves) is None
    assert Solver(game, 10**6, 0).solve(endgame(1, 6).state, endgame(1, 6).acting_seat(), []) == []
    three = endgame(1, 4, players=3)
    rules = three.codec.rules
    seat = three.acting_seat()
    assert isinstance(rules, Roygbiv)
    moves = rules.legal_moves(three.state, seat)
    assert Solver(rules, 10**6, FAR).solve(three.state, seat, moves) is None


def test_the_engine_answers_with_the_solution():
    position = endgame(2, 5)
    seat = position.acting_seat()
    game = position.codec.rules
    exact = minimax(game, position.state)
    analysis = Engine().suggest(position.observe(seat), limits=Limits(simulations=5_000))
    assert analysis.statistics.exact
    assert analysis.statistics.stop_reason is StopReason.SOLVED
    assert analysis.estimate.win_share == exact[0]
    assert analysis.estimate.score == exact[1]
    assert analysis.estimate.standard_error == 0
    assert analysis.best_move == analysis.candidates[0].move
    assert len(analysis.candidates) == len(position.moves())
    (report,) = Engine().analyze(position, limits=Limits(simulations=5_000))
    assert report.final
    assert report.analysis.best_move == analysis.best_move


def test_weaker_levels_do_not_solve():
    analysis = Engine().suggest(
        endgame(2, 5), limits=Limits(simulations=500), strength=Strength(level=5)
    )
    assert not analysis.statistics.exact
