"""Which searches run, when, and for how long.

A fixed number of threads search. A search that cannot start at once waits in a short queue; one
that would start too late for its deadline, or finds the queue full, is refused on arrival, since a
client told at once can go elsewhere. To tell, the starts of the waiting searches are predicted from
the ends of the running ones. With each arrival and each end they are predicted again: one that had
a place and cannot start in time any more, as others went before it or searches took longer than was
thought, is refused then, and not when its time has run out.

A search whose time comes from its deadline shares that time with those that wait: with w waiting
for n threads it gets 1/(1 + w/n) of it. So when many ask at the same time all are answered, with
less time each, rather than few. Those that already run are cut to that share too.

Clients share all this alike. Whose turn it is, `fair_queue` says. A client's searches give way to
its own waiting ones only, as if it had its share of the threads for itself. Where another waits
that holds less than its share, searches of those that hold more are ended once they had their turn.
A full queue takes a search of a client that has little in it in place of the last of the client
that has most. A client that is alone may have everything.

A search that waits for several threads at once is passed by those for which there are enough, as
long as they are thought to end before it could start.

Predictions hold as long as searches end in time, which those bounded by time do, but for what
`lateness` has learned: so much earlier they are told to end where a deadline counts. For one
bounded by simulations alone the end is guessed from the speed seen lately.

A search known to end sooner than it could be handed to a thread and back runs on the event loop.
How long such short searches take is learned by kind, as is the speed of others: simulations of one
game can take a hundred times as long as those of another.

Everything here but the searches themselves, with the clocks around short ones, runs on the event
loop, so nothing needs a lock.
"""

import asyncio
import heapq
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf
from time import monotonic, thread_time
from typing import TypeAlias

import grpc

from aleator.search import Analysis, Limits, Statistics, StopFlag
from aleator.service.caller import caller
from aleator.service.errors import Refusal, shutting_down
from aleator.service.fair_queue import Client, FairQueue
from aleator.service.lateness import Lateness
from aleator.service.priority import Priorities

LEAST_TIME = 0.001
"""Seconds that a search gets at least; one that cannot have them is refused."""
FIRST_SPEED = 100_000.0
"""Simulations a second that one thread is thought to make, before any was seen."""
TOLERANCE = 0.010
"""Seconds that a search may be predicted to start too late that waits already."""
SHORT_SIMULATIONS = 64
"""A search of so many simulations at most may be short."""
SHORT_TIME = 0.0005
"""Seconds that a short search takes at most: so long it may hold up the event loop."""
SHORT_SAMPLES = 8
"""Searches of a kind whose times are kept. One in so many may be longer, be it by a hiccup."""
SPARE = 0.05
"""Part of the time that a search will wait that it must be able to wait longer."""
MEMORY = 0.9
"""How much of what was seen so far is kept when something new is seen."""
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
    rank: tuple[int, int]
    kind: Kind
    stop: StopFlag = field(default_factory=StopFlag)
    timer: asyncio.TimerHandle | None = None  # gives up waiting; later, sees that it ends
    client: "Client[_Search]" = field(init=False)
    promise: float = inf  # when it could start at last, foretold when others first passed it
    start: float = inf
    began: float = inf  # on its thread
    latest: float = inf  # when it is told to end, though it may have more time
    end: float = inf  # when it will have ended, as far as can be told
    cost: float = 0.0  # thread-seconds that it is thought to take

    @property
    def time(self) -> float:
        """The most time that it may have."""
        assert self.limits.time is not None
        return self.limits.time


