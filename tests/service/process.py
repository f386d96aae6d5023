"""A server in a process of its own, as the tests of the wire use it."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO, Any, Self

import grpc
from google.rpc import code_pb2, error_details_pb2, status_pb2
from grpc_health.v1 import health_pb2_grpc
from grpc_status import rpc_status

from aleator.v1 import game_service_pb2_grpc, opponent_service_pb2_grpc

SERVE = (
    "import json, sys; from aleator.service.server import run;"
    "from aleator.service.settings import Settings; run(Settings(**json.loads(sys.argv[1])))"
)


def serve_command(settings: str) -> list[str]:
    """The command of a server with settings, in JSON."""
    return [sys.executable, "-c", SERVE, settings]


class ServerProcess:
    """A running server; use it as a context manager.

    Without settings it is the command `aleator serve` as anybody starts it.
    """

    def __init__(self, settings: str | None = None, stderr: int | IO[str] | None = None) -> None:
        if settings is None:
            command = [str(Path(sys.executable).with_name("aleator")), "serve"]
            command += ["--listen", "127.0.0.1:0"]
        else:
            command = serve_command(settings)
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True)
        assert self.process.stdout is not None
        self.ready_line = self.process.stdout.readline()
        self.address = self.ready_line.split()[-1]
        self.channel = grpc.insecure_channel(self.address)
        self.games = game_service_pb2_grpc.GameServiceStub(self.channel)
        self.opponent = opponent_service_pb2_grpc.OpponentServiceStub(self.channel)
        self.health = health_pb2_grpc.HealthStub(self.channel)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.channel.close()
        if self.process.returncode is None:
            self.stop()

    def kill(self) -> None:
        """End the process at once, as a crash would."""
        self.process.kill()
        self.process.communicate()

    def stop(self) -> str:
        """Send SIGTERM, and return what else was printed once the process has ended well."""
        self.process.send_signal(signal.SIGTERM)
        return self.wait()

    def wait(self) -> str:
        """Return what else was printed once the process has ended well."""
        try:
            rest, _ = self.process.communicate(timeout=15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        assert self.process.returncode == 0
        return rest

    def cpu_seconds(self) -> float:
        """Processor time that the process has used so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def details(error: grpc.RpcError) -> dict[str, Any]:
    """The code and the details of an error, by the names of their types."""
    status = rpc_status.from_call(error)
    assert status is not None, error
    return details_of(status)


def details_of(status: status_pb2.Status) -> dict[str, Any]:
    """The same of an error within a stream."""
    found: dict[str, Any] = {"code": code_pb2.Code.Name(status.code)}
    for detail in status.details:
        name = detail.TypeName().rpartition(".")[2]
        found[name] = getattr(error_details_pb2, name)()
        detail.Unpack(found[name])
    assert found["ErrorInfo"].domain == "aleator"
    return found
