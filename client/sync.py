"""A client that waits for its answers."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from math import inf
from queue import SimpleQueue
from threading import Thread
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, Unpack

import grpc

from aleator.client import calls, play
from aleator.client.connection import ADDRESS, Connection, Settings
from aleator.client.errors import CallError, translated
from aleator.client.values import Time
from aleator.v1 import play_pb2

P = ParamSpec("P")
T = TypeVar("T")


def connect(address: str = ADDRESS, **settings: Unpack[Settings]) -> "Client":
    """Make a client of a server.

        with aleator.client.connect("localhost:50051") as client:
            print(client.suggest_move("generator ...", time=0.5).best_move_notation)

    Parameters
    ----------
    address : str
        ``HOST:PORT``, or ``HOST`` with the port 50051; nothing is sent before the first call.
    **settings
        Those of `Settings`: TLS, API key, timeout.

    Raises
    ------
    ValueError
        If the API key would go to another machine unencrypted.
    OSError
        If a certificate cannot be read.
    """
    return Client(Connection(address, **settings))


class Stream(calls.Running[T], Iterator[T]):
    """Answers as they come; as a context manager it ends the call with the block."""

    def __next__(self) -> T:
        try:
            with translated():
                return self._call.result(next(self._running))
        except StopIteration:
            self._call.check_end()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _unary(make: Callable[P, calls.Call[T]]) -> "Callable[Concatenate[Client, P], T]":
    """Make the method that carries out a call."""

    def method(self: "Client", /, *args: P.args, **kwargs: P.kwargs) -> T:
        call = make(*args, **kwargs)
        with translated():
            return call.result(self._start(call))

    return calls.as_method(method, make)


def _stream(
    make: Callable[P, calls.StreamCall[T]],
) -> "Callable[Concatenate[Client, P], Stream[T]]":
    """Make the method that starts a stream."""

    def method(self: "Client", /, *args: P.args, **kwargs: P.kwargs) -> Stream[T]:
        call = make(*args, **kwargs)
        return Stream(call, self._start(call))

    return calls.as_method(method, make)


def _told(
    make: Callable[P, play_pb2.PlayRequest],
) -> "Callable[Concatenate[Play, P], play_pb2.PlayResponse]":
    """Make the method that tells a bot something and waits for its answer."""

    def method(self: "Play", /, *args: P.args, **kwargs: P.kwargs) -> play_pb2.PlayResponse:
        return self._ask(make(*args, **kwargs))

    return calls.as_method(method, make, play_pb2.PlayResponse)


class Play:
    """Bots that keep their seats, in any number of games; `Client.play` opens it.

    Several threads may use it at once, each for games of its own. A server that is busy is asked
    again, for as long as a call may take. After an error of class `Unavailable` open another one,
    and start each game again from its position then.
    """

    def __init__(self, client: "Client", timeout: Time) -> None:
        self._requests: SimpleQueue[play_pb2.PlayRequest | None] = SimpleQueue()
        self._exchange = play.Exchange()
        self._patience = client._connection.timeout  # noqa: SLF001 - they belong together
        call = play.play(iter(self._requests.get, None), timeout)
        self._answers = Stream(call, client._start(call))  # noqa: SLF001
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the call, with searches that still run; all bots leave their seats."""
        self._requests.put(None)
        if self._exchange.is_idle:  # then the server ends the call at once
            self._reader.join(play.GRACE)
        self._answers.close()
        self._reader.join()

    start = _told(play.start)
    update = _told(play.update)
    end = _told(play.end)

    def _ask(self, request: play_pb2.PlayRequest) -> play_pb2.PlayResponse:
        until = time.monotonic() + self._patience
        while True:
            future: Future[play_pb2.PlayResponse] = Future()
            self._exchange.send(request, self._requests, future)
            response = future.result()
            pause = play.pause_before_another_try(response, until)
            if pause is None:
                return response
            time.sleep(pause)

    def _read(self) -> None:
        error = None
        try:
            for response in self._answers:
                self._exchange.receive(response)
        except CallError as caught:
            error = caught
        self._exchange.end(error)


class Client:
    """A client of a server; several threads may use it at once.

    Its methods are the calls of `aleator.client.calls`, where their arguments are explained. They
    raise the errors of `aleator.client.errors`.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._stubs = calls.Stubs(connection, grpc)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection, with the calls that still run."""
        for channel in self._stubs.channels:
            channel.close()

    def play(self, *, timeout: Time = inf) -> Play:
        """Let bots take seats in games; without a timeout the call takes as long as they do."""
        return Play(self, timeout)

    def _start(self, call: calls.Call[Any]) -> Any:
        return call.start(self._stubs, self._connection)

    list_games = _unary(calls.list_games)
    get_game = _unary(calls.get_game)
    create_game = _unary(calls.create_game)
    list_moves = _unary(calls.list_moves)
    apply_move = _unary(calls.apply_move)
    observe_state = _unary(calls.observe_state)
    convert_state = _unary(calls.convert_state)
    render_state = _unary(calls.render_state)
    suggest_move = _unary(calls.suggest_move)
    analyze_position = _stream(calls.analyze_position)
    analyze_batch = _stream(calls.analyze_batch)
