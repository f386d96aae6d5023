"""The pages of the games show positions, moves, outcomes and events that can be read."""

import json
import re
from pathlib import Path

import pytest
from google.protobuf.json_format import ParseDict

from aleator.search import Position
from aleator.search.games import codec, codec_class, game_ids
from aleator.service.convert import read_record, read_state
from aleator.v1 import state_pb2

PAGES = Path(__file__).parents[2] / "docs" / "games"
GAMES = game_ids()


def page(game):
    return (PAGES / f"{game}.md").read_text()


def codes(text):
    return re.findall(r"`([^`\n]+)`", text)


def notations(game):
    """The positions in backquotes, and those on indented lines."""
    shown = [*codes(page(game)), *re.findall(r"^    (\S.*)$", page(game), re.MULTILINE)]
    return [code for code in shown if code.startswith(f"{game} ")]


def values(game):
    """The JSON values of blocks, several in some of them, and those in backquotes."""
    blocks = re.findall(r"^```json\n(.*?)^```$", page(game), re.DOTALL | re.MULTILINE)
    for text in [
        *blocks,
        *(code for code in codes(page(game)) if code.startswith(f'{{"{camel(game)}')),
    ]:
        start = 0
        while start < len(text.rstrip()):
            value, start = json.JSONDecoder().raw_decode(text, start)
            start += len(text[start:]) - len(text[start:].lstrip())
            yield value


def camel(name):
    return re.sub("_(.)", lambda found: found[1].upper(), name)


def rows(game, *, column):
    """The rows, as cells by the names of columns, of all tables with a column of that name."""
    for table in re.findall(r"(?:^\|.*\|\n)+", page(game), re.MULTILINE):
        header, _, *lines = (
            [cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()
        )
        if column in header:
            yield from (dict(zip(header, line, strict=True)) for line in lines)


def typed_move(game, value):
    """The code of a typed move."""
    record = read_record(getattr(ParseDict(value, state_pb2.Move()), game))
    return codec(game).read_move(record)


def test_every_game_has_a_page():
    assert sorted(path.stem for path in PAGES.glob("*.md")) == sorted(GAMES)


@pytest.mark.parametrize("game", GAMES)
def test_the_rules_are_in_one_place(game):
    """That is the page that GetGame returns; it lists every option, and the other page none."""
    rules = codec(game).rules_markdown()
    assert f"../../search/games/{game}.md" in page(game)
    twice = set(re.findall("^## (.*)$", rules, re.MULTILINE)) & set(
        re.findall("^## (.*)$", page(game), re.MULTILINE)
    )
    assert not twice
    options = re.search(r"^## Options\n\n((?:\|.*\n)+)", rules, re.MULTILINE)[1]
    listed = re.findall(r"^\| `(\w+)` \|", options, re.MULTILINE)
    assert listed == [option.name for option in codec_class(game).option_list()]


@pytest.mark.parametrize("game", GAMES)
def test_the_position_is_the_same_in_both_forms(game):
    (notation,) = notations(game)
    (state,) = (value for value in values(game) if "game" in value)
    position = Position.parse(notation)
    assert read_state(ParseDict(state, state_pb2.GameState())) == position
    assert position.notation == notation


@pytest.mark.parametrize("game", GAMES)
def test_typed_moves_and_outcomes(game):
    moves = 0
    for value in values(game):
        if "game" in value:
            continue
        if set(value[camel(game)]) <= {"drawn", "dice", "hands", "rolls", "rolled"}:
            ParseDict(value, state_pb2.Outcome())
        else:
            move = typed_move(game, value)
            assert codec(game).parse_move(codec(game).format_move(move)) == move
            moves += 1
    assert moves or game == "generator"  # whose moves are in a table


@pytest.mark.parametrize("game", GAMES)
def test_moves_of_tables(game):
    bound = codec(game)
    moves = 0
    for row in rows(game, column="notation"):
        typed = row.get("typed", "`...`").strip("`")
        for notation in codes(row["notation"]):
            move = bound.parse_move(notation)
            assert bound.format_move(move) == notation
            if not typed.startswith("..."):
                assert typed_move(game, {game: json.loads(typed)}) == move
            moves += 1
    assert moves or game == "roygbiv"  # which has one move, and that in the text


@pytest.mark.parametrize("game", GAMES)
def test_events_of_tables(game):
    for row in rows(game, column="event"):
        kind, example = row["event"].strip("`"), codes(row["example"])[0]
        event = json.loads(example.replace(", ...", ""))
        ParseDict({game: {kind: event}}, state_pb2.GameEvent())


def test_the_move_of_roygbiv_in_both_forms():
    (notation,) = {
        code for code in codes(page("roygbiv")) if re.fullmatch("[1-7]@[a-g][1-7]", code)
    }
    typed = [value for value in values("roygbiv") if "value" in value.get("roygbiv", {})]
    position = Position.parse(*notations("roygbiv"))
    assert [typed_move("roygbiv", value) for value in typed] == [position.find_move(notation).code]
