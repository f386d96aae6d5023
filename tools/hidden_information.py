"""Measure what hidden hands are worth in ROYGBIV of two seats, and what play tells of them.

    python -m tools.hidden_information worth [--pairs 250] [--simulations 1000]
    python -m tools.hidden_information told [--games 400] [--simulations 300]

`worth` plays pairs of games with seats swapped and the same draws: the engine that sees all hands
and draws, as under the option `open_hands`, against the one that sees its own. What is won so
bounds what any guess at hidden hands can win.

`told` lets the engine play against itself, and fits to half of the games how much likelier than
chance has it a seat holds dice of each value, at the start and by the end: a soft model of what
seats keep. On the other half it tells by how much the likelihood of the true hands grows, if a
fifth of the weight stays with chance. docs/hidden-information.md says what came of it.
"""

import argparse
import random
from statistics import fmean, stdev

import numpy as np
from scipy.optimize import minimize

from aleator.search import Engine, Limits, Position

CONFIDENCE = 1.96
VALUES = 7
DICE = 49
DRAWS = 42  # plays that a draw follows: then no hand is hidden any more
CHANCE = 0.2  # the weight that is left to deals by chance alone
PENALTY = 2.0  # of squared weights, so that they are sure


def play(seeing: int, simulations: int, seed: int) -> tuple[float, int]:
    """One game; the win share and margin of the seat that sees all hands."""
    engine = Engine()
    limits = Limits(simulations=simulations)
    position = Position.create("roygbiv", {}, seed)
    luck = random.Random(seed)
    while not position.finished:
        (seat,) = position.seats_to_act
        view = position
        if seat == seeing:
            view = Position.from_record("roygbiv", {"open_hands": True}, position.record)
        move = engine.suggest(view, seat, limits, seed=luck.getrandbits(64)).best_move
        position, _ = position.apply(
            {seat: position.find_move(move.notation, seat)}, seed=luck.getrandbits(64)
        )
    assert position.win_shares is not None
    scores = position.scores
    return position.win_shares[seeing], scores[seeing] - scores[1 - seeing]


def worth(pairs: int, simulations: int) -> None:
    """Play the pairs and print what seeing is worth."""
    games = [[play(seat, simulations, seed) for seat in (0, 1)] for seed in range(pairs)]
    for name, part in (("win share", 0), ("margin", 1)):
        means = [fmean(game[part] for game in pair) for pair in games]
        error = CONFIDENCE * stdev(means) / pairs**0.5
        print(f"{name} of the seat that sees all: {fmean(means):.3f} ± {error:.3f}")


class Views:
    """What seats saw in games: how likely each hand of the other was, and which one it had."""

    def __init__(self) -> None:
        self.chances: list[np.ndarray] = []
        self.hands: list[np.ndarray] = []  # dice by value, of each possible hand
        self.true: list[int] = []
        self.stages: list[float] = []  # part of the dice that was placed

    def add(self, position: Position, seat: int) -> None:
        """Add what a seat sees of a full position."""
        rules = position.codec.rules
        listed = rules.enumerate_determinizations(position.state, seat)
        assert listed is not None
        worlds = [world for _, world in listed]
        hands = [position.codec.write_state(world)["hands"][1 - seat]["dice"] for world in worlds]
        self.chances.append(np.array([probability for probability, _ in listed]))
        self.hands.append(np.array([[h.count(v) for v in range(1, VALUES + 1)] for h in hands]))
        self.true.append(worlds.index(position.state))
        self.stages.append(sum(position.record["played"]) / DICE)

    def posteriors(self, weights: np.ndarray) -> list[np.ndarray]:
        """How likely each hand is by the model, for each view."""
        result = []
        for chances, hands, stage in zip(self.chances, self.hands, self.stages, strict=True):
            odds = chances * np.exp(hands @ (weights[:VALUES] + stage * weights[VALUES:]))
            result.append(odds / odds.sum())
        return result

    def loss(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        """The negative log likelihood of the true hands, with the penalty, and its gradient."""
        total = PENALTY * float(weights @ weights)
        gradient = 2 * PENALTY * weights
        for index, posterior in enumerate(self.posteriors(weights)):
            hands = self.hands[index]
            total -= np.log(posterior[self.true[index]])
            surplus = posterior @ hands - hands[self.true[index]]
            gradient += np.concatenate([surplus, self.stages[index] * surplus])
        return total, gradient

    def gains(self, weights: np.ndarray) -> list[float]:
        """By how much the log likelihood of each true hand grows over that by chance."""
        return [
            float(np.log(1 - CHANCE + CHANCE * chance / posterior) + np.log(posterior / chance))
            for posterior, chance in (
                (found[true], chances[true])
                for found, chances, true in zip(
                    self.posteriors(weights), self.chances, self.true, strict=True
                )
            )
        ]


def told(games: int, simulations: int) -> None:
    """Play the games, fit the model, and print what it tells."""
    engine = Engine()
    limits = Limits(simulations=simulations)
    halves = Views(), Views()
    for seed in range(games):
        position = Position.create("roygbiv", {}, seed)
        luck = random.Random(seed)
        for ply in range(DRAWS):
            (seat,) = position.seats_to_act
            if ply:  # the first seat knows nothing of the other's choices
                halves[seed % 2].add(position, seat)
            best = engine.suggest(position, seat, limits, seed=luck.getrandbits(64)).best_move
            position, _ = position.apply({seat: best}, seed=luck.getrandbits(64))
    fitted, other = halves
    weights = minimize(fitted.loss, np.zeros(2 * VALUES), jac=True, method="L-BFGS-B").x
    gains = other.gains(weights)
    by_game = [fmean(gains[i : i + DRAWS - 1]) for i in range(0, len(gains), DRAWS - 1)]
    error = CONFIDENCE * stdev(by_game) / len(by_game) ** 0.5
    chance = -fmean(
        np.log(chances[true]) for chances, true in zip(other.chances, other.true, strict=True)
    )
    print(f"nats that chance leaves open: {chance:.2f}")
    print(f"nats that the model tells: {fmean(by_game):.3f} ± {error:.3f}")
    for name, part in (("at the start", weights[:VALUES]), ("more by the end", weights[VALUES:])):
        print(f"kept likelier, 1 to 7, {name}:", *(f"{weight:+.2f}" for weight in part))


def main() -> None:
    """Run one of the measurements."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parts = parser.add_subparsers(required=True, dest="what")
    part = parts.add_parser("worth")
    part.add_argument("--pairs", type=int, default=250)
    part.add_argument("--simulations", type=int, default=1000)
    part = parts.add_parser("told")
    part.add_argument("--games", type=int, default=400)
    part.add_argument("--simulations", type=int, default=300)
    given = parser.parse_args()
    if given.what == "worth":
        worth(given.pairs, given.simulations)
    else:
        told(given.games, given.simulations)


if __name__ == "__main__":
    main()
