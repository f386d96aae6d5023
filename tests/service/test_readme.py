"""The sessions of the README and of pages print what they say, and its Python runs.

`python -m tests.service.test_readme` writes the sessions' outputs anew.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.service.process import ServerProcess

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
PAGES = (README, ROOT / "docs" / "play.md")
ADDRESS = "localhost:50051"  # in the README; the tests' server has another port


class Session(NamedTuple):
    """A command of a `console` block and what it prints."""

    command: str
    output: str


def blocks(language: str, page: Path = README) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE)


def sessions(block: str) -> list[Session]:
    """Take a block apart: a command goes on while a quote is open or a backslash ends its line."""
    found = []
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        lines = part.splitlines(keepends=True)
        taken = 1
        while lines[taken - 1].endswith("\\\n") or open_quote("".join(lines[:taken])):
            taken += 1
        found.append(Session("".join(lines[:taken]), "".join(lines[taken:])))
    return found


def open_quote(text: str) -> bool:
    try:
        shlex.split(text)
    except ValueError:
        return True
    return False


def printed(command: str, address: str) -> str:
    beside_python = str(Path(sys.executable).parent)
    done = subprocess.run(
        ["bash", "-c", command.replace(ADDRESS, address)],
        env=os.environ | {"PATH": f"{beside_python}:{os.environ['PATH']}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=False,
    )
    return done.stdout.replace(address, ADDRESS)


def without_times(text: str) -> str:
    text = re.sub(r'"elapsed": "[\d.]+s"', '"elapsed": "..."', text)
    # A match on a slow machine tells how far it is, again and again.
    return re.sub(r"^\d+ of \d+ games .* played in .*\n", "", text, flags=re.MULTILINE)


SESSIONS = [
    session for page in PAGES for block in blocks("console", page) for session in sessions(block)
]


@pytest.mark.parametrize("session", SESSIONS, ids=range(len(SESSIONS)))
def test_session(server: ServerProcess, session: Session) -> None:
    output = printed(session.command, server.address)
    assert without_times(output) == without_times(session.output)


@pytest.mark.parametrize("code", blocks("python"), ids=range(len(blocks("python"))))
def test_python(server: ServerProcess, code: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", code.replace(ADDRESS, server.address)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_there_are_sessions() -> None:
    assert len(SESSIONS) >= 5
    assert len(blocks("python")) >= 2


def rewrite(page: Path, address: str) -> None:
    text = page.read_text()
    for block in blocks("console", page):
        anew = "".join(
            f"$ {session.command}{printed(session.command, address)}" for session in sessions(block)
        )
        text = text.replace(f"```console\n{block}```", f"```console\n{anew}```")
    page.write_text(text)


if __name__ == "__main__":
    with ServerProcess() as running:
        for path in PAGES:
            rewrite(path, running.address)
