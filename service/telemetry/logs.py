"""The log: one line for each call, and everything that the libraries have to say.

Lines are JSON for programs, or text for people at a terminal. All of Python's logging goes through
it, as do warnings and exceptions that nobody catches. A thread of its own writes, so that a reader
of the log that has stalled stalls no calls: lines beyond those that can wait are dropped, and
counted.
"""

import logging
import os
import threading
from collections import deque
from collections.abc import Iterable, Mapping
from typing import TextIO

import structlog
from grpc import StatusCode
from structlog.typing import EventDict

from aleator.service.settings import LogFormat, LogLevel
from aleator.service.telemetry.calls import Call, current_call

WAITING_LINES = 10_000
"""Lines that wait to be written; further ones are dropped."""
BLOCK_LINES = 100
"""Lines written at once at most."""
GATHERING_TIME = 0.05
"""Seconds that a line may wait for others."""
CLOSING_TIME = 2.0
"""Seconds that the lines that wait have to be written when the server ends."""

_LOGGER = logging.getLogger("aleator")
_CLIENTS_FAULTS = ("ExecuteBatchError", "Invalid encoding on", "[UnicodeDecodeError]")
_OUR_FAULTS = frozenset({StatusCode.INTERNAL, StatusCode.UNKNOWN, StatusCode.DATA_LOSS})


class Log:
    """Takes over Python's logging, from now until it is closed.

    Parameters
    ----------
    form : {"auto", "json", "text"}
        How lines look; `auto` is text on a terminal, else JSON.
    level : {"debug", "info", "warning", "error"}
        The least that is written.
    stream : file
        Where lines go.
    """

    def __init__(self, form: LogFormat, level: LogLevel, stream: TextIO) -> None:
        self._file = stream.fileno()
        is_text = form == "text" or (form == "auto" and stream.isatty())
        self._formatter = _formatter(is_text=is_text, in_color=stream.isatty())
        self._handler = _WaitingLines()
        self._handler.addFilter(_is_worth_a_line)
        self._closing = threading.Event()
        # It may be held up by the reader for ever, so it must not keep the process.
        self._writer = threading.Thread(target=self._write_lines, name="log", daemon=True)
        self._writer.start()
        root = logging.getLogger()
        root.addHandler(self._handler)
        root.setLevel(level.upper())
        logging.captureWarnings(capture=True)
        threading.excepthook = _log_exception_of_thread

    @property
    def dropped(self) -> int:
        """How many lines were dropped so far."""
        return self._handler.dropped

    def close(self) -> None:
        """Give logging back, and write what waits, unless it is not taken in time."""
        root = logging.getLogger()
        root.removeHandler(self._handler)
        root.setLevel(logging.WARNING)
        logging.captureWarnings(capture=False)
        threading.excepthook = threading.__excepthook__
        self._closing.set()
        self._handler.arrived.set()
        self._writer.join(CLOSING_TIME)

    def _write_lines(self) -> None:
        arrived, records = self._handler.arrived, self._handler.records
        while not self._closing.is_set() or records:
            arrived.wait()
            # Several at once: to change threads for each costs many times as much as the line.
            self._closing.wait(GATHERING_TIME)
            arrived.clear()
            while records:
                block = [records.popleft() for _ in range(min(len(records), BLOCK_LINES))]
                self._write(block)

    def _write(self, records: Iterable[logging.LogRecord]) -> None:
        text = "".join(f"{self._line(record)}\n" for record in records)
        data = text.encode(errors="backslashreplace")
        # Not by the stream, whose lock a write that is held up would keep when Python ends.
        try:
            while data:
                data = data[os.write(self._file, data) :]
        except OSError:  # there is nobody to tell
            self._handler.dropped += data.count(b"\n")

    def _line(self, record: logging.LogRecord) -> str:
        try:
            return self._formatter.format(record)
        except Exception:  # noqa: BLE001 - a caller's mistake must not end the log
            record.msg, record.args = f"bad arguments for {record.msg!r}", ()
            return self._formatter.format(record)


