"""What can be called: how each request is made, and what of its answer is handed on.

These functions make calls but do not carry them out. The clients in `aleator.client.sync` and
`aleator.client.aio` have them as methods, which take the same arguments, carry the call out, each
in its way, and return the result.
"""

from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from inspect import Parameter, signature
from math import inf
from operator import attrgetter
from typing import Any, Final, Generic, Literal, TypeVar, Unpack, cast, get_args

from aleator.client.connection import Connection
from aleator.client.errors import CallError, error_of_status
from aleator.client.values import (
    Move,
    Search,
    State,
    Time,
    duration_of,
    message_of,
    move_of,
    options_of,
    search_of,
    seconds_of,
    state_of,
)
from aleator.v1 import (
    analysis_pb2,
    game_service_pb2,
    game_service_pb2_grpc,
    opponent_service_pb2,
    opponent_service_pb2_grpc,
    state_pb2,
)

T = TypeVar("T")
Method = TypeVar("Method", bound=Callable[..., Any])
_FORMATS: Final = {
    "text": game_service_pb2.RENDER_FORMAT_TEXT,
    "ansi": game_service_pb2.RENDER_FORMAT_ANSI,
    "svg": game_service_pb2.RENDER_FORMAT_SVG,
}


class Stubs:
    """gRPC's stubs of all services, of either kind, and the channels that they use.

    Parameters
    ----------
    connection : Connection
    kind : module
        `grpc` or `grpc.aio`.
    """

    def __init__(self, connection: Connection, kind: Any) -> None:
        channel = connection.open(kind)
        # A channel of their own, so that who reads slowly finds the newest report and no old ones.
        reports = connection.open(kind, ahead=False)
        self.channels = (channel, reports)
        self.games = game_service_pb2_grpc.GameServiceStub(channel)
        self.opponent = opponent_service_pb2_grpc.OpponentServiceStub(channel)
        self.reports = opponent_service_pb2_grpc.OpponentServiceStub(reports)


class Feed(Generic[T]):
    """The messages that a stream sends, for stubs of either kind.

    What goes wrong in making them ends them; `check` raises it once their answers have come.

    Parameters
    ----------
    messages : iterable or async iterable
        The latter is for stubs of asyncio only.
    """

    def __init__(self, messages: Iterable[T] | AsyncIterable[T]) -> None:
        self._messages = messages
        self._iterator: Iterator[T] | None = None
        self._error: Exception | None = None

    def __next__(self) -> T:
        try:
            if self._iterator is None:
                self._iterator = iter(cast("Iterable[T]", self._messages))
            return next(self._iterator)
        except StopIteration:
            raise
        except Exception as error:  # noqa: BLE001 - `check` raises it
            self._error = error
            raise StopIteration from None

    async def __aiter__(self) -> AsyncIterator[T]:
        try:
            if isinstance(self._messages, AsyncIterable):
                async for message in self._messages:
                    yield message
            else:
                for message in self._messages:
                    yield message
        except Exception as error:  # noqa: BLE001 - `check` raises it
            self._error = error

    def check(self) -> None:
        """Raise what went wrong, if anything did."""
        if self._error is not None:
            raise self._error


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """A call that can be made.

    Attributes
    ----------
    method : str
        Where its stub is among `Stubs`.
    request : Message or Feed
    result : callable
        What of an answer is handed on.
    timeout : float or timedelta or None
        How long it may take, infinity for ever; None leaves it to the connection.
    search : float or timedelta
        How long the server is asked to search, which comes on top of the connection's timeout.
    """

    method: str
    request: Any
    result: Callable[[Any], T]
    timeout: Time | None = None
    search: Time = 0.0

    def start(self, stubs: Stubs, connection: Connection) -> Any:
        """Call; what comes back depends on the kind of the stubs."""
        timeout = self.timeout
        if timeout is None:
            timeout = connection.timeout + seconds_of(self.search, "time")
        return attrgetter(self.method)(stubs)(
            self.request,
            timeout=None if timeout == inf else seconds_of(timeout, "timeout"),
            metadata=connection.metadata,
        )

    def check_end(self) -> None:
        """Once all answers of a stream have come, raise what went wrong with its requests."""
        if isinstance(self.request, Feed):
            self.request.check()


