"""Which searches run, when, and for how long.

A fixed number of threads search. A search that cannot start at once waits in a short queue, first
come, first served; one that would start too late for its deadline, or finds the queue full, is
refused on arrival, since a client told at once can go elsewhere. To tell, the starts of the waiting
searches are predicted from the ends of the running ones.

A search whose time comes from its deadline shares that time with those that wait: with w waiting
for n threads it gets 1/(1 + w/n) of it. So when many ask at the same time all are answered, with
less time each, rather than few. Those that already run are cut to that share too.

Predictions hold as long as searches end in time, which those bounded by time do. For one bounded
by simulations alone the end is guessed from the speed seen lately.

A search known to end sooner than it could be handed to a thread and back runs on the event loop.
How long such short searches take is learned by kind, as simulations of one game can take a hundred
times as long as those of another.

Everything here but the searches themselves, with the clocks around short ones, runs on the event
loop, so nothing needs a lock.
"""

import asyncio
import heapq
import os
import sys
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf
from time import monotonic, thread_time
from typing import TypeAlias

import grpc

from aleator.search import Analysis, Limits, Statistics, StopFlag
from aleator.service.errors import Refusal, shutting_down

LEAST_TIME = 0.001
"""Seconds that a search gets at least; one that cannot have them is refused."""
FIRST_SPEED = 100_000.0
"""Simulations a second that one thread is thought to make, before any was seen."""
FIRST_OVERHEAD = 0.001
MOST_OVERHEAD = 0.010
"""Seconds that a search is thought to take beside its time: at first, and at most."""
SHORT_SIMULATIONS = 64
"""A search of so many simulations at most may be short."""
SHORT_TIME = 0.0005
"""Seconds that a short search takes at most: so long it may hold up the event loop."""
SHORT_SAMPLES = 8
"""Searches of a kind whose times are kept. One in so many may be longer, be it by a hiccup."""
MEMORY = 0.9
"""How much of what was seen so far is kept when something new is seen."""
NICENESS = 10
"""What is added to the niceness of search threads, so that they do not hold up the event loop."""
BUSY = "SERVER_BUSY"
"""The reason of a refusal for want of a thread in time."""

Job = Callable[[Limits, StopFlag], Analysis]
Kind: TypeAlias = Hashable
"""What searches have in common whose simulations take about as long."""


@dataclass(eq=False, slots=True)
class _Search:
    """A search that waits or runs; times are seconds of the monotonic clock."""

    job: Job
    limits: Limits
    until: float  # when it must have ended
    result: asyncio.Future[Analysis]
    stop: StopFlag = field(default_factory=StopFlag)
    timer: asyncio.TimerHandle | None = None  # gives up waiting; later, cuts the search short
    start: float = inf
    time: float = inf  # what it was given
    end: float = inf  # when it will have ended, as far as can be told


