"""The opponent over gRPC: suggested moves and analyses, within the deadlines of the calls."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from functools import partial
from math import inf
from time import monotonic
from typing import Any

import grpc

from aleator.search import Analysis, Engine, Limits, Report, StopFlag
from aleator.service.admission import BUSY, Admission, Job
from aleator.service.batch import Batch
from aleator.service.convert import read_report_interval, write_analysis, write_report
from aleator.service.errors import Faults, Refusal
from aleator.service.question import Question, read_question
from aleator.service.settings import Settings
from aleator.service.telemetry.calls import note_game, note_search
from aleator.v1 import opponent_service_pb2, opponent_service_pb2_grpc

MARGIN = 0.010
MARGIN_SHARE = 0.05
MOST_MARGIN = 0.5
"""Seconds, with the share of the time left, that an answer leaves before its deadline."""
RETRY = 0.1
"""Seconds after which an item of a batch is tried again that found the server busy."""

Context = grpc.aio.ServicerContext[Any, Any]


class OpponentServicer(opponent_service_pb2_grpc.OpponentServiceServicer):
    """Plays with one engine.

    Parameters
    ----------
    engine : Engine
        Searches.
    admission : Admission
        Decides which searches run, and when.
    settings : Settings
        The times and the number of threads of a search.
    """

    def __init__(self, engine: Engine, admission: Admission, settings: Settings) -> None:
        self._engine = engine
        self._admission = admission
        self._settings = settings
        self._batches: set[Batch] = set()

    async def SuggestMove(
        self, request: opponent_service_pb2.SuggestMoveRequest, context: Context
    ) -> opponent_service_pb2.SuggestMoveResponse:
        """Suggest the move to play."""
        question = read_question(request, Faults(), self._settings)
        until = _latest_end(context.time_remaining())
        analysis = await self._search(partial(question.answer, self._engine), question, until)
        return opponent_service_pb2.SuggestMoveResponse(analysis=write_analysis(analysis))

    async def AnalyzePosition(
        self, request: opponent_service_pb2.AnalyzePositionRequest, context: Context
    ) -> AsyncIterator[opponent_service_pb2.AnalyzePositionResponse]:
        """Report on a search while it runs."""
        faults = Faults()
        interval = faults.read("report_interval", read_report_interval, request)
        question = read_question(request, faults, self._settings)
        assert interval is not None
        loop = asyncio.get_running_loop()
        # Only the newest report is kept for the client: it may read slower than they are made.
        newest: Report | None = None
        news = asyncio.Event()

        def put(report: Report) -> None:
            nonlocal newest
            newest = report
            news.set()

        def job(limits: Limits, stop: StopFlag) -> Analysis:
            for report in question.reports(self._engine, limits, stop, interval):
                if not report.final:
                    loop.call_soon_threadsafe(put, report)
            return report.analysis

        until = _latest_end(context.time_remaining())
        search = asyncio.create_task(self._search(job, question, until))
        search.add_done_callback(lambda _: news.set())
        try:
            while True:
                await news.wait()
                news.clear()
                if search.done():
                    break
                assert newest is not None
                yield write_report(newest)
            yield write_report(Report(search.result(), final=True))
        finally:
            search.cancel()

    async def AnalyzeBatch(
        self,
        requests: AsyncIterator[opponent_service_pb2.AnalyzeBatchRequest],
        context: Context,
    ) -> AsyncIterator[opponent_service_pb2.AnalyzeBatchResponse]:
        """Answer many positions as they get done."""
        until = _latest_end(context.time_remaining())

        async def search(question: Question) -> Analysis:
            job = partial(question.answer, self._engine)
            while True:
                try:
                    return await self._search(job, question, until)
                except Refusal as refusal:
                    if refusal.reason != BUSY or until < monotonic() + RETRY:
                        raise
                await asyncio.sleep(RETRY)

        batch = Batch(
            partial(read_question, settings=self._settings),
            search,
            self._settings.workers,
            "AnalyzeBatch",
        )
        self._batches.add(batch)
        try:
            async with aclosing(batch.answer(requests)) as answers:
                async for answer in answers:
                    yield answer
        finally:
            self._batches.discard(batch)

    def close(self) -> None:
        """Read no more of the streams; what was read is answered still."""
        for batch in self._batches:
            batch.close()

    async def _search(self, job: Job, question: Question, until: float) -> Analysis:
        """Run a search in its turn; at once if there is nothing to search."""
        note_game(question.position.game)
        if question.is_forced:
            analysis = job(question.limits, StopFlag())
        else:
            analysis = await self._admission.run(job, question.limits, until, question.kind)
        note_search(analysis.statistics)
        return analysis


def _latest_end(remaining: float | None) -> float:
    """Tell when a search must end for its answer to arrive in the time that remains."""
    if remaining is None:
        return inf
    margin = min(MARGIN + MARGIN_SHARE * remaining, MOST_MARGIN, remaining / 2)
    return monotonic() + remaining - margin
