"""Fits what the engine knows of ROYGBIV for two seats, from self-play that starts from nothing.

In each round games are played by the look one ply ahead, with the weights so far (at first zeros:
so for the most points at once), some noise and a few random moves. A network is then fitted to the
points that each seat went on to make, by Adam on the squares of both errors and of the error of the
margin. Each position enters in one of three forms, drawn at random: all hands seen; as the seat to
act sees it; as the other seat saw it before its draw. After the last round the scale of the
logistic function from margin to share of the win is fitted for each number of empty cells.

Run from the top folder, with nothing else to do for about half an hour:

    python -m tools.fit_roygbiv [--again] [--scale 0.01]

Writes `ext/games/roygbiv_weights.json`; `--scale` makes all rounds shorter. The weights in
place are from three rounds of 1,800, 3,600 and 15,000 games, and `--again --scale 0.6` after them.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from aleator.ext.games.roygbiv import Roygbiv
from aleator.ext.games.roygbiv_evaluation import (
    self_play,
    use_weights,
    weights,
)

TARGET = Path("ext/games/roygbiv_weights.json")
SEED = 20261130
ROUNDS = (4_000, 8_000, 60_000)  # games
RANDOM_MOVES = 0.04
NOISE = 1.5  # points, scale of the Gumbel noise
UNIT = 20  # points, as in the evaluation
PLAYS = 48
BATCH = 2048
EPOCHS = 6
LEARNING_RATE = 2e-3
KEPT_BACK = 0.05  # of the games, to measure the error on
DIGITS = 5


class Samples:
    """Positions of self-play, as `self_play` notes them."""

    def __init__(self, games: int) -> None:
        count = games * PLAYS
        self.features = np.empty((count, len(weights()["inner"])), np.float32)
        self.gains = np.empty((count, 2), np.float32)
        self.margins = np.empty(count, np.float32)
        self.empty = np.empty(count, np.int32)
        self.forms = np.empty(count, np.int32)


def play(games: int, round_number: int) -> Samples:
    """Play games with the weights in use."""
    rules = Roygbiv()
    samples = Samples(games)
    rng = np.random.default_rng((SEED, round_number))
    for game in range(games):
        rows = slice(game * PLAYS, (game + 1) * PLAYS)
        self_play(
            rules.new_game(int(rng.integers(2**63))),
            int(rng.integers(2**63)),
            noise=NOISE,
            random_moves=RANDOM_MOVES,
            features=samples.features[rows],
            gains=samples.gains[rows],
            margins=samples.margins[rows],
            empty=samples.empty[rows],
            forms=samples.forms[rows],
        )
    return samples


class Network:
    """The network of the evaluation, with what Adam keeps of each parameter."""

    def __init__(self, inputs: int, hidden: int, rng: np.random.Generator) -> None:
        self.parameters = [
            rng.normal(0, 20**-0.5, (inputs, hidden)).astype(np.float32),
            np.zeros(hidden, np.float32),
            rng.normal(0, hidden**-0.5, (hidden, 2)).astype(np.float32),
            np.zeros(2, np.float32),
        ]
        self.means = [np.zeros_like(values) for values in self.parameters]
        self.squares = [np.zeros_like(values) for values in self.parameters]
        self.steps = 0

    def hidden(self, inputs: np.ndarray) -> np.ndarray:
        """The activations of the hidden layer."""
        return np.maximum(inputs @ self.parameters[0] + self.parameters[1], 0)

    def predict(self, inputs: np.ndarray) -> np.ndarray:
        """What both seats will make, in points."""
        return UNIT * (self.hidden(inputs) @ self.parameters[2] + self.parameters[3])

    def learn(self, inputs: np.ndarray, gains: np.ndarray, rate: float) -> None:
        """One step of Adam."""
        hidden = self.hidden(inputs)
        error = hidden @ self.parameters[2] + self.parameters[3] - gains / UNIT
        margin = error[:, :1] - error[:, 1:]
        slope = (error + np.concatenate([margin, -margin], axis=1)) / len(inputs)
        back = (slope @ self.parameters[2].T) * (hidden > 0)
        gradients = [inputs.T @ back, back.sum(0), hidden.T @ slope, slope.sum(0)]
        self.steps += 1
        for i, gradient in enumerate(gradients):
            self.means[i] += 0.1 * (gradient - self.means[i])
            self.squares[i] += 0.001 * (gradient**2 - self.squares[i])
            mean = self.means[i] / np.float32(1 - 0.9**self.steps)
            square = self.squares[i] / np.float32(1 - 0.999**self.steps)
            self.parameters[i] -= np.float32(rate) * mean / (np.sqrt(square) + np.float32(1e-8))


def fit(samples: Samples, round_number: int) -> dict[str, Any]:
    """Fit a network and the scales to the positions of a round."""
    rng = np.random.default_rng((SEED, round_number, 1))
    kept = max(PLAYS, int(len(samples.gains) * KEPT_BACK) // PLAYS * PLAYS)
    network = Network(samples.features.shape[1], len(weights()["inner_bias"]), rng)
    batches = max(1, (len(samples.gains) - kept) // BATCH)
    for epoch in range(EPOCHS):
        order = kept + rng.permutation(len(samples.gains) - kept)
        for batch in range(batches):
            chosen = order[batch * BATCH : (batch + 1) * BATCH]
            rate = LEARNING_RATE * (1.01 - (epoch * batches + batch) / (EPOCHS * batches))
            network.learn(samples.features[chosen], samples.gains[chosen], rate)
        error = network.predict(samples.features[:kept]) - samples.gains[:kept]
        print(
            f"  epoch {epoch}: error of the margin {np.std(error[:, 0] - error[:, 1]):.2f} of"
            f" {np.std(samples.gains[:kept, 0] - samples.gains[:kept, 1]):.2f} points",
            flush=True,
        )
    inner, inner_bias, outer, outer_bias = (
        np.array([float(f"{x:.{DIGITS}g}") for x in values.ravel()]).reshape(values.shape)
        for values in network.parameters
    )
    return {
        "inner": inner.tolist(),
        "inner_bias": inner_bias.tolist(),
        "outer": outer.T.tolist(),
        "outer_bias": outer_bias.tolist(),
        "scales": fit_scales(samples, network),
    }


def fit_scales(samples: Samples, network: Network) -> list[float]:
    """The scale for each number of empty cells that makes the results most likely."""
    gains = network.predict(samples.features)
    predicted = samples.margins + gains[:, 0] - gains[:, 1]
    final = samples.margins + samples.gains[:, 0] - samples.gains[:, 1]
    scales = [1.0]
    for empty in range(1, PLAYS + 1):
        chosen = (samples.forms == 0) & (samples.empty == empty)
        margins = predicted[chosen]
        won = (np.sign(final[chosen]) + 1) / 2

        def loss(scale: float, margins: np.ndarray = margins, won: np.ndarray = won) -> float:
            return float(np.mean(np.logaddexp(0, margins / scale) - won * margins / scale))

        best = minimize_scalar(loss, bounds=(1, 100), method="bounded")
        scales.append(round(float(best.x), 2))
    return scales


def nothing() -> dict[str, Any]:
    """Weights that expect nothing to come."""
    shape = weights()
    return {
        "inner": [[0.0] * len(row) for row in shape["inner"]],
        "inner_bias": [0.0] * len(shape["inner_bias"]),
        "outer": [[0.0] * len(row) for row in shape["outer"]],
        "outer_bias": [0.0, 0.0],
        "scales": [float(UNIT)] * len(shape["scales"]),
    }


def main() -> None:
    """Play and fit in rounds, and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--scale", type=float, default=1, help="a factor for the games of a round")
    parser.add_argument(
        "--again", action="store_true", help="the last round only, from the weights in place"
    )
    arguments = parser.parse_args()
    if not arguments.again:
        use_weights(nothing())
    for number, games in enumerate(ROUNDS):
        if arguments.again and number < len(ROUNDS) - 1:
            continue
        start = time.monotonic()
        samples = play(max(20, round(games * arguments.scale)), number)
        print(f"round {number}: {time.monotonic() - start:.0f} s of play", flush=True)
        fitted = fit(samples, number)
        use_weights(fitted)
        TARGET.write_text(json.dumps(fitted) + "\n")


if __name__ == "__main__":
    main()
