"""The command line, as a person and as a program use it."""

import io
import json
import math
import random
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from rich.console import Console, RenderableType
from rich.text import Text
from typer.testing import CliRunner, Result

from aleator.search import (
    Analysis,
    Engine,
    Limits,
    Position,
    StopReason,
    calibration,
    strength,
)
from aleator.search.games import game_ids
from aleator.search.players import players_of
from aleator.search.strength import Level
from aleator.service.cli.app import app
from aleator.service.cli.play import ERASE_SCROLLED, Opponent, Play
from aleator.service.cli.think import think
from aleator.service.drawing import DRAWINGS, RoygbivDrawing, Scene

MATCH = ["match", "random", "greedy", "--workers", "1"]
SVG = "{http://www.w3.org/2000/svg}"
SEARCH = ["--simulations", "200", "--seed", "7"]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


@pytest.fixture
def opening() -> str:
    return Position.create("roygbiv", seed=1).notation


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pair of games in a file."""
    file = tmp_path_factory.mktemp("games") / "games.jsonl"
    assert run(*MATCH, "--pairs", "1", "--seed", "3", "--record", str(file)).exit_code == 0
    return file


def test_games_lists_roygbiv() -> None:
    assert "roygbiv" in run("games").stdout
    listed = json.loads(run("games", "--json").stdout)["games"]
    assert [game["seatCounts"] for game in listed if game["game"] == "roygbiv"] == [[2, 3, 4, 6]]


def test_games_lists_whole_values_and_choices_in_80_columns() -> None:
    lines = run("games").stdout.splitlines()
    assert all(line == line.rstrip() and len(line) <= 80 for line in lines)
    words = " ".join(" ".join(lines).split())
    assert 'mode default "simultaneous"; of "simultaneous", "sequential"' in words
    assert "max_rolls default 2000" in words
    assert "…" not in words


def test_tables_have_no_trailing_blanks_and_seeds_a_line_of_their_own(opening: str) -> None:
    suggested = run("suggest", opening, *SEARCH).stdout.splitlines()
    assert suggested[-1] == "seed: 7"
    matched = run(*MATCH, "--pairs", "1", "--seed", "12345").stdout
    assert matched.splitlines()[-1].endswith("seed: 12345")
    assert all(line == line.rstrip() for line in [*suggested, *matched.splitlines()])


def test_a_long_line_stays_one_through_a_pipe(opening: str) -> None:
    lines = run("suggest", opening, "--simulations", "20000", "--threads", "2").stdout.splitlines()
    assert sum("ended by: " in line and line.startswith("20,000 sim") for line in lines) == 1


def test_suggest_marks_what_may_be_as_good() -> None:
    shelves = ",".join(["...../...../...../...../....."] * 2)
    command = (
        "suggest",
        f"my_shelfie {shelves} ppggbt 0 0 0",
        "--simulations",
        "2000",
        "--seed",
        "1",
    )
    lines = run(*command).stdout.splitlines()
    analysis = json.loads(run(*command, "--json").stdout)
    first, *others = analysis["candidates"][:10]

    def tied(other: dict[str, Any]) -> bool:
        one, two = first["estimate"], other["estimate"]
        near = max(0.005, math.hypot(one["standardError"], two["standardError"]))
        looked_at = int(other["visits"]) >= 0.05 * int(first["visits"])
        return looked_at and one["winShares"][0] - two["winShares"][0] <= near

    assert {tied(other) for other in others} == {False, True}
    rows = [line for line in lines if "circle:" in line and "%" in line]
    assert [row.strip().startswith("≈") for row in rows] == [False, *map(tied, others)]


def test_suggest_tells_people_the_candidates(opening: str) -> None:
    result = run("suggest", opening, *SEARCH)
    analysis = json.loads(run("suggest", opening, *SEARCH, "--json").stdout)
    assert result.exit_code == 0
    assert "win share" in result.stdout
    assert analysis["bestMoveNotation"] in result.stdout


def test_analyze_tells_how_far_it_is_and_ends_with_what_suggest_says(opening: str) -> None:
    search = ["--simulations", "20000", "--seed", "7"]
    *progress, _ = (
        run("analyze", opening, "--time", "1s", "--interval", "100ms")
        .stdout.split("\n\n", 1)[0]
        .splitlines()
    )
    assert len(progress) >= 2
    assert all(re.match(r"\d+\.\d s, [\d,]+ simulations: \S+ \d+\.\d%, ", one) for one in progress)
    analyzed, suggested = (
        run(command, opening, *search, *more).stdout.splitlines()
        for command, more in [("analyze", ["--interval", "1m"]), ("suggest", [])]
    )
    assert len(analyzed) == len(suggested)
    assert [line for line in analyzed if " in " not in line] == [
        line for line in suggested if " in " not in line
    ]


def test_analyze_tells_programs_reports_by_lines(opening: str) -> None:
    limits = ["--time", "1s", "--interval", "100ms"]
    lines = run("analyze", opening, *limits, "--json").stdout.splitlines()
    reports = [json.loads(line) for line in lines]
    assert len(reports) >= 2
    assert [report.get("final", False) for report in reports] == [False] * (len(lines) - 1) + [True]
    assert all(report["analysis"]["candidates"] for report in reports)


def test_an_interrupted_analysis_tells_what_it_has(opening: str) -> None:
    command = [Path(sys.executable).with_name("aleator"), "analyze", opening, "--time", "50s"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, bufsize=1)
    assert process.stdout is not None
    assert "simulations: " in process.stdout.readline()
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=20)
    assert process.returncode == 0
    assert "ended by: stopped" in " ".join(output.split())


def test_analyze_at_a_terminal_draws_the_table_anew(
    opening: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    output = run("analyze", opening, "--time", "1s", "--interval", "100ms").stdout
    words = " ".join(re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", output).split())
    assert words.count("expected play") >= 3
    assert "threads: 1, searching seed: " in words
    assert "ended by: time" in words


def test_suggest_tells_programs_a_legal_move_and_repeats_itself(opening: str) -> None:
    first, second = (json.loads(run("suggest", opening, *SEARCH, "--json").stdout) for _ in "12")
    Position.parse(opening).find_move(first["bestMoveNotation"])
    assert first["statistics"]["simulations"] == "200"
    for analysis in first, second:
        del analysis["statistics"]["elapsed"]
    assert first == second


@pytest.mark.parametrize(
    ("arguments", "fields"),
    [
        (["serve", "--listen", "nowhere"], ["listen: "]),
        (["key", "a b"], ["name: "]),
        (["suggest", "chess e4"], ["game: "]),
        (["suggest", "roygbiv"], ["notation: "]),
        (["suggest", "OPENING", "--time", "soon"], ["time: "]),
        (["suggest", "OPENING", "--time=-1s"], ["time: "]),
        (
            ["suggest", "OPENING", "--simulations", "0", "--threads", "0"],
            ["simulations: ", "threads: "],
        ),
        (["suggest", "OPENING", "--level", "11"], ["level: "]),
        (["suggest", "OPENING", "--elo", "99999"], ["elo: "]),
        (["suggest", "OPENING", "--elo", "1000", "--level", "3"], ["elo: "]),
        (["play", "roygbiv", "--elo", "99999"], ["elo: "]),
        (["suggest", "OPENING", "--seat", "2"], ["seat: "]),
        (["suggest", "OPENING", "--seed=-1"], ["seed: "]),
        (["analyze", "roygbiv"], ["notation: "]),
        (["analyze", "OPENING", "--interval", "often"], ["interval: "]),
        (["analyze", "OPENING", "--interval=-1s"], ["interval: "]),
        (["analyze", "OPENING", "--seat", "2"], ["seat: "]),
        (["play", "roygbiv", "--seat", "2"], ["seat: "]),
        (["play", "roygbiv", "--players", "5"], ["options.players: "]),
        (["play", "roygbiv", "--seat", "0", "--seat", "3"], ["seat: "]),
        (["play", "roygbiv", "--watch", "--seat", "0"], ["watch: "]),
        (["play", "roygbiv", "--option", "open_hands"], ["option: "]),
        (["play", "roygbiv", "--option", "=1"], ["option: "]),
        (["play", "roygbiv", "--option", "open_hands=2"], ["options.open_hands: "]),
        (["play", "roygbiv", "--option", "players=3", "--players", "3"], ["options.players: "]),
        (["play", "roygbiv", "--option", "a=1", "--option", "a=2"], ["options.a: "]),
        (["play", "my_shelfie", "--option", "values=[1,2]"], ["options.values: "]),
        (["match", "random", "greedy", "--option", "colour=red"], ["options.colour: "]),
        (["play", "roygbiv", "--seed", "-3"], ["seed: must be 0..2^64-1"]),
        (
            ["match", "random", "engine:knowledge=maybe,exploration=x", "--pairs", "1"],
            [
                "bots[1].knowledge: must be true or false, not 'maybe'",
                "bots[1].exploration: must be a number, not 'x'",
            ],
        ),
        (["match", "random", "deep-thought", "--pairs", "1"], ["bots[1]: "]),
        (["match", "random", "greedy", "--pairs", "0"], ["pairs: "]),
        (["match", "random"], ["bots: "]),
        (["calibrate", "chess"], ["game: "]),
        (["review", "/nowhere/x"], ["file: "]),
        (["review", "RECORD", "--game", "3"], ["game: "]),
        (["review", "RECORD", "--time", "soon"], ["time: "]),
        (["review", "RECORD", "--plot", "x"], ["plot: "]),
        (["calibrate", "roygbiv", "--pairs", "0"], ["pairs: "]),
        (["calibrate", "roygbiv", "--folder", "x"], ["seed: "]),
        (["calibrate", "roygbiv", "--output", "/nowhere/x.json"], ["output: "]),
        (["match", "random", "greedy", "--workers", "0"], ["workers: "]),
        (["match", "random", "greedy", "--elo0", "5"], ["elo1: "]),
        (["match", "random", "greedy", "--plot", "x.txt"], ["plot: "]),
        (["match", "random", "greedy", "--plot", "/nowhere/x.svg"], ["plot: "]),
        (["match", "random", "greedy", "--file", "/nowhere/x"], ["file: "]),
    ],
)
def test_wrong_input_is_told_line_by_line(
    arguments: list[str], fields: list[str], opening: str, recorded: Path
) -> None:
    stand_ins = {"OPENING": opening, "RECORD": str(recorded)}
    result = run(*(stand_ins.get(argument, argument) for argument in arguments))
    assert result.exit_code == 2
    lines = result.stderr.splitlines()
    assert len(lines) == len(fields)
    for line, field in zip(lines, fields, strict=True):
        assert line.startswith(field)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["play", "roygbiv", "--players", "5"], "options.players: must be 2, 3, 4 or 6, not 5"),
        (
            ["play", "roygbiv", "--option", "open_hands=2"],
            "options.open_hands: must be true or false, not 2",
        ),
        (
            ["play", "generator", "--option", "max_rolls=0"],
            "options.max_rolls: must be at least 1, not 0",
        ),
        (["suggest", "OPENING", "--threads", "0"], "threads: must be 1..256, not 0"),
        (
            ["suggest", "OPENING", "--time", "soon"],
            "time: must be seconds, or a duration such as 50ms or 1m30s, not 'soon'",
        ),
        (["suggest", "OPENING", "--seat", "1"], "seat: must be 0, which is to act, not 1"),
        (["suggest", "roygbiv", "board", "-"], "notation: must be in quotes: 'roygbiv ...'"),
        (["match", "random", "engine:sims=x"], "bots[1].sims: must be an integer, not 'x'"),
    ],
)
def test_plain_words_for_wrong_input(arguments: list[str], line: str, opening: str) -> None:
    result = run(*(opening if argument == "OPENING" else argument for argument in arguments))
    assert result.stderr == f"{line}\n"


class Table:
    """A game at a terminal, with people who answer at random; keeps what was shown and asked."""

    def __init__(
        self,
        monkeypatch: pytest.MonkeyPatch,
        people: list[int],
        options: dict[str, object],
        game: str = "roygbiv",
        answers: Sequence[str] = (),
        pace: float = 0.0,
    ) -> None:
        self.screen = io.StringIO()
        self.scenes: list[Scene] = []
        self.asked: list[str] = []
        self._answers = list(answers)
        self._chance = random.Random(5)
        self.console = Console(file=self.screen, width=100, force_terminal=True, color_system=None)
        drawing = DRAWINGS[game]()
        self._draw = drawing.draw
        monkeypatch.setattr(drawing, "draw", self._record)
        self.play = Play(
            self.console,
            drawing,
            Position.create(game, options, seed=5),
            people,
            Opponent(Engine(), Limits(simulations=10), pace=pace),
            self._chance,
        )
        monkeypatch.setattr(self.console, "input", self._answer)
        self.play.run()

    def _record(self, scene: Scene) -> RenderableType:
        self.scenes.append(scene)
        if scene.seat is not None:
            assert scene.state == self.play.position.observe(scene.seat).record
        return self._draw(scene)

    def _answer(self, prompt: Text) -> str:
        self.console.print(prompt)
        self.asked.append(prompt.plain)
        if "press Enter" in prompt.plain:
            return ""
        if self._answers:
            return self._answers.pop(0)
        # The scene's seat is asked: the moves are its own.
        seat = self.play._viewer
        assert seat is not None
        assert prompt.plain.startswith("Your" if len(self.play.people) == 1 else f"Player {seat},")
        return self._chance.choice(self.play.position.moves(seat)).notation.replace("@", " ")


def assert_only_own_hand(scene: Scene) -> None:
    for view in [scene.state, *scene.before]:
        for seat, hand in enumerate(view["hands"]):
            assert seat == scene.seat or not hand.get("dice")
    assert not any("value" in event.get("drew", {}) for event in scene.events)


def assert_bots_tell_nothing(table: Table) -> None:
    """Neither what a bot expects nor whether it had a choice."""
    for words in "expects to win", "tried", "only one move":
        assert words not in table.screen.getvalue()


def assert_one_at_a_time(table: Table) -> None:
    """Between the views of players 0 and 2 the screen is wiped."""
    screens = table.screen.getvalue().split(ERASE_SCROLLED)
    assert any("Player 0, your move" in screen for screen in screens)
    assert any("Player 2, your move" in screen for screen in screens)
    for screen in screens:
        assert not ("Player 0, your move" in screen and "Player 2, your move" in screen)


@pytest.mark.parametrize(("players", "seat"), [(2, 1), (4, 2)])
def test_a_whole_game_shows_only_what_the_seat_may_see(
    players: int, seat: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = ["", "help", "hint", "9 z9", "nonsense"]
    table = Table(monkeypatch, [seat], {"players": players}, answers=answers)
    game = table.play
    assert game.position.finished
    for scene in table.scenes:
        assert scene.seat == seat
        assert_only_own_hand(scene)
    assert not any("press Enter" in prompt for prompt in table.asked)
    assert_bots_tell_nothing(table)
    final = " : ".join(f"{score:g}" for score in game.position.scores)
    last_line = table.screen.getvalue().splitlines()[-1]
    assert final in last_line
    assert ("You" in last_line) == bool(game.position.win_shares and game.position.win_shares[seat])


def test_people_at_one_terminal_do_not_see_the_hands_of_each_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = Table(monkeypatch, [2, 0], {"players": 4})
    assert table.play.names == ["Player 0", "Bot 1", "Player 2", "Bot 3"]
    assert table.play.position.finished
    for scene in table.scenes:
        assert_only_own_hand(scene)
    assert {scene.seat for scene in table.scenes} == {0, 2, None}
    assert_one_at_a_time(table)
    hand_overs = [prompt for prompt in table.asked if "press Enter" in prompt]
    assert len(hand_overs) == 24  # one before each of their moves: 48 plays, half of them of bots
    assert "Player 0" in hand_overs[0] or "Player 2" in hand_overs[0]
    assert " won, " in table.screen.getvalue().splitlines()[-1]


def test_scores_are_called_what_they_count(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table(monkeypatch, [0], {"max_rolls": 6}, game="generator")
    assert " pieces in place (" in table.screen.getvalue()
    assert "points" not in table.screen.getvalue()


def test_people_with_open_hands_need_no_empty_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    options = {"players": 3, "open_hands": True}
    table = Table(monkeypatch, [0, 1], options)
    assert not any("press Enter" in prompt for prompt in table.asked)
    assert "expects to win" in table.screen.getvalue()
    # Everybody is told all that happened since the own last move.
    for scene in table.scenes[4:-1]:
        played = [event["played"]["seat"] for event in scene.events if "played" in event]
        assert len(played) in {1, 2, 3}


def test_a_game_is_watched_with_open_hands(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table(monkeypatch, [], {})
    assert not table.asked
    assert len(table.scenes) == 49
    for scene in table.scenes:
        assert not any(hand.get("hidden_count") for hand in scene.state["hands"])
    assert "Bot " in table.screen.getvalue().splitlines()[-1]


@pytest.mark.parametrize("game", game_ids())
def test_every_game_can_be_played_by_people_and_bots(
    game: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"players": 3} | ({"max_rolls": 60} if game == "generator" else {})
    table = Table(monkeypatch, [0, 2], options, game)
    assert table.play.position.finished
    assert any(prompt.startswith("Player 2, your move") for prompt in table.asked)
    if table.play.position.codec.hidden:
        assert_one_at_a_time(table)


def test_hidden_hands_stay_hidden_though_the_bots_moves_are_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = Table(monkeypatch, [1], {"players": 3}, "riviera")
    assert_bots_tell_nothing(table)
    shown = table.screen.getvalue()
    for words in "Bot 0 played", "Bot 2 played", "You played":
        assert words in shown
    if "swapped two cards with You" in shown:
        assert "You gave" in shown
    assert "Bot 0 gave" not in shown
    assert "Bot 2 gave" not in shown
    for scene in table.scenes:
        assert len(scene.before) == len(scene.events)


def test_a_forced_move_takes_as_long_as_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where hands are hidden; with open ones nobody has to wait."""
    took: dict[bool, list[float]] = {True: [], False: []}

    def timed(console: Console, *arguments: Any, **settings: Any) -> Analysis:
        before = time.monotonic()
        analysis = think(console, *arguments, **settings)
        forced = analysis.statistics.stop_reason is StopReason.ONLY_MOVE
        took[forced].append(time.monotonic() - before)
        return analysis

    monkeypatch.setattr("aleator.service.cli.play.think", timed)
    Table(monkeypatch, [0], {"players": 4}, "riviera", pace=0.01)
    assert len(took[True]) > 3
    assert min(took[True]) >= 0.01
    took[False].clear()
    Table(monkeypatch, [0], {"max_rolls": 20}, "generator", pace=5)
    assert took[False]
    assert max(took[False]) < 5


