"""Fits the weights of Riviera's policy by self-play, and writes them where the game reads them.

    python tools/fit_riviera.py --seats 2 --iterations 4 --games 3000 --seed 1
    python tools/fit_riviera.py --seats 4 --iterations 4 --games 1500 --seed 1

Each iteration has the policy of the last one play. From the scores at the ends of rounds it fits
the win shares of scores (maximum likelihood). Then it plays games again, and at a part of the
choices carries out each move several times, with the same luck for all, the policy playing on to
the end of the round: what a move brought against the mean of the moves is fitted by the terms of
`riviera_evaluation` (least squares, choices that are nearly even counting more). A tenth of all
moves is random, so that states that the policy avoids are known too. At the end of an iteration
the policy meets the last one and the rule-based player. Games of more than two seats use the
weights of four.
"""

import json
import random
from pathlib import Path
from statistics import fmean, stdev
from typing import Annotated

import numpy as np
import typer
from scipy.optimize import minimize

from aleator.ext.games import riviera_weights
from aleator.ext.games.riviera import Riviera

WEIGHTS = Path(__file__).parent.parent / "ext/games/riviera_weights.py"
SCORES = (
    "distance", "distance_squared", "last_ten", "chance", "chance_distance", "leader",
    "leader_squared",
)  # fmt: skip
KINDS = {15: "more", 13: "play", 5: "save", 2: "golden"}  # by number of terms
EXCHANGE_TERMS = 13
PART = 0.4  # of choices that are looked at
RANDOM = 0.1  # of moves
REPEATS = 8  # of each move
MOST_MOVES = 8  # that are tried of a choice
LINE = 101  # characters, with the end of the line
EVEN = 0.03  # win share by which moves may differ to be nearly even


def fit_scores(policy, seats, games, seed):
    """The parameters of the win shares of scores, by maximum likelihood."""
    totals, chances, shares = [], [], []
    for won, rounds in Riviera(players=seats).run_policies([policy] * seats, games, seed):
        for scores, used in rounds:
            totals.append(scores)
            chances.append([~used >> seat & 1 for seat in range(seats)])
            shares.append(won)
    table = np.array(totals) / 10, np.array(chances), np.array(shares)
    start = [policy[name] for name in SCORES]
    fitted = minimize(cross_entropy, start, args=table, method="BFGS")
    return dict(zip(SCORES, fitted.x.tolist(), strict=True))


def cross_entropy(values, totals, chances, shares):
    """The mean of -log(predicted share), as `share_win` of the evaluation predicts it."""
    distance = 4 - totals
    lead = distance.min(axis=1, keepdims=True) - 2
    logits = (
        values[0] * distance + values[1] * distance**2 + values[2] * np.maximum(0, 1 - distance)
    )
    logits += chances * np.maximum(0, values[3] + values[4] * distance)
    logits *= 1 + values[5] * lead + values[6] * lead**2
    logits -= logits.max(axis=1, keepdims=True)
    logits -= np.log(np.exp(logits).sum(axis=1, keepdims=True))
    return -(shares * logits).sum() / len(shares)


def collect(seats, games, seed):
    """Choices by kind: (terms, win share) of moves tried."""
    rules = Riviera(players=seats)
    luck = random.Random(seed)
    choices = {"more": [], "save": [], "play": [], "turn": [], "exchange": [], "golden": []}
    for _ in range(games):
        state = rules.new_game(luck.getrandbits(63))
        while not rules.finished(state):
            chosen = {}
            for seat in rules.seats_to_act(state):
                moves = rules.legal_moves(state, seat)
                priors = rules.move_priors(state, seat)
                chosen[seat] = moves[max(range(len(moves)), key=priors.__getitem__)]
                if len(moves) > 1 and luck.random() < PART:
                    kind, tried = try_moves(rules, state, seat, moves, luck)
                    if kind:
                        choices[kind].append(tried)
                if luck.random() < RANDOM:
                    chosen[seat] = luck.choice(moves)
            for seat, move in chosen.items():
                state = rules.apply_move(state, seat, move)
            state = rules.advance(state, luck.getrandbits(63))
    return choices


