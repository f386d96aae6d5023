"""Requests with something changed at random never find the server at a loss."""

import random
from collections.abc import Callable, Iterator
from typing import Any

import grpc
import pytest
from google.protobuf.message import Message
from google.rpc import code_pb2

from aleator.search import Position
from aleator.search.games import game_ids
from aleator.service.convert import write_state
from aleator.v1 import game_service_pb2 as games
from aleator.v1.opponent_service_pb2 import (
    AnalyzeBatchRequest,
    AnalyzePositionRequest,
    SuggestMoveRequest,
)
from tests.service.process import ServerProcess, details

MUTANTS = 300
FAIR = {"OK", "INVALID_ARGUMENT", "FAILED_PRECONDITION", "NOT_FOUND"}
NUMBERS = [0, 1, 2, 3, 7, 8, 12, 60, 2**31 - 1, 2**32 - 1]
TEXTS = ["", "?", "-", "x" * 50, "\x00", "\N{GAME DIE}", "roygbiv", "1", "5@d4", "a1"]


def random_value(field: Any, rng: random.Random) -> Any:
    """A value of the type of a scalar field."""
    if field.type == field.TYPE_STRING:
        return rng.choice(TEXTS)
    if field.type == field.TYPE_BOOL:
        return rng.random() < 0.5
    if field.type in (field.TYPE_DOUBLE, field.TYPE_FLOAT):
        return rng.choice([0.0, -1.0, 2.5, float("nan"), float("inf")])
    if field.type == field.TYPE_ENUM:
        return rng.randrange(4)
    return rng.choice(NUMBERS[:9] if field.type == field.TYPE_INT32 else NUMBERS)


def mutate(message: Message, rng: random.Random) -> None:
    """Change one thing somewhere in a message."""
    present = [field for field, _ in message.ListFields()]
    inner = [f for f in present if f.message_type and not f.message_type.GetOptions().map_entry]
    if inner and rng.random() < 0.7:
        field = rng.choice(inner)
        value = getattr(message, field.name)
        mutate(rng.choice(value) if field.is_repeated else value, rng)
        return
    if not message.DESCRIPTOR.fields:
        return
    field = rng.choice(message.DESCRIPTOR.fields)
    if field.message_type:
        if field.is_repeated and not field.message_type.GetOptions().map_entry:
            values = getattr(message, field.name)
            if values and rng.random() < 0.5:
                del values[rng.randrange(len(values))]
            else:
                values.add()
        elif not field.is_repeated:
            getattr(message, field.name).SetInParent()
        return
    if not field.is_repeated:
        setattr(message, field.name, random_value(field, rng))
        return
    values = getattr(message, field.name)
    if values and rng.random() < 0.5:
        values[rng.randrange(len(values))] = random_value(field, rng)
    elif values and rng.random() < 0.5:
        del values[rng.randrange(len(values))]
    else:
        values.append(random_value(field, rng))


def random_positions(game: str, rng: random.Random) -> Iterator[Position]:
    """The first positions of a random game."""
    position = Position.create(game, seed=1)
    for _ in range(30):
        if position.finished:
            return
        yield position
        moves = {seat: rng.choice(position.moves(seat)) for seat in position.seats_to_act}
        position, _ = position.apply(moves, seed=rng.getrandbits(64))


@pytest.mark.parametrize("game", game_ids())
def test_changed_requests(server: ServerProcess, game: str) -> None:
    rng = random.Random(1)
    limits = {"simulations": 10, "time": {"nanos": 5_000_000}}
    positions = list(random_positions(game, rng))
    for _ in range(MUTANTS):
        position = rng.choice(positions)
        state = write_state(position)
        moves = [
            {"seat": seat, "move": {game: rng.choice(position.moves(seat)).record}}
            for seat in position.seats_to_act
        ]
        seat, move = rng.choice(moves).values()
        call, request = rng.choice(
            [
                (server.games.ConvertState, games.ConvertStateRequest(state=state)),
                (server.games.ListMoves, games.ListMovesRequest(state=state, seat=seat)),
                (
                    server.games.RenderState,
                    games.RenderStateRequest(state=state, format=3, highlight=move, seat=seat),
                ),
                (server.games.ApplyMove, games.ApplyMoveRequest(state=state, moves=moves)),
                (
                    server.opponent.SuggestMove,
                    SuggestMoveRequest(state=state, seat=seat, limits=limits, avoided_moves=[move]),
                ),
                (
                    server.opponent.AnalyzePosition,
                    AnalyzePositionRequest(
                        state=state,
                        seat=seat,
                        limits=limits,
                        avoided_moves=[move],
                        report_interval={"seconds": 1},
                    ),
                ),
            ]
        )
        for _ in range(rng.choice([1, 1, 2, 5])):
            mutate(request, rng)
        assert outcome(call, request) in FAIR, request


def test_changed_items_of_a_batch(server: ServerProcess) -> None:
    rng = random.Random(2)
    limits = {"simulations": 10, "time": {"nanos": 5_000_000}}
    items = []
    for game in game_ids():
        positions = list(random_positions(game, rng))
        for index in range(MUTANTS // 4):
            position = rng.choice(positions)
            (seat, *_) = position.seats_to_act
            item = AnalyzeBatchRequest(
                id=f"{game}{index}", state=write_state(position), seat=seat, limits=limits
            )
            for _ in range(rng.choice([1, 1, 2, 5])):
                mutate(item, rng)
            items.append(item)
    answers = {answer.index: answer for answer in server.opponent.AnalyzeBatch(iter(items))}
    assert sorted(answers) == list(range(len(items)))
    for index, item in enumerate(items):
        if answers[index].HasField("error"):
            assert code_pb2.Code.Name(answers[index].error.code) in FAIR, item
        assert answers[index].id == (item.id if len(item.id) <= 100 else "")


def outcome(call: Callable[..., Any], request: Message) -> str:
    """The code that a call ends with, after a look at the details of an error."""
    try:
        answer = call(request, timeout=5)
        if isinstance(answer, grpc.Call):  # of a method that streams
            assert [report.final for report in answer][-1]
    except grpc.RpcError as error:
        return details(error)["code"]
    return "OK"
