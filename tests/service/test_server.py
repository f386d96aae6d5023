"""How the server starts, stops, and meets faults of its own."""

import asyncio
import re
import signal
import subprocess
import time

import grpc
import pytest
from grpc_channelz.v1 import channelz_pb2, channelz_pb2_grpc
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from aleator.search import Position
from aleator.search.errors import InvalidInput
from aleator.search.games import game_ids
from aleator.search.games.base import read_model
from aleator.service.interceptor import Guard
from aleator.service.server import Server, _serve_until_told_to_stop
from aleator.service.settings import Settings
from aleator.v1.analysis_pb2 import STOP_REASON_STOPPED
from aleator.v1.game_service_pb2 import CreateGameRequest, ListGamesRequest
from aleator.v1.opponent_service_pb2 import SuggestMoveRequest
from tests.service.process import ServerProcess, details, serve_command

NOTATION = Position.create("roygbiv", seed=5).notation
SERVICES = ["aleator.v1.GameService", "aleator.v1.OpponentService"]


def test_health_and_reflection_know_the_services(server: ServerProcess) -> None:
    for service in ["", *SERVICES]:
        answer = server.health.Check(HealthCheckRequest(service=service))
        assert answer.status == HealthCheckResponse.SERVING
    stub = reflection_pb2_grpc.ServerReflectionStub(server.channel)
    request = reflection_pb2.ServerReflectionRequest(list_services="")
    (answer,) = stub.ServerReflectionInfo(iter([request]))
    assert set(SERVICES) < {service.name for service in answer.list_services_response.service}


@pytest.mark.timing
def test_the_first_calls_about_a_game_hold_up_others_no_longer_than_the_next() -> None:
    with ServerProcess('{"listen": "127.0.0.1:0"}') as server:
        server.games.ListGames(ListGamesRequest())  # the connection takes time too
        before = server.cpu_seconds()
        for game in game_ids():
            server.games.CreateGame(CreateGameRequest(game=game))
        assert server.cpu_seconds() - before < 0.05


def test_it_stops_on_sigterm_with_the_calls_under_way_answered() -> None:
    settings = '{"listen": "127.0.0.1:0", "workers": 2, "grace": 1.0}'
    with ServerProcess(settings) as server:
        assert re.fullmatch(r"aleator listens on 127\.0\.0\.1:\d+\n", server.ready_line)
        watch = server.health.Watch(HealthCheckRequest())
        assert next(watch).status == HealthCheckResponse.SERVING
        request = SuggestMoveRequest(state={"notation": NOTATION}, limits={"time": {"seconds": 50}})
        searches = [server.opponent.SuggestMove.future(request) for _ in range(4)]
        time.sleep(0.3)
        start = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        assert next(watch).status == HealthCheckResponse.NOT_SERVING
        with pytest.raises(grpc.RpcError) as ended:
            next(watch)
        assert details(ended.value)["ErrorInfo"].reason == "SHUTTING_DOWN"
        with pytest.raises(grpc.RpcError) as refused:
            server.health.Check(HealthCheckRequest())
        assert refused.value.code() is grpc.StatusCode.UNAVAILABLE
        for search in searches:
            assert search.result().analysis.statistics.stop_reason == STOP_REASON_STOPPED
        assert server.wait() == ""
        assert time.monotonic() - start < 10


@pytest.mark.timing
def test_calls_on_their_way_when_it_stops_are_answered() -> None:
    with ServerProcess('{"listen": "127.0.0.1:0", "workers": 2}') as server:
        watch = server.health.Watch(HealthCheckRequest())
        next(watch)
        request = SuggestMoveRequest(state={"notation": NOTATION}, limits={"simulations": 100})
        server.process.send_signal(signal.SIGTERM)
        assert next(watch).status == HealthCheckResponse.NOT_SERVING
        calls = [server.opponent.SuggestMove.future(request) for _ in range(20)]
        for call in calls:
            assert call.result().analysis.statistics.simulations == 100
        watch.cancel()
        server.wait()


def test_it_stops_at_once_when_only_streams_stand() -> None:
    with ServerProcess('{"listen": "127.0.0.1:0", "grace": 30}') as server:
        watch = server.health.Watch(HealthCheckRequest())
        next(watch)
        start = time.monotonic()
        server.stop()
        assert time.monotonic() - start < 10


def test_an_address_in_use_is_an_error(server: ServerProcess) -> None:
    command = serve_command(f'{{"listen": "{server.address}"}}')
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 1
    assert done.stdout == ""
    assert (
        f"listen: cannot listen on {server.address}: another program listens there" in done.stderr
    )


async def test_a_server_that_ends_by_itself_is_an_error() -> None:
    server = Server(Settings(listen="127.0.0.1:0", workers=1))
    serving = asyncio.create_task(_serve_until_told_to_stop(server, {}))
    await asyncio.sleep(0.3)
    await server._server.stop(None)
    with pytest.raises(RuntimeError, match="gRPC has ended by itself"):
        await asyncio.wait_for(serving, 20)


@pytest.mark.parametrize("address", ["[::]:0", "localhost:65535", "127.0.0.1:50051"])
def test_addresses(address: str) -> None:
    assert Settings(listen=address, insecure=True).listen == address


@pytest.mark.parametrize("address", ["", "50051", ":50051", "a b:1", "[::]:65536", "h:-1", "h:1\n"])
def test_bad_addresses(address: str) -> None:
    with pytest.raises(InvalidInput, match=r"^listen: must be HOST:PORT with a port of 0\.\.65535"):
        read_model(Settings, {"listen": address})


@pytest.fixture
async def faulty() -> object:
    async def fail(request: bytes, context: object) -> bytes:
        raise ValueError("a secret")

    handlers = {"Fail": grpc.unary_unary_rpc_method_handler(fail)}
    server = grpc.aio.server(interceptors=[Guard(1000, 10)])
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("Test", handlers)])
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    yield f"127.0.0.1:{port}"
    await server.stop(None)


async def test_a_fault_of_the_server_tells_nothing(
    faulty: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with grpc.aio.insecure_channel(faulty) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as failed:
            await channel.unary_unary("/Test/Fail")(b"")
    assert failed.value.code() is grpc.StatusCode.INTERNAL
    metadata = dict(failed.value.trailing_metadata() or ())
    assert b"INTERNAL_ERROR" in metadata["grpc-status-details-bin"]
    assert "secret" not in str(failed.value)
    assert "a secret" in caplog.text


def test_channelz_tells_about_connections_if_asked_for(server: ServerProcess) -> None:
    request = channelz_pb2.GetServersRequest()
    with pytest.raises(grpc.RpcError) as off:
        channelz_pb2_grpc.ChannelzStub(server.channel).GetServers(request)
    assert off.value.code() is grpc.StatusCode.UNIMPLEMENTED
    with ServerProcess('{"listen": "127.0.0.1:0", "channelz": true}') as told:
        stub = channelz_pb2_grpc.ChannelzStub(told.channel)
        (known,) = stub.GetServers(request).server
        assert known.data.calls_started >= 1
        (socket,) = stub.GetServerSockets(
            channelz_pb2.GetServerSocketsRequest(server_id=known.ref.server_id)
        ).socket_ref
        assert "127.0.0.1" in socket.name