class StreamCall(Call[T]):
    """A call that is answered by a stream."""


class Running(Generic[T]):
    """A stream that runs, whichever way its answers are waited for.

    Parameters
    ----------
    call : Call
    running : Any
        What `Call.start` gave.
    """

    def __init__(self, call: Call[T], running: Any) -> None:
        self._call = call
        self._running = running

    def close(self) -> None:
        """End the call, whether or not all has come."""
        self._running.cancel()


@dataclass(frozen=True, slots=True)
class BatchAnswer:
    """The answer to one item of a batch.

    Attributes
    ----------
    id : str
        The item's.
    index : int
        The number of the item in the order sent, from 0.
    analysis : Analysis or None
    error : CallError or None
        Why there is no analysis.
    """

    id: str
    index: int
    analysis: analysis_pb2.Analysis | None
    error: CallError | None

    def unwrap(self) -> analysis_pb2.Analysis:
        """Return the analysis, or raise the error."""
        if self.error is not None:
            raise self.error
        assert self.analysis is not None
        return self.analysis


def list_games(
    page_size: int | None = None, page_token: str | None = None, *, timeout: Time | None = None
) -> Call[game_service_pb2.ListGamesResponse]:
    """List the games that the server knows: up to 100 at once, and the token of the next page."""
    request = message_of(
        game_service_pb2.ListGamesRequest, page_size=page_size, page_token=page_token
    )
    return Call("games.ListGames", request, _all, timeout)


def get_game(game: str, *, timeout: Time | None = None) -> Call[game_service_pb2.GetGameResponse]:
    """Describe a game, with its rules in Markdown."""
    return Call(
        "games.GetGame", message_of(game_service_pb2.GetGameRequest, game=game), _all, timeout
    )


def create_game(
    game: str,
    options: Mapping[str, Any] | None = None,
    *,
    seed: int | None = None,
    start_seat: int | None = None,
    timeout: Time | None = None,
) -> Call[game_service_pb2.CreateGameResponse]:
    """Set up a new game; the answer has its complete state and the seats to act."""
    request = message_of(
        game_service_pb2.CreateGameRequest,
        game=game,
        options=options_of(options),
        seed=seed,
        start_seat=start_seat,
    )
    return Call("games.CreateGame", request, _all, timeout)


def list_moves(
    state: State, seat: int | None = None, *, timeout: Time | None = None
) -> Call[game_service_pb2.ListMovesResponse]:
    """List the legal moves of a seat, by default of the one to act."""
    request = message_of(game_service_pb2.ListMovesRequest, state=state_of(state), seat=seat)
    return Call("games.ListMoves", request, _all, timeout)


def apply_move(
    state: State,
    moves: Move | Mapping[int, Move],
    *,
    seed: int | None = None,
    outcome: state_pb2.Outcome | None = None,
    timeout: Time | None = None,
) -> Call[game_service_pb2.ApplyMoveResponse]:
    """Make a move of the seat to act, or the moves of several, given by seat.

    What chance then brings is drawn, from the seed if there is one, or given as `outcome`.
    """
    if isinstance(moves, Mapping):
        made = [state_pb2.SeatMove(seat=seat, move=move_of(move)) for seat, move in moves.items()]
    else:
        made = [state_pb2.SeatMove(move=move_of(moves))]
    if seed is not None and outcome is not None:
        raise ValueError("give a seed or an outcome, not both")
    request = message_of(
        game_service_pb2.ApplyMoveRequest,
        state=state_of(state),
        moves=made,
        seed=seed,
        outcome=outcome,
    )
    return Call("games.ApplyMove", request, _all, timeout)


def observe_state(
    state: State, seat: int, *, timeout: Time | None = None
) -> Call[state_pb2.GameState]:
    """Tell what a seat may know of a state."""
    request = message_of(game_service_pb2.ObserveStateRequest, state=state_of(state), seat=seat)
    return Call("games.ObserveState", request, attrgetter("state"), timeout)


