"""Stop searches from other threads, over and over, for a thread sanitizer to watch.

In a copy of the sources whose extension is built for it:

    find . -name '*.so' -delete
    CFLAGS="-fsanitize=thread -g -O1" LDFLAGS=-fsanitize=thread \\
        python setup.py build_ext --inplace --force
    TSAN_OPTIONS=exitcode=66 LD_PRELOAD=$(gcc -print-file-name=libtsan.so) \\
        PYTHONPATH=$PWD/build/packages python -m tools.races

Every game is searched on two and three threads that another one stops, and by three callers with
one flag between them; what a search has found is read as it ends. A race between two of these
is reported with the places of both in the C code, and the process ends with 66. Without such a
build nothing is watched.
"""

import threading
from functools import partial

from aleator.search import Engine, Limits, Position, StopFlag
from aleator.search.games import game_ids
from bench.engine import opening

ROUNDS = 6
DELAY = 0.05  # seconds until a search is stopped
LIMITS = Limits(time=20.0)


def stop_one(position: Position, threads: int) -> int:
    """Stop a search on several threads; the simulations it made."""
    stop = StopFlag()
    timer = threading.Timer(DELAY, stop.set)
    timer.start()
    limits = Limits(time=LIMITS.time, threads=threads)
    analysis = Engine().suggest(position, position.seats_to_act[0], limits, stop=stop)
    timer.join()
    return analysis.statistics.simulations


def stop_many(position: Position, callers: int) -> None:
    """Stop the searches of several callers at once."""
    engine, stop = Engine(), StopFlag()
    seat = position.seats_to_act[0]
    search = partial(engine.suggest, position, seat, LIMITS, stop=stop)
    running = [threading.Thread(target=search) for _ in range(callers)]
    for thread in running:
        thread.start()
    stop.set()
    for thread in running:
        thread.join()


def main() -> None:
    """Search all games so."""
    for game in game_ids():
        position = opening(game)
        done = [stop_one(position, 2 + number % 2) for number in range(ROUNDS)]
        stop_many(position, 3)
        print(f"{game}: {sum(done)} simulations in {ROUNDS} searches that were stopped")


if __name__ == "__main__":
    main()
