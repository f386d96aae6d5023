"""What is known of each call: who called what, how it ended, what was searched for it.

An interceptor opens a `Call` for every call and hands it to observers at its start and its end.
What only the methods know, such as the game, they add to the call that their task serves by the
`note_` functions here; out of a call these do nothing.
"""

import secrets
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from string import printable, whitespace
from time import perf_counter
from typing import Any, Protocol

import grpc

from aleator.search import Statistics
from aleator.service.caller import name_caller
from aleator.service.handlers import Behavior, Context, Handler, wrap

REQUEST_ID = "x-request-id"
"""The metadata in which a client names its call; the answer's trailing metadata has it too."""
UNKNOWN_METHOD = "unknown"
"""Stands for all methods that are not served: clients may make up any number."""
ID_LIMIT = 128
"""Characters of a client's own request id; another id is given in place of a longer one."""

_ID_CHARACTERS = frozenset(printable) - frozenset(whitespace)
_HOUSEKEEPING = ("grpc.health.", "grpc.reflection.", "grpc.channelz.")
_CODES = {code.value[0]: code for code in grpc.StatusCode}
_MIXED = "mixed"
_current: ContextVar["Call | None"] = ContextVar("call", default=None)


@dataclass(slots=True, eq=False)
class Call:
    """A call and what is known of it so far.

    Attributes
    ----------
    method : str
        `package.Service/Method`, or `UNKNOWN_METHOD`.
    request_id : str
        The client's own, or made here.
    metadata : sequence of (str, str or bytes)
        What the client sent; may hold secrets.
    start : float
        When it began, by `perf_counter`.
    client : str
        Whose call it is, as `caller` names it; empty for a method that is not served.
    key : str
        The name of the API key that let it in, if keys are asked for.
    code : grpc.StatusCode
        How it ended.
    reason : str
        Why it was refused; empty if it was not.
    game : str
        The game that it is about, if any; `mixed` for several.
    searches, simulations : int
        What was searched for it.
    stop_reason : str
        Why the last search ended.
    seconds : float
        How long it took.
    errors : int
        How many answers of a stream that went on were errors.
    observers : sequence of CallObserver
        Who is told of it.
    """

    method: str
    request_id: str
    metadata: Sequence[tuple[str, str | bytes]]
    start: float
    client: str = ""
    key: str = ""
    code: grpc.StatusCode = grpc.StatusCode.OK
    reason: str = ""
    game: str = ""
    searches: int = 0
    simulations: int = 0
    stop_reason: str = ""
    seconds: float = 0.0
    errors: int = 0
    observers: "Sequence[CallObserver]" = ()

    @property
    def is_housekeeping(self) -> bool:
        """Whether it asks for no work: probes come every few seconds."""
        return self.method.startswith(_HOUSEKEEPING)


class CallObserver(Protocol):
    """Is told of calls, on the event loop; must not block."""

    def call_started(self, call: Call) -> None:
        """See a call begin."""

    def call_ended(self, call: Call) -> None:
        """See a call end."""

    def answer_failed(self, call: Call, code: grpc.StatusCode, reason: str) -> None:
        """See a message of a stream answered by an error, after which the stream goes on."""


def current_call() -> Call | None:
    """Tell which call is being served."""
    return _current.get()


def note_key(name: str) -> None:
    """Note the API key that let it in."""
    if (call := _current.get()) is not None:
        call.key = name


def note_game(game: str) -> None:
    """Note which game it is about: the id of a game that is known."""
    if (call := _current.get()) is not None:
        call.game = game if call.game in {"", game} else _MIXED


def note_refusal(reason: str) -> None:
    """Note why it is refused."""
    if (call := _current.get()) is not None:
        call.reason = reason


def note_error(code: grpc.StatusCode, reason: str) -> None:
    """Note that a message of a stream is answered by an error, and why."""
    if (call := _current.get()) is not None:
        call.errors += 1
        for observer in call.observers:
            observer.answer_failed(call, code, reason)


