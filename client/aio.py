"""A client for asyncio, as `aleator.client.connect` makes one for programs that wait.

    async with aleator.client.aio.connect("localhost:50051") as client:
        analysis = await client.suggest_move("generator ...", time=0.5)

It has the same methods, with answers to await.
"""

from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, Unpack

import grpc

from aleator.client import calls
from aleator.client.connection import ADDRESS, Connection, Settings
from aleator.client.errors import translated

P = ParamSpec("P")
T = TypeVar("T")


def connect(address: str = ADDRESS, **settings: Unpack[Settings]) -> "Client":
    """Make a client of a server, on the event loop that runs; as `aleator.client.connect`."""
    return Client(Connection(address, **settings))


class Stream(AsyncIterator[T]):
    """Answers as they come; as a context manager it ends the call with the block."""

    def __init__(self, call: calls.Call[T], running: Any) -> None:
        self._call = call
        self._running = running
        self._answers = aiter(running)

    async def __anext__(self) -> T:
        try:
            with translated():
                return self._call.result(await anext(self._answers))
        except StopAsyncIteration:
            self._call.check_end()
            raise

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the call, whether or not all has come."""
        self._running.cancel()


def _unary(
    make: Callable[P, calls.Call[T]],
) -> "Callable[Concatenate[Client, P], Coroutine[Any, Any, T]]":
    """Make the method that carries out a call."""

    async def method(self: "Client", /, *args: P.args, **kwargs: P.kwargs) -> T:
        call = make(*args, **kwargs)
        with translated():
            return call.result(await self._start(call))

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
    """A client of a server, for the event loop that it was made on.

    Its methods are the calls of `aleator.client.calls`, where their arguments are explained. They
    raise the errors of `aleator.client.errors`.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        if connection.credentials is None:
            self._channel = grpc.aio.insecure_channel(connection.address, connection.options)
        else:
            self._channel = grpc.aio.secure_channel(
                connection.address, connection.credentials, connection.options
            )
        self._stubs = calls.Stubs(self._channel)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connection, with the calls that still run."""
        await self._channel.close()

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
