"""How searches of several clients share the threads, the time, and the places to wait."""

import asyncio
import random
from collections import Counter
from dataclasses import dataclass
from itertools import islice
from math import inf
from time import monotonic, sleep

import pytest

from aleator.search import Analysis, Engine, Limits, Position, StopFlag
from aleator.service.admission import BUSY, Admission
from aleator.service.caller import address_of, set_caller
from aleator.service.errors import Refusal
from aleator.service.fair_queue import SWEEP, FairQueue

ANALYSIS = Engine().suggest(
    Position.create("roygbiv", seed=5), limits=Limits(time=5.0, simulations=1)
)


class Searches:
    """Searches that take the time they are given, and the order in which they started."""

    def __init__(self, admission: Admission) -> None:
        self.admission = admission
        self.started: list[str] = []
        self.stopped: list[str] = []
        self.given: dict[str, float | None] = {}

    def begin(
        self,
        name: str,
        seconds: float,
        *,
        within: float = inf,
        threads: int = 1,
        priority: int = 0,
    ) -> asyncio.Task[Analysis]:
        """Ask for one; its client is the first letter of its name."""

        def job(limits: Limits, stop: StopFlag) -> Analysis:
            self.started.append(name)
            self.given[name] = limits.time
            assert limits.time is not None
            end = monotonic() + limits.time
            while monotonic() < end:
                if stop.is_set():
                    self.stopped.append(name)
                    break
                sleep(0.001)
            return ANALYSIS

        async def run() -> Analysis:
            set_caller(name[0])
            limits = Limits(time=seconds, threads=threads)
            until = monotonic() + within
            return await self.admission.run(job, limits, until, "any", priority=priority)

        return asyncio.create_task(run())

    async def all_started(self, count: int) -> None:
        while len(self.started) < count:  # noqa: ASYNC110 - threads start them
            await asyncio.sleep(0.001)


async def test_clients_take_turns_however_many_searches_one_has_waiting() -> None:
    searches = Searches(Admission(1, 64))
    tasks = [searches.begin(f"a{number}", 0.02) for number in range(10)]
    await searches.all_started(1)
    tasks += [searches.begin(f"b{number}", 0.02) for number in range(3)]
    await asyncio.gather(*tasks)
    assert searches.started.index("b2") <= 7
    assert searches.started[-4:] == ["a6", "a7", "a8", "a9"]


async def test_higher_priorities_of_a_client_come_first() -> None:
    searches = Searches(Admission(1, 64))
    tasks = [searches.begin("a first", 0.05)]
    await searches.all_started(1)
    tasks += [
        searches.begin(f"a {priority}", 0.005, priority=priority) for priority in (0, -3, 7, 0, 2)
    ]
    await asyncio.gather(*tasks)
    assert searches.started == ["a first", "a 7", "a 2", "a 0", "a 0", "a -3"]


async def test_who_was_passed_and_cannot_start_in_time_is_told_so_then() -> None:
    searches = Searches(Admission(1, 64))
    running = searches.begin("a running", 0.5)
    await searches.all_started(1)
    waiting = searches.begin("a waits", 0.05, within=1.5)
    served = searches.begin("a passes", 0.1, priority=1)
    await asyncio.sleep(0)
    late = searches.begin("a is late", 0.05, within=1.5)
    await asyncio.sleep(0)
    passes = searches.begin("a passes for long", 1.0, priority=1)
    with pytest.raises(Refusal) as refused:
        await late
    assert searches.started == ["a running"]
    assert refused.value.reason == BUSY
    assert refused.value.retry_after is not None
    assert 0.05 < refused.value.retry_after < 0.5
    # The one before it would start after 1.6 seconds, too.
    with pytest.raises(Refusal):
        await waiting
    await asyncio.gather(running, served, passes)
    again = searches.begin("a again", 0.5)
    await searches.all_started(4)
    in_time = searches.begin("a waits again", 0.05, within=2.0)
    await asyncio.gather(searches.begin("a passes again", 0.1, priority=1), in_time, again)
    assert searches.started[-2:] == ["a passes again", "a waits again"]


async def test_hardly_a_refusal_comes_when_the_time_is_over() -> None:
    searches = Searches(Admission(1, 64))
    within = 0.6
    served, waits = 0, []

    async def ask_again_and_again(client: str, end: float) -> None:
        nonlocal served
        pauses = random.Random(client)
        while (begin := monotonic()) < end:
            try:
                await searches.begin(client, 5.0, within=within)
                served += 1
            except Refusal:
                waits.append(monotonic() - begin)
                await asyncio.sleep(0.05 * pauses.random())

    end = monotonic() + 5
    await asyncio.gather(*(ask_again_and_again(chr(97 + n), end) for n in range(20)))
    assert served > 4
    assert len(waits) > 200
    assert sum(wait > 0.9 * within for wait in waits) < 0.02 * len(waits)


async def test_one_client_cannot_fill_the_queue() -> None:
    searches = Searches(Admission(1, 4))
    mine = [searches.begin("a running", 0.2)]
    await searches.all_started(1)
    mine += [searches.begin(f"a{number}", 0.005) for number in range(4)]
    await asyncio.sleep(0)
    other = searches.begin("b", 0.005)
    with pytest.raises(Refusal) as refused:
        await mine[-1]
    assert refused.value.reason == BUSY
    assert refused.value.retry_after is not None
    assert 0.01 < refused.value.retry_after <= 0.25
    with pytest.raises(Refusal):
        await searches.begin("a again", 0.005)
    urgent = searches.begin("a urgent", 0.005, priority=1)
    with pytest.raises(Refusal):
        await mine[-2]
    await asyncio.gather(*mine[:-2], other, urgent)
    assert set(searches.started) == {"a running", "a0", "a1", "a urgent", "b"}


