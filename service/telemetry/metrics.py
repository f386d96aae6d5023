"""Metrics for Prometheus, on a port of their own.

All names and labels are made in `Metrics`; docs/operations.md lists them, and a test compares the
two. Labels take few values: a method that is not served counts as `unknown`, and codes, reasons and
games are the service's own, the names of keys the operator's. So however many clients there are,
there are no more series.
"""

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib.metadata import version
from pathlib import Path
from ssl import SSLSocket
from typing import Any

import grpc
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    GCCollector,
    Histogram,
    Metric,
    ProcessCollector,
    disable_created_metrics,
    start_http_server,
)
from prometheus_client.metrics_core import CounterMetricFamily
from prometheus_client.registry import Collector

from aleator.search import Statistics, StopReason
from aleator.service.admission import BUSY
from aleator.service.errors import INTERNAL_ERROR
from aleator.service.lateness import Lateness
from aleator.service.settings import Settings
from aleator.service.telemetry.calls import UNKNOWN_METHOD, Call
from aleator.service.telemetry.searches import SearchWatch
from aleator.v1 import opponent_service_pb2

REQUEST_TIME = 10.0
"""Seconds that a reader of the metrics may be silent."""

_OPPONENT = opponent_service_pb2.DESCRIPTOR.services_by_name["OpponentService"]
_EXCHANGES = [
    f"{_OPPONENT.full_name}/{method.name}"
    for method in _OPPONENT.methods
    if method.client_streaming
]
"""The methods that answer messages by errors."""
_CALL_BUCKETS = (
    *(0.001, 0.0025, 0.005, 0.01, 0.015, 0.025, 0.05),
    *(0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0),
)
"""Seconds; 15 ms is what ListMoves and health checks are held to."""
_WAIT_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_TREE_BUCKETS = tuple(4.0**exponent * 2**10 for exponent in range(1, 11))
"""Bytes, 4 KiB to 1 GiB."""


class Metrics:
    """Counts what a server does.

    Parameters
    ----------
    settings : Settings
        What the operator has set.
    methods : iterable of str
        The methods served, as `package.Service/Method`. Their series, and those of the games and
        of refusals for load, are there from the start, so that the first one counts as a rise.
    games : iterable of str
        The games.
    searches : SearchWatch
        The searches.
    lateness : Lateness
        How late they end.
    """

    def __init__(
        self,
        settings: Settings,
        methods: Iterable[str],
        games: Iterable[str],
        searches: SearchWatch,
        lateness: Lateness,
    ) -> None:
        disable_created_metrics()  # a series more for each, which tells when it began
        self.registry = registry = CollectorRegistry()
        counter = partial(Counter, registry=registry)
        gauge = partial(Gauge, registry=registry)
        histogram = partial(Histogram, registry=registry)
        ProcessCollector(registry=registry)
        GCCollector(registry=registry)
        build = gauge("aleator_build_info", "Always 1; the version is a label.", ["version"])
        build.labels(version("aleator")).set(1)

        self._calls = counter(
            "aleator_calls", "Calls that have ended, by status code.", ["method", "code"]
        )
        self._calls_running = gauge("aleator_calls_running", "Calls under way.", ["method"])
        self._call_seconds = histogram(
            "aleator_call_duration_seconds",
            "Time from the arrival of a call to its end.",
            ["method"],
            buckets=_CALL_BUCKETS,
        )
        self._refusals = counter(
            "aleator_refusals", "Calls refused, by the reason that the client was told.", ["reason"]
        )
        self._answer_errors = counter(
            "aleator_answer_errors",
            "Errors within streams that went on: of items of AnalyzeBatch and messages of Play.",
            ["method", "code", "reason"],
        )

        self._key_calls = counter(
            "aleator_key_calls", "Calls that have ended, by the name of the API key.", ["key"]
        )
        self._key_simulations = counter(
            "aleator_key_simulations", "Simulated games, by the name of the API key.", ["key"]
        )

        gauge("aleator_searches_waiting", "Searches in the queue.").set_function(
            lambda: searches.waiting
        )
        gauge("aleator_searches_running", "Searches under way.").set_function(
            lambda: searches.running
        )
        gauge("aleator_search_threads_busy", "Threads that search.").set_function(
            lambda: searches.threads
        )
        gauge("aleator_search_threads", "Threads that may search at once.").set(settings.workers)
        gauge("aleator_queue_places", "Searches that may wait.").set(settings.queue)
        self._waits = histogram(
            "aleator_search_wait_seconds",
            "Time that searches waited in the queue before they started.",
            buckets=_WAIT_BUCKETS,
        )
        self._search_seconds = histogram(
            "aleator_search_duration_seconds",
            "Time that searches took once they had started.",
            ["game"],
            buckets=_CALL_BUCKETS,
        )
        gauge(
            "aleator_search_lateness_seconds",
            "Time by which searches are expected to end late, as those before did.",
        ).set_function(lambda: lateness.expected)
        self._searches = counter(
            "aleator_searches",
            "Searches that have ended, by what ended them.",
            ["game", "stop_reason"],
        )
        self._simulations = counter("aleator_simulations", "Simulated games.", ["game"])
        gauge(
            "aleator_search_tree_limit_bytes", "Memory that the trees of one search may take."
        ).set(settings.search_memory)
        self._tree_bytes = histogram(
            "aleator_search_tree_bytes",
            "Memory of the trees of a search at its end.",
            buckets=_TREE_BUCKETS,
        )

        self._refusals.labels(BUSY)
        for method in _EXCHANGES:
            self._answer_errors.labels(method, grpc.StatusCode.RESOURCE_EXHAUSTED.name, BUSY)
            self._answer_errors.labels(method, grpc.StatusCode.INTERNAL.name, INTERNAL_ERROR)
        for method in (*methods, UNKNOWN_METHOD):
            self._calls_running.labels(method)
            self._call_seconds.labels(method)
            self._calls.labels(method, grpc.StatusCode.OK.name)
        for game in games:
            self._search_seconds.labels(game)
            self._simulations.labels(game)
            for reason in StopReason:
                self._searches.labels(game, reason.value)
        searches.add(self)

    def call_started(self, call: Call) -> None:
        """Count a call that begins."""
        self._calls_running.labels(call.method).inc()

    def call_ended(self, call: Call) -> None:
        """Count a call that ends."""
        self._calls_running.labels(call.method).dec()
        self._calls.labels(call.method, call.code.name).inc()
        self._call_seconds.labels(call.method).observe(call.seconds)
        if call.reason:
            self._refusals.labels(call.reason).inc()
        if call.key:
            self._key_calls.labels(call.key).inc()
            self._key_simulations.labels(call.key).inc(call.simulations)

    def answer_failed(self, call: Call, code: grpc.StatusCode, reason: str) -> None:
        """Count an error within a stream, at once: streams may last for days."""
        self._answer_errors.labels(call.method, code.name, reason).inc()

    def search_waited(self, seconds: float) -> None:
        """Count a search that starts."""
        self._waits.observe(seconds)

    def search_ended(self, game: str, statistics: Statistics) -> None:
        """Count a search that ends."""
        assert statistics.stop_reason is not None
        self._searches.labels(game, statistics.stop_reason.value).inc()
        self._simulations.labels(game).inc(statistics.simulations)
        self._search_seconds.labels(game).observe(statistics.elapsed)
        self._tree_bytes.observe(statistics.memory)

    def count_dropped_lines(self, dropped: Callable[[], int]) -> None:
        """Count also what the log could not write."""
        self.registry.register(_DroppedLines(dropped))


