"""Games written down: every position with the moves made in it, to be looked at again.

A file of games has one line of JSON for each:

    {"game": "roygbiv", "options": {"players": 2, ...}, "players": ["greedy", "engine:level=3"],
     "plies": [{"position": "roygbiv ......./...", "moves": {"0": "7@d4"}}, ...],
     "scores": [101.0, 96.0], "win_shares": [1.0, 0.0]}

Positions are complete and in their notation, moves in theirs by seat; several seats have moves in
one ply where they choose at once. Players are named by seat. A game that was left early has no
scores and no win shares.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field

from aleator.search.errors import InvalidInput, shorten
from aleator.search.games.base import read_model
from aleator.search.position import Move, Position


class Ply(BaseModel):
    """A position and what was played in it.

    Attributes
    ----------
    position : str
        Complete.
    moves : dict
        By seat.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    position: str
    moves: dict[Annotated[int, Field(ge=0)], str] = Field(min_length=1)

    @classmethod
    def of(cls, position: Position, moves: Mapping[int, Move]) -> Self:
        """Write down moves made in a position."""
        return cls(
            position=position.notation,
            moves={seat: move.notation for seat, move in moves.items()},
        )


class GameRecord(BaseModel):
    """A game from its start on.

    Attributes
    ----------
    game : str
    options : dict
        None left out.
    players : tuple of str
        Who played, by seat.
    plies : tuple of Ply
    scores, win_shares : tuple of float, or None
        By seat; None of a game that was left early.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    game: str
    options: dict[str, Any]
    players: tuple[str, ...]
    plies: tuple[Ply, ...]
    scores: tuple[float, ...] | None = None
    win_shares: tuple[float, ...] | None = None

    def append_to(self, file: Path) -> None:
        """Add the game to a file, which need not exist.

        Raises
        ------
        InvalidInput
            With the path ``record`` if it cannot be written.
        """
        line = self.model_dump_json(exclude_none=True) + "\n"
        try:
            with file.open("a", encoding="utf-8") as stream:
                stream.write(line)
        except OSError as error:
            raise InvalidInput.at("record", f"{error.strerror}: {shorten(str(file), 80)}") from None


def read_games(file: Path) -> list[GameRecord]:
    """Read a file of games.

    Raises
    ------
    InvalidInput
        With paths such as ``file`` and ``line 2.plies[3].position``.
    """
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise InvalidInput.at("file", f"{error.strerror}: {shorten(str(file), 80)}") from None
    except UnicodeDecodeError:
        raise InvalidInput.at("file", "is no text") from None
    games = [_read_game(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if not games:
        raise InvalidInput.at("file", "holds no game")
    return games


def _read_game(number: int, line: str) -> GameRecord:
    try:
        return read_model(GameRecord, json.loads(line))
    except InvalidInput as error:
        raise error.under(f"line {number}") from None
    except ValueError:
        raise InvalidInput.at(f"line {number}", "is not JSON") from None
