"""The commands of `aleator`.

Wrong input of any kind ends with exit code 2 and, on the error stream, one line
for each thing wrong: the name of the field and what is the matter with it.
"""

import io
import os
import random
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict
from importlib.metadata import version
from importlib.util import find_spec
from json import dumps
from pathlib import Path
from typing import Annotated, Any

import typer
from google.protobuf.json_format import MessageToJson
from rich.console import Console
from rich.live import Live
from typer.core import TyperGroup

from aleator.search import Engine, Limits, Position, Report, Strength
from aleator.search.errors import (
    AleatorError,
    InvalidInput,
    SeatNotToAct,
    SeatRequired,
    UnknownGame,
    shorten,
)
from aleator.search.games import codec_class, game_ids
from aleator.search.games.base import parse_option
from aleator.search.limits import parse_duration
from aleator.search.players import players_of
from aleator.search.position import pick_seed
from aleator.search.record import read_games
from aleator.search.review import MoveReview, review_game, sum_up
from aleator.service import convert
from aleator.service.cli.flags import with_settings
from aleator.service.cli.play import Opponent, PersonLeft, Play
from aleator.service.cli.plot import check_plot, match_plot, review_plot
from aleator.service.cli.report import (
    calibration_report,
    candidates_report,
    games_report,
    match_report,
    progress_line,
    review_report,
    show,
)
from aleator.service.cli.think import think, watch
from aleator.service.configuration import Configuration
from aleator.service.drawing.rendering import find_drawing
from aleator.service.extras import install
from aleator.service.settings import usable_cores
from aleator.v1.game_service_pb2 import ListGamesResponse

WRONG_INPUT = 2
INTERRUPTED = 130
REVIEW_SIMULATIONS = 10_000
ANALYSIS_TIME = 10.0
"""Seconds that `analyze` searches without limits."""
LEVEL_PACE = 0.25
"""Seconds for a move of a bot whose level needs less time than it has."""


