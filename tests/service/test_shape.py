"""Requests that hold too much are refused before anything is done with them."""

import time

import grpc
import pytest

from aleator.search import Position
from aleator.service.server import REQUEST_LIMIT
from aleator.service.shape import DEPTH_LIMIT, ITEMS_LIMIT, VALUES_LIMIT
from aleator.v1.game_service_pb2 import CreateGameRequest, ListMovesRequest
from aleator.v1.opponent_service_pb2 import SuggestMoveRequest
from tests.service.process import ServerProcess, details

NOTATION = Position.create("roygbiv", seed=5).notation
MANY = 60_000


def nested(depth: int) -> dict[str, object]:
    value: dict[str, object] = {"long": "x" * 5000}
    for _ in range(depth):
        value = {"in": value}
    return value


def too_many(path: str, count: int) -> tuple[str, str]:
    return path, f"has {count} items; at most {ITEMS_LIMIT} are read"


REQUESTS = {
    "moves": (
        SuggestMoveRequest(state={"notation": NOTATION}, allowed_moves=[{}] * MANY),
        *too_many("allowed_moves", MANY),
    ),
    "cells": (
        ListMovesRequest(state={"roygbiv": {"cells": [1] * MANY}}),
        *too_many("state.roygbiv.cells", MANY),
    ),
    "messages": (
        ListMovesRequest(state={"riviera": {"hands": [{}] * MANY}}),
        *too_many("state.riviera.hands", MANY),
    ),
    "list of an option": (
        CreateGameRequest(game="roygbiv", options={"players": [None] * MANY}),
        *too_many("options.fields.players.list_value.values", MANY),
    ),
    "options": (
        CreateGameRequest(game="roygbiv", options={str(n): n for n in range(5000)}),
        *too_many("options.fields", 5000),
    ),
    "deep": (
        CreateGameRequest(game="roygbiv", options={"a": nested(20)}),
        "options.fields.a" + ".struct_value.fields.in" * 5 + ".struct_value",
        f"is more than {DEPTH_LIMIT} messages deep",
    ),
    "altogether": (
        ListMovesRequest(state={"riviera": {"hands": [{"cards": ["1"] * 1500}] * 50}}),
        "",
        f"holds more than {VALUES_LIMIT} values",
    ),
}


@pytest.mark.parametrize("kind", REQUESTS)
def test_a_request_holds_too_much(server: ServerProcess, kind: str) -> None:
    request, field, words = REQUESTS[kind]
    assert request.ByteSize() < REQUEST_LIMIT
    name = type(request).__name__.removesuffix("Request")
    call = getattr(server.opponent if name == "SuggestMove" else server.games, name)
    busy = server.cpu_seconds()
    with pytest.raises(grpc.RpcError) as refused:
        call(request)
    found = details(refused.value)
    assert (found["code"], found["ErrorInfo"].reason) == ("INVALID_ARGUMENT", "INVALID_INPUT")
    (violation,) = found["BadRequest"].field_violations
    assert violation.field == field
    assert violation.description == words
    assert server.cpu_seconds() - busy < 0.25


def test_a_call_without_a_request_ends(server: ServerProcess) -> None:
    for method in ("GameService/ListMoves", "OpponentService/AnalyzePosition"):
        call = server.channel.stream_stream(f"/aleator.v1.{method}")
        start = time.monotonic()
        with pytest.raises(grpc.RpcError) as refused:
            next(call(iter(()), timeout=30))
        assert details(refused.value)["ErrorInfo"].reason == "MISSING_REQUEST"
        assert time.monotonic() - start < 20
