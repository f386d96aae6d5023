"""Send any number of requests with something changed to all methods, without a network.

The requests go as bytes through the interceptors' parsing into the servicers, and their errors come
back as the statuses that a client would get, thousands a second. Whatever ends as INTERNAL or
UNKNOWN is a fault of the server: it is printed with its request, and the script fails. A crash of
the process fails it too; the file of the last request tells which one it was.

    python -m tools.fuzz --inputs 1000000
"""

import asyncio
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import grpc
import typer
from google.protobuf.message import Message
from google.rpc import code_pb2

from aleator.search import Engine
from aleator.search.games import game_ids
from aleator.service.admission import Admission
from aleator.service.game_servicer import GameServicer
from aleator.service.interceptor import Guard
from aleator.service.opponent_servicer import OpponentServicer
from aleator.service.server import REQUEST_LIMIT
from aleator.service.settings import Settings
from aleator.service.telemetry.searches import SearchWatch
from aleator.v1 import game_service_pb2_grpc, opponent_service_pb2_grpc, play_pb2
from tests.service import mutants

FAIR = {"OK", "INVALID_ARGUMENT", "FAILED_PRECONDITION", "NOT_FOUND", "CANCELLED"}
SETTINGS = Settings(workers=1, default_time=0.005, max_time=0.005)
LAST = Path("fuzz.last")
"""Where the request is kept that is being answered."""
STREAMS = 0.2
"""Share of the inputs that go through the streams."""
ENDED = 0.1
"""Share of the streams of Play that end a game, and with it what waits there."""
SLOW = {
    "GameService/RenderState",
    "OpponentService/AnalyzePosition",
    "OpponentService/SuggestMove",
}
SLOW_LEFT_OUT = 0.7
"""Share of the requests to slow methods that are left out."""
BYTES = 0.1
"""Share of the requests whose bytes are changed rather than their fields."""
OPTIONS: dict[str, list[dict[str, Any]]] = {
    "generator": [{"players": 2}, {"players": 3, "forced_move": True}, {"players": 4}],
    "my_shelfie": [{"players": 2}, {"players": 3, "end": "immediate"}, {"players": 4}],
    "riviera": [
        {"players": 2},
        {"players": 3, "mode": "sequential", "hand_size": 4, "target": 20},
        {"players": 4, "preroll_powers": "after_stop"},
        {"players": 6},
    ],
    "roygbiv": [{"players": 2}, {"players": 3, "open_hands": True}, {"players": 6}],
}


class Aborted(Exception):
    """A call that ended with an error status."""

    def __init__(self, code: grpc.StatusCode) -> None:
        super().__init__(code)
        self.code = code


class Call:
    """What a servicer sees of a call."""

    def __init__(self, requests: AsyncIterator[bytes]) -> None:
        self._requests = requests
        self.answers: list[Any] = []

    async def read(self) -> bytes:
        """Give the next request."""
        return await anext(self._requests)

    def time_remaining(self) -> float:
        """The call has a deadline, so late that only a fault could miss it."""
        return 120.0

    def auth_context(self) -> dict[str, Any]:
        """Nobody in particular calls."""
        return {}

    def peer(self) -> str:
        """And from here."""
        return "ipv4:127.0.0.1:1"

    def trailing_metadata(self) -> tuple[()]:
        """There are no other interceptors."""
        return ()

    async def write(self, answer: Any) -> None:
        """Take an answer of a stream."""
        self.answers.append(answer)

    async def abort(self, code: grpc.StatusCode, _details: str, _trailing: Any) -> None:
        """End the call."""
        raise Aborted(code)


class Methods:
    """The handlers that servicers are registered with, behind the interceptor."""

    def __init__(self) -> None:
        self._handlers: dict[str, Any] = {}
        self._guard = Guard(REQUEST_LIMIT, SETTINGS.max_calls)

    def add_generic_rpc_handlers(self, _handlers: Any) -> None:
        """Take the handlers that are named below, too."""

    def add_registered_method_handlers(self, service: str, handlers: dict[str, Any]) -> None:
        """Take the handlers of a service."""
        self._handlers |= {f"/{service}/{name}": handler for name, handler in handlers.items()}

    async def call(self, method: str, *items: bytes) -> tuple[str, list[Any]]:
        """Call a method, and tell the code that it ends with and what it streamed."""
        method = f"/aleator.v1.{method}"

        async def handler(_details: Any) -> Any:
            return self._handlers[method]

        details: Any = type("Details", (), {"method": method})
        guarded: Any = await self._guard.intercept_service(handler, details)
        function = guarded.stream_unary or guarded.stream_stream
        requests = in_turn(items)
        call = Call(requests)
        try:
            await function(requests, call)
        except Aborted as aborted:
            return aborted.code.name, call.answers
        return "OK", call.answers


