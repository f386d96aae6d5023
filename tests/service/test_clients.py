"""Clients that others wrote, in other languages, get on with the server."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from aleator.search import Position
from tests.service.process import ServerProcess

TESTS = Path(__file__).parent
PROTO = TESTS.parents[1] / "proto"
BESIDE_PYTHON = Path(sys.executable).parent
POSITION = Position.create("roygbiv", seed=5)
SUGGEST = {
    "state": {"notation": POSITION.notation},
    "limits": {"simulations": 1000, "time": "5s"},
    "seed": "18446744073709551615",
}


def run(*command: str | Path, fails: bool = False) -> str:
    """Run a command; return what it printed, as an error if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode != 0) == fails, done.stderr
    return done.stderr if fails else done.stdout


def legal(notation: str) -> bool:
    return notation in {move.notation for move in POSITION.moves()}


class Grpcurl:
    def __init__(self, address: str) -> None:
        self.command = [BESIDE_PYTHON / "grpcurl", "-plaintext", "-emit-defaults"]
        self.address = address

    def call(self, method: str, request: dict[str, Any], *, fails: bool = False) -> str:
        command = [*self.command, "-d", json.dumps(request), self.address, method]
        return run(*command, fails=fails)


class BufCurl:
    def __init__(self, address: str) -> None:
        self.command = [BESIDE_PYTHON / "buf", "curl", "--http2-prior-knowledge", "--emit-defaults"]
        self.command += ["--protocol", "grpc", "--reflect-protocol", "grpc-v1alpha"]
        self.address = address

    def call(self, method: str, request: dict[str, Any], *, fails: bool = False) -> str:
        url = f"http://{self.address}/{method}"
        return run(*self.command, "-d", json.dumps(request), url, fails=fails)


@pytest.mark.parametrize("client_type", [Grpcurl, BufCurl])
def test_command_line_clients(server: ServerProcess, client_type: type[Grpcurl | BufCurl]) -> None:
    client = client_type(server.address)
    answer = json.loads(client.call("aleator.v1.OpponentService/SuggestMove", SUGGEST))
    analysis = answer["analysis"]
    assert legal(analysis["bestMoveNotation"])
    assert "principalVariation" in analysis["candidates"][0]
    assert analysis["statistics"]["seed"] == SUGGEST["seed"]
    created = client.call("aleator.v1.GameService/CreateGame", {"game": "generator"})
    assert json.loads(created)["state"]["game"] == "generator"
    # What the client itself does not let pass, and what the server does not.
    client.call("aleator.v1.OpponentService/SuggestMove", SUGGEST | {"seat": -1}, fails=True)
    bad = {"state": {"notation": "roygbiv 5"}}
    said = client.call("aleator.v1.OpponentService/SuggestMove", bad, fails=True)
    assert "state.notation" in said


def test_grpcurl_lists_and_describes(server: ServerProcess) -> None:
    grpcurl = BESIDE_PYTHON / "grpcurl"
    listed = run(grpcurl, "-plaintext", server.address, "list").split()
    assert {"aleator.v1.GameService", "aleator.v1.OpponentService"} < set(listed)
    described = run(grpcurl, "-plaintext", server.address, "describe", "aleator.v1.GameState")
    assert "roygbiv" in described


def test_node(server: ServerProcess) -> None:
    node, npm = shutil.which("node"), shutil.which("npm")
    assert node is not None
    assert npm is not None
    folder = TESTS / "node"
    if not (folder / "node_modules").exists():
        run(npm, "ci", "--prefix", folder, "--no-audit", "--no-fund")
    answer = json.loads(run(node, folder / "client.js", server.address, PROTO))
    position = Position.create("roygbiv", seed=1)
    legal_moves = {move.notation for move in position.moves()}
    assert answer["move"] in legal_moves
    first, again = answer["answered"]
    assert first == again
    assert first in legal_moves
    assert answer["stopReason"] == "STOP_REASON_SIMULATIONS"
    assert answer["code"] == "NOT_FOUND"
    assert "UNKNOWN_GAME" in answer["details"]
