"""What a request to search asks, read from its message.

The requests of all methods that search have the same fields for it, under the same names.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

from aleator.search import (
    Analysis,
    Engine,
    Limits,
    Move,
    Position,
    Report,
    StopFlag,
    Strength,
    Trees,
)
from aleator.search.engine import codes_to_choose
from aleator.search.errors import InvalidInput, Violation
from aleator.search.strength import Level
from aleator.service.convert import (
    MOVES_LIMIT,
    check_count,
    game_named,
    read_limits,
    read_move,
    read_state,
    read_strength,
)
from aleator.service.errors import Faults
from aleator.service.settings import Settings
from aleator.v1 import analysis_pb2, opponent_service_pb2, play_pb2, state_pb2

CANDIDATES = 10
"""Candidates listed if the request does not say how many."""

Request: TypeAlias = (
    opponent_service_pb2.SuggestMoveRequest
    | opponent_service_pb2.AnalyzePositionRequest
    | opponent_service_pb2.AnalyzeBatchRequest
)


@dataclass(frozen=True, slots=True)
class Effort:
    """How hard to search, and what to tell of it.

    Attributes
    ----------
    limits : Limits
        As asked for.
    strength : Strength
    level : Level
        What the strength is in the game.
    candidates : int or None
        How many candidates to list; None lists all.
    """

    limits: Limits
    strength: Strength
    level: Level
    candidates: int | None


@dataclass(frozen=True, slots=True)
class Question:
    """A search that is asked for.

    Attributes
    ----------
    position : Position
    seat : int
        The seat to find a move for.
    limits : Limits
        The most to spend; `time` is set.
    strength : Strength
    seed : int or None
    allowed, avoided : list of Move or None
    candidates : int or None
        How many candidates to list; None lists all.
    is_forced : bool
        Whether only one move can be chosen, so that there is nothing to search.
    until_decided : bool
        Whether to save the time that cannot change the best move.
    trees : Trees or None
        What the seat's last search left, to go on from, and where this one leaves its own.
    """

    position: Position
    seat: int
    limits: Limits
    strength: Strength
    seed: int | None
    allowed: list[Move] | None
    avoided: list[Move] | None
    candidates: int | None
    is_forced: bool
    until_decided: bool
    trees: Trees | None

    @property
    def kind(self) -> tuple[str, int]:
        """What it has in common with searches whose simulations take about as long."""
        return self.position.game, self.position.seats

    def answer(self, engine: Engine, limits: Limits, stop: StopFlag) -> Analysis:
        """Search within limits that may be narrower than its own."""
        return engine.suggest(
            self.position,
            self.seat,
            limits,
            seed=self.seed,
            strength=self.strength,
            allowed=self.allowed,
            avoided=self.avoided,
            candidates=self.candidates,
            stop=stop,
            until_decided=self.until_decided,
            trees=self.trees,
        )

    def reports(
        self, engine: Engine, limits: Limits, stop: StopFlag, interval: float
    ) -> Iterator[Report]:
        """Search as `answer` does, and report every `interval` seconds and at the end."""
        return engine.analyze(
            self.position,
            self.seat,
            limits,
            interval=interval,
            seed=self.seed,
            strength=self.strength,
            allowed=self.allowed,
            avoided=self.avoided,
            candidates=self.candidates,
            stop=stop,
        )


def read_question(request: Request, faults: Faults, settings: Settings) -> Question:
    """Read what a request asks, or raise all that is wrong with it.

    Parameters
    ----------
    request : Request
        Any request with the fields of a search.
    faults : Faults
        What was found wrong with its other fields.
    settings : Settings
        The times and the number of threads of a search.
    """
    position = faults.read("state", read_state, request.state)
    effort = read_effort(request, "", faults, settings)
    seat = None
    allowed = avoided = None
    if position is not None:
        asked = request.seat if request.HasField("seat") else None
        seat = faults.read("", position.acting_seat, asked)
        if seat is not None:
            read = partial(_read_moves, faults, position, seat)
            allowed = read("allowed_moves", request.allowed_moves)
            avoided = read("avoided_moves", request.avoided_moves)
    faults.check()
    assert position is not None
    assert seat is not None
    assert effort is not None
    seed = request.seed if request.HasField("seed") else None
    return make_question(
        position, seat, effort, settings, seed=seed, allowed=allowed, avoided=avoided
    )


def read_effort(
    request: Request | play_pb2.PlayStart,
    path: str,
    faults: Faults,
    settings: Settings,
) -> Effort | None:
    """Read how hard to search; None if something about that was wrong, or the game is unclear.

    Parameters
    ----------
    request : Request or PlayStart
    path : str
        The path of the request within what the client sent, empty or with a dot at its end.
    faults : Faults
    settings : Settings
    """
    limits = faults.read(f"{path}limits", _read_limits, request.limits, settings)
    strength = faults.read(f"{path}strength", read_strength, request.strength)
    game = game_named(request.state)
    if strength is None or game is None:
        return None
    level = faults.read(f"{path}strength", strength.settings, game)
    if limits is None or level is None:
        return None
    wanted = request.max_candidates if request.HasField("max_candidates") else CANDIDATES
    return Effort(limits, strength, level, wanted or None)


def make_question(
    position: Position,
    seat: int,
    effort: Effort,
    settings: Settings,
    *,
    seed: int | None = None,
    allowed: list[Move] | None = None,
    avoided: list[Move] | None = None,
    until_decided: bool = False,
    trees: Trees | None = None,
) -> Question:
    """Ask for a move of a seat that is to act.

    Raises
    ------
    InvalidInput
        If `allowed` and `avoided` leave no move.
    """
    return Question(
        position=position,
        seat=seat,
        limits=_bound(effort.limits, effort.level, settings),
        strength=effort.strength,
        seed=seed,
        allowed=allowed,
        avoided=avoided,
        candidates=effort.candidates,
        is_forced=len(codes_to_choose(position, seat, allowed, avoided)) == 1,
        until_decided=until_decided,
        trees=trees,
    )


def _read_limits(message: analysis_pb2.Limits, settings: Settings) -> Limits:
    bounds = {"threads": settings.search_threads, "simulations": settings.max_simulations}
    violations = [
        Violation(name, f"must be 1..{most} on this server, not {value}")
        for name, most in bounds.items()
        if message.HasField(name)
        and most is not None
        and not 1 <= (value := getattr(message, name)) <= most
    ]
    told = {violation.path for violation in violations}
    try:
        limits = read_limits(message)
    except InvalidInput as error:
        violations += [violation for violation in error.violations if violation.path not in told]
    if violations:
        raise InvalidInput(violations)
    return limits


def _bound(limits: Limits, level: Level, settings: Settings) -> Limits:
    """Give the limits a time, at most the longest that the server searches.

    The simulations are those that the strength and the server leave of them.
    """
    time = limits.time
    if time is None:
        unlimited = limits.simulations is None
        time = settings.default_time if unlimited else settings.max_time
    caps = [limits.simulations, level.simulations, settings.max_simulations]
    return replace(
        limits,
        time=min(time, settings.max_time),
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
