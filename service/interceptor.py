"""Stands around every method: reads requests, writes errors, ends standing streams.

gRPC's own answer to a request that it cannot parse, or to an exception, is INTERNAL or UNKNOWN with
the text of the exception. Here the first becomes INVALID_ARGUMENT and the second an INTERNAL that
tells nothing, with the exception in the log.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import grpc
from google.protobuf.message import DecodeError

from aleator.service.caller import name_caller
from aleator.service.errors import Fault, Refusal, refusal_of, shutting_down
from aleator.service.handlers import Behavior, Context, Handler, wrap
from aleator.service.telemetry.calls import note_refusal

_OWN_METHODS = "/aleator."
"""What the methods begin with whose streams end by themselves. Others, such as Watch of the health
service, stand until the client leaves."""


class Guard(grpc.aio.ServerInterceptor):
    """The interceptor.

    Parameters
    ----------
    message_limit : int
        Bytes that a request may have.
    """

    def __init__(self, message_limit: int) -> None:
        self._message_limit = message_limit
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
        """Wrap a handler. It then takes bytes; answers are written as before."""
        parse = self._parser(handler.request_deserializer)
        stands = handler.response_streaming and not method.startswith(_OWN_METHODS)

        async def parse_each(requests: AsyncIterator[bytes]) -> AsyncIterator[Any]:
            async for request in requests:
                yield parse(request)

        read: Callable[[Any], Any] = parse_each if handler.request_streaming else parse

        async def answer(behavior: Behavior, request: Any, context: Context) -> Any:
            name_caller(context)
            try:
                if stands:
                    return await self._stand(behavior, read(request), context)
                return await behavior(read(request), context)
            except Exception as error:  # noqa: BLE001 - gRPC would tell the client
                await abort(context, method, error)

        return wrap(handler, answer, None)

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
                return deserialize(data)
            except DecodeError:
                raise _unreadable(
                    "MALFORMED_REQUEST", "the request is no message of this method's type"
                ) from None

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
