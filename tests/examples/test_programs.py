"""The programs in examples/ do what they say, against a server as anybody starts it."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from aleator.search.games import game_ids
from tests.service.process import ServerProcess

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


@pytest.mark.skipif(shutil.which("jq") is None, reason="needs jq")
@pytest.mark.parametrize("game", game_ids())
def test_round_trip(server, game):
    output = run(server, EXAMPLES / "round_trip.sh", game)
    assert f"It sees {game} " in output
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


@pytest.mark.parametrize(
    ("address", "missing", "line"),
    [
        ("127.0.0.1:1", None, "UNAVAILABLE"),
        ("http://localhost:1", None, "address: must be HOST:PORT"),
        ("127.0.0.1:1", "matplotlib", "pip install 'aleator[plots]'"),
    ],
)
def test_what_win_shares_needs_is_told_in_one_line(tmp_path, address, missing, line):
    without = f"import sys; sys.modules[{missing!r}] = None; " if missing else ""
    program = f"{without}import runpy; runpy.run_path('{EXAMPLES / 'win_shares.py'}')"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=os.environ | {"ADDRESS": address, "MPLBACKEND": "agg"},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 1
    (told,) = done.stderr.splitlines()
    assert line in told


@pytest.fixture(scope="module", params=["python", "node"])
def host(request):
    """The command of a host of bots."""
    if request.param == "python":
        return [sys.executable, "-u", EXAMPLES / "bot_host.py"]
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("needs node and npm")
    folder = EXAMPLES / "node"
    if not (folder / "node_modules").exists():
        subprocess.run([npm, "ci", "--prefix", folder, "--no-audit", "--no-fund"], check=True)
    return [node, folder / "bot_host.js"]


def test_bot_host(server, host):
    output = run(
        server, *host, "--game", "riviera", "--players", "3", "--level", "1", "--level", "2"
    )
    ends = re.findall(r"^game \d: \d+ : \d+ : \d+ after \d+ moves$", output, re.MULTILINE)
    assert len(ends) == 2
    won = re.findall(r"^seat \d, level (\d), won ([\d.]+) of 2$", output, re.MULTILINE)
    assert [level for level, _ in won] == ["1", "2", "2"]
    assert sum(float(wins) for _, wins in won) == pytest.approx(2, abs=0.01)


@pytest.mark.parametrize(
    ("wrong", "line"),
    [
        (["--game", "chess"], "unknown game 'chess'"),
        (["--players", "9"], "options.players"),
        (["--level", "11"], "strength.level"),
        (["--address", "127.0.0.1:1"], "UNAVAILABLE"),
        (["--address", "http://localhost:1"], "http://localhost:1"),
    ],
)
def test_a_mistake_is_told_in_one_line(server, host, wrong, line):
    command = [*host, "--address", server.address, *wrong]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 1
    (told,) = done.stderr.splitlines()
    assert line in told


def test_bot_host_outlives_its_server(host):
    """The server is killed in the middle of a game, and another one takes its place."""
    with ServerProcess() as first:
        settings = json.dumps({"listen": first.address})
        options = ["--games", "1", "--level", "10", "--clock", "4", "--increment", "0.1"]
        command = [*host, "--address", first.address, *options]
        playing = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        time.sleep(3)
        assert playing.poll() is None
        first.kill()
    with ServerProcess(settings):
        output, _ = playing.communicate(timeout=100)
    assert playing.returncode == 0
    assert "UNAVAILABLE" in output
    assert re.search(r"^game 1: \d+ : \d+ after 48 moves$", output, re.MULTILINE)
