"""The server: its services with health and reflection, and how it starts and stops."""

import asyncio
import gc
import logging
import signal
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack

import grpc
from google.protobuf import descriptor_pool
from google.rpc import error_details_pb2
from grpc_channelz.v1 import channelz, channelz_pb2
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from aleator.search import Engine
from aleator.search.errors import AleatorError, InvalidInput, Violation
from aleator.search.games import codec, game_ids
from aleator.service.admission import Admission
from aleator.service.api_keys import ApiKeys
from aleator.service.authentication import Authentication
from aleator.service.game_servicer import GameServicer
from aleator.service.interceptor import Guard
from aleator.service.lateness import Lateness
from aleator.service.listening import cannot_listen
from aleator.service.opponent_servicer import OpponentServicer
from aleator.service.priority import Priorities
from aleator.service.reflection import pool_with_json_names
from aleator.service.settings import Settings
from aleator.service.telemetry.calls import CallObserver, CallWatch
from aleator.service.telemetry.logs import CallLog, Log
from aleator.service.telemetry.metrics import Metrics, serve_metrics
from aleator.service.telemetry.searches import SearchWatch
from aleator.service.tls import server_credentials
from aleator.v1 import (
    game_service_pb2,
    game_service_pb2_grpc,
    opponent_service_pb2,
    opponent_service_pb2_grpc,
)

try:
    from uvloop import run as run_loop
except ImportError:
    from asyncio import run as run_loop  # type: ignore[assignment]

REQUEST_LIMIT = 2**18
"""Bytes of a request; a longer one is refused with a reason."""
TRANSPORT_LIMIT = 16 * 2**20
"""Bytes of a request from which on gRPC itself cuts it off, with a bare status."""
KEEPALIVE = 60.0
KEEPALIVE_ANSWER = 20.0
"""Seconds after which a silent client is asked whether it is there, and that it has to answer."""
CLIENT_PING = 10.0
"""Seconds at least between a client's own such questions, while no call is under way."""
HANDSHAKE = 20.0
"""Seconds that a new connection has to become one of TLS or HTTP/2."""
DRAIN = 0.3
"""Seconds, at most half of the grace, between the news that the server stops and its end for new
calls, so that those already on their way are answered."""
ANSWER_TIME = 0.2
"""Seconds before the end of the grace at which searches must answer with what they have."""

CHANNELZ = channelz_pb2.DESCRIPTOR.services_by_name["Channelz"].full_name

_LOGGER = logging.getLogger("aleator")
_SERVICES = (
    game_service_pb2.DESCRIPTOR.services_by_name["GameService"].full_name,
    opponent_service_pb2.DESCRIPTOR.services_by_name["OpponentService"].full_name,
)


class Server:
    """A server that is not listening yet; make it on the event loop that it is to run on.

    Parameters
    ----------
    settings : Settings
        What the operator has set.
    handlers : sequence of grpc.GenericRpcHandler
        Further methods to serve.
    observers : sequence of CallObserver
        Who is told of calls, beside the log and the metrics.

    Raises
    ------
    InvalidInput
        If the files of the settings do not hold what they should.
    RuntimeError
        If the address cannot be listened on.
    """

    def __init__(
        self,
        settings: Settings,
        handlers: Sequence[grpc.GenericRpcHandler] = (),
        observers: Sequence[CallObserver] = (),
    ) -> None:
        self._grace = settings.grace
        priorities = Priorities(settings.niceness)
        if priorities.niceness < settings.niceness:
            _LOGGER.info("no niceness: the process may not raise the priority of its threads again")
        lateness = Lateness()
        self._admission = Admission(
            settings.workers,
            settings.queue,
            settings.turn,
            lateness=lateness,
            priorities=priorities,
        )
        self._guard = Guard(REQUEST_LIMIT, settings.max_calls)
        credentials, keys = _read_files(settings)
        services = [*_SERVICES, health.SERVICE_NAME]
        if settings.reflection:
            services.append(reflection.SERVICE_NAME)
        if settings.channelz:
            services.append(CHANNELZ)
        methods = _methods_of(services)
        searches = SearchWatch()
        self.metrics = Metrics(settings, methods, game_ids(), searches, lateness)
        watch = CallWatch(methods, (CallLog(), self.metrics, *observers))
        self._server = grpc.aio.server(
            interceptors=(watch, *([] if keys is None else [Authentication(keys)]), self._guard),
            options=(
                ("grpc.max_receive_message_length", TRANSPORT_LIMIT),
                # Otherwise a second server on the same port would take half of the calls.
                ("grpc.so_reuseport", 0),
                ("grpc.enable_channelz", int(settings.channelz)),
                # Connections whose client has gone without a word are noticed, those that never
                # say anything are ended, and clients may ask as often whether the server is there.
                ("grpc.keepalive_time_ms", round(1000 * KEEPALIVE)),
                ("grpc.keepalive_timeout_ms", round(1000 * KEEPALIVE_ANSWER)),
                ("grpc.http2.min_ping_interval_without_data_ms", round(1000 * CLIENT_PING)),
                ("grpc.server_handshake_timeout_ms", round(1000 * HANDSHAKE)),
                ("grpc.max_concurrent_streams", settings.max_calls),
            ),
        )
        game_service_pb2_grpc.add_GameServiceServicer_to_server(GameServicer(), self._server)
        engine = Engine(memory=settings.search_memory, growing=priorities.step_back)
        self._opponent = OpponentServicer(engine, self._admission, searches, settings)
        opponent_service_pb2_grpc.add_OpponentServiceServicer_to_server(
            self._opponent, self._server
        )
        self._health = health.aio.HealthServicer()
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        if settings.channelz:
            channelz.add_channelz_servicer(self._server)
        if settings.reflection:
            details = error_details_pb2.ErrorInfo.DESCRIPTOR.full_name
            reflection.enable_server_reflection(
                services, self._server, pool_with_json_names([*services, details])
            )
        self._server.add_generic_rpc_handlers(handlers)
        if credentials is None:
            port = self._server.add_insecure_port(settings.listen)
        else:
            port = self._server.add_secure_port(settings.listen, credentials)
        self.address = f"{settings.listen.rpartition(':')[0]}:{port}"

    async def start(self) -> None:
        """Start to serve, once the games are ready.

        Otherwise the first call about Generator reads its weights, while all others wait.
        """
        for game in game_ids():
            codec(game)
        for service in _SERVICES:
            await self._health.set(service, health_pb2.HealthCheckResponse.SERVING)
        await self._server.start()

    async def ended(self) -> None:
        """Wait until nothing is served any more, be it that gRPC failed."""
        await self._server.wait_for_termination()

    async def stop(self) -> None:
        """Tell that the server stops, then take no more calls and let others end in the grace."""
        await self._health.enter_graceful_shutdown()
        drain = min(DRAIN, self._grace / 2)
        await asyncio.sleep(drain)
        grace = self._grace - drain
        stopping = asyncio.create_task(self._server.stop(grace))
        self._guard.end_standing_streams()
        self._opponent.close()
        await asyncio.wait({stopping}, timeout=max(0.0, grace - ANSWER_TIME))
        self._admission.stop_all()
        await stopping
        self._admission.close()


