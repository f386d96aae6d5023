"""Errors as gRPC statuses: the code, and details that a program can read.

Every status carries one google.rpc.ErrorInfo. What is wrong with the fields of a request is
collected in `Faults`, so that the client learns everything in one answer, a google.rpc.BadRequest.
The texts are kept short as a whole, since clients refuse long trailing metadata: gRPC's own limit
is 8 KiB, of the message percent-encoded and of the status, which holds the message too, in Base64.
"""

import logging
import math
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from itertools import accumulate
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn, ParamSpec, TypeVar

import grpc
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status

from aleator.search.errors import (
    AleatorError,
    FullStateRequired,
    GameFinished,
    HandHidden,
    IllegalMove,
    InvalidInput,
    SeatNotToAct,
    SeatRequired,
    UnknownGame,
)

P = ParamSpec("P")
T = TypeVar("T")

_LOGGER = logging.getLogger(__name__)
DOMAIN = "aleator"
INTERNAL_ERROR = "INTERNAL_ERROR"
"""The reason of a fault of the server's own."""
PUSHBACK = "grpc-retry-pushback-ms"
"""The metadata by which gRPC clients with a policy of retries know when to try again."""
_MESSAGE_LIMIT = 500
"""Bytes of the message of a status, percent-encoded."""
_PATH_LIMIT = 200
"""Bytes of the path of a field: names of options are the client's own."""
_FAULTS_LIMIT = 4300
"""Bytes of one BadRequest."""
_FRAME = 3
"""Bytes of a BadRequest before each of its violations."""


class Fault(NamedTuple):
    """Something wrong with a field of a request.

    Attributes
    ----------
    reason : str
        The stable name of the reason.
    path : str
        The field.
    description : str
        What is wrong, in English.
    metadata : mapping of str to str
        The variable parts of the reason.
    """

    reason: str
    path: str
    description: str
    metadata: Mapping[str, str] = MappingProxyType({})


