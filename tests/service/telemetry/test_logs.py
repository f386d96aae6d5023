"""The log of a real server: what a line tells, what it never tells, and that it holds up nobody."""

import json
import os
import pty
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1.health_pb2 import HealthCheckRequest

from aleator.search import Position
from aleator.service.telemetry.calls import ID_LIMIT
from aleator.v1.game_service_pb2 import ConvertStateRequest, CreateGameRequest, ListMovesRequest
from aleator.v1.opponent_service_pb2 import (
    AnalyzeBatchRequest,
    AnalyzePositionRequest,
    SuggestMoveRequest,
)
from tests.service.process import ServerProcess
from tests.service.telemetry.observed import ObservedServer

ROYGBIV = Position.create("roygbiv", seed=5)
RIVIERA = Position.create("riviera", seed=5)
SECRET = "a-secret-token"
SUGGEST = "aleator.v1.OpponentService/SuggestMove"


@pytest.fixture
def logged(tmp_path: Path) -> Iterator[ObservedServer]:
    with ObservedServer(tmp_path / "log") as server:
        yield server


def calls(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [line for line in lines if line["event"] == "call"]


def state(position: Position) -> dict[str, str]:
    return {"notation": position.notation}


def test_a_line_for_each_call_tells_what_it_was_about(logged: ObservedServer) -> None:
    limits = {"simulations": 300}
    suggest = SuggestMoveRequest(state=state(ROYGBIV), limits=limits)
    analyze = AnalyzePositionRequest(state=state(RIVIERA), seat=1, limits=limits)
    items = [
        AnalyzeBatchRequest(id=str(number), state=state(ROYGBIV), limits=limits)
        for number in range(3)
    ]
    own = (("x-request-id", "ply-17"),)
    _, answered = logged.opponent.SuggestMove.with_call(suggest, metadata=own)
    assert ("x-request-id", "ply-17") in answered.trailing_metadata()
    stream = logged.opponent.AnalyzePosition(analyze)
    list(stream)
    made = dict(stream.trailing_metadata())["x-request-id"]
    list(logged.opponent.AnalyzeBatch(iter(items)))
    with pytest.raises(grpc.RpcError) as refused:
        logged.games.ListMoves(ListMovesRequest(state={"notation": "chess"}), metadata=own)
    assert dict(refused.value.trailing_metadata())["x-request-id"] == "ply-17"
    assert "grpc-status-details-bin" in dict(refused.value.trailing_metadata())
    with pytest.raises(grpc.RpcError):
        logged.channel.unary_unary("/aleator.v1.GameService/Steal")(b"")
    with pytest.raises(grpc.RpcError):
        logged.opponent.SuggestMove(
            SuggestMoveRequest(state=state(ROYGBIV), limits={"time": {"seconds": 50}}),
            timeout=0.0005,
        )
    logged.health.Check(HealthCheckRequest())

    first, second, batch, bad, unknown, *late = calls(logged.lines())
    assert first.pop("ms") > 0
    assert first.pop("timestamp").endswith("Z")
    assert first == {
        "event": "call",
        "level": "info",
        "logger": "aleator",
        "request_id": "ply-17",
        "method": SUGGEST,
        "code": "OK",
        "client": "127.0.0.1",
        "game": "roygbiv",
        "simulations": 300,
        "stop_reason": "simulations",
    }
    assert (second["method"], second["game"]) == (
        "aleator.v1.OpponentService/AnalyzePosition",
        "riviera",
    )
    assert second["request_id"] == made
    assert (batch["searches"], batch["simulations"]) == (3, 900)
    assert (bad["code"], bad["reason"]) == ("NOT_FOUND", "UNKNOWN_GAME")
    assert (unknown["method"], unknown["code"]) == ("unknown", "UNIMPLEMENTED")
    # If it arrived at all; and the probe is not logged.
    assert all(line["code"] in {"DEADLINE_EXCEEDED", "CANCELLED"} for line in late)


def test_nothing_of_a_request_is_logged(tmp_path: Path) -> None:
    """At the lowest level, with good requests and bad ones, of hidden hands and with keys."""
    hidden = RIVIERA.notation
    with ObservedServer(tmp_path / "log", log_level="debug") as server:
        metadata = (("authorization", f"Bearer {SECRET}"), ("x-api-key", SECRET))
        requests = [
            SuggestMoveRequest(state={"notation": hidden}, seat=0, limits={"simulations": 100}),
            SuggestMoveRequest(state={"notation": hidden}),
            SuggestMoveRequest(state={"notation": hidden + " extra"}, seat=9),
        ]
        suggested, *refused = requests
        server.opponent.SuggestMove(suggested, metadata=metadata)
        for request in refused:
            with pytest.raises(grpc.RpcError):
                server.opponent.SuggestMove(request, metadata=metadata)
        typed = server.games.CreateGame(
            CreateGameRequest(game="riviera", seed=5), metadata=metadata
        )
        server.games.ConvertState(ConvertStateRequest(state=typed.state), metadata=metadata)
        for name in (f"{SECRET} with a space", SECRET * ID_LIMIT):
            server.health.Check(HealthCheckRequest(), metadata=(("x-request-id", name),))
        assert len(calls(server.lines())) == 7
    text = (tmp_path / "log").read_text()
    assert SECRET not in text
    for word in hidden.split():
        if len(word) > 4 and word != "riviera":
            assert word not in text, word


def test_what_libraries_log_and_nobody_catches_is_in_it() -> None:
    code = """
import logging, sys, threading
from aleator.service.telemetry.calls import Call, _current
from aleator.service.telemetry.logs import Log
log = Log("json", "info", sys.stderr)
_current.set(Call("m", "ply-3", (), 0.0))
try:
    card = "7c"
    1 / 0
except ZeroDivisionError as error:
    logging.getLogger("grpc._cython.cygrpc").error("%s failed", "m", exc_info=error)
logging.getLogger("grpc._cython.cygrpc").error("ExecuteBatchError: the client left")
threading.Thread(target=lambda: [][0]).start()
import warnings
warnings.warn("old")
logging.getLogger("x").error("%d cards", "seven")
log.close()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    failed, thread, warning, mistake = (json.loads(line) for line in done.stderr.splitlines())
    assert (failed["event"], failed["request_id"]) == ("m failed", "ply-3")
    assert failed["logger"] == "grpc._cython.cygrpc"
    assert "ZeroDivisionError" in failed["exception"]
    assert "7c" not in failed["exception"]  # tracebacks with values of variables would show it
    assert (thread["event"], thread["level"]) == ("uncaught exception", "critical")
    assert "IndexError" in thread["exception"]
    assert "old" in warning["event"]
    assert mistake["event"] == "bad arguments for '%d cards'"


def test_people_at_a_terminal_read_text() -> None:
    ours, theirs = pty.openpty()
    with ServerProcess('{"listen": "127.0.0.1:0"}', stderr=theirs) as server:
        server.games.CreateGame(CreateGameRequest(game="riviera", seed=5))
        server.stop()
    text = os.read(ours, 10_000).decode()
    os.close(ours)
    os.close(theirs)
    plain = re.sub(r"\x1b\[[\d;]*m", "", text)
    assert re.search(r"call .*code=OK game=riviera method=aleator.v1.GameService/CreateGame", plain)


def test_clients_cannot_write_to_the_terminal() -> None:
    code = """
import sys
from aleator.service.telemetry.calls import Call
from aleator.service.telemetry.logs import CallLog, Log
log = Log("text", "info", sys.stderr)
for name in ("a\\x1b[2Jb", "a\\nfake line", "a\\x9bb"):
    CallLog().call_ended(Call("m", "id", (), 0.0, name))
log.close()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert len(done.stderr.splitlines()) == 3
    assert done.stderr.replace("\n", "").isprintable()


def test_a_reader_of_the_log_that_stalls_holds_up_nobody() -> None:
    with ServerProcess('{"listen": "127.0.0.1:0"}', stderr=subprocess.PIPE) as server:
        request = CreateGameRequest(game="roygbiv", seed=1)
        name = (("x-request-id", "x" * ID_LIMIT),)
        for _ in range(400):  # some 250 bytes a line: more than a pipe of 64 KiB takes
            server.games.CreateGame(request, metadata=name, timeout=5)
        start = time.monotonic()
        server.process.terminate()
        assert server.process.wait(20) == 0
        server.process.communicate()
        assert time.monotonic() - start < 15
