"""How strong players are, from the results of games: Elo ratings, and a test that ends early.

Elo is the strength in the model of Bradley and Terry, and for more than two seats of Luce: a seat
wins with a chance in proportion to 10^(Elo / 400). Of every game each seat's share of the win is
counted against each other seat; for the model this takes nothing away (H. Azari Soufiani et al.,
"Computing parametric ranking models via rank-breaking", ICML (2014)). `choix` finds the ratings.

Games of one set depend on each other, so the intervals come from how sets differ, not games: the
sandwich estimator with sets as clusters (K.-Y. Liang, S. Zeger, Biometrika 73 (1986)). As if they
had tied one set more, two players who have met never have ratings without bound.

The test is Wald's sequential probability ratio test in its generalized form, with the variance of
sets as measured so far: X. Li, J. Liu, Z. Ying, Sequential Analysis 33 (2014), in the normal
approximation that Stockfish's Fishtest uses.

Limits: strength in two games against the same opponent need not be one number, as the model has
it; ratings say most about players who are near each other and have met.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import choix
import numpy as np
from numpy.typing import NDArray
from scipy import stats

from aleator.search.errors import InvalidInput, Violation

CONFIDENCE = 0.95
ELO = 400 / math.log(10)
"""Elo points by which the odds grow e-fold."""
ERROR_RATE = 0.05
"""How often a sequential test may decide for the wrong side."""
FEWEST_SETS = 5
"""Sets before a sequential test may end, so that their variance is known roughly."""

Counts = NDArray[np.float64]
"""How much each player (row) won against each other one (column)."""


@dataclass(frozen=True, slots=True)
class Rating:
    """The strength of one player relative to another.

    Attributes
    ----------
    elo : float
    interval : (float, float)
        Its 95% confidence interval.
    """

    elo: float
    interval: tuple[float, float]


def rate(sets: Sequence[Counts], anchor: int) -> list[Rating]:
    """Rate players by the games that they played against each other.

    Parameters
    ----------
    sets : sequence of arrays
        For each set of games how much each player won against each other one. All players are
        connected by who met whom.
    anchor : int
        The player whose rating is 0.
    """
    results = np.stack(sets)
    meetings = results + results.swapaxes(1, 2)
    # As many games as a set has, between two players.
    size = meetings.sum(axis=0) / np.maximum(1, np.count_nonzero(meetings, axis=0))
    counts = np.concatenate([results, _ties(size)])
    strengths = choix.ilsr_pairwise_dense(counts.sum(axis=0), max_iter=10_000)
    chance = 1 / (1 + np.exp(strengths[None, :] - strengths[:, None]))  # row beats column
    meetings = counts + counts.swapaxes(1, 2)
    # The derivatives of the logarithm of each set's likelihood, and those of their sum.
    gradients = (counts - meetings * chance).sum(axis=2)
    weights = meetings.sum(axis=0) * chance * chance.T
    slope = np.diag(weights.sum(axis=1)) - weights
    others = [player for player in range(len(strengths)) if player != anchor]
    inverse = np.linalg.inv(slope[np.ix_(others, others)])
    spread = gradients[:, others].T @ gradients[:, others]
    errors = np.zeros(len(strengths))
    errors[others] = np.sqrt(np.diag(inverse @ spread @ inverse))
    reach = stats.t.ppf((1 + CONFIDENCE) / 2, max(1, len(sets) - 1)) * errors
    relative = strengths - strengths[anchor]
    return [
        Rating(float(ELO * middle), (float(ELO * (middle - half)), float(ELO * (middle + half))))
        for middle, half in zip(relative, reach, strict=True)
    ]


def _ties(size: Counts) -> Counts:
    """A set for each two players who have met, in which they won as much."""
    pairs = np.argwhere(np.triu(size) > 0)
    ties = np.zeros((len(pairs), *size.shape))
    for tie, (first, second) in zip(ties, pairs, strict=True):
        tie[first, second] = tie[second, first] = size[first, second] / 2
    return ties


def expected_share(elo: float, seats: int) -> float:
    """The share of the win of one seat, so many points stronger than each of the others."""
    return 1 / (1 + (seats - 1) * math.exp(-elo / ELO))


@dataclass(frozen=True, slots=True)
class SequentialTest:
    """Whether a player is stronger than others by `elo0` at most or by `elo1` at least.

    Attributes
    ----------
    elo0, elo1 : float
        The first below the second.
    seats : int
        One of the player, the rest of the others.

    Raises
    ------
    InvalidInput
        With the path ``elo1``.
    """

    elo0: float
    elo1: float
    seats: int

    def __post_init__(self) -> None:
        if not (math.isfinite(self.elo0) and math.isfinite(self.elo1) and self.elo0 < self.elo1):
            raise InvalidInput(
                [Violation("elo1", f"must be above elo0, {self.elo0:g}, not {self.elo1:g}")]
            )

    @property
    def bound(self) -> float:
        """The log-likelihood ratio that decides, with either sign."""
        return math.log((1 - ERROR_RATE) / ERROR_RATE)

    def ratio(self, shares: Sequence[float]) -> float:
        """The log-likelihood ratio of `elo1` over `elo0`, from the player's shares by set."""
        if len(shares) < FEWEST_SETS:
            return 0.0
        low, high = (expected_share(elo, self.seats) for elo in (self.elo0, self.elo1))
        # As if one set more had been all the player's or all the others': sets that came out alike
        # so far prove no certainty.
        variance = (len(shares) * float(np.var(shares)) + 1 / 4) / len(shares)
        return (high - low) * (2 * sum(shares) - len(shares) * (low + high)) / (2 * variance)

    def decide(self, shares: Sequence[float]) -> float | None:
        """The one of `elo0` and `elo1` that the shares decide for; None if they do not yet."""
        ratio = self.ratio(shares)
        if abs(ratio) < self.bound:
            return None
        return self.elo1 if ratio > 0 else self.elo0
