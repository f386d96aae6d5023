"""How long a search may take and how strong it may play.

Limits say what a search may use; a level says how well it should play. A level limits the number
of simulations and lets the engine choose among moves that it thinks nearly as good, so that a weak
level plays plausible moves instead of good ones with blunders strewn in.
"""

import math
import re
from dataclasses import dataclass

from pytimeparse2 import parse

from aleator.search.errors import InvalidInput, Violation, shorten

MAX_SIMULATIONS = 2**63 - 1
MAX_THREADS = 256
BARE_NUMBER = re.compile(r"[+-]?[\d.,]+")


@dataclass(frozen=True, slots=True)
class Limits:
    """What a search may use; whichever limit is reached first ends it.

    Attributes
    ----------
    time : float or None
        Seconds of wall-clock time, above 0.
    simulations : int or None
        At least 1, over all threads.
    threads : int
        1..256.

    Raises
    ------
    InvalidInput
        With the paths ``time``, ``simulations`` and ``threads``.
    """

    time: float | None = None
    simulations: int | None = None
    threads: int = 1

    def __post_init__(self) -> None:
        violations = []
        if self.time is not None and not (math.isfinite(self.time) and self.time > 0):
            violations.append(
                Violation("time", f"must be above 0 seconds, not {shorten(self.time)}")
            )
        if self.simulations is not None and not 1 <= self.simulations <= MAX_SIMULATIONS:
            violations.append(
                Violation("simulations", f"must be 1..2^63-1, not {shorten(self.simulations)}")
            )
        if not 1 <= self.threads <= MAX_THREADS:
            violations.append(
                Violation("threads", f"must be 1..{MAX_THREADS}, not {shorten(self.threads)}")
            )
        if violations:
            raise InvalidInput(violations)


@dataclass(frozen=True, slots=True)
class Level:
    """What a strength level means to the engine.

    Attributes
    ----------
    simulations : int or None
        The most simulations of a search; None for no limit but the caller's.
    margin : float
        The win share within which moves count as near-equal.
    """

    simulations: int | None
    margin: float


# By level, from 1.
LEVELS = (
    Level(150, 0.04),
    Level(300, 0.03),
    Level(600, 0.025),
    Level(1_200, 0.02),
    Level(2_400, 0.015),
    Level(4_800, 0.01),
    Level(9_600, 0.0075),
    Level(19_200, 0.005),
    Level(38_400, 0.0025),
    Level(None, 0.0),
)


def level_settings(level: int) -> Level:
    """What a strength level means, from 1, a beginner, to 10, all that the limits allow.

    Raises
    ------
    InvalidInput
        With the path ``level`` if there is no such level.
    """
    if not 1 <= level <= len(LEVELS):
        raise InvalidInput.at("level", f"must be 1..{len(LEVELS)}, not {level}")
    return LEVELS[level - 1]


def parse_duration(text: str) -> float:
    """Read a duration such as ``1s``, ``50ms`` or ``1m30s``, in seconds.

    A bare number is refused: some would mean seconds by it, and some milliseconds.

    Raises
    ------
    InvalidInput
        With the path ``time``.
    """
    seconds = None if BARE_NUMBER.fullmatch(text.strip()) else parse(text)
    if seconds is None:
        raise InvalidInput.at("time", f"must be like 1s, 50ms or 1m30s, not {shorten(text)}")
    return float(seconds)
