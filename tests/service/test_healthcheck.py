"""`aleator health` against servers with and without TLS."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import pytest
import trustme
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from aleator.service.healthcheck import main
from tests.service.process import ServerProcess


def test_the_command(server: ServerProcess) -> None:
    command = [str(Path(sys.executable).with_name("aleator")), "health"]
    done = subprocess.run([*command, server.address], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    done = subprocess.run([*command, "127.0.0.1:1"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("127.0.0.1:1: UNAVAILABLE: ")


def test_single_services(server: ServerProcess, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([server.address, "--service", "aleator.v1.OpponentService"]) == 0
    assert main([server.address, "--service", "aleator.v1.Poker"]) == 1
    assert capsys.readouterr().err.startswith(f"{server.address}: NOT_FOUND")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--certificate", "x.pem"], "--certificate and --key go together"),
        (["--ca", "/nowhere/ca.pem"], "cannot read /nowhere/ca.pem: No such file or directory"),
        (["--timeout", "soon"], "argument --timeout: invalid float value: 'soon'"),
    ],
)
def test_wrong_input(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert words in capsys.readouterr().err


@pytest.fixture
async def secure(tmp_path: Path) -> AsyncIterator[str]:
    """A server that asks for a certificate, with the files of a client beside it."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    client = authority.issue_cert("probe")
    client.private_key_pem.write_to_path(tmp_path / "key.pem")
    client.cert_chain_pems[0].write_to_path(tmp_path / "certificate.pem")
    own = authority.issue_cert("aleator.example")
    credentials = grpc.ssl_server_credentials(
        [(own.private_key_pem.bytes(), own.cert_chain_pems[0].bytes())],
        authority.cert_pem.bytes(),
        require_client_auth=True,
    )
    server = grpc.aio.server()
    servicer = health.aio.HealthServicer()
    await servicer.set("", health_pb2.HealthCheckResponse.SERVING)
    health_pb2_grpc.add_HealthServicer_to_server(servicer, server)
    port = server.add_secure_port("127.0.0.1:0", credentials)
    await server.start()
    yield f"127.0.0.1:{port}"
    await server.stop(None)


async def test_tls(
    secure: str, server: ServerProcess, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {"--ca": "ca.pem", "--certificate": "certificate.pem", "--key": "key.pem"}
    options = [word for flag, name in files.items() for word in (flag, str(tmp_path / name))]
    named = ["--server-name", "aleator.example"]
    assert await asyncio.to_thread(main, [secure, *options, *named]) == 0
    for address, arguments, words in [
        (secure, options, "another name: give it as --server-name ("),
        (secure, [*options[:2], *named], "asks for a certificate"),
        (secure, [*options[2:], *named], "give its --ca ("),
        (secure, [], "uses TLS, or asks for a certificate, does that: give --tls or --ca ("),
        (server.address, options, "the server does not use TLS: leave --tls or --ca out ("),
    ]:
        found = await asyncio.to_thread(main, [address, "--timeout", "2", *arguments])
        assert found == 1, arguments
        assert words in capsys.readouterr().err, arguments
