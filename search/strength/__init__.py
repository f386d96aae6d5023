"""How strong to play, as a level or on a game's Elo scale.

A level limits the number of simulations and lets the engine choose among moves that it thinks
nearly as good, so that a weak level plays plausible moves instead of good ones with blunders strewn
in. What a game knows of good moves would make even a few simulations play well; so weak levels
spread theirs over more moves.

How strong the levels are differs by game. ``aleator calibrate`` measures it and writes the files
here, one a game; an Elo in between two levels is played with settings in between.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import accumulate
from typing import Any

from pydantic import BaseModel, ConfigDict

from aleator.search.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Level:
    """What a strength means to the engine.

    Attributes
    ----------
    simulations : int or None
        The most simulations of a search; None for no limit but the caller's.
    margin : float
        The win share within which moves count as near-equal.
    breadth : int
        How many moves are tried at least, whatever the game knows of them; 0 for what suits it.
    """

    simulations: int | None
    margin: float
    breadth: int = 0

    @property
    def tuning(self) -> dict[str, float]:
        """The parameters of the search that differ from the game's."""
        return {"widening_base": self.breadth, "prior_visits": 0} if self.breadth else {}


# By level, from 1: twice the simulations from one to the next.
LEVELS = (
    Level(20, 0.4, 60),
    Level(40, 0.3, 18),
    Level(80, 0.2, 15),
    Level(160, 0.12, 12),
    Level(320, 0.07, 10),
    Level(640, 0.04),
    Level(1_250, 0.02),
    Level(2_500, 0.01),
    Level(5_000, 0.004),
    Level(None, 0.0),
)


class _Data(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RatedLevel(_Data):
    """The measured strength of a level.

    Attributes
    ----------
    simulations : int
        Those of a search; what level 10 was measured with is a choice.
    margin : float
    breadth : int
    elo : float
    interval : (float, float)
        Its 95% confidence interval.
    """

    simulations: int
    margin: float
    breadth: int
    elo: float
    interval: tuple[float, float]


class RatedPlayer(_Data):
    """The measured strength of a reference player, or of ``random``."""

    name: str
    elo: float
    interval: tuple[float, float]


class Pairing(_Data):
    """A match that the ratings come from.

    Attributes
    ----------
    bots : (str, str)
        Their specifications.
    games : int
    win_share : float
        Of the first bot.
    interval : (float, float)
        Its 95% confidence interval.
    """

    bots: tuple[str, str]
    games: int
    win_share: float
    interval: tuple[float, float]


class Calibration(_Data):
    """How strong the levels are in a game.

    Attributes
    ----------
    game : str
    options : dict
        None left out.
    seed : int
        Of all matches.
    anchor : str
        The player whose Elo is `ANCHOR_ELO`.
    levels : tuple of RatedLevel
        From 1.
    players : tuple of RatedPlayer
    pairings : tuple of Pairing
    """

    game: str
    options: dict[str, Any]
    seed: int
    anchor: str
    levels: tuple[RatedLevel, ...]
    players: tuple[RatedPlayer, ...]
    pairings: tuple[Pairing, ...]

    @property
    def elos(self) -> list[float]:
        """The Elo of each level; where a higher one came out lower by chance, that of the lower."""
        return list(accumulate((level.elo for level in self.levels), max))


ANCHOR_ELO = 1000


@cache
def calibration(game: str) -> Calibration | None:
    """The measured strength of the levels in a game; None if nobody measured it."""
    file = files(__name__) / f"{game}.json"
    return Calibration.model_validate_json(file.read_text()) if file.is_file() else None


def elo_range(game: str) -> tuple[int, int] | None:
    """The lowest and highest Elo that can be asked for; None if nobody measured it."""
    measured = calibration(game)
    if measured is None:
        return None
    return math.ceil(measured.elos[0]), math.floor(measured.elos[-1])


@dataclass(frozen=True, slots=True)
class Strength:
    """How strong to play; everything within the limits by default.

    Attributes
    ----------
    level : int or None
        1..10, from a beginner to everything.
    elo : float or None
        On the scale of the game.

    Raises
    ------
    InvalidInput
        With the paths ``level`` and ``elo``.
    """

    level: int | None = None
    elo: float | None = None

    def __post_init__(self) -> None:
        if self.level is not None and not 1 <= self.level <= len(LEVELS):
            raise InvalidInput.at("level", f"must be 1..{len(LEVELS)}, not {self.level}")
        if self.level is not None and self.elo is not None:
            raise InvalidInput.at("elo", "must not be given beside a level")

    def settings(self, game: str) -> Level:
        """What it means in a game.

        Raises
        ------
        InvalidInput
            With the path ``elo`` if it is out of the game's range.
        """
        if self.elo is not None:
            return _settings_between(game, self.elo)
        return LEVELS[-1 if self.level is None else self.level - 1]


def _settings_between(game: str, elo: float) -> Level:
    measured = calibration(game)
    span = elo_range(game)
    if measured is None or span is None:
        raise InvalidInput.at("elo", f"is not known in {game}: give a level")
    if not span[0] <= elo <= span[1]:
        raise InvalidInput.at("elo", f"must be {span[0]}..{span[1]} in {game}, not {elo:g}")
    elos = measured.elos
    return Level(
        # Strength grows about as the logarithm of the simulations.
        simulations=round(
            math.exp(
                _between(elo, elos, [math.log(level.simulations) for level in measured.levels])
            )
        ),
        margin=_between(elo, elos, [level.margin for level in measured.levels]),
        breadth=round(_between(elo, elos, [level.breadth for level in measured.levels])),
    )


def _between(x: float, xs: Sequence[float], ys: Sequence[float]) -> float:
    """The line through points, whose ascending `xs` have `x` among or between them."""
    above = next(index for index, known in enumerate(xs) if known >= x)
    if above == 0:
        return ys[0]
    part = (x - xs[above - 1]) / (xs[above] - xs[above - 1])
    return ys[above - 1] + part * (ys[above] - ys[above - 1])
