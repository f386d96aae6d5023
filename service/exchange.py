"""A stream of messages, each answered once, a bounded number of them at a time.

One task reads the messages. A message takes a place from before it is read until its answer was
written. So a client that does not read its answers, or sends faster than the server searches, is
held up by HTTP/2's flow control, and nothing here grows.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Generic, TypeVar

from google.rpc import status_pb2

from aleator.search.errors import InvalidInput
from aleator.service.errors import refusal_of, shutting_down
from aleator.service.telemetry.calls import note_error

WINDOW = 64
"""Messages at most that were read and not answered yet."""
NAME_LIMIT = 100
"""Characters of a name that the client gives."""

Request = TypeVar("Request")
Response = TypeVar("Response")


class Exchange(ABC, Generic[Request, Response]):
    """The messages of one call."""

    def __init__(self) -> None:
        self._count = 0  # of the messages read
        self._places = asyncio.Semaphore(WINDOW)
        # The answers, and None at the end of the messages.
        self._answers: asyncio.Queue[Response | None] = asyncio.Queue()
        self._reader: asyncio.Task[None] | None = None

    @abstractmethod
    def take(self, index: int, request: Request) -> None:
        """Take a message, so that `put` is called with its answer, at once or later."""

    @abstractmethod
    def stop(self) -> None:
        """End all that still runs; nothing waits for answers any more."""

    def put(self, answer: Response) -> None:
        """Give the answer to a message."""
        self._answers.put_nowait(answer)

    def close(self) -> None:
        """Read no more; what was read is answered still."""
        if self._reader is not None:
            self._reader.cancel()

    async def answer(self, requests: AsyncIterator[Request]) -> AsyncGenerator[Response, None]:
        """Answer every message once.

        Raises
        ------
        Refusal
            After all answers, what the reading of the messages ended with but their end.
        """
        self._reader = asyncio.create_task(self._read_all(requests))
        self._reader.add_done_callback(lambda _: self._answers.put_nowait(None))
        try:
            answered = 0
            while not self._reader.done() or answered < self._count:
                answer = await self._answers.get()
                if answer is not None:
                    yield answer
                    answered += 1
                    self._places.release()
            if self._reader.cancelled():
                raise shutting_down()
            self._reader.result()
        finally:
            self._reader.cancel()
            self.stop()

    async def _read_all(self, requests: AsyncIterator[Request]) -> None:
        await self._places.acquire()
        async for request in requests:
            index = self._count
            self._count += 1
            self.take(index, request)
            await self._places.acquire()


def error_status(error: Exception, method: str) -> status_pb2.Status:
    """Make of any error the status that a message is answered with; it is counted."""
    refusal = refusal_of(error, method)
    note_error(refusal.code, refusal.reason)
    return refusal.message()


def check_name(name: str) -> None:
    """Check the length of a name that the client gives."""
    if not 1 <= len(name) <= NAME_LIMIT:
        raise InvalidInput.at("", f"must have 1..{NAME_LIMIT} characters, not {len(name)}")


def name_to_tell(name: str) -> str:
    """The name as answers give it back; none if it is too long."""
    return name if len(name) <= NAME_LIMIT else ""
