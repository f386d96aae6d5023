"""Sets of games played by several processes at once.

Each process builds its own bots. New ones are started afresh instead of forked off, since a fork of
a process with threads may hang. Ctrl-C reaches every process of a terminal; here only the first one
heeds it and tells the others by an event.
"""

import os
import signal
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait as wait_for_end
from multiprocessing.sharedctypes import SynchronizedArray
from multiprocessing.synchronize import Event
from typing import Literal, NamedTuple

from aleator.ext.core.search import StopFlag
from aleator.search.bots import Bot, make_bot
from aleator.search.match.games import GameSet, Match, MatchStopped

POLL = 0.1
"""Seconds between two looks at how far the processes are and whether to stop."""
AHEAD = 2
"""Sets handed out for each process, so that none waits for its next one."""


class _Worker(NamedTuple):
    """What a process needs to play any set of its match."""

    match: Match
    bots: Sequence[Bot]
    stop: StopFlag
    played: "SynchronizedArray[int]"

    def tell(self, what: Literal["move", "game"]) -> None:
        with self.played.get_lock():
            self.played[what == "move"] += 1


_worker: _Worker


def _begin(
    match: Match, specs: Sequence[str], halt: Event, played: "SynchronizedArray[int]"
) -> None:
    """Prepare a new process."""
    global _worker  # noqa: PLW0603 - a pool's process has no other place
    stop = StopFlag()
    bots = [make_bot(spec, match.game, stop) for spec in specs]
    _worker = _Worker(match, bots, stop, played)
    threading.Thread(target=_stop_on, args=(halt, stop), daemon=True).start()
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _stop_on(halt: Event, stop: StopFlag) -> None:
    halt.wait()
    stop.set()


def _end_with_parent() -> None:
    """End a process whose parent was killed; a pool's processes would wait for it forever."""
    parent = parent_process()
    assert parent is not None
    wait_for_end([parent.sentinel])
    os._exit(1)


def _play(number: int) -> GameSet | None:
    try:
        return _worker.match.play_set(number, _worker.bots, _worker.tell, _worker.stop)
    except MatchStopped:
        return None


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Let processes started meanwhile inherit that SIGINT is blocked."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def play_in_processes(
    match: Match,
    specs: Sequence[str],
    numbers: Iterator[int],
    *,
    workers: int,
    report: Callable[[int, int], object],
    stop: StopFlag,
) -> Generator[tuple[int, GameSet]]:
    """Play sets, in several processes.

    Parameters
    ----------
    match : Match
    specs : sequence of str
        The bots' specifications.
    numbers : iterator of int
        Of the sets to play.
    workers : int
    report : callable
        Called now and then with the games and moves played so far.
    stop : StopFlag
        Ends it early.

    Yields
    ------
    number : int
    games : GameSet
        In the order in which they end.
    """
    context = get_context("spawn")
    halt = context.Event()
    played = context.Array("Q", 2)
    running: dict[Future[GameSet | None], int] = {}
    with ProcessPoolExecutor(workers, context, _begin, (match, specs, halt, played)) as pool:
        try:
            while True:
                while len(running) < AHEAD * workers and not stop.is_set():
                    number = next(numbers, None)
                    if number is None:
                        break
                    with _deaf_to_interrupts():
                        running[pool.submit(_play, number)] = number
                if not running:
                    return
                done, _ = wait(running, POLL, FIRST_COMPLETED)
                report(played[0], played[1])
                if stop.is_set():
                    halt.set()
                for future in done:
                    number, games = running.pop(future), future.result()
                    if games is not None:
                        yield number, games
        finally:
            halt.set()
