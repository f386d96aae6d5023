"""The opponent over gRPC: suggested moves and analyses, within the deadlines of the calls."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from math import inf
from time import monotonic
from typing import Any, TypeVar

import grpc

from aleator.search import Analysis, Engine, Limits, Report, StopFlag
from aleator.service.admission import BUSY, Admission, Job
from aleator.service.batch import Batch
from aleator.service.convert import read_report_interval, write_analysis, write_report
from aleator.service.errors import Faults, Refusal, shutting_down
from aleator.service.exchange import Exchange
from aleator.service.play import Play
from aleator.service.question import Question, read_question
from aleator.service.settings import Settings
from aleator.service.shelf import Shelf
from aleator.service.telemetry.calls import note_game, note_search
from aleator.service.telemetry.searches import SearchWatch
from aleator.v1 import opponent_service_pb2, opponent_service_pb2_grpc, play_pb2

MARGIN = 0.010
MARGIN_SHARE = 0.05
MOST_MARGIN = 0.5
"""Seconds, with the share of the time left, that an answer leaves before its deadline."""
RETRY = 0.1
"""Seconds after which an item of a batch is tried again that found the server busy."""

Context = grpc.aio.ServicerContext[Any, Any]
Request = TypeVar("Request")
Response = TypeVar("Response")


class OpponentServicer(opponent_service_pb2_grpc.OpponentServiceServicer):
    """Plays with one engine.

    Parameters
    ----------
    engine : Engine
        Searches.
    admission : Admission
        Decides which searches run, and when.
    searches : SearchWatch
        Follows them.
    settings : Settings
        The times and the number of threads of a search.
    """

    def __init__(
        self, engine: Engine, admission: Admission, searches: SearchWatch, settings: Settings
    ) -> None:
        self._engine = engine
        self._admission = admission
        self._searches = searches
        self._settings = settings
        self._shelf = Shelf(settings.kept_memory)
        self._exchanges: set[Exchange[Any, Any]] = set()
        self._is_closing = False

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

        async def search(question: Question, priority: int) -> Analysis:
            job = partial(question.answer, self._engine)
            while True:
                try:
                    return await self._search(job, question, until, priority)
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
        async with aclosing(self._answer(batch, requests)) as answers:
            async for answer in answers:
                yield answer

    async def Play(
        self, requests: AsyncIterator[play_pb2.PlayRequest], context: Context
    ) -> AsyncIterator[play_pb2.PlayResponse]:
        """Keep seats in games and play there."""

        async def search(question: Question, until: float, *, quick: bool = False) -> Analysis:
            if quick:
                limits = replace(question.limits, simulations=1, threads=1)
                # On the event loop: too hurried to copy trees.
                return replace(question, trees=None).answer(self._engine, limits, StopFlag())
            return await self._search(partial(question.answer, self._engine), question, until)

        until = _latest_end(context.time_remaining())
        play = Play(search, self._settings, until, self._shelf)
        async with aclosing(self._answer(play, requests)) as answers:
            async for answer in answers:
                yield answer

    def close(self) -> None:
        """Read no more of the streams; what was read is answered still."""
        self._is_closing = True
        for exchange in self._exchanges:
            exchange.close()

    async def _answer(
        self, exchange: Exchange[Request, Response], requests: AsyncIterator[Request]
    ) -> AsyncGenerator[Response, None]:
        """Answer a stream, until `close`."""
        if self._is_closing:  # its call was taken before the server stopped, and begins only now
            exchange.stop()
            raise shutting_down()
        self._exchanges.add(exchange)
        try:
            async with aclosing(exchange.answer(requests)) as answers:
                async for answer in answers:
                    yield answer
        finally:
            self._exchanges.discard(exchange)

    async def _search(
        self, job: Job, question: Question, until: float, priority: int = 0
    ) -> Analysis:
        """Run a search in its turn; at once if there is nothing to search."""
        note_game(question.position.game)
        if question.is_forced:
            analysis = job(question.limits, StopFlag())
        else:
            limits = question.limits
            with self._searches.follow(job, question.position.game, limits.threads) as followed:
                analysis = await self._admission.run(
                    followed, limits, until, question.kind, priority=priority
                )
        note_search(analysis.statistics)
        return analysis


def _latest_end(remaining: float | None) -> float:
    """Tell when a search must end for its answer to arrive in the time that remains."""
    if remaining is None:
        return inf
    margin = min(MARGIN + MARGIN_SHARE * remaining, MOST_MARGIN, remaining / 2)
    return monotonic() + remaining - margin
