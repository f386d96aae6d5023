"""Valid requests of every method, and changes at random to them."""

import random
from collections.abc import Iterator
from typing import Any

from google.protobuf.descriptor_pb2 import FieldDescriptorProto
from google.protobuf.message import Message

from aleator.search import Position
from aleator.service.convert import write_event, write_state
from aleator.v1 import game_service_pb2 as games
from aleator.v1 import opponent_service_pb2 as opponent
from aleator.v1 import play_pb2, state_pb2

LIMITS = {"simulations": 10, "time": {"nanos": 5_000_000}}
METHODS: dict[str, type[Message]] = {
    "GameService/ListGames": games.ListGamesRequest,
    "GameService/GetGame": games.GetGameRequest,
    "GameService/CreateGame": games.CreateGameRequest,
    "GameService/ListMoves": games.ListMovesRequest,
    "GameService/ApplyMove": games.ApplyMoveRequest,
    "GameService/ObserveState": games.ObserveStateRequest,
    "GameService/ConvertState": games.ConvertStateRequest,
    "GameService/RenderState": games.RenderStateRequest,
    "OpponentService/SuggestMove": opponent.SuggestMoveRequest,
    "OpponentService/AnalyzePosition": opponent.AnalyzePositionRequest,
}
"""The methods that take one request, and its type."""
NUMBERS = [0, 1, 2, 3, 7, 8, 12, 60]
LONGEST = 315_576_000_000
"""Seconds that a Duration may have."""
_TYPES = {number: name for name, number in FieldDescriptorProto.Type.items()}
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
    bits = 64 if "64" in _TYPES[field.type] else 32
    if _TYPES[field.type].startswith("TYPE_U"):
        return rng.choice([*NUMBERS, 2**31, 2**bits - 1])
    extremes = [-1, 2 ** (bits - 1) - 1, -(2 ** (bits - 1))]
    return rng.choice([*NUMBERS, *extremes, *([LONGEST] if bits == 64 else [])])


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


def mutate_often(message: Message, rng: random.Random) -> None:
    """Change one thing, or a few."""
    for _ in range(rng.choice([1, 1, 2, 5])):
        mutate(message, rng)


def random_positions(
    game: str, rng: random.Random, options: dict[str, Any] | None = None, plies: int = 30
) -> Iterator[Position]:
    """The first positions of a random game."""
    position = Position.create(game, options, seed=rng.getrandbits(64))
    for _ in range(plies):
        if position.finished:
            return
        yield position
        moves = {seat: rng.choice(position.moves(seat)) for seat in position.seats_to_act}
        position, _ = position.apply(moves, seed=rng.getrandbits(64))


def valid_request(method: str, position: Position, rng: random.Random) -> Message:
    """A request of one of `METHODS` about a position."""
    game = position.game
    if method == "GameService/ListGames":
        return games.ListGamesRequest(page_size=2)
    if method == "GameService/GetGame":
        return games.GetGameRequest(game=game)
    if method == "GameService/CreateGame":
        return games.CreateGameRequest(game=game, options=position.options, seed=1)
    state = state_pb2.GameState(notation=position.notation)
    if rng.random() < 0.7:
        state = write_state(position)
    moves = [
        {"seat": seat, "move": {game: rng.choice(position.moves(seat)).record}}
        for seat in position.seats_to_act
    ]
    seat, move = rng.choice(moves).values()
    request: Message = METHODS[method]()
    known: dict[str, Any] = {
        "state": state,
        "seat": seat,
        "moves": moves,
        "format": 3,
        "highlight": move,
        "limits": LIMITS,
        "avoided_moves": [move],
        "report_interval": {"seconds": 1},
    }
    names = {field.name for field in request.DESCRIPTOR.fields}
    return type(request)(**{name: value for name, value in known.items() if name in names})


def batch_item(position: Position, name: str) -> opponent.AnalyzeBatchRequest:
    """An item of AnalyzeBatch."""
    (seat, *_) = position.seats_to_act
    return opponent.AnalyzeBatchRequest(
        id=name, state=write_state(position), seat=seat, limits=LIMITS
    )


def game_of_play(positions: list[Position], seat: int, name: str) -> list[play_pb2.PlayRequest]:
    """The messages about a game of Play, as a seat sees it."""
    first, *rest = [write_state(position.observe(seat)) for position in positions]
    start = {"state": first, "seat": seat, "limits": LIMITS, "clock": {"time_left": {"seconds": 1}}}
    return [
        play_pb2.PlayRequest(game_id=name, start=start),
        *(play_pb2.PlayRequest(game_id=name, update={"state": state}) for state in rest),
    ]


def game_of_events(position: Position, rng: random.Random, name: str) -> list[play_pb2.PlayRequest]:
    """The messages about a game of Play that goes on from a position, told by its events."""
    state = write_state(position.observe(0))
    requests = [
        play_pb2.PlayRequest(game_id=name, start={"state": state, "seat": 0, "limits": LIMITS})
    ]
    for _ in range(8):
        if position.finished:
            break
        moves = {seat: rng.choice(position.moves(seat)) for seat in position.seats_to_act}
        position, events = position.apply(moves, seed=rng.getrandbits(64))
        told = [write_event(event, position.game) for event in events]
        requests.append(play_pb2.PlayRequest(game_id=name, update={"events": told}))
    return requests
