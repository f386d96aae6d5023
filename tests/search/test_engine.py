"""The engine: limits, answers, and what it may know."""

import threading
import time
from dataclasses import replace
from statistics import mean, stdev

import pytest

from aleator.search import Engine, Limits, Position, StopFlag, Strength, Trees
from aleator.search.analysis import StopReason
from aleator.search.errors import GameFinished, InvalidInput, SeatNotToAct

OPENING = "roygbiv ......./......./......./...4.../......./......./....... 0001000 135,??? 0,0 0"


def unmeasured(analysis):
    """An analysis without its measured time, and without the state it came from."""
    statistics = replace(analysis.statistics, elapsed=0.0)
    return repr(replace(analysis, statistics=statistics))


def test_answers_are_reproducible_and_differ_by_seed():
    position = Position.parse(OPENING)
    engine = Engine()
    for threads in (1, 2):
        limits = Limits(simulations=3_001, threads=threads)
        first = engine.suggest(position, limits=limits, seed=7)
        assert first.statistics.simulations == 3_001
        assert first.statistics.threads == threads
        assert first.statistics.stop_reason is StopReason.SIMULATIONS
        assert sum(candidate.visits for candidate in first.candidates) == 3_001
        assert unmeasured(first) == unmeasured(engine.suggest(position, limits=limits, seed=7))
        assert unmeasured(first) != unmeasured(engine.suggest(position, limits=limits, seed=8))


def test_a_drawn_seed_is_told_and_gives_the_answer_again():
    position = Position.parse(OPENING)
    limits = Limits(simulations=500)
    first = Engine().suggest(position, limits=limits)
    again = Engine().suggest(position, limits=limits, seed=first.statistics.seed)
    assert unmeasured(first) == unmeasured(again)


def test_a_seat_goes_on_from_its_last_search():
    engine = Engine()
    limits = Limits(simulations=1_000, threads=2)

    def play(strength=None):
        position = Position.create("generator", seed=3)
        trees = [Trees() for _ in range(position.seats)]
        answers = []
        for seed in range(9):
            (seat,) = position.seats_to_act
            answer = engine.suggest(
                position, limits=limits, seed=seed, trees=trees[seat], strength=strength
            )
            answers.append(answer)
            position, _ = position.apply({seat: answer.best_move}, seed=seed)
        return answers

    first = play()
    continued = [answer for answer in first if answer.statistics.continued]
    assert continued
    for answer in continued:
        assert answer.statistics.simulations == 1_000
        assert sum(candidate.visits for candidate in answer.candidates) == 1_000
    assert [*map(unmeasured, first)] == [*map(unmeasured, play())]
    # The levels below are as strong as was measured: without.
    assert not any(answer.statistics.continued for answer in play(Strength(level=9)))


def test_what_the_seat_cannot_know_changes_nothing():
    full = Position.create("roygbiv", seed=5)
    seat = full.acting_seat()
    rules = full.codec.rules
    worlds = [
        Position(full.codec, rules.determinization(full.state, seat, seed)) for seed in range(6)
    ]
    assert len({world.state for world in worlds}) > 1
    answers = {
        unmeasured(Engine().suggest(world, limits=Limits(simulations=1_000), seed=1))
        for world in [full, full.observe(seat), *worlds]
    }
    assert len(answers) == 1


def test_reports_do_not_change_the_final_answer():
    position = Position.parse(OPENING)
    limits = Limits(simulations=60_000)
    reports = list(Engine().analyze(position, limits=limits, interval=0.01, seed=3))
    assert [report.final for report in reports] == [False] * (len(reports) - 1) + [True]
    assert len(reports) > 1
    counts = [report.analysis.statistics.simulations for report in reports]
    assert counts == sorted(counts)
    assert all(report.analysis.statistics.stop_reason is None for report in reports[:-1])
    final = Engine().suggest(position, limits=limits, seed=3)
    assert unmeasured(reports[-1].analysis) == unmeasured(final)


def test_the_only_move_is_answered_at_once():
    position = Position.create("roygbiv", seed=1)
    while len(position.moves()) > 1:
        move = position.moves()[0]
        position, _ = position.apply({move.seat: move}, seed=1)
    begin = time.monotonic()
    analysis = Engine().suggest(position, limits=Limits(time=10))
    assert time.monotonic() - begin < 5
    assert analysis.best_move == position.moves()[0]
    assert analysis.statistics.stop_reason is StopReason.ONLY_MOVE
    assert analysis.estimate is None
    final, _ = position.apply({analysis.best_move.seat: analysis.best_move})
    with pytest.raises(GameFinished):
        Engine().suggest(final)


