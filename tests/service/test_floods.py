"""Clients that mean no good, or whose network does not: others are served all the same."""

import json
import os
import random
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

import grpc
import pytest

from aleator.search import Position
from aleator.service.api_keys import new_key
from aleator.v1.game_service_pb2 import ListMovesRequest
from aleator.v1.opponent_service_pb2 import SuggestMoveRequest
from tests.service.process import ServerProcess, details

Metadata: TypeAlias = tuple[tuple[str, str], ...]

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
NOTATION = Position.create("roygbiv", seed=5).notation
FLOOD = 3.0
"""Seconds that a flood lasts."""


@contextmanager
def flood(*kinds: Callable[[], None]) -> Iterator[None]:
    """Do something again and again on threads of their own."""
    stop = threading.Event()
    failures: list[Exception] = []

    def repeat(kind: Callable[[], None]) -> None:
        while not stop.is_set():
            try:
                kind()
            except OSError:  # the server has every right to hang up
                pass
            except Exception as error:  # noqa: BLE001 - told below
                failures.append(error)
                return

    threads = [threading.Thread(target=repeat, args=(kind,)) for kind in kinds]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join(timeout=20)
    assert not failures


def serve_well(server: ServerProcess, **call: object) -> None:
    """Check that a client gets its answers for as long as a flood lasts."""
    end = time.monotonic() + FLOOD
    while time.monotonic() < end:
        request = ListMovesRequest(state={"notation": NOTATION})
        assert server.games.ListMoves(request, timeout=5, **call).moves
        suggestion = SuggestMoveRequest(state={"notation": NOTATION}, limits={"simulations": 200})
        assert server.opponent.SuggestMove(
            suggestion, timeout=5, **call
        ).analysis.best_move_notation


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def literal(name: bytes, value: bytes) -> bytes:
    """A header as HPACK writes it without compression."""
    return b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value


def call(path: bytes, more: bytes = b"") -> bytes:
    """The frames of a call with an empty request."""
    headers = b"\x83\x86\x04" + bytes([len(path)]) + path + b"\x01\x01a"
    headers += literal(b"content-type", b"application/grpc") + literal(b"te", b"trailers") + more
    return frame(1, 4, 1, headers) + frame(0, 1, 1, bytes(5))


def connect(server: ServerProcess) -> socket.socket:
    host, port = server.address.rsplit(":", 1)
    return socket.create_connection((host, int(port)), timeout=2)


def own_connection(address: str) -> grpc.Channel:
    """Connect as another process would."""
    return grpc.insecure_channel(address, [("grpc.use_local_subchannel_pool", 1)])


def garbage(chance: random.Random) -> bytes:
    """What a connection may begin with that is no HTTP/2, or no good one."""
    settings = PREFACE + frame(4, 0, 0, b"")
    return chance.choice(
        [
            chance.randbytes(chance.randrange(1, 5000)),
            b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
            PREFACE + chance.randbytes(200),
            # Frames of all kinds with any content, on streams that there are not.
            settings
            + b"".join(
                frame(
                    chance.randrange(12),
                    chance.randrange(256),
                    chance.choice([0, 1, 2, 3, 2**31 - 1]),
                    chance.randbytes(chance.randrange(60)),
                )
                for _ in range(20)
            ),
            # Headers that say nothing good, then resets: the "rapid reset".
            settings
            + b"".join(
                frame(1, 4, stream, b"\x83\x86\x44\x01/") + frame(3, 0, stream, b"\0\0\0\x08")
                for stream in range(1, 400, 2)
            ),
            # A good call but for bytes that are no UTF-8, in its path or its metadata.
            settings + call(b"/\xff\xfe"),
            settings
            + call(b"/aleator.v1.GameService/ListGames", literal(b"x-request-id", b"\xff")),
            # Headers without an end, and a body without one.
            settings + frame(1, 0, 1, b"\x83\x86") + frame(9, 0, 1, b"\x40\x01a\x01b") * 100,
            settings + frame(4, 0, 0, b"\0\x04\0\0\0\0") * 200 + frame(6, 0, 0, b"x" * 8) * 200,
        ]
    )


def test_garbage_and_silence_on_connections_leave_others_served(server: ServerProcess) -> None:
    chance = random.Random(os.getpid())

    def send_garbage() -> None:
        with connect(server) as connection:
            connection.sendall(garbage(chance))
            connection.settimeout(0.05)
            while connection.recv(4096):
                pass

    # Connections that say nothing, or half of what they should, and stay.
    silent = [connect(server) for _ in range(100)]
    for index, connection in enumerate(silent):
        connection.sendall((PREFACE + frame(4, 0, 0, b""))[: index % 34])
    try:
        with flood(send_garbage, send_garbage):
            serve_well(server)
    finally:
        for connection in silent:
            connection.close()
    assert server.process.poll() is None


