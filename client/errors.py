"""What a call can end with but an answer: one exception class for each code that a server gives.

    try:
        client.suggest_move("roygbiv 8......")
    except InvalidArgument as error:
        for violation in error.violations:
            print(violation.field, violation.description)

gRPC's own errors are turned into these.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, NamedTuple

import grpc
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status


class Violation(NamedTuple):
    """One thing wrong with a request.

    Attributes
    ----------
    field : str
        The path of the field, such as ``state.riviera.hands[1].cards[3]``; empty if the fault is
        of no particular one.
    description : str
        What is wrong and what was expected, in English.
    reason : str
        The stable name of what is wrong, such as ``ILLEGAL_MOVE``.
    """

    field: str
    description: str
    reason: str


class CallError(Exception):
    """A call that brought no answer; also raised as it is, for codes without a class of their own.

    Attributes
    ----------
    code : grpc.StatusCode
    message : str
        What went wrong, in English.
    reason : str
        Its stable name, such as ``SERVER_BUSY``; empty if the error is not of Aleator but of gRPC
        or something between.
    metadata : mapping of str to str
        The variable parts of the reason, such as ``seats_to_act``.
    violations : tuple of Violation
        All that is wrong with the request.
    retry_after : timedelta or None
        How long to wait before another try, if the server said it.
    """

    def __init__(self, code: grpc.StatusCode, message: str, details: status_pb2.Status) -> None:
        super().__init__(code, message, details)
        self.code = code
        self.message = message
        self.reason = ""
        self.metadata: Mapping[str, str] = {}
        self.violations: tuple[Violation, ...] = ()
        self.retry_after: timedelta | None = None
        info = error_details_pb2.ErrorInfo()
        bad_request = error_details_pb2.BadRequest()
        retry = error_details_pb2.RetryInfo()
        for detail in details.details:
            if detail.Unpack(info):
                self.reason, self.metadata = info.reason, dict(info.metadata)
            elif detail.Unpack(bad_request):
                self.violations = tuple(
                    Violation(violation.field, violation.description, violation.reason)
                    for violation in bad_request.field_violations
                )
            elif detail.Unpack(retry):
                self.retry_after = retry.retry_delay.ToTimedelta()

    def __str__(self) -> str:
        return f"{self.code.name}: {self.message}"


class InvalidArgument(CallError):
    """The request is wrong; `violations` has every fault."""


class NotFound(CallError):
    """There is no such game."""


class FailedPrecondition(CallError):
    """The request does not fit the position: the game is over, or the seat is not to act."""


class ResourceExhausted(CallError):
    """The server has too much to do, also after some retries."""


class Unauthenticated(CallError):
    """The server asks for an API key, or does not know this one."""


class PermissionDenied(CallError):
    """The API key is not for this."""


class DeadlineExceeded(CallError):
    """No answer came in time."""


class Unavailable(CallError):
    """There is no connection, or the server stops; also after some retries."""


class Cancelled(CallError):
    """The stream was closed on this side, or by something between."""


_CLASSES: dict[grpc.StatusCode, type[CallError]] = {
    grpc.StatusCode.INVALID_ARGUMENT: InvalidArgument,
    grpc.StatusCode.NOT_FOUND: NotFound,
    grpc.StatusCode.FAILED_PRECONDITION: FailedPrecondition,
    grpc.StatusCode.RESOURCE_EXHAUSTED: ResourceExhausted,
    grpc.StatusCode.UNAUTHENTICATED: Unauthenticated,
    grpc.StatusCode.PERMISSION_DENIED: PermissionDenied,
    grpc.StatusCode.DEADLINE_EXCEEDED: DeadlineExceeded,
    grpc.StatusCode.UNAVAILABLE: Unavailable,
    grpc.StatusCode.CANCELLED: Cancelled,
}
_BROKEN_WRITE = "Internal error from Core"
"""What grpc.aio says, as INTERNAL, where a stream's connection broke while it was written to."""
_HINTS = {
    "WRONG_VERSION_NUMBER": "the server does not use TLS: leave {tls} out",
    "CERTIFICATE_VERIFY_FAILED": "nobody who is trusted has signed the server's certificate:"
    " give its {root_certificates}",
    "Hostname Verification": "the server's certificate has another name: give it as {server_name}",
    "Socket closed": "a server that uses TLS, or asks for a certificate, does that: give {tls}",
}
"""What to do about connections that are not made, by what gRPC says of them."""
_ARGUMENTS = {name: f"`{name}`" for name in ("tls", "root_certificates", "server_name")}
"""What the hints call the settings of a connection."""
_CODES = {code.value[0]: code for code in grpc.StatusCode}


def error_of_status(status: status_pb2.Status) -> CallError:
    """Turn a status with details, such as an item of a batch is answered with, into an error."""
    code = _CODES.get(status.code, grpc.StatusCode.UNKNOWN)
    return _CLASSES.get(code, CallError)(code, status.message, status)


def closed() -> Cancelled:
    """Make the error of a stream that was closed on this side."""
    return Cancelled(grpc.StatusCode.CANCELLED, "the stream was closed", status_pb2.Status())


@contextmanager
def translated() -> Iterator[None]:
    """Raise gRPC's errors as those of this module."""
    try:
        yield
    except grpc.RpcError as error:
        raise _error_of_call(error) from None


def _error_of_call(call: Any) -> CallError:
    """Turn gRPC's error, which is the call too, into one of ours."""
    try:
        status = rpc_status.from_call(call)
    except ValueError:  # something between has changed the code or the message
        status = None
    if status is None:
        code, message = call.code(), call.details() or ""
        if message == _BROKEN_WRITE:
            code, message = grpc.StatusCode.UNAVAILABLE, "the connection broke"
        status = status_pb2.Status(code=code.value[0], message=explained(message))
    return error_of_status(status)


def explained(message: str, names: Mapping[str, str] = _ARGUMENTS) -> str:
    """Say before gRPC's words on a connection that is not made what to do about it, if known.

    Parameters
    ----------
    message : str
    names : mapping of str to str
        What the settings `tls`, `root_certificates` and `server_name` are called where the message
        is shown.
    """
    hints = [hint for part, hint in _HINTS.items() if part in message]
    if not hints or not message.startswith("failed to connect"):
        return message
    return f"{hints[0].format_map(names)} ({message})"