class _Commands(TyperGroup):
    """Turns errors of the input into lines on the error stream and exit code 2."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except InvalidInput as error:
            lines = [f"{path or 'input'}: {message}" for path, message in error.violations]
        except UnknownGame as error:
            lines = [f"game: {error}"]
        except SeatNotToAct as error:
            to_act = " or ".join(map(str, error.seats_to_act))
            lines = [f"seat: must be {to_act}, which is to act, not {error.seat}"]
        except SeatRequired as error:
            lines = [f"seat: {error}"]
        except AleatorError as error:
            lines = [f"notation: {error}"]
        typer.echo("\n".join(lines), err=True)
        raise typer.Exit(WRONG_INPUT)


app = typer.Typer(
    name="aleator",
    cls=_Commands,
    help="An AI opponent for dice and card games with luck and hidden information.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Seed = Annotated[int | None, typer.Option(help="Seed of all chance. Default: a random one.")]
Level = Annotated[
    int | None, typer.Option(help="Strength from 1 to 10. Default: as strong as can be.")
]
Elo = Annotated[
    float | None,
    typer.Option(
        help="Strength on the Elo scale of the game, within the range that `aleator games` shows;"
        " only for games that show one."
    ),
]
Players = Annotated[
    int | None, typer.Option(help="Number of seats. Default: the default of the game.")
]

Notation = Annotated[
    str,
    typer.Argument(
        metavar="NOTATION", help="A position, complete or as a seat sees it, in quotes."
    ),
]
Seat = Annotated[
    int | None,
    typer.Option(
        help="Seat to play for. Default: the one to act; of several, the one whose hand is shown."
    ),
]
Time = Annotated[
    str | None,
    typer.Option(metavar="DURATION", help="Time to search at most: seconds, or such as 50ms."),
]
Simulations = Annotated[int | None, typer.Option(help="Simulated games to search at most.")]
Threads = Annotated[
    int,
    typer.Option(
        help="Threads to search with, at most 256. More than there are cores gain nothing."
    ),
]
Workers = Annotated[
    int | None, typer.Option(help="Processes that play. Default: as many as there are cores.")
]
Record = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Append what is played to this file, for `review`."),
]
GameOptions = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUE",
        help="An option of the game, as `aleator games` lists them, its value as in JSON;"
        " may be repeated.",
    ),
]


def _players() -> str:
    """The reference players of all games, for people."""
    return "; ".join(f"{game}: {', '.join(players_of(game))}" for game in game_ids())


@app.callback(invoke_without_command=True)
def aleator(
    show_version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True)
    ] = False,
) -> None:
    """Tell the version, where that is asked for instead of a command."""
    if show_version:
        typer.echo(f"aleator {version('aleator')}")
        raise typer.Exit


@app.command()
@with_settings
def serve(configuration: Configuration) -> None:
    """Serve games and moves over gRPC, until SIGTERM.

    Each setting may also be set in the environment or in a file, see `aleator config`.
    """
    # gRPC would log lines of its own for what is told in plain words, such as a taken port.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    # Only a server needs gRPC.
    from aleator.service.server import run

    run(configuration.settings)


@app.command()
@with_settings
def config(configuration: Configuration) -> None:
    """Print the settings that `serve` would use, and where each comes from, as TOML.

    A flag goes before the environment, and that before the file. A setting such as
    max_time is --max-time as a flag, ALEATOR_MAX_TIME in the environment, and max_time in
    the file that --config or ALEATOR_CONFIG names.
    """
    typer.echo(configuration.toml(), nl=False)


@app.command(
    context_settings={
        "allow_extra_args": True,
        "ignore_unknown_options": True,
        "help_option_names": [],
    }
)
def health(context: typer.Context) -> None:
    """Ask a server whether it serves, for probes; `aleator health --help` tells how."""
    # It brings gRPC, which reads its settings from the environment when it is imported.
    from aleator.service.healthcheck import main as check_health

    raise typer.Exit(check_health(context.args))


@app.command()
def key(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Whose key it is: letters, digits, hyphens.")
    ],
) -> None:
    """Make an API key.

    Prints the line that stands for it in the server's file of keys (`--api-keys`), for
    `>> FILE`, and on the error stream the key itself, to be given to the client. The key is
    kept nowhere else.
    """
    from aleator.service.api_keys import new_key

    made, line = new_key(name)
    typer.echo(f"The key, for the client; it is kept nowhere else:\n{made}", err=True)
    typer.echo(line)


@app.command()
def games(json: Json = False) -> None:
    """List the games."""
    codecs = [codec_class(game) for game in game_ids()]
    if json:
        listed = [convert.write_game(codec) for codec in codecs]
        typer.echo(MessageToJson(ListGamesResponse(games=listed)))
    else:
        show(games_report(codecs))


@app.command(context_settings={"allow_extra_args": True})
def suggest(
    context: typer.Context,
    notation: Notation,
    seat: Seat = None,
    time: Time = None,
    simulations: Simulations = None,
    threads: Threads = 1,
    seed: Seed = None,
    level: Level = None,
    elo: Elo = None,
    json: Json = False,
) -> None:
    """Suggest a move for a position; no server is needed.

    Without limits the search takes one second. Ctrl-C ends it with what it has.
    """
    position = _position(notation, context)
    limits = Limits(None if time is None else parse_duration(time), simulations, threads)
    analysis = think(
        Console(stderr=True),
        "Searching; Ctrl-C ends it with what it has",
        Engine(),
        position,
        seat,
        limits,
        seed=seed,
        strength=Strength(level, elo),
    )
    if json:
        typer.echo(MessageToJson(convert.write_analysis(analysis)))
    else:
        show(candidates_report(analysis, position))


@app.command(context_settings={"allow_extra_args": True})
def analyze(
    context: typer.Context,
    notation: Notation,
    seat: Seat = None,
    time: Time = None,
    simulations: Simulations = None,
    threads: Threads = 1,
    interval: Annotated[
        str, typer.Option(metavar="DURATION", help="Time between two reports.")
    ] = "500ms",
    seed: Seed = None,
    level: Level = None,
    elo: Elo = None,
    json: Json = False,
) -> None:
    """Watch the candidates of a position get better known; no server is needed.

    Without limits the search takes ten seconds. Ctrl-C ends it with what it has. With
    --json each report is a line, as AnalyzePosition answers over gRPC.
    """
    position = _position(notation, context)
    seconds = None if time is None else parse_duration(time)
    if seconds is None and simulations is None:
        seconds = ANALYSIS_TIME
    console = Console()
    live = console.is_terminal and not json
    with Live(console=console, auto_refresh=False) if live else nullcontext() as table:

        def tell(report: Report) -> None:
            if table is not None:
                table.update(candidates_report(report.analysis, position), refresh=True)
            elif json:
                typer.echo(MessageToJson(convert.write_report(report), indent=None))
            else:
                typer.echo(progress_line(report.analysis))

        final = watch(
            tell,
            Engine(),
            position,
            seat,
            Limits(seconds, simulations, threads),
            interval=parse_duration(interval, "interval"),
            seed=seed,
            strength=Strength(level, elo),
        )
        if live or json:
            tell(final)
    if not live and not json:
        show(candidates_report(final.analysis, position))


@app.command()
def play(
    game: Annotated[str, typer.Argument(metavar="GAME", help="Id of the game, such as roygbiv.")],
    seat: Annotated[
        list[int] | None,
        typer.Option(help="A seat that a person plays, from 0; may be repeated. Default: 0."),
    ] = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Watch the engine play all seats, with open hands.")
    ] = False,
    players: Players = None,
    option: GameOptions = None,
    time: Annotated[
        str, typer.Option(metavar="DURATION", help="Time that the engine takes for a move.")
    ] = "1s",
    level: Level = None,
    elo: Elo = None,
    seed: Seed = None,
    record: Record = None,
) -> None:
    """Play a game in this terminal, people and the engine in any seats."""
    if watch and seat:
        raise InvalidInput.at("watch", "leaves no seat to a person; give no --seat with it")
    people = [] if watch else seat or [0]
    chance = random.Random(pick_seed(seed))
    position = Position.create(game, _options(players, option), seed=chance.getrandbits(64))
    for person in people:
        position.observe(person)  # complains if there is no such seat
    drawing = find_drawing(game)
    seconds = parse_duration(time)
    strength = Strength(level, elo)
    in_haste = strength.settings(game).simulations is not None
    pace = min(seconds, LEVEL_PACE) if in_haste else seconds
    opponent = Opponent(Engine(), Limits(time=seconds), strength, pace)
    console = Console()
    game_played = Play(console, drawing, position, people, opponent, chance)
    try:
        game_played.run()
    except PersonLeft:
        console.print("You left the game.")
    if record:
        game_played.record.append_to(record)


@app.command()
def match(
    bots: Annotated[
        list[str],
        typer.Argument(
            metavar="BOT...",
            help="Two bots or more: random, engine:sims=1000, engine:time=50ms, or a reference"
            f" player of the game ({_players()}). The last one takes all seats left.",
        ),
    ],
    game: Annotated[str, typer.Option(metavar="GAME", help="Id of the game.")] = "roygbiv",
    pairs: Annotated[
        int,
        typer.Option(help="Sets of games: the same dice, every bot once in each seat."),
    ] = 100,
    players: Players = None,
    option: GameOptions = None,
    seed: Seed = None,
    elo0: Annotated[
        float | None,
        typer.Option(help="End as soon as the first bot is shown to be stronger by this at most"),
    ] = None,
    elo1: Annotated[
        float | None, typer.Option(help="or by this at least, in Elo points (needs --elo0).")
    ] = None,
    workers: Workers = None,
    file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Keep finished sets there; the same command later goes on."
        ),
    ] = None,
    record: Record = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the result, as .svg or .png; needs matplotlib."),
    ] = None,
    json: Json = False,
) -> None:
    """Play bots against each other and tell who wins how much.

    How far it has come is told on the error stream. Ctrl-C ends the match with the
    partial result, of the sets played so far, and exit code 130.
    """
    _need_matches("match")
    # Only a match needs scipy, which loads slowly.
    from aleator.search.match import play_match
    from aleator.service.cli.contest import contest

    options = _options(players, option)
    if plot:
        check_plot(plot)
    result = contest(
        Console(stderr=True),
        lambda progress, stop: play_match(
            game,
            *bots,
            options=options,
            pairs=pairs,
            seed=seed,
            elo0=elo0,
            elo1=elo1,
            workers=usable_cores() if workers is None else workers,
            file=file,
            record=record,
            progress=progress,
            stop=stop,
        ),
    )
    if result is None:
        typer.echo("stopped before the first set of games had ended: no result", err=True)
        raise typer.Exit(INTERRUPTED)
    if plot:
        match_plot(result, plot)
    if json:
        typer.echo(dumps(asdict(result)))
    else:
        show(match_report(result))
    if result.partial:
        raise typer.Exit(INTERRUPTED)


@app.command()
def calibrate(
    game: Annotated[str, typer.Argument(metavar="GAME", help="Id of the game, such as roygbiv.")],
    pairs: Annotated[
        int, typer.Option(help="Sets of games of each match: the same dice, exchanged seats.")
    ] = 100,
    seed: Seed = None,
    workers: Workers = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Keep finished sets there; the same command later goes on. Needs --seed.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write the result there: search/strength/GAME.json of the sources."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Measure how strong the levels are in a game, by matches among them.

    This takes hours. Ctrl-C ends it without a result; with --folder it can go on later.
    """
    _need_matches("calibrate")
    from aleator.search.calibration import calibrate as measure
    from aleator.service.cli.contest import contest

    if output and not output.parent.is_dir():
        raise InvalidInput.at("output", f"is in a folder that there is not: {output.parent}")
    result = contest(
        Console(stderr=True),
        lambda progress, stop: measure(
            game,
            pairs=pairs,
            seed=seed,
            workers=usable_cores() if workers is None else workers,
            folder=folder,
            progress=progress,
            stop=stop,
        ),
    )
    if result is None:
        typer.echo("stopped before the end: no result", err=True)
        raise typer.Exit(INTERRUPTED)
    text = result.model_dump_json(indent=2)
    if output:
        output.write_text(text + "\n")
    if json:
        typer.echo(text)
    else:
        show(calibration_report(result))