def changed(message: Message, rng: random.Random) -> bytes:
    """The bytes of a message with something changed in its fields or in its bytes."""
    if rng.random() >= BYTES:
        mutants.mutate_often(message, rng)
        return message.SerializeToString()
    data = bytearray(message.SerializeToString())
    for _ in range(rng.choice([1, 2, 8])):
        place = rng.randrange(len(data) + 1)
        match rng.randrange(3):
            case 0 if place < len(data):
                data[place] = rng.randrange(256)
            case 1:
                data.insert(place, rng.randrange(256))
            case _:
                del data[place : place + rng.randrange(1, 9)]
    return bytes(data)


class Record:
    """A file that holds what was sent last, should the process not survive it."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_CREAT | os.O_RDWR | os.O_TRUNC)

    def close(self) -> None:
        """End the file."""
        os.close(self._file)

    def keep(self, method: str, *items: bytes) -> None:
        """Write down what is sent."""
        os.pwrite(self._file, written := b"\n".join([method.encode(), *items]), 0)
        os.ftruncate(self._file, len(written))


async def in_turn(items: Iterable[bytes]) -> AsyncIterator[bytes]:
    """A stream of requests."""
    for item in items:
        yield item


def stream_of(rng: random.Random, positions: dict[str, Any]) -> tuple[str, list[bytes]]:
    """The messages of a stream, some of them changed."""
    messages: list[Message] = []
    if rng.random() < 0.5:
        method = "OpponentService/AnalyzeBatch"
        for index in range(20):
            known = rng.choice(rng.choice(list(positions.values())))
            messages.append(mutants.batch_item(known, str(index)))
    else:
        method = "OpponentService/Play"
        for known in rng.sample(list(positions.values()), 2):
            first = rng.randrange(len(known))
            seat = rng.randrange(known[0].seats)
            messages += mutants.game_of_play(known[first : first + 8], seat, known[0].game)
            messages += mutants.game_of_events(known[first], rng, "by events")
        if rng.random() < ENDED:
            messages.append(play_pb2.PlayRequest(game_id=known[0].game, end={}))
    return method, [
        changed(message, rng) if rng.random() < 0.5 else message.SerializeToString()
        for message in messages
    ]


async def fuzz(inputs: int, seed: int, counts: Counter[tuple[str, str]], record: Record) -> None:
    """Send so many requests; count them by method and code."""
    rng = random.Random(seed)
    methods = Methods()
    server: Any = methods
    admission = Admission(SETTINGS.workers, SETTINGS.queue)
    opponent = OpponentServicer(Engine(memory=16 * 2**20), admission, SearchWatch(), SETTINGS)
    game_service_pb2_grpc.add_GameServiceServicer_to_server(GameServicer(), server)
    opponent_service_pb2_grpc.add_OpponentServiceServicer_to_server(opponent, server)
    done = 0
    while done < inputs:
        positions = {
            game: list(
                mutants.random_positions(game, rng, rng.choice(OPTIONS[game]), rng.randint(5, 80))
            )
            for game in game_ids()
        }
        for _ in range(500):
            if rng.random() < STREAMS / 20:
                method, items = stream_of(rng, positions)
                record.keep(method, *items)
                code, answers = await methods.call(method, *items)
                codes = [
                    code_pb2.Code.Name(answer.error.code) if answer.HasField("error") else "OK"
                    for answer in answers
                ]
                if code == "OK":
                    assert len(answers) == len(items), f"{len(answers)} answers to {len(items)}"
            else:
                known = rng.choice(rng.choice(list(positions.values())))
                method = rng.choice(list(mutants.METHODS))
                if method in SLOW and rng.random() < SLOW_LEFT_OUT:
                    continue
                data = changed(mutants.valid_request(method, known, rng), rng)
                items = [data]
                record.keep(method, data)
                code, _ = await methods.call(method, data)
                codes = []
            for found in {code, *codes} - FAIR:
                sys.exit(f"{method} ended with {found}; the request is in {LAST}")
            counts.update((method, one) for one in (codes or [code]))
            done += len(items)
    admission.close()


def main(
    inputs: Annotated[int, typer.Option(help="How many requests.")] = 100_000,
    seed: Annotated[int, typer.Option(help="Decides all of them.")] = 1,
) -> None:
    """Send changed requests to all methods; Ctrl-C or SIGTERM end it early."""
    for number in (signal.SIGINT, signal.SIGTERM):  # a shell lets what runs behind ignore Ctrl-C
        signal.signal(number, signal.default_int_handler)
    begin = time.monotonic()
    counts: Counter[tuple[str, str]] = Counter()
    record = Record(LAST)
    with suppress(KeyboardInterrupt):  # then the figures so far
        asyncio.run(fuzz(inputs, seed, counts, record))
    record.close()
    for (method, code), count in sorted(counts.items()):
        print(f"{count:9} {method} {code}")
    print(f"{sum(counts.values())} answers in {time.monotonic() - begin:.0f} s, seed {seed}")
    LAST.unlink()


if __name__ == "__main__":
    typer.run(main)
