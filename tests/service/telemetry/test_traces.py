"""Spans of calls, seen by OpenTelemetry's own exporter in memory, and a collector that is away."""

import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest
from grpc_health.v1.health_pb2 import HealthCheckRequest
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from aleator.search import Position
from aleator.search.errors import InvalidInput
from aleator.search.games.base import read_model
from aleator.service.server import Server
from aleator.service.settings import Settings
from aleator.service.telemetry.traces import CallTraces
from aleator.v1 import game_service_pb2_grpc, opponent_service_pb2_grpc
from aleator.v1.game_service_pb2 import CreateGameRequest
from aleator.v1.opponent_service_pb2 import AnalyzePositionRequest, SuggestMoveRequest
from tests.service.process import ServerProcess

STATE = {"notation": Position.create("roygbiv", seed=5).notation}
TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = "b7ad6b7169203331"


@pytest.fixture
def spans() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
async def channel(spans: InMemorySpanExporter) -> AsyncIterator[grpc.aio.Channel]:
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(spans))
    server = Server(Settings(listen="127.0.0.1:0"), observers=[CallTraces(provider)])
    await server.start()
    async with grpc.aio.insecure_channel(server.address) as channel:
        yield channel
    await server.stop()


def attributes(span: ReadableSpan) -> dict[str, object]:
    return dict(span.attributes or {})


async def test_a_span_continues_the_trace_of_the_client(
    channel: grpc.aio.Channel, spans: InMemorySpanExporter
) -> None:
    opponent = opponent_service_pb2_grpc.OpponentServiceStub(channel)
    request = SuggestMoveRequest(state=STATE, limits={"simulations": 100})
    metadata = (("traceparent", f"00-{TRACE}-{PARENT}-01"), ("x-request-id", "ply-17"))
    await opponent.SuggestMove(request, metadata=metadata)
    (span,) = spans.get_finished_spans()
    assert (span.name, span.kind) == ("aleator.v1.OpponentService/SuggestMove", SpanKind.SERVER)
    assert span.parent is not None
    assert (f"{span.context.trace_id:032x}", f"{span.parent.span_id:016x}") == (TRACE, PARENT)
    assert span.status.status_code is StatusCode.UNSET
    assert attributes(span) == {
        "rpc.system": "grpc",
        "rpc.service": "aleator.v1.OpponentService",
        "rpc.method": "SuggestMove",
        "rpc.grpc.status_code": 0,
        "aleator.request_id": "ply-17",
        "aleator.game": "roygbiv",
        "aleator.searches": 1,
        "aleator.simulations": 100,
        "aleator.stop_reason": "simulations",
    }


async def test_streams_and_refusals_have_spans(
    channel: grpc.aio.Channel, spans: InMemorySpanExporter
) -> None:
    opponent = opponent_service_pb2_grpc.OpponentServiceStub(channel)
    games = game_service_pb2_grpc.GameServiceStub(channel)
    analyze = AnalyzePositionRequest(state=STATE, limits={"simulations": 100})
    async for _ in opponent.AnalyzePosition(analyze):
        pass
    with pytest.raises(grpc.aio.AioRpcError):
        await games.CreateGame(CreateGameRequest(game="chess"))
    with pytest.raises(grpc.aio.AioRpcError):
        await channel.unary_unary("/aleator.v1.GameService/Steal")(b"")
    stream, refused, unknown = spans.get_finished_spans()
    assert attributes(stream)["aleator.simulations"] == 100
    assert attributes(refused)["aleator.reason"] == "UNKNOWN_GAME"
    assert refused.status.status_code is StatusCode.UNSET  # the client's fault
    assert unknown.status.status_code is StatusCode.ERROR
    assert unknown.name == "unknown"


class Collector(trace_service_pb2_grpc.TraceServiceServicer):
    """Takes what is exported by OTLP."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.services: set[str] = set()

    def Export(self, request, _context):  # noqa: N802 - the name of the RPC
        for of_resource in request.resource_spans:
            self.services |= {
                attribute.value.string_value
                for attribute in of_resource.resource.attributes
                if attribute.key == "service.name"
            }
            self.names += [span.name for of in of_resource.scope_spans for span in of.spans]
        return trace_service_pb2.ExportTraceServiceResponse()


def test_what_waits_is_sent_when_the_server_ends() -> None:
    collector = Collector()
    receiver = grpc.server(ThreadPoolExecutor(1))
    trace_service_pb2_grpc.add_TraceServiceServicer_to_server(collector, receiver)
    port = receiver.add_insecure_port("127.0.0.1:0")
    receiver.start()
    settings = {"listen": "127.0.0.1:0", "traces_endpoint": f"http://127.0.0.1:{port}"}
    with ServerProcess(json.dumps(settings)) as server:
        for _ in range(3):
            server.games.CreateGame(CreateGameRequest(game="roygbiv"))
        server.health.Check(HealthCheckRequest())
        server.stop()
    receiver.stop(None).wait()
    assert collector.names == ["aleator.v1.GameService/CreateGame"] * 3
    assert collector.services == {"aleator"}


def test_a_collector_that_is_away_holds_up_nobody() -> None:
    settings = '{"listen": "127.0.0.1:0", "traces_endpoint": "http://127.0.0.1:1"}'
    with ServerProcess(settings) as server:
        for _ in range(10):
            server.games.CreateGame(CreateGameRequest(game="roygbiv"), timeout=5)
        start = time.monotonic()
        server.stop()
        assert time.monotonic() - start < 10


@pytest.mark.parametrize("endpoint", ["localhost:4317", "ftp://h:1", "http://", "http://h:1/v1"])
def test_bad_endpoints(endpoint: str) -> None:
    with pytest.raises(InvalidInput, match=r"^traces_endpoint: must be a URL such as"):
        read_model(Settings, {"traces_endpoint": endpoint})


def test_a_missing_extra_is_found_among_the_settings() -> None:
    for missing in ("opentelemetry", "opentelemetry.exporter.otlp.proto.grpc"):
        program = (
            f"import sys; sys.modules['{missing}'] = None\n"
            "from aleator.service.cli import main; main()"
        )
        arguments = ["config", "--traces-endpoint", "http://localhost:4317"]
        command = [sys.executable, "-c", program, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
        assert done.returncode == 2
        assert done.stderr == (
            f"traces_endpoint: needs more: {sys.executable} -m pip install 'aleator[traces]'\n"
        )