class Refusal(Exception):
    """A call that ends with an error status.

    Parameters
    ----------
    code : grpc.StatusCode
        The code to answer with.
    reason : str
        The stable name of the reason.
    message : str
        The reason in English.
    metadata : mapping of str to str
        The variable parts of the reason.
    faults : iterable of Fault
        What is wrong with the fields of the request.
    retry_after : float, optional
        Seconds after which to try again.
    """

    def __init__(
        self,
        code: grpc.StatusCode,
        reason: str,
        message: str,
        metadata: Mapping[str, str] | None = None,
        *,
        faults: Iterable[Fault] = (),
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.metadata = metadata or {}
        self.faults = tuple(faults)
        self.retry_after = retry_after

    async def end(self, context: "grpc.aio.ServicerContext[Any, Any]") -> NoReturn:
        """End a call with it."""
        status = rpc_status.to_status(self.message())
        # With what interceptors have set already: the status alone would replace it.
        metadata = [*context.trailing_metadata(), *status.trailing_metadata]
        if self.retry_after is not None:
            metadata.append((PUSHBACK, str(math.ceil(1000 * self.retry_after))))
        await context.abort(status.code, status.details, tuple(metadata))
        raise AssertionError("aborted")

    def message(self) -> status_pb2.Status:
        """Write the refusal as a message with its details."""
        details: list[Message] = [
            error_details_pb2.ErrorInfo(reason=self.reason, domain=DOMAIN, metadata=self.metadata)
        ]
        if self.faults:
            details.append(_bad_request(self.faults))
        if self.retry_after is not None:
            retry = error_details_pb2.RetryInfo()
            retry.retry_delay.FromTimedelta(timedelta(seconds=self.retry_after))
            details.append(retry)
        message = _cut(str(self), _MESSAGE_LIMIT, _encoded_bytes)
        status = status_pb2.Status(code=self.code.value[0], message=message)
        for detail in details:
            status.details.add().Pack(detail)
        return status


class Faults:
    """Collects what is wrong with the fields of a request.

    Read each part of the request through `read`, then call `check`. Errors that make the rest of
    the request meaningless, such as an unknown game, are not collected but go through.
    """

    def __init__(self) -> None:
        self._found: list[Fault] = []

    def read(
        self, path: str, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs
    ) -> T | None:
        """Call a function; collect the faults that it raises, their paths continued from `path`.

        Returns
        -------
        object or None
            What the function returns; None after a fault.
        """
        try:
            return function(*args, **kwargs)
        except AleatorError as error:
            faults = _faults_of(error, path)
            if not faults:
                raise
            self._found += faults
            return None

    def check(self) -> None:
        """Raise everything collected, if there is anything."""
        if self._found:
            raise _refusal_of_faults(self._found)


def refusal_of(error: Exception, method: str) -> Refusal:
    """Turn any error into a refusal; one that is a fault of ours tells nothing, but is logged."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, AleatorError):
        return _refusal_of_input(error)
    _LOGGER.error("%s failed", method, exc_info=error)
    return Refusal(grpc.StatusCode.INTERNAL, INTERNAL_ERROR, "internal error")


def shutting_down() -> Refusal:
    """Make the refusal of a server that stops."""
    return Refusal(grpc.StatusCode.UNAVAILABLE, "SHUTTING_DOWN", "the server stops")


def _refusal_of_input(error: AleatorError) -> Refusal:
    """Turn an error of the search layer into a refusal."""
    match error:
        case UnknownGame():
            return Refusal(
                grpc.StatusCode.NOT_FOUND,
                "UNKNOWN_GAME",
                str(error),
                {"game": error.game[:64], "known": ",".join(error.known)},
            )
        case GameFinished():
            return Refusal(grpc.StatusCode.FAILED_PRECONDITION, "GAME_FINISHED", str(error))
        case SeatNotToAct():
            return Refusal(
                grpc.StatusCode.FAILED_PRECONDITION,
                "SEAT_NOT_TO_ACT",
                str(error),
                {"seat": str(error.seat), "seats_to_act": _list(error.seats_to_act)},
            )
    return _refusal_of_faults(_faults_of(error, ""))


def _faults_of(error: AleatorError, path: str) -> list[Fault]:
    """List the faults of fields that an error stands for; none if it is of another kind."""
    match error:
        case InvalidInput():
            reason, metadata = "INVALID_INPUT", {}
            if isinstance(error, IllegalMove):
                reason, metadata = "ILLEGAL_MOVE", {"seat": str(error.seat), "move": error.move}
            violations = error.under(path).violations if path else error.violations
            return [Fault(reason, *violation, metadata) for violation in violations]
        case SeatRequired():
            seats = {"seats_to_act": _list(error.seats_to_act)}
            return [Fault("SEAT_REQUIRED", f"{path}.seat" if path else "seat", str(error), seats)]
        case FullStateRequired():
            return [Fault("FULL_STATE_REQUIRED", "state", str(error))]
        case HandHidden():
            seat = {"seat": str(error.seat)}
            return [Fault("HAND_HIDDEN", f"{path}.state" if path else "state", str(error), seat)]
    return []


def _refusal_of_faults(faults: list[Fault]) -> Refusal:
    """Refuse for all that is wrong; with the reason and metadata that the faults agree on."""
    reasons = {fault.reason for fault in faults}
    reason = reasons.pop() if len(reasons) == 1 else "INVALID_INPUT"
    agreed = set.intersection(*(set(fault.metadata.items()) for fault in faults))
    return Refusal(
        grpc.StatusCode.INVALID_ARGUMENT,
        reason,
        "; ".join(f"{path}: {text}" if path else text for _, path, text, _ in faults),
        dict(sorted(agreed)),
        faults=faults,
    )


def _list(seats: Iterable[int]) -> str:
    return ",".join(map(str, seats))


def _bad_request(faults: Iterable[Fault]) -> error_details_pb2.BadRequest:
    """List the faults, as many as a client can receive."""
    request = error_details_pb2.BadRequest()
    room = _FAULTS_LIMIT
    left_out = 0
    for reason, path, description, _ in faults:
        violation = error_details_pb2.BadRequest.FieldViolation(
            field=_cut(path, _PATH_LIMIT, _bytes), description=description, reason=reason
        )
        room -= violation.ByteSize() + _FRAME
        if room >= 0:
            request.field_violations.append(violation)
        else:
            left_out += 1
    if left_out:
        request.field_violations.add(description=f"and {left_out} more")
    return request


def _cut(text: str, limit: int, size: Callable[[str], int]) -> str:
    """Cut a text off where its characters reach a size as a whole."""
    for index, end in enumerate(accumulate(map(size, text))):
        if end > limit:
            return text[:index] + "..."
    return text


def _bytes(character: str) -> int:
    return len(character.encode())


def _encoded_bytes(character: str) -> int:
    """Count the bytes of a character where gRPC percent-encodes all but printable ASCII."""
    return 1 if " " <= character <= "~" and character != "%" else 3 * _bytes(character)
