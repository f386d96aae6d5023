"""Messages from what Python programs have at hand: texts, numbers, mappings, durations."""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from math import isnan
from numbers import Real
from typing import Any, TypeAlias, TypedDict, TypeVar

from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.protobuf.struct_pb2 import Struct

from aleator.v1 import analysis_pb2, state_pb2

M = TypeVar("M", bound=Message)
State: TypeAlias = str | state_pb2.GameState
"""A position: its notation, or the message that the server gave."""
Move: TypeAlias = str | state_pb2.Move
"""A move: its notation, such as ``5@d4``, or the message."""
Time: TypeAlias = float | timedelta
"""A time, in seconds if it is a number."""


class Effort(TypedDict, total=False):
    """How much to search and how strongly to play; everything may be left out.

    Attributes
    ----------
    time : float or timedelta
        How long to search. By default the server's default time, unless `simulations` is given.
    simulations : int
        How many games to simulate.
    threads : int
        How many threads search; 1 by default.
    level : int
        How strongly to play, from 1, a beginner, to 10, full strength.
    elo : float
        The same on the game's Elo scale, where the server knows one.
    seed : int
        Makes the answer repeatable, if time does not end the search.
    max_candidates : int
        How many candidates to list at most; 0 lists all. 10 by default.
    """

    time: Time
    simulations: int
    threads: int
    level: int
    elo: float
    seed: int
    max_candidates: int


class Search(Effort, total=False):
    """What may be said of one search: besides its `Effort`, which moves to look at.

    Attributes
    ----------
    allowed_moves, avoided_moves : iterable of str or Move
        Only these moves are considered, or all but these.
    """

    allowed_moves: Iterable[Move]
    avoided_moves: Iterable[Move]


def message_of(kind: type[M], **fields: Any) -> M:
    """Make a message; fields that are None are left out.

    Raises
    ------
    ValueError, TypeError
        With the name of the field that a value does not fit, which protobuf itself does not tell.
    """
    try:
        return kind(**fields)
    except (TypeError, ValueError):
        for name, value in fields.items():
            try:
                kind(**{name: value})
            except (TypeError, ValueError) as error:
                raise type(error)(f"{name}: {error}") from None
        raise


def state_of(state: State) -> state_pb2.GameState:
    """Make the message of a position."""
    return state_pb2.GameState(notation=state) if isinstance(state, str) else state


def move_of(move: Move) -> state_pb2.Move:
    """Make the message of a move."""
    return state_pb2.Move(notation=move) if isinstance(move, str) else move


def options_of(options: Mapping[str, Any] | None) -> Struct:
    """Make the message of a game's options."""
    message = Struct()
    message.update(options or {})
    return message


def seconds_of(time: object, name: str) -> float:
    """Count the seconds of a `Time`, which may be infinite; whether it is one is seen here.

    Raises
    ------
    TypeError, ValueError
        With the name, if it is no time.
    """
    if isinstance(time, timedelta):
        return time.total_seconds()
    if not isinstance(time, Real):
        raise TypeError(_no_time(time, name))
    if isnan(time):
        raise ValueError(_no_time(time, name))
    return float(time)


def duration_of(time: Time, name: str) -> Duration:
    """Make the message of a time.

    Raises
    ------
    TypeError, ValueError
        With the name, if it is no time, or one that is too long to be said.
    """
    message = Duration()
    try:
        message.FromNanoseconds(round(seconds_of(time, name) * 1e9))
    except (OverflowError, ValueError):
        raise ValueError(_no_time(time, name)) from None
    return message


def _no_time(time: object, name: str) -> str:
    return f"{name}: must be seconds or a timedelta, not {time!r}"


def search_of(state: State, seat: int | None, search: Search) -> dict[str, Any]:
    """Make the fields that the requests of all searches have."""
    return {
        "state": state_of(state),
        "seat": seat,
        "allowed_moves": map(move_of, search.get("allowed_moves", ())),
        "avoided_moves": map(move_of, search.get("avoided_moves", ())),
        **effort_of(search),
    }


def effort_of(effort: Effort) -> dict[str, Any]:
    """Make the fields that tell how much to search and how strongly to play."""
    time = effort.get("time")
    return {
        "limits": message_of(
            analysis_pb2.Limits,
            time=None if time is None else duration_of(time, "time"),
            simulations=effort.get("simulations"),
            threads=effort.get("threads"),
        ),
        "strength": strength_of(effort.get("level"), effort.get("elo")),
        "seed": effort.get("seed"),
        "max_candidates": effort.get("max_candidates"),
    }


def strength_of(level: int | None, elo: float | None) -> analysis_pb2.Strength:
    """Make the message of a strength.

    Raises
    ------
    ValueError
        If it is given on both scales.
    """
    if level is not None and elo is not None:
        raise ValueError("give a level or an elo, not both")
    return message_of(analysis_pb2.Strength, level=level, elo=elo)