class CallLog:
    """Writes a line for each call that has ended."""

    def call_started(self, call: Call) -> None:
        """Wait for the end."""

    def call_ended(self, call: Call) -> None:
        """Write the line."""
        if call.code in _OUR_FAULTS:
            level = logging.ERROR
        elif call.is_housekeeping and call.code is StatusCode.OK:
            level = logging.DEBUG
        else:
            level = logging.INFO
        if _LOGGER.isEnabledFor(level):
            _LOGGER.log(level, "call", extra=call_fields(call))

    def answer_failed(self, call: Call, code: StatusCode, reason: str) -> None:
        """Wait for the end, whose line counts it."""


def call_fields(call: Call) -> Mapping[str, object]:
    """Tell of a call what may be told: nothing of its request, and no key."""
    fields: dict[str, object] = {
        "request_id": call.request_id,
        "method": call.method,
        "code": call.code.name,
        "ms": round(1000 * call.seconds, 3),
    }
    if call.client:
        fields["client"] = call.client
    if call.reason:
        fields["reason"] = call.reason
    if call.errors:
        fields["errors"] = call.errors
    if call.game:
        fields["game"] = call.game
    if call.searches:
        fields["simulations"] = call.simulations
        fields["stop_reason"] = call.stop_reason
    if call.searches > 1:
        fields["searches"] = call.searches
    return fields


class _WaitingLines(logging.Handler):
    """Keeps what is to be written for the thread that writes; never waits for it."""

    def __init__(self) -> None:
        super().__init__()
        self.records: deque[logging.LogRecord] = deque()
        self.arrived = threading.Event()
        self.dropped = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Let a record wait, if there is room."""
        if len(self.records) >= WAITING_LINES:
            self.dropped += 1
            return
        # The thread that writes could not tell which call it is about.
        call = current_call()
        if call is not None and not hasattr(record, "request_id"):
            record.request_id = call.request_id
        self.records.append(record)
        if not self.arrived.is_set():
            self.arrived.set()


def _formatter(*, is_text: bool, in_color: bool) -> logging.Formatter:
    """Make what turns a record into a line."""
    renderers: list[structlog.typing.Processor]
    if is_text:
        colors = in_color and "NO_COLOR" not in os.environ
        # Not the fuller traceback of `rich`, which shows the values of variables.
        plain = structlog.dev.plain_traceback
        renderers = [
            _escape,
            structlog.dev.ConsoleRenderer(colors=colors, exception_formatter=plain),
        ]
    else:
        renderers = [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[
            structlog.stdlib.add_log_level,
            structlog.stdlib.add_logger_name,
            structlog.processors.TimeStamper(fmt="iso", utc=not is_text),
            structlog.stdlib.ExtraAdder(),
        ],
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *renderers],
    )


def _escape(_logger: object, _name: str, fields: EventDict) -> EventDict:
    """Write out what a terminal would obey: the name in a certificate is the client's choice."""
    for name, value in fields.items():
        if (
            isinstance(value, str)
            and name not in {"event", "exception"}
            and not value.isprintable()
        ):
            fields[name] = ascii(value)
    return fields


def _is_worth_a_line(record: logging.LogRecord) -> bool:
    """Tell whether gRPC logs more than what clients do wrong.

    That is that one left before its answer was written, and that bytes in the metadata or the path
    are no UTF-8; it would log these, and they may be a key.
    """
    if record.name != "grpc._cython.cygrpc":
        return True
    message = record.getMessage()
    return not any(known in message for known in _CLIENTS_FAULTS)


def _log_exception_of_thread(args: threading.ExceptHookArgs) -> None:
    if args.exc_value is not None and not issubclass(args.exc_type, SystemExit):
        _LOGGER.critical(
            "uncaught exception", exc_info=(args.exc_type, args.exc_value, args.exc_traceback)
        )
