"""The programs in examples/ do what they say, against a server as anybody starts it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from aleator.search.games import game_ids

EXAMPLES = Path(__file__).parents[2] / "examples"
BESIDE_PYTHON = Path(sys.executable).parent


def run(server, *command, folder=EXAMPLES):
    """Run a program that finds the server by its ADDRESS; return what it printed."""
    done = subprocess.run(
        command,
        cwd=folder,
        env=os.environ
        | {
            "ADDRESS": server.address,
            "MPLBACKEND": "agg",
            "PATH": f"{BESIDE_PYTHON}:{os.environ['PATH']}",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.mark.parametrize("game", game_ids())
def test_round_trip(server, game):
    output = run(server, EXAMPLES / "round_trip.sh", game)
    assert f'It sees "{game} ' in output
    assert "which wins" in output
    assert "To act now: seat" in output


def test_round_trip_of_no_game(server):
    with pytest.raises(AssertionError, match="unknown game 'chess'"):
        run(server, EXAMPLES / "round_trip.sh", "chess")


def test_win_shares(server, tmp_path):
    output = run(server, sys.executable, EXAMPLES / "win_shares.py", folder=tmp_path)
    assert "48 positions" in output
    picture = (tmp_path / "win_shares.svg").read_text()
    assert "<svg" in picture
