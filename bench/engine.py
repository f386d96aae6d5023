"""How fast the compiled code plays and searches, from the opening of a game.

Playouts are whole games of uniformly random moves, many in one call without the
GIL. Searches are calls of `Engine.suggest` with 10,000 simulations, everything
around the search included.
"""

from collections.abc import Callable
from itertools import count
from time import perf_counter

from aleator.search import Engine, Limits, Position
from bench.figures import Figure, Probe, take_turns

SAMPLE = 0.4  # seconds that a sample takes at least
PLAYOUTS = 1_000
SIMULATIONS = 10_000


def opening(game: str) -> Position:
    """An opening with a choice of moves: others would be answered without a search."""
    positions = (Position.create(game, seed=seed) for seed in count())
    return next(
        position
        for position in positions
        if all(len(position.moves(seat)) > 1 for seat in position.seats_to_act)
    )


def measure_engine(game: str, rounds: int) -> list[Figure]:
    """Playouts and simulations a second, and what a second thread brings."""
    position = opening(game)
    samples = take_turns(
        [_playouts(position), _searches(position, threads=1), _searches(position, threads=2)],
        rounds,
        "engine",
    )
    playouts, one, two = (Figure(name, "/s", values) for name, values in samples.items())
    return [playouts, one, two, two.ratio_to(one, "simulations, 2 threads : 1")]


def _playouts(position: Position) -> Probe:
    seeds = count()

    def batch() -> int:
        position.codec.rules.run_playouts(position.state, PLAYOUTS, next(seeds))
        return PLAYOUTS

    return lambda: {"random playouts, 1 thread": _rate(batch)}


def _searches(position: Position, threads: int) -> Probe:
    engine = Engine()
    limits = Limits(simulations=SIMULATIONS, threads=threads)
    seat = position.seats_to_act[0]
    seeds = count()

    def batch() -> int:
        engine.suggest(position, seat, limits, seed=next(seeds), candidates=1)
        return SIMULATIONS

    return lambda: {f"simulations, {threads} thread{'s' * (threads > 1)}": _rate(batch)}


def _rate(batch: Callable[[], int]) -> float:
    """How much batches do in a second."""
    done = 0
    start = perf_counter()
    while (elapsed := perf_counter() - start) < SAMPLE:
        done += batch()
    return done / elapsed
