"""Both kinds of client, used in one way."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

import aleator.client
from tests.service.conftest import server  # noqa: F401 - a fixture


class Waiting:
    """A client that waits."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        self.client = aleator.client.connect(*args, **settings)

    def call(self, method: str, *args: Any, **kwargs: Any) -> Any:
        return getattr(self.client, method)(*args, **kwargs)

    def stream(self, method: str, *args: Any, **kwargs: Any) -> Iterator[Any]:
        with getattr(self.client, method)(*args, **kwargs) as answers:
            yield from answers

    def close(self) -> None:
        self.client.close()


class Asyncio:
    """A client of asyncio, with an event loop of its own."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        self.loop = asyncio.new_event_loop()

        async def connect() -> aleator.client.aio.Client:
            return aleator.client.aio.connect(*args, **settings)

        self.client = self.loop.run_until_complete(connect())

    def call(self, method: str, *args: Any, **kwargs: Any) -> Any:
        return self.loop.run_until_complete(getattr(self.client, method)(*args, **kwargs))

    def stream(self, method: str, *args: Any, **kwargs: Any) -> Iterator[Any]:
        async def start() -> Any:
            return getattr(self.client, method)(*args, **kwargs)

        async def following() -> Any:
            return await anext(answers)

        answers = self.loop.run_until_complete(start())
        try:
            while True:
                yield self.loop.run_until_complete(following())
        except StopAsyncIteration:
            return
        finally:
            answers.close()

    def close(self) -> None:
        self.loop.run_until_complete(self.client.close())
        self.loop.close()


@pytest.fixture(params=[Waiting, Asyncio])
def connect(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Makes clients of either kind, and closes them in the end."""
    made = []

    def make(*args: Any, **settings: Any) -> Any:
        made.append(request.param(*args, **settings))
        return made[-1]

    yield make
    for client in made:
        client.close()
