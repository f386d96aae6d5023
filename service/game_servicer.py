"""The rules over gRPC."""

import asyncio
from functools import lru_cache
from typing import Any, TypeAlias

import grpc

from aleator.search import Move, Position
from aleator.search.errors import InvalidInput
from aleator.search.games import Codec, codec_class, game_ids
from aleator.service.convert import (
    KEPT_MOVES,
    check_count,
    read_move,
    read_options,
    read_outcome,
    read_state,
    write_code,
    write_event,
    write_game,
    write_state,
)
from aleator.service.drawing.rendering import Format, find_drawing, render
from aleator.service.errors import Faults
from aleator.service.telemetry.calls import note_game
from aleator.v1 import game_service_pb2, game_service_pb2_grpc, state_pb2

PAGE_SIZE = 100
"""Games on a page at most."""
_FORMATS: dict[int, Format] = {
    game_service_pb2.RENDER_FORMAT_UNSPECIFIED: Format.TEXT,
    game_service_pb2.RENDER_FORMAT_TEXT: Format.TEXT,
    game_service_pb2.RENDER_FORMAT_ANSI: Format.ANSI,
    game_service_pb2.RENDER_FORMAT_SVG: Format.SVG,
}

Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"


class GameServicer(game_service_pb2_grpc.GameServiceServicer):
    """Knows the rules of every registered game."""

    async def ListGames(
        self, request: game_service_pb2.ListGamesRequest, context: Context
    ) -> game_service_pb2.ListGamesResponse:
        """List the games; a page token is the id of the first game on the page."""
        games = game_ids()
        start = 0
        if request.page_token:
            if request.page_token not in games:
                raise InvalidInput.at("page_token", "is not one that ListGames gave")
            start = games.index(request.page_token)
        end = start + min(request.page_size or PAGE_SIZE, PAGE_SIZE)
        return game_service_pb2.ListGamesResponse(
            games=[write_game(codec_class(game)) for game in games[start:end]],
            next_page_token=games[end] if end < len(games) else "",
        )

    async def GetGame(
        self, request: game_service_pb2.GetGameRequest, context: Context
    ) -> game_service_pb2.GetGameResponse:
        """Describe a game."""
        codec = codec_class(request.game)
        note_game(request.game)
        return game_service_pb2.GetGameResponse(
            game=write_game(codec), rules=codec.rules_markdown()
        )

    async def CreateGame(
        self, request: game_service_pb2.CreateGameRequest, context: Context
    ) -> game_service_pb2.CreateGameResponse:
        """Set up a game."""
        position = Position.create(
            request.game,
            read_options(request.options),
            request.seed if request.HasField("seed") else None,
            request.start_seat if request.HasField("start_seat") else None,
        )
        note_game(position.game)
        return game_service_pb2.CreateGameResponse(
            state=write_state(position), seats_to_act=position.seats_to_act
        )

    async def ListMoves(
        self, request: game_service_pb2.ListMovesRequest, context: Context
    ) -> bytes:
        """List the legal moves of a seat: a `ListMovesResponse` that is written already."""
        position = _read_position(request.state)
        seat = request.seat if request.HasField("seat") else None
        moves = () if position.finished else position.described_moves(seat)
        # Messages written one after another are read as one, with the items of all their lists.
        written = [_write_legal_move(position.codec, code, words) for code, words in moves]
        written.append(game_service_pb2.ListMovesResponse(**_status(position)).SerializeToString())
        return b"".join(written)

    async def ApplyMove(
        self, request: game_service_pb2.ApplyMoveRequest, context: Context
    ) -> game_service_pb2.ApplyMoveResponse:
        """Make a move, or one of each of several seats."""
        position = _read_position(request.state)
        faults = Faults()
        faults.read("moves", check_count, request.moves)
        faults.check()
        moves: dict[int, Move] = {}
        for index, seat_move in enumerate(request.moves):
            faults.read(f"moves[{index}]", _add_move, moves, seat_move, position)
        outcome = None
        if request.HasField("outcome"):
            outcome = faults.read("outcome", read_outcome, request.outcome, position.game)
        faults.check()
        seed = request.seed if request.HasField("seed") else None
        after, events = position.apply(moves, seed, outcome)
        return game_service_pb2.ApplyMoveResponse(
            state=write_state(after),
            events=[write_event(event, position.game) for event in events],
            **_status(after),
        )

    async def ObserveState(
        self, request: game_service_pb2.ObserveStateRequest, context: Context
    ) -> game_service_pb2.ObserveStateResponse:
        """Tell what a seat may know."""
        position = _read_position(request.state)
        if not request.HasField("seat"):
            raise InvalidInput.at("seat", "is required")
        return game_service_pb2.ObserveStateResponse(
            state=write_state(position.observe(request.seat))
        )

    async def ConvertState(
        self, request: game_service_pb2.ConvertStateRequest, context: Context
    ) -> game_service_pb2.ConvertStateResponse:
        """Give a position in both forms."""
        position = _read_position(request.state)
        return game_service_pb2.ConvertStateResponse(
            state=write_state(position), notation=position.notation
        )

    async def RenderState(
        self, request: game_service_pb2.RenderStateRequest, context: Context
    ) -> game_service_pb2.RenderStateResponse:
        """Draw a position."""
        faults = Faults()
        position = faults.read("state", read_state, request.state)
        format_ = faults.read("format", _read_format, request.format)
        drawing = highlight = None
        if position is not None:
            drawing = faults.read("state", find_drawing, position.game)
            if request.HasField("highlight"):
                asked = request.seat if request.HasField("seat") else None
                seat = faults.read("", position.acting_seat, asked)
                if seat is not None:
                    highlight = faults.read(
                        "highlight", read_move, request.highlight, position, seat
                    )
        faults.read("seat", _check_use_of_seat, request)
        faults.check()
        assert position is not None
        note_game(position.game)
        assert drawing is not None
        assert format_ is not None
        # In a thread, because a picture takes many times as long as other answers.
        content = await asyncio.to_thread(render, drawing, position, format_, highlight)
        return game_service_pb2.RenderStateResponse(content=content, media_type=format_.media_type)