def test_ctrl_c_ends_also_a_wait(opening: str) -> None:
    console = Console(file=io.StringIO())
    previous = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        limits = Limits(simulations=1)
        position = Position.parse(opening)
        analysis = think(console, "", Engine(), position, limits=limits, at_least=30)
    finally:
        signal.signal(signal.SIGALRM, previous)
    assert analysis.statistics.stop_reason is StopReason.STOPPED
    assert analysis.best_move in position.moves()


def test_serve_on_a_taken_port_ends_with_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        command = [sys.executable, "-m", "aleator.service.cli", "serve", "--listen", address]
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"listen: cannot listen on {address}: ")


@pytest.mark.parametrize("game", game_ids())
def test_people_are_told_their_moves_and_what_they_know(
    game: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"max_rolls": 8} if game == "generator" else {}
    table = Table(monkeypatch, [0], options, game, answers=["help", "moves", "position"])
    _, helped, listed, told, *_ = table.screen.getvalue().split("Your move (or help): \n")
    observation = Position.parse(told.splitlines()[0].strip("'"))
    assert observation == observation.observe(0)
    moves = [move.notation for move in observation.moves(0)]
    assert f"as the engine writes it: {moves[-1]}" in helped
    words = listed.split()
    assert all(move in words for move in moves)


