"""docs/client.md tells of all methods and errors, and its programs run."""

import re
import subprocess
import sys
from pathlib import Path

import grpc
import pytest

import aleator.client
from aleator.client import errors
from tests.service.process import ServerProcess

PAGE = (Path(__file__).parents[2] / "docs" / "client.md").read_text()
PROGRAMS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("program", PROGRAMS, ids=range(len(PROGRAMS)))
def test_programs(server: ServerProcess, program: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", program.replace("localhost:50051", server.address)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_methods() -> None:
    listed = re.findall(r"^\| (`[a-z].*?) \|", PAGE, re.MULTILINE)
    methods = set(re.findall(r"`([a-z_]+)`", " ".join(listed)))
    public = {name for name in vars(aleator.client.Client) if not name.startswith("_")}
    assert methods == public - {"close"}


def test_errors() -> None:
    listed = dict(re.findall(r"^\| `([A-Z]\w+)` \| ([A-Z_]+)", PAGE, re.MULTILINE))
    assert listed == {kind.__name__: code.name for code, kind in errors._CLASSES.items()}
    assert all(
        issubclass(getattr(aleator.client, name), aleator.client.CallError) for name in listed
    )
    assert all(getattr(grpc.StatusCode, code) for code in listed.values())
