"""Lets in only calls with a known API key; those of the health service are open to all."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import grpc

from aleator.service.api_keys import ApiKeys
from aleator.service.caller import set_caller
from aleator.service.errors import Refusal
from aleator.service.handlers import Context, Handler
from aleator.service.telemetry.calls import note_key, note_refusal

_OPEN = "/grpc.health.v1.Health/"


class Authentication(grpc.aio.ServerInterceptor):
    """The interceptor; it must come before those that read requests.

    Parameters
    ----------
    keys : ApiKeys
    """

    def __init__(self, keys: ApiKeys) -> None:
        self._keys = keys

    async def intercept_service(
        self,
        continuation: "Callable[[grpc.HandlerCallDetails], Awaitable[Handler | None]]",
        handler_call_details: grpc.HandlerCallDetails,
    ) -> "Handler | None":
        """Return the handler of the method called, or one that refuses the call."""
        if not handler_call_details.method.startswith(_OPEN):
            metadata: Any = handler_call_details.invocation_metadata
            try:
                name = self._keys.admit(metadata)
            except Refusal as refusal:
                # Of a kind that does not wait for the request.
                return grpc.stream_stream_rpc_method_handler(partial(_refuse, refusal))
            set_caller(name)
            note_key(name)
        return await continuation(handler_call_details)


async def _refuse(refusal: Refusal, _requests: Any, context: Context) -> None:
    note_refusal(refusal.reason)
    await refusal.end(context)
