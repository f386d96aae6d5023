"""RenderState over the wire: sound pictures of everything that show no more than they are given."""

import itertools
import random
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree as ET

import grpc
import pytest

from aleator.search import Move, Position
from aleator.search.games import game_ids
from aleator.service.drawing import DRAWINGS
from aleator.service.drawing.rendering import TEXT_WIDTH
from aleator.v1 import game_service_pb2 as messages
from tests.service.process import ServerProcess, details

SVG = "{http://www.w3.org/2000/svg}"
# What shapes and words are made of; nothing that runs, loads or links.
TAGS = {
    "svg", "title", "g", "rect", "circle", "ellipse", "line", "polyline", "polygon", "path",
    "text", "tspan",
}  # fmt: skip
ANSI = re.compile(r"\x1b\[[0-9;]*m")
OPTIONS: dict[str, dict[str, Any]] = {"generator": {"max_rolls": 50}}
ENOUGH = 120  # states of one game, for those that last longer
EXAMPLES = {
    "roygbiv": "roygbiv ......./......./......./...7..7/...76../6664667/7677777 0024066 ???,223"
    " 7,23 1",
    "generator": "generator G:M,YG:SML,RYG:SM,RGYB:S/Y:SL,YYY:M,RBGB:S 0 R 57",
    "my_shelfie": "my_shelfie xo.../xoxox/x...o/xo.../x....,oo.../o..../o.oo./oo.../ooo.."
    " ppgbjj 0 0 1",
}
OPENING_OF_RIVIERA = Position.create("riviera", seed=1)


def render(server: ServerProcess, position: Position, form: str, **fields: Any) -> str:
    answer = server.games.RenderState(
        messages.RenderStateRequest(
            state={"notation": position.notation}, format=f"RENDER_FORMAT_{form}", **fields
        )
    )
    svg = form == "SVG"
    assert answer.media_type == ("image/svg+xml" if svg else "text/plain; charset=utf-8")
    return answer.content


def random_game(game: str) -> Iterator[tuple[Position, Move | None]]:
    """The states of a random game, each with a move that may be made there, or the last."""
    chooser = random.Random(3)
    position = Position.create(game, OPTIONS.get(game), seed=1)
    for _ in range(ENOUGH):
        if position.finished:
            break
        moves = {seat: chooser.choice(position.moves(seat)) for seat in position.seats_to_act}
        yield position, chooser.choice(list(moves.values()))
        position, _ = position.apply(moves, seed=chooser.getrandbits(64))
    yield position, None


def hidden_things(record: Any) -> int:
    """How many cards, dice and choices a state only counts."""
    if isinstance(record, list):
        return sum(map(hidden_things, record))
    if isinstance(record, dict):
        own = record.get("hidden_count", 0) + record.get("choice_hidden", False)
        return own + sum(map(hidden_things, record.values()))
    return 0


def assert_sound(svg: str) -> ET.Element:
    root = ET.fromstring(svg)
    assert root.tag == f"{SVG}svg"
    assert root.get("viewBox")
    for element in root.iter():
        assert element.tag.removeprefix(SVG) in TAGS
        for name, value in element.attrib.items():
            assert not name.startswith("on")
            assert not name.endswith("href")
            assert "url(" not in value
            assert not re.search(r"\b(?:nan|inf|None)\b", value)
    return root


def test_every_game_can_be_drawn() -> None:
    assert sorted(DRAWINGS) == game_ids()


@pytest.mark.parametrize("game", game_ids())
def test_every_state_of_a_random_game(server: ServerProcess, game: str) -> None:
    for number, (position, move) in enumerate(random_game(game)):
        seat = number % position.seats if move is None else move.seat
        view = position.observe(seat)
        highlight: dict[str, Any] = {}
        if move is not None:
            highlight = {"highlight": {"notation": move.notation}, "seat": seat}
        root = assert_sound(render(server, view, "SVG", **highlight))
        backs = [title.text for title in root.iter(f"{SVG}title")]
        assert sum(text.startswith("hidden") for text in backs) == hidden_things(view.record)
        if number % 4 == 0:
            root = assert_sound(render(server, position, "SVG"))
            backs = [title.text for title in root.iter(f"{SVG}title")]
            assert not any(text.startswith("hidden") for text in backs)
            text = render(server, view, "TEXT", **highlight)
            assert "\x1b" not in text
            assert max(map(len, text.splitlines())) <= TEXT_WIDTH
            coloured = render(server, view, "ANSI", **highlight)
            assert ANSI.search(coloured)
            plain = [line.rstrip() for line in ANSI.sub("", coloured).splitlines()]
            assert plain == text.splitlines()
            if move is not None:
                assert f"Seat {seat}: {move.notation}  " in text


