"""Fits Generator's network to games of its one-ply play against itself.

`python -m tools.fit_generator` writes `ext/games/generator.weights`; they take effect at once. The
first games are played by the reference player `greedy`, the others by the network as it is, which
learns after each of them (`ext/games/generator_training.pyx`). A few moves are random, so that more
than one way to play is seen, and a game ends in a draw after 400 rolls. The games are of two seats
with the default options. The seed makes a run repeatable.

What is learned values a win the less the later it comes. In the end one factor for all strengths is
fitted to how games without random moves end: it makes the shares as sure as they should be.
"""

import argparse
import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from aleator.ext.games.generator import Generator
from aleator.ext.games.generator_network import SHAPE, get_weights, set_weights
from aleator.ext.games.generator_training import Trainer

WEIGHTS = Path(__file__).parent.parent / "ext" / "games" / "generator.weights"
FIRST_STACK = 47  # the rows before: the bias, and those of the numbers
MAX_ROLLS = 400
ROUND = 500  # games
BY_LEAD = 2000
RATE = 2e-3  # of learning, at first
LAST = 0.02  # of the rate
KEPT = 0.8
DISCOUNT = 0.998
NOISE = 0.02
JUDGED = 400  # games for the factor
FACTORS = np.linspace(0.6, 2, 71)

Array = NDArray[np.float32]


def initial(rng: np.random.Generator) -> Array:
    """Random weights, as small as usual, smaller for stacks: there are many kinds of them."""
    weights = np.zeros(SHAPE, np.float32)
    weights[1:FIRST_STACK] = 0.15 * rng.standard_normal((FIRST_STACK - 1, SHAPE[1]))
    weights[-1] = 0.15 * rng.standard_normal(SHAPE[1])
    weights[FIRST_STACK:-1] = 0.03 * rng.standard_normal((SHAPE[0] - FIRST_STACK - 1, SHAPE[1]))
    return weights


def best_factor(shares: Array, ends: Array) -> float:
    """What to multiply the strengths with for the least cross-entropy."""
    strengths = np.log(np.maximum(shares, 1e-9))

    def loss(factor: float) -> float:
        scaled = factor * strengths
        scaled -= np.log(np.exp(scaled).sum(1, keepdims=True))
        return float(-(ends * scaled).sum(1).mean())

    return float(min(FACTORS, key=loss))


def current() -> Array:
    """A copy of the weights in use."""
    return np.frombuffer(get_weights(), np.float32).reshape(SHAPE).copy()


def fit(games: int, seed: int) -> Array:
    """Play and learn; the weights in the end."""
    set_weights(initial(np.random.default_rng(seed)))
    trainer = Trainer(Generator(max_rolls=MAX_ROLLS), seed)
    for done in range(0, games, ROUND):
        falling = (1 + math.cos(math.pi * done / games)) / 2
        rolls, drawn, error = trainer.learn(
            ROUND, RATE * (LAST + (1 - LAST) * falling), KEPT, DISCOUNT, NOISE, done < BY_LEAD
        )
        print(
            f"game {done + ROUND}: {rolls:.0f} rolls, drawn {drawn:.3f}, error {error:.4f}",
            flush=True,
        )
    return current()


def main() -> None:
    """Fit and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--games", type=int, default=60_000)
    parser.add_argument("--seed", type=int, default=1)
    settings = parser.parse_args()
    weights = fit(settings.games, settings.seed)
    shares, ends = Trainer(Generator(max_rolls=MAX_ROLLS), settings.seed + 1).judge(JUDGED)
    factor = best_factor(np.array(shares), np.array(ends))
    print(f"factor {factor:.2f}")
    weights[-1] *= factor
    weights.astype("<f2").tofile(WEIGHTS)


if __name__ == "__main__":
    main()
