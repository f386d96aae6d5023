"""The metrics of a real server count what it does, in a bounded number of series."""

import socket
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from urllib.error import HTTPError
from urllib.request import urlopen

import grpc
import pytest
import trustme
from grpc_health.v1.health_pb2 import HealthCheckRequest

from aleator.search import Position
from aleator.search.errors import InvalidInput
from aleator.search.games.base import read_model
from aleator.service.api_keys import new_key
from aleator.service.lateness import Lateness
from aleator.service.settings import Settings
from aleator.service.telemetry.metrics import Metrics, serve_metrics
from aleator.service.telemetry.searches import SearchWatch
from aleator.v1.game_service_pb2 import ListMovesRequest
from aleator.v1.opponent_service_pb2 import (
    AnalyzeBatchRequest,
    AnalyzePositionRequest,
    SuggestMoveRequest,
)
from aleator.v1.play_pb2 import PlayRequest
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
    observed.expect(2, "aleator_calls_total", method=list_moves, code="NOT_FOUND")
    observed.expect(2, "aleator_refusals_total", reason="UNKNOWN_GAME")
    assert observed.value("aleator_searches_total", game="roygbiv", stop_reason="simulations") == 6
    assert observed.value("aleator_simulations_total", game="roygbiv") == 1200
    assert observed.value("aleator_search_wait_seconds_count") == 6
    assert observed.value("aleator_search_tree_bytes_sum") > 6 * 200 * 10
    health = "grpc.health.v1.Health/Watch"
    assert observed.value("aleator_calls_running", method=health) == 1
    watch.cancel()
    observed.expect(0, "aleator_calls_running", method=health)
    observed.expect(1, "aleator_calls_total", method=health, code="CANCELLED")
    assert observed.value("process_resident_memory_bytes") > 2**24


def test_errors_within_streams_are_counted_while_the_stream_goes_on(
    observed: ObservedServer,
) -> None:
    limits = {"simulations": 200}
    bad = AnalyzeBatchRequest(id="bad", state={"notation": "roygbiv 8"})
    good = AnalyzeBatchRequest(id="good", state=STATE, limits=limits)
    list(observed.opponent.AnalyzeBatch(iter([bad, good, good])))
    batch = {"method": f"{OPPONENT}/AnalyzeBatch", "code": "INVALID_ARGUMENT"}
    observed.expect(2, "aleator_answer_errors_total", reason="INVALID_INPUT", **batch)
    requests: SimpleQueue[PlayRequest | None] = SimpleQueue()
    playing = observed.opponent.Play(iter(requests.get, None))
    for _ in range(3):
        requests.put(PlayRequest(game_id="g", update={"state": STATE}))
        assert next(playing).HasField("error")
    play = {"method": f"{OPPONENT}/Play"}
    assert observed.value("aleator_calls_running", **play) == 1
    name = "aleator_answer_errors_total"
    assert observed.value(name, code="NOT_FOUND", reason="GAME_NOT_STARTED", **play) == 3
    assert observed.value(name, code="RESOURCE_EXHAUSTED", reason="SERVER_BUSY", **play) == 0
    requests.put(None)
    assert not list(playing)
    lines = [line for line in observed.lines() if line["event"] == "call"]
    assert [line["code"] for line in lines] == ["OK", "OK"]
    assert [line["errors"] for line in lines] == [2, 3]


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
    asked = [observed.opponent.SuggestMove.future(request)]
    eventually(lambda: searches() == (1, 0, 1))
    asked += [observed.opponent.SuggestMove.future(request) for _ in range(2)]
    eventually(lambda: searches() == (1, 2, 1))
    with pytest.raises(grpc.RpcError) as refused:
        observed.opponent.SuggestMove(request)
    assert refused.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    observed.expect(1, "aleator_refusals_total", reason="SERVER_BUSY")
    assert searches() == (1, 2, 1)
    asked[2].cancel()
    eventually(lambda: searches() == (1, 1, 1))
    asked[0].cancel()
    eventually(lambda: searches() == (1, 0, 1))
    eventually(lambda: observed.value("aleator_search_wait_seconds_sum") > 0.01)
    asked[1].cancel()
    eventually(lambda: searches() == (0, 0, 0))
    suggest = f"{OPPONENT}/SuggestMove"
    observed.expect(3, "aleator_calls_total", method=suggest, code="CANCELLED")
    assert observed.value("aleator_search_threads") == 1
    assert observed.value("aleator_queue_places") == 2


