"""Stands around every method: reads requests, writes errors, ends standing streams.

gRPC's own answer to a request that it cannot parse, or to an exception, is INTERNAL or UNKNOWN with
the text of the exception. Here the first becomes INVALID_ARGUMENT and the second an INTERNAL that
tells nothing, with the exception in the log.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import grpc
from google.protobuf.message import DecodeError

from aleator.service.caller import name_caller
from aleator.service.errors import Fault, Refusal, refusal_of, shutting_down
from aleator.service.handlers import Behavior, Context, Handler, wrap
from aleator.service.shape import check_shape
from aleator.service.telemetry.calls import note_refusal

_OWN_METHODS = "/aleator."
"""What the methods begin with whose streams end by themselves. Others, such as Watch of the health
service, stand until the client leaves."""

_HEALTH_CHECK = "/grpc.health.v1.Health/Check"
_RETRY = 1.0
"""Seconds after which a client may try again that has too many calls under way."""
_SMALL = 4096
"""Bytes of a request whose shape need not be checked: it cannot hold much."""


class _Calls:
    """Counts the calls under way by client."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._counts: Counter[str] = Counter()

    @contextmanager
    def count(self, client: str, method: str) -> Iterator[None]:
        """Count a call while it is under way, or refuse it.

        Health checks are never refused: they may come from an address that clients share.
        """
        if self._counts[client] >= self._limit and method != _HEALTH_CHECK:
            raise Refusal(
                grpc.StatusCode.RESOURCE_EXHAUSTED,
                "TOO_MANY_CALLS",
                f"a client may have {self._limit} calls under way at once",
                retry_after=_RETRY,
            )
        self._counts[client] += 1
        try:
            yield
        finally:
            self._counts[client] -= 1
            if not self._counts[client]:
                del self._counts[client]


class Guard(grpc.aio.ServerInterceptor):
    """The interceptor.

    Parameters
    ----------
    message_limit : int
        Bytes that a request may have.
    call_limit : int
        Calls of one client at once.
    """

    def __init__(self, message_limit: int, call_limit: int) -> None:
        self._message_limit = message_limit
        self._calls = _Calls(call_limit)
        self._guarded: dict[str, Handler] = {}
        self._standing: set[asyncio.Task[Any]] = set()
        self._closing = False

    async def intercept_service(
        self,
        continuation: "Callable[[grpc.HandlerCallDetails], Awaitable[Handler | None]]",
        handler_call_details: grpc.HandlerCallDetails,
    ) -> "Handler | None":
        """Return the guarded handler of the method called."""
        method = handler_call_details.method
        guarded = self._guarded.get(method)
        if guarded is None:
            handler = await continuation(handler_call_details)
            if handler is None:  # unknown methods are not kept: a client could name any number
                return None
            guarded = self._guarded[method] = self._guard(method, handler)
        return guarded

    def end_standing_streams(self) -> None:
        """End the streams that would stand for ever."""
        self._closing = True
        for task in self._standing:
            task.cancel()

    def _guard(self, method: str, handler: Handler) -> Handler:
        """Wrap a handler. It then takes bytes, and may also answer with bytes."""
        parse = self._parser(handler.request_deserializer)
        stands = handler.response_streaming and not method.startswith(_OWN_METHODS)

        async def parse_each(requests: AsyncIterator[bytes]) -> AsyncIterator[Any]:
            async for request in requests:
                yield parse(request)

        async def read(requests: Any, context: Context) -> Any:
            if handler.request_streaming:
                return parse_each(requests)
            data: Any = await context.read()
            if data is grpc.aio.EOF:
                raise _unreadable("MISSING_REQUEST", "the call ended without a request")
            return parse(data)

        async def answer(behavior: Behavior, requests: Any, context: Context) -> Any:
            name = name_caller(context)
            try:
                with self._calls.count(name, method):
                    request = await read(requests, context)
                    if stands:
                        return await self._stand(behavior, request, context)
                    return await behavior(request, context)
            except Exception as error:  # noqa: BLE001 - gRPC would tell the client
                await abort(context, method, error)

        # gRPC itself would answer a call without a request never.
        return wrap(handler, answer, None, _writer(handler.response_serializer), reads=True)

    def _parser(self, deserialize: Callable[[bytes], Any] | None) -> Callable[[bytes], Any]:
        """Make the function that reads a request, or raises a refusal."""

        def parse(data: bytes) -> Any:
            if len(data) > self._message_limit:
                raise _unreadable(
                    "REQUEST_TOO_LARGE",
                    f"the request has {len(data)} bytes; at most {self._message_limit} are read",
                )
            if deserialize is None:
                return data
            try:
                message = deserialize(data)
            except DecodeError:
                raise _unreadable(
                    "MALFORMED_REQUEST", "the request is no message of this method's type"
                ) from None
            if len(data) > _SMALL:
                check_shape(message)
            return message

        return parse

    async def _stand(self, behavior: Behavior, request: Any, context: Context) -> None:
        """Run a stream that has no end of its own."""
        task = asyncio.current_task()
        assert task is not None
        self._standing.add(task)
        try:
            if not self._closing:
                await behavior(request, context)
                return
        except asyncio.CancelledError:
            if not self._closing:
                raise
        finally:
            self._standing.discard(task)
        raise shutting_down()


def _writer(serialize: Callable[[Any], bytes] | None) -> Callable[[Any], bytes] | None:
    """Make the function that writes an answer, if the method has not written it itself."""
    if serialize is None:
        return None

    def write(answer: Any) -> bytes:
        return answer if isinstance(answer, bytes) else serialize(answer)

    return write


async def abort(context: Context, method: str, error: Exception) -> None:
    """End a call with the status of an error."""
    if isinstance(error, grpc.aio.BaseError):  # already aborted, or the client is gone
        raise error
    refusal = refusal_of(error, method)
    note_refusal(refusal.reason)
    await refusal.end(context)


def _unreadable(reason: str, message: str) -> Refusal:
    """Refuse a request as a whole, as a fault of no particular field."""
    return Refusal(
        grpc.StatusCode.INVALID_ARGUMENT, reason, message, faults=[Fault(reason, "", message)]
    )
