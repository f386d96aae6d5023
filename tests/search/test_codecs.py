"""What the codecs refuse, and that they say what is wrong and where, of every game alike.

Each game has its cases in the module of its id in `tests.search.codec_cases`. What is particular to
a game's codec is tested in a module of its own.
"""

import re
from importlib import import_module

import pytest

from aleator.search import Position
from aleator.search.errors import IllegalMove
from aleator.search.games import codec, codec_class, game_ids
from tests.search.refusals import paths, refused

LONGEST_MESSAGE = 600

CASES = {game: import_module(f"tests.search.codec_cases.{game}").CASES for game in game_ids()}


def each(name):
    """The parameters of a test: a game's cases, and one case of those of that name."""
    return pytest.mark.parametrize(
        ("cases", "case"),
        [
            pytest.param(cases, case, id=f"{game}-{number}")
            for game, cases in CASES.items()
            for number, case in enumerate(getattr(cases, name))
        ],
    )


def refusal(function, *arguments):
    """The error that a call must raise, with words for all that is wrong, but not too many."""
    error = refused(function, *arguments)
    assert all(message for _, message in error.violations)
    assert len(str(error)) < LONGEST_MESSAGE
    return error


def changed(record, changes):
    """A record with other values at paths such as ``hands[0].dice[2]``."""
    for path, value in changes.items():
        keys = [int(key) if key.isdigit() else key for key in re.findall(r"\w+", path)]
        inner = record
        for key in keys[:-1]:
            inner = inner[key]
        inner[keys[-1]] = value
    return record


@pytest.mark.parametrize("game", game_ids())
def test_the_example_is_a_position(game):
    example = codec_class(game).example
    assert Position.parse(example).notation == example


@each("states")
def test_bad_states(cases, case):
    """Exactly what is wrong is named, and what rests on it."""
    changes, expected = case
    position = Position.parse(cases.notation)
    error = refusal(position.codec.read_state, changed(position.record, changes))
    assert sorted(paths(error)) == sorted(expected)


@each("notations")
def test_bad_notation(cases, case):
    text, expected = case
    error = refusal(Position.parse, text)
    assert set(paths(error)) == {"notation"}
    assert expected in str(error)


@each("options")
def test_bad_options(cases, case):
    options, expected = case
    error = refusal(codec, cases.game, options)
    assert paths(error) == [f"options.{path}" for path in expected]


@each("move_texts")
def test_broken_moves(cases, case):
    error = refusal(Position.parse(cases.notation).find_move, case, cases.seat)
    assert paths(error) == ["notation"]
    assert not isinstance(error, IllegalMove)


@each("move_records")
def test_broken_typed_moves(cases, case):
    record, expected = case
    error = refusal(Position.parse(cases.notation).find_move, record, cases.seat)
    assert paths(error) == [f"{cases.game}.{path}".removesuffix(".") for path in expected]
    assert not isinstance(error, IllegalMove)


@each("illegal")
def test_illegal_moves(cases, case):
    notation, move, reason = case
    error = refusal(Position.parse(notation).find_move, move, cases.seat)
    assert isinstance(error, IllegalMove)
    assert paths(error) == ["notation" if isinstance(move, str) else cases.game]
    assert reason in str(error)
