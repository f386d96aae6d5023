"""OpponentService.AnalyzePosition over the wire: its reports, their times, and slow readers."""

import asyncio
import random
import signal
import time
from collections.abc import Iterator
from math import inf
from typing import Any

import grpc
import pytest
from grpc_health.v1.health_pb2 import HealthCheckRequest

from aleator.search import Analysis, Engine, Limits, Position, StopFlag
from aleator.service.admission import Admission
from aleator.service.opponent_servicer import OpponentServicer
from aleator.service.settings import Settings
from aleator.service.telemetry.searches import SearchWatch
from aleator.v1 import analysis_pb2, game_service_pb2, state_pb2
from aleator.v1.opponent_service_pb2 import (
    AnalyzePositionRequest,
    AnalyzePositionResponse,
    SuggestMoveRequest,
)
from aleator.v1.opponent_service_pb2_grpc import OpponentServiceStub
from tests.service.process import ServerProcess, details

OPENING = Position.create("roygbiv", seed=5)
NOTATION = state_pb2.GameState(notation=OPENING.notation)
OFTEN = {"nanos": 50_000_000}
LONG = {"time": {"seconds": 50}}


def analyze(server: ServerProcess, timeout: float | None = None, **fields: Any) -> Iterator[Any]:
    request = AnalyzePositionRequest(**({"state": NOTATION, "report_interval": OFTEN} | fields))
    return server.opponent.AnalyzePosition(request, timeout=timeout)


def check_shape(reports: list[AnalyzePositionResponse]) -> None:
    """Every report is complete, none falls behind the one before, only the last is final."""
    assert [report.final for report in reports] == [False] * (len(reports) - 1) + [True]
    before = 0
    for report in reports:
        analysis = report.analysis
        statistics = analysis.statistics
        unset = statistics.stop_reason == analysis_pb2.STOP_REASON_UNSPECIFIED
        assert unset != report.final
        assert statistics.simulations >= max(1, before)
        before = statistics.simulations
        assert analysis.best_move_notation == analysis.candidates[0].notation
        # The root tries 4 + sqrt(simulations) / 2 moves, so ten from the 102nd on.
        count = len(analysis.candidates)
        assert count == 10 or (0 < count < 10 and before < 102)
        assert sum(candidate.visits for candidate in analysis.candidates) <= before
        assert analysis.candidates[0].principal_variation
        assert sum(analysis.estimate.win_shares) == pytest.approx(1)


def test_reports_come_until_the_final_one(server: ServerProcess) -> None:
    reports = list(analyze(server, limits={"time": {"seconds": 1}}))
    check_shape(reports)
    assert 2 <= len(reports) <= 20
    assert reports[-1].analysis.statistics.stop_reason == analysis_pb2.STOP_REASON_TIME


def test_the_final_report_is_the_answer_of_the_engine(server: ServerProcess) -> None:
    fields = {"state": NOTATION, "limits": {"simulations": 60_000}, "seed": 9}
    fields |= {"strength": {"level": 10}, "max_candidates": 3}
    *_, last = analyze(server, **fields)
    answer = server.opponent.SuggestMove(SuggestMoveRequest(**fields))
    for analysis in (last.analysis, answer.analysis):
        analysis.statistics.ClearField("elapsed")
    assert last.analysis == answer.analysis
    expected = Engine().suggest(OPENING, limits=Limits(simulations=60_000), seed=9)
    assert last.analysis.best_move_notation == expected.best_move.notation


def test_the_level_holds_for_every_report(server: ServerProcess) -> None:
    reports = list(analyze(server, strength={"level": 1}))
    assert reports[-1].final
    answer = server.opponent.SuggestMove(
        SuggestMoveRequest(state=NOTATION, strength={"level": 1})
    ).analysis
    spent = reports[-1].analysis.statistics
    assert spent.simulations == answer.statistics.simulations
    assert spent.stop_reason == analysis_pb2.STOP_REASON_SIMULATIONS


