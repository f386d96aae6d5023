"""The compiled search: what it finds, what it may know, how it ends."""

import threading
import time

import pytest

from aleator.ext.core.search import StopFlag
from aleator.ext.games.generator import Generator
from aleator.ext.games.riviera import Riviera
from aleator.ext.games.roygbiv import Roygbiv
from tests.ext import searches
from tests.ext.searches import FAR


def grown(game, state, simulations, **settings):
    """A search for the only seat that is to act."""
    (seat,) = game.seats_to_act(state)
    return searches.grown(game, state, seat, simulations, **settings)


def played_down(game, seed, plies_left):
    """A position with so many plies left, reached by the first legal moves."""
    state = game.new_game(seed)
    for ply in range(48 - plies_left):
        (seat,) = game.seats_to_act(state)
        moves = game.legal_moves(state, seat)
        state = game.advance(game.apply_move(state, seat, moves[ply * 7 % len(moves)]), ply)
    return state


def exact(game, state):
    """The best achievable win shares by full enumeration (perfect information only)."""
    if game.finished(state):
        return game.win_shares(state)
    (seat,) = game.seats_to_act(state)
    return max(
        (exact(game, game.apply_move(state, seat, move)) for move in game.legal_moves(state, seat)),
        key=lambda shares: shares[seat],
    )


@pytest.mark.parametrize("seed", range(12))
def test_finds_the_exact_value_of_a_small_endgame(seed):
    game = Roygbiv()
    state = played_down(game, seed, 4)
    (seat,) = game.seats_to_act(state)
    values = {
        move: exact(game, game.apply_move(state, seat, move))[seat]
        for move in game.legal_moves(state, seat)
    }
    statistics = grown(game, state, 30_000).root_statistics()
    best, visits, shares, *_ = max(statistics, key=lambda entry: entry[1])
    assert values[best] == max(values.values())
    assert shares[seat] / visits == pytest.approx(values[best], abs=0.02)


def test_same_seed_same_tree_and_another_stream_another_one():
    game = Roygbiv()
    state = game.new_game(3)
    first = grown(game, state, 5_000).root_statistics()
    assert first == grown(game, state, 5_000).root_statistics()
    assert first != grown(game, state, 5_000, stream=1).root_statistics()
    assert first != grown(game, state, 5_000, seed=2).root_statistics()


def test_growing_in_slices_is_the_same_as_at_once():
    game = Roygbiv()
    state = game.new_game(3)
    sliced = grown(game, state, 1)
    for _ in range(9):
        sliced.run(111, FAR, StopFlag())
    assert sliced.simulations == 1_000
    assert sliced.root_statistics() == grown(game, state, 1_000).root_statistics()


