"""Measure whether the engine's estimates are to be trusted, and write docs/trust.md from that.

    python -m tools.trust measure GAME [--simulations 1000] [--games 100] [--repeats 12]
    python -m tools.trust write

`measure` lets the engine play against itself, two seats and the options that the game is measured
with, and keeps what it found in docs/trust/GAME.json:

- **reliability**: what it thought its win share was before each move, against how the games ended,
  in tenths; intervals are made by drawing whole games again (bootstrap), as the moves of one game
  share its end.
- **standard errors**: positions of these games are searched again with other seeds; how far the
  estimates spread, against the standard errors that they came with.
"""

import argparse
import json
import random
from itertools import pairwise
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import numpy as np

from aleator.search import Engine, Limits, Position
from aleator.search.games import codec_class, game_ids
from aleator.service.cli.plot import new_figure, save
from tools.pages import heading

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "trust.md"
FOLDER = ROOT / "docs" / "trust"
SEED = 20
BINS = 10
DRAWS = 1000
"""Of the bootstrap."""
CONFIDENCE = 1.96


def measure(game: str, simulations: int, games: int, repeats: int) -> dict[str, Any]:
    """Play games and look at positions of them again."""
    luck = random.Random(f"{SEED}/{game}")
    limits = Limits(simulations=simulations)
    engine = Engine()
    told: list[np.ndarray] = []  # by game: (estimate, outcome) of each move
    again: list[tuple[Position, int]] = []
    for number in range(games):
        position = Position.create(game, codec_class(game).measured_with, seed=luck.getrandbits(64))
        estimates: list[tuple[int, float]] = []
        line = []
        while not position.finished:
            moves = {}
            for seat in position.seats_to_act:
                analysis = engine.suggest(position, seat, limits, seed=luck.getrandbits(64))
                moves[seat] = analysis.best_move
                if len(analysis.candidates) > 1 and not analysis.statistics.exact:
                    assert analysis.estimate is not None
                    estimates.append((seat, analysis.estimate.win_share[seat]))
                    line.append((position, seat))
            position, _ = position.apply(moves, seed=luck.getrandbits(64))
        shares = position.win_shares
        assert shares is not None
        told.append(np.array([(estimate, shares[seat]) for seat, estimate in estimates]))
        again.append(luck.choice(line))
        print(f"{game}: {number + 1} of {games} games", flush=True)
    spreads = [
        _repeat(engine, position, seat, limits, repeats) for position, seat in again[: games // 4]
    ]
    return {
        "simulations": simulations,
        "games": games,
        "moves": sum(map(len, told)),
        "brier": round(float(fmean((row[0] - row[1]) ** 2 for one in told for row in one)), 4),
        "bins": _bins(told),
        "positions": len(spreads),
        "repeats": repeats,
        "spread": round(fmean(spread for spread, _, _ in spreads), 5),
        "error": round(fmean(error for _, error, _ in spreads), 5),
        "covered": round(fmean(covered for _, _, covered in spreads), 3),
    }


def _bins(told: list[np.ndarray]) -> list[dict[str, float]]:
    """Mean estimate, mean outcome and its interval, by tenths of the estimate."""
    draws = np.random.default_rng(SEED).multinomial(
        len(told), np.full(len(told), 1 / len(told)), size=DRAWS
    )
    rows = []
    for low, high in pairwise(np.linspace(0, 1, BINS + 1)):
        inside = [
            one[(one[:, 0] >= low) & ((one[:, 0] < high) | (high == 1))].reshape(-1, 2)
            for one in told
        ]
        counts = np.array([len(one) for one in inside])
        if not counts.sum():
            continue
        totals = np.array([one.sum(axis=0) for one in inside])
        drawn = draws @ counts
        means = (draws @ totals[:, 1])[drawn > 0] / drawn[drawn > 0]
        estimate, outcome = totals.sum(axis=0) / counts.sum()
        rows.append(
            {
                "moves": int(counts.sum()),
                "estimate": round(float(estimate), 4),
                "outcome": round(float(outcome), 4),
                "low": round(float(np.quantile(means, 0.025)), 4),
                "high": round(float(np.quantile(means, 0.975)), 4),
            }
        )
    return rows


def _repeat(
    engine: Engine, position: Position, seat: int, limits: Limits, repeats: int
) -> tuple[float, float, float]:
    """How far estimates with other seeds spread, their mean standard error, what it covers."""
    shares, errors = [], []
    for seed in range(repeats):
        estimate = engine.suggest(position, seat, limits, seed=seed).estimate
        assert estimate is not None
        shares.append(estimate.win_share[seat])
        errors.append(estimate.standard_error)
    # Of few searches one lies closer to their mean than to the true one.
    wider = (repeats / (repeats - 1)) ** 0.5
    mean = fmean(shares)
    covered = [
        abs(share - mean) * wider <= CONFIDENCE * error
        for share, error in zip(shares, errors, strict=True)
    ]
    return stdev(shares), fmean(errors), fmean(covered)


def results(game: str) -> dict[str, Any] | None:
    """What `measure` found; None if it was not run."""
    file = FOLDER / f"{game}.json"
    return json.loads(file.read_text()) if file.exists() else None


def write() -> None:
    """Write the page and its pictures."""
    PAGE.write_text(page())
    for game in game_ids():
        if found := results(game):
            draw_reliability(game, found, FOLDER / f"{game}.svg")


def page() -> str:
    """The text of docs/trust.md."""
    sections = [_section(game, found) for game in game_ids() if (found := results(game))]
    return INTRODUCTION + ("".join(sections) or "\nNo game has been measured yet.\n")


INTRODUCTION = """# How far to trust an analysis

This page is written by [tools/trust.py](../tools/trust.py), which lets the engine play against
itself, two seats and the default options where no others are named.

**Win shares** are to come true: of all moves before which the engine thought that it wins 70%, it
should win 70%. The tables and pictures compare what was thought before each move with how the games
ended, both seats playing as well as the engine does. The 95% intervals of the outcomes allow for
moves of one game sharing its end.

**Standard errors** tell how much an estimate would differ with another seed, and nothing of what
the game's evaluation has wrong. Positions were searched again with other seeds: the spread of their
estimates is compared with the standard errors, and *covered* is how often an estimate lay within
1.96 of its standard errors from their mean, 95% if the errors are right.
"""


def _section(game: str, found: dict[str, Any]) -> str:
    lines = [
        heading(game),
        f"![Outcome by estimate](trust/{game}.svg)\n",
        "| estimate | came out | 95% | moves |",
        "|--:|--:|--:|--:|",
    ]
    lines += [
        f"| {100 * row['estimate']:.1f}% | {100 * row['outcome']:.1f}% |"
        f" {100 * row['low']:.1f}% to {100 * row['high']:.1f}% | {row['moves']:,} |"
        for row in found["bins"]
    ]
    lines.append(
        f"\n{found['games']:,} games at {found['simulations']:,} simulations a move; the mean"
        f" squared difference\nof estimate and outcome (Brier score) is {found['brier']:.3f}. Of"
        f" {found['positions']} positions, each searched\n{found['repeats']} times, the estimates"
        f" spread by {100 * found['spread']:.2f}% on average; their standard errors\nsaid"
        f" {100 * found['error']:.2f}%, and covered {100 * found['covered']:.0f}%.\n"
    )
    return "\n".join(lines)


def draw_reliability(game: str, found: dict[str, Any], file: Path) -> None:
    """The outcome by estimate, with the line on which both are equal."""
    figure = new_figure()
    axes = figure.add_subplot()
    rows = found["bins"]
    outcomes = [100 * row["outcome"] for row in rows]
    reach = [
        [100 * max(0.0, row["outcome"] - row["low"]) for row in rows],
        [100 * max(0.0, row["high"] - row["outcome"]) for row in rows],
    ]
    axes.plot((0, 100), (0, 100), color="0.6", linewidth=1, linestyle="--")
    axes.errorbar([100 * row["estimate"] for row in rows], outcomes, reach, fmt="o-", capsize=3)
    axes.set(
        title=f"{game}: what came of the win shares that were told",
        xlabel="win share told, %",
        ylabel="win share in the end, %",
        xlim=(0, 100),
        ylim=(0, 100),
    )
    save(figure, file)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    measuring = commands.add_parser("measure")
    measuring.add_argument("game", choices=game_ids())
    measuring.add_argument("--simulations", type=int, default=1000)
    measuring.add_argument("--games", type=int, default=100)
    measuring.add_argument("--repeats", type=int, default=12)
    commands.add_parser("write")
    arguments = parser.parse_args()
    if arguments.command == "measure":
        found = measure(arguments.game, arguments.simulations, arguments.games, arguments.repeats)
        FOLDER.mkdir(exist_ok=True)
        (FOLDER / f"{arguments.game}.json").write_text(json.dumps(found, indent=1) + "\n")
    else:
        write()


if __name__ == "__main__":
    main()
