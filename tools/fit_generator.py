"""Fits Generator's evaluation to games of its one-ply play against itself.

The first games are played by the lead in rolls, as the reference players see it; then each round
plays with the weights so far, and fits them to the positions of the latest rounds and how their
games ended, by cross-entropy and Adam. Every game has the same weight, however long it was. A few
moves are random, so that more than one way to play is seen.

`python -m tools.fit_generator` writes `ext/games/generator_weights.py`; they take effect at once.
The seeds make a run repeatable, with one version of NumPy.

The pull is by how much a seat's strength falls for each roll that it is away. It is set, and the
network fitted without it: where all moves seem to win, it is what brings a seat closer to doing
so. The strengths with the pull are too sure of themselves, so in the end one factor for them all is
fitted to games without random moves. It changes no move of one-ply play between two, but without it
a search clings to the first move that it looks at more deeply, where all look worse than they are.
"""

import argparse
import textwrap
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from aleator.ext.games.generator import Generator
from aleator.ext.games.generator_evaluation import set_weights

WEIGHTS = Path(__file__).parent.parent / "ext" / "games" / "generator_weights.py"
HIDDEN = 24
PULL = 0.1  # a roll, before the factor
FACTORS = np.linspace(0.2, 1.2, 51)
NOISE = 0.03  # random moves
CHOSEN = 0.3  # positions looked at, of a game of usual length
MOST_OF_A_GAME = 40
KEPT_ROUNDS = 4
BATCH = 512
EPOCHS = 6
RATE = 2e-3

Array = NDArray[np.float32]
Weights = dict[str, Array]


def initial(features: int, rng: np.random.Generator) -> Weights:
    """Random weights, as small as usual."""

    def draw(*shape: int) -> Array:
        return (0.15 * rng.standard_normal(shape)).astype(np.float32)

    return {
        "bias": np.zeros(HIDDEN, np.float32),
        "own": draw(features, HIDDEN),
        "others": draw(features, HIDDEN),
        "output": draw(HIDDEN),
    }


def play(
    rules: Generator, games: int, rng: np.random.Generator, *, learned: bool, noise: float = NOISE
) -> tuple[Array, Array, Array]:
    """Positions (by number, seat and feature), how far each seat is away, and its win share."""
    positions = []
    outcomes = []
    for _ in range(games):
        rows, shares = rules.play_itself(int(rng.integers(2**63)), noise, CHOSEN, learned)
        if len(rows) > MOST_OF_A_GAME:
            rows = [rows[i] for i in sorted(rng.choice(len(rows), MOST_OF_A_GAME, replace=False))]
        positions += rows
        outcomes += [shares] * len(rows)
    found = np.array(positions, np.float32)
    return found[..., :-1], found[..., -1], np.array(outcomes, np.float32)


def forward(weights: Weights, positions: Array) -> tuple[Array, Array]:
    """Strengths without the pull, and the hidden units, as in the compiled `win_chances`."""
    seen = positions @ weights["others"] / (positions.shape[1] - 1)
    hidden = positions @ weights["own"] + seen.sum(1, keepdims=True) - seen + weights["bias"]
    hidden = np.maximum(hidden, 0)
    return hidden @ weights["output"], hidden


def softmax(strengths: Array) -> Array:
    shares = np.exp(strengths - strengths.max(1, keepdims=True))
    return shares / shares.sum(1, keepdims=True)


def cross_entropy(strengths: Array, outcomes: Array) -> float:
    return float(-(outcomes * np.log(softmax(strengths) + 1e-9)).sum(1).mean())


def gradients(weights: Weights, positions: Array, outcomes: Array) -> Weights:
    """The gradients of the mean cross-entropy."""
    strengths, hidden = forward(weights, positions)
    error = (softmax(strengths) - outcomes) / len(positions)
    back = error[..., None] * weights["output"] * (hidden > 0)
    back_seen = (back.sum(1, keepdims=True) - back) / (positions.shape[1] - 1)
    flat = positions.reshape(-1, positions.shape[-1])
    return {
        "bias": back.sum((0, 1)),
        "own": flat.T @ back.reshape(-1, HIDDEN),
        "others": flat.T @ back_seen.reshape(-1, HIDDEN),
        "output": np.einsum("nsh,ns->h", hidden, error),
    }


