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
from aleator.search.record import GameRecord
from aleator.search.review import MoveReview, sum_up
from aleator.search.strength import (
    ANCHOR_ELO,
    Calibration,
    RatedLevel,
    RatedPlayer,
    elo_range,
)

if TYPE_CHECKING:  # It loads scipy, which is slow.
    from aleator.search.match import MatchResult, TestResult
    from aleator.search.ratings import Rating

CANDIDATES_SHOWN = 10
CANDIDATES_IN_LINE = 3
VARIATION_SHOWN = 4
TIE = "≈"
TIE_SHARE = 0.005  # of the win: less between two moves is nothing to choose by
TIE_VISITS = 0.05  # of the first move's, that another one needs to be compared with it


def show(report: RenderableType) -> None:
    """Print for people; through a pipe without the blanks that fill up lines."""
    console = Console()
    if console.is_terminal:
        console.print(report)
        return
    with console.capture() as capture:
        console.print(report, soft_wrap=True)
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
        legend = f"{TIE} within {TIE_SHARE:.1%} of the first, or not told apart from it"
        parts.append(Text(legend, style="dim"))
    spent = analysis.statistics
    end = "searching"
    if spent.stop_reason:
        end = f"ended by: {spent.stop_reason.value.replace('_', ' ')}"
    parts.append(
        Text(
            f"{spent.simulations:,} simulations in {spent.elapsed:.3f} s, depth {spent.depth}, "
            f"{spent.nodes:,} nodes, threads: {spent.threads}, {end}\n"
            f"seed: {spent.seed}",
            style="dim",
        )
    )
    parts += [Text(f"warning: {warning}", style="yellow") for warning in analysis.warnings]
    return Group(*parts)


def progress_line(analysis: Analysis) -> str:
    """How far a search has come, with its best candidates, in a line."""
    spent = analysis.statistics
    best = ", ".join(
        f"{candidate.move.notation} {percent(candidate.estimate.win_share[analysis.seat])}"
        for candidate in analysis.candidates[:CANDIDATES_IN_LINE]
        if candidate.estimate
    )
    return f"{spent.elapsed:.1f} s, {spent.simulations:,} simulations: {best}"


def _is_tie(candidate: Candidate, analysis: Analysis) -> bool:
    """Whether the search cannot tell a candidate, well looked at, from the first."""
    first = analysis.candidates[0]
    if candidate is first or first.estimate is None or candidate.estimate is None:
        return False
    seat = analysis.seat
    difference = first.estimate.win_share[seat] - candidate.estimate.win_share[seat]
    error = math.hypot(first.estimate.standard_error, candidate.estimate.standard_error)
    looked_at = candidate.visits >= TIE_VISITS * first.visits
    return looked_at and difference <= max(error, TIE_SHARE)


def _candidates_table(analysis: Analysis) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("", no_wrap=True)
    table.add_column("move", style="bold", no_wrap=True)
    for header in ("win share", "± error", "scores", "visits"):
        table.add_column(header, justify="right", no_wrap=True)
    table.add_column("expected play", overflow="fold")
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
        if span := elo_range(codec.id):
            about.add_row("  Elo", f"{span[0]} to {span[1]}")
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
    """How a match came out for its bots, and whether that can be luck."""
    parts: list[RenderableType] = []
    if result.partial:
        parts.append(Text("PARTIAL RESULT, the match was stopped", style="bold yellow"))
    parts.append(_verdict(result))
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("bot", style="bold", overflow="fold")
    for header in ("win share", "95%", "Elo", "won-tied-lost", "score"):
        table.add_column(header, justify="right", no_wrap=True)
    for bot in result.bots:
        low, high = bot.interval
        table.add_row(
            bot.bot,
            percent(bot.win_share),
            f"{100 * low:.1f}-{100 * high:.1f}",
            _elo(bot.elo) if bot is not result.bots[-1] else "0",
            f"{bot.wins}-{bot.ties}-{bot.losses}",
            f"{bot.score:.1f}",
        )
    parts.append(table)
    if result.test is not None:
        parts.append(_test_line(result.test))
    parts.append(
        Text(
            f"{result.games} games in {result.pairs} set{'s' * (result.pairs != 1)}, even would be"
            f" {percent(result.even_share)}, seed: {result.seed}",
            style="dim",
        )
    )
    return Group(*parts)