def test_one_report_where_there_is_nothing_to_search(server: ServerProcess) -> None:
    only = {"notation": OPENING.moves()[0].notation}
    (report,) = analyze(server, limits=LONG, allowed_moves=[only])
    assert report.final
    assert report.analysis.best_move_notation == only["notation"]
    assert report.analysis.statistics.stop_reason == analysis_pb2.STOP_REASON_ONLY_MOVE


def test_one_report_where_the_rest_is_solved(server: ServerProcess) -> None:
    chooser = random.Random(1)
    position = OPENING
    for _ in range(44):  # of 48 plies
        move = chooser.choice(position.moves())
        position, _ = position.apply({move.seat: move}, seed=chooser.getrandbits(64))
    (report,) = analyze(server, state={"notation": position.notation}, limits=LONG)
    assert report.final
    assert report.analysis.statistics.exact
    assert report.analysis.statistics.stop_reason == analysis_pb2.STOP_REASON_SOLVED


@pytest.mark.timing
@pytest.mark.parametrize("limits", [{}, {"simulations": 10**15}, LONG])
def test_the_final_report_arrives_before_the_deadline(
    server: ServerProcess, limits: dict[str, object]
) -> None:
    start = time.monotonic()
    reports = list(analyze(server, timeout=0.6, limits=limits))
    assert 0.5 < time.monotonic() - start < 0.6
    check_shape(reports)
    assert reports[-1].analysis.statistics.stop_reason == analysis_pb2.STOP_REASON_TIME


def test_a_deadline_ends_with_a_final_report(server: ServerProcess) -> None:
    reports = list(analyze(server, timeout=3, limits=LONG))
    check_shape(reports)
    assert reports[-1].analysis.statistics.stop_reason == analysis_pb2.STOP_REASON_TIME


def test_a_server_that_stops_sends_the_final_report() -> None:
    settings = '{"listen": "127.0.0.1:0", "workers": 1, "grace": 1.0}'
    with ServerProcess(settings) as stopping:
        reports = analyze(stopping, limits=LONG)
        seen = [next(reports)]
        stopping.process.send_signal(signal.SIGTERM)
        seen += reports
        check_shape(seen)
        assert seen[-1].analysis.statistics.stop_reason == analysis_pb2.STOP_REASON_STOPPED
        assert stopping.wait() == ""


def test_reports_go_on_when_the_memory_is_used_up() -> None:
    with ServerProcess('{"listen": "127.0.0.1:0", "memory": 1048576}') as small:
        reports = list(analyze(small, limits={"time": {"seconds": 2}}))
        check_shape(reports)
        statistics = reports[-1].analysis.statistics
        assert statistics.memory <= 2**20
        assert statistics.simulations > 10_000


def test_a_slow_reader_is_not_sent_what_is_old(server: ServerProcess) -> None:
    request = AnalyzePositionRequest(
        state=NOTATION, limits={"time": {"seconds": 4}}, max_candidates=0, report_interval=OFTEN
    )
    # The client's window of HTTP/2 would grow with what it receives; so it has room for 64 KiB.
    options = [("grpc.http2.bdp_probe", 0)]
    with grpc.insecure_channel(server.address, options) as channel:
        reports = OpponentServiceStub(channel).AnalyzePosition(request)
        assert not next(reports).final
        time.sleep(5)
        rest = list(reports)
    assert rest[-1].final
    assert rest[-1].analysis.statistics.stop_reason == analysis_pb2.STOP_REASON_TIME
    assert len(rest) > 1
    # Without regard to the reader there would be three times as many.
    assert sum(report.ByteSize() for report in rest) < 2**18


class SlowClient:
    """Stands for the call of a client without a deadline."""

    def time_remaining(self) -> None:
        return None


