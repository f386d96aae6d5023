"""The metrics of a real server count what it does, in a bounded number of series."""

import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import grpc
import pytest
from grpc_health.v1.health_pb2 import HealthCheckRequest

from aleator.search import Position
from aleator.v1.game_service_pb2 import ListMovesRequest
from aleator.v1.opponent_service_pb2 import (
    AnalyzeBatchRequest,
    AnalyzePositionRequest,
    SuggestMoveRequest,
)
from tests.service.process import serve_command
from tests.service.telemetry.observed import ObservedServer

STATE = {"notation": Position.create("roygbiv", seed=5).notation}
OPPONENT = "aleator.v1.OpponentService"


@pytest.fixture
def observed(tmp_path: Path) -> Iterator[ObservedServer]:
    with ObservedServer(tmp_path / "log", workers=1, queue=2) as server:
        yield server


def eventually(probe: Callable[[], bool]) -> None:
    for _ in range(100):
        if probe():
            return
        time.sleep(0.05)
    raise AssertionError("it never came to that")


def test_calls_of_all_kinds_are_counted(observed: ObservedServer) -> None:
    limits = {"simulations": 200}
    for _ in range(3):
        observed.opponent.SuggestMove(SuggestMoveRequest(state=STATE, limits=limits))
    list(observed.opponent.AnalyzePosition(AnalyzePositionRequest(state=STATE, limits=limits)))
    items = [AnalyzeBatchRequest(id=str(number), state=STATE, limits=limits) for number in range(2)]
    list(observed.opponent.AnalyzeBatch(iter(items)))
    for _ in range(2):
        with pytest.raises(grpc.RpcError):
            observed.games.ListMoves(ListMovesRequest(state={"notation": "chess"}))
    watch = observed.health.Watch(HealthCheckRequest())
    next(watch)

    for method, count in {"SuggestMove": 3, "AnalyzePosition": 1, "AnalyzeBatch": 1}.items():
        name = f"{OPPONENT}/{method}"
        assert observed.value("aleator_calls_total", method=name, code="OK") == count
        assert observed.value("aleator_call_duration_seconds_count", method=name) == count
        assert observed.value("aleator_calls_running", method=name) == 0
    assert observed.value("aleator_call_duration_seconds_sum", method=f"{OPPONENT}/SuggestMove") > 0
    list_moves = "aleator.v1.GameService/ListMoves"
    assert observed.value("aleator_calls_total", method=list_moves, code="NOT_FOUND") == 2
    assert observed.value("aleator_refusals_total", reason="UNKNOWN_GAME") == 2
    assert observed.value("aleator_searches_total", game="roygbiv", stop_reason="simulations") == 6
    assert observed.value("aleator_simulations_total", game="roygbiv") == 1200
    assert observed.value("aleator_search_wait_seconds_count") == 6
    assert observed.value("aleator_search_tree_bytes_sum") > 6 * 200 * 10
    health = "grpc.health.v1.Health/Watch"
    assert observed.value("aleator_calls_running", method=health) == 1
    watch.cancel()
    eventually(lambda: observed.value("aleator_calls_running", method=health) == 0)
    assert observed.value("aleator_calls_total", method=health, code="CANCELLED") == 1
    assert observed.value("process_resident_memory_bytes") > 2**24


def test_clients_cannot_make_series(observed: ObservedServer) -> None:
    before = observed.series()
    for number in range(50):
        for service in (f"aleator.v1.Service{number}", OPPONENT):
            with pytest.raises(grpc.RpcError):
                observed.channel.unary_unary(f"/{service}/Method{number}")(b"")
    after = observed.series()
    unknown = ("aleator_calls_total", frozenset({("method", "unknown"), ("code", "UNIMPLEMENTED")}))
    assert set(after) - set(before) == {unknown}
    assert after[unknown] == 100


def test_the_queue_shows_while_searches_wait(observed: ObservedServer) -> None:
    request = SuggestMoveRequest(state=STATE, limits={"time": {"seconds": 30}})

    def searches() -> tuple[float, ...]:
        names = ("searches_running", "searches_waiting", "search_threads_busy")
        return tuple(observed.value(f"aleator_{name}") for name in names)

    assert searches() == (0, 0, 0)
    asked = [observed.opponent.SuggestMove.future(request) for _ in range(3)]
    eventually(lambda: searches() == (1, 2, 1))
    with pytest.raises(grpc.RpcError) as refused:
        observed.opponent.SuggestMove(request)
    assert refused.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert observed.value("aleator_refusals_total", reason="SERVER_BUSY") == 1
    assert searches() == (1, 2, 1)
    asked[2].cancel()
    eventually(lambda: searches() == (1, 1, 1))
    asked[0].cancel()
    eventually(lambda: searches() == (1, 0, 1))
    assert observed.value("aleator_search_wait_seconds_sum") > 0.01
    asked[1].cancel()
    eventually(lambda: searches() == (0, 0, 0))
    suggest = f"{OPPONENT}/SuggestMove"
    assert observed.value("aleator_calls_total", method=suggest, code="CANCELLED") == 3
    assert observed.value("aleator_search_threads") == 1
    assert observed.value("aleator_queue_places") == 2


def test_metrics_are_served_until_the_last_call_has_ended(observed: ObservedServer) -> None:
    request = SuggestMoveRequest(state=STATE, limits={"time": {"seconds": 1}})
    search = observed.opponent.SuggestMove.future(request)
    eventually(lambda: observed.value("aleator_searches_running") == 1)
    observed.process.terminate()
    time.sleep(0.2)
    assert observed.value("aleator_searches_running") == 1
    search.result()
    observed.wait()
    events = [line["event"] for line in observed.lines()]
    assert events[-3:] == ["stopping", "call", "stopped"]


def test_a_port_in_use_is_an_error(observed: ObservedServer) -> None:
    taken = observed.metrics_address
    command = serve_command(f'{{"listen": "127.0.0.1:0", "metrics_listen": "{taken}"}}')
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 1
    assert done.stdout == ""
    assert f"cannot listen on {taken}: it is taken" in done.stderr
