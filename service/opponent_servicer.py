"""The opponent over gRPC: suggested moves and analyses, within the deadlines of the calls."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from math import inf
from time import monotonic
from typing import Any

import grpc

from aleator.search import Analysis, Engine, Limits, StopFlag
from aleator.service.admission import Admission, Job
from aleator.service.convert import read_report_interval, write_analysis
from aleator.service.errors import Faults
from aleator.service.question import Question, read_question
from aleator.service.settings import Settings
from aleator.v1 import opponent_service_pb2, opponent_service_pb2_grpc

MARGIN = 0.010
MARGIN_SHARE = 0.05
"""Seconds, and the share of the time left, that an answer leaves before its deadline."""

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

    async def SuggestMove(
        self, request: opponent_service_pb2.SuggestMoveRequest, context: Context
    ) -> opponent_service_pb2.SuggestMoveResponse:
        """Suggest the move to play."""
        question = read_question(request, Faults(), self._settings)
        analysis = await self._search(partial(question.answer, self._engine), question, context)
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
        newest: Analysis | None = None
        news = asyncio.Event()

        def put(analysis: Analysis) -> None:
            nonlocal newest
            newest = analysis
            news.set()

        def job(limits: Limits, stop: StopFlag) -> Analysis:
            for report in question.reports(self._engine, limits, stop, interval):
                if not report.final:
                    loop.call_soon_threadsafe(put, report.analysis)
            return report.analysis

        search = asyncio.create_task(self._search(job, question, context))
        search.add_done_callback(lambda _: news.set())
        try:
            while True:
                await news.wait()
                news.clear()
                if search.done():
                    break
                assert newest is not None
                yield opponent_service_pb2.AnalyzePositionResponse(analysis=write_analysis(newest))
            yield opponent_service_pb2.AnalyzePositionResponse(
                analysis=write_analysis(search.result()), final=True
            )
        finally:
            search.cancel()

    async def _search(self, job: Job, question: Question, context: Context) -> Analysis:
        """Run a search in its turn; at once if there is nothing to search."""
        if question.is_forced:
            return job(question.limits, StopFlag())
        until = _latest_end(context.time_remaining())
        return await self._admission.run(job, question.limits, until, question.kind)


def _latest_end(remaining: float | None) -> float:
    """Tell when a search must end for its answer to arrive in the time that remains."""
    if remaining is None:
        return inf
    margin = min(MARGIN + MARGIN_SHARE * remaining, remaining / 2)
    return monotonic() + remaining - margin