async def test_what_waits_for_a_slow_reader_is_the_newest_report() -> None:
    admission = Admission(1, 0)
    servicer = OpponentServicer(Engine(), admission, SearchWatch(), Settings(workers=1))
    limits = {"time": {"seconds": 1}}
    request = AnalyzePositionRequest(state=NOTATION, limits=limits, report_interval=OFTEN)
    reports = servicer.AnalyzePosition(request, SlowClient())
    first = await anext(reports)
    await asyncio.sleep(0.6)
    second = await anext(reports)
    await asyncio.sleep(5)
    third = await anext(reports)
    assert not first.final
    assert not second.final
    elapsed = [r.analysis.statistics.elapsed.ToMilliseconds() for r in (first, second)]
    assert elapsed[1] - elapsed[0] > 300  # not the one that came right after the first
    assert third.final
    with pytest.raises(StopAsyncIteration):
        await anext(reports)
    admission.close()


@pytest.mark.timing
async def test_leaving_stops_the_search_within_ten_milliseconds() -> None:
    admission = Admission(1, 1)
    servicer = OpponentServicer(Engine(), admission, SearchWatch(), Settings(workers=1))
    request = AnalyzePositionRequest(state=NOTATION, limits=LONG, report_interval=OFTEN)
    took = []

    def short(limits: Limits, stop: StopFlag) -> Analysis:
        return Engine().suggest(OPENING, limits=limits, stop=stop)

    for _ in range(5):
        reports = servicer.AnalyzePosition(request, SlowClient())
        await anext(reports)
        start = time.monotonic()
        await reports.aclose()
        # One thread: the next search begins when this one has ended.
        await admission.run(short, Limits(time=1.0, simulations=65), inf, "next")
        took.append(time.monotonic() - start)
    admission.close()
    # The best of some: the machine may have other things to do.
    assert min(took) < 0.010


def test_a_cancelled_call_leaves_no_thread_searching(server: ServerProcess) -> None:
    calls = [analyze(server, limits=LONG | {"threads": 2}) for _ in range(4)]
    next(calls[0])
    for call in calls:
        call.cancel()
    with pytest.raises(grpc.RpcError) as cancelled:
        list(calls[0])
    assert cancelled.value.code() is grpc.StatusCode.CANCELLED
    (*_, last) = analyze(server, timeout=50, limits={"simulations": 1000})
    assert last.analysis.statistics.simulations == 1000


def test_cheap_calls_are_answered_while_analyses_run(server: ServerProcess) -> None:
    calls = [analyze(server, limits=LONG, max_candidates=0) for _ in range(6)]
    next(calls[0])
    for _ in range(3):
        server.health.Check(HealthCheckRequest(), timeout=20)
        server.games.ListMoves(game_service_pb2.ListMovesRequest(state=NOTATION), timeout=20)
    for call in calls:
        assert not call.done()
        call.cancel()


@pytest.mark.parametrize(
    "interval",
    [{"nanos": 49_999_999}, {"seconds": 60, "nanos": 1}, {"seconds": -1}, {"nanos": -1}, {}],
)
def test_what_is_wrong_is_told_with_the_field(
    server: ServerProcess, interval: dict[str, int]
) -> None:
    with pytest.raises(grpc.RpcError) as refused:
        list(analyze(server, report_interval=interval, limits={"threads": 1000}))
    found = details(refused.value)
    assert found["code"] == "INVALID_ARGUMENT"
    fields = [violation.field for violation in found["BadRequest"].field_violations]
    assert fields == ["report_interval", "limits.threads"]


def test_a_busy_server_refuses_at_once() -> None:
    with ServerProcess('{"listen": "127.0.0.1:0", "workers": 1, "queue": 0}') as small:
        running = analyze(small, limits=LONG)
        next(running)
        with pytest.raises(grpc.RpcError) as refused:
            list(analyze(small, limits=LONG))
        found = details(refused.value)
        assert found["code"] == "RESOURCE_EXHAUSTED"
        assert found["RetryInfo"].retry_delay.ToTimedelta().total_seconds() > 1
        running.cancel()
