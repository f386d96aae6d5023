"""What must hold for every game, whatever its rules.

Each registered game is tested under the options in CASES. What is exact comes from its plain Python
reference, the module of its id in `tests.reference`, which offers, on typed records:

- `win_shares(state, options)` of a finished game;
- `successors(state, move, options)`, the states that a full one can become; `move` is a dict by
  seat where several seats act;
- `determinizations(observation, options)`, the full states that agree with an observation.

The last two give pairs of probability and state, or None where there are too many.
"""

import importlib
import math
import random
from collections import Counter
from functools import cache
from typing import NamedTuple

import pytest
from scipy import stats

from aleator.search import Position
from aleator.search.games import codec, game_ids

CASES = [
    ("generator", {"max_rolls": 100}),
    ("generator", {"players": 3, "horizontal": "adjacent", "forced_move": True, "max_rolls": 50}),
    ("generator", {"players": 4, "sub_towers": True, "enter_stacks": True, "max_rolls": 50}),
    ("my_shelfie", {}),
    ("my_shelfie", {"players": 3, "end": "immediate", "values": [n * n % 23 for n in range(25)]}),
    ("my_shelfie", {"players": 4}),
    ("roygbiv", {}),
    ("roygbiv", {"players": 3}),
    ("roygbiv", {"players": 4, "open_hands": True}),
    ("roygbiv", {"players": 6}),
]
SEEDS = range(4)
PLAYOUT_DECISIONS = 75_000  # played out in Python by one test
SAMPLES = 4_000
UNLIKELY = 1e-5  # a probability at which a statistical test fails


class Step(NamedTuple):
    """A full position of a random game, and the moves played there, by seat."""

    position: Position
    moves: dict


@cache
def random_game(case, seed):
    """The steps of a game of random moves, and its final position."""
    game, options = CASES[case]
    chooser = random.Random(seed)
    position = Position.create(game, options, seed)
    steps = []
    while not position.finished:
        moves = {seat: chooser.choice(position.moves(seat)) for seat in position.seats_to_act}
        steps.append(Step(position, moves))
        position, _ = position.apply(moves, seed=chooser.getrandbits(64))
    return steps, position


def some_steps(case, count=8):
    """Positions spread over some random games, the last decisions among them."""
    found = []
    for seed in SEEDS:
        steps, _ = random_game(case, seed)
        stride = math.ceil(len(steps) / count)
        found += [*steps[seed % stride :: stride], steps[-1]]
    return found


def reference_of(case):
    return importlib.import_module(f"tests.reference.{CASES[case][0]}")


def frozen(value):
    """A record as something hashable."""
    if isinstance(value, dict):
        return tuple((key, frozen(value[key])) for key in sorted(value))
    return tuple(map(frozen, value)) if isinstance(value, list) else value


def assert_distribution(bound, states, exact):
    """Sampled states come with their exact probabilities, by a chi-square test."""
    expected = Counter()
    for probability, record in exact:
        expected[frozen(record)] += float(probability)
    sampled = Counter()
    for state, count in Counter(states).items():
        sampled[frozen(bound.write_state(state))] += count
    assert set(sampled) <= set(expected)
    if len(expected) > 1:
        observed = [sampled[outcome] for outcome in expected]
        frequencies = [sum(observed) * share for share in expected.values()]
        assert stats.chisquare(observed, frequencies).pvalue > UNLIKELY


@pytest.fixture(params=range(len(CASES)), ids=lambda case: f"{CASES[case][0]}-{CASES[case][1]}")
def case(request):
    return request.param


def test_every_game_is_tested():
    assert {game for game, _ in CASES} == set(game_ids())


def test_random_games_end(case):
    for seed in SEEDS:
        steps, final = random_game(case, seed)
        assert steps
        assert final.seats_to_act == ()
        assert final.is_full
        assert math.isclose(sum(final.win_shares), 1, abs_tol=1e-6)
        expected = reference_of(case).win_shares(final.record, final.options)
        assert final.win_shares == pytest.approx(expected)
        assert all(step.position.win_shares is None for step in steps)


def test_equal_seeds_give_equal_games(case):
    game, options = CASES[case]
    assert Position.create(game, options, 5) == Position.create(game, options, 5)
    assert len({Position.create(game, options, seed).state for seed in range(20)}) > 1
    for position, moves in some_steps(case):
        assert position.apply(moves, seed=9)[0] == position.apply(moves, seed=9)[0]


def test_listed_moves_are_those_that_apply_accepts(case):
    rules = codec(*CASES[case]).rules
    chooser = random.Random(6)
    codes = range(rules.move_space + 1)
    for position, _ in some_steps(case, count=3):
        for seat in range(rules.seats):
            listed = rules.legal_moves(position.state, seat)
            assert len(set(listed)) == len(listed)
            assert bool(listed) == (seat in position.seats_to_act)
            tried = codes if len(codes) < 1000 else chooser.sample(codes, 1000)
            assert {code for code in tried if accepts(rules, position.state, seat, code)} == set(
                listed
            ).intersection(tried)
            assert all(accepts(rules, position.state, seat, code) for code in listed)


def accepts(rules, state, seat, code):
    try:
        rules.apply_move(state, seat, code)
    except ValueError:
        return False
    return True


