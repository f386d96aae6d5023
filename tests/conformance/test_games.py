"""What must hold for every game, whatever its rules.

Each registered game is tested against its plain Python reference, the module of its id in
`tests.reference`; `--reference` names the module of a game that is kept elsewhere, and registers
it. A reference offers, on typed records:

- `CASES`, pairs of the game's id and options to test it under;
- `win_shares(state, options)` of a finished game;
- `successors(state, move, options)`, the states that a full one can become; `move` is a dict by
  seat where several seats act;
- `determinizations(observation, options)`, the full states that agree with an observation;
- `symmetries(state, options)`, where the game has any: for each one the image of a state or
  observation, a tuple of where each seat goes, and a function from a move to its image.

`successors` and `determinizations` give pairs of probability and state, or None where there are
too many.
"""

import math
import random
from collections import Counter, defaultdict
from functools import cache, lru_cache, partial
from statistics import mean, stdev
from typing import NamedTuple

import pytest
from scipy import stats

from aleator.search import Engine, Limits, Position
from aleator.search.errors import SeatNotToAct
from aleator.search.games import codec
from aleator.service import convert
from aleator.v1 import state_pb2

SEEDS = range(4)
PLAYOUT_DECISIONS = 75_000  # played out in Python by one test
SAMPLES = 4_000
UNLIKELY = 1e-5  # a probability at which a statistical test fails
SAMPLED_SEEDS = 20
SIMULATIONS = 100  # with each of them


class Step(NamedTuple):
    """A full position of a random game, and the moves played there, by seat."""

    position: Position
    moves: dict


@cache
def random_game(case, seed):
    """The steps of a game of random moves, and its final position."""
    chooser = random.Random(seed)
    position = Position.create(case.game, case.options, seed)
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


def test_random_games_end(case):
    for seed in SEEDS:
        steps, final = random_game(case, seed)
        assert steps
        assert final.seats_to_act == ()
        assert final.is_full
        assert math.isclose(sum(final.win_shares), 1, abs_tol=1e-6)
        expected = case.reference.win_shares(final.record, final.options)
        assert final.win_shares == pytest.approx(expected)
        assert all(step.position.win_shares is None for step in steps)


def test_equal_seeds_give_equal_games(case):
    game, options = case.game, case.options
    assert Position.create(game, options, 5) == Position.create(game, options, 5)
    assert len({Position.create(game, options, seed).state for seed in range(20)}) > 1
    for position, moves in some_steps(case):
        assert position.apply(moves, seed=9)[0] == position.apply(moves, seed=9)[0]


def test_listed_moves_are_those_that_apply_accepts(case):
    rules = codec(case.game, case.options).rules
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
    other = codec("roygbiv", {"players": 6 if case.options.get("players") != 6 else 2}).rules
    state = Position.create(case.game, case.options, 1).state
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


def test_search_knows_only_what_its_seat_knows(case):
    """States that a seat cannot tell apart have the same analysis, to the last bit."""
    limits = Limits(simulations=SIMULATIONS)
    for position, _ in some_steps(case, count=1):
        for seat in position.seats_to_act:
            analyses = [
                Engine().suggest(world, seat, limits, seed=1).candidates
                for world in [position, position.observe(seat), *worlds(position, seat, moves={})]
            ]
            assert all(candidates == analyses[0] for candidates in analyses)


def test_observation_shows_what_it_may(case):
    for position, _ in some_steps(case):
        for seat in position.seats_to_act:
            observation = position.observe(seat)
            assert observation.seats_to_act == position.seats_to_act
            assert observation.scores == position.scores
            assert observation.moves(seat) == position.moves(seat)


def test_events_tell_no_secrets(case):
    """What everybody is told follows from what each seat sees before and after, and the moves."""
    hides = told_alike = False
    for position, moves in some_steps(case, count=3):
        for viewer in range(position.seats):
            told = defaultdict(set)
            outcomes = defaultdict(set)
            for world in worlds(position, viewer, moves):
                for seed in range(10):
                    after, events = world.apply(moves, seed=seed)
                    seen = after.observe(viewer).state
                    told[seen].add(frozen([event._asdict() for event in events]))
                    outcomes[seen].add(after.state)
            assert all(len(variants) == 1 for variants in told.values())
            hides |= not position.observe(viewer).is_full
            told_alike |= any(len(states) > 1 for states in outcomes.values())
    assert told_alike or not hides


def worlds(position, viewer, moves):
    """The position, and some that `viewer` cannot tell from it, in which the moves are legal."""
    found = {position.state}
    if not position.observe(viewer).is_full:
        found |= {
            position.codec.rules.determinization(position.state, viewer, seed) for seed in range(10)
        }
    return [
        Position(position.codec, state)
        for state in found
        if all(
            move.code in position.codec.rules.legal_moves(state, seat)
            for seat, move in moves.items()
        )
    ]