async def test_a_client_that_holds_all_threads_makes_room_for_another_after_its_turn() -> None:
    searches = Searches(Admission(2, 64, turn=0.1))
    start = monotonic()
    mine = [searches.begin(f"a{number}", 60.0) for number in range(2)]
    await searches.all_started(2)
    third = searches.begin("a third", 60.0)
    await asyncio.sleep(0.2)
    assert searches.started == ["a0", "a1"]  # among its own nothing is ended
    other = searches.begin("b", 0.05)
    await asyncio.wait_for(other, 5)
    assert monotonic() - start < 20
    assert len(searches.stopped) == 1
    later = searches.begin("b later", 0.05)
    await asyncio.wait_for(later, 5)
    searches.admission.stop_all()
    await asyncio.gather(*mine, third)
    assert searches.given["b"] == pytest.approx(0.05, abs=0.001)


async def test_a_search_has_its_turn_though_others_wait() -> None:
    searches = Searches(Admission(1, 64, turn=0.3))
    start = monotonic()
    mine = searches.begin("a", 60.0)
    await searches.all_started(1)
    other = searches.begin("b", 0.01)
    await mine
    assert 0.25 < monotonic() - start < 20
    await other


async def test_the_waiting_searches_of_one_client_take_no_time_of_another() -> None:
    searches = Searches(Admission(2, 64))
    mine = [searches.begin(f"a{number}", 0.5, within=1.0) for number in range(20)]
    await searches.all_started(1)
    other = searches.begin("b", 0.2, within=2.0)
    await asyncio.gather(*mine, other)
    assert searches.given["b"] == pytest.approx(0.2, abs=0.001)
    assert searches.given["a10"] is not None
    assert searches.given["a10"] < 0.1


async def test_a_narrow_search_passes_a_wide_one_that_it_does_not_hold_up() -> None:
    searches = Searches(Admission(2, 64))
    tasks = [searches.begin("a running", 0.3)]
    await searches.all_started(1)
    tasks.append(searches.begin("a wide", 0.05, threads=2))
    tasks.append(searches.begin("a long", 5.0, within=60.0))
    tasks.append(searches.begin("a narrow", 0.05))
    await tasks[-1]
    await tasks[1]
    assert searches.started[:3] == ["a running", "a narrow", "a wide"]
    searches.admission.stop_all()
    await asyncio.gather(*tasks)


async def test_narrow_searches_do_not_keep_a_wide_one_waiting() -> None:
    searches = Searches(Admission(2, 64))
    tasks = [searches.begin("a running", 0.1)]
    await searches.all_started(1)
    wide = searches.begin("a wide", 0.01, threads=2)
    tasks += [searches.begin(f"{'abcd'[number % 4]}", 0.05) for number in range(40)]
    await asyncio.gather(wide, *tasks)
    assert searches.started.index("a wide") < 20


@dataclass(eq=False)
class Item:
    owner: str
    cost: float
    rank: tuple[int, int]


def test_clients_get_the_same_thread_time_whatever_a_search_costs() -> None:
    queue: FairQueue[Item] = FairQueue()
    costs = {"a": 10.0, "b": 1.0, "c": 3.0}
    clients = {}
    numbers = iter(range(10**6))
    for owner, cost in costs.items():
        for _ in range(1000):
            clients[owner] = queue.add(owner, Item(owner, cost, (0, next(numbers))))
    spent: Counter[str] = Counter()
    chance = random.Random(1)
    while sum(spent.values()) < 1200:
        item = next(queue.order(lambda item: item.cost))
        client = clients[item.owner]
        guess = item.cost * chance.choice([0.2, 1, 5])
        queue.start(client, item, 1, guess)
        queue.end(client, 1, item.cost - guess)
        spent[item.owner] += item.cost
    assert max(spent.values()) - min(spent.values()) <= 10
    # Who comes now owes nothing for what others took, and has no claim for it either.
    for _ in range(1000):
        clients["d"] = queue.add("d", Item("d", 1.0, (0, next(numbers))))
    order = [item.owner for item in islice(queue.order(lambda item: item.cost), 100)]
    assert order.count("d") == pytest.approx(order.count("b"), abs=12)


@pytest.mark.parametrize("others", [0, 1])
def test_clients_that_have_gone_are_forgotten(others: int) -> None:
    queue: FairQueue[Item] = FairQueue()
    for _ in range(others):
        queue.add("busy", Item("busy", 1.0, (0, 0)))
    for number in range(1, 10_000):
        item = Item(str(number), 1.0, (0, number))
        client = queue.add(item.owner, item)
        queue.start(client, item, 1, 1.0)
        queue.end(client, 1, 0.0)
    assert len(queue._clients) <= 2 * SWEEP + 2
    assert len(queue.active) == others


@pytest.mark.parametrize(
    ("peer", "address"),
    [
        ("ipv4:192.0.2.7:50000", "192.0.2.7"),
        ("ipv6:%5B2001:db8:1:2:3:4:5:6%5D:50000", "2001:db8:1:2::/64"),
        ("ipv6:%5B::1%5D:50000", "::1"),
        ("ipv6:%5B::ffff:192.0.2.7%5D:50000", "192.0.2.7"),
        ("unix:/run/aleator", "unix"),
        ("unix:", "unix"),
    ],
)
def test_the_address_of_a_client(peer: str, address: str) -> None:
    assert address_of(peer) == address
