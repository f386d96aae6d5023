"""Results as pictures, drawn by matplotlib, in SVG or whatever else it writes."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from aleator.search.errors import InvalidInput
from aleator.search.review import SIGNIFICANT
from aleator.service.extras import install

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from aleator.search.match import MatchResult
    from aleator.search.record import GameRecord
    from aleator.search.review import MoveReview

SIZE = (8, 4.5)
"""Inches."""
FORMATS = (".svg", ".png", ".pdf")


def check_plot(file: Path) -> None:
    """Complain about a picture that could not be written, before the work for it is done."""
    if file.suffix not in FORMATS:
        raise InvalidInput.at("plot", f"must end in {', '.join(FORMATS)}, not {file.name}")
    if not file.parent.is_dir():
        raise InvalidInput.at("plot", f"is in a folder that there is not: {file.parent}")
    if find_spec("matplotlib") is None:
        raise InvalidInput.at("plot", f"needs matplotlib: {install('plots')}")


def new_figure() -> Figure:
    """An empty picture; the same data gives the same file."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams["svg.hashsalt"] = "aleator"
    mpl.rcParams["svg.fonttype"] = "none"
    return Figure(SIZE, layout="constrained")


def save(figure: Figure, file: Path) -> None:
    """Write a picture, without the time of day."""
    nothing = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
    figure.savefig(file, metadata=nothing.get(file.suffix, {}))


def match_plot(result: MatchResult, file: Path) -> None:
    """Draw each bot's win share as sets were played, with its interval."""
    from aleator.search.match import mean_interval

    figure = new_figure()
    axes = figure.add_subplot()
    counts = sorted({max(1, round(result.pairs * step / 200)) for step in range(1, 201)})
    axes.axhline(100 * result.even_share, color="0.6", linewidth=1, linestyle="--")
    for bot in result.bots if len(result.bots) > 2 else result.bots[:1]:
        means = [100 * fmean(bot.set_shares[:count]) for count in counts]
        spans = [mean_interval(bot.set_shares[:count]) for count in counts]
        (line,) = axes.plot(counts, means, label=bot.bot)
        axes.fill_between(
            counts,
            [100 * low for low, _ in spans],
            [100 * high for _, high in spans],
            color=line.get_color(),
            alpha=0.15,
            linewidth=0,
        )
    axes.set(
        title=f"{result.game}: " + " against ".join(bot.bot for bot in result.bots[:2])
        if len(result.bots) == 2
        else result.game,
        xlabel="sets of games",
        ylabel="win share, %",
        ylim=(0, 100),
        xlim=(1, max(2, result.pairs)),
    )
    axes.legend(frameon=False)
    save(figure, file)


def review_plot(record: GameRecord, moves: Sequence[MoveReview], file: Path) -> None:
    """Draw how the game went for each seat, and what its moves cost."""
    figure = new_figure()
    upper, lower = figure.subplots(2, sharex=True)
    for seat, player in enumerate(record.players):
        own = [move for move in moves if move.seat == seat]
        known = [move for move in own if move.win_share is not None]
        (line,) = upper.plot(
            [move.ply for move in known],
            [100 * (move.win_share or 0) for move in known],
            label=f"seat {seat}: {player}",
        )
        costly = [move for move in own if move.error]
        lower.errorbar(
            [move.ply for move in costly],
            [100 * move.loss for move in costly],
            [100 * SIGNIFICANT * move.error for move in costly],
            fmt="o",
            markersize=3,
            linewidth=1,
            color=line.get_color(),
        )
    upper.set(title=record.game, ylabel="win share, %", ylim=(0, 100))
    upper.legend(frameon=False)
    lower.axhline(0, color="0.6", linewidth=1)
    lower.set(xlabel="ply", ylabel="loss, % of the win")
    save(figure, file)