def test_choices_at_once_are_secret(case):
    """Until the last one is made nobody sees the others', and their order is all one."""
    rules = codec(case.game, case.options).rules
    for position, moves in some_steps(case):
        if len(moves) == 1:
            continue
        assert position.apply(moves, seed=1) == position.apply(dict(reversed(moves.items())), 1)
        first, *others = moves
        views = defaultdict(set)
        listed = position.moves(first)[:20]
        own_views = set()
        for move in listed:
            chosen, events = position.apply({first: move})
            own_views.add(chosen.observe(first))
            assert chosen.seats_to_act == tuple(others)
            assert not rules.legal_moves(chosen.state, first)
            for seat in others:
                assert rules.legal_moves(chosen.state, seat) == rules.legal_moves(
                    position.state, seat
                )
                view = chosen.observe(seat)
                views[seat].add((view, frozen([event._asdict() for event in events])))
                assert not view.is_full
                other = rules.determinization(view.state, seat, move.code)
                assert rules.is_full(other)
                assert rules.observe_state(other, seat) == view.state
        assert all(len(seen) == 1 for seen in views.values())
        assert len(own_views) == len(listed)


def test_choices_may_come_one_after_another(case):
    """In any order: where they lead, and what is told in the end, is the same as at once."""
    chooser = random.Random(7)
    for position, moves in some_steps(case):
        if len(moves) == 1:
            continue
        between = position
        waiting = chooser.sample(sorted(moves), len(moves))
        while len(waiting) > 1:
            count = chooser.randrange(1, len(waiting))
            now, waiting = waiting[:count], waiting[count:]
            between, events = between.apply({seat: moves[seat] for seat in now})
            assert [event.seat for event in events] == sorted(now)
            assert between.is_full
            assert between.seats_to_act == tuple(sorted(waiting))
            assert between.scores == position.scores
            for seat in now:
                with pytest.raises(SeatNotToAct):
                    between.apply({seat: moves[seat]})
            for view in [between, *map(between.observe, range(position.seats))]:
                assert_read_back(view)
            for seat in waiting:
                limits = Limits(simulations=20)
                found = [
                    Engine().suggest(view, seat, limits, seed=1).candidates
                    for view in (between, between.observe(seat))
                ]
                assert found[0] == found[1]
        assert between.apply({waiting[0]: moves[waiting[0]]}, seed=1) == position.apply(moves, 1)


def symmetric_steps(case, count):
    """(position, symmetry, image of the position) for some positions of random games."""
    symmetries = getattr(case.reference, "symmetries", None)
    if symmetries is None:
        pytest.skip("the game has no symmetry")
    for position, _ in some_steps(case, count):
        for view in {position, *(position.observe(seat) for seat in position.seats_to_act)}:
            for symmetry in symmetries(view.record, view.options):
                yield view, symmetry, Position.from_record(case.game, case.options, symmetry[0])


def seats_that_know(position):
    """The seats to act that know what their moves are."""
    return [
        seat for seat in position.seats_to_act if position.codec.hand_known(position.state, seat)
    ]


def test_symmetric_positions_have_symmetric_moves(case):
    for position, (_, places, moved), image in symmetric_steps(case, count=4):
        assert image.seats_to_act == tuple(sorted(places[seat] for seat in position.seats_to_act))
        assert tuple(image.scores[place] for place in places) == position.scores
        for seat in seats_that_know(position):
            assert {frozen(moved(move.record)) for move in position.moves(seat)} == {
                frozen(move.record) for move in image.moves(places[seat])
            }


@pytest.mark.timeout(600)  # many simulations, which are slow on the bounds-checked build
def test_symmetric_positions_have_symmetric_results(case):
    """Those of playouts, and what a search sees on the average: one alone may go many ways."""
    for position, (_, places, _), image in symmetric_steps(case, count=1):
        seat = seats_that_know(position)[0]
        if position.is_full:
            assert_permuted(partial(played_out, position), partial(played_out, image), places)
        if position.observe(seat) == position:
            assert_permuted(
                partial(searched, position, seat), partial(searched, image, places[seat]), places
            )


def assert_permuted(results, image_results, places):
    """Win shares for seeds have the means of other ones, with the seats in other places."""
    shares = [results(seed) for seed in range(SAMPLED_SEEDS)]
    image_shares = [image_results(seed) for seed in range(SAMPLED_SEEDS, 2 * SAMPLED_SEEDS)]
    for old, new in enumerate(places):
        sample = [share[old] for share in shares]
        image_sample = [share[new] for share in image_shares]
        error = math.hypot(stdev(sample), stdev(image_sample)) / math.sqrt(SAMPLED_SEEDS)
        assert mean(image_sample) == pytest.approx(mean(sample), abs=5 * error + 0.01)


@lru_cache(maxsize=1000)  # a position is compared with several images
def played_out(position, seed):
    return position.codec.rules.run_playouts(position.state, SIMULATIONS, seed)[0]


@lru_cache(maxsize=1000)
def searched(position, seat, seed):
    """The mean win shares of the simulations of a search; zeros if there was nothing to search."""
    sums = [0.0] * position.seats
    limits = Limits(simulations=SIMULATIONS)
    for candidate in Engine().suggest(position, seat, limits, seed=seed).candidates:
        if candidate.estimate is not None:
            for place, share in enumerate(candidate.estimate.win_share):
                sums[place] += candidate.visits * share / SIMULATIONS
    return sums