@app.command()
def review(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Games that `play` or `match` recorded.")
    ],
    game: Annotated[
        int, typer.Option(metavar="NUMBER", help="Which game of the file, from 1.")
    ] = 1,
    time: Annotated[
        str | None, typer.Option(metavar="DURATION", help="Time of each search at most.")
    ] = None,
    simulations: Annotated[
        int | None,
        typer.Option(help="Simulations of each search at most. Default: 10,000 without a time."),
    ] = None,
    threads: Annotated[int, typer.Option(help="Threads to search with.")] = 1,
    seed: Seed = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw it, as .svg or .png; needs matplotlib."),
    ] = None,
    json: Json = False,
) -> None:
    """Tell what each move of a recorded game cost, in share of the win.

    Each move is judged by what its player could know. One search finds the best
    move; if another was played, two more compare the two. Ctrl-C ends the review
    with what it has.
    """
    if plot:
        check_plot(plot)
    if time is None and simulations is None:
        simulations = REVIEW_SIMULATIONS
    limits = Limits(None if time is None else parse_duration(time), simulations, threads)
    games = read_games(file)
    if not 1 <= game <= len(games):
        raise InvalidInput.at("game", f"must be 1..{len(games)}, not {game}")
    record = games[game - 1]
    reviews: list[MoveReview] = []
    all_moves = sum(len(ply.moves) for ply in record.plies)
    interrupted = False
    with Console(stderr=True).status("") as status:
        try:
            for reviewed in review_game(record, Engine(), limits, pick_seed(seed)):
                reviews.append(reviewed)
                status.update(f"{len(reviews)} of {all_moves} moves; Ctrl-C ends it")
        except KeyboardInterrupt:
            interrupted = True
    if plot:
        review_plot(record, reviews, plot)
    if json:
        moves = [asdict(move) | {"grade": move.grade} for move in reviews]
        seats = [asdict(seat) for seat in sum_up(record, reviews)]
        typer.echo(dumps({"game": record.game, "moves": moves, "seats": seats}))
    else:
        show(review_report(record, reviews))
    if interrupted:
        raise typer.Exit(INTERRUPTED)


def _position(notation: str, context: typer.Context) -> Position:
    """The position of a command, which takes no argument but it."""
    if context.args:
        raise InvalidInput.at("notation", f"must be in quotes: '{notation} ...'")
    return Position.parse(notation)


def _need_matches(command: str) -> None:
    """Complain if what only matches need is not installed: it is large."""
    if find_spec("choix") is None:
        raise InvalidInput.at(command, f"needs more: {install('matches')}")


def _options(players: int | None, texts: Sequence[str] | None) -> dict[str, object]:
    """The options of a game, from the command's own option and from NAME=VALUE texts."""
    given = [] if players is None else [f"players={players}"]
    options: dict[str, object] = {}
    for text in [*given, *(texts or ())]:
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise InvalidInput.at("option", f"must be NAME=VALUE, not {shorten(text)}")
        if name in options:
            raise InvalidInput.at(f"options.{name}", "is given twice")
        options[name] = parse_option(value)
    return options


def main() -> None:
    """Run the command line."""
    # A terminal that lacks a sign gets a question mark instead of a traceback.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    app()
