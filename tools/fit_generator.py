"""Fits Generator's network to games of its one-ply play against itself.

`python -m tools.fit_generator` writes `ext/games/generator.weights`; they take effect at once. The
first games are played by the reference player `greedy`, the others by the network as it is, which
learns after each of them (`ext/games/generator_training.pyx`). A few moves are random, so that more
than one way to play is seen, and a game ends in a draw after 400 rolls. The games are of two seats
with the default options. The seed makes a run repeatable.

What is learned values a win the less the later it comes. In the end it is fitted to how games
without random moves end, how sure the shares should be and how likely a draw is
(`generator_draws`, which has the model): one factor for all strengths, and five numbers. Of a game
that was won it is known how it would have ended with fewer rolls; it is told with some numbers of
rolls left, all orders of magnitude alike.

    python -m tools.fit_generator          # all
    python -m tools.fit_generator --again  # only this, for the network as it is
"""

import argparse
import json
import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from aleator.ext.games import generator_draws
from aleator.ext.games.generator import Generator
from aleator.ext.games.generator_network import SHAPE, get_weights, set_weights
from aleator.ext.games.generator_training import Trainer

GAMES = Path(__file__).parent.parent / "ext" / "games"
WEIGHTS = GAMES / "generator.weights"
DRAWS = GAMES / "generator_draws.json"
FIRST_STACK = 47  # the rows before: the bias, and those of the numbers
MAX_ROLLS = 400
ROUND = 500  # games
BY_LEAD = 2000
RATE = 2e-3  # of learning, at first
LAST = 0.02  # of the rate
KEPT = 0.8
DISCOUNT = 0.998
NOISE = 0.02
JUDGED = 3000  # games for the factor and the draws
LEFT = 3000  # rolls left, at most, that their ends are told with
LEFT_DRAWS = 4  # numbers of them a position
START = (1.0, -8.0, 1.8, 0.5, math.log(15), 0.3)  # of the fit
SUREST = 1e-6  # no share is told nearer to 0 or 1

Array = NDArray[np.float32]


def initial(rng: np.random.Generator) -> Array:
    """Random weights, as small as usual, smaller for stacks: there are many kinds of them."""
    weights = np.zeros(SHAPE, np.float32)
    weights[1:FIRST_STACK] = 0.15 * rng.standard_normal((FIRST_STACK - 1, SHAPE[1]))
    weights[-1] = 0.15 * rng.standard_normal(SHAPE[1])
    weights[FIRST_STACK:-1] = 0.03 * rng.standard_normal((SHAPE[0] - FIRST_STACK - 1, SHAPE[1]))
    return weights


def told(terms: Array, logits: Array, rolls: Array, left: Array) -> Array:
    """The share of one of two seats: the model of `generator_draws` after a factor."""
    factor, late, later, sure, log_length, shorter = terms
    logits = factor * logits
    certainty = np.abs(logits)
    locked = expit(late + later * np.log(rolls + 1) - sure * certainty)
    used_up = np.exp(-left / np.exp(log_length - shorter * certainty))
    draw = 1 - (1 - locked) * (1 - used_up)
    return (1 - draw) * expit(logits) + draw / 2


def fit_draws(games: int, seed: int) -> tuple[float, dict[str, float]]:
    """Fit to how games of the network end; the factor, and what `generator_draws` needs."""
    found = Trainer(Generator(max_rolls=MAX_ROLLS), seed).judge(games)
    shares, ends, rolls, lengths = (
        np.repeat(np.array(values), LEFT_DRAWS, axis=0) for values in found
    )
    rng = np.random.default_rng(seed)
    left = np.exp(rng.uniform(0, math.log(LEFT), len(rolls)))
    share = np.clip(shares[:, 0], SUREST, 1 - SUREST)
    logits = np.log(share / (1 - share))
    # Drawn games are locked: with more rolls they would have been drawn too.
    end = np.where(lengths <= rolls + left, ends[:, 0], 0.5)

    def loss(terms: Array) -> float:
        guess = np.clip(told(terms, logits, rolls, left), SUREST, 1 - SUREST)
        return float(-(end * np.log(guess) + (1 - end) * np.log(1 - guess)).mean())

    best = minimize(
        loss, START, method="Nelder-Mead", options={"maxiter": 4000, "xatol": 1e-3, "fatol": 1e-7}
    )
    factor, late, later, sure, log_length, shorter = map(float, best.x)
    print(f"cross-entropy {loss(best.x):.4f}; factor {factor:.3f}")
    values = (late, later, sure, math.exp(log_length), shorter)
    return factor, dict(zip(generator_draws.NAMES, values, strict=True))


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
    parser.add_argument("--again", action="store_true", help="fit only what is fitted in the end")
    settings = parser.parse_args()
    weights = current() if settings.again else fit(settings.games, settings.seed)
    factor, draws = fit_draws(JUDGED, settings.seed + 1)
    weights[-1] *= factor
    weights.astype("<f2").tofile(WEIGHTS)
    rounded = {name: float(f"{value:.4g}") for name, value in draws.items()}
    DRAWS.write_text(json.dumps(rounded, indent=1) + "\n")


if __name__ == "__main__":
    main()
