"""How a match came out: for each bot, and for a sequential test."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np
from scipy import stats

from aleator.search.match.games import GameSet, Match
from aleator.search.ratings import CONFIDENCE, Counts, Rating, SequentialTest, rate


@dataclass(frozen=True, slots=True)
class BotResult:
    """How a match came out for one bot.

    Attributes
    ----------
    bot : str
        Its specification.
    games : int
        Games that it played; one in which it had several seats counts for each.
    wins, ties, losses : int
        Of them, those that it won alone, shared, and lost.
    win_share : float
        Its mean share of the win, 0..1.
    interval : (float, float)
        The 95% confidence interval of that.
    score : float
        Its mean final score.
    elo : Rating
        Its strength relative to the last bot.
    set_shares : tuple of float
        Its share of the win by set.
    """

    bot: str
    games: int
    wins: int
    ties: int
    losses: int
    win_share: float
    interval: tuple[float, float]
    score: float
    elo: Rating
    set_shares: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class TestResult:
    """What a sequential test found.

    Attributes
    ----------
    elo0, elo1 : float
        What was tested.
    ratio, bound : float
        The log-likelihood ratio of `elo1` over `elo0`, and how far from 0 it decides.
    accepted : float or None
        Which of the two was decided for, if any.
    """

    elo0: float
    elo1: float
    ratio: float
    bound: float
    accepted: float | None


@dataclass(frozen=True, slots=True)
class MatchResult:
    """How a match came out.

    Attributes
    ----------
    game : str
    options : dict
        None left out.
    seed : int
        Gives the same match again, if no bot is limited by time.
    pairs, games : int
        Sets of games with the same luck, and games in all of them.
    even_share : float
        What equal bots would get: one seat's part.
    bots : tuple of BotResult
        As they were named.
    test : TestResult or None
    partial : bool
        Whether the match was stopped before its end.
    """

    game: str
    options: dict[str, Any]
    seed: int
    pairs: int
    games: int
    even_share: float
    bots: tuple[BotResult, ...]
    test: TestResult | None
    partial: bool

    @property
    def win_share(self) -> float:
        """The first bot's mean share of the win."""
        return self.bots[0].win_share

    @property
    def interval(self) -> tuple[float, float]:
        """Its 95% confidence interval."""
        return self.bots[0].interval


def mean_interval(shares: Sequence[float]) -> tuple[float, float]:
    """The 95% confidence interval of the mean of independent shares, each 0..1."""
    count = len(shares)
    mean = fmean(shares)
    if min(shares) == max(shares):
        # No spread to measure. So many of the sets to come may still differ, by the exact
        # binomial bound, and those may give all or nothing.
        others = stats.binomtest(0, count).proportion_ci(CONFIDENCE).high
        return mean * (1 - others), mean + (1 - mean) * others
    low, high = stats.t.interval(CONFIDENCE, count - 1, loc=mean, scale=stats.sem(shares))
    return max(0.0, float(low)), min(1.0, float(high))


def share_of(bot: int, games: GameSet) -> float:
    """A bot's mean share of the win in a set."""
    return fmean(share for share, _ in _seats_of(bot, games))


def _seats_of(bot: int, games: GameSet) -> list[tuple[float, float]]:
    """The share of the win and the score of each seat that a bot had in a set."""
    return [
        (share, score)
        for game in games
        for sitting, share, score in zip(game.bots, game.win_shares, game.scores, strict=True)
        if sitting == bot
    ]


def count_wins(bots: int, games: GameSet) -> Counts:
    """How much each bot won against each other one in a set."""
    counts = np.zeros((bots, bots))
    for game in games:
        for winner, share in zip(game.bots, game.win_shares, strict=True):
            for other in game.bots:
                if other != winner:
                    counts[winner, other] += share
    return counts


def sum_up(
    match: Match,
    specs: Sequence[str],
    sets: Sequence[GameSet],
    test: SequentialTest | None,
    *,
    partial: bool,
) -> MatchResult:
    """Sum up the sets of a match."""
    elos = rate([count_wins(match.bots, games) for games in sets], match.bots - 1)
    bots = []
    for bot, (spec, elo) in enumerate(zip(specs, elos, strict=True)):
        shares = tuple(share_of(bot, games) for games in sets)
        seats = [seat for games in sets for seat in _seats_of(bot, games)]
        wins = sum(share == 1 for share, _ in seats)
        losses = sum(share == 0 for share, _ in seats)
        bots.append(
            BotResult(
                bot=spec,
                games=len(seats),
                wins=wins,
                ties=len(seats) - wins - losses,
                losses=losses,
                win_share=fmean(shares),
                interval=mean_interval(shares),
                score=fmean(score for _, score in seats),
                elo=elo,
                set_shares=shares,
            )
        )
    return MatchResult(
        game=match.game,
        options=match.options,
        seed=match.seed,
        pairs=len(sets),
        games=sum(map(len, sets)),
        even_share=1 / len(sets[0][0].bots),
        bots=tuple(bots),
        test=None if test is None else _test_result(test, bots[0].set_shares),
        partial=partial,
    )


def _test_result(test: SequentialTest, shares: Sequence[float]) -> TestResult:
    return TestResult(
        elo0=test.elo0,
        elo1=test.elo1,
        ratio=test.ratio(shares),
        bound=test.bound,
        accepted=test.decide(shares),
    )
