"""Load a server with everything at once for a long time, and see whether it stays a good one.

    python -m tools.soak --minutes 30

Clients call all methods without a pause, more of them than there are cores to search on: short
deadlines, cancelled calls, streams that are read slowly or not to their end, connections that drop,
bots of Play. At the end the server is told to stop while they go on. What must not be: an answer
after its deadline, an illegal move, a call that does not end, a status that no client may get, a
process that grows, a stop that takes longer than the searches that it lets end. The figures are
printed as JSON; if one of those came to pass, the script fails.
"""

import asyncio
import json
import random
import signal
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Annotated, Any

import grpc
import typer

from aleator.search import Position
from aleator.search.games import game_ids
from aleator.v1 import (
    game_service_pb2,
    game_service_pb2_grpc,
    opponent_service_pb2,
    opponent_service_pb2_grpc,
    play_pb2,
)
from bench.positions import positions

FAIR = {"OK", "CANCELLED", "RESOURCE_EXHAUSTED"}
"""What a call may end with while the server runs; UNAVAILABLE too once it stops."""
BROKEN_WRITE = "Internal error from Core"
"""What grpc.aio says, as INTERNAL, where a stream that is written to has ended."""
HUNG = 5.0
"""Seconds after its deadline when a call that has not ended counts as hung."""
DRAIN = 15.0
SETTLED = 0.25
"""Part of the time after which the process must not grow any more."""
GROWTH = 1.25
POSITIONS = 12


class Soak:
    """The clients, and what they have seen.

    Parameters
    ----------
    address : str
    seed : int
    """

    def __init__(self, address: str, seed: int) -> None:
        self.address = address
        self.chance = random.Random(seed)
        self.places = [place for game in game_ids() for place in positions(game, POSITIONS)]
        self.counts: Counter[str] = Counter()
        self.faults: list[str] = []
        self.stopping = False
        self.waits: dict[str, list[float]] = {"ListMoves": [], "refusal": []}

    async def client(self, end: float) -> None:
        """Call one method after another, on connections that come and go."""
        actions = (self.suggest, self.suggest, self.moves, self.analyze, self.batch, self.play)
        while monotonic() < end and not self.stopping:
            async with grpc.aio.insecure_channel(self.address) as channel:
                for _ in range(self.chance.randrange(1, 30)):
                    if monotonic() >= end or self.stopping:
                        return
                    action = self.chance.choice(actions)
                    await self.guard(action.__name__, action(channel))

    async def guard(self, name: str, action: Any) -> None:
        """Make a call and judge how it ends."""
        begin = monotonic()
        try:
            await asyncio.wait_for(action, 60)
            code = "OK"
        except grpc.aio.AioRpcError as error:
            code = error.code().name
            if error.details() == BROKEN_WRITE:
                code = "UNAVAILABLE"
            if code == "RESOURCE_EXHAUSTED":
                self.waits["refusal"].append(monotonic() - begin)
            self.judge(name, code, error.details())
        except asyncio.CancelledError:
            code = "CANCELLED"
        except TimeoutError:
            code = "HUNG"
            self.faults.append(f"{name} did not end")
        self.counts[f"{name} {code}"] += 1

    def judge(self, name: str, code: str, details: str | None) -> None:
        """Note a status that a client should not get."""
        allowed = FAIR | {"UNAVAILABLE", "DEADLINE_EXCEEDED"} if self.stopping else FAIR
        if code not in allowed and len(self.faults) < 100:
            self.faults.append(f"{name}: {code} {details}")

    def place(self) -> tuple[Position, int]:
        """A position and a seat that is to act."""
        position = self.chance.choice(self.places)
        return position, self.chance.choice(position.seats_to_act)

    def check(self, position: Position, seat: int, notation: str) -> None:
        """Note a move that is not legal."""
        if notation not in {move.notation for move in position.moves(seat)}:
            self.faults.append(f"{notation} of seat {seat} in {position.notation}")

    def request(self, position: Position, seat: int) -> dict[str, Any]:
        """The fields of a request for a search."""
        limits: dict[str, Any] = {"threads": self.chance.choice((1, 1, 2))}
        if self.chance.random() < 0.3:
            limits["simulations"] = self.chance.randrange(1, 3000)
        return {"state": {"notation": position.notation}, "seat": seat, "limits": limits}

    async def suggest(self, channel: grpc.aio.Channel) -> None:
        """A move within a deadline; some calls are cancelled."""
        stub = opponent_service_pb2_grpc.OpponentServiceStub(channel)
        position, seat = self.place()
        request = opponent_service_pb2.SuggestMoveRequest(**self.request(position, seat))
        deadline = self.chance.choice((0.1, 0.2, 0.5, 1.0))
        call = stub.SuggestMove(request, timeout=deadline)
        if self.chance.random() < 0.15:
            await asyncio.sleep(self.chance.random() * deadline)
            call.cancel()
        answer = await asyncio.wait_for(call, deadline + HUNG)
        self.check(position, seat, answer.analysis.best_move_notation)

    async def moves(self, channel: grpc.aio.Channel) -> None:
        """The legal moves, which are to come at once however busy the server is."""
        stub = game_service_pb2_grpc.GameServiceStub(channel)
        position, seat = self.place()
        request = game_service_pb2.ListMovesRequest(
            state={"notation": position.notation}, seat=seat
        )
        begin = monotonic()
        await stub.ListMoves(request, timeout=2)
        self.waits["ListMoves"].append(monotonic() - begin)

    async def analyze(self, channel: grpc.aio.Channel) -> None:
        """Reports, read slowly, or not to the last one."""
        stub = opponent_service_pb2_grpc.OpponentServiceStub(channel)
        position, seat = self.place()
        request = opponent_service_pb2.AnalyzePositionRequest(**self.request(position, seat))
        request.limits.time.FromMilliseconds(500)
        request.report_interval.FromMilliseconds(50)
        call = stub.AnalyzePosition(request, timeout=10)
        left = self.chance.randrange(1, 30)
        async for report in call:
            self.check(position, seat, report.analysis.best_move_notation)
            left -= 1
            if left == 0:
                call.cancel()
                return
            if self.chance.random() < 0.1:
                await asyncio.sleep(0.2)

    async def batch(self, channel: grpc.aio.Channel) -> None:
        """A few positions; each has one answer or one error."""
        stub = opponent_service_pb2_grpc.OpponentServiceStub(channel)
        asked = {str(number): self.place() for number in range(self.chance.randrange(1, 6))}
        items = []
        for name, (position, seat) in asked.items():
            fields = self.request(position, seat)
            fields["limits"]["simulations"] = 200
            items.append(
                opponent_service_pb2.AnalyzeBatchRequest(
                    id=name, priority=self.chance.randrange(3), **fields
                )
            )
        async for answer in stub.AnalyzeBatch(iter(items), timeout=20):
            position, seat = asked.pop(answer.id)
            if answer.WhichOneof("result") == "analysis":
                self.check(position, seat, answer.analysis.best_move_notation)
        if asked:
            self.faults.append(f"AnalyzeBatch left {len(asked)} without an answer")

    async def play(self, channel: grpc.aio.Channel) -> None:
        """A bot for a few moves, and then the connection is left."""
        stub = opponent_service_pb2_grpc.OpponentServiceStub(channel)
        position = Position.create(self.chance.choice(game_ids()), seed=self.chance.getrandbits(30))
        seat = position.seats_to_act[0]
        call = stub.Play(timeout=20)
        start: dict[str, Any] = {
            "state": {"notation": position.notation},
            "seat": seat,
            "limits": {"simulations": 50},
        }
        await call.write(play_pb2.PlayRequest(game_id="a", start=start))
        for _ in range(self.chance.randrange(1, 12)):
            answer = await call.read()
            if answer == grpc.aio.EOF or answer.WhichOneof("result") not in {"move", "waiting"}:
                break
            chosen = {one: self.chance.choice(position.moves(one)) for one in position.seats_to_act}
            if answer.HasField("move"):
                notation = answer.move.analysis.best_move_notation
                self.check(position, seat, notation)
                chosen[seat] = position.find_move(notation, seat)
            position, _ = position.apply(chosen, seed=self.chance.getrandbits(30))
            update = {"state": {"notation": position.notation}}
            await call.write(play_pb2.PlayRequest(game_id="a", update=update))
        if self.chance.random() < 0.5:
            call.cancel()
        else:
            await call.done_writing()
            while await call.read() != grpc.aio.EOF:
                pass