def server_with_keys(folder: Path, *names: str) -> tuple[str, list[Metadata]]:
    """The settings of a server, and what clients with keys send to it."""
    keys = [new_key(name) for name in names]
    file = folder / "keys.toml"
    file.write_text("\n".join(line for _, line in keys))
    settings = {"listen": "127.0.0.1:0", "workers": 2, "api_keys": str(file), "log_level": "error"}
    return json.dumps(settings), [(("x-api-key", key),) for key, _ in keys]


@pytest.mark.parametrize("where", ["path", "key"])
def test_bytes_that_are_no_text_end_one_call_and_are_not_logged(tmp_path: Path, where: str) -> None:
    log = tmp_path / "log"
    settings = '{"listen": "127.0.0.1:0", "workers": 1, "log_level": "debug"}'
    secret = b"0123456789abcdef"
    odd = (
        call(b"/" + secret + b"\xff")
        if where == "path"
        else call(b"/aleator.v1.GameService/ListGames", literal(b"x-api-key", secret + b"\xff"))
    )
    with log.open("w") as stream, ServerProcess(settings, stream) as server:
        with connect(server) as connection:
            connection.sendall(PREFACE + frame(4, 0, 0, b"") + odd)
            received = b""
            while b"grpc-status" not in received:
                received += connection.recv(4096)
        assert server.games.ListMoves(ListMovesRequest(state={"notation": NOTATION})).moves
        server.stop()
    assert secret.decode() not in log.read_text()


def test_calls_that_are_opened_and_left_leave_others_served(tmp_path: Path) -> None:
    settings, (alice, bob) = server_with_keys(tmp_path, "alice", "bob")
    request = SuggestMoveRequest(
        state={"notation": NOTATION}, limits={"time": {"seconds": 60}}
    ).SerializeToString()
    with ServerProcess(settings) as server, own_connection(server.address) as channel:
        suggest = channel.unary_unary("/aleator.v1.OpponentService/SuggestMove")
        endless = channel.stream_stream("/aleator.v1.OpponentService/AnalyzeBatch")
        never = threading.Event()

        def nothing() -> Iterator[bytes]:
            never.wait()
            yield from ()

        standing = [endless(nothing(), metadata=alice) for _ in range(20)]
        staying = [suggest.future(request, metadata=alice) for _ in range(80)]

        def start_and_cancel() -> None:
            calls = [suggest.future(request, metadata=alice) for _ in range(20)]
            time.sleep(0.05)  # not above what the server can take in, which would be another test
            for call in calls:
                call.cancel()

        try:
            with flood(start_and_cancel):
                serve_well(server, metadata=bob)
        finally:
            never.set()
            for call in (*standing, *staying):
                call.cancel()


def test_bad_keys_leave_the_holders_of_good_ones_served(tmp_path: Path) -> None:
    settings, (alice,) = server_with_keys(tmp_path, "alice")
    codes: Counter[grpc.StatusCode] = Counter()
    with ServerProcess(settings) as server:
        flooding = [own_connection(server.address) for _ in range(2)]

        def guess(channel: grpc.Channel) -> None:
            call = channel.unary_unary("/aleator.v1.GameService/ListGames")
            key = f"aleator_alice_{os.urandom(32).hex()}"
            futures = [call.future(b"", metadata=[("x-api-key", key)]) for _ in range(20)]
            codes.update(future.code() for future in futures)

        with flood(*(lambda channel=channel: guess(channel) for channel in flooding)):
            serve_well(server, metadata=alice)
        for channel in flooding:
            channel.close()
    assert set(codes) == {grpc.StatusCode.UNAUTHENTICATED}
    assert codes.total() > 100


def test_a_client_has_a_bounded_number_of_calls_under_way() -> None:
    with ServerProcess('{"listen": "127.0.0.1:0", "workers": 1, "max_calls": 5}') as server:
        request = SuggestMoveRequest(state={"notation": NOTATION}, limits={"time": {"seconds": 60}})
        with own_connection(server.address) as more:
            suggest = more.unary_unary(
                "/aleator.v1.OpponentService/SuggestMove", SuggestMoveRequest.SerializeToString
            )
            calls = []
            while is_served(server):
                calls.append(suggest.future(request))
            with pytest.raises(grpc.RpcError) as refused:
                server.games.ListMoves(ListMovesRequest(state={"notation": NOTATION}))
            found = details(refused.value)
            assert (found["code"], found["ErrorInfo"].reason) == (
                "RESOURCE_EXHAUSTED",
                "TOO_MANY_CALLS",
            )
            assert found["RetryInfo"].retry_delay.seconds == 1
            for call in calls:
                call.cancel()
            end = time.monotonic() + 20
            while not is_served(server):
                assert time.monotonic() < end


def is_served(server: ServerProcess) -> bool:
    """Make a call, and tell whether it is answered rather than refused."""
    time.sleep(0.05)
    request = ListMovesRequest(state={"notation": NOTATION})
    code = server.games.ListMoves.future(request, timeout=20).code()
    assert code in {grpc.StatusCode.OK, grpc.StatusCode.RESOURCE_EXHAUSTED}
    return code is grpc.StatusCode.OK