def try_moves(rules, state, seat, moves, luck):
    """The kind of a choice, and of its moves, or some of them, the terms and the win share."""
    terms = rules.policy_terms(state, seat)
    phase = rules.unpack(state)["phase"]
    kind = KINDS.get(len(terms[0]))
    if phase == "nines":
        kind = "turn"
    elif phase == "powers" and len(terms[0]) == EXCHANGE_TERMS:
        kind = "exchange"
    if kind is None:
        return None, None
    numbers = list(range(len(moves)))
    if len(moves) > MOST_MOVES:
        numbers = [0, *luck.sample(numbers[1:], MOST_MOVES - 1)]
    seeds = [luck.getrandbits(63) for _ in range(REPEATS)]
    shares = []
    for number in numbers:
        after = rules.apply_move(state, seat, moves[number])
        shares.append(fmean(rules.evaluate_state(after, seed)[0][seat] for seed in seeds))
    return kind, ([terms[number] for number in numbers], shares)


def fit_terms(choices, count):
    """Least squares on differences from the mean of a choice's moves; twice, by evenness."""
    terms = [np.array(given) - np.mean(given, axis=0) for given, _ in choices]
    shares = [np.array(given) - np.mean(given) for _, given in choices]
    weights = np.zeros(count)
    for step in range(2):
        scale = np.ones(len(choices))
        if step:
            for number, own in enumerate(terms):
                first, second = np.sort(own @ weights)[[-1, -2]]
                scale[number] = (EVEN / (EVEN + first - second)) ** 0.5
        rows = np.vstack([own * by for own, by in zip(terms, scale, strict=True)])
        wanted = np.concatenate([own * by for own, by in zip(shares, scale, strict=True)])
        weights = np.linalg.lstsq(rows, wanted, rcond=1e-6)[0]
    gain = fmean(own[np.argmax(given @ weights)] for given, own in zip(terms, shares, strict=True))
    print(f"    {len(choices)} choices, {gain:.4f} better than a random one")
    return weights.tolist()


def meet(first, second, seats, games, seed):
    """The win share of one policy against others, and half its 95% interval."""
    rules = Riviera(players=seats)
    shares = [0.0] * games
    for seat in range(seats):
        weights = [second] * seats
        weights[seat] = first
        for game, (won, _) in enumerate(rules.run_policies(weights, games, seed)):
            shares[game] += won[seat] / seats
    return fmean(shares), 1.96 * stdev(shares) / games**0.5


def write(policies):
    """Put the policies into the module of weights, the rest of which stays."""
    text = WEIGHTS.read_text()
    begin = text.index("POLICIES = ")
    end = text.index("\n}\n", begin) + 3
    lines = ["POLICIES = {\n"]
    for seats, policy in policies.items():
        lines.append(f"    {seats}: {{\n")
        for name, value in policy.items():
            line = f"        {json.dumps(name)}: {json.dumps(value)},\n"
            if len(line) > LINE:
                parts = "".join(f"            {part},\n" for part in value)
                line = f"        {json.dumps(name)}: [\n{parts}        ],\n"
            lines.append(line)
        lines.append("    },\n")
    WEIGHTS.write_text(f"{text[:begin]}{''.join(lines)}}}\n{text[end:]}")


def rounded(value):
    """Four digits after the point, in lists too."""
    return [round(part, 4) for part in value] if isinstance(value, list) else round(value, 4)


def fit(
    seats: Annotated[int, typer.Option(help="2 or 4.")] = 2,
    iterations: Annotated[int, typer.Option()] = 4,
    games: Annotated[int, typer.Option(help="Of each iteration.")] = 3000,
    seed: Annotated[int, typer.Option()] = 1,
) -> None:
    """Fit the policy for a number of seats and write it."""
    policy = riviera_weights.POLICIES[seats]  # the game reads this very dict
    for iteration in range(iterations):
        before = dict(policy)
        policy.update(fit_scores(policy, seats, 8 * games, seed + iteration))
        for kind, choices in collect(seats, games, seed + iteration).items():
            print(f"  {kind}")
            policy[kind] = fit_terms(choices, len(policy[kind]))
        for name, value in policy.items():
            policy[name] = rounded(value)
        write(riviera_weights.POLICIES)
        for name, other in (("the last one", before), ("the rule-based player", None)):
            share, half = meet(policy, other, seats, 4000, seed)
            print(f"{iteration}: against {name} {share:.4f} +- {half:.4f}", flush=True)


if __name__ == "__main__":
    typer.run(fit)
