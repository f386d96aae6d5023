"""Play, where bots keep their seats through games: what they are told, and who waits for answers.

As in `aleator.client.calls`, the functions make the requests, and the clients of both kinds have
them as methods.
"""

from collections.abc import Iterable
from threading import Lock
from time import monotonic
from typing import Any, Unpack

from google.rpc import code_pb2, status_pb2

from aleator.client.calls import Feed, StreamCall
from aleator.client.errors import CallError, ResourceExhausted, error_of_status
from aleator.client.values import Effort, State, Time, duration_of, effort_of, message_of, state_of
from aleator.v1 import play_pb2, state_pb2

GRACE = 1.0
"""Seconds that the server has to end a call in which nothing is waited for."""


def start(
    game_id: str,
    state: State,
    seat: int,
    *,
    clock: Time | None = None,
    increment: Time | None = None,
    **effort: Unpack[Effort],
) -> play_pb2.PlayRequest:
    """Let a bot take a seat, in a new game or one that goes on already.

    The answer, as that to `update`, has one of `move`, `waiting` and `finished`.

    Parameters
    ----------
    game_id : str
        A name for the game, in this call of Play.
    state : str or GameState
        As the seat sees it, or complete.
    seat : int
    clock : float or timedelta, optional
        The time that the bot has for all of its moves.
    increment : float or timedelta, optional
        What is added to its clock after each move; by default nothing.
    **effort
        Those of `Effort`, for each move.

    Raises
    ------
    ValueError
        For an increment without a clock.
    """
    if increment is not None and clock is None:
        raise ValueError("increment: must be left out without a clock")
    request = play_pb2.PlayRequest(
        game_id=game_id,
        start=message_of(play_pb2.PlayStart, state=state_of(state), seat=seat, **effort_of(effort)),
    )
    if clock is not None:
        request.start.clock.time_left.CopyFrom(duration_of(clock, "clock"))
        if increment is not None:
            request.start.clock.increment.CopyFrom(duration_of(increment, "increment"))
    return request


def update(
    game_id: str,
    state: State | None = None,
    *,
    events: Iterable[state_pb2.GameEvent] = (),
    time_left: Time | None = None,
) -> play_pb2.PlayRequest:
    """Tell the bot where the game stands now, after a move or several.

    Either by the state, or by the events since, as `apply_move` returns them, in games where they
    tell all that a seat sees. `time_left` is what is left on its clock, for those who keep it
    themselves.
    """
    return play_pb2.PlayRequest(
        game_id=game_id,
        update=play_pb2.PlayUpdate(
            state=None if state is None else state_of(state),
            events=events,
            time_left=None if time_left is None else duration_of(time_left, "time_left"),
        ),
    )


def end(game_id: str) -> play_pb2.PlayRequest:
    """Let the bot leave its seat; not needed in a finished game."""
    return play_pb2.PlayRequest(game_id=game_id, end=play_pb2.PlayEnd())


def play(requests: Any, timeout: Time) -> StreamCall[play_pb2.PlayResponse]:
    """The call itself."""
    return StreamCall("opponent.Play", Feed(requests), _whole, timeout)


class Exchange:
    """The requests of one call that wait for their answers, each with a future of either kind."""

    def __init__(self) -> None:
        self._waiting: dict[int, Any] = {}
        self._sent = 0
        self._error: CallError | None = None
        self._lock = Lock()

    @property
    def is_idle(self) -> bool:
        """Whether all requests are answered."""
        return not self._waiting

    def send(self, request: play_pb2.PlayRequest, queue: Any, future: Any) -> None:
        """Put a request into the queue of the call; the future gets its answer.

        Raises
        ------
        CallError
            If the call has ended.
        """
        with self._lock:
            if self._error is not None:
                raise self._error
            self._waiting[self._sent] = future
            self._sent += 1
            queue.put_nowait(request)

    def receive(self, response: play_pb2.PlayResponse) -> None:
        """Hand on an answer."""
        with self._lock:
            future = self._waiting.pop(response.index, None)
        if future is not None and not future.done():
            future.set_result(response)

    def end(self, error: CallError | None) -> None:
        """Tell all who wait that the call has ended, and why."""
        if error is None:
            error = error_of_status(
                status_pb2.Status(code=code_pb2.UNAVAILABLE, message="the server ended the call")
            )
        with self._lock:
            self._error = error
            waiting = list(self._waiting.values())
            self._waiting.clear()
        for future in waiting:
            if not future.done():
                future.set_exception(error)


def pause_before_another_try(response: play_pb2.PlayResponse, until: float) -> float | None:
    """Tell how many seconds to wait before a request is sent again; None if it is answered.

    Parameters
    ----------
    response : PlayResponse
    until : float
        The time of the monotonic clock at which a busy server has been asked long enough.

    Raises
    ------
    CallError
        If it is answered by an error, and waiting does not help or would take too long.
    """
    if not response.HasField("error"):
        return None
    error = error_of_status(response.error)
    if not isinstance(error, ResourceExhausted) or error.retry_after is None:
        raise error
    pause = error.retry_after.total_seconds()
    if monotonic() + pause > until:
        raise error
    return pause


def _whole(response: play_pb2.PlayResponse) -> play_pb2.PlayResponse:
    return response
