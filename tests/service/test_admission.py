"""Where searches run: short ones on the event loop, others on threads of their own."""

import asyncio
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from math import inf
from time import monotonic, sleep, thread_time

import pytest

from aleator.search import Analysis, Engine, Limits, Position, StopFlag
from aleator.service.admission import Admission
from aleator.service.errors import Refusal
from aleator.service.priority import Priorities

POSITION = Position.create("roygbiv", seed=5)
LIMITS = Limits(time=5.0, simulations=1)


class Job:
    """A search that takes some processor time, and notes where and with which limits it ran."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.seconds = seconds
        self.inline: list[bool] = []
        self.limits = LIMITS

    def __call__(self, limits: Limits, _stop: StopFlag) -> Analysis:
        self.inline.append(threading.current_thread() is threading.main_thread())
        self.limits = limits
        end = thread_time() + self.seconds
        while thread_time() < end:
            pass
        return ANALYSIS


ANALYSIS = Engine().suggest(POSITION, limits=LIMITS)


async def test_searches_known_to_be_short_run_at_once() -> None:
    admission = Admission(1, 0)
    fast, slow = Job(), Job(0.002)
    for _ in range(50):
        await admission.run(fast, LIMITS, inf, "fast")
        await admission.run(slow, LIMITS, inf, "slow")
    assert not fast.inline[0]  # not known yet
    assert any(fast.inline)
    assert not any(slow.inline)
    for limits in (replace(LIMITS, simulations=1000), replace(LIMITS, simulations=None)):
        await admission.run(fast, limits, inf, "fast")
        assert not fast.inline[-1]
    admission.close()


async def test_threads_note_how_long_searches_took_while_others_come() -> None:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # so that they get between the steps of the event loop
    admission, slow = Admission(2, 100), Job(0.0006)
    try:
        for _ in range(5):
            await asyncio.gather(*(admission.run(slow, LIMITS, inf, "slow") for _ in range(100)))
    finally:
        sys.setswitchinterval(interval)
    admission.close()


@pytest.mark.skipif(not Priorities(1).niceness, reason="may not raise a priority again")
@pytest.mark.parametrize("end", ["time", "cancel", "stop_all"])
async def test_threads_step_back_while_trees_grow_and_come_forward_at_the_end(end: str) -> None:
    priorities = Priorities(3)
    found: list[int] = []
    stepped_back = threading.Barrier(3)  # both threads, and who ends them

    @contextmanager
    def growing(stop: StopFlag) -> Iterator[None]:
        thread = threading.get_native_id()
        with priorities.step_back(stop):
            found.append(os.getpriority(os.PRIO_PROCESS, thread))
            stepped_back.wait()
            yield
            found.append(os.getpriority(os.PRIO_PROCESS, thread))

    engine, own = Engine(growing=growing), os.getpriority(os.PRIO_PROCESS, 0)
    admission = Admission(2, 0, priorities=priorities)

    def job(limits: Limits, stop: StopFlag) -> Analysis:
        # As if the thread saw only later that its time is over.
        return engine.suggest(POSITION, limits=replace(limits, time=limits.time + 0.3), stop=stop)

    limits = Limits(time=0.2 if end == "time" else 60.0, threads=2)
    search = asyncio.create_task(admission.run(job, limits, inf, "any"))
    await asyncio.to_thread(stepped_back.wait)
    if end == "cancel":
        search.cancel()
    elif end == "stop_all":
        admission.stop_all()
    await asyncio.wait({search})
    await asyncio.to_thread(admission.close)
    assert sorted(found) == [own, own, own + 3, own + 3]


async def test_who_ends_late_makes_others_end_earlier() -> None:
    admission = Admission(1, 0)
    late = 0.04

    def job(limits: Limits, _stop: StopFlag) -> Analysis:
        assert limits.time is not None
        given.append(limits.time)
        sleep(limits.time + late)
        analysis = replace(ANALYSIS.statistics, elapsed=limits.time + late, simulations=1)
        return replace(ANALYSIS, statistics=analysis)

    given: list[float] = []
    overran = []
    for _ in range(4):
        until = monotonic() + 0.2
        await admission.run(job, Limits(time=5.0), until, "any")
        overran.append(monotonic() - until)
    assert overran[0] > 0.03
    assert max(overran[1:]) < 0.01
    await admission.run(job, Limits(time=0.05), monotonic() + 10, "any")
    assert given[-1] == pytest.approx(0.05, abs=0.005)  # its deadline is far away
    admission.close()


async def test_a_thread_that_starts_late_does_not_end_late() -> None:
    admission = Admission(1, 0)
    job = Job()
    busy = threading.Event()
    # What has the only thread before, unknown to the admission.
    admission._pool.submit(busy.wait)
    search = asyncio.create_task(admission.run(job, Limits(time=5.0), monotonic() + 0.5, "any"))
    await asyncio.sleep(0.2)
    busy.set()
    await search
    assert job.limits.time is not None
    assert job.limits.time < 0.31
    admission.close()


async def test_short_searches_obey_the_deadline() -> None:
    admission = Admission(1, 0)
    job = Job()
    while not any(job.inline):
        await admission.run(job, LIMITS, inf, "fast")
    await admission.run(job, LIMITS, monotonic() + 1, "fast")
    assert job.limits.time is not None
    assert job.limits.time <= 1
    with pytest.raises(Refusal) as refusal:
        await admission.run(job, LIMITS, monotonic(), "fast")
    assert refusal.value.reason == "DEADLINE_UNREACHABLE"
    admission.close()


async def test_one_that_is_slow_after_all_is_not_run_at_once_again() -> None:
    admission = Admission(1, 0)
    job = Job()
    while not any(job.inline):
        await admission.run(job, LIMITS, inf, "fast")
    job.seconds = 0.002
    for _ in range(2):
        await admission.run(job, LIMITS, inf, "fast")
    await admission.run(job, LIMITS, inf, "fast")
    assert not job.inline[-1]
    admission.close()


async def test_a_cancelled_search_is_expected_to_end_at_once() -> None:
    admission = Admission(1, 0)
    stopped = threading.Event()

    def until_stopped(_limits: Limits, stop: StopFlag) -> Analysis:
        while not stop.is_set():
            pass
        stopped.wait(timeout=10)
        return ANALYSIS

    long = asyncio.create_task(admission.run(until_stopped, Limits(time=60.0), inf, "long"))
    await asyncio.sleep(0)
    long.cancel()
    with pytest.raises(asyncio.CancelledError):
        await long
    with pytest.raises(Refusal) as refusal:  # as the queue has no room at all
        await admission.run(Job(), Limits(time=5.0), inf, "long")
    assert refusal.value.retry_after is not None
    assert refusal.value.retry_after < 1
    stopped.set()
    admission.close()


@pytest.mark.parametrize("deadline", [0.8, 1.02])  # too short by far, or with too little to spare
async def test_who_comes_again_when_told_is_let_in(deadline: float) -> None:
    admission = Admission(1, 8)

    def until_over(limits: Limits, _stop: StopFlag) -> Analysis:
        assert limits.time is not None
        sleep(limits.time)
        return ANALYSIS

    long = asyncio.create_task(admission.run(until_over, Limits(time=1.0), inf, "long"))
    await asyncio.sleep(0)
    with pytest.raises(Refusal) as refusal:
        await admission.run(Job(), LIMITS, monotonic() + deadline, "late")
    assert refusal.value.retry_after is not None
    await asyncio.sleep(refusal.value.retry_after)
    again = asyncio.create_task(admission.run(Job(), LIMITS, monotonic() + deadline, "late"))
    await long
    await again
    admission.close()
