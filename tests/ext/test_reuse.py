"""Going on with a part of an earlier search's tree."""

import pytest

from aleator.ext.core.reuse import can_continue, continue_tree
from aleator.ext.core.search import StopFlag
from aleator.ext.games.generator import Generator
from aleator.ext.games.my_shelfie import MyShelfie
from aleator.ext.games.riviera import Riviera
from aleator.ext.games.roygbiv import Roygbiv
from tests.ext.searches import FAR, grown, opened

SIMULATIONS = 2000


def most_visited(search):
    return max(search.root_statistics(), key=lambda row: row[1])[:2]


def played_on(game, state, seat, move, seed=1):
    """What the seat decides on next, after others have made moves that it thinks likely."""
    state = game.advance(game.apply_move(state, seat, move), seed)
    while not game.finished(state):
        (mover,) = game.seats_to_act(state)
        moves = game.legal_moves(state, mover)
        if mover == seat and len(moves) > 1:
            return state
        move = moves[0]
        if len(moves) > 1:
            move, _ = most_visited(grown(game, state, mover, SIMULATIONS))
        state = game.advance(game.apply_move(state, mover, move), seed)
    return None


def test_between_two_moves_of_a_turn_nothing_of_the_move_is_lost() -> None:
    game = MyShelfie(players=2)
    deep = {"depth": 4}  # it plays with trees of one move, whose nodes nobody could go on from
    continued = 0
    for seed in range(40):
        state = game.new_game(seed)
        (seat,) = game.seats_to_act(state)
        for _ in range(4):
            search = grown(game, state, seat, SIMULATIONS, tuning=deep)
            move, visits = most_visited(search)
            after = game.apply_move(state, seat, move)
            is_followed = not game.chance_pending(after) and game.seats_to_act(after) == (seat,)
            assert can_continue(search, move) == is_followed
            assert not can_continue(grown(game, state, seat, SIMULATIONS), move)
            state = game.advance(after, seed)
            if game.seats_to_act(state) != (seat,):
                break
            following = opened(game, state, seat, tuning=deep)
            kept = continue_tree(following, search, move)
            if is_followed:
                # The node was made when the move was made for the second time.
                assert kept == visits - 1
                continued += 1
            else:
                assert kept == 0
        if continued == 2:
            return
    raise AssertionError("no two moves in a row")


def test_the_tree_goes_on_after_dice_and_another_seat() -> None:
    game = Generator(players=2)
    state = game.new_game(3)
    (seat,) = game.seats_to_act(state)
    search = grown(game, state, seat, SIMULATIONS)
    move, visits = most_visited(search)
    assert can_continue(search, move)
    followed = 0
    for seed in range(6):
        after = played_on(game, state, seat, move, seed)
        following = opened(game, after, seat)
        kept = continue_tree(following, search, move)
        assert kept < visits / 4
        if kept == 0:
            continue  # an answer that the tree does not think of
        followed += 1
        nodes = following.nodes
        following.run(100, FAR, StopFlag())
        rows = following.root_statistics()
        assert following.nodes > nodes > 1
        # What is told is of the search's own simulations.
        assert sum(row[1] for row in rows) == following.simulations == 100
        assert all(0 <= row[2][seat] <= row[1] for row in rows)
    assert followed >= 3


def test_a_tree_fits_its_own_line_only() -> None:
    game = Generator(players=2)
    state = game.new_game(3)
    (seat,) = game.seats_to_act(state)
    search = grown(game, state, seat, SIMULATIONS)
    move, _ = most_visited(search)
    other = next(row[0] for row in search.root_statistics() if row[0] != move)
    after = played_on(game, state, seat, move)
    assert continue_tree(opened(game, after, seat), search, other) == 0
    assert continue_tree(opened(game, state, seat), search, move) == 0
    assert continue_tree(opened(game, game.new_game(4, seat), seat), search, move) == 0
    some = game.legal_moves(after, seat)[:1]
    assert continue_tree(opened(game, after, seat, moves=some), search, move) == 0
    assert continue_tree(opened(game, after, seat, memory=2**15), search, move) == 0


def test_what_a_seat_draws_in_secret_is_not_guessed() -> None:
    game = Roygbiv()
    state = game.new_game(3)
    (seat,) = game.seats_to_act(state)
    search = grown(game, state, seat, SIMULATIONS)
    move, _ = most_visited(search)
    assert not can_continue(search, move)
    assert continue_tree(opened(game, played_on(game, state, seat, move), seat), search, move) == 0


def test_what_no_search_can_go_on_from_is_known_before() -> None:
    riviera = Riviera(players=2)
    state = riviera.new_game(3)
    search = grown(riviera, state, riviera.seats_to_act(state)[0], SIMULATIONS)
    assert not any(can_continue(search, row[0]) for row in search.root_statistics())
    # Draws are not guessed, but once the bag is empty there are none.
    game, told = Roygbiv(open_hands=True), {True: 0, False: 0}
    state = game.new_game(1)
    while not game.finished(state):
        (seat,) = game.seats_to_act(state)
        search = grown(game, state, seat, SIMULATIONS)
        move, _ = most_visited(search)
        after = game.apply_move(state, seat, move)
        goes_on = can_continue(search, move)
        assert not (goes_on and (game.chance_pending(after) or game.finished(after)))
        told[goes_on] += 1
        state = game.advance(after, 1)
    assert min(told.values()) > 1


def test_only_a_fresh_search_of_the_same_seat_can_go_on() -> None:
    game = Generator(players=2)
    state = game.new_game(3)
    (seat,) = game.seats_to_act(state)
    search = grown(game, state, seat, SIMULATIONS)
    move, _ = most_visited(search)
    with pytest.raises(ValueError, match="has begun"):
        continue_tree(search, search, move)
    other = Generator(players=2)
    with pytest.raises(ValueError, match="games"):
        continue_tree(opened(other, other.new_game(3), seat), search, move)
    after = game.advance(game.apply_move(state, seat, move), 1)
    if game.seats_to_act(after) != (seat,):
        with pytest.raises(ValueError, match="seats"):
            continue_tree(opened(game, after, 1 - seat), search, move)
