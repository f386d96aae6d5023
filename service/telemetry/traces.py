"""Traces by OpenTelemetry: a span for each call, in the trace that the client began, if it did.

Needs `pip install 'aleator[traces]'`. What is not set here is set by the environment variables that
OpenTelemetry defines, such as OTEL_TRACES_SAMPLER and OTEL_RESOURCE_ATTRIBUTES.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version

from grpc import StatusCode
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, Status
from opentelemetry.trace import StatusCode as SpanCode
from opentelemetry.trace import TracerProvider as AnyTracerProvider
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from aleator.service.telemetry.calls import Call

CLOSING_TIME = 2.0
"""Seconds that spans which wait have to be sent when the server ends."""

_ERRORS = frozenset(
    {
        StatusCode.UNKNOWN,
        StatusCode.DEADLINE_EXCEEDED,
        StatusCode.UNIMPLEMENTED,
        StatusCode.INTERNAL,
        StatusCode.UNAVAILABLE,
        StatusCode.DATA_LOSS,
    }
)
"""The codes that OpenTelemetry's conventions count as errors of a server."""


class CallTraces:
    """Makes a span of each call but those of health checks and reflection.

    Parameters
    ----------
    provider : opentelemetry.trace.TracerProvider
        Where spans go.
    """

    def __init__(self, provider: AnyTracerProvider) -> None:
        self._tracer = provider.get_tracer("aleator", version("aleator"))
        self._propagator = TraceContextTextMapPropagator()
        self._spans: dict[Call, Span] = {}

    def call_started(self, call: Call) -> None:
        """Begin a span."""
        if call.is_housekeeping:
            return
        service, _, method = call.method.rpartition("/")
        self._spans[call] = self._tracer.start_span(
            call.method,
            self._propagator.extract(dict(call.metadata)),
            SpanKind.SERVER,
            {"rpc.system": "grpc", "rpc.service": service, "rpc.method": method},
        )

    def call_ended(self, call: Call) -> None:
        """End the span."""
        span = self._spans.pop(call, None)
        if span is None:
            return
        span.set_attribute("rpc.grpc.status_code", call.code.value[0])
        span.set_attribute("aleator.request_id", call.request_id)
        if call.reason:
            span.set_attribute("aleator.reason", call.reason)
        if call.errors:
            span.set_attribute("aleator.errors", call.errors)
        if call.game:
            span.set_attribute("aleator.game", call.game)
        if call.searches:
            span.set_attribute("aleator.searches", call.searches)
            span.set_attribute("aleator.simulations", call.simulations)
            span.set_attribute("aleator.stop_reason", call.stop_reason)
        if call.code in _ERRORS:
            span.set_status(Status(SpanCode.ERROR, call.reason or call.code.name))
        span.end()

    def answer_failed(self, call: Call, code: StatusCode, reason: str) -> None:
        """Wait for the end, where they are counted."""


@contextmanager
def export_traces(endpoint: str) -> Iterator[CallTraces]:
    """Send spans to a collector by OTLP over gRPC, from a thread; at the end, those that wait.

    Parameters
    ----------
    endpoint : str
        Its URL; ``https`` for TLS.
    """
    resource = Resource.create({"service.name": "aleator", "service.version": version("aleator")})
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    exporter = OTLPSpanExporter(endpoint, insecure=endpoint.startswith("http:"))
    provider.add_span_processor(BatchSpanProcessor(exporter))
    try:
        yield CallTraces(provider)
    finally:
        # A collector that cannot be reached must not keep the process.
        closing = threading.Thread(target=provider.shutdown, daemon=True)
        closing.start()
        closing.join(CLOSING_TIME)
