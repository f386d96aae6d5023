"""A search that the person at the terminal can watch and interrupt."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from queue import Empty, SimpleQueue

from rich.console import Console

from aleator.search import (
    Analysis,
    Engine,
    Limits,
    Position,
    Report,
    StopFlag,
    StopReason,
    Strength,
)

LOOK = 0.1
"""Seconds between two looks whether a search has failed."""


def think(
    console: Console,
    message: str,
    engine: Engine,
    position: Position,
    seat: int | None = None,
    limits: Limits | None = None,
    *,
    seed: int | None = None,
    strength: Strength | None = None,
    at_least: float = 0.0,
) -> Analysis:
    """Search as `Engine.suggest` does; Ctrl-C ends it with what it has found so far.

    The search runs in a thread of its own, because Python hears of Ctrl-C only
    while its main thread runs Python code. An interrupted search has the stop
    reason STOPPED. `at_least` is how many seconds it takes even if there is
    nothing to search.
    """
    stop = StopFlag()
    with ThreadPoolExecutor(1) as pool, console.status(message):
        end = time.monotonic() + at_least
        future = pool.submit(
            engine.suggest, position, seat, limits, seed=seed, strength=strength, stop=stop
        )
        try:
            analysis = future.result()
            time.sleep(max(0.0, end - time.monotonic()))
        except KeyboardInterrupt:
            stop.set()
            analysis = future.result()
            spent = replace(analysis.statistics, stop_reason=StopReason.STOPPED)
            return replace(analysis, statistics=spent)
        return analysis


def watch(
    tell: Callable[[Report], object],
    engine: Engine,
    position: Position,
    seat: int | None,
    limits: Limits,
    *,
    interval: float,
    seed: int | None,
    strength: Strength,
) -> Report:
    """Search as `Engine.analyze` does and tell each report but the final one, which is returned.

    Ctrl-C ends the search; its final report is then what it has found so far.
    """
    stop = StopFlag()
    reports: SimpleQueue[Report] = SimpleQueue()

    def search() -> None:
        for report in engine.analyze(
            position, seat, limits, interval=interval, seed=seed, strength=strength, stop=stop
        ):
            reports.put(report)

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(search)
        try:
            while not (future.done() and reports.empty()):
                try:
                    report = reports.get(timeout=LOOK)
                    if report.final:
                        return report
                    tell(report)
                except Empty:
                    pass
                except KeyboardInterrupt:
                    stop.set()
        finally:
            stop.set()
        raise future.exception() or AssertionError("no final report")