def run(settings: Settings, handlers: Sequence[grpc.GenericRpcHandler] = ()) -> None:
    """Serve until SIGTERM or SIGINT; a second signal ends the process at once.

    Prints one line with the address once the server is ready.
    """
    log = Log(settings.log_format, settings.log_level, sys.stderr)
    try:
        run_loop(_serve(settings, handlers, log))
    except AleatorError:  # whoever called can tell it better than the log
        raise
    except Exception:
        _LOGGER.critical("uncaught exception", exc_info=True)
        raise SystemExit(1) from None
    finally:
        log.close()


async def _serve(settings: Settings, handlers: Sequence[grpc.GenericRpcHandler], log: Log) -> None:
    with ExitStack() as stack:
        observers: list[CallObserver] = []
        if settings.traces_endpoint is not None:
            observers.append(stack.enter_context(_export_traces(settings.traces_endpoint)))
        try:
            server = Server(settings, handlers, observers)
        except RuntimeError:  # gRPC's words tell no more
            raise cannot_listen("listen", settings.listen) from None
        server.metrics.count_dropped_lines(lambda: log.dropped)
        addresses = {"address": server.address}
        if settings.metrics_listen is not None:
            serving = serve_metrics(
                server.metrics,
                settings.metrics_listen,
                settings.tls_certificate,
                settings.tls_key,
                settings.tls_client_ca,
            )
            try:
                addresses["metrics"] = stack.enter_context(serving)
            except OSError as error:
                raise cannot_listen("metrics_listen", settings.metrics_listen, error) from None
        await _serve_until_told_to_stop(server, addresses)


async def _serve_until_told_to_stop(server: Server, addresses: Mapping[str, str]) -> None:
    loop = asyncio.get_running_loop()
    told_to_stop = asyncio.Event()
    signals = (signal.SIGTERM, signal.SIGINT)
    for number in signals:
        loop.add_signal_handler(number, told_to_stop.set)
    await server.start()
    # A collection that visits all that the libraries have made would stop the server for 30 ms.
    gc.collect()
    gc.freeze()
    sys.stdout.write(f"aleator listens on {server.address}\n")
    sys.stdout.flush()
    _LOGGER.info("serving", extra=addresses)
    told = asyncio.create_task(told_to_stop.wait())
    ended = asyncio.create_task(server.ended())
    await asyncio.wait({told, ended}, return_when=asyncio.FIRST_COMPLETED)
    for number in signals:
        loop.remove_signal_handler(number)
    if not told.done():
        told.cancel()
        # The process must end, so that whoever supervises it starts it again.
        raise RuntimeError("gRPC has ended by itself") from ended.exception()
    _LOGGER.info("stopping")
    await server.stop()
    _LOGGER.info("stopped")


def _export_traces(endpoint: str) -> AbstractContextManager[CallObserver]:
    # Only an installation with the extra has what it imports; the settings have checked that.
    from aleator.service.telemetry.traces import export_traces  # noqa: PLC0415

    return export_traces(endpoint)


def _read_files(settings: Settings) -> tuple[grpc.ServerCredentials | None, ApiKeys | None]:
    """Read the certificates and the keys that the settings name; tell all that is wrong in them."""
    credentials = keys = None
    violations: list[Violation] = []
    try:
        credentials = server_credentials(settings)
    except InvalidInput as error:
        violations += error.violations
    try:
        if settings.api_keys is not None:
            keys = ApiKeys(settings.api_keys, settings.key_rate, settings.key_burst)
    except InvalidInput as error:
        violations += error.violations
    if violations:
        raise InvalidInput(violations)
    return credentials, keys


def _methods_of(services: Iterable[str]) -> list[str]:
    """List the methods of services, as `package.Service/Method`."""
    pool = descriptor_pool.Default()
    return [
        f"{service}/{method.name}"
        for service in services
        for method in pool.FindServiceByName(service).methods
    ]