def note_search(statistics: Statistics) -> None:
    """Note what a search for it has done."""
    if (call := _current.get()) is not None:
        call.searches += 1
        call.simulations += statistics.simulations
        if statistics.stop_reason is not None:
            call.stop_reason = statistics.stop_reason.value


class CallWatch(grpc.aio.ServerInterceptor):
    """The interceptor; it must be the first, so that it sees what the others do.

    Parameters
    ----------
    methods : collection of str
        The methods served, as `package.Service/Method`.
    observers : iterable of CallObserver
        Who is told.
    """

    def __init__(self, methods: Collection[str], observers: Iterable[CallObserver]) -> None:
        self._methods = frozenset(methods)
        self._observers = tuple(observers)
        self._wrapped: dict[str, tuple[Handler, Handler]] = {}

    async def intercept_service(
        self,
        continuation: "Callable[[grpc.HandlerCallDetails], Awaitable[Handler | None]]",
        handler_call_details: grpc.HandlerCallDetails,
    ) -> "Handler | None":
        """Open the call, and return its handler, which closes it."""
        method = handler_call_details.method.removeprefix("/")
        is_known = method in self._methods
        metadata: Any = handler_call_details.invocation_metadata
        call = Call(
            method if is_known else UNKNOWN_METHOD,
            _request_id(metadata),
            metadata,
            perf_counter(),
            observers=self._observers,
        )
        _current.set(call)  # each call has a task of its own
        for observer in self._observers:
            observer.call_started(call)
        handler = await continuation(handler_call_details)
        if handler is None:
            call.code = grpc.StatusCode.UNIMPLEMENTED
            self._close(call)
            return None
        if not is_known:
            return self._watch(handler)
        wrapped = self._wrapped.get(method)
        if wrapped is None or wrapped[0] is not handler:
            wrapped = self._wrapped[method] = (handler, self._watch(handler))
        return wrapped[1]

    def _watch(self, handler: Handler) -> Handler:
        """Wrap a handler."""
        return wrap(
            handler, self._follow, handler.request_deserializer, handler.response_serializer
        )

    async def _follow(self, behavior: Behavior, request: Any, context: Context) -> Any:
        """Serve a call, and close it with what came of it."""
        call = _current.get()
        assert call is not None
        call.client = name_caller(context)
        context.set_trailing_metadata(((REQUEST_ID, call.request_id),))
        code = None
        try:
            return await behavior(request, context)
        except BaseException as error:
            code = _code_of(error, context)
            raise
        finally:
            # A method may also set a code without an exception.
            call.code = code or _status_code(context.code()) or grpc.StatusCode.OK
            self._close(call)

    def _close(self, call: Call) -> None:
        call.seconds = perf_counter() - call.start
        for observer in self._observers:
            observer.call_ended(call)


def _request_id(metadata: Iterable[tuple[str, str | bytes]]) -> str:
    """Take the client's id of the call, if it is fit for a log, else make one."""
    for key, value in metadata:
        if key == REQUEST_ID and isinstance(value, str) and 1 <= len(value) <= ID_LIMIT:
            if _ID_CHARACTERS.issuperset(value):
                return value
            break
    return secrets.token_hex(8)


def _code_of(error: BaseException, context: Context) -> grpc.StatusCode:
    """Tell with which code a call ends that an exception leaves."""
    code = _status_code(context.code())
    if code is not None:
        return code
    if isinstance(error, Exception) and not isinstance(error, grpc.aio.BaseError):
        return grpc.StatusCode.UNKNOWN  # what gRPC makes of it
    # Cancelled, or nobody is left to write to.
    if context.time_remaining() == 0:
        return grpc.StatusCode.DEADLINE_EXCEEDED
    return grpc.StatusCode.CANCELLED


def _status_code(code: Any) -> grpc.StatusCode | None:
    """Read a code of the context, which may be the bare number or missing."""
    return code if isinstance(code, grpc.StatusCode) else _CODES.get(code)
