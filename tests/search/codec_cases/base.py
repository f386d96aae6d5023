"""What `tests.search.test_codecs` asks of each game's cases."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class CodecCases:
    """Things that the codec of a game must refuse.

    Attributes
    ----------
    game
        Its id.
    notation
        The position that is spoilt, and that moves are tried in.
    states
        Changes of its record, values by path, and the paths of all that is wrong then.
    notations
        Texts of positions, and what must be said of them.
    options
        Options, and the paths of all that is wrong with them.
    move_texts
        Texts that can be no moves.
    move_records
        Typed moves that can be none, and the paths of all that is wrong with them.
    illegal
        Notations of positions, moves that are not legal there, and why not.
    seat
        The seat that the moves are of; None for the one to act.
    """

    game: str
    notation: str
    states: list[tuple[dict[str, Any], list[str]]]
    notations: list[tuple[str, str]]
    options: list[tuple[dict[str, Any], list[str]]]
    move_texts: list[str]
    move_records: list[tuple[dict[str, Any], list[str]]]
    illegal: list[tuple[str, Any, str]]
    seat: int | None = None
