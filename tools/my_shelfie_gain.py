"""What choices at My Shelfie lose by the exact solution of two turns: less noisy than matches.

    python -m tools.my_shelfie_gain --simulations 1 --simulations 100 --positions 600 --seed 1
    python -m tools.my_shelfie_gain --pairs 5000 --seed 1

The network plays itself, one turn solved exactly. At a random part of the choices searches choose
too. What a choice loses is said by the solution of that turn and the next one, whose ends the
network values. `--pairs` plays games of two turns deep against one, two for each pair.

Limits: two seats; what is to be seen beyond two turns counts for nothing.
"""

import random
from statistics import fmean, stdev
from typing import Annotated

import typer

from aleator.ext.games.my_shelfie_evaluation import WinShare
from aleator.ext.games.my_shelfie_training import TwoTurns, duel
from aleator.search import Engine, Limits, Position
from aleator.search.games import codec

PART = 0.15  # of the choices that are looked at


def choices(count: int, judge: WinShare, seed: int) -> list[tuple[Position, dict[int, float]]]:
    """Positions with a choice of moves, and what each move is worth two turns deep."""
    luck = random.Random(seed)
    two_turns = TwoTurns(judge)
    found: list[tuple[Position, dict[int, float]]] = []
    while len(found) < count:
        position = Position.create("my_shelfie", seed=luck.getrandbits(60))
        while not position.finished:
            (seat,) = position.seats_to_act
            if len(position.moves(seat)) > 1 and luck.random() < PART:
                found.append((position, two_turns.move_values(position.state)))
            move = position.move(judge.best(position.state), seat)
            position, _ = position.apply({seat: move}, seed=luck.getrandbits(60))
    return found[:count]


def told(numbers: list[float]) -> str:
    """Their mean, with half its 95% interval."""
    return f"{fmean(numbers):.5f} +- {1.96 * stdev(numbers) / len(numbers) ** 0.5:.5f}"


def main(
    simulations: Annotated[list[int] | None, typer.Option(help="A limit to measure.")] = None,
    positions: Annotated[int, typer.Option()] = 600,
    pairs: Annotated[int, typer.Option(help="Of games of two turns deep against one.")] = 0,
    seed: Annotated[int, typer.Option()] = 1,
) -> None:
    """Measure what choices lose, and what looking two turns deep wins."""
    judge = WinShare(2, codec("my_shelfie").options["values"])
    if pairs:
        shares = [share for share, _ in duel(TwoTurns(judge), judge, pairs, seed)]
        print(f"two turns deep won {told(shares)}")
    given = choices(positions, judge, seed) if simulations else []
    for limit in simulations or []:
        lost = []
        for number, (position, values) in enumerate(given):
            found = Engine().suggest(position, limits=Limits(simulations=limit), seed=number)
            lost.append(max(values.values()) - values[found.best_move.code])
        print(f"{limit:6} simulations lost {told(lost)}", flush=True)


if __name__ == "__main__":
    typer.run(main)
