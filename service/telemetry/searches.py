"""Follows searches from when they are asked for to their end: how many wait, how many run.

They are asked for on the event loop and run on threads, hence the lock.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Protocol

from aleator.search import Analysis, Limits, Statistics, StopFlag
from aleator.service.admission import Job


class SearchObserver(Protocol):
    """Is told of searches, on any thread; must not block."""

    def search_waited(self, seconds: float) -> None:
        """See how long one that starts has waited."""

    def search_ended(self, game: str, statistics: Statistics) -> None:
        """See what one has done."""


class SearchWatch:
    """The searches of a server.

    Attributes
    ----------
    waiting, running : int
        How many do.
    threads : int
        How many threads those that run have.
    """

    def __init__(self) -> None:
        self.waiting = 0
        self.running = 0
        self.threads = 0
        self._observers: list[SearchObserver] = []
        self._lock = threading.Lock()

    def add(self, observer: SearchObserver) -> None:
        """Tell one more."""
        self._observers.append(observer)

    @contextmanager
    def follow(self, job: Job, game: str, threads: int) -> Iterator[Job]:
        """Follow a search that is asked for: give what is to be run in place of `job`.

        It waits until that is run, or the context is left.
        """
        asked = perf_counter()
        with self._lock:
            self.waiting += 1
        waits = True

        def leave_queue() -> None:
            nonlocal waits
            self.waiting -= waits
            waits = False

        def run(limits: Limits, stop: StopFlag) -> Analysis:
            with self._lock:
                leave_queue()
                self.running += 1
                self.threads += threads
            for observer in self._observers:
                observer.search_waited(perf_counter() - asked)
            try:
                analysis = job(limits, stop)
            finally:
                with self._lock:
                    self.running -= 1
                    self.threads -= threads
            for observer in self._observers:
                observer.search_ended(game, analysis.statistics)
            return analysis

        try:
            yield run
        finally:
            with self._lock:
                leave_queue()
