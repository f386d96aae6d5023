"""Fits what the engine knows of ROYGBIV for two seats, from self-play that starts from nothing.

In each round games are played by the look one ply ahead, with the weights so far (at first zeros:
so for the most points at once), some noise and a few random moves. A network is then fitted to the
points that each seat went on to make, by Adam on the squares of both errors and of the error of the
margin. Once there are predictions, these points are a mixture of what the weights so far
predicted later in the game and of how it ended, TD(0.88), which has less luck in it. Each position
enters in one of three forms, drawn at random: all hands seen; as the seat to act sees it; as the
other seat saw it before its draw. Two more things are fitted for each number of empty cells: the
scale of the logistic function from margin to share of the win, and which dice are kept in hand.

Run from the top folder, with nothing else to do for about half an hour:

    python -m tools.fit_roygbiv [--again] [--scale 0.01]

Writes `ext/games/roygbiv_weights.json`; `--scale` makes all rounds shorter, and `--again` goes
on from the weights in place. Those in place come from rounds of 1,800, 3,600, 15,000 and 36,000
games with 59 inputs and 64 hidden units; filled up with zeros to the present
size, from 15,000 games more, fitted anew to how they ended; and from 12,000 as `--again` plays and
fits them. What is kept in hand was counted in 1,500 games between these two.
"""

import argparse
import json
import time
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import comb

from aleator.ext.games.roygbiv import Roygbiv
from aleator.ext.games.roygbiv_evaluation import (
    self_play,
    use_weights,
    weights,
)

TARGET = Path("ext/games/roygbiv_weights.json")
SEED = 20261130
ROUNDS = (4_000, 8_000, 60_000)  # games
RANDOM_MOVES = 0.02
NOISE = 0.4  # points, scale of the Gumbel noise
TRACE = 0.88  # of TD(trace), once there are predictions
UNIT = 20  # points, as in the evaluation
PLAYS = 48
BATCH = 2048
EPOCHS = 5
LEARNING_RATE = 2e-3
LATER_RATE = 1e-3  # for a network that has learned before
KEPT_BACK = 0.05  # of the games, to measure the error on
DIGITS = 5
THEIR_DICE = slice(56, 63)  # of the features, by value: of the seat that is not to act
BAG = slice(63, 70)  # a third of the counts
KEEPING_ROWS = 2_000  # positions for each number of empty cells
KEEPING_STEPS = 25
LEAST_KEEPING = 0.05
LAST_DRAWS = 8  # empty cells; with fewer, the hands are known or nearly so


class Samples:
    """Positions of self-play, as `self_play` notes them."""

    def __init__(self, games: int) -> None:
        count = games * PLAYS
        self.features = np.empty((count, len(weights()["inner"])), np.float32)
        self.gains = np.empty((count, 2), np.float32)
        self.margins = np.empty(count, np.float32)
        self.empty = np.empty(count, np.int32)
        self.forms = np.empty(count, np.int32)


def play(games: int, round_number: int, trace: float) -> Samples:
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
            trace=trace,
            features=samples.features[rows],
            gains=samples.gains[rows],
            margins=samples.margins[rows],
            empty=samples.empty[rows],
            forms=samples.forms[rows],
        )
    return samples


class Network:
    """The network of the evaluation, with what Adam keeps of each parameter."""

    def __init__(self, parameters: list[np.ndarray]) -> None:
        self.parameters = [values.astype(np.float32) for values in parameters]
        self.means = [np.zeros_like(values) for values in self.parameters]
        self.squares = [np.zeros_like(values) for values in self.parameters]
        self.steps = 0

    def hidden(self, inputs: np.ndarray) -> np.ndarray:
        """The activations of the hidden layer."""
        hidden: np.ndarray = inputs @ self.parameters[0] + self.parameters[1]
        return np.maximum(hidden, 0)

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


def random_network(number: int) -> Network:
    """A network to begin a round with."""
    rng = np.random.default_rng((SEED, number, 2))
    shape = weights()
    inputs, hidden = len(shape["inner"]), len(shape["inner_bias"])
    return Network(
        [
            rng.normal(0, 20**-0.5, (inputs, hidden)),
            np.zeros(hidden),
            rng.normal(0, hidden**-0.5, (hidden, 2)),
            np.zeros(2),
        ]
    )


def network_in_place() -> Network:
    """The network of the weights in use."""
    values = weights()
    return Network(
        [
            np.array(values["inner"]),
            np.array(values["inner_bias"]),
            np.array(values["outer"]).T,
            np.array(values["outer_bias"]),
        ]
    )