def resident(process: int) -> int:
    """Bytes of memory that a process has in use."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) * 1024
    return 0


async def run(
    server: subprocess.Popen[str], address: str, seconds: float, clients: int, seed: int
) -> dict[str, Any]:
    """Load a server until it is stopped, and say what came of it."""
    soak = Soak(address, seed)
    begin = monotonic()
    end = begin + seconds
    sizes: list[tuple[float, int]] = []
    tasks = [asyncio.create_task(soak.client(end + DRAIN)) for _ in range(clients)]
    while monotonic() < end:
        await asyncio.sleep(min(1.0, seconds / 20))
        sizes.append((monotonic() - begin, resident(server.pid)))
    soak.stopping = True
    server.send_signal(signal.SIGTERM)
    asked = monotonic()
    with suppress(subprocess.TimeoutExpired):
        await asyncio.to_thread(server.wait, DRAIN)
    drained = monotonic() - asked
    await asyncio.gather(*tasks)
    if server.returncode != 0:
        soak.faults.append(f"the server ended with {server.returncode}")
    early = max(size for time, size in sizes if time <= max(SETTLED * seconds, sizes[0][0]))
    late = max(size for _, size in sizes)
    if late > GROWTH * early:
        soak.faults.append(f"the process grew from {early} to {late} bytes")
    return {
        "seconds": round(seconds),
        "clients": clients,
        "calls": sum(soak.counts.values()),
        "by method and status": dict(sorted(soak.counts.items())),
        "ListMoves, 99th percentile, ms": _percentile(soak.waits["ListMoves"]),
        "refusal, 99th percentile, ms": _percentile(soak.waits["refusal"]),
        "memory after a quarter, MiB": early >> 20,
        "memory at most, MiB": late >> 20,
        "stopped in, s": round(drained, 2),
        "faults": soak.faults,
    }


def _percentile(waits: list[float]) -> float | None:
    return round(1000 * sorted(waits)[int(0.99 * len(waits))], 1) if waits else None


def main(
    *,
    minutes: Annotated[float, typer.Option(min=0.02, help="How long.")] = 30.0,
    clients: Annotated[int, typer.Option(min=1, help="Calls at a time.")] = 8,
    seed: Annotated[int, typer.Option(help="Of what is called.")] = 1,
) -> None:
    """Load a server with everything at once."""
    command = [str(Path(sys.executable).with_name("aleator")), "serve", "--listen", "127.0.0.1:0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        assert server.stdout is not None
        try:
            address = server.stdout.readline().split()[-1]
            found = asyncio.run(run(server, address, 60 * minutes, clients, seed))
        finally:
            server.kill()
    typer.echo(json.dumps(found, indent=1))
    raise typer.Exit(bool(found["faults"]))


if __name__ == "__main__":
    typer.run(main)
