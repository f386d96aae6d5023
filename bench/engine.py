"""How fast the compiled code plays and searches, from the opening of a game.

Playouts are whole games of uniformly random moves in one call without the GIL.
Searches are calls of `Engine.suggest` with 10,000 simulations, everything around
the search included.
"""

from itertools import count
from time import perf_counter

from aleator.search import Engine, Limits, Position
from bench.figures import Figure, Probe, take_turns

PLAYOUTS = 100_000
SIMULATIONS = 10_000
SEARCHES = 10


def measure_engine(game: str, rounds: int) -> list[Figure]:
    """Playouts and simulations a second, and what a second thread brings."""
    opening = Position.create(game, seed=1)
    samples = take_turns(
        [_playouts(opening), _searches(opening, threads=1), _searches(opening, threads=2)],
        rounds,
        "engine",
    )
    playouts, one, two = (Figure(name, "/s", values) for name, values in samples.items())
    return [playouts, one, two, two.ratio_to(one, "simulations, 2 threads : 1")]


def _playouts(opening: Position) -> Probe:
    seeds = count()

    def probe() -> dict[str, float]:
        start = perf_counter()
        opening.codec.rules.run_playouts(opening.state, PLAYOUTS, next(seeds))
        return {"random playouts, 1 thread": PLAYOUTS / (perf_counter() - start)}

    return probe


def _searches(opening: Position, threads: int) -> Probe:
    engine = Engine()
    limits = Limits(simulations=SIMULATIONS, threads=threads)
    seeds = count()

    def probe() -> dict[str, float]:
        start = perf_counter()
        for _ in range(SEARCHES):
            engine.suggest(opening, limits=limits, seed=next(seeds))
        rate = SEARCHES * SIMULATIONS / (perf_counter() - start)
        return {f"simulations, {threads} thread{'s' * (threads > 1)}": rate}

    return probe
