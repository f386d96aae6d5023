"""A search that the person at the terminal can watch and interrupt."""

from concurrent.futures import ThreadPoolExecutor

from rich.console import Console

from aleator.search import Analysis, Engine, Limits, Position, StopFlag


def think(
    console: Console,
    message: str,
    engine: Engine,
    position: Position,
    seat: int | None = None,
    limits: Limits | None = None,
    *,
    seed: int | None = None,
    level: int | None = None,
) -> Analysis:
    """Search as `Engine.suggest` does; Ctrl-C ends it with what it has found so far.

    The search runs in a thread of its own, because Python hears of Ctrl-C only
    while its main thread runs Python code. An interrupted search has the stop
    reason STOPPED.
    """
    stop = StopFlag()
    with ThreadPoolExecutor(1) as pool, console.status(message):
        future = pool.submit(
            engine.suggest, position, seat, limits, seed=seed, level=level, stop=stop
        )
        try:
            return future.result()
        except KeyboardInterrupt:
            stop.set()
            return future.result()
