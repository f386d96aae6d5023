"""Measure how strong the engine is, and write docs/strength.md and its pictures from that.

    aleator calibrate GAME --seed 1 --pairs 100 --folder FOLDER --output search/strength/GAME.json
    python -m tools.strength measure GAME --folder FOLDER [--kind time] [--pairs 200] [--workers 2]
    python -m tools.strength write

The first two take hours and go on where they were stopped if they are given the same folder again;
`measure` keeps each result in docs/strength/GAME.json as soon as it is known. Times are those of
the machine it runs on, which must have a core for each process and nothing else to do.
"""

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aleator.search.calibration import level_spec
from aleator.search.games import codec_class, game_ids
from aleator.search.match import play_match
from aleator.search.strength import ANCHOR_ELO, Calibration
from aleator.search.strength import calibration as find_calibration
from aleator.service.cli.plot import new_figure, save
from tools.pages import heading

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "strength.md"
FOLDER = ROOT / "docs" / "strength"
SEED = 1
KINDS = ["reference", "time", "simulations"]
TIMES = (1, 10, 100, 1000)
"""Milliseconds for a move in the matches against level 5."""
SIMULATIONS = (1, 10, 100, 1000)
"""The limits in the matches against a game's first reference player."""
MIDDLE = level_spec(5)
FEWER = {100: 2, 1000: 6}
"""How many times fewer games are played with so many milliseconds for a move."""


@dataclass(frozen=True)
class Contest:
    """A match that the page tells of; the first bot is the engine.

    Attributes
    ----------
    kind : str
        ``time`` for those against level 5, ``simulations`` for those that show what they
        win, ``reference`` for others.
    bots : tuple of str
    players : int
    """

    kind: str
    bots: tuple[str, str]
    players: int = 2

    @property
    def time(self) -> int:
        """Milliseconds for a move of the engine; 0 if its simulations are limited."""
        setting = self.bots[0].partition(":")[2]
        return int(setting[5:-2]) if setting.startswith("time=") else 0


REFERENCES: dict[str, tuple[Contest, ...]] = {
    "generator": (
        Contest("reference", ("engine:time=100ms", "greedy")),
        Contest("reference", ("engine:time=100ms", "expectimax")),
    ),
    "my_shelfie": (Contest("reference", ("engine:time=100ms", "greedy")),),
    "riviera": (
        Contest("reference", ("engine:time=50ms", "rules")),
        Contest("reference", ("engine:time=50ms", "rules"), players=4),
    ),
    "roygbiv": (
        Contest("reference", ("engine:sims=10000", "greedy")),
        Contest("reference", ("engine:sims=10000", "engine:sims=1000")),
    ),
}


def contests(game: str) -> list[Contest]:
    """All matches of a game, the quick ones first."""
    return [
        *REFERENCES[game],
        Contest("reference", ("engine:time=10ms", "random")),
        *(Contest("time", (f"engine:time={time}ms", MIDDLE)) for time in TIMES),
        *(
            Contest("simulations", (f"engine:sims={simulations}", REFERENCES[game][0].bots[1]))
            for simulations in SIMULATIONS
        ),
    ]


