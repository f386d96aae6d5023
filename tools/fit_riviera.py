"""Fits the weights of Riviera's policy by self-play, and writes them where the game reads them.

    python tools/fit_riviera.py --seats 2 --iterations 2 --games 4500 --seed 21
    python tools/fit_riviera.py --seats 4 --iterations 1 --games 1800 --seed 41

First the weights of what dice bring by luck are fitted (least variance of estimates without it).
Then, in each iteration, the win shares of scores between rounds: for two seats a table, by value
iteration over rounds that the policy plays from every pair of scores; for more seats their
parameters, once, by maximum likelihood of how games ended. Then it plays games, and at a part of
the choices carries out each move several times, with the same luck for all, the policy playing on
to the end of the round. What a move brought against the mean of the moves is fitted by the terms of
`riviera_evaluation`: of Stop or More and of plays by a small neural network (Adam, from that of the
iteration before), of the rest by least squares; choices that are nearly even count more, and those
of the iterations before are kept. A tenth of all moves is random, so that states that the policy
avoids are known too. At the end of an iteration the policy meets the last one and the rule-based
player. Games of more than two seats use the weights of four.
"""

import json
import random
from itertools import pairwise
from pathlib import Path
from statistics import fmean, stdev
from typing import Annotated

import numpy as np
import typer
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from aleator.ext.games import riviera_weights
from aleator.ext.games.riviera import Riviera

WEIGHTS = Path(__file__).parent.parent / "ext/games/riviera_weights.json"
SCORES = (
    "distance", "distance_squared", "last_ten", "chance", "chance_distance", "leader",
    "leader_squared",
)  # fmt: skip
REACH = 40  # stars to the target in the table for two seats
ROUNDS = 120  # of each of its entries
WIDTH = 1.2  # stars over which it is smoothed
SWAPPED = [0, 2, 1, 3]  # masks of seats as the other seat has them
LUCK = ("luck_stars", "luck_fail", "luck_slope")
LUCK_PART = 0.05  # of states
LUCK_REPEATS = 20
# By number of terms.
KINDS = {42: "more", 50: "play", 5: "save", 9: "turn", 19: "exchange", 2: "golden"}
MOST_TERMS = 50
UNITS = 32
PART = 0.8  # of choices that are looked at
RANDOM = 0.1  # of moves
REPEATS = 3  # of each move
MOST_MOVES = 8  # that are tried of a choice
BATCH = 256  # choices
# Of each network, epochs and learning rate; noise easily spoils a good one of plays.
LEARNING = {"more": (8, 2e-3), "play": (4, 4e-4)}
KEPT_BACK = 0.15
TINY = 1e-6
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
    start = [policy["strength"][name] for name in SCORES]
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


def fit_table(policy, rounds, seed):
    """The table of the first of two seats' win shares, by value iteration over sampled rounds.

    Seats are alike, so that half of the table is sampled. Neighbours are smoothed together.
    """
    rules = Riviera(players=2)
    won = np.zeros((4, REACH, REACH))  # by used Last Chances and scores: in the round itself
    rows, columns, counts = [], [], []
    sampled = np.zeros((4, REACH, REACH), bool)
    for used, first, second in np.ndindex(won.shape):
        if (second, SWAPPED[used]) < (first, used):
            continue
        place = np.ravel_multi_index((used, first, second), won.shape)
        sampled[used, first, second] = True
        ends = rules.play_rounds(policy, (first, second), used, rounds, seed + int(place))
        for (end, then), count in ends.items():
            if then is None:
                won[used, first, second] += end[0] * count / rounds
            else:
                rows.append(place)
                columns.append(np.ravel_multi_index((then, *end), won.shape))
                counts.append(count / rounds)
    passed = csr_matrix((counts, (rows, columns)), shape=(won.size, won.size))
    shares = np.full(won.shape, 0.5)
    change = 1.0
    while change > TINY:
        after = won + (passed @ shares.ravel()).reshape(won.shape)
        after = np.where(sampled, after, 1 - after[SWAPPED].transpose(0, 2, 1))
        change = np.abs(after - shares).max()
        shares = after
    shares = smooth(shares)
    # The game asks for it by unused Last Chances and by the stars, less one, still needed.
    return shares[::-1, ::-1, ::-1].tolist()


def smooth(shares):
    """Fit a plane to the neighbours of each score pair, near ones weighing more; then mirror."""
    scores = np.arange(REACH)
    result = np.empty_like(shares)
    for first, second in np.ndindex(REACH, REACH):
        by_first, by_second = scores - first, scores - second
        near = np.exp(-0.5 * (by_first[:, None] ** 2 + by_second**2) / WIDTH**2).ravel()
        kept = near > TINY
        plane = np.stack(
            [
                np.ones(kept.sum()),
                np.repeat(by_first, REACH)[kept],
                np.tile(by_second, REACH)[kept],
            ],
            axis=1,
        )
        root = near[kept, None] ** 0.5
        heights = shares.reshape(4, -1)[:, kept].T
        result[:, first, second] = np.linalg.lstsq(plane * root, heights * root, rcond=None)[0][0]
    result = np.clip(result, 0, 1)
    return (result + 1 - result[SWAPPED].transpose(0, 2, 1)) / 2


