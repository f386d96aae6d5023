"""Fits the weights that My Shelfie's evaluation judges positions by, and writes them.

`python tools/fit_my_shelfie.py`, from the root of the repository, with an installed package. Fitted
value iteration: the solver plays both seats, exact but for the weights it judges the ends of turns
by; the positions before the turns are samples, and their targets mix the exact value of the turn
that follows with the targets after it, up to how the game ended (lambda returns). Then the weights
are fitted to the last few rounds of samples, and so on. The first round is played by the solver
that counts points and lines. First the default options only, then others among them, so that the
weights for the values of spaces, which the default values alone do not tell apart, are found.

The last two columns of the weights, which say the final points, are fitted by least squares to the
points that the last rounds' games ended with.

Sources: R. Sutton, "Learning to predict by the methods of temporal differences", Machine Learning 3
(1988); G. Tesauro, "Temporal difference learning and TD-Gammon", CACM 38 (1995); D. Kingma, J. Ba,
"Adam: a method for stochastic optimization", ICLR (2015).
"""

import argparse
import time
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import lsqr

from aleator.ext.games.my_shelfie_evaluation import SHAPE, LineBonus, WinShare
from aleator.ext.games.my_shelfie_training import duel, self_play
from aleator.search.match import mean_interval

FEATURES, WIDTH = SHAPE
OUTPUTS = 2
HIDDEN = WIDTH - OUTPUTS
SIGNS = np.where(np.arange(HIDDEN) < HIDDEN // 2, 1, -1).astype(np.float32)
VALUES = (1, 2, 3, 5, 8) * 5
WEIGHTS = Path("ext/games/my_shelfie.weights")

# As `Sample` in ext/games/my_shelfie_training.pyx.
SAMPLE = np.dtype(
    [
        ("circles", "u4", 2),
        ("crosses", "u4", 2),
        ("solved", "f4"),
        ("outcome", "f4"),
        ("points", "f4", 2),
        ("new_round", "u4"),
        ("game", "u4"),
    ]
)

# As the features in ext/games/my_shelfie_evaluation.pyx.
ROW_FEATURES = 243 * 6
COLUMN_FEATURES = 5 * 21 * 3
FIRST_COLUMNS = 2 * ROW_FEATURES
ROW_CONDITIONS = FIRST_COLUMNS + 2 * COLUMN_FEATURES
COLUMN_CONDITIONS = ROW_CONDITIONS + 49
NEARNESS = COLUMN_CONDITIONS + 5 * 49
assert NEARNESS + 7 * 7 * 3 == FEATURES

RANDOM_TURNS = 6  # at most so many begin a game, for variety
RANDOM_SHARE = 0.02
KEPT_ROUNDS = 6
BATCH = 4096


def features(samples, values, *, immediate_end):
    """The features of samples, as rows of a sparse matrix."""
    count = len(samples)
    values = np.asarray(values, float).reshape(5, 5)
    values = values / np.abs(values).mean()
    columns, factors = [], []

    def add(column, factor=1.0):
        columns.append(np.broadcast_to(column, count))
        factors.append(np.broadcast_to(factor, count))

    bits = 1 << np.arange(25, dtype=np.uint32)
    conditions = np.zeros((2, 10, count), np.int64)
    near = []
    for side in range(2):
        circled = (samples["circles"][:, side, None] & bits > 0).reshape(count, 5, 5)
        crossed = (samples["crosses"][:, side, None] & bits > 0).reshape(count, 5, 5)
        marks = circled + 2 * crossed
        for line in range(10):
            index = (slice(None), line) if line < 5 else (slice(None), slice(None), line - 5)
            spaces, worth = marks[index], values[index[1:]]
            circles, crosses = (spaces == 1).sum(1), (spaces == 2).sum(1)
            conditions[side, line] = np.where(crosses > 0, 6, 5 - circles)
            if line < 5:
                row = side * ROW_FEATURES + 6 * (spaces @ 3 ** np.arange(5))
                add(row)
                for i in range(5):
                    add(row + 1 + i, np.where(spaces[:, i] == 2, 0, worth[i]))
            else:
                pair = circles * 6 - circles * (circles - 1) // 2 + crosses
                row = FIRST_COLUMNS + side * COLUMN_FEATURES + 3 * ((line - 5) * 21 + pair)
                add(row)
                for mark in range(2):
                    add(row + 1 + mark, np.where(spaces == mark, worth, 0).sum(1))
        fullest = np.sort((marks == 0).sum(2), axis=1)
        near.append(np.minimum(fullest[:, 0] + fullest[:, 1], 6))
    for line in range(10):
        row = ROW_CONDITIONS if line < 5 else COLUMN_CONDITIONS + 49 * (line - 5)
        add(row + 7 * conditions[0, line] + conditions[1, line])
    order = 2 if immediate_end else 1 - samples["new_round"].astype(np.int64)
    add(NEARNESS + 3 * (7 * near[0] + near[1]) + order)
    matrix = sparse.csr_matrix(
        (
            np.stack(factors, axis=1).astype(np.float32).ravel(),
            np.stack(columns, axis=1).ravel(),
            np.arange(count + 1) * len(columns),
        ),
        shape=(count, FEATURES),
    )
    matrix.eliminate_zeros()
    return matrix


def targets(samples, trace):
    """Lambda returns: each sample's exact value, and by `trace` what came after it."""
    result = np.empty(len(samples), np.float32)
    for i in reversed(range(len(samples))):
        last = i + 1 == len(samples) or samples["game"][i + 1] != samples["game"][i]
        after = samples["outcome"][i] if last else 1 - result[i + 1]
        result[i] = (1 - trace) * samples["solved"][i] + trace * after
    return result


class Fit:
    """Weights, and Adam's running means of their gradients."""

    def __init__(self, rng):
        self.weights = rng.normal(scale=0.03, size=(FEATURES, HIDDEN)).astype(np.float32)
        self.weights[NEARNESS:] += 0.3  # so that the units are open at first
        self.means = np.zeros_like(self.weights)
        self.squares = np.zeros_like(self.weights)
        self.steps = 0

    def step(self, inputs, wanted, rate):
        """One step down the gradient of the cross entropy, which is returned."""
        sums = inputs @ self.weights
        chances = 1 / (1 + np.exp(-(np.maximum(sums, 0) @ SIGNS)))
        error = ((chances - wanted) / len(wanted)).astype(np.float32)
        gradient = inputs.T @ (error[:, None] * SIGNS * (sums > 0))
        self.steps += 1
        self.means += 0.1 * (gradient - self.means)
        self.squares += 0.001 * (gradient**2 - self.squares)
        scale = rate * np.sqrt(1 - 0.999**self.steps) / (1 - 0.9**self.steps)
        self.weights -= scale * self.means / (np.sqrt(self.squares) + 1e-8)
        chances = np.clip(chances, 1e-6, 1 - 1e-6)
        return -np.mean(wanted * np.log(chances) + (1 - wanted) * np.log(1 - chances))

    def epoch(self, inputs, wanted, rate, rng):
        """Go through all samples once, in random order; returns the mean cross entropy."""
        order = rng.permutation(len(wanted))
        batches = np.split(order, range(BATCH, len(order), BATCH))
        return np.mean([self.step(inputs[batch], wanted[batch], rate) for batch in batches])

    def solver(self, values, *, immediate_end):
        """The solver that judges by these weights."""
        weights = np.hstack([self.weights, np.zeros((FEATURES, OUTPUTS), np.float32)])
        return WinShare(2, values, immediate_end, weights)


def other_values(rng):
    """25 values, of one kind or another."""
    kind = rng.integers(5)
    if kind == 0:
        values = rng.integers(1, 10, 25)
    elif kind == 1:
        values = np.concatenate([rng.permutation([1, 2, 3, 5, 8]) for _ in range(5)])
    elif kind == 2:
        values = np.tile(np.sort(rng.integers(0, 15, 5)), 5)
    elif kind == 3:
        values = np.ceil(rng.exponential(5, 25))
    else:
        values = np.outer(rng.integers(1, 4, 5), [1, 2, 3, 5, 8]).ravel()
    return tuple(int(value) for value in values)


def plan(round_, first_rounds, rng):
    """What to play in a round: (values, immediate end, games)."""
    if round_ < first_rounds:
        return [(VALUES, False, 12000 if round_ == 0 else 6000)]
    return [
        (VALUES, False, 7000),
        *((other_values(rng), False, 250) for _ in range(6)),
        (VALUES, True, 1000),
        *((other_values(rng), True, 200) for _ in range(3)),
    ]


def play_and_sample(solver_of, games, seed, trace):
    """Play the games of a plan; returns features, targets, and final points in mean values."""
    parts = []
    for index, (values, immediate_end, count) in enumerate(games):
        played = self_play(
            solver_of(values, immediate_end=immediate_end),
            count,
            1000 * seed + index,
            RANDOM_TURNS,
            RANDOM_SHARE,
        )
        samples = np.frombuffer(played, SAMPLE)
        parts.append(
            (
                features(samples, values, immediate_end=immediate_end),
                targets(samples, trace),
                samples["points"] / np.abs(values).mean(),
            )
        )
    inputs, wanted, points = zip(*parts, strict=True)
    return sparse.vstack(inputs).tocsr(), np.concatenate(wanted), np.concatenate(points)


def report(solver, seed):
    """Its win share against the solver that counts points and lines."""
    pairs = duel(solver, LineBonus(2, VALUES), 500, seed)
    low, high = mean_interval(tuple(share for share, _ in pairs))
    margin = np.mean([margin for _, margin in pairs])
    return f"{(low + high) / 2:.3f} +- {(high - low) / 2:.3f}, {margin:+.1f} points"


def main():
    """Fit and write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--first-rounds", type=int, default=16, help="with default options")
    parser.add_argument("--rounds", type=int, default=46, help="in all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, default=WEIGHTS)
    settings = parser.parse_args()
    rng = np.random.default_rng(settings.seed)
    fit = Fit(rng)
    kept = []
    start = time.time()
    for round_ in range(settings.rounds):
        games = plan(round_, settings.first_rounds, rng)
        if round_ == 0:
            # Points are no win shares: what counts is how the games ended.
            kept = [play_and_sample(_line_bonus, games, settings.seed * 1000, trace=1)]
        else:
            trace = 0.5 if round_ < 4 else 0.3
            seed = settings.seed * 1000 + round_
            kept.append(play_and_sample(fit.solver, games, seed, trace))
            kept = kept[1 if round_ == 1 else -KEPT_ROUNDS :]
        inputs = sparse.vstack([part[0] for part in kept]).tocsr()
        wanted = np.concatenate([part[1] for part in kept])
        left = 1 - round_ / settings.rounds
        for _ in range(3 if round_ == 0 else 1):
            loss = fit.epoch(inputs, wanted, 0.00015 + 0.003 * left**2, rng)
        print(
            f"round {round_}: {len(wanted)} samples, cross entropy {loss:.4f},"
            f" against points and lines {report(fit.solver(VALUES, immediate_end=False), 77)},"
            f" {time.time() - start:.0f} s",
            flush=True,
        )
    points = np.concatenate([part[2] for part in kept])
    outputs = [lsqr(inputs, points[:, i], damp=10, iter_lim=300)[0] for i in range(OUTPUTS)]
    np.column_stack([fit.weights, *outputs]).astype("<f2").tofile(settings.output)


def _line_bonus(values, *, immediate_end):
    return LineBonus(2, values, immediate_end)


if __name__ == "__main__":
    main()
