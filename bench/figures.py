"""Measuring things side by side.

A machine's speed drifts while it is measured, so the probes take turns: one
sample of each, again and again. Figures are medians over the rounds; a ratio is
the median of the ratios within a round.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from rich import box
from rich.console import Console
from rich.progress import track
from rich.table import Table


@dataclass(frozen=True)
class Figure:
    """One measured figure.

    Attributes
    ----------
    name
        What was measured.
    unit
        Of the samples; empty for a ratio.
    samples
        One for each round.
    """

    name: str
    unit: str
    samples: Sequence[float]

    @property
    def median(self) -> float:
        """The figure to quote."""
        return median(self.samples)

    def ratio_to(self, other: "Figure", name: str) -> "Figure":
        """How many times `other` this is, round by round."""
        pairs = zip(self.samples, other.samples, strict=True)
        return Figure(name, "", [mine / theirs for mine, theirs in pairs])


Probe = Callable[[], Mapping[str, float]]


def take_turns(probes: Sequence[Probe], rounds: int, progress: str) -> dict[str, list[float]]:
    """Take a sample from every probe in each round, after one round to warm up.

    Returns
    -------
    dict
        The samples by the names that the probes give them.
    """
    samples: dict[str, list[float]] = {}
    console = Console(stderr=True)
    for number in track(range(rounds + 1), progress, transient=True, console=console):
        for probe in probes:
            for name, value in probe().items():
                if number:
                    samples.setdefault(name, []).append(value)
    return samples


def show(figures: Sequence[Figure]) -> None:
    """Print figures as a table."""
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("figure")
    for header in ("median", "lowest", "highest"):
        table.add_column(header, justify="right")
    table.add_column("unit")
    for figure in figures:
        values = (figure.median, min(figure.samples), max(figure.samples))
        table.add_row(figure.name, *map(_readable, values), figure.unit)
    Console().print(table)


def _readable(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"
