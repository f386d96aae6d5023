"""The file of a match: its finished sets, so that it can go on after it was stopped.

The first line says in JSON what is played, each further one how a set came out; lines are only
added. A last line that was cut off, because the program was ended as it wrote, is dropped.
"""

import json
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from aleator.search.errors import InvalidInput
from aleator.search.match.games import GameResult, GameSet

MAGIC = "aleator_match"


class MatchFile:
    """Finished sets on disk.

    Parameters
    ----------
    path : Path
        Need not exist.
    played : mapping
        What is played, by what the errors call it; a file must say the same.
    seed : int or None
        Of the match; None for that of the file.
    new_seed : int
        For a file that does not exist and no seed.

    Attributes
    ----------
    seed : int
    sets : dict of GameSet
        Those in the file by number.

    Raises
    ------
    InvalidInput
        With the path ``file``, if it is of another match, no such file, or unreadable.
    """

    def __init__(
        self, path: Path, played: Mapping[str, Any], seed: int | None, new_seed: int
    ) -> None:
        self._path = path
        self.sets: dict[int, GameSet] = {}
        try:
            lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
            if lines:
                self.seed = _check_header(lines[0], played, seed)
                if not lines[-1].endswith(b"\n"):
                    lines.pop()
                    path.write_bytes(b"".join(lines))
                self.sets = dict(map(_read_set, lines[1:]))
            else:
                self.seed = new_seed if seed is None else seed
                self._append({MAGIC: version("aleator"), **played, "seed": self.seed})
        except OSError as error:
            raise InvalidInput.at("file", f"{error.strerror}: {path}") from None
        except InvalidInput:
            raise
        except (ValueError, KeyError, TypeError):
            raise InvalidInput.at("file", f"is not the file of a match: {path}") from None

    def add(self, number: int, games: GameSet) -> None:
        """Keep a finished set."""
        rows = [[game.bots, game.win_shares, game.scores] for game in games]
        self._append({"set": number, "games": rows})

    def _append(self, line: Mapping[str, Any]) -> None:
        with self._path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(line) + "\n")


def _check_header(line: bytes, played: Mapping[str, Any], seed: int | None) -> int:
    """Check that a file is of the match that is to be played; its seed."""
    header = json.loads(line)
    told = {MAGIC: version("aleator"), **played}
    if seed is not None:
        told["seed"] = seed
    if not isinstance(header, dict) or header.keys() != {*told, "seed"}:
        raise ValueError
    for name, value in told.items():
        if header[name] != value:
            what = "version of aleator" if name == MAGIC else name
            raise InvalidInput.at(
                "file",
                f"is of another match: {what} {json.dumps(header[name])}, not {json.dumps(value)};"
                " name another file, or play on what this one is of",
            )
    return int(header["seed"])


def _read_set(line: bytes) -> tuple[int, GameSet]:
    entry = json.loads(line)
    return entry["set"], tuple(GameResult(*map(tuple, game)) for game in entry["games"])