class Admission:
    """Runs searches on a fixed number of threads.

    Parameters
    ----------
    workers : int
        How many threads search at once.
    queue : int
        How many searches may wait.
    """

    def __init__(self, workers: int, queue: int) -> None:
        self._workers = workers
        self._queue = queue
        self._free = workers
        self._running: set[_Search] = set()
        self._waiting: deque[_Search] = deque()
        self._speed = FIRST_SPEED
        self._overhead = FIRST_OVERHEAD
        self._short_times: defaultdict[tuple[Kind, int], deque[float]] = defaultdict(
            partial(deque, maxlen=SHORT_SAMPLES)
        )
        self._is_closing = False
        self._pool = ThreadPoolExecutor(workers, "search", initializer=_lower_priority)

    async def run(self, job: Job, limits: Limits, until: float, kind: Kind) -> Analysis:
        """Run a search at once if it is short, else as soon as a thread is free.

        Parameters
        ----------
        job : callable
            Searches within the limits that it is given, until the flag is set.
        limits : Limits
            The most that it may spend; `time` is set, `threads` at most the workers.
        until : float
            When the search must have ended, by the monotonic clock; may be infinite.
        kind : hashable
            The same for all searches of a kind; there should be few.

        Raises
        ------
        Refusal
            If it would start too late, or after `stop_all`.
        """
        if self._is_closing:
            raise shutting_down()
        simulations = limits.simulations
        if simulations is not None and simulations <= SHORT_SIMULATIONS and limits.threads == 1:
            times = self._short_times[kind, simulations.bit_length()]
            job = partial(_run_timed, job, times)
            if len(times) > 1 and heapq.nlargest(2, times)[1] <= SHORT_TIME:
                return self._run_here(job, limits, until)
        loop = asyncio.get_running_loop()
        search = _Search(job, limits, until, loop.create_future())
        now = monotonic()
        self._check_start(search, now)
        self._waiting.append(search)
        self._start_waiting()
        if search.start == inf:
            if until < inf:
                search.timer = loop.call_later(until - now, self._give_up, search)
            self._cut_running()
        try:
            return await search.result
        except asyncio.CancelledError:
            search.stop.set()
            search.end = min(search.end, monotonic() + self._overhead)
            self._leave_queue(search)
            raise

    def stop_all(self) -> None:
        """Let all searches return what they have; those that wait, as soon as they start."""
        self._is_closing = True
        for search in (*self._running, *self._waiting):
            search.stop.set()

    def close(self) -> None:
        """Wait for the threads to end, once all searches were stopped."""
        self._pool.shutdown()

    def _run_here(self, job: Job, limits: Limits, until: float) -> Analysis:
        """Run a short search on the event loop."""
        left = until - monotonic()
        _check_time_left(left)
        assert limits.time is not None
        return job(replace(limits, time=min(limits.time, left)), StopFlag())

    def _check_start(self, search: _Search, now: float) -> None:
        """Refuse a search that cannot start in time."""
        _check_time_left(search.until - now)
        start = self._predict_start(search, now)
        if start > now:
            late = start - (search.until - LEAST_TIME - self._overhead)
            if late > 0:
                raise _busy(late)
            if len(self._waiting) >= self._queue:
                raise _busy(min(running.end for running in self._running) - now)

    def _predict_start(self, search: _Search, now: float) -> float:
        """Tell when a new search would start."""
        waiting = len(self._waiting) + 1
        free = [now] * self._free
        for running in self._running:
            end = min(running.end, self._shared_end(running, running.start, waiting))
            # One that is overdue is expected to take as long again as it is overdue.
            free += [max(end, 2 * now - end)] * running.limits.threads
        heapq.heapify(free)
        for behind, other in zip(range(waiting - 1, 0, -1), self._waiting, strict=True):
            threads = other.limits.threads
            start = [heapq.heappop(free) for _ in range(threads)][-1]
            for _ in range(threads):
                heapq.heappush(free, self._predict_end(other, start, behind))
        return heapq.nsmallest(search.limits.threads, free)[-1]

    def _predict_end(self, search: _Search, start: float, waiting: int) -> float:
        """Tell when a search will have ended that starts while others wait."""
        end = self._shared_end(search, start, waiting)
        if search.limits.simulations is None:
            return end
        seconds = search.limits.simulations / (self._speed * search.limits.threads)
        return min(end, start + seconds + self._overhead)

    def _shared_end(self, search: _Search, start: float, waiting: int) -> float:
        """Tell when a search must have ended that shares its time with those that wait."""
        assert search.limits.time is not None
        share = (search.until - start) / (1 + waiting / self._workers)
        return start + max(
            LEAST_TIME + self._overhead, min(search.limits.time + self._overhead, share)
        )

    def _start_waiting(self) -> None:
        """Start the searches that wait, as far as threads are free."""
        while self._waiting and self._waiting[0].limits.threads <= self._free:
            search = self._waiting.popleft()
            if search.timer is not None:
                search.timer.cancel()
            now = monotonic()
            search.start = now
            search.end = self._predict_end(search, now, len(self._waiting))
            search.time = self._shared_end(search, now, len(self._waiting)) - now - self._overhead
            self._free -= search.limits.threads
            self._running.add(search)
            limits = replace(search.limits, time=search.time)
            done = self._pool.submit(search.job, limits, search.stop)
            done.add_done_callback(partial(self._hand_over, search))

    def _hand_over(self, search: _Search, done: Future[Analysis]) -> None:
        """Pass what a thread has done to the event loop."""
        search.result.get_loop().call_soon_threadsafe(self._ended, search, done)

    def _ended(self, search: _Search, done: Future[Analysis]) -> None:
        """Pass the result of a search on, and its threads to the next."""
        if search.timer is not None:
            search.timer.cancel()
        self._running.discard(search)
        self._free += search.limits.threads
        self._start_waiting()
        error = done.exception()
        if error is not None:
            if not search.result.done():
                search.result.set_exception(error)
            return
        analysis = done.result()
        self._learn(search, analysis.statistics)
        if not search.result.done():
            search.result.set_result(analysis)

    def _learn(self, search: _Search, statistics: Statistics) -> None:
        """See how fast searches are, and how long they take beside their time."""
        took = monotonic() - search.start - min(search.time, statistics.elapsed)
        self._overhead = MEMORY * self._overhead + (1 - MEMORY) * min(took, MOST_OVERHEAD)
        if statistics.elapsed > LEAST_TIME:
            speed = statistics.simulations / (statistics.elapsed * statistics.threads)
            self._speed = MEMORY * self._speed + (1 - MEMORY) * speed

    def _cut_running(self) -> None:
        """Cut those that run to their share, now that one more waits."""
        now = monotonic()
        for search in self._running:
            end = self._shared_end(search, search.start, len(self._waiting))
            end = max(end, now + LEAST_TIME + self._overhead)
            if search.until < inf and end < search.end:
                if search.timer is not None:
                    search.timer.cancel()
                search.end = end
                loop = search.result.get_loop()
                search.timer = loop.call_later(end - self._overhead - now, search.stop.set)

    def _give_up(self, search: _Search) -> None:
        """Refuse a search that waited until its time ran out, as its start was foretold wrongly."""
        self._leave_queue(search)
        if not search.result.done():
            search.result.set_exception(_busy(LEAST_TIME))

    def _leave_queue(self, search: _Search) -> None:
        with suppress(ValueError):
            self._waiting.remove(search)
        self._start_waiting()


def _run_timed(job: Job, times: deque[float], limits: Limits, stop: StopFlag) -> Analysis:
    """Run a search and note how long it took, not counting when its thread had to wait."""
    start = thread_time()
    analysis = job(limits, stop)
    times.append(thread_time() - start)
    return analysis


def _check_time_left(left: float) -> None:
    """Refuse a search whose deadline leaves it less than the least time."""
    if left < LEAST_TIME:
        raise Refusal(
            grpc.StatusCode.DEADLINE_EXCEEDED,
            "DEADLINE_UNREACHABLE",
            "the deadline leaves no time to search",
        )


def _busy(retry_after: float) -> Refusal:
    return Refusal(
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        BUSY,
        "the server has too much to search",
        retry_after=max(LEAST_TIME, retry_after),
    )


def _lower_priority() -> None:
    """Lower the priority of the calling thread, and of those that it will start."""
    if sys.platform == "linux":  # elsewhere this would lower the whole process
        thread = threading.get_native_id()
        os.setpriority(os.PRIO_PROCESS, thread, os.getpriority(os.PRIO_PROCESS, thread) + NICENESS)