def test_allowed_and_avoided_moves():
    position = Position.parse(OPENING)
    moves = position.moves()
    engine = Engine()
    limits = Limits(simulations=400)
    some = engine.suggest(position, limits=limits, allowed=moves[:5], avoided=moves[3:])
    assert {candidate.move for candidate in some.candidates} == set(moves[:3])
    with pytest.raises(InvalidInput) as error:
        engine.suggest(position, limits=limits, allowed=moves[:2], avoided=moves)
    assert [violation.path for violation in error.value.violations] == ["avoided_moves"]


def test_the_best_move_comes_first_with_a_sane_estimate():
    analysis = Engine().suggest(Position.parse(OPENING), limits=Limits(simulations=20_000), seed=2)
    best = analysis.candidates[0]
    assert analysis.best_move == best.move
    assert [candidate.probability for candidate in analysis.candidates] == [1.0] + [0.0] * (
        len(analysis.candidates) - 1
    )
    for candidate in analysis.candidates:
        estimate = candidate.estimate
        assert sum(estimate.win_share) == pytest.approx(1)
        assert 0 <= estimate.lower_bound <= estimate.win_share[analysis.seat] <= 1
        assert 0 < estimate.standard_error < 0.5
    assert best.principal_variation[0] == best.move
    assert analysis.estimate == best.estimate


def test_win_shares_of_few_visits_sum_to_1_though_luck_was_taken_out_of_them():
    position = Position.parse(
        "riviera 8.1 powers 12 0 r1p6b5o5 - 20:in:?????????:b6,"
        "27:in:r3r12p2p3p7p10b4o6o10:p11:power@p11,17:in:?????????:b11:power@b11"
    )
    for seed in range(20):
        analysis = Engine().suggest(position, limits=Limits(simulations=60), seed=seed)
        for candidate in analysis.candidates:
            estimate = candidate.estimate
            assert sum(estimate.win_share) == pytest.approx(1)
            assert all(0 <= share <= 1 for share in estimate.win_share)
            assert 0 <= estimate.lower_bound <= estimate.win_share[analysis.seat]


@pytest.mark.parametrize("alone", [False, True])
def test_standard_errors_say_how_much_another_seed_would_change(alone):
    position = Position.parse(OPENING)
    seat = position.acting_seat()
    move = position.moves()[0]
    limits = Limits(simulations=1500)
    engine = Engine()
    found = [
        engine.evaluate(position, move, limits, seed=seed)
        if alone
        else engine.suggest(position, limits=limits, seed=seed).estimate
        for seed in range(30)
    ]
    spread = stdev(estimate.win_share[seat] for estimate in found)
    told = mean(estimate.standard_error for estimate in found)
    assert 0.5 < spread / told < 1.5


def test_time_limit_is_kept_and_used():
    begin = time.monotonic()
    analysis = Engine().suggest(Position.parse(OPENING), limits=Limits(time=0.1))
    elapsed = time.monotonic() - begin
    assert analysis.statistics.stop_reason is StopReason.TIME
    assert 0.1 <= elapsed < 5


def test_a_search_for_playing_ends_once_its_move_is_decided():
    position = Position.parse(
        "roygbiv 4.66222/766.7.7/7777..7/.666.6./.1.6.77/76.4.../4.6.47. 4455346 134,156 29,37 0"
    )
    good, bad = (position.find_move(move) for move in ("3@b1", "4@a4"))
    engine = Engine()
    limits = Limits(time=2)
    saved = engine.suggest(position, limits=limits, allowed=[good, bad], until_decided=True)
    assert saved.statistics.stop_reason is StopReason.DECIDED
    assert saved.best_move == good
    assert saved.statistics.elapsed < 2
    used = engine.suggest(position, limits=Limits(time=0.2), allowed=[good, bad])
    assert used.statistics.stop_reason is StopReason.TIME
    forced = engine.suggest(position, limits=limits, allowed=[good], until_decided=True)
    assert forced.statistics.stop_reason is StopReason.ONLY_MOVE
    limited = engine.suggest(position, limits=Limits(simulations=500), until_decided=True)
    assert limited.statistics.stop_reason is StopReason.SIMULATIONS