def test_play_works_through_a_pipe() -> None:
    command = [sys.executable, "-m", "aleator.service.cli", "play", "roygbiv"]
    result = subprocess.run(
        [*command, "--time", "10ms", "--seed", "3"],
        input="help\nhint\nposition\nmoves\n8 d4\nquit\n",
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    # An example of a move is any that is legal after the bot's, which depends on its time.
    assert re.search(r"\d [a-g][1-7]  puts a \d on column [a-g], row [1-7]", result.stdout)
    assert "Hint: " in result.stdout
    assert result.stdout.endswith("You left the game.\n")
    assert "\x1b" not in result.stdout


def test_the_picture_points_out_the_last_play_and_its_captures() -> None:
    cells = [0] * 49
    cells[24], cells[25], cells[0] = 5, 5, 7
    played = {"seat": 1, "value": 5, "row": 3, "column": 4, "points": 3}
    captured = [{"row": 3, "column": 3, "value": 3}]
    scene = Scene(
        state={
            "cells": cells,
            "played": [0, 0, 1, 0, 1, 0, 1],
            "hands": [{"dice": [1, 6, 6]}, {"hidden_count": 3}],
            "scores": [0, 3],
            "seat_to_act": 0,
        },
        options={"players": 2, "open_hands": False},
        names=["You", "Bot"],
        events=[{"played": {**played, "captured": captured}}],
    )
    screen = io.StringIO()
    Console(file=screen, width=80).print(RoygbivDrawing().draw(scene))
    lines = screen.getvalue().splitlines()
    assert all(len(line) <= 80 for line in lines)
    assert "3→5" in lines[8]
    assert "▸5◂" in lines[8]
    assert "In the bag  40" in screen.getvalue()
    assert "×5" in screen.getvalue()


def test_match_is_reproducible_and_sees_that_greedy_beats_random() -> None:
    arguments = [*MATCH, "--pairs", "20", "--seed", "1", "--json"]
    first, second = (json.loads(run(*arguments).stdout) for _ in "12")
    assert first == second
    blind, greedy = first["bots"]
    assert 0.5 < greedy["interval"][0] < greedy["win_share"] < greedy["interval"][1] <= 1
    assert blind["elo"]["interval"][1] < greedy["elo"]["elo"] == 0


def test_help_names_all_players() -> None:
    text = " ".join(run("match", "--help").stdout.split())
    for game in game_ids():
        assert f"{game}: {', '.join(players_of(game))}" in text


def test_a_match_for_people() -> None:
    result = run(*MATCH, "engine:sims=50", "--pairs", "2", "--seed", "1")
    lines = result.stdout.splitlines()
    assert all(len(line) <= 80 for line in lines)
    assert lines[0] == "most of the win: engine:sims=50"
    assert [line.split()[0] for line in lines[4:7]] == ["random", "greedy", "engine:sims=50"]
    tested = run(*MATCH, "--pairs", "30", "--seed", "1", "--elo0", "-50", "--elo1", "0").stdout
    assert "test of -50 against +0 Elo: decided for -50 (LLR -" in tested
    assert tested.startswith("random against greedy: random leads by at most -50 Elo\n")


@pytest.mark.parametrize("bots", [[], ["engine:sims=50"]])
def test_a_match_is_drawn(bots: list[str], tmp_path: Path) -> None:
    drawn = []
    for name in "first.svg", "second.svg", "third.png":
        file = tmp_path / name
        arguments = [*MATCH, *bots, "--pairs", "3", "--seed", "1", "--plot", str(file)]
        assert run(*arguments).exit_code == 0
        drawn.append(file.read_bytes())
    assert drawn[0] == drawn[1]
    texts = [text.text for text in ET.fromstring(drawn[0]).iter(f"{SVG}text")]
    assert "win share, %" in texts
    assert any("random" in text for text in texts if text)
    assert drawn[2].startswith(b"\x89PNG")


def test_a_calibration_is_shown_and_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    levels = (Level(2, 0.2), Level(None, 0.0))
    monkeypatch.setattr(strength, "LEVELS", levels)
    monkeypatch.setattr(calibration, "LEVELS", levels)
    monkeypatch.setattr(calibration, "TOP_SIMULATIONS", 10)
    file = tmp_path / "roygbiv.json"
    arguments = ["calibrate", "roygbiv", "--pairs", "1", "--seed", "1", "--workers", "1"]
    result = run(*arguments, "--output", str(file))
    written = json.loads(file.read_text())
    assert json.loads(run(*arguments, "--json").stdout) == written
    lines = result.stdout.splitlines()
    assert lines[0] == "roygbiv: 8 games, greedy is 1000"
    rows = {line.split("  ")[1].strip(): line.split()[-4] for line in lines[4:8]}
    assert rows.keys() == {"random", "greedy", "level 1", "level 2"}
    assert rows["level 2"] == f"{written['levels'][1]['elo']:.0f}"


def test_a_review(recorded: Path, tmp_path: Path) -> None:
    picture = tmp_path / "review.svg"
    arguments = ["review", str(recorded), "--simulations", "100", "--seed", "1"]
    lines = run(*arguments, "--plot", str(picture)).stdout.splitlines()
    assert all(len(line) <= 80 for line in lines)
    told = json.loads(run(*arguments, "--json").stdout)
    assert lines[0].removeprefix("roygbiv: ") in {"random against greedy", "greedy against random"}
    assert len(told["moves"]) == 48
    rows = [line.split() for line in lines[4:52]]
    assert [row[:3] for row in rows] == [
        [str(move["ply"]), str(move["seat"]), move["played"]] for move in told["moves"]
    ]
    assert [row[-1] for row in rows if row[-1].isalpha() and row[-1] != "forced"] == [
        move["grade"] for move in told["moves"] if move["grade"]
    ]
    blind, greedy = sorted(told["seats"], key=lambda seat: str(seat["player"]), reverse=True)
    assert blind["mean_loss"] > greedy["mean_loss"]
    assert ET.fromstring(picture.read_bytes()).tag == f"{SVG}svg"
    other = run(*arguments, "--game", "2").stdout.splitlines()[0]
    assert {other, lines[0]} == {
        "roygbiv: random against greedy",
        "roygbiv: greedy against random",
    }


def test_a_game_with_a_person_can_be_reviewed(tmp_path: Path) -> None:
    file = tmp_path / "game.jsonl"
    command = [sys.executable, "-m", "aleator.service.cli", "play", "roygbiv", "--seed", "3"]
    subprocess.run(
        [*command, "--time", "10ms", "--record", str(file)],
        input="".join(f"{value} a1\n" for value in range(1, 8)) + "quit\n",
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    record = json.loads(file.read_text())
    assert record["players"] == ["You", "Bot"]
    assert "scores" not in record
    own = [ply["moves"]["0"] for ply in record["plies"] if "0" in ply["moves"]]
    assert own[0].endswith("@a1")
    assert run("review", str(file), "--simulations", "100").exit_code == 0


def test_a_match_keeps_its_sets_in_a_file(tmp_path: Path) -> None:
    file = str(tmp_path / "match.jsonl")
    arguments = [*MATCH, "--seed", "1", "--json", "--file", file]
    short = json.loads(run(*arguments, "--pairs", "2").stdout)
    long = json.loads(run(*arguments, "--pairs", "4").stdout)
    assert long["bots"][0]["set_shares"][:2] == short["bots"][0]["set_shares"]
    refused = run(*arguments, "--players", "3")
    assert refused.exit_code == 2
    assert refused.stderr.startswith("file: is of another match: options ")


@pytest.mark.parametrize("extra", [["--workers", "1"], ["--workers", "2"]])
def test_an_interrupted_match_tells_its_partial_result(extra: list[str]) -> None:
    command = [sys.executable, "-m", "aleator.service.cli", "match", "random", "greedy"]
    with subprocess.Popen(
        [*command, "--pairs", "100000", "--seed", "1", "--json", *extra],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline().startswith("0 of 200,000 games and 0 moves")
        while " 0 moves" in process.stderr.readline():  # one every some seconds
            pass
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in stderr
    result = json.loads(stdout)
    assert result["partial"]
    assert 0 < result["games"] == 2 * result["pairs"] < 200_000


def test_a_match_with_options() -> None:
    result = run(
        *(*MATCH, "--pairs", "1", "--seed", "1", "--json", "--players", "3"),
        *("--option", "open_hands=true"),
    )
    assert json.loads(result.stdout)["options"] == {"players": 3, "open_hands": True}


def test_only_matches_need_what_the_extra_for_them_installs() -> None:
    program = (
        "import sys; sys.modules |= dict.fromkeys(['choix', 'numpy', 'scipy'])\n"
        "import aleator.service.server; from aleator.service.cli import main; main()"
    )

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", program, *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)

    for command in (["match", "random", "greedy"], ["calibrate", "roygbiv"]):
        done = run(*command)
        assert done.returncode == 2
        assert done.stderr == (
            f"{command[0]}: needs more: {sys.executable} -m pip install 'aleator[matches]'\n"
        )
    assert (
        run(
            "suggest", Position.create("roygbiv", seed=1).notation, "--simulations", "10"
        ).returncode
        == 0
    )