class _DroppedLines(Collector):
    """A counter that is kept elsewhere."""

    def __init__(self, dropped: Callable[[], int]) -> None:
        self._dropped = dropped

    def collect(self) -> Iterator[Metric]:
        """Read it."""
        yield CounterMetricFamily(
            "aleator_log_lines_dropped",
            "Lines of the log that could not be written.",
            value=self._dropped(),
        )


def _note_broken_request(_request: object, client: tuple[str, int]) -> None:
    # It is called while the exception is handled.
    logging.getLogger(__name__).debug("metrics not read by %s", client[0], exc_info=True)  # noqa: LOG014


def _only_metrics(app: Any) -> Any:
    """Serve nothing but what Prometheus asks for."""

    def serve(environ: dict[str, Any], start_response: Any) -> Any:
        if environ.get("PATH_INFO") == "/metrics":
            return app(environ, start_response)
        start_response("404 Not Found", [("Content-Type", "text/plain")])
        return [b"There is only /metrics.\n"]

    return serve


@contextmanager
def serve_metrics(
    metrics: Metrics,
    address: str,
    certificate: Path | None = None,
    key: Path | None = None,
    client_ca: Path | None = None,
) -> Iterator[str]:
    """Serve metrics over HTTP, on threads of their own; give the address with the port taken.

    Parameters
    ----------
    metrics : Metrics
    address : str
        ``HOST:PORT``.
    certificate, key : Path, optional
        Of the server; with them it is HTTPS.
    client_ca : Path, optional
        Who must have signed the certificate of a client.

    Raises
    ------
    OSError
        If the address cannot be listened on.
    """
    host, _, port = address.rpartition(":")
    server, thread = start_http_server(
        int(port),
        host.strip("[]"),
        metrics.registry,
        certfile=None if certificate is None else str(certificate),
        keyfile=None if key is None else str(key),
        client_cafile=None if client_ca is None else str(client_ca),
        client_auth_required=client_ca is not None,
    )
    if isinstance(server.socket, SSLSocket):
        # Else whoever connects and then says nothing would hold up all others.
        server.socket.do_handshake_on_connect = False  # type: ignore[attr-defined]
    server.set_app(_only_metrics(server.get_app()))
    server.RequestHandlerClass.timeout = REQUEST_TIME  # type: ignore[attr-defined]
    # By default it prints a traceback of each, which would fill the log at anybody's wish.
    server.handle_error = _note_broken_request  # type: ignore[assignment,method-assign]
    try:
        yield f"{host}:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
