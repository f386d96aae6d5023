"""The searches that wait, by client, and whose turn it is.

Threads are shared among clients by start-time fair queueing: every client has a virtual time, the
thread-seconds that its searches took; the client with the least is next. Who comes new, or comes
back, starts at the virtual time of the search that was started last, so that nobody saves up time
by waiting, and nobody is held back by what others took while it was away.

Within a client the searches of the highest priority come first, those of the same in the order that
they came.

Source: P. Goyal, H. Vin, H. Cheng, "Start-time fair queueing", SIGCOMM (1996).
"""

import heapq
from bisect import insort
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

SWEEP = 64
"""Clients with nothing to do that are remembered at least, for what they used before."""


class Waiting(Protocol):
    """What can wait here."""

    @property
    def rank(self) -> tuple[int, int]:
        """Its priority, the least first, and a number that grows in the order of coming."""


W = TypeVar("W", bound=Waiting)


@dataclass(eq=False, slots=True)
class Client(Generic[W]):
    """What a client has waiting and running.

    Attributes
    ----------
    used : float
        Its virtual time, in thread-seconds.
    waiting : list
        By rank.
    threads : int
        How many it holds.
    """

    used: float
    waiting: list[W] = field(default_factory=list)
    threads: int = 0


class FairQueue(Generic[W]):
    """The queue."""

    def __init__(self) -> None:
        self._clients: dict[str, Client[W]] = {}
        self._active: dict[Client[W], None] = {}  # a set that keeps its order
        self._length = 0
        self._virtual_time = 0.0
        self._sweep_at = 2 * SWEEP

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[W]:
        for client in self._active:
            yield from client.waiting

    @property
    def active(self) -> Collection[Client[W]]:
        """The clients of which anything waits or runs."""
        return self._active.keys()

    def add(self, name: str, item: W) -> Client[W]:
        """Let something of a client wait."""
        client = self._clients.get(name)
        if client is None:
            self._sweep()
            client = self._clients[name] = Client(self._virtual_time)
        elif client not in self._active:
            client.used = max(client.used, self._virtual_time)
        self._active[client] = None
        insort(client.waiting, item, key=lambda waiting: waiting.rank)
        self._length += 1
        return client

    def remove(self, client: Client[W], item: W) -> bool:
        """Let something wait no more; tell whether it did."""
        if item not in client.waiting:
            return False
        client.waiting.remove(item)
        self._length -= 1
        self._check_active(client)
        return True

    def start(self, client: Client[W], item: W, threads: int, cost: float) -> None:
        """Let what waits start on some threads; the cost is what it is thought to take."""
        client.waiting.remove(item)
        self._length -= 1
        self._virtual_time = max(self._virtual_time, client.used)
        client.used += cost
        client.threads += threads

    def end(self, client: Client[W], threads: int, correction: float) -> None:
        """Note that something has ended, and how much more it cost than was thought."""
        client.threads -= threads
        client.used += correction
        self._check_active(client)

    def order(self, cost: Callable[[W], float]) -> Iterator[W]:
        """List what waits, in the order in which it will start if nothing comes between."""
        clients = list(self._active)
        turns = [
            (client.used, client.waiting[0].rank[1], index, 0)
            for index, client in enumerate(clients)
            if client.waiting
        ]
        heapq.heapify(turns)
        while turns:
            used, _, index, place = heapq.heappop(turns)
            waiting = clients[index].waiting
            item = waiting[place]
            if place + 1 < len(waiting):
                turn = (used + cost(item), waiting[place + 1].rank[1], index, place + 1)
                heapq.heappush(turns, turn)
            yield item

    def longest(self) -> Client[W]:
        """Tell which client has most waiting."""
        return max(self._active, key=lambda client: len(client.waiting))

    def _check_active(self, client: Client[W]) -> None:
        """See whether a client has anything left; when none has, nobody has debts."""
        if client.waiting or client.threads:
            return
        self._active.pop(client, None)
        if not self._active:
            self._clients.clear()

    def _sweep(self) -> None:
        """Forget clients that have nothing to do once there are many, but those most in debt."""
        if len(self._clients) < self._sweep_at:
            return
        idle = (item for item in self._clients.items() if item[1] not in self._active)
        kept = heapq.nlargest(SWEEP, idle, key=lambda item: item[1].used)
        active = [item for item in self._clients.items() if item[1] in self._active]
        self._clients = dict([*active, *kept])
        self._sweep_at = 2 * max(SWEEP, len(self._clients))