def _check_use_of_seat(request: game_service_pb2.RenderStateRequest) -> None:
    """Refuse a seat without a move: whoever sets it may expect to see what that seat sees."""
    if request.HasField("seat") and not request.HasField("highlight"):
        raise InvalidInput.at(
            "",
            "is whose move `highlight` is, which is not set; to draw what a seat may see, send the"
            " state that ObserveState gives",
        )


def _read_format(number: int) -> Format:
    """Read the format of a picture."""
    if number not in _FORMATS:
        raise InvalidInput.at("", f"must be 0..{max(_FORMATS)}, not {number}")
    return _FORMATS[number]


def _read_position(state: state_pb2.GameState) -> Position:
    """Read the position of a request."""
    faults = Faults()
    position = faults.read("state", read_state, state)
    faults.check()
    assert position is not None
    note_game(position.game)
    return position


@lru_cache(maxsize=KEPT_MOVES)
def _write_legal_move(codec: Codec, code: int, description: str) -> bytes:
    """Write a move as the only one of a list; kept, since lists are full of the same moves."""
    move, notation = write_code(codec, code)
    legal = game_service_pb2.LegalMove(move=move, notation=notation, description=description)
    return game_service_pb2.ListMovesResponse(moves=[legal]).SerializeToString()


def _add_move(moves: dict[int, Move], seat_move: state_pb2.SeatMove, position: Position) -> None:
    """Read a move into those of the other seats."""
    seat = position.acting_seat(seat_move.seat if seat_move.HasField("seat") else None)
    if seat in moves:
        raise InvalidInput.at("seat", f"seat {seat} has a move already")
    try:
        moves[seat] = read_move(seat_move.move, position, seat)
    except InvalidInput as error:
        raise error.under("move") from None


def _status(position: Position) -> dict[str, Any]:
    """Tell where the game stands, as fields of a response."""
    return {
        "seats_to_act": position.seats_to_act,
        "finished": position.finished,
        "returns": position.win_shares,
        "scores": position.scores,
    }