def fit_luck(policy, seats, games, seed):
    """The weights of luck that leave the least variance to estimates of one position.

    As luck is linear in its weights, playouts of the same seeds tell what each of them takes out.
    """
    luck = random.Random(seed)
    rules = Riviera(players=seats)
    states = []
    for _ in range(games):
        state = rules.new_game(luck.getrandbits(63))
        while not rules.finished(state):
            if luck.random() < LUCK_PART:
                states.append(rules.unpack(state))
            for seat in rules.seats_to_act(state):
                moves = rules.legal_moves(state, seat)
                priors = rules.move_priors(state, seat)
                best = moves[max(range(len(moves)), key=priors.__getitem__)]
                state = rules.apply_move(state, seat, best)
            state = rules.advance(state, luck.getrandbits(63))
    estimates = []
    for name in (None, *LUCK):
        policy.update({other: float(other == name) for other in LUCK})
        given = Riviera(players=seats)
        estimates.append(
            [
                [given.evaluate_state(given.pack(state), n)[0][0] for n in range(LUCK_REPEATS)]
                for state in states
            ]
        )
    plain, *others = (np.array(part) for part in estimates)
    parts = [(plain - part - (plain - part).mean(1, keepdims=True)).ravel() for part in others]
    plain = (plain - plain.mean(1, keepdims=True)).ravel()
    weights = np.linalg.lstsq(np.stack(parts, 1), plain, rcond=None)[0]
    rest = plain - np.stack(parts, 1) @ weights
    print(f"  luck: variance {plain.var():.4f}, without it {rest.var():.4f}", flush=True)
    return dict(zip(LUCK, weights.tolist(), strict=True))


def collect(seats, games, seed):
    """Choices by kind: (terms, win share) of moves tried."""
    rules = Riviera(players=seats)
    luck = random.Random(seed)
    choices = {"more": [], "play": [], "save": [], "turn": [], "exchange": [], "golden": []}
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
    kind = KINDS.get(len(terms[0]))
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
    return kind, (
        np.array([terms[number] for number in numbers], np.float32),
        np.array(shares, np.float32),
    )


class Choices:
    """Choices of one kind: the terms and win shares of all moves, one choice after the other."""

    def __init__(self, choices):
        self.terms = np.vstack([terms for terms, _ in choices])
        self.shares = np.concatenate([shares for _, shares in choices])
        self.sizes = np.array([len(shares) for _, shares in choices])
        self.starts = np.concatenate([[0], np.cumsum(self.sizes)])

    def centred(self, values, first=0, end=None):
        """Values of the moves of some choices, less the mean of each choice."""
        sizes = self.sizes[first:end]
        starts = self.starts[:-1][first:end] - self.starts[first]
        means = np.add.reduceat(values, starts, axis=0) / (
            sizes if values.ndim == 1 else sizes[:, None]
        )
        return values - np.repeat(means, sizes, axis=0)

    def gain(self, values, first, end):
        """What the moves of the highest values bring above the mean of each choice's moves."""
        rows = slice(self.starts[first], self.starts[end])
        shares = self.centred(self.shares[rows], first, end)
        starts = self.starts[first : end + 1] - self.starts[first]
        return fmean(
            float(shares[low + np.argmax(values[low:high])]) for low, high in pairwise(starts)
        )


def fit_terms(choices, count):
    """Least squares on differences from the mean of a choice's moves; twice, by evenness."""
    terms = [given - given.mean(axis=0) for given, _ in choices]
    shares = [given - given.mean() for _, given in choices]
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
    gain = fmean(
        float(own[np.argmax(given @ weights)]) for given, own in zip(terms, shares, strict=True)
    )
    print(f"    {len(choices)} choices, {gain:.4f} better than a random one")
    return weights.tolist()


def run_network(network, terms):
    """The values of rows of terms, as `ask` of the evaluation has them, and the units."""
    count = terms.shape[1]
    units = np.maximum(0, terms @ network["inner"][:count])
    return terms @ network["direct"][:count] + units @ network["outer"], units


