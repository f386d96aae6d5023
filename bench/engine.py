"""How fast the compiled code plays and searches, from the opening of a game.

Playouts are whole games of uniformly random moves, many in one call without the
GIL. Searches are calls of `Engine.suggest` with 10,000 simulations, everything
around the search included; random simulations use nothing of what the game
knows about good play, the others what it plays with. Long searches have
1,000,000. Of My Shelfie the exactly solved dice turns are counted too, on a blank
sheet, where they take longest.
"""

from collections.abc import Callable
from itertools import count
from time import perf_counter

from aleator.search import Engine, Limits, Position
from bench.figures import Figure, Probe, take_turns

SAMPLE = 0.4  # seconds that a sample takes at least
PLAYOUTS = 1_000
TURNS = 1_000
SIMULATIONS = 10_000
LONG_SIMULATIONS = 1_000_000
LONG_MEMORY = 2 * 2**30  # enough for the tree not to stop growing


def opening(game: str) -> Position:
    """An opening with a choice of moves: others would be answered without a search."""
    positions = (Position.create(game, seed=seed) for seed in count())
    return next(
        position
        for position in positions
        if all(len(position.moves(seat)) > 1 for seat in position.seats_to_act)
    )


def measure_engine(game: str, rounds: int) -> list[Figure]:
    """Playouts and simulations a second, and how these compare."""
    position = opening(game)
    probes = [
        _playouts(position),
        _searches(position, "random simulations, 1 thread", knowledge=False),
        _searches(position, "simulations, 1 thread"),
        _searches(position, "simulations, 2 threads", threads=2),
    ]
    if game == "my_shelfie":
        probes.append(_solved_turns(position))
    samples = take_turns(probes, rounds, "engine")
    playouts, uniform, one, two, *others = (
        Figure(name, "/s", values) for name, values in samples.items()
    )
    return [
        playouts,
        uniform,
        playouts.ratio_to(uniform, "random playouts : random simulations"),
        one,
        two,
        two.ratio_to(one, "simulations, 2 threads : 1"),
        *others,
    ]


def measure_growth(game: str, rounds: int) -> list[Figure]:
    """What a simulation costs in a long search, compared with a short one, and in memory."""
    position = opening(game)
    samples = take_turns(
        [_searches(position, "simulations of a short search"), _long_search(position)],
        rounds,
        "long searches",
    )
    short, long, memory = (Figure(name, "/s", values) for name, values in samples.items())
    return [
        short,
        long,
        short.ratio_to(long, "simulations, short : long search"),
        Figure(memory.name, "bytes", memory.samples),
    ]


def _playouts(position: Position) -> Probe:
    seeds = count()

    def batch() -> int:
        position.codec.rules.run_playouts(position.state, PLAYOUTS, next(seeds))
        return PLAYOUTS

    return lambda: {"random playouts, 1 thread": _rate(batch)}


def _solved_turns(position: Position) -> Probe:
    judge = position.codec.rules.judge

    def batch() -> int:
        judge.solve_turns(position.state, TURNS)
        return TURNS

    return lambda: {"exact dice turns, 1 thread": _rate(batch)}


def _searches(position: Position, name: str, *, threads: int = 1, knowledge: bool = True) -> Probe:
    engine = Engine(knowledge=knowledge)
    limits = Limits(simulations=SIMULATIONS, threads=threads)
    seat = position.seats_to_act[0]
    seeds = count()

    def batch() -> int:
        engine.suggest(position, seat, limits, seed=next(seeds), candidates=1)
        return SIMULATIONS

    return lambda: {name: _rate(batch)}


def _long_search(position: Position) -> Probe:
    engine = Engine(memory=LONG_MEMORY)
    limits = Limits(simulations=LONG_SIMULATIONS)
    seat = position.seats_to_act[0]
    seeds = count()

    def sample() -> dict[str, float]:
        statistics = engine.suggest(
            position, seat, limits, seed=next(seeds), candidates=1
        ).statistics
        return {
            "simulations of a long search": statistics.simulations / statistics.elapsed,
            "memory a node": statistics.memory / statistics.nodes,
        }

    return sample


def _rate(batch: Callable[[], int]) -> float:
    """How much batches do in a second."""
    done = 0
    start = perf_counter()
    while (elapsed := perf_counter() - start) < SAMPLE:
        done += batch()
    return done / elapsed
