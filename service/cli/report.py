"""How results look to people: tables of candidates, games and matches."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from aleator.search import Analysis, Candidate, Position
from aleator.search.games import Codec

if TYPE_CHECKING:  # It loads scipy, which is slow.
    from aleator.search.match import MatchResult

CANDIDATES_SHOWN = 10
VARIATION_SHOWN = 4
TIE = "≈"


def show(report: RenderableType) -> None:
    """Print for people; through a pipe without the blanks that fill up lines."""
    console = Console()
    if console.is_terminal:
        console.print(report)
        return
    with console.capture() as capture:
        console.print(report)
    for line in capture.get().splitlines():
        print(line.rstrip())  # noqa: T201 - this is the output


def percent(share: float) -> str:
    """A share of the win as people read it."""
    return f"{100 * share:.1f}%"


def candidates_report(analysis: Analysis, position: Position) -> RenderableType:
    """The best candidates of an analysis, and what the search spent."""
    best = position.move(analysis.best_move.code, analysis.seat)
    parts: list[RenderableType] = [
        Text.assemble(
            f"{position.codec.title}, seat {best.seat} to play: ",
            (best.notation, "bold green"),
            f"  ({best.description})",
        )
    ]
    if analysis.candidates:
        parts.append(_candidates_table(analysis))
    more = len(analysis.candidates) - CANDIDATES_SHOWN
    if more > 0:
        parts.append(Text(f"and {more} more move{'s' * (more > 1)}", style="dim"))
    if any(_is_tie(candidate, analysis) for candidate in analysis.candidates[:CANDIDATES_SHOWN]):
        parts.append(
            Text(f"{TIE} within one standard error of the first: this may be as good", style="dim")
        )
    spent = analysis.statistics
    reason = spent.stop_reason.value.replace("_", " ") if spent.stop_reason else "nothing yet"
    parts.append(
        Text(
            f"{spent.simulations:,} simulations in {spent.elapsed:.3f} s, depth {spent.depth}, "
            f"{spent.nodes:,} nodes, threads: {spent.threads}, ended by: {reason}\n"
            f"seed: {spent.seed}",
            style="dim",
        )
    )
    parts += [Text(f"warning: {warning}", style="yellow") for warning in analysis.warnings]
    return Group(*parts)


def _is_tie(candidate: Candidate, analysis: Analysis) -> bool:
    """Whether the search cannot tell a candidate from the first: by the error of the difference."""
    first = analysis.candidates[0]
    if candidate is first or first.estimate is None or candidate.estimate is None:
        return False
    seat = analysis.seat
    difference = first.estimate.win_share[seat] - candidate.estimate.win_share[seat]
    error = math.hypot(first.estimate.standard_error, candidate.estimate.standard_error)
    return difference <= error


def _candidates_table(analysis: Analysis) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("", no_wrap=True)
    table.add_column("move", style="bold")
    for header in ("win share", "± error", "scores", "visits"):
        table.add_column(header, justify="right", no_wrap=True)
    table.add_column("expected play")
    for candidate in analysis.candidates[:CANDIDATES_SHOWN]:
        estimate = candidate.estimate
        line = islice(candidate.principal_variation, VARIATION_SHOWN)
        table.add_row(
            TIE if _is_tie(candidate, analysis) else "",
            candidate.move.notation,
            percent(estimate.win_share[analysis.seat]) if estimate else "",
            percent(estimate.standard_error) if estimate else "",
            " : ".join(f"{score:.1f}" for score in estimate.score) if estimate else "",
            f"{candidate.visits:,}",
            " ".join(move.notation for move in line),
        )
    return table


def games_report(codecs: Sequence[type[Codec]]) -> RenderableType:
    """The games with their options."""
    parts: list[RenderableType] = []
    for codec in codecs:
        about = Table.grid(padding=(0, 2))
        about.add_column(no_wrap=True)
        about.add_column(overflow="fold")
        about.add_row("  seats", ", ".join(map(str, codec.seat_counts)))
        about.add_row("  hidden", codec.hidden or "nothing")
        for option in codec.option_list():
            choices = ", ".join(map(_compact_json, option.choices))
            about.add_row(
                f"  {option.name}",
                Text(
                    f"default {_compact_json(option.default)}{choices and f'; of {choices}'}\n"
                ).append(option.description, style="dim"),
            )
        parts += [Text.assemble((codec.id, "bold"), f"  {codec.title}"), about, Text()]
    return Group(*parts[:-1])


def _compact_json(value: object) -> str:
    """A value as `--option` takes it, in one word."""
    return json.dumps(value, separators=(",", ":"))


def match_report(result: MatchResult) -> RenderableType:
    """How a match came out for its first bot, and whether that can be luck."""
    low, high = result.interval
    if low > result.even_share:
        verdict = Text(f"{result.a} is stronger", style="bold green")
    elif high < result.even_share:
        verdict = Text(f"{result.b} is stronger", style="bold green")
    else:
        verdict = Text("no difference is shown", style="bold yellow")
    table = Table.grid(padding=(0, 2))
    table.add_row("win share", Text(percent(result.win_share), style="bold"))
    table.add_row("95% interval", f"{percent(low)} to {percent(high)}")
    table.add_row("even would be", percent(result.even_share))
    table.add_row("won, tied, lost", f"{result.wins}, {result.ties}, {result.losses}")
    table.add_row("mean score", f"{result.score:.1f} against {result.opponents_score:.1f}")
    table.add_row("games", f"{result.games} in {result.pairs} sets")
    table.add_row("seed", str(result.seed))
    title = Text(f"{result.a} against {result.b}: ").append(verdict)
    if result.partial:
        title = Text("PARTIAL RESULT, the match was stopped\n", style="bold yellow").append(title)
    return Group(title, table)
