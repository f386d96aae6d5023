"""What a search may use: time, simulations, threads."""

import math
from dataclasses import dataclass

from pytimeparse2 import parse

from aleator.search.errors import InvalidInput, Violation, shorten

MAX_SIMULATIONS = 2**63 - 1
MAX_THREADS = 256


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


def parse_duration(text: str, path: str = "time") -> float:
    """Read a duration such as ``50ms`` or ``1m30s``, or a bare number, which are seconds.

    Raises
    ------
    InvalidInput
        With the path given.
    """
    seconds = parse(text)
    if seconds is None or not math.isfinite(seconds):
        wanted = f"must be seconds, or a duration such as 50ms or 1m30s, not {shorten(text)}"
        raise InvalidInput.at(path, wanted)
    return float(seconds)