@pytest.mark.parametrize("game", EXAMPLES)
def test_a_highlighted_move_is_in_the_picture(server: ServerProcess, game: str) -> None:
    position = Position.parse(EXAMPLES[game])
    plain = render(server, position, "SVG")
    moves = [move for move in position.moves() if move.notation != "pass"]
    for move in moves[::7]:
        typed = {"highlight": {game: move.record}}
        assert render(server, position, "SVG", **typed) != plain
        spelt = {"highlight": {"notation": move.notation}}
        assert render(server, position, "SVG", **typed) == render(server, position, "SVG", **spelt)


OVER = {
    "Won by Seat 0.": "generator RG:L,YRG:M,BRYG:S/Y:M - - 50",
    "Won by Seat 1.": "riviera 3.2 over - 0 rgpb - 0:in:r3:r11,9:in:-:g1g4 hand_size=2",
    "Shared by Seat 0 and Seat 1.": "roygbiv "
    "7777777/7777777/7777777/7777777/7777777/7777777/7777777"
    " 7777777 -,- 300,300 -",
}


@pytest.mark.parametrize("result", OVER)
def test_who_won(server: ServerProcess, result: str) -> None:
    position = Position.parse(OVER[result])
    assert position.finished
    assert render(server, position, "TEXT").endswith(f"\n\n{result}\n")
    assert result in [
        element.text for element in ET.fromstring(render(server, position, "SVG")).iter()
    ]


def test_a_highlighted_move_of_one_of_several_seats(server: ServerProcess) -> None:
    position = OPENING_OF_RIVIERA
    assert position.seats_to_act == (0, 1)
    for seat in position.seats_to_act:
        move = position.moves(seat)[0]
        highlight = {"highlight": {"riviera": move.record}, "seat": seat}
        assert f"Seat {seat}: {move.notation}  " in render(server, position, "TEXT", **highlight)
        svg = render(server, position.observe(seat), "SVG", **highlight)
        assert svg != render(server, position.observe(seat), "SVG")


def test_text_is_the_default(server: ServerProcess) -> None:
    position = Position.parse(EXAMPLES["roygbiv"])
    assert render(server, position, "UNSPECIFIED") == render(server, position, "TEXT")


def drawn_dice(svg: str) -> Counter[str]:
    """The dice of a picture of ROYGBIV by their digits, without those that count the bag."""
    texts = [element.text or "" for element in ET.fromstring(svg).iter(f"{SVG}text")]
    first = itertools.takewhile(lambda text: not text.startswith("In the bag"), texts)
    return Counter(text for text in first if re.fullmatch(r"[1-7?]", text))


def test_dice_of_roygbiv(server: ServerProcess) -> None:
    position = Position.create("roygbiv", {"players": 3}, seed=8, start_seat=1)
    record = position.record
    view = position.observe(1)
    labels = Counter("1234567")
    centre = Counter([str(record["cells"][24])])
    own = Counter(map(str, record["hands"][1]["dice"]))
    assert drawn_dice(render(server, view, "SVG")) == labels + centre + own + Counter("??????")
    everything = Counter(str(die) for hand in record["hands"] for die in hand["dice"])
    assert drawn_dice(render(server, position, "SVG")) == labels + centre + everything
    assert render(server, view, "TEXT").count("?") == 6
    assert render(server, position, "TEXT").count("?") == 0