def fit(samples: Samples, network: Network, number: int, learning_rate: float) -> dict[str, Any]:
    """Fit the network and the scales to the positions of a round."""
    rng = np.random.default_rng((SEED, number, 1))
    kept = max(PLAYS, int(len(samples.gains) * KEPT_BACK) // PLAYS * PLAYS)
    batches = max(1, (len(samples.gains) - kept) // BATCH)
    for epoch in range(EPOCHS):
        order = kept + rng.permutation(len(samples.gains) - kept)
        for batch in range(batches):
            chosen = order[batch * BATCH : (batch + 1) * BATCH]
            rate = learning_rate * (1.01 - (epoch * batches + batch) / (EPOCHS * batches))
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
        "keeping": fit_keeping(samples),
    }


def final_margins(samples: Samples) -> np.ndarray:
    """How each position's game ended, for the seat to act."""
    ends = samples.margins + samples.gains[:, 0] - samples.gains[:, 1]
    # With each play the other seat is to act, and in the third form it already is.
    signs = (-1) ** (np.arange(len(ends)) % PLAYS + (samples.forms == 2))
    last = slice(PLAYS - 1, None, PLAYS)  # of each game: its gains are no predictions
    final: np.ndarray = np.repeat(ends[last] * signs[last], PLAYS) * signs
    return final


def fit_scales(samples: Samples, network: Network) -> list[float]:
    """The scale for each number of empty cells that makes the results most likely."""
    gains = network.predict(samples.features)
    predicted = samples.margins + gains[:, 0] - gains[:, 1]
    final = final_margins(samples)
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


def fit_keeping(samples: Samples) -> list[list[float]]:
    """By empty cells and value, how much likelier than others a die is kept in hand.

    Of the hand of the seat that is not to act any die may be the one that it drew last; the
    others count by these weights, which are to bring as many dice of each value as were seen.
    """
    hands = np.array(
        [np.bincount(dice, minlength=7) for dice in combinations_with_replacement(range(7), 3)]
    )
    ways_of = comb(np.arange(8)[:, None], np.arange(4))  # to take so many of so many dice
    keeping = [[1.0] * 7 for _ in range(PLAYS + 1)]
    for empty in range(LAST_DRAWS, PLAYS):
        # Neighbours too: for smoothness, and as single numbers of cells are few positions.
        near = (abs(samples.empty - empty) <= 2) & (samples.empty >= LAST_DRAWS)
        chosen = np.flatnonzero(near & (samples.empty < PLAYS) & (samples.forms == 0))
        rows = samples.features[chosen[:KEEPING_ROWS]]
        held = rows[:, THEIR_DICE]
        unseen = np.rint(held + 3 * rows[:, BAG]).astype(int)
        ways = np.prod(ways_of[unseen[:, None, :], hands], axis=2)
        likelier = np.ones(7)
        for _ in range(KEEPING_STEPS):
            weighed = ways * (np.prod(likelier**hands, axis=1) * (hands / likelier).sum(1))
            expected = (weighed / weighed.sum(1, keepdims=True) @ hands).mean(0)
            likelier = np.maximum(likelier * (held.mean(0) / expected) ** 1.5, LEAST_KEEPING)
            likelier /= likelier.mean()
        keeping[empty] = [round(float(factor), 3) for factor in likelier]
    return keeping


def nothing() -> dict[str, Any]:
    """Weights that expect nothing to come."""
    shape = weights()
    return {
        "inner": [[0.0] * len(row) for row in shape["inner"]],
        "inner_bias": [0.0] * len(shape["inner_bias"]),
        "outer": [[0.0] * len(row) for row in shape["outer"]],
        "outer_bias": [0.0, 0.0],
        "scales": [float(UNIT)] * len(shape["scales"]),
        "keeping": [[1.0] * len(row) for row in shape["keeping"]],
    }


def main() -> None:
    """Play and fit in rounds, and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--scale", type=float, default=1, help="a factor for the games of a round")
    parser.add_argument(
        "--again", action="store_true", help="the last round only, from the weights in place"
    )
    arguments = parser.parse_args()
    if arguments.again:
        rounds = [len(ROUNDS) - 1]
    else:
        rounds = [*range(len(ROUNDS))]
        use_weights(nothing())
    for number in rounds:
        start = time.monotonic()
        games = max(20, round(ROUNDS[number] * arguments.scale))
        # Nothing is predicted yet in the first round.
        samples = play(games, number, TRACE if arguments.again or number else 1)
        print(f"round {number}: {time.monotonic() - start:.0f} s of play", flush=True)
        if arguments.again:
            fitted = fit(samples, network_in_place(), number, LATER_RATE)
        else:
            fitted = fit(samples, random_network(number), number, LEARNING_RATE)
        use_weights(fitted)
        TARGET.write_text(json.dumps(fitted) + "\n")


if __name__ == "__main__":
    main()
