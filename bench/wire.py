"""What a call costs over the wire: `SuggestMove` with one simulation beside a bare echo.

Both methods are on the same server, in a process of its own. The client sends
and takes bytes that are encoded beforehand, as cheaply as Python can; it may be
the slower side all the same, so the server's own processor time for a call is
measured too: that ratio owes nothing to the client.
"""

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from statistics import median
from time import perf_counter

import grpc

from aleator.v1 import analysis_pb2, opponent_service_pb2, state_pb2
from bench.engine import opening
from bench.figures import Figure, Probe, take_turns
from bench.wire_server import ECHO, PROCESSOR_TIME

SUGGEST = "/aleator.v1.OpponentService/SuggestMove"
IN_FLIGHT = 8
CALLS = 2_000
SINGLE_CALLS = 500

Call = Callable[[bytes], Awaitable[bytes]]


def measure_wire(game: str, rounds: int) -> list[Figure]:
    """Calls a second, latency and processor time of SuggestMove and of an echo."""
    position = opening(game)
    request = opponent_service_pb2.SuggestMoveRequest(
        state=state_pb2.GameState(notation=position.notation),
        seat=position.seats_to_act[0],
        limits=analysis_pb2.Limits(simulations=1),
        seed=1,
    ).SerializeToString()
    with server() as address:
        samples = take_turns(
            [
                _probe(address, SUGGEST, "SuggestMove", request),
                _probe(address, ECHO, "echo", request),
            ],
            rounds,
            "wire",
        )
    units = {"calls": "/s", "latency": "µs", "server time": "µs"}
    figures = {
        name: Figure(name, units[name.split(", ")[1]], values) for name, values in samples.items()
    }
    ratios = [
        figures[f"SuggestMove, {kind}"].ratio_to(
            figures[f"echo, {kind}"], f"SuggestMove : echo, {kind}"
        )
        for kind in ("calls", "server time")
    ]
    return [*figures.values(), *ratios]


@contextmanager
def server() -> Iterator[str]:
    """Run the server of `wire_server`; give its address."""
    command = [sys.executable, "-m", "bench.wire_server"]
    # It logs as any server does, but here nobody wants to read it.
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().split()[-1]
        finally:
            process.terminate()


def _probe(address: str, method: str, name: str, request: bytes) -> Probe:
    return lambda: asyncio.run(_sample(address, method, name, request))


async def _sample(address: str, method: str, name: str, request: bytes) -> dict[str, float]:
    async with grpc.aio.insecure_channel(address) as channel:
        call = channel.unary_unary(method)
        processor_time = channel.unary_unary(PROCESSOR_TIME)
        await call(request)
        waits = [await _seconds(call, request) for _ in range(SINGLE_CALLS)]
        used = float(await processor_time(b""))
        rate = await calls_a_second(call, request)
        used = float(await processor_time(b"")) - used
    return {
        f"{name}, calls": rate,
        f"{name}, latency": 1e6 * median(waits),
        f"{name}, server time": 1e6 * used / CALLS,
    }


async def calls_a_second(call: Call, request: bytes) -> float:
    """How many calls are answered in a second, a few under way at any time."""
    start = perf_counter()
    await asyncio.gather(
        *(_one_after_another(call, request, CALLS // IN_FLIGHT) for _ in range(IN_FLIGHT))
    )
    return CALLS / (perf_counter() - start)


async def _seconds(call: Call, request: bytes) -> float:
    start = perf_counter()
    await call(request)
    return perf_counter() - start


async def _one_after_another(call: Call, request: bytes, count: int) -> None:
    for _ in range(count):
        await call(request)