def test_a_move_of_roygbiv_with_its_captures(server: ServerProcess) -> None:
    cells = [0] * 49
    cells[24], cells[10], cells[21] = 7, 5, 3
    state = {
        "cells": cells,
        "played": [0, 0, 1, 0, 1, 0, 1],
        "hands": [{"dice": [1, 6, 7]}, {"hidden_count": 3}],
        "scores": [0, 0],
        "seat_to_act": 0,
    }
    position = Position.from_record("roygbiv", None, state)
    # On d1 the 6 sees the 5 on d2 below it; on a7 the 3 on a4 above it.
    for move, captured in (("6@d1", 5), ("6@a7", 3), ("6@g7", 0)):
        svg = render(server, position, "SVG", highlight={"notation": move})
        shown = drawn_dice(svg)
        plain = drawn_dice(render(server, position, "SVG"))
        assert shown - plain == Counter({"6": 2 if captured else 1})
        assert f">+{captured}<" in svg


BAD: dict[str, tuple[dict[str, Any], str, str]] = {
    "no state": ({"state": {}}, "INVALID_INPUT", "state"),
    "a format that is none": ({"format": 9}, "INVALID_INPUT", "format"),
    "an empty move": ({"highlight": {}}, "INVALID_INPUT", "highlight"),
    "a broken move": ({"highlight": {"notation": "8@d4"}}, "INVALID_INPUT", "highlight.notation"),
    "an illegal move": ({"highlight": {"notation": "1@d4"}}, "ILLEGAL_MOVE", "highlight.notation"),
    "a typed illegal move": (
        {"highlight": {"roygbiv": {"value": 1, "row": 3, "column": 3}}},
        "ILLEGAL_MOVE",
        "highlight.roygbiv",
    ),
    "a move of another game": (
        {"highlight": {"generator": {"pass_turn": {}}}},
        "INVALID_INPUT",
        "highlight.generator",
    ),
    "no such seat": ({"highlight": {"notation": "2@a1"}, "seat": 5}, "INVALID_INPUT", "seat"),
    "a seat without a move": ({"seat": 0}, "INVALID_INPUT", "seat"),
    "a hidden hand": (
        {"state": {"notation": EXAMPLES["roygbiv"].replace("223", "???")}, "highlight": {}},
        "HAND_HIDDEN",
        "state",
    ),
    "several seats to act": (
        {"state": {"notation": OPENING_OF_RIVIERA.notation}, "highlight": {"notation": "crash"}},
        "SEAT_REQUIRED",
        "seat",
    ),
    "thousands of brackets": (
        {"state": {"notation": f"{EXAMPLES['roygbiv']} x={'[' * 3000}"}},
        "INVALID_INPUT",
        "state.notation",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_requests(server: ServerProcess, case: str) -> None:
    fields, reason, path = BAD[case]
    request = messages.RenderStateRequest(
        **{"state": {"notation": EXAMPLES["roygbiv"]}, "format": 3} | fields
    )
    with pytest.raises(grpc.RpcError) as caught:
        server.games.RenderState(request)
    found = details(caught.value)
    assert found["code"] == "INVALID_ARGUMENT"
    assert found["ErrorInfo"].reason == reason
    assert [violation.field for violation in found["BadRequest"].field_violations] == [path]


def test_all_that_is_wrong_is_told_at_once(server: ServerProcess) -> None:
    request = messages.RenderStateRequest(
        state={"notation": EXAMPLES["roygbiv"]}, format=9, highlight={"notation": "x"}
    )
    with pytest.raises(grpc.RpcError) as caught:
        server.games.RenderState(request)
    violations = details(caught.value)["BadRequest"].field_violations
    assert [violation.field for violation in violations] == ["format", "highlight.notation"]


def test_seats_that_cannot_move(server: ServerProcess) -> None:
    position = Position.parse(EXAMPLES["roygbiv"])
    waiting = {"highlight": {"notation": "2@a1"}, "seat": 0}
    final = None
    for state, _ in random_game("roygbiv"):
        final = state
    assert final is not None
    for state, fields, reason in (
        (position, waiting, "SEAT_NOT_TO_ACT"),
        (final, {"highlight": {"notation": "2@a1"}}, "GAME_FINISHED"),
    ):
        with pytest.raises(grpc.RpcError) as caught:
            render(server, state, "SVG", **fields)
        found = details(caught.value)
        assert found["code"] == "FAILED_PRECONDITION"
        assert found["ErrorInfo"].reason == reason