def fit_network(choices, before, epochs, learning_rate, seed):
    """Fit a network to differences from the mean of a choice's moves, by Adam.

    Choices that the policy before thinks nearly even count more. A part is kept back, on which
    the policies are compared.
    """
    random_state = np.random.default_rng(seed)
    choices = Choices([choices[i] for i in random_state.permutation(len(choices))])
    count = choices.terms.shape[1]
    old, _ = run_network({name: np.array(value) for name, value in before.items()}, choices.terms)
    scale = np.empty(len(choices.sizes), np.float32)
    for i, (low, high) in enumerate(pairwise(choices.starts)):
        first, second = np.sort(old[low:high])[[-1, -2]]
        scale[i] = EVEN / (EVEN + first - second)
    # Terms of like size for the fit; their means and sizes are put into the weights at the end.
    # A move whose terms are all 0, as to stop, is worth 0 with and without that.
    centre = choices.terms[choices.terms[:, 0] > 0].mean(axis=0)
    size = choices.terms[choices.terms[:, 0] > 0].std(axis=0)
    centre[size < TINY] = 0
    centre[0] = 0
    size[size < TINY] = 1
    terms = (choices.terms - centre * choices.terms[:, :1]) / size
    # It starts as the network before, in these sizes; units without weight anew.
    network = {name: np.array(before[name], np.float32) for name in ("inner", "outer", "direct")}
    for name in ("inner", "direct"):
        network[name] = network[name][:count]
        network[name][0] += centre @ network[name]
        network[name] = (network[name].T * size).T.astype(np.float32)
    new = np.abs(network["outer"]) < TINY
    network["inner"][:, new] = random_state.normal(0, (1 / count) ** 0.5, (count, new.sum()))
    means = {name: np.zeros_like(value) for name, value in network.items()}
    squares = {name: np.zeros_like(value) for name, value in network.items()}
    kept = round(KEPT_BACK * len(choices.sizes))
    batches = np.arange(kept, len(choices.sizes) - BATCH, BATCH)
    steps = epochs * len(batches)
    step = 0
    for _ in range(epochs):
        for first in random_state.permutation(batches):
            step += 1
            end = first + BATCH
            rows = slice(choices.starts[first], choices.starts[end])
            given = terms[rows]
            values, units = run_network(network, given)
            error = choices.centred(values, first, end) - choices.centred(
                choices.shares[rows], first, end
            )
            error *= np.repeat(scale[first:end], choices.sizes[first:end]) / len(error)
            error = choices.centred(error, first, end)
            inner = np.outer(error, network["outer"]) * (units > 0)
            slopes = {
                "inner": given.T @ inner,
                "outer": units.T @ error,
                "direct": given.T @ error,
            }
            rate = learning_rate * 0.5 * (1 + np.cos(np.pi * step / steps))
            for name, slope in slopes.items():
                means[name] += 0.1 * (slope - means[name])
                squares[name] += 0.001 * (slope**2 - squares[name])
                network[name] -= (
                    rate
                    * (means[name] / (1 - 0.9**step))
                    / (np.sqrt(squares[name] / (1 - 0.999**step)) + 1e-9)
                )
    held = slice(0, choices.starts[kept])
    values, _ = run_network(network, terms[held])
    print(
        f"    {len(choices.sizes)} choices; of those kept back a random move is worse by "
        f"{choices.gain(values, 0, kept):.5f}, the policy before by "
        f"{choices.gain(values, 0, kept) - choices.gain(old[held], 0, kept):.5f}"
    )
    for name in ("inner", "direct"):
        network[name] = (network[name].T / size).T
        network[name][0] -= centre @ network[name]
    padding = MOST_TERMS - count
    network["inner"] = np.pad(network["inner"], ((0, padding), (0, 0)))
    network["direct"] = np.pad(network["direct"], (0, padding))
    return {name: value.tolist() for name, value in network.items()}


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


def rounded(value):
    """Five digits, in lists and networks too."""
    if isinstance(value, dict):
        return {name: rounded(part) for name, part in value.items()}
    return [rounded(part) for part in value] if isinstance(value, list) else float(f"{value:.5g}")


def write(policies):
    """Put the policies where the game reads them, a line for each part."""
    texts = []
    for seats, policy in policies.items():
        parts = (f"{json.dumps(name)}: {json.dumps(value)}" for name, value in policy.items())
        texts.append(f'"{seats}": {{\n' + ",\n".join(parts) + "\n}")
    WEIGHTS.write_text("{\n" + ",\n".join(texts) + "\n}\n")


def fit(
    seats: Annotated[int, typer.Option(help="2 or 4.")] = 2,
    iterations: Annotated[int, typer.Option()] = 4,
    games: Annotated[int, typer.Option(help="Of each iteration.")] = 3000,
    seed: Annotated[int, typer.Option()] = 1,
) -> None:
    """Fit the policy for a number of seats and write it."""
    policy = riviera_weights.POLICIES[seats]  # the game reads this very dict
    policy.update(rounded(fit_luck(policy, seats, games // 20, seed)))
    choices = {}
    for iteration in range(iterations):
        if seats == 2:
            policy["shares"] = rounded(fit_table(policy, ROUNDS, seed + iteration))
        elif iteration == 0:
            policy["strength"] = rounded(fit_scores(policy, seats, 8 * games, seed))
        before = dict(policy)
        for kind, new in collect(seats, games, seed + iteration).items():
            print(f"  {kind}")
            choices[kind] = choices.get(kind, []) + new
            if isinstance(policy[kind], dict):
                fitted = fit_network(choices[kind], policy[kind], *LEARNING[kind], seed + iteration)
            else:
                fitted = fit_terms(choices[kind], len(policy[kind]))
            policy[kind] = rounded(fitted)
        write(riviera_weights.POLICIES)
        for name, other in (("the last one", before), ("the rule-based player", None)):
            share, half = meet(policy, other, seats, 40_000, seed)
            print(f"{iteration}: against {name} {share:.4f} +- {half:.4f}", flush=True)


if __name__ == "__main__":
    typer.run(fit)
