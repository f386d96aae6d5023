"""The games: one codec per game, found by id.

`codec` is the way in for a caller who knows the game and its options, `parse_notation` for one
who has a line of text.
"""

import re
import threading
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from aleator.ext.core.game import State
from aleator.search.errors import InvalidInput, UnknownGame, Violation, shorten
from aleator.search.games.base import (
    Codec,
    GameEvent,
    OptionInfo,
    Record,
    parse_option,
    read_model,
)
from aleator.search.games.generator import GeneratorCodec
from aleator.search.games.my_shelfie import MyShelfieCodec
from aleator.search.games.riviera import RivieraCodec
from aleator.search.games.roygbiv import RoygbivCodec

__all__ = [
    "Codec",
    "GameEvent",
    "OptionInfo",
    "Record",
    "codec",
    "codec_class",
    "game_ids",
    "parse_notation",
    "register",
]

# Far above the longest line that any game writes; keeps error messages and work small.
LONGEST_NOTATION = 4000
NOTATION_CHARACTERS = re.compile(r"""(?:(?!["'`\\])[ -~])*""")

_classes: dict[str, type[Codec]] = {}
_lock = threading.Lock()


def register(codec_class: type[Codec]) -> type[Codec]:
    """Make a game known under its id; usable as a class decorator.

    Raises
    ------
    ValueError
        If another game has that id.
    """
    if _classes.setdefault(codec_class.id, codec_class) is not codec_class:
        raise ValueError(f"there is a game {codec_class.id} already")
    return codec_class


register(GeneratorCodec)
register(MyShelfieCodec)
register(RivieraCodec)
register(RoygbivCodec)


def game_ids() -> list[str]:
    """The ids of all games, sorted."""
    return sorted(_classes)


def codec_class(game: str) -> type[Codec]:
    """The codec class of a game.

    Raises
    ------
    UnknownGame
        If there is no such game.
    """
    try:
        return _classes[game]
    except KeyError:
        raise UnknownGame(game, game_ids()) from None


def codec(game: str, options: Mapping[str, Any] | None = None) -> Codec:
    """The codec of a game under options, the same one for the same options.

    Parameters
    ----------
    game : str
    options : mapping, optional
        Values by name; left out means the default.

    Raises
    ------
    UnknownGame
        If there is no such game.
    InvalidInput
        For unknown options and bad values, with paths such as ``options.players``.
    """
    found = codec_class(game)
    try:
        resolved = read_model(found.Options, _whole_numbers(dict(options or {})))
    except InvalidInput as error:
        raise error.under("options") from None
    # Without the lock two threads could make two codecs for the same options.
    with _lock:
        return _bound_codec(found, resolved.model_dump_json())


@lru_cache(maxsize=100)  # My Shelfie's rules keep most of a megabyte of tables each
def _bound_codec(found: type[Codec], options_json: str) -> Codec:
    return found(found.Options.model_validate_json(options_json))


def _whole_numbers(value: Any) -> Any:
    """Turn 2.0 into 2 at any depth: JSON and protobuf's Struct know one sort of number."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_whole_numbers(item) for item in value]
    if isinstance(value, dict):
        return {key: _whole_numbers(item) for key, item in value.items()}
    return value


def parse_notation(
    text: str, game: str | None = None, options: Mapping[str, Any] | None = None
) -> tuple[Codec, State]:
    """Read the notation of a state or observation.

    Parameters
    ----------
    text : str
        Game id, the game's fields, and ``name=value`` for options that are not the default, with
        single spaces between; see the game's rules page.
    game, options : optional
        What the caller says beside the notation; it must not contradict it.

    Raises
    ------
    UnknownGame
        If there is no such game.
    InvalidInput
        With all violations found; those within the text have the path ``notation``.
    """
    if len(text) > LONGEST_NOTATION:
        raise InvalidInput.at(
            "notation", f"has {len(text)} characters, longer than any position can need"
        )
    if not NOTATION_CHARACTERS.fullmatch(text):
        raise InvalidInput.at(
            "notation", "must be one line of printable ASCII without quotes or backslashes"
        )
    words = text.split()
    if not words:
        raise InvalidInput.at("notation", "is empty; it starts with the id of a game")
    if game is not None and words[0] != game:
        raise InvalidInput.at(
            "notation", f"is of the game {shorten(words[0])}, but the state is said to be of {game}"
        )
    found = codec_class(words[0])
    fields = [word for word in words[1:] if "=" not in word]
    said = dict(options or {})
    try:
        told = _written_options(found, [word for word in words[1:] if "=" in word])
        told |= found.options_in_notation(fields)
        bound = codec(words[0], said | told)
        if said:
            _check_agreement(codec(words[0], said), bound, said)
        return bound, bound.parse_state(fields)
    except InvalidInput as error:
        raise InvalidInput(_within_notation(error, said)) from None


def _written_options(found: type[Codec], words: list[str]) -> dict[str, object]:
    options: dict[str, object] = {}
    for word in words:
        name, _, value = word.partition("=")
        if name in options:
            raise InvalidInput.at("", f"gives the option {shorten(name)} twice")
        if name in found.told_by_notation:
            raise InvalidInput.at("", f"must not give {name}, which the fields tell")
        options[name] = parse_option(value)
    return options


def _check_agreement(said_codec: Codec, bound: Codec, said: Mapping[str, Any]) -> None:
    violations = [
        Violation(f"options.{name}", f"is {said_codec.options[name]}, the notation tells {value}")
        for name, value in bound.options.items()
        if name in said and said_codec.options[name] != value
    ]
    if violations:
        raise InvalidInput(violations)


def _within_notation(error: InvalidInput, said: Mapping[str, Any]) -> list[Violation]:
    """Move violations to the path ``notation``, save those of options that the caller gave."""
    return [
        Violation(path, message)
        if path.partition(".")[0] == "options" and path.partition(".")[2] in said
        else Violation("notation", f"{path}: {message}" if path else message)
        for path, message in error.violations
    ]