def test_statistics_add_up():
    game = Roygbiv(players=3)
    state = game.new_game(5)
    search = grown(game, state, 3_000)
    statistics = search.root_statistics()
    assert sum(visits for _, visits, *_ in statistics) == search.simulations == 3_000
    for _, visits, shares, scores, squares, spread, _ in statistics:
        assert sum(shares) == pytest.approx(visits)
        assert 0 <= squares <= shares[search.seat] + 1e-9
        assert spread >= 0
        assert len(scores) == 3
    assert search.memory == 32 * (search.memory // 32) > 32 * search.nodes


def test_the_tree_goes_no_deeper_than_it_is_tuned_to():
    state = played_down(Roygbiv(), 3, 4)
    for depth in (1, 2):
        search = grown(state.game, state, 2000, knowledge=False, tuning={"depth": depth})
        assert search.depth == depth
        assert search.simulations == 2000
        assert len(search.principal_variation(search.root_statistics()[0][0], 10)) <= depth
    for depth in (0, 257):
        with pytest.raises(ValueError, match=r"depth must be 1\.\.256"):
            grown(state.game, state, 1, tuning={"depth": depth})


@pytest.mark.parametrize("seed", range(4))
def test_goes_evenly_through_determinizations_that_are_few(seed):
    """The last draw: what a deal of the unseen dice is worth has no luck left in it."""
    game = Roygbiv()
    state = played_down(game, seed, 7)
    (seat,) = game.seats_to_act(state)
    worlds = game.enumerate_determinizations(state, seat)
    assert len(worlds) > 1
    move = game.legal_moves(state, seat)[0]
    expected = sum(
        probability * game.evaluate_state(game.apply_move(world, seat, move), 1)[0][seat]
        for probability, world in worlds
    )
    search = grown(game, state, 2_000, moves=[move], seed=seed, tuning={"depth": 1})
    [(_, visits, shares, *_)] = search.root_statistics()
    assert shares[seat] / visits == pytest.approx(expected, abs=4 / visits)


@pytest.mark.parametrize("own_trees", [False, True])
def test_does_not_see_what_the_seat_cannot_know(own_trees):
    game = Roygbiv()
    state = played_down(game, 9, 20)
    (seat,) = game.seats_to_act(state)
    fields = game.unpack(state)
    worlds = {
        game.pack(**game.unpack(game.determinization(state, seat, seed))) for seed in range(8)
    }
    assert len(worlds) > 4, "the determinizations should differ"
    tuning = {"own_trees": own_trees}
    results = {
        str(grown(game, world, 2_000, tuning=tuning).root_statistics())
        for world in worlds | {state}
    }
    assert len(results) == 1
    assert game.unpack(state) == fields


def test_availability_keeps_rare_moves_from_being_starved():
    """A move that is legal in few determinizations is still explored where it is."""
    game = Roygbiv()
    state = played_down(game, 2, 9)
    (seat,) = game.seats_to_act(state)
    search = grown(game, state, 20_000, knowledge=False)
    visits = [visits for _, visits, *_ in search.root_statistics()]
    assert len(visits) == len(game.legal_moves(state, seat))
    assert min(visits) > 20


def test_chooses_only_among_the_given_moves():
    game = Roygbiv()
    state = game.new_game(1)
    (seat,) = game.seats_to_act(state)
    some = game.legal_moves(state, seat)[5:8]
    statistics = grown(game, state, 500, moves=some).root_statistics()
    assert {move for move, *_ in statistics} == set(some)


@pytest.mark.parametrize("moves", [[], [0], [49, 49]])
def test_refuses_moves_that_are_not_legal(moves):
    game = Roygbiv()
    state = game.new_game(1)
    with pytest.raises(ValueError, match="legal moves"):
        grown(game, state, 1, moves=moves)


def test_principal_variation_is_playable_in_some_world():
    game = Roygbiv()
    state = played_down(game, 4, 6)
    search = grown(game, state, 20_000)
    for move, *_ in search.root_statistics():
        line = search.principal_variation(move, 6)
        assert line[0] == (game.seats_to_act(state)[0], move)
        after = state  # nothing is hidden from the last six plies on
        for seat, step in line:
            after = game.apply_move(after, seat, step)


def test_memory_cap_holds_and_the_search_goes_on():
    game = Roygbiv()
    state = game.new_game(1)
    cap = 160 * 1024
    search = grown(game, state, 50_000, memory=cap)
    assert search.memory_full
    assert search.memory <= cap
    assert search.simulations == 50_000
    assert not grown(game, state, 100, memory=cap).memory_full


@pytest.mark.parametrize(
    ("game", "knowledge", "tuning"),
    [
        (Roygbiv(), False, {"exploration": 0.1}),
        (Riviera(), False, {"exploration": 0.1, "mixed": 1}),
        (Generator(), True, {}),
        (Roygbiv(), False, {"exploration": 0.1, "own_trees": 1}),
    ],
    ids=["plain", "mixed", "averaged", "own trees"],
)
def test_a_full_tree_is_pruned_and_grows_where_it_is_visited(game, knowledge, tuning):
    state = game.new_game(1)
    while game.seats_to_act(state) == ():
        state = game.advance(state, 1)
    seat = game.seats_to_act(state)[0]
    search = searches.opened(
        game, state, seat, knowledge=knowledge, tuning=tuning, memory=300 * 1024
    )
    while not search.memory_full:
        search.run(50, FAR, StopFlag())
    depth = search.depth
    search.run(30_000, FAR, StopFlag())
    assert search.depth > depth
    assert 0 < 32 * search.nodes < search.memory <= 300 * 1024
    statistics = search.root_statistics()
    assert sum(visits for _, visits, *_ in statistics) == search.simulations


def test_deadline_and_flag_end_a_search_at_once():
    game = Roygbiv()
    state = game.new_game(1)
    search = grown(game, state, 1)
    start = time.monotonic_ns()
    search.run(FAR, start + 30_000_000, StopFlag())
    assert 30e6 <= time.monotonic_ns() - start < 5e9
    assert search.run(FAR, start, StopFlag()) == 0

    stop = StopFlag()
    done = []
    thread = threading.Thread(
        target=lambda: (search.run(FAR, FAR, stop), done.append(time.monotonic_ns()))
    )
    thread.start()
    time.sleep(0.02)
    assert not done
    set_at = time.monotonic_ns()
    stop.set()
    thread.join(5)
    assert not thread.is_alive()
    assert done[0] - set_at < 5e9  # see the tests of the service for how soon
    assert stop.is_set()
    assert search.run(100, FAR, stop) == 0


def test_searches_run_side_by_side_without_the_gil():
    """While a search runs, other Python threads go on."""
    game = Roygbiv()
    search = grown(game, game.new_game(1), 1)
    stop = StopFlag()
    thread = threading.Thread(target=search.run, args=(FAR, FAR, stop))
    thread.start()
    begin = time.monotonic()
    turns = sum(1 for _ in range(1_000_000))
    elapsed = time.monotonic() - begin
    stop.set()
    thread.join()
    assert turns == 1_000_000
    assert elapsed < 5