def convert_state(
    state: State, *, timeout: Time | None = None
) -> Call[game_service_pb2.ConvertStateResponse]:
    """Check a state; the answer has it typed and as notation."""
    request = message_of(game_service_pb2.ConvertStateRequest, state=state_of(state))
    return Call("games.ConvertState", request, _all, timeout)


def render_state(
    state: State,
    form: Literal["text", "ansi", "svg"] = "text",
    *,
    highlight: Move | None = None,
    seat: int | None = None,
    timeout: Time | None = None,
) -> Call[str]:
    """Draw a state, with a move of a seat pointed out if there is one."""
    request = message_of(
        game_service_pb2.RenderStateRequest,
        state=state_of(state),
        format=_FORMATS[form],
        highlight=None if highlight is None else move_of(highlight),
        seat=seat,
    )
    return Call("games.RenderState", request, attrgetter("content"), timeout)


def suggest_move(
    state: State,
    seat: int | None = None,
    *,
    timeout: Time | None = None,
    **search: Unpack[Search],
) -> Call[analysis_pb2.Analysis]:
    """Find the move to play for a seat, by default the one to act.

    The further arguments are those of `Search`. The search ends in time for the answer to arrive
    before the call's deadline, whatever they say.
    """
    request = message_of(opponent_service_pb2.SuggestMoveRequest, **search_of(state, seat, search))
    return Call(
        "opponent.SuggestMove",
        request,
        attrgetter("analysis"),
        timeout,
        search.get("time", 0.0),
    )


def analyze_position(
    state: State,
    seat: int | None = None,
    *,
    report_interval: Time | None = None,
    timeout: Time | None = None,
    **search: Unpack[Search],
) -> StreamCall[opponent_service_pb2.AnalyzePositionResponse]:
    """Search as `suggest_move` does and report while the search runs.

    The last report is marked final. Who reads slower than reports are made gets the newest one
    next. Closing the stream ends the search.
    """
    request = message_of(
        opponent_service_pb2.AnalyzePositionRequest,
        **search_of(state, seat, search),
        report_interval=None
        if report_interval is None
        else duration_of(report_interval, "report_interval"),
    )
    return StreamCall("reports.AnalyzePosition", request, _all, timeout, search.get("time", 0.0))


def batch_item(
    id: str,  # noqa: A002 - the field's name
    state: State,
    seat: int | None = None,
    *,
    priority: int = 0,
    **search: Unpack[Search],
) -> opponent_service_pb2.AnalyzeBatchRequest:
    """Make an item of a batch: a position to search, under a name that no other item has.

    Items of a higher priority are searched first. The further arguments are those of `Search`.
    """
    return message_of(
        opponent_service_pb2.AnalyzeBatchRequest,
        **search_of(state, seat, search),
        id=id,
        priority=priority,
    )


def analyze_batch(
    items: Iterable[opponent_service_pb2.AnalyzeBatchRequest]
    | AsyncIterable[opponent_service_pb2.AnalyzeBatchRequest],
    *,
    timeout: Time = inf,
) -> StreamCall[BatchAnswer]:
    """Search many positions, as many at once as the server runs searches.

    The answers come as they are found, one for each item; `batch_item` makes the items. Without a
    timeout the call takes as long as they need.
    """
    return StreamCall("opponent.AnalyzeBatch", Feed(items), _batch_answer, timeout)


def _batch_answer(answer: opponent_service_pb2.AnalyzeBatchResponse) -> BatchAnswer:
    failed = answer.HasField("error")
    return BatchAnswer(
        answer.id,
        answer.index,
        None if failed else answer.analysis,
        error_of_status(answer.error) if failed else None,
    )


def as_method(method: Method, make: Callable[..., Any], returned: Any = None) -> Method:
    """Let a method look like the function that makes what it sends.

    What it returns is, if nothing else is said, the result of the call that the function makes.
    """
    own = signature(make)
    method.__name__ = method.__qualname__ = make.__name__
    method.__doc__ = make.__doc__
    method.__signature__ = own.replace(  # type: ignore[attr-defined]
        parameters=[Parameter("self", Parameter.POSITIONAL_ONLY), *own.parameters.values()],
        return_annotation=returned or get_args(own.return_annotation)[0],
    )
    return method


def _all(answer: T) -> T:
    return answer
