"""A match that the person at the terminal can watch and interrupt."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from typing import TypeVar

from rich.console import Console
from rich.status import Status

from aleator.search import StopFlag
from aleator.search.match import MatchStopped, Progress

Result = TypeVar("Result")

REPORT_INTERVAL = 10.0
"""Seconds between two lines of progress where a line cannot be written over."""


class _Watcher:
    """Tells on the error stream how far a match has come, from its start on."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._started = time.monotonic()
        self._next = 0.0
        self._status = Status("Setting up", console=console) if console.is_terminal else None

    def shown(self) -> AbstractContextManager[object]:
        """While the match is on."""
        return self._status or nullcontext()

    def tell(self, progress: Progress) -> None:
        """Tell it now, or a moment later with what has happened until then."""
        elapsed = time.monotonic() - self._started
        if elapsed < self._next:
            return
        line = (
            f"{progress.games:,} of {progress.all_games:,} games and {progress.moves:,} moves"
            f" played in {elapsed:.0f} s; Ctrl-C ends it"
        )
        if self._status:
            self._next = elapsed + 0.1
            self._status.update(line)
        else:
            self._next = elapsed + REPORT_INTERVAL
            self._console.print(line, soft_wrap=True)


def contest(
    console: Console,
    play: Callable[[Callable[[Progress], object], StopFlag], Result],
) -> Result | None:
    """Play; Ctrl-C ends it with the result so far, None if there is none yet.

    The games run in a thread of their own, because Python hears of Ctrl-C only
    while its main thread runs Python code.
    """
    stop = StopFlag()
    watcher = _Watcher(console)
    with ThreadPoolExecutor(1) as pool, watcher.shown():
        future = pool.submit(play, watcher.tell, stop)
        try:
            try:
                return future.result()
            except KeyboardInterrupt:
                stop.set()
                return future.result()
        except MatchStopped:
            return None
