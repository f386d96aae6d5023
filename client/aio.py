"""A client for asyncio, as `aleator.client.connect` makes one for programs that wait.

    async with aleator.client.aio.connect("localhost:50051") as client:
        analysis = await client.suggest_move("generator ...", time=0.5)

It has the same methods, with answers to await.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from math import inf
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, Unpack

import grpc

from aleator.client import calls, play
from aleator.client.connection import ADDRESS, Connection, Settings
from aleator.client.errors import CallError, closed, translated
from aleator.client.values import Time
from aleator.v1 import play_pb2

P = ParamSpec("P")
T = TypeVar("T")


def connect(address: str = ADDRESS, **settings: Unpack[Settings]) -> "Client":
    """Make a client of a server, on the event loop that runs; as `aleator.client.connect`."""
    return Client(Connection(address, **settings))


class Stream(calls.Running[T], AsyncIterator[T]):
    """Answers as they come; as a context manager it ends the call with the block."""

    def __init__(self, call: calls.Call[T], running: Any) -> None:
        super().__init__(call, running)
        self._answers = aiter(running)

    async def __anext__(self) -> T:
        try:
            with translated():
                return self._call.result(await anext(self._answers))
        except StopAsyncIteration:
            self._call.check_end()
            raise
        except asyncio.CancelledError:  # gRPC raises it for calls that are cancelled, too
            task = asyncio.current_task()
            if not self._running.cancelled() or (task is not None and task.cancelling()):
                raise
            raise closed() from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()


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


def _told(
    make: Callable[P, play_pb2.PlayRequest],
) -> "Callable[Concatenate[Play, P], Coroutine[Any, Any, play_pb2.PlayResponse]]":
    """Make the method that tells a bot something and waits for its answer."""

    async def method(self: "Play", /, *args: P.args, **kwargs: P.kwargs) -> play_pb2.PlayResponse:
        return await self._ask(make(*args, **kwargs))

    return calls.as_method(method, make, play_pb2.PlayResponse)


class Play:
    """Bots that keep their seats, in any number of games; `Client.play` opens it.

    Several tasks may use it at once, each for games of its own. A server that is busy is asked
    again, for as long as a call may take. After an error of class `Unavailable` open another one,
    and start each game again from its position then.
    """

    def __init__(self, client: "Client", timeout: Time) -> None:
        self._requests: asyncio.Queue[play_pb2.PlayRequest | None] = asyncio.Queue()
        self._exchange = play.Exchange()
        self._patience = client._connection.timeout  # noqa: SLF001 - they belong together
        call = play.play(_until_none(self._requests), timeout)
        self._answers = Stream(call, client._start(call))  # noqa: SLF001
        self._reader = asyncio.create_task(self._read())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """End the call, with searches that still run; all bots leave their seats."""
        self._requests.put_nowait(None)
        if self._exchange.is_idle:  # then the server ends the call at once
            await asyncio.wait({self._reader}, timeout=play.GRACE)
        self._answers.close()
        await asyncio.wait({self._reader})

    start = _told(play.start)
    update = _told(play.update)
    end = _told(play.end)

    async def _ask(self, request: play_pb2.PlayRequest) -> play_pb2.PlayResponse:
        until = time.monotonic() + self._patience
        while True:
            future = asyncio.get_running_loop().create_future()
            self._exchange.send(request, self._requests, future)
            response: play_pb2.PlayResponse = await future
            pause = play.pause_before_another_try(response, until)
            if pause is None:
                return response
            await asyncio.sleep(pause)

    async def _read(self) -> None:
        error = None
        try:
            async for response in self._answers:
                self._exchange.receive(response)
        except CallError as caught:
            error = caught
        self._exchange.end(error)


async def _until_none(queue: "asyncio.Queue[T | None]") -> AsyncIterator[T]:
    while (item := await queue.get()) is not None:
        yield item


class Client:
    """A client of a server, for the event loop that it was made on.

    Its methods are the calls of `aleator.client.calls`, where their arguments are explained. They
    raise the errors of `aleator.client.errors`.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._stubs = calls.Stubs(connection, grpc.aio)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connection, with the calls that still run."""
        for channel in self._stubs.channels:
            await channel.close()

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