def measure(game: str, kinds: list[str], pairs: int, workers: int, folder: Path) -> None:
    """Play the matches of a game and keep how they came out."""
    folder.mkdir(parents=True, exist_ok=True)
    FOLDER.mkdir(exist_ok=True)
    for number, contest in enumerate(contests(game)):
        if contest.kind not in kinds:
            continue
        result = play_match(
            game,
            *contest.bots,
            options={**codec_class(game).measured_with, "players": contest.players},
            pairs=max(2, pairs // FEWER.get(contest.time, 1)),
            seed=SEED + number,
            workers=workers,
            file=folder / f"strength-{game}-{number}.jsonl",
        )
        first, second = result.bots
        row = {
            "kind": contest.kind,
            "bots": list(contest.bots),
            "players": contest.players,
            "games": result.games,
            "win_share": round(first.win_share, 4),
            "interval": [round(end, 4) for end in first.interval],
            "scores": [round(bot.score, 1) for bot in (first, second)],
        }
        print(row, flush=True)
        _keep(game, row)


def _keep(game: str, row: dict[str, Any]) -> None:
    """Put a result in the place of an earlier one of the same match; all stay in their order."""
    order = [(list(contest.bots), contest.players) for contest in contests(game)]
    rows = {(*kept["bots"], kept["players"]): kept for kept in [*contest_results(game), row]}
    ordered = sorted(rows.values(), key=lambda kept: order.index((kept["bots"], kept["players"])))
    (FOLDER / f"{game}.json").write_text(json.dumps(ordered, indent=1) + "\n")


def write() -> None:
    """Write the page and its pictures."""
    FOLDER.mkdir(exist_ok=True)
    PAGE.write_text(page())
    for game in measured_games():
        if found := find_calibration(game):
            draw_levels(found, FOLDER / f"{game}-levels.svg")
        if curve := [row for row in contest_results(game) if row["kind"] == "time"]:
            draw_times(game, curve, FOLDER / f"{game}-time.svg")


def measured_games() -> list[str]:
    """The games of which something is known."""
    return [game for game in game_ids() if find_calibration(game) or contest_results(game)]


def contest_results(game: str) -> list[dict[str, Any]]:
    """What `measure` found; nothing if it was not run."""
    file = FOLDER / f"{game}.json"
    return json.loads(file.read_text()) if file.exists() else []


def page() -> str:
    """The text of docs/strength.md."""
    games = measured_games()
    return INTRODUCTION + ("".join(map(_section, games)) if games else NOTHING_MEASURED)


INTRODUCTION = f"""# How strong Aleator plays

This page is written by [tools/strength.py](../tools/strength.py) from the results of matches, which
it and `aleator calibrate` play. Games are played in sets with the same dice and draws, every bot
once in each seat; the 95% intervals are made from how the sets differ.

**Elo** is on a scale of each game's own: its first reference player has {ANCHOR_ELO}, and 400
points more mean ten times the odds to win, at two seats with the default options where no others
are named. Each two that met count as if one set more had been tied, so that a few games do not say
too much. Reference players are fixed ways to play, in [search/players](../search/players);
`random` plays any legal move.
Levels limit the simulations, not the time, so a level is as strong on any machine; weak ones try
more moves and choose among those that seem near-equal. Level 10 has no limit, and is listed with
the simulations that it was measured with. Of a game whose levels are measured here, `Strength.elo`
and `--elo` play with settings in between; of others they are refused. The games are few: levels
whose intervals overlap are not told apart, and an order among them is by chance.

**Time** is for a move, on one core of the machine that measured. The longer it is the fewer games
were played, and what ten times the time wins is often less than the intervals can show.

**Simulations**: with one, the engine plays the move that its knowledge of the game likes best,
without a search. What more of them win against the reference player is what the search adds; where
the intervals overlap, no difference is shown.

Where the knowledge does most, the curve of time is nearly flat: at My Shelfie a look a turn further
is worth [less than 1% of the games](search.md#how-deep-a-tree-is).
"""


NOTHING_MEASURED = """
No game has been measured yet.
"""


def _section(game: str) -> str:
    parts = [heading(game)]
    if found := find_calibration(game):
        parts.append(_levels_table(game, found))
    rows = contest_results(game)
    if references := [row for row in rows if row["kind"] == "reference"]:
        parts.append(_contest_table(references))
    if simulations := [row for row in rows if row["kind"] == "simulations"]:
        parts.append(_contest_table(simulations))
    if times := [row for row in rows if row["kind"] == "time"]:
        parts.append(
            f"\n![Win share against level 5 by time](strength/{game}-time.svg)\n"
            + _contest_table(times)
        )
    return "".join(parts)


def _levels_table(game: str, found: Calibration) -> str:
    shares = {
        (pairing.bots[0].split(",")[0], pairing.bots[1]): pairing for pairing in found.pairings
    }
    references = [name for name in (player.name for player in found.players) if name != "random"]
    lines = [
        f"\n![Elo by level](strength/{game}-levels.svg)\n",
        "",
        "| | simulations | moves tried | near-equal within | Elo | 95% |"
        + "".join(f" against {name} |" for name in references),
        "|---|--:|--:|--:|--:|--:|" + "--:|" * len(references),
    ]
    for number, level in enumerate(found.levels, 1):
        met = [shares.get((f"engine:level={number}", name)) for name in references]
        lines.append(
            f"| level {number} | {level.simulations:,} | {level.breadth or ''} |"
            f" {100 * level.margin:g}% |"
            f" {_elo_cells(level.elo, level.interval)}"
            + "".join(f" {_share(pairing.win_share)} |" if pairing else " |" for pairing in met)
        )
    lines += [
        f"| `{player.name}` | | | | {_elo_cells(player.elo, player.interval)}"
        + " |" * len(references)
        for player in found.players
    ]
    games = sum(pairing.games for pairing in found.pairings)
    lines.append(
        f"\n{games:,} games. Win shares against reference players are those of the levels.\n"
    )
    return "\n".join(lines)


def _elo_cells(elo: float, interval: tuple[float, float]) -> str:
    return f"{elo:.0f} | {interval[0]:.0f} to {interval[1]:.0f} |"


def _contest_table(rows: list[dict[str, Any]]) -> str:
    lines = [
        "",
        "| | against | seats | games | win share | 95% | mean scores |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    lines += [
        f"| `{row['bots'][0]}` | `{row['bots'][1]}` | {row['players']} | {row['games']} |"
        f" {_share(row['win_share'])} | {' to '.join(map(_share, row['interval']))} |"
        f" {row['scores'][0]:g} : {row['scores'][1]:g} |"
        for row in rows
    ]
    return "\n".join(lines) + "\n"


def _share(share: float) -> str:
    return f"{100 * share:.1f}%"


def draw_levels(found: Calibration, file: Path) -> None:
    """Elo by level, and where the reference players are."""
    figure = new_figure()
    axes = figure.add_subplot()
    elos = [level.elo for level in found.levels]
    reach = [
        [level.elo - level.interval[0] for level in found.levels],
        [level.interval[1] - level.elo for level in found.levels],
    ]
    axes.errorbar(range(1, len(elos) + 1), elos, reach, fmt="o-", capsize=3)
    for player in found.players:
        axes.axhline(player.elo, color="0.6", linewidth=1, linestyle="--")
        axes.annotate(player.name, (1, player.elo), (0, 3), textcoords="offset points")
    axes.set(
        title=f"{found.game}: strength by level",
        xlabel="level",
        ylabel="Elo",
        xticks=range(1, len(elos) + 1),
    )
    save(figure, file)


def draw_times(game: str, rows: list[dict[str, Any]], file: Path) -> None:
    """The win share against level 5 by time."""
    figure = new_figure()
    axes = figure.add_subplot()
    times = [Contest(row["kind"], tuple(row["bots"])).time for row in rows]
    shares = [100 * row["win_share"] for row in rows]
    reach = [
        [100 * (row["win_share"] - row["interval"][0]) for row in rows],
        [100 * (row["interval"][1] - row["win_share"]) for row in rows],
    ]
    axes.axhline(50, color="0.6", linewidth=1, linestyle="--")
    axes.errorbar(times, shares, reach, fmt="o-", capsize=3)
    axes.set(
        title=f"{game}: against level 5",
        xscale="log",
        xlabel="milliseconds for a move",
        ylabel="win share, %",
        ylim=(0, 100),
    )
    save(figure, file)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    measuring = commands.add_parser("measure")
    measuring.add_argument("game", choices=game_ids())
    measuring.add_argument("--kind", choices=KINDS, help="only such matches")
    measuring.add_argument("--pairs", type=int, default=200)
    measuring.add_argument("--workers", type=int, default=1)
    measuring.add_argument("--folder", type=Path, required=True)
    commands.add_parser("write")
    arguments = parser.parse_args()
    if arguments.command == "measure":
        kinds = [arguments.kind] if arguments.kind else KINDS
        measure(arguments.game, kinds, arguments.pairs, arguments.workers, arguments.folder)
    else:
        write()


if __name__ == "__main__":
    main()
