"""Items of a stream answered as they get done, those of the highest priority first.

A few tasks have the items searched that were read. Nothing here grows but the set of the ids used.
"""

import asyncio
import heapq
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from aleator.search import Analysis
from aleator.search.errors import InvalidInput
from aleator.service.convert import write_analysis
from aleator.service.errors import Faults
from aleator.service.exchange import Exchange, check_name, error_status, name_to_tell
from aleator.service.question import Question
from aleator.v1.opponent_service_pb2 import AnalyzeBatchRequest, AnalyzeBatchResponse

IDS_LIMIT = 100_000
"""Items of one call."""

Read: TypeAlias = Callable[[AnalyzeBatchRequest, Faults], Question]
Search: TypeAlias = Callable[[Question, int], Awaitable[Analysis]]


class Batch(Exchange[AnalyzeBatchRequest, AnalyzeBatchResponse]):
    """The items of one call; make it on the event loop.

    Parameters
    ----------
    read : callable
        Reads what an item asks; raises the faults of it that were found before, too.
    search : callable
        Searches, with the priority given.
    workers : int
        How many searches run at once.
    method : str
        The name of the method, for the log.
    """

    def __init__(self, read: Read, search: Search, workers: int, method: str) -> None:
        super().__init__()
        self._read = read
        self._search = search
        self._method = method
        self._ids: set[str] = set()
        self._waiting: list[tuple[int, int, str, Question]] = []  # a heap
        self._ready = asyncio.Semaphore(0)  # as many as wait
        self._workers = [asyncio.create_task(self._search_all()) for _ in range(workers)]

    def stop(self) -> None:
        """End the searches."""
        for task in self._workers:
            task.cancel()

    def take(self, index: int, request: AnalyzeBatchRequest) -> None:
        """Have an item searched in its turn."""
        faults = Faults()
        faults.read("id", self._add_id, request.id)
        try:
            question = self._read(request, faults)
        except Exception as error:  # noqa: BLE001 - the other items go on
            self._refuse(index, request.id, error)
        else:
            heapq.heappush(self._waiting, (-request.priority, index, request.id, question))
            self._ready.release()

    def _add_id(self, name: str) -> None:
        check_name(name)
        if name in self._ids:
            raise InvalidInput.at("", "was used before in this call")
        if len(self._ids) >= IDS_LIMIT:
            raise InvalidInput.at("", f"is one too many: a call takes at most {IDS_LIMIT} items")
        self._ids.add(name)

    async def _search_all(self) -> None:
        while True:
            await self._ready.acquire()
            order, index, name, question = heapq.heappop(self._waiting)
            try:
                analysis = await self._search(question, -order)
            except Exception as error:  # noqa: BLE001 - the other items go on
                self._refuse(index, name, error)
            else:
                self.put(
                    AnalyzeBatchResponse(id=name, index=index, analysis=write_analysis(analysis))
                )

    def _refuse(self, index: int, name: str, error: Exception) -> None:
        status = error_status(error, self._method)
        self.put(AnalyzeBatchResponse(id=name_to_tell(name), index=index, error=status))
