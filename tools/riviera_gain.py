"""What the search of Riviera gains over its policy: far less noisy than matches of the two.

    python -m tools.riviera_gain --players 2 --simulations 1500 --games 100 --seed 1

The policy plays games against the rule-based player. At a random part of its choices the search
chooses too; where it prefers another move, both are carried out and played on to the end of the
game by the policy against the rule-based player, many times with the same luck. What that brings,
times the number of choices in a game, is what the search gains a game, to first order: one choice
at a time is changed. It is told by the phase of the choice too.
"""

import random
from collections import defaultdict
from statistics import fmean, stdev
from typing import Annotated

import typer

from aleator.ext.games.riviera import Riviera
from aleator.ext.games.riviera_weights import POLICIES
from aleator.search import Engine, Limits, Position

REPEATS = 300  # of both moves, where they differ


def measure(players: int, simulations: int, games: int, part: float, seed: int) -> None:
    """Play games, and print what the search gains by phase and in all."""
    luck = random.Random(seed)
    engine = Engine()
    limits = Limits(simulations=simulations)
    policies = [POLICIES[2 if players == 2 else 4], *[None] * (players - 1)]
    choices = 0
    gains: dict[str, list[float]] = defaultdict(list)
    for _ in range(games):
        position = Position.create("riviera", {"players": players}, seed=luck.getrandbits(60))
        rules = position.codec.rules
        assert isinstance(rules, Riviera)
        while not position.finished:
            moves = {}
            for seat in position.seats_to_act:
                legal = position.moves(seat)
                if seat:
                    moves[seat] = position.move(rules.choose_by_rules(position.state, seat), seat)
                    continue
                priors = rules.move_priors(position.state, seat)
                moves[seat] = legal[max(range(len(legal)), key=priors.__getitem__)]
                choices += len(legal) > 1
                if len(legal) == 1 or luck.random() > part:
                    continue
                number = luck.getrandbits(60)
                found = engine.suggest(position.observe(seat), seat, limits, seed=number)
                worth = [0.0, 0.0]
                if found.best_move != moves[seat]:
                    for index, move in enumerate((moves[seat], found.best_move)):
                        after = rules.apply_move(position.state, seat, move.code)
                        ends = rules.run_policies(policies, REPEATS, number, after)
                        worth[index] = fmean(shares[seat] for shares, _ in ends)
                phase = rules.unpack(position.state)["phase"]
                gains[phase].append(worth[1] - worth[0])
            position, _ = position.apply(moves, seed=luck.getrandbits(60))
    everything = [gain for given in gains.values() for gain in given]
    each = choices / games
    print(f"{len(everything)} choices looked at, {each:.1f} in a game")
    for phase, given in [*gains.items(), ("all", everything)]:
        # In a game, with half the 95% interval.
        often = each * len(given) / len(everything)
        half = often * 1.96 * stdev(given) / len(given) ** 0.5 if len(given) > 1 else float("nan")
        changed = sum(gain != 0 for gain in given)
        print(f"{phase:8} {changed:5} of {len(given):5} {often * fmean(given):+.4f} +- {half:.4f}")


def main(
    players: Annotated[int, typer.Option(min=2, max=6)] = 2,
    simulations: Annotated[int, typer.Option()] = 1500,
    games: Annotated[int, typer.Option()] = 100,
    part: Annotated[float, typer.Option(help="Of the choices that are looked at.")] = 0.35,
    seed: Annotated[int, typer.Option()] = 1,
) -> None:
    """Measure what the search gains over the policy."""
    measure(players, simulations, games, part, seed)


if __name__ == "__main__":
    typer.run(main)
