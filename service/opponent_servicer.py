"""The opponent over gRPC: suggested moves, within the deadlines of the calls."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import inf
from time import monotonic
from typing import Any

import grpc

from aleator.search import Analysis, Engine, Limits, Move, Position, StopFlag
from aleator.search.engine import codes_to_choose
from aleator.search.errors import InvalidInput
from aleator.search.strength import Level
from aleator.service.admission import Admission
from aleator.service.convert import (
    MOVES_LIMIT,
    check_count,
    read_limits,
    read_move,
    read_state,
    read_strength,
    write_analysis,
)
from aleator.service.errors import Faults
from aleator.service.settings import Settings
from aleator.v1 import analysis_pb2, opponent_service_pb2, opponent_service_pb2_grpc, state_pb2

CANDIDATES = 10
"""Candidates listed if the request does not say how many."""
MARGIN = 0.010
MARGIN_SHARE = 0.05
"""Seconds, and the share of the time left, that an answer leaves before its deadline."""


class OpponentServicer(opponent_service_pb2_grpc.OpponentServiceServicer):
    """Plays with one engine.

    Parameters
    ----------
    engine : Engine
        Searches.
    admission : Admission
        Decides which searches run, and when.
    settings : Settings
        The times and the number of threads of a search.
    """

    def __init__(self, engine: Engine, admission: Admission, settings: Settings) -> None:
        self._engine = engine
        self._admission = admission
        self._settings = settings

    async def SuggestMove(
        self,
        request: opponent_service_pb2.SuggestMoveRequest,
        context: grpc.aio.ServicerContext[Any, Any],
    ) -> opponent_service_pb2.SuggestMoveResponse:
        """Suggest the move to play."""
        faults = Faults()
        position = faults.read("state", read_state, request.state)
        limits = faults.read("limits", self._read_limits, request.limits)
        strength = faults.read("strength", read_strength, request.strength)
        seat = settings = None
        allowed = avoided = None
        if position is not None:
            if strength is not None:
                settings = faults.read("strength", strength.settings, position.game)
            asked = request.seat if request.HasField("seat") else None
            seat = faults.read("", position.acting_seat, asked)
            if seat is not None:
                read = partial(_read_moves, faults, position, seat)
                allowed = read("allowed_moves", request.allowed_moves)
                avoided = read("avoided_moves", request.avoided_moves)
        faults.check()
        assert position is not None
        assert seat is not None
        assert limits is not None
        assert settings is not None
        seed = request.seed if request.HasField("seed") else None
        wanted = request.max_candidates if request.HasField("max_candidates") else CANDIDATES

        def search(limits: Limits, stop: StopFlag) -> Analysis:
            return self._engine.suggest(
                position,
                seat,
                limits,
                seed=seed,
                strength=strength,
                allowed=allowed,
                avoided=avoided,
                candidates=wanted or None,
                stop=stop,
            )

        limits = self._bound(limits, settings)
        if len(codes_to_choose(position, seat, allowed, avoided)) == 1:
            analysis = search(limits, StopFlag())  # nothing to search
        else:
            analysis = await self._admission.run(
                search,
                limits,
                _latest_end(context.time_remaining()),
                kind=(position.game, position.seats),
            )
        return opponent_service_pb2.SuggestMoveResponse(analysis=write_analysis(analysis))

    def _read_limits(self, message: analysis_pb2.Limits) -> Limits:
        limits = read_limits(message)
        if limits.threads > self._settings.workers:
            raise InvalidInput.at(
                "threads",
                f"must be 1..{self._settings.workers} on this server, not {limits.threads}",
            )
        return limits

    def _bound(self, limits: Limits, settings: Level) -> Limits:
        """Give the limits a time, at most the longest that the server searches.

        The simulations are those that the strength leaves of them.
        """
        time = limits.time
        if time is None:
            unlimited = limits.simulations is None
            time = self._settings.default_time if unlimited else self._settings.max_time
        caps = [limits.simulations, settings.simulations]
        return replace(
            limits,
            time=min(time, self._settings.max_time),
            simulations=min((cap for cap in caps if cap is not None), default=None),
        )


def _read_moves(
    faults: Faults, position: Position, seat: int, path: str, moves: Sequence[state_pb2.Move]
) -> list[Move] | None:
    """Read a list of legal moves; None if there are none in it."""
    if not moves:
        return None
    faults.read(path, check_count, moves)
    read = [
        faults.read(f"{path}[{index}]", read_move, move, position, seat)
        for index, move in enumerate(moves[:MOVES_LIMIT])
    ]
    return [move for move in read if move is not None]


def _latest_end(remaining: float | None) -> float:
    """Tell when a search must end for its answer to arrive in the time that remains."""
    if remaining is None:
        return inf
    margin = min(MARGIN + MARGIN_SHARE * remaining, remaining / 2)
    return monotonic() + remaining - margin