def test_stop_from_another_thread_returns_what_is_there():
    position = Position.parse(OPENING)
    engine = Engine()
    answers = []
    threads = [
        threading.Thread(
            target=lambda: answers.append(
                engine.suggest(position, limits=Limits(time=60, threads=2))
            )
        )
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        while thread.is_alive():  # one that had not begun was not stopped yet
            engine.stop()
            thread.join(0.05)
    for answer in answers:
        assert answer.statistics.stop_reason is StopReason.STOPPED
        assert answer.statistics.simulations > 0


def test_stopped_before_it_began_there_is_still_a_searched_move():
    stop = StopFlag()
    stop.set()
    position = Position.parse(OPENING)
    analysis = Engine(knowledge=False).suggest(position, stop=stop)
    assert analysis.best_move in position.moves()
    assert analysis.statistics.stop_reason is StopReason.STOPPED
    # The least number, so that it is no random move, or what four milliseconds allow.
    assert 0 < analysis.statistics.simulations <= 64
    late = Engine().suggest(position, limits=Limits(time=1e-9), until_decided=True)
    assert late.statistics.simulations > 0


def test_a_move_is_evaluated_alone():
    position = Position.parse(OPENING)
    best = Engine().suggest(position, limits=Limits(simulations=2000), seed=1).best_move
    found = [
        Engine().evaluate(position, best, Limits(simulations=2000), seed=seed) for seed in (1, 1, 2)
    ]
    assert found[0] == found[1] != found[2]
    for estimate in found:
        assert sum(estimate.win_share) == pytest.approx(1)
        assert 0 < estimate.standard_error < 0.02
    far = Position.create("roygbiv", seed=1)
    with pytest.raises(InvalidInput):
        Engine().evaluate(far, replace(best, code=-1), Limits(simulations=10))


def test_levels_limit_the_simulations_and_play_legal_moves():
    position = Position.parse(OPENING)
    counts = []
    for level in range(1, 8):
        analysis = Engine().suggest(position, limits=Limits(time=5), strength=Strength(level))
        assert analysis.best_move in position.moves()
        counts.append(analysis.statistics.simulations)
    assert counts == sorted(set(counts))
    with pytest.raises(InvalidInput):
        Engine().suggest(position, strength=Strength(elo=1e6))


def test_a_full_memory_is_told():
    analysis = Engine(memory=2**20).suggest(
        Position.parse(OPENING), limits=Limits(simulations=100_000)
    )
    assert analysis.statistics.memory <= 2**20
    assert analysis.statistics.simulations == 100_000
    assert any("memory" in warning for warning in analysis.warnings)


@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        ({"seed": -1}, "seed"),
        ({"seed": 2**64}, "seed"),
        ({"seat": 2}, "seat"),
        ({"seat": -1}, "seat"),
        ({"strength": Strength(elo=-9999)}, "elo"),
    ],
)
def test_bad_arguments_name_their_path(arguments, path):
    with pytest.raises(InvalidInput) as error:
        Engine().suggest(Position.parse(OPENING), **arguments)
    assert [violation.path for violation in error.value.violations] == [path]


def test_a_seat_that_is_not_to_act():
    with pytest.raises(SeatNotToAct):
        Engine().suggest(Position.create("roygbiv", seed=1, start_seat=0), seat=1)


def test_few_candidates_are_the_best_of_all():
    position = Position.parse(OPENING)
    limits = Limits(simulations=2_000)
    everything = Engine().suggest(position, limits=limits, seed=4)
    few = Engine().suggest(position, limits=limits, seed=4, candidates=3)
    assert few.candidates == everything.candidates[:3]
    assert few.best_move == everything.best_move
    assert few.estimate == everything.estimate
    with pytest.raises(InvalidInput):
        Engine().suggest(position, candidates=0)


@pytest.mark.parametrize("game", ["roygbiv", "my_shelfie"])
def test_the_noise_of_few_simulations_does_not_outweigh_a_look_that_is_trusted(game):
    trusting = Engine(tuning={"prior_visits": 1e9})
    for seed in range(10):
        position = Position.create(game, seed=seed)
        look = Engine().suggest(position, limits=Limits(simulations=1), seed=1)
        answer = trusting.suggest(position, limits=Limits(simulations=100), seed=1)
        assert answer.best_move == look.best_move
