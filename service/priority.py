"""How threads that search step back behind the one that answers, and come forward at their end.

A thread that grows a search tree has a lower priority, so that it does not hold up the event loop.
Beside other busy programs it may then wait for a core for a tenth of a second, also with its time
over and others waiting for its answer. So a search that is to end is hurried: what grows its
trees gets the priority back. And all else that a thread does, it does at its own priority: it holds
Python's lock then, and if it had to wait for a core, the event loop would have to wait with it.

Not every process may raise a priority that it has lowered: on Linux that takes RLIMIT_NICE or
CAP_SYS_NICE. Without, nothing steps back, as answers in time count for more than a quick event
loop. Elsewhere than on Linux the priority is that of the process, and is left alone too.
"""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from aleator.search import StopFlag


@dataclass(slots=True)
class _Followed:
    """A search under way: the threads that grow its trees now, and whether it is to end."""

    threads: set[int] = field(default_factory=set)
    hurried: bool = False


class Priorities:
    """The priorities of the threads of searches, which are known by their stop flags.

    Nothing here needs a lock: a thread that steps back looks last whether it is hurried.

    Parameters
    ----------
    niceness : int
        What is added to that of a thread while it grows a tree.

    Attributes
    ----------
    niceness : int
        The same, but 0 where it could not be taken back.
    """

    def __init__(self, niceness: int) -> None:
        self.niceness = niceness if niceness > 0 and _can_come_forward() else 0
        self._own = os.getpriority(os.PRIO_PROCESS, 0)
        self._searches: dict[StopFlag, _Followed] = {}

    def follow(self, search: StopFlag) -> None:
        """Let the threads of a search step back; those of others do not."""
        self._searches[search] = _Followed()

    def forget(self, search: StopFlag) -> None:
        """Note that a search has ended."""
        del self._searches[search]

    def hurry(self, search: StopFlag) -> None:
        """Let the threads of a search, if it is under way, have their own priority again."""
        followed = self._searches.get(search)
        if followed is None or not self.niceness:
            return
        followed.hurried = True
        for thread in list(followed.threads):
            self._come_forward(thread)

    @contextmanager
    def step_back(self, search: StopFlag) -> Iterator[None]:
        """Have the calling thread step back while it grows a tree of a search."""
        followed = self._searches.get(search)
        if followed is None or not self.niceness:
            yield
            return
        thread = threading.get_native_id()
        followed.threads.add(thread)
        os.setpriority(os.PRIO_PROCESS, thread, self._own + self.niceness)
        try:
            if followed.hurried:
                self._come_forward(thread)
            yield
        finally:
            self._come_forward(thread)
            followed.threads.discard(thread)

    def _come_forward(self, thread: int) -> None:
        with suppress(ProcessLookupError):  # it has ended meanwhile
            os.setpriority(os.PRIO_PROCESS, thread, self._own)


def _can_come_forward() -> bool:
    """Try on a thread that ends then whether a priority can be lowered and raised again."""
    if sys.platform != "linux":
        return False

    def attempt() -> None:
        thread = threading.get_native_id()
        own = os.getpriority(os.PRIO_PROCESS, thread)
        os.setpriority(os.PRIO_PROCESS, thread, own + 1)
        with suppress(PermissionError):
            os.setpriority(os.PRIO_PROCESS, thread, own)
            succeeded.set()

    succeeded = threading.Event()
    thread = threading.Thread(target=attempt)
    thread.start()
    thread.join()
    return succeeded.is_set()
