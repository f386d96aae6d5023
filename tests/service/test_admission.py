"""Where searches run: short ones on the event loop, others on threads of their own."""

import asyncio
import os
import sys
import threading
from dataclasses import replace
from math import inf
from time import monotonic, sleep, thread_time

import pytest

from aleator.search import Analysis, Engine, Limits, Position, StopFlag
from aleator.service.admission import Admission
from aleator.service.errors import Refusal

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


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere threads have no niceness")
@pytest.mark.parametrize("niceness", [0, 3])
async def test_searches_step_back_as_far_as_they_are_told(niceness: int) -> None:
    def job(_limits: Limits, _stop: StopFlag) -> Analysis:
        found.append(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))
        return ANALYSIS

    found: list[int] = []
    admission = Admission(1, 0, niceness=niceness)
    await admission.run(job, replace(LIMITS, simulations=None), inf, "fast")
    admission.close()
    assert found == [os.getpriority(os.PRIO_PROCESS, 0) + niceness]


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
