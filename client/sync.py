"""A client that waits for its answers."""

from collections.abc import Callable, Iterator
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, Unpack

import grpc

from aleator.client import calls
from aleator.client.connection import ADDRESS, Connection, Settings
from aleator.client.errors import translated

P = ParamSpec("P")
T = TypeVar("T")


def connect(address: str = ADDRESS, **settings: Unpack[Settings]) -> "Client":
    """Make a client of a server.

        with aleator.client.connect("localhost:50051") as client:
            print(client.suggest_move("generator ...", time=0.5).best_move_notation)

    Parameters
    ----------
    address : str
        ``HOST:PORT``; nothing is sent before the first call.
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


class Stream(Iterator[T]):
    """Answers as they come; as a context manager it ends the call with the block."""

    def __init__(self, call: calls.Call[T], running: Any) -> None:
        self._call = call
        self._running = running

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

    def close(self) -> None:
        """End the call, whether or not all has come."""
        self._running.cancel()


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


class Client:
    """A client of a server; several threads may use it at once.

    Its methods are the calls of `aleator.client.calls`, where their arguments are explained. They
    raise the errors of `aleator.client.errors`.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        if connection.credentials is None:
            self._channel = grpc.insecure_channel(connection.address, connection.options)
        else:
            self._channel = grpc.secure_channel(
                connection.address, connection.credentials, connection.options
            )
        self._stubs = calls.Stubs(self._channel)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection, with the calls that still run."""
        self._channel.close()

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
