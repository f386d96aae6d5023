"""Method handlers of grpc.aio, and how an interceptor wraps them.

gRPC has four kinds of methods, and two forms of those that stream answers: a coroutine that writes
them, or an asynchronous generator. An interceptor that uses `wrap` sees one form only.
"""

from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Any, TypeAlias

import grpc

Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"
Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"
Behavior: TypeAlias = Callable[[Any, Context], Awaitable[Any]]
"""Takes a request, or an iterator of requests, and returns the answer, or writes the answers."""


def wrap(
    handler: Handler,
    around: Callable[[Behavior, Any, Context], Awaitable[Any]],
    deserializer: Callable[[bytes], Any] | None,
    serializer: Callable[[Any], bytes] | None,
    *,
    reads: bool = False,
) -> Handler:
    """Make a handler of the same kind.

    Parameters
    ----------
    handler : Handler
        What is wrapped.
    around : callable
        Gets the wrapped behavior, what it is to be called with, and the context.
    deserializer : callable or None
        Reads requests in place of the handler's own; with None they stay bytes.
    serializer : callable or None
        Writes answers in place of the handler's own; with None they are bytes.
    reads : bool
        Whether `around` is called before any request has come, also where there is only one, and
        reads it from the context.
    """
    takes_stream = reads or handler.request_streaming
    if handler.response_streaming:
        answers: Any = handler.stream_stream or handler.unary_stream

        async def write_answers(request: Any, context: Context) -> None:
            await _write_all(answers(request, context), context)

        behavior: Any = write_answers
        make = (
            grpc.stream_stream_rpc_method_handler
            if takes_stream
            else grpc.unary_stream_rpc_method_handler
        )
    else:
        behavior = handler.stream_unary or handler.unary_unary
        make = (
            grpc.stream_unary_rpc_method_handler
            if takes_stream
            else grpc.unary_unary_rpc_method_handler
        )

    async def call(request: Any, context: Context) -> Any:
        return await around(behavior, request, context)

    return make(call, deserializer, serializer)


async def _write_all(answers: Any, context: Context) -> None:
    """Write what a streaming method gives, whichever of gRPC's two forms it has."""
    if hasattr(answers, "__aiter__"):
        async with aclosing(answers):  # at once, when the client leaves during a write
            async for answer in answers:
                await context.write(answer)
    else:
        await answers