def fit(weights: Weights, positions: Array, outcomes: Array, rng: np.random.Generator) -> float:
    """Adam with a rate that falls to 0, in place; returns the loss in the end."""
    first = {name: np.zeros_like(value) for name, value in weights.items()}
    second = {name: np.zeros_like(value) for name, value in weights.items()}
    batches = len(positions) // BATCH
    step = 0
    for _ in range(EPOCHS):
        order = rng.permutation(len(positions))
        for batch in range(batches):
            chosen = order[batch * BATCH : (batch + 1) * BATCH]
            found = gradients(weights, positions[chosen], outcomes[chosen])
            step += 1
            rate = RATE * (1 + np.cos(np.pi * step / (EPOCHS * batches))) / 2
            for name, gradient in found.items():
                first[name] += 0.1 * (gradient - first[name])
                second[name] += 0.001 * (gradient**2 - second[name])
                mean = first[name] / (1 - 0.9**step)
                spread = np.sqrt(second[name] / (1 - 0.999**step))
                weights[name] -= rate * mean / (spread + 1e-8)
    return cross_entropy(forward(weights, positions)[0], outcomes)


def rounded(values: Array) -> list[float]:
    return [float(f"{value:.4g}") for value in values]


def best_factor(weights: Weights, games: tuple[Array, Array, Array]) -> float:
    """What to multiply the strengths with, the pull included, for the least cross-entropy."""
    positions, away, outcomes = games
    strengths = forward(weights, positions)[0] - PULL * away
    return float(min(FACTORS, key=lambda factor: cross_entropy(factor * strengths, outcomes)))


def to_store(weights: Weights, factor: float = 1) -> dict[str, object]:
    """The weights in the shape that `set_weights` takes."""
    return {
        "pull": round(PULL * factor, 4),
        "bias": rounded(weights["bias"]),
        "own": [rounded(row) for row in weights["own"]],
        "others": [rounded(row) for row in weights["others"]],
        "output": rounded(factor * weights["output"]),
    }


def write(stored: dict[str, object]) -> str:
    """The module that holds them."""

    def lines(values: object) -> str:
        inside = ", ".join(map(str, values))  # type: ignore[call-overload]
        return textwrap.fill(f"({inside}),", 98, initial_indent=" " * 8, subsequent_indent=" " * 9)

    parts = ['"""Weights of Generator\'s evaluation, written by `tools/fit_generator.py`."""\n']
    parts += ["# fmt: off", "WEIGHTS = {", f'    "pull": {stored["pull"]},']
    for name in ("bias", "output"):
        parts += [f'    "{name}":', lines(stored[name])]
    for name in ("own", "others"):
        parts += [f'    "{name}": (', *map(lines, stored[name]), "    ),"]  # type: ignore[call-overload]
    return "\n".join([*parts, "}", ""])


def main() -> None:
    """Fit and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--games", type=int, default=4000, help="of each round")
    parser.add_argument("--seed", type=int, default=1)
    settings = parser.parse_args()
    rng = np.random.default_rng(settings.seed)
    rules = Generator()
    rounds = [play(rules, settings.games, rng, learned=False)]
    weights = initial(rounds[0][0].shape[-1], rng)
    for number in range(settings.rounds):
        kept = rounds[-KEPT_ROUNDS:]
        positions = np.concatenate([positions for positions, _, _ in kept])
        outcomes = np.concatenate([outcomes for _, _, outcomes in kept])
        loss = fit(weights, positions, outcomes, rng)
        print(f"round {number}: {len(positions)} positions, loss {loss:.4f}", flush=True)
        set_weights(to_store(weights))
        if number + 1 < settings.rounds:
            rounds.append(play(rules, settings.games, rng, learned=True))
    factor = best_factor(weights, play(rules, settings.games, rng, learned=True, noise=0))
    print(f"factor {factor:.2f}")
    WEIGHTS.write_text(write(to_store(weights, factor)))


if __name__ == "__main__":
    main()
