"""The command line, as a person and as a program use it."""

import builtins
import io
import json
import random
import subprocess
import sys

import pytest
from rich.console import Console, RenderableType
from typer.testing import CliRunner, Result

from aleator.search import Engine, Limits, Position
from aleator.service.cli.app import app
from aleator.service.cli.play import Opponent, Play
from aleator.service.drawing import RoygbivDrawing, Scene

SEARCH = ["--simulations", "200", "--seed", "7"]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


@pytest.fixture
def opening() -> str:
    return Position.create("roygbiv", seed=1).notation


def test_games_lists_roygbiv() -> None:
    assert "roygbiv" in run("games").stdout
    listed = json.loads(run("games", "--json").stdout)["games"]
    assert [game["seatCounts"] for game in listed if game["game"] == "roygbiv"] == [[2, 3, 4, 6]]


def test_suggest_tells_people_the_candidates(opening: str) -> None:
    result = run("suggest", opening, *SEARCH)
    analysis = json.loads(run("suggest", opening, *SEARCH, "--json").stdout)
    assert result.exit_code == 0
    assert "win share" in result.stdout
    assert analysis["bestMoveNotation"] in result.stdout


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
        (["suggest", "chess e4"], ["game: "]),
        (["suggest", "roygbiv"], ["notation: "]),
        (["suggest", "OPENING", "--time", "soon"], ["time: "]),
        (["suggest", "OPENING", "--time=-1s"], ["time: "]),
        (
            ["suggest", "OPENING", "--simulations", "0", "--threads", "0"],
            ["simulations: ", "threads: "],
        ),
        (["suggest", "OPENING", "--level", "11"], ["level: "]),
        (["suggest", "OPENING", "--seat", "2"], ["seat: "]),
        (["suggest", "OPENING", "--seed=-1"], ["seed: "]),
        (["play", "roygbiv", "--seat", "2"], ["seat: "]),
        (["play", "roygbiv", "--players", "5"], ["options.players: "]),
        (["match", "random", "deep-thought", "--pairs", "1"], ["b: "]),
        (["match", "random", "greedy", "--pairs", "0"], ["pairs: "]),
    ],
)
def test_wrong_input_is_told_line_by_line(
    arguments: list[str], fields: list[str], opening: str
) -> None:
    result = run(*(opening if argument == "OPENING" else argument for argument in arguments))
    assert result.exit_code == 2
    lines = result.stderr.splitlines()
    assert len(lines) == len(fields)
    for line, field in zip(lines, fields, strict=True):
        assert line.startswith(field)


class RecordingDrawing(RoygbivDrawing):
    """Keeps all that the person was shown."""

    def __init__(self) -> None:
        self.scenes: list[Scene] = []

    def draw(self, scene: Scene) -> RenderableType:
        self.scenes.append(scene)
        return super().draw(scene)


@pytest.mark.parametrize(("players", "seat"), [(2, 1), (4, 2)])
def test_a_whole_game_shows_only_what_the_seat_may_see(
    players: int, seat: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = io.StringIO()
    drawing = RecordingDrawing()
    chance = random.Random(5)
    game = Play(
        Console(file=screen, width=100),
        drawing,
        Position.create("roygbiv", {"players": players}, seed=5),
        seat,
        Opponent(Engine(), Limits(simulations=10)),
        chance,
    )
    answers = ["", "help", "hint", "9 z9", "nonsense"]

    def answer() -> str:
        if answers:
            return answers.pop(0)
        return chance.choice(game.position.moves(seat)).notation.replace("@", " ")

    monkeypatch.setattr(builtins, "input", answer)
    game.run()

    assert game.position.finished
    for scene in drawing.scenes:
        others = [hand for other, hand in enumerate(scene.state["hands"]) if other != seat]
        assert not any(hand.get("dice") for hand in others)
        assert not any("value" in event.get("drew", {}) for event in scene.events)
    final = " : ".join(f"{score:g}" for score in game.position.scores)
    last_line = screen.getvalue().splitlines()[-1]
    assert final in last_line
    assert ("You" in last_line) == bool(game.position.win_shares and game.position.win_shares[seat])


def test_play_works_through_a_pipe() -> None:
    command = [sys.executable, "-m", "aleator.service.cli", "play", "roygbiv"]
    result = subprocess.run(
        [*command, "--time", "10ms", "--seed", "3"],
        input="help\nhint\n8 d4\nquit\n",
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    assert "5 d4" in result.stdout
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
    arguments = ["match", "greedy", "random", "--pairs", "20", "--seed", "1", "--json"]
    first, second = (json.loads(run(*arguments).stdout) for _ in "12")
    assert first == second
    assert 0.5 < first["interval"][0] < first["win_share"] < first["interval"][1] <= 1
