"""Measure what going on from a seat's last search, and root parallelism, are worth.

    python -m tools.trees GAME [--simulations 1000] [--positions 200]

The engine plays games against itself, two seats and the options that the game is measured with. In
positions with a choice, these searches choose a move:

- *one tree*, with the simulations given;
- *twice as long*, one tree with twice as many: as good as two threads could be that share one;
- *two trees*, with that many each on two threads of their own, whose roots are added up;
- *going on*, where the seat's last search left a part of its tree that fits: with as many
  simulations as the first, on top of those kept.

A search ten times as long as one tree's says what the moves are worth. What a choice loses by
it, in win share, is compared position by position. Of the tree kept is told how much that is: its
earlier simulations in relation to those of a search, over all decisions. Ctrl-C prints what was
found so far.
"""

import argparse
import random
from collections.abc import Sequence
from contextlib import suppress
from statistics import fmean, stdev

from aleator.search import Analysis, Engine, Limits, Position, Trees
from aleator.search.games import codec_class, game_ids

SEED = 21
CONFIDENCE = 1.96
JUDGING = 10
"""The judge's simulations, in relation to those of one tree."""
MUCH = 0.5
"""Where more was kept, in relation to a search, positions are compared anyway."""


class Measurement:
    """What was found so far, by the names of the kinds of search."""

    def __init__(self, game: str, simulations: int) -> None:
        self.engine = Engine()
        self.simulations = simulations
        self.losses: dict[str, list[float]] = {}
        self.losses_where_kept: dict[str, list[float]] = {}
        self.kept: list[float] = []
        self.luck = random.Random(f"{SEED}/{game}/{simulations}")

    def search(
        self,
        position: Position,
        seat: int,
        times: int,
        threads: int = 1,
        trees: Trees | None = None,
    ) -> Analysis:
        """Search so many times as long as one tree."""
        return self.engine.suggest(
            position,
            seat,
            Limits(simulations=times * self.simulations, threads=threads),
            seed=self.luck.getrandbits(64),
            trees=trees,
        )

    def decide(self, position: Position, seat: int, trees: Trees, *, compared: bool) -> Analysis:
        """Make a decision of a game by going on from the last; compare searches if so wanted."""
        answer = self.search(position, seat, 1, trees=trees)
        if len(answer.candidates) < 2 or answer.statistics.exact:
            return answer
        kept = answer.statistics.continued
        self.kept.append(kept / self.simulations)
        if compared or kept > MUCH * self.simulations:
            judge = self.search(position, seat, JUDGING)
            answers = {
                "one tree": self.search(position, seat, 1),
                "twice as long": self.search(position, seat, 2),
                "two trees": self.search(position, seat, 2, threads=2),
            }
            if compared:
                _add(self.losses, judge, answers)
            if kept:
                _add(self.losses_where_kept, judge, answers | {"going on": answer})
        return answer


def _add(losses: dict[str, list[float]], judge: Analysis, answers: dict[str, Analysis]) -> None:
    """Note what the answers lose by what a judge says."""
    worth = {
        candidate.move.code: candidate.estimate.win_share[judge.seat]
        for candidate in judge.candidates
        if candidate.estimate is not None
    }
    best = worth[judge.best_move.code]
    least = min(worth.values())
    for name, answer in answers.items():
        loss = best - worth.get(answer.best_move.code, least)
        losses.setdefault(name, []).append(loss)


def measure(found: Measurement, game: str, positions: int) -> None:
    """Play until so many positions were compared, every third with a choice."""
    while True:
        options = codec_class(game).measured_with
        position = Position.create(game, options, seed=found.luck.getrandbits(64))
        trees = [Trees() for _ in range(position.seats)]
        while not position.finished:
            moves = {}
            for seat in position.seats_to_act:
                compared = found.luck.random() < 1 / 3
                answer = found.decide(position, seat, trees[seat], compared=compared)
                moves[seat] = answer.best_move
            if len(found.losses.get("one tree", ())) >= positions:
                return
            position, _ = position.apply(moves, seed=found.luck.getrandbits(64))


def _interval(values: Sequence[float]) -> str:
    """A mean in percent, with its 95% interval."""
    reach = CONFIDENCE * stdev(values) / len(values) ** 0.5
    return f"{100 * fmean(values):.2f}% ± {100 * reach:.2f}%"


def _tell(losses: dict[str, list[float]]) -> None:
    count = len(losses["one tree"])
    for name, values in losses.items():
        less = [one - other for one, other in zip(losses["one tree"], values, strict=True)]
        print(f"  {name}: loses {_interval(values)}, {_interval(less)} less than one tree")
    worse = [
        two - one for two, one in zip(losses["two trees"], losses["twice as long"], strict=True)
    ]
    print(f"  two trees lose {_interval(worse)} more than twice as long; {count} positions")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("game", choices=game_ids())
    parser.add_argument("--simulations", type=int, default=1000)
    parser.add_argument("--positions", type=int, default=200)
    arguments = parser.parse_args()
    found = Measurement(arguments.game, arguments.simulations)
    with suppress(KeyboardInterrupt):
        measure(found, arguments.game, arguments.positions)
    fitting = [kept for kept in found.kept if kept]
    print(f"{arguments.game}, {arguments.simulations} simulations, {len(found.kept)} decisions")
    print(f"kept: {_interval(found.kept)} of a search, at {len(fitting) / len(found.kept):.0%}")
    _tell(found.losses)
    if len(fitting) > 1:
        print("where something was kept:")
        _tell(found.losses_where_kept)


if __name__ == "__main__":
    main()