def _elo(rating: Rating) -> str:
    """A rating and how far its interval reaches."""
    return f"{rating.elo:+.0f} ± {rating.interval[1] - rating.elo:.0f}"


def _verdict(result: MatchResult) -> Text:
    """Whether a bot is shown to be stronger."""
    first, *others = result.bots
    if len(others) > 1:
        best = max(result.bots, key=lambda bot: bot.win_share)
        return Text("most of the win: ").append(best.bot, style="bold green")
    title = Text(f"{first.bot} against {others[0].bot}: ")
    if result.test is not None and result.test.accepted is not None:
        way = "at least" if result.test.accepted == result.test.elo1 else "at most"
        lead = f"{first.bot} leads by {way} {result.test.accepted:g} Elo"
        return title.append(lead, style="bold green")
    if first.interval[0] > result.even_share:
        return title.append(f"{first.bot} is stronger", style="bold green")
    if first.interval[1] < result.even_share:
        return title.append(f"{others[0].bot} is stronger", style="bold green")
    return title.append("no difference is shown", style="bold yellow")


def _test_line(test: TestResult) -> Text:
    """What a sequential test says."""
    state = "not decided yet" if test.accepted is None else f"decided for {test.accepted:+g}"
    return Text(
        f"test of {test.elo0:+g} against {test.elo1:+g} Elo: {state}"
        f" (LLR {test.ratio:+.2f}, bound {test.bound:.2f})"
    )


def calibration_report(measured: Calibration) -> RenderableType:
    """How strong the levels and the reference players of a game are, weakest first."""
    rated: list[tuple[str, str, RatedLevel | RatedPlayer]] = [
        *(
            (f"level {number}", f"{level.simulations:,}", level)
            for number, level in enumerate(measured.levels, 1)
        ),
        *((player.name, "", player) for player in measured.players),
    ]
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("player", style="bold")
    for header in ("simulations", "Elo", "95%"):
        table.add_column(header, justify="right", no_wrap=True)
    for name, simulations, rating in sorted(rated, key=lambda row: row[2].elo):
        low, high = rating.interval
        table.add_row(name, simulations, f"{rating.elo:.0f}", f"{low:.0f} to {high:.0f}")
    games = sum(pairing.games for pairing in measured.pairings)
    return Group(
        Text(f"{measured.game}: {games:,} games, {measured.anchor} is {ANCHOR_ELO}"),
        table,
        Text(f"seed: {measured.seed}", style="dim"),
    )


def review_report(record: GameRecord, moves: Sequence[MoveReview]) -> RenderableType:
    """What the moves of a game cost, and how each seat played."""
    table = Table(box=box.SIMPLE_HEAD)
    for header in ("ply", "seat"):
        table.add_column(header, justify="right")
    for header in ("played", "best"):
        table.add_column(header, style="bold", overflow="fold")
    for header in ("win share", "loss", "± error"):
        table.add_column(header, justify="right", no_wrap=True)
    table.add_column("")
    for move in moves:
        costs = move.played != move.best
        table.add_row(
            str(move.ply),
            str(move.seat),
            move.played,
            move.best if costs else "",
            "" if move.win_share is None else percent(move.win_share),
            percent(move.loss) if costs else "",
            percent(move.error) if costs else "",
            Text(move.grade or ("forced" if move.choices == 1 else ""), style="yellow"),
        )
    summary = Table(box=box.SIMPLE_HEAD)
    summary.add_column("seat", justify="right")
    summary.add_column("player", style="bold", overflow="fold")
    for header in ("choices", "best", "mean loss", "± error"):
        summary.add_column(header, justify="right")
    summary.add_column("")
    for seat in sum_up(record, moves):
        summary.add_row(
            str(seat.seat),
            seat.player,
            str(seat.moves),
            str(seat.best),
            f"{100 * seat.mean_loss:.2f}%",
            f"{100 * seat.error:.2f}%",
            ", ".join(_counted(count, word) for word, count in seat.grades.items() if count),
        )
    return Group(Text(f"{record.game}: " + " against ".join(record.players)), table, summary)


def _counted(count: int, word: str) -> str:
    plural = word.removesuffix("y") + "ies" if word.endswith("y") else f"{word}s"
    return f"{count} {word if count == 1 else plural}"
