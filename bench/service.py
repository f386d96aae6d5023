"""What an app can count on: overhead of a search over the wire, light calls, and a busy server.

    python -m bench.service roygbiv

Every round measures everything once, with the server in a process of its own on the same machine:
`SuggestMove` beside the same search in this process; `ListMoves` beside a bare echo; and light
calls, and answers with a deadline, while searches keep all cores busy. The client has no core of
its own then, so what it has to wait for one counts against the server.
"""

import asyncio
from statistics import median, quantiles
from time import perf_counter
from typing import Annotated, Any

import grpc
import typer
from grpc_health.v1 import health_pb2, health_pb2_grpc

from aleator.search import Engine, Limits, Position
from aleator.service.settings import Settings
from aleator.v1 import (
    analysis_pb2,
    game_service_pb2,
    game_service_pb2_grpc,
    opponent_service_pb2,
    opponent_service_pb2_grpc,
    state_pb2,
)
from bench.engine import opening
from bench.figures import Figure, show, take_turns
from bench.wire import ECHO, calls_a_second, server

LIST_MOVES = "/aleator.v1.GameService/ListMoves"
SIMULATIONS = 1_000
SINGLE_CALLS = 100
DEADLINE = 0.1
BUSY = 5.0  # seconds that a busy server is watched for
PAUSE = 0.01  # between light calls then


class Service:
    """A running server, asked about one position.

    Parameters
    ----------
    address : str
    position : Position
    """

    def __init__(self, address: str, position: Position) -> None:
        self.address = address
        self.position = position
        self.seat = position.seats_to_act[0]
        self.state = state_pb2.GameState(notation=position.notation)
        self.moves = game_service_pb2.ListMovesRequest(state=self.state, seat=self.seat)

    def request(self, **limits: Any) -> opponent_service_pb2.SuggestMoveRequest:
        """Ask for a move; the seed is the same for all, so that searches are alike."""
        return opponent_service_pb2.SuggestMoveRequest(
            state=self.state, seat=self.seat, limits=analysis_pb2.Limits(**limits), seed=1
        )

    async def overhead(self) -> dict[str, float]:
        """Milliseconds of a search over the wire, in this process, and of a call without one."""
        engine, limits = Engine(), Limits(simulations=SIMULATIONS)
        request = self.request(simulations=SIMULATIONS)
        here, there, bare = [], [], []
        async with grpc.aio.insecure_channel(self.address) as channel:
            stub = opponent_service_pb2_grpc.OpponentServiceStub(channel)
            echo = channel.unary_unary(ECHO)
            await stub.SuggestMove(request)
            for _ in range(SINGLE_CALLS):
                start = perf_counter()
                engine.suggest(self.position, self.seat, limits, seed=1)
                between = perf_counter()
                await stub.SuggestMove(request)
                answered = perf_counter()
                await echo(b"")
                here.append(between - start)
                there.append(answered - between)
                bare.append(perf_counter() - answered)
        return {
            "search in process": 1000 * median(here),
            "SuggestMove of it": 1000 * median(there),
            "bare echo": 1000 * median(bare),
            "overhead of SuggestMove": 1000 * (median(there) - median(here)),
        }

    async def light(self) -> dict[str, float]:
        """How many calls of ListMoves and of an echo are answered in a second."""
        request = self.moves.SerializeToString()
        async with grpc.aio.insecure_channel(self.address) as channel:
            moves = await calls_a_second(channel.unary_unary(LIST_MOVES), request)
            echo = await calls_a_second(channel.unary_unary(ECHO), request)
        return {"ListMoves, calls": moves, "echo, calls": echo}

    async def busy(self, searches: int) -> dict[str, float]:
        """Keep so many searches with a deadline under way, and make light calls beside them."""
        end = perf_counter() + BUSY
        async with grpc.aio.insecure_channel(self.address) as channel:
            health = health_pb2_grpc.HealthStub(channel)
            games = game_service_pb2_grpc.GameServiceStub(channel)
            *used, listed, checked = await asyncio.gather(
                *(self._search_until(end) for _ in range(searches)),
                _wait_until(end, games.ListMoves, self.moves),
                _wait_until(end, health.Check, health_pb2.HealthCheckRequest()),
            )
        answers = [elapsed for one in used for elapsed in one]
        return {
            "ListMoves, 99th percentile": 1000 * quantiles(listed, n=100)[98],
            "health, 99th percentile": 1000 * quantiles(checked, n=100)[98],
            "answers in time": sum(elapsed is not None for elapsed in answers) / len(answers),
            "time searched": 1000 * median(filter(None, answers)),
        }

    async def _search_until(self, end: float) -> list[float | None]:
        """Seconds that each answer was searched for; None of one that did not come in time."""
        answers: list[float | None] = []
        async with grpc.aio.insecure_channel(
            self.address, options=[("grpc.use_local_subchannel_pool", 1)]
        ) as channel:
            stub = opponent_service_pb2_grpc.OpponentServiceStub(channel)
            while perf_counter() < end:
                try:
                    answer = await stub.SuggestMove(self.request(), timeout=DEADLINE)
                except grpc.aio.AioRpcError as error:
                    if error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED:
                        await asyncio.sleep(DEADLINE / 2)  # refused at once, as it should be
                        continue
                    answers.append(None)
                else:
                    elapsed = answer.analysis.statistics.elapsed
                    answers.append(elapsed.seconds + elapsed.nanos / 1e9)
        return answers


async def _wait_until(end: float, call: Any, request: Any) -> list[float]:
    """Seconds that each of many calls in turn took."""
    waits = []
    while perf_counter() < end:
        start = perf_counter()
        await call(request)
        waits.append(perf_counter() - start)
        await asyncio.sleep(PAUSE)
    return waits


def measure_service(game: str, rounds: int) -> list[Figure]:
    """Take the figures, each a sample a round."""
    cores = Settings().workers
    with server() as address:
        service = Service(address, opening(game))
        samples = take_turns(
            [
                lambda: asyncio.run(service.overhead()),
                lambda: asyncio.run(service.light()),
                lambda: asyncio.run(service.busy(cores)),
                lambda: {
                    f"{name}, twice the searches": value
                    for name, value in asyncio.run(service.busy(2 * cores)).items()
                },
            ],
            rounds,
            "service",
        )
    figures = {name: Figure(name, _unit(name), values) for name, values in samples.items()}
    ratio = figures["ListMoves, calls"].ratio_to(figures["echo, calls"], "ListMoves : echo, calls")
    return [*figures.values(), ratio]


def _unit(name: str) -> str:
    if "in time" in name:
        return ""
    return "/s" if name.endswith("calls") else "ms"


def main(
    game: Annotated[str, typer.Argument(help="Id of a game, such as roygbiv.")],
    rounds: Annotated[int, typer.Option(min=1, help="Samples of each figure.")] = 5,
) -> None:
    """Measure what an app can count on; medians over rounds in which all take turns."""
    show(measure_service(game, rounds))


if __name__ == "__main__":
    typer.run(main)
