"""Items of a stream answered as they get done, a bounded number of them at a time.

One task reads the items, a few others have them searched, those of the highest priority first. An
item takes a place from before it is read until its answer was written. So a client that does not
read its answers, or sends faster than the server searches, is held up by HTTP/2's flow control, and
nothing here grows but the set of the ids used.
"""

import asyncio
import heapq
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from typing import TypeAlias

from aleator.search import Analysis
from aleator.search.errors import InvalidInput
from aleator.service.convert import write_analysis
from aleator.service.errors import Faults, refusal_of, shutting_down
from aleator.service.question import Question
from aleator.v1.opponent_service_pb2 import AnalyzeBatchRequest, AnalyzeBatchResponse

WINDOW = 64
"""Items at most that were read and not answered yet."""
ID_LIMIT = 100
"""Characters of an id."""
IDS_LIMIT = 100_000
"""Items of one call."""

Read: TypeAlias = Callable[[AnalyzeBatchRequest, Faults], Question]
Search: TypeAlias = Callable[[Question], Awaitable[Analysis]]


class Batch:
    """The items of one call.

    Parameters
    ----------
    read : callable
        Reads what an item asks; raises the faults of it that were found before, too.
    search : callable
        Searches.
    workers : int
        How many searches run at once.
    method : str
        The name of the method, for the log.
    """

    def __init__(self, read: Read, search: Search, workers: int, method: str) -> None:
        self._read = read
        self._search = search
        self._workers = workers
        self._method = method
        self._ids: set[str] = set()
        self._count = 0  # of the items read
        self._places = asyncio.Semaphore(WINDOW)
        self._waiting: list[tuple[int, int, str, Question]] = []  # a heap
        self._ready = asyncio.Semaphore(0)  # as many as wait
        # The answers, and None at the end of the items.
        self._answers: asyncio.Queue[AnalyzeBatchResponse | None] = asyncio.Queue()
        self._reader: asyncio.Task[None] | None = None

    def close(self) -> None:
        """Read no more; what was read is answered still."""
        if self._reader is not None:
            self._reader.cancel()

    async def answer(
        self, requests: AsyncIterator[AnalyzeBatchRequest]
    ) -> AsyncGenerator[AnalyzeBatchResponse, None]:
        """Answer every item once.

        Raises
        ------
        Refusal
            After all answers, what the reading of the items ended with but their end.
        """
        self._reader = asyncio.create_task(self._read_all(requests))
        self._reader.add_done_callback(lambda _: self._answers.put_nowait(None))
        workers = [asyncio.create_task(self._search_all()) for _ in range(self._workers)]
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
            for task in (self._reader, *workers):
                task.cancel()

    async def _read_all(self, requests: AsyncIterator[AnalyzeBatchRequest]) -> None:
        await self._places.acquire()
        async for request in requests:
            index = self._count
            self._count += 1
            faults = Faults()
            name = faults.read("id", self._read_id, request.id)
            try:
                question = self._read(request, faults)
            except Exception as error:  # noqa: BLE001 - the other items go on
                self._refuse(index, request.id, error)
            else:
                assert name is not None
                heapq.heappush(self._waiting, (-request.priority, index, name, question))
                self._ready.release()
            await self._places.acquire()

    def _read_id(self, name: str) -> str:
        if not 1 <= len(name) <= ID_LIMIT:
            raise InvalidInput.at("", f"must have 1..{ID_LIMIT} characters, not {len(name)}")
        if name in self._ids:
            raise InvalidInput.at("", "was used before in this call")
        if len(self._ids) >= IDS_LIMIT:
            raise InvalidInput.at("", f"is one too many: a call takes at most {IDS_LIMIT} items")
        self._ids.add(name)
        return name

    async def _search_all(self) -> None:
        while True:
            await self._ready.acquire()
            _, index, name, question = heapq.heappop(self._waiting)
            try:
                analysis = await self._search(question)
            except Exception as error:  # noqa: BLE001 - the other items go on
                self._refuse(index, name, error)
            else:
                answer = AnalyzeBatchResponse(
                    id=name, index=index, analysis=write_analysis(analysis)
                )
                self._answers.put_nowait(answer)

    def _refuse(self, index: int, name: str, error: Exception) -> None:
        status = refusal_of(error, self._method).message()
        name = name if len(name) <= ID_LIMIT else ""
        self._answers.put_nowait(AnalyzeBatchResponse(id=name, index=index, error=status))