def test_metrics_are_served_until_the_last_call_has_ended(observed: ObservedServer) -> None:
    request = SuggestMoveRequest(state=STATE, limits={"time": {"seconds": 3}})
    search = observed.opponent.SuggestMove.future(request)
    observed.expect(1, "aleator_searches_running")
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
    assert f"metrics_listen: cannot listen on {taken}: another program listens there" in done.stderr


def test_calls_are_counted_by_the_name_of_their_key(tmp_path: Path) -> None:
    key, line = new_key("web-app")
    keys = tmp_path / "keys.toml"
    keys.write_text(line + "\n")
    with ObservedServer(tmp_path / "log", api_keys=str(keys)) as server:
        request = SuggestMoveRequest(state=STATE, limits={"simulations": 100})
        for secret in (key, key, key[:-1] + "?"):
            with suppress(grpc.RpcError):
                server.opponent.SuggestMove(request, metadata=(("x-api-key", secret),))
        assert server.value("aleator_key_calls_total", key="web-app") == 2
        assert server.value("aleator_key_simulations_total", key="web-app") == 200
        server.expect(1, "aleator_refusals_total", reason="API_KEY_UNKNOWN")
        lines = server.lines()
    assert [line["client"] for line in lines if line.get("code") == "OK"] == ["web-app"] * 2
    assert key.removeprefix("aleator_web-app_") not in (tmp_path / "log").read_text()


def test_others_read_metrics_only_with_tls_or_when_told_so() -> None:
    with pytest.raises(InvalidInput, match=r"^metrics_listen: others can connect to 0.0.0.0:1, "):
        read_model(Settings, {"metrics_listen": "0.0.0.0:1"})
    assert Settings(metrics_listen="0.0.0.0:1", insecure=True)
    assert Settings(metrics_listen="0.0.0.0:1", tls_certificate="a", tls_key="b")


def test_a_request_that_stops_midway_is_no_matter_for_the_log(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("aleator.service.telemetry.metrics.REQUEST_TIME", 0.1)
    metrics = Metrics(Settings(), [], [], SearchWatch(), Lateness())
    with serve_metrics(metrics, "127.0.0.1:0") as address:
        host, _, port = address.rpartition(":")
        with socket.create_connection((host, int(port)), timeout=10) as connection:
            connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: half")
            assert connection.recv(1) == b""  # the server has given up
        with urlopen(f"http://{address}/metrics", timeout=5) as answer:
            assert b"aleator_build_info" in answer.read()
        with pytest.raises(HTTPError, match="404"):
            urlopen(f"http://{address}/", timeout=5)
    assert capfd.readouterr().err == ""


def test_over_tls_nobody_holds_up_the_others(tmp_path: Path) -> None:
    authority = trustme.CA()
    files = {name: tmp_path / f"{name}.pem" for name in ("ca", "certificate", "key")}
    authority.cert_pem.write_to_path(str(files["ca"]))
    own = authority.issue_cert("127.0.0.1")
    own.cert_chain_pems[0].write_to_path(str(files["certificate"]))
    own.private_key_pem.write_to_path(str(files["key"]))
    metrics = Metrics(Settings(), [], [], SearchWatch(), Lateness())
    knows_server = ssl.create_default_context(cafile=str(files["ca"]))
    has_certificate = ssl.create_default_context(cafile=str(files["ca"]))
    authority.issue_cert("prometheus").configure_cert(has_certificate)
    with serve_metrics(
        metrics, "127.0.0.1:0", files["certificate"], files["key"], files["ca"]
    ) as address:
        host, _, port = address.rpartition(":")
        with (
            socket.create_connection((host, int(port))),
            socket.create_connection((host, int(port))),
        ):
            url = f"https://{address}/metrics"
            with urlopen(url, timeout=5, context=has_certificate) as answer:
                assert b"aleator_build_info" in answer.read()
            with pytest.raises(OSError, match=r"certificate required|closed|reset|EOF"):
                urlopen(url, timeout=5, context=knows_server).read()
            with pytest.raises(OSError, match="certificate verify failed"):
                urlopen(url, timeout=5, context=ssl.create_default_context())