def test_determined_positions_leave_one_state(case):
    rules = codec(case.game, case.options).rules
    for seed in SEEDS:
        steps, _ = random_game(case, seed)
        for position, moves in steps[-12:]:
            for seat in moves:
                if rules.is_determined(position.state, seat):
                    worlds = {rules.determinization(position.state, seat, n) for n in range(8)}
                    assert worlds == {position.state}


def test_knowledge_is_sane(case):
    """Estimates are win shares; how moves look depends only on what the seat knows."""
    rules = codec(case.game, case.options).rules
    # Where luck is taken out, the share of one estimate may lie outside; the mean does not.
    slack = 3 if rules.tuning_values()["foreseen"] else 0
    for position, moves in some_steps(case, count=4):
        shares, scores = rules.evaluate_state(position.state, 3)
        assert (shares, scores) == rules.evaluate_state(position.state, 3)
        assert sum(shares) == pytest.approx(1, abs=1e-4)
        assert all(-slack <= share <= 1 + slack for share in shares)
        assert all(map(math.isfinite, scores))
        for seat in moves:
            priors = rules.move_priors(position.state, seat)
            if priors is None:
                continue
            assert len(priors) == len(rules.legal_moves(position.state, seat))
            assert all(map(math.isfinite, priors))
            for world in (rules.determinization(position.state, seat, n) for n in range(4)):
                assert rules.move_priors(world, seat) == priors


def test_determinizations_have_exact_frequencies(case):
    """Against enumeration, at the last position of each game that hides something from its seat."""
    reference = case.reference
    compared = 0
    too_many = False
    for seed in SEEDS:
        for step in reversed(random_game(case, seed)[0]):
            seat = step.position.seats_to_act[0]
            observation = step.position.observe(seat)
            exact = reference.determinizations(observation.record, observation.options)
            if exact is not None and len(exact) == 1:
                continue
            too_many |= exact is None
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
    if too_many and not compared:
        pytest.skip("too many states agree with what a seat sees")
    assert compared or not hides


def test_listed_determinizations_are_all_there_are(case):
    """Where a game lists them, with their probabilities, against enumeration by the reference."""
    for seed in SEEDS:
        for position, moves in random_game(case, seed)[0][-12:]:
            for seat in moves:
                observation = position.observe(seat)
                rules = observation.codec.rules
                listed = rules.enumerate_determinizations(position.state, seat)
                if listed is None:
                    continue
                assert listed == rules.enumerate_determinizations(observation.state, seat)
                assert len({world for _, world in listed}) == len(listed)
                assert sum(probability for probability, _ in listed) == pytest.approx(1)
                for _, world in listed:
                    assert rules.is_full(world)
                    assert rules.observe_state(world, seat) == observation.state
                exact = case.reference.determinizations(observation.record, observation.options)
                if exact is not None:
                    assert {
                        frozen(observation.codec.write_state(world)): probability
                        for probability, world in listed
                    } == pytest.approx(
                        {frozen(record): float(probability) for probability, record in exact}
                    )


def successors(case, position, moves):
    """What the reference says that can follow: pairs of probability and record, or None."""
    records = {seat: move.record for seat, move in moves.items()}
    played = records if len(records) > 1 else next(iter(records.values()))
    return case.reference.successors(position.record, played, position.options)


def test_moves_do_what_the_reference_says(case):
    for position, moves in some_steps(case):
        exact = successors(case, position, moves)
        if exact is not None:
            after, _ = position.apply(moves, seed=1)
            possible = {frozen(record) for probability, record in exact if probability}
            assert frozen(after.record) in possible


def test_chance_has_exact_frequencies(case):
    for position, moves in some_steps(case, count=2):
        exact = successors(case, position, moves)
        if exact is not None and len(exact) > 1:
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
            assert_read_back(view)


def assert_read_back(view):
    """A position is what its notation and its record say."""
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


def test_messages_round_trip(case):
    if case.game not in state_pb2.GameState.DESCRIPTOR.fields_by_name:
        pytest.skip("the game is not part of the wire contract")
    for position, moves in some_steps(case, count=3):
        after, events = position.apply(moves, seed=1)
        first = min(moves)
        between, told = position.apply({first: moves[first]}, seed=1)
        events += told
        views = [between.observe(seat) for seat in range(position.seats)]
        for view in [position, after, *views]:
            data = convert.write_state(view).SerializeToString()
            assert convert.read_state(state_pb2.GameState.FromString(data)) == view
        for seat, move in moves.items():
            assert convert.read_move(convert.write_move(move)[0], position, seat) == move
        for event in events:
            typed = getattr(convert.write_event(event, case.game), case.game)
            assert typed.WhichOneof("event") == event.kind


def test_fast_playouts_are_random_play(case):
    """The game's own playout and play through the interface have the same means."""
    position = Position.create(case.game, case.options, 3)
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