class Admission:
    """Runs searches on a fixed number of threads.

    Parameters
    ----------
    workers : int
        How many threads search at once.
    queue : int
        How many searches may wait.
    turn : float
        Seconds that a search has surely, though its client holds more than its share.
    lateness : Lateness, optional
        How late searches end.
    priorities : Priorities, optional
        The priorities of the threads while they search. Default: all keep their own.
    """

    def __init__(
        self,
        workers: int,
        queue: int,
        turn: float = 1.0,
        *,
        lateness: Lateness | None = None,
        priorities: Priorities | None = None,
    ) -> None:
        self._workers = workers
        self._queue = queue
        self._turn = turn
        self._free = workers
        self._running: set[_Search] = set()
        self._waiting: FairQueue[_Search] = FairQueue()
        self._count = 0  # of the searches so far
        self._speed = FIRST_SPEED  # of all kinds
        self._speeds: dict[Kind, float] = {}
        self._lateness = lateness or Lateness()
        self._priorities = priorities or Priorities(0)
        self._short_times: defaultdict[tuple[Kind, int], tuple[float, ...]] = defaultdict(tuple)
        self._is_closing = False
        self._pool = ThreadPoolExecutor(workers, "search")

    async def run(
        self, job: Job, limits: Limits, until: float, kind: Kind, *, priority: int = 0
    ) -> Analysis:
        """Run a search at once if it is short, else as soon as it is its turn.

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
        priority : int
            Among the searches of the same caller, those of higher priority come first.

        Raises
        ------
        Refusal
            If it would start too late, if there is no place to wait, or after `stop_all`.
        """
        if self._is_closing:
            raise shutting_down()
        simulations = limits.simulations
        if simulations is not None and simulations <= SHORT_SIMULATIONS and limits.threads == 1:
            size = kind, simulations.bit_length()
            times = self._short_times[size]
            job = partial(self._run_timed, job, size)
            if len(times) > 1 and heapq.nlargest(2, times)[1] <= SHORT_TIME:
                return self._run_here(job, limits, until)
        loop = asyncio.get_running_loop()
        self._count += 1
        search = _Search(job, limits, until, loop.create_future(), (-priority, self._count), kind)
        now = monotonic()
        _check_time_left(until - now)
        search.client = self._waiting.add(caller(), search)
        self._find_place(search, now)
        self._start_waiting()
        if search.start == inf and until < inf and not search.result.done():
            search.timer = loop.call_later(until - now, self._give_up, search)
        try:
            return await search.result
        except asyncio.CancelledError:
            self._stop(search)
            search.end = min(search.end, monotonic() + self._lateness.expected)
            self._leave_queue(search)
            raise

    def stop_all(self) -> None:
        """Let all searches return what they have; those that wait, as soon as they start."""
        self._is_closing = True
        for search in (*self._running, *self._waiting):
            self._stop(search)

    def close(self) -> None:
        """Wait for the threads to end, once all searches were stopped."""
        self._pool.shutdown()

    def _run_here(self, job: Job, limits: Limits, until: float) -> Analysis:
        """Run a short search on the event loop."""
        left = until - monotonic()
        _check_time_left(left)
        assert limits.time is not None
        return job(replace(limits, time=min(limits.time, left)), StopFlag())

    def _run_timed(
        self, job: Job, size: tuple[Kind, int], limits: Limits, stop: StopFlag
    ) -> Analysis:
        """Run a search and note how long it took, not counting when its thread had to wait."""
        start = thread_time()
        analysis = job(limits, stop)
        # A new tuple: the event loop may be reading the old one.
        times = (*self._short_times[size], thread_time() - start)
        self._short_times[size] = times[-SHORT_SAMPLES:]
        return analysis

    def _find_place(self, new: _Search, now: float) -> None:
        """Refuse what waits in vain, or has no place, now that a search has come.

        That is in the queue already. It may be refused, or take the place of another there.
        """
        if new in self._startable(now):
            return
        last = self._last_place(new) if len(self._waiting) > self._queue else None
        if last is new:
            self._refuse(new, self._next_end(now) - now)
            return
        refused = self._refuse_late(now, new)
        if last is not None and not refused:
            self._refuse(last, self._next_end(now) - now)

    def _refuse_late(self, now: float, new: _Search | None = None) -> bool:
        """Refuse what waits and cannot start in time; tell whether there was any."""
        # One that comes again with as long a deadline must have time to spare as all that are new.
        late = [
            (search, start + SPARE * (start - now) - self._latest_start(search))
            for search, start in self._predict_starts(now, new)
            if self._is_late(search, start, now, new)
        ]
        for search, seconds in late:
            self._refuse(search, seconds)
        return bool(late)

    def _is_late(self, search: _Search, start: float, now: float, new: _Search | None) -> bool:
        """Tell whether a search that is predicted to start at a time waits in vain.

        Predictions go up and down by a little: what is new must have some time to spare, the more
        the longer it waits, and what waits already may be a little late.
        """
        spare = SPARE * (start - now) if search is new else -TOLERANCE
        return start + spare > self._latest_start(search)

    def _latest_start(self, search: _Search) -> float:
        return search.until - LEAST_TIME - self._lateness.expected

    def _last_place(self, search: _Search) -> _Search:
        """Tell which search has to leave a full queue for another, perhaps that one itself."""
        client = self._waiting.longest()
        if len(client.waiting) <= len(search.client.waiting):
            client = search.client
        return client.waiting[-1]

    def _next_end(self, now: float) -> float:
        """Tell when the next search will end."""
        return min((running.end for running in self._running), default=now)

    def _predict_start(self, search: _Search, now: float) -> float:
        """Tell when a search that waits will start, if none comes that goes before it."""
        return next(start for other, start in self._predict_starts(now) if other is search)

    def _predict_starts(
        self, now: float, new: _Search | None = None
    ) -> Iterator[tuple[_Search, float]]:
        """Tell when the searches that wait will start, if none comes that goes before them.

        Those that are late leave their threads to the next.
        """
        ends = self._latest_ends(now)
        free = [now] * self._free
        for running in self._running:
            end = min(running.end, ends.get(running, inf))
            # One that is overdue is expected to take as long again as it is overdue.
            free += [max(end, 2 * now - end)] * running.limits.threads
        heapq.heapify(free)
        clients = self._waiting.active
        behind = {client: len(client.waiting) for client in clients}
        for other in self._waiting.order(partial(self._cost, now)):
            threads = other.limits.threads
            begins = [heapq.heappop(free) for _ in range(threads)]
            start = begins[-1]
            yield other, start
            behind[other.client] -= 1
            if not self._is_late(other, start, now, new):
                pressure = behind[other.client] * len(clients)
                begins = [self._predict_end(other, start, pressure)] * threads
            for begin in begins:
                heapq.heappush(free, begin)

    def _cost(self, now: float, search: _Search) -> float:
        """Tell how many thread-seconds a search will take that starts now."""
        return (self._predict_end_now(search, now) - now) * search.limits.threads

    def _predict_end_now(self, search: _Search, now: float) -> float:
        """Tell when a search that waits will have ended if it starts now."""
        behind = len(search.client.waiting) - 1
        return self._predict_end(search, now, behind * len(self._waiting.active))

    def _pressure(self, client: Client[_Search]) -> int:
        """Tell how many wait that a running search of a client shares its time with.

        For its share of the threads that is as if all clients had as many waiting.
        """
        return len(client.waiting) * len(self._waiting.active)

    def _predict_end(self, search: _Search, start: float, waiting: int) -> float:
        """Tell when a search will have ended that starts while others wait."""
        end = self._shared_end(search, start, waiting)
        if search.limits.simulations is None:
            return end
        speed = self._speeds.get(search.kind, self._speed)
        seconds = search.limits.simulations / (speed * search.limits.threads)
        return min(end, start + seconds + self._lateness.expected)

    def _shared_end(self, search: _Search, start: float, waiting: int) -> float:
        """Tell when a search must have ended that shares its time with those that wait."""
        latest, late = self._shared_stop(search, start, waiting)
        return min(start + search.time, latest) + late

    def _shared_stop(self, search: _Search, start: float, waiting: int) -> tuple[float, float]:
        """Tell when to stop such a search at the latest, and how late it may end then."""
        share = (search.until - start) / (1 + waiting / self._workers)
        late = self._lateness.within(share)
        return start + max(LEAST_TIME, share - late), late

    def _latest_ends(self, now: float) -> dict[_Search, float]:
        """Tell which running searches must end for the sake of those that wait, and when."""
        ends = {
            running: self._shared_end(running, running.start, pressure)
            for running in self._running
            if running.until < inf and (pressure := self._pressure(running.client))
        }
        clients = self._waiting.active
        share = self._workers / max(1, len(clients))
        # Threads that clients are owed.
        owed = sum(
            client.waiting[0].limits.threads
            for client in clients
            if client.waiting and client.threads < share
        )
        if not owed:
            return ends
        held = {client: client.threads for client in clients}
        turns = {running: max(now, running.start + self._turn) for running in self._running}
        for running in sorted(turns, key=lambda one: min(one.end, turns[one])):
            if owed <= self._free:
                break
            if held[running.client] > share:
                ends[running] = min(ends.get(running, inf), turns[running])
                held[running.client] -= running.limits.threads
                owed -= running.limits.threads
        return ends

    def _startable(self, now: float) -> Iterator[_Search]:
        """List the waiting searches that may start now.

        Those behind one that waits for more threads may pass it if they end before it could start.
        """
        free = self._free
        reserved = inf
        if not free:
            return
        for search in self._waiting.order(partial(self._cost, now)):
            threads = search.limits.threads
            if threads <= free:
                if reserved == inf or self._predict_end_now(search, now) <= reserved:
                    free -= threads
                    yield search
            elif reserved == inf:
                if search.promise == inf:
                    search.promise = self._predict_start(search, now)
                reserved = search.promise

    def _start_waiting(self) -> None:
        """Start the searches that wait, as far as threads are free."""
        now = monotonic()
        while (search := next(self._startable(now), None)) is not None:
            if search.timer is not None:
                search.timer.cancel()
            client = search.client
            pressure = (len(client.waiting) - 1) * len(self._waiting.active)
            search.start = now
            search.end = self._predict_end(search, now, pressure)
            search.cost = (search.end - now) * search.limits.threads
            self._waiting.start(client, search, search.limits.threads, search.cost)
            search.latest, _ = self._shared_stop(search, now, pressure)
            self._free -= search.limits.threads
            self._running.add(search)
            self._priorities.follow(search.stop)
            loop = search.result.get_loop()
            search.timer = loop.call_later(
                min(search.time, search.latest - now), self._priorities.hurry, search.stop
            )
            done = self._pool.submit(self._search, search)
            done.add_done_callback(partial(self._hand_over, search))
        if self._waiting:
            self._cut_running(now)

    def _search(self, search: _Search) -> Analysis:
        """Do a search, on a thread of its own."""
        search.began = monotonic()
        time = min(search.time, max(LEAST_TIME, search.latest - search.began))
        return search.job(replace(search.limits, time=time), search.stop)

    def _stop(self, search: _Search) -> None:
        """Let a search return what it has, at once or as soon as it starts."""
        search.stop.set()
        self._priorities.hurry(search.stop)

    def _hand_over(self, search: _Search, done: Future[Analysis]) -> None:
        """Pass what a thread has done to the event loop."""
        search.result.get_loop().call_soon_threadsafe(self._ended, search, done)

    def _ended(self, search: _Search, done: Future[Analysis]) -> None:
        """Pass the result of a search on, and its threads to the next."""
        if search.timer is not None:
            search.timer.cancel()
        self._running.discard(search)
        self._priorities.forget(search.stop)
        threads = search.limits.threads
        self._free += threads
        cost = (monotonic() - search.start) * threads
        self._waiting.end(search.client, threads, cost - search.cost)
        self._start_waiting()
        if self._waiting:
            self._refuse_late(monotonic())
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
        self._lateness.learn(
            monotonic() - min(search.began + min(statistics.elapsed, search.time), search.latest)
        )
        if statistics.elapsed > LEAST_TIME:
            speed = statistics.simulations / (statistics.elapsed * statistics.threads)
            known = self._speeds.get(search.kind, speed)
            self._speeds[search.kind] = MEMORY * known + (1 - MEMORY) * speed
            self._speed = MEMORY * self._speed + (1 - MEMORY) * speed

    def _cut_running(self, now: float) -> None:
        """End those that run when they must for the sake of those that wait."""
        for search, latest in self._latest_ends(now).items():
            late = self._lateness.within(latest - now)
            stop_at = max(latest - late, now + LEAST_TIME)
            if stop_at < min(search.start + search.time, search.latest):
                if search.timer is not None:
                    search.timer.cancel()
                search.latest = stop_at
                search.end = min(search.end, stop_at + late)
                loop = search.result.get_loop()
                search.timer = loop.call_later(stop_at - now, self._stop, search)

    def _give_up(self, search: _Search) -> None:
        """Refuse a search whose time ran out while it waited."""
        now = monotonic()
        self._refuse(search, self._next_end(now) - now)
        self._start_waiting()

    def _refuse(self, search: _Search, retry_after: float) -> None:
        """Refuse a search that waits; others may be able to start then."""
        if search.timer is not None:
            search.timer.cancel()
        self._waiting.remove(search.client, search)
        if not search.result.done():
            search.result.set_exception(_busy(retry_after))

    def _leave_queue(self, search: _Search) -> None:
        """Forget a search that nobody waits for any more, if it has not started."""
        if self._waiting.remove(search.client, search):
            if search.timer is not None:
                search.timer.cancel()
            self._start_waiting()


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
