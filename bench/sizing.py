"""How many calls a core answers: `python -m bench.sizing`, from the root of the repository.

For each game and limit the ordinary server gets calls about positions of a whole random game, some
at a time, and its own processor time for a call is measured, search threads and all. It depends on
the machine, but hardly on what else runs there, so a core of such a machine answers one second
divided by that. Prints the table of docs/operations.md.
"""

import asyncio
from collections.abc import Iterator
from itertools import cycle, islice
from statistics import median
from time import monotonic
from typing import Annotated

import grpc
import typer

from aleator.search.games import game_ids
from aleator.v1.game_service_pb2 import ListMovesRequest
from aleator.v1.opponent_service_pb2 import SuggestMoveRequest
from bench.positions import positions
from bench.wire import SUGGEST, server
from bench.wire_server import PROCESSOR_TIME

LIST_MOVES = "/aleator.v1.GameService/ListMoves"
SIMULATIONS = (100, 1_000, 10_000)
POSITIONS = 24
IN_FLIGHT = 4


def loads(game: str) -> Iterator[tuple[str, str, list[bytes]]]:
    """The name of a load, its method and its requests."""
    places = positions(game, POSITIONS)
    yield (
        "ListMoves",
        LIST_MOVES,
        [
            ListMovesRequest(
                state={"notation": place.notation}, seat=place.seats_to_act[0]
            ).SerializeToString()
            for place in places
        ],
    )
    for simulations in SIMULATIONS:
        yield (
            f"SuggestMove, {simulations:,} simulations",
            SUGGEST,
            [
                SuggestMoveRequest(
                    state={"notation": place.notation},
                    seat=place.seats_to_act[0],
                    limits={"simulations": simulations},
                    seed=1,
                ).SerializeToString()
                for place in places
            ],
        )


async def processor_time_of_a_call(
    address: str, method: str, requests: list[bytes], seconds: float
) -> float:
    """Seconds of processor time, the mean of as many calls as there is time for."""
    async with grpc.aio.insecure_channel(address) as channel:
        call = channel.unary_unary(method)
        processor_time = channel.unary_unary(PROCESSOR_TIME)
        endless = cycle(requests)
        for request in islice(endless, IN_FLIGHT):
            await call(request)
        used, end, count = float(await processor_time(b"")), monotonic() + seconds, 0

        async def one_after_another() -> None:
            nonlocal count
            while monotonic() < end:
                await call(next(endless))
                count += 1

        await asyncio.gather(*(one_after_another() for _ in range(IN_FLIGHT)))
        return (float(await processor_time(b"")) - used) / count


def measure(
    games: Annotated[list[str] | None, typer.Argument(help="Default: all.")] = None,
    *,
    seconds: Annotated[float, typer.Option(min=0.1, help="For each sample.")] = 2.0,
    rounds: Annotated[int, typer.Option(min=1, help="Samples of each figure.")] = 3,
) -> None:
    """Measure the processor time of calls; medians over rounds."""
    typer.echo("| game | call | processor time | calls a second and core |")
    typer.echo("|---|---|---|---|")
    with server() as address:
        for game in games or game_ids():
            for name, method, requests in loads(game):
                samples = [
                    asyncio.run(processor_time_of_a_call(address, method, requests, seconds))
                    for _ in range(rounds)
                ]
                took = median(samples)
                cells = (game, name, f"{_readable(1000 * took)} ms", _readable(1 / took))
                typer.echo(f"| {' | '.join(cells)} |")


def _readable(value: float) -> str:
    return f"{float(f'{value:.3g}'):,g}"


if __name__ == "__main__":
    typer.run(measure)