def test_finished_games_have_no_moves(case):
    _, final = random_game(case, 0)
    assert all(not final.codec.rules.legal_moves(final.state, seat) for seat in range(final.seats))


def test_copies_are_independent(case):
    for position, moves in some_steps(case):
        before = position.state.raw()
        copy = position.state.copy()
        assert copy == position.state
        position.apply(moves, seed=1)
        position.observe(0)
        position.codec.rules.determinization(position.state, 0, 1)
        position.codec.rules.run_playouts(position.state, 2, 1)
        assert position.state.raw() == copy.raw() == before


def test_states_of_other_options_are_refused(case):
    game, options = CASES[case]
    other = codec(*CASES[case - 1]).rules
    state = Position.create(game, options, 1).state
    with pytest.raises(ValueError, match="another game or"):
        other.legal_moves(state, 0)


def test_observation_hides_what_it_must(case):
    """All states that a seat cannot tell apart look the same to it, byte by byte."""
    for position, _ in some_steps(case):
        rules = position.codec.rules
        for seat in range(rules.seats):
            observation = position.observe(seat)
            assert observation.observe(seat) == observation
            for seed in range(5):
                other = rules.determinization(position.state, seat, seed)
                assert rules.is_full(other)
                assert rules.observe_state(other, seat).raw() == observation.state.raw()
                assert rules.information_key(other, seat) == rules.information_key(
                    position.state, seat
                )
                assert rules.determinization(observation.state, seat, seed) == other


def test_observation_shows_what_it_may(case):
    for position, _ in some_steps(case):
        for seat in position.seats_to_act:
            observation = position.observe(seat)
            assert observation.seats_to_act == position.seats_to_act
            assert observation.scores == position.scores
            assert observation.moves(seat) == position.moves(seat)


def test_determinizations_have_exact_frequencies(case):
    """Against enumeration, at the last position of each game that hides something from its seat."""
    reference = reference_of(case)
    compared = 0
    for seed in SEEDS:
        for step in reversed(random_game(case, seed)[0]):
            seat = step.position.seats_to_act[0]
            observation = step.position.observe(seat)
            exact = reference.determinizations(observation.record, observation.options)
            if exact is not None and len(exact) == 1:
                continue
            if exact is not None and len(exact) <= 60:
                rules = observation.codec.rules
                states = (
                    rules.determinization(observation.state, seat, sample)
                    for sample in range(SAMPLES)
                )
                assert_distribution(observation.codec, states, exact)
                compared += 1
            break
    hides = any(not step.position.observe(0).is_full for step in random_game(case, 0)[0])
    assert compared or not hides


def test_chance_has_exact_frequencies(case):
    reference = reference_of(case)
    for position, moves in some_steps(case, count=2):
        records = {seat: move.record for seat, move in moves.items()}
        played = records if len(records) > 1 else next(iter(records.values()))
        exact = reference.successors(position.record, played, position.options)
        if exact is not None:
            rules = position.codec.rules
            state = position.state
            for seat, move in moves.items():
                state = rules.apply_move(state, seat, move.code)
            states = (rules.advance(state, sample) for sample in range(SAMPLES))
            assert_distribution(position.codec, states, exact)


def test_notation_and_records_round_trip(case):
    finals = [Step(random_game(case, seed)[1], {}) for seed in SEEDS]
    for position, _ in [*some_steps(case), *finals]:
        for view in [position, *map(position.observe, range(position.seats))]:
            assert Position.parse(view.notation) == view
            assert Position.from_record(view.game, view.options, view.record) == view
            assert view.notation.isascii()
            assert view.notation.isprintable()
            assert not set(view.notation) & set("\"'\\")


def test_moves_round_trip(case):
    for position, _ in some_steps(case):
        for seat in position.seats_to_act:
            moves = position.moves(seat)
            for move in moves:
                assert position.find_move(move.notation, seat) == move
                assert position.find_move(move.record, seat) == move
                assert move.description
            assert len({move.notation for move in moves}) == len(moves)


def test_fast_playouts_are_random_play(case):
    """The game's own playout and play through the interface have the same means."""
    game, options = CASES[case]
    position = Position.create(game, options, 3)
    rules = position.codec.rules
    chooser = random.Random(4)
    results = []
    count = PLAYOUT_DECISIONS // len(random_game(case, 3)[0])
    for _ in range(count):
        state = position.state
        while not rules.finished(state):
            seat = rules.seats_to_act(state)[0]
            state = rules.apply_move(state, seat, chooser.choice(rules.legal_moves(state, seat)))
            if rules.chance_pending(state):
                state = rules.advance(state, chooser.getrandbits(64))
        results.append((*rules.win_shares(state), *rules.scores(state)))
    shares, scores = rules.run_playouts(position.state, 100 * count, 5)
    for sampled, fast in zip(zip(*results, strict=True), (*shares, *scores), strict=True):
        if len(set(sampled)) == 1:  # no variance to test by
            assert fast == pytest.approx(sampled[0], abs=10 / count)
        else:
            assert stats.ttest_1samp(sampled, fast).pvalue > UNLIKELY
    assert math.isclose(sum(shares), 1, abs_tol=1e-6)
