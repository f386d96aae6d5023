"""Who may connect and call: TLS, client certificates, API keys, and what a server listens on."""

import json
import subprocess
import sys
import time
from pathlib import Path

import grpc
import pytest
import trustme
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse
from grpc_health.v1.health_pb2_grpc import HealthStub
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from typer.testing import CliRunner

from aleator.search.errors import InvalidInput
from aleator.service.api_keys import ApiKeys, hash_of, new_key, read_keys
from aleator.service.cli.app import app
from aleator.service.configuration import load
from aleator.service.errors import Refusal
from aleator.service.server import Server
from aleator.service.settings import Settings
from aleator.v1.game_service_pb2 import ListGamesRequest
from aleator.v1.game_service_pb2_grpc import GameServiceStub
from aleator.v1.opponent_service_pb2 import AnalyzeBatchRequest
from tests.service.process import ServerProcess, details


def settings_of(**settings: object) -> str:
    return json.dumps({"listen": "127.0.0.1:0", "workers": 1} | settings, default=str)


def with_key(key: str) -> tuple[tuple[str, str], ...]:
    return (("x-api-key", key),)


def list_games(channel: grpc.Channel, **call: object) -> int:
    return len(GameServiceStub(channel).ListGames(ListGamesRequest(), timeout=20, **call).games)


# What the server listens on, and with which files.


@pytest.mark.parametrize(
    "address", ["0.0.0.0:1", "[::]:1", "192.0.2.7:1", "example.com:1", "127:1"]
)
def test_it_listens_to_others_only_with_tls_or_when_told_so(address: str) -> None:
    with pytest.raises(InvalidInput, match=r"^insecure: others can connect to "):
        load({"listen": address})
    assert Settings(listen=address, insecure=True).listen == address
    assert Settings(listen=address, tls_certificate="a", tls_key="b").listen == address


@pytest.mark.parametrize("address", ["127.0.0.1:1", "127.9.9.9:1", "[::1]:1", "localhost:1"])
def test_it_listens_to_its_own_machine_without_either(address: str) -> None:
    assert Settings(listen=address).listen == address


def test_files_of_tls_go_together() -> None:
    together = "tls_certificate and tls_key go together, but "
    with pytest.raises(InvalidInput, match=f"^tls_key: {together}tls_key is missing$"):
        load({"tls_certificate": "a"})
    with pytest.raises(InvalidInput) as refused:
        load({"tls_key": "a", "tls_client_ca": "b", "listen": "0.0.0.0:1", "queue": "x"})
    assert {path for path, _ in refused.value.violations} == {
        "tls_key",
        "tls_client_ca",
        "insecure",
        "queue",
    }


class Certificates:
    """Files of an authority, of a server, and of what does not fit them."""

    def __init__(self, folder: Path) -> None:
        self.authority = trustme.CA()
        self.ca = folder / "ca.pem"
        self.authority.cert_pem.write_to_path(str(self.ca))
        self.certificate = folder / "server.pem"
        self.key = folder / "server.key"
        self.issue()

    def issue(self) -> None:
        """Write a new certificate of the server."""
        issued = self.authority.issue_cert("localhost", "127.0.0.1")
        with self.certificate.open("wb") as file:
            for pem in issued.cert_chain_pems:
                file.write(pem.bytes())
        issued.private_key_pem.write_to_path(str(self.key))

    def lock_key(self, file: Path) -> None:
        """Write the key as one that needs a password."""
        command = ["openssl", "pkey", "-in", self.key, "-out", file]
        subprocess.run([*command, "-aes256", "-passout", "pass:secret"], check=True)

    def settings(self, **settings: object) -> str:
        return settings_of(tls_certificate=self.certificate, tls_key=self.key, **settings)

    def client(
        self, name: str | None = None, by: trustme.CA | None = None
    ) -> grpc.ChannelCredentials:
        """What a client connects with, with a certificate of its own if it has a name."""
        root = self.authority.cert_pem.bytes()
        if name is None:
            return grpc.ssl_channel_credentials(root)
        issued = (by or self.authority).issue_cert(f"{name}@localhost", common_name=name)
        return grpc.ssl_channel_credentials(
            root, issued.private_key_pem.bytes(), issued.cert_chain_pems[0].bytes()
        )


@pytest.fixture
def certificates(tmp_path: Path) -> Certificates:
    return Certificates(tmp_path)


def test_faults_of_files_are_told_all_at_once(certificates: Certificates, tmp_path: Path) -> None:
    nothing = tmp_path / "nothing"
    keys = tmp_path / "keys.toml"
    keys.write_text("alice = 3\n[bob]\nsha256 = 'aleator_bob_5'\nrate = 0\n['a b']")
    flags = [f"--tls-certificate={nothing}", f"--tls-key={certificates.key}"]
    flags.append(f"--api-keys={keys}")
    command = [sys.executable, "-m", "aleator.service.cli", "serve", *flags]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.splitlines() == [
        f"tls_certificate: cannot be read: {nothing}: No such file or directory",
        "api_keys.alice: must be an object, not 3",
        "api_keys.bob.sha256: must be 64 hexadecimal digits, as `aleator key` prints them",
        "api_keys.bob.rate: must be above 0.0, not 0",
        "api_keys.a b: is no name of a key: letters, digits and hyphens only",
    ]


async def test_files_that_are_no_certificates(certificates: Certificates, tmp_path: Path) -> None:
    keys = tmp_path / "keys.toml"
    keys.touch()
    certificate, key = certificates.certificate, certificates.key

    def faults_of(**files: Path) -> str:
        with pytest.raises(InvalidInput) as refused:
            Server(Settings(listen="127.0.0.1:0", **files))
        return str(refused.value)

    no_certificate = f"tls_certificate: holds no certificate in PEM: {keys}"
    no_authority = f"tls_client_ca: holds no certificate in PEM: {keys}"
    assert faults_of(tls_certificate=keys, tls_key=key) == no_certificate
    assert faults_of(tls_certificate=certificate, tls_key=keys) == (
        f"tls_key: holds no private key in PEM: {keys}"
    )
    other = tmp_path / "other.key"
    trustme.CA().issue_cert("b.example").private_key_pem.write_to_path(str(other))
    assert faults_of(tls_certificate=certificate, tls_key=other) == (
        f"tls_key: is not the key of the certificate: {other}"
    )
    locked = tmp_path / "locked.key"
    certificates.lock_key(locked)
    assert faults_of(tls_certificate=certificate, tls_key=locked) == (
        f"tls_key: must not need a password: {locked}"
    )
    wrong = faults_of(tls_certificate=keys, tls_key=key, tls_client_ca=keys)
    assert wrong == f"{no_certificate}; {no_authority}"


def test_with_tls_only_tls_gets_in_and_a_new_certificate_is_taken_up(
    certificates: Certificates,
) -> None:
    with ServerProcess(certificates.settings()) as server:
        with grpc.secure_channel(server.address, certificates.client()) as channel:
            assert list_games(channel) == 4
            assert HealthStub(channel).Check(HealthCheckRequest()).status == 1
        for channel in (
            grpc.insecure_channel(server.address),
            grpc.secure_channel(server.address, grpc.ssl_channel_credentials()),
        ):
            with channel, pytest.raises(grpc.RpcError) as refused:
                list_games(channel)
            assert refused.value.code() is grpc.StatusCode.UNAVAILABLE
        certificates.certificate.write_text("half a file")
        with grpc.secure_channel(server.address, certificates.client()) as channel:
            assert list_games(channel) == 4
        certificates.authority = trustme.CA()
        certificates.issue()
        with grpc.secure_channel(server.address, certificates.client()) as channel:
            assert list_games(channel) == 4


def test_with_mutual_tls_clients_need_a_certificate(
    certificates: Certificates, tmp_path: Path
) -> None:
    settings = certificates.settings(tls_client_ca=certificates.ca, log_format="json")
    log = tmp_path / "log"
    with log.open("w") as file, ServerProcess(settings, file) as server:
        with grpc.secure_channel(server.address, certificates.client("alice")) as channel:
            assert list_games(channel) == 4
        for credentials in (certificates.client(), certificates.client("eve", by=trustme.CA())):
            with grpc.secure_channel(server.address, credentials) as channel:
                with pytest.raises(grpc.RpcError) as refused:
                    list_games(channel)
                assert refused.value.code() is grpc.StatusCode.UNAVAILABLE
        server.stop()
    assert '"client":"alice"' in log.read_text().replace(" ", "")


# API keys.


@pytest.fixture
def keys(tmp_path: Path) -> tuple[Path, str, str]:
    """A file of keys, and two keys in it, the second of which may make few calls."""
    alice, line = new_key("alice")
    bob, other = new_key("bob")
    file = tmp_path / "keys.toml"
    file.write_text(f"{line}\n{other[:-2]}, rate = 0.5, burst = 3 }}\n")
    return file, alice, bob


def test_a_key_is_printed_once_with_the_line_that_stands_for_it(tmp_path: Path) -> None:
    made = CliRunner().invoke(app, ["key", "web-app"])
    caption, key = made.stderr.splitlines()
    assert caption.endswith(":")
    assert key.startswith("aleator_web-app_")
    assert key not in made.stdout
    file = tmp_path / "keys.toml"
    other = CliRunner().invoke(app, ["key", "other"])
    file.write_text(made.stdout + other.stdout)  # as by `aleator key NAME >> keys.toml`
    assert set(read_keys(file)) == {"web-app", "other"}
    assert read_keys(file)["web-app"].sha256 == hash_of(key)
    assert ApiKeys(file, None, 1).admit(with_key(key)) == "web-app"
    assert key not in CliRunner().invoke(app, ["key", "web-app"]).stderr
    file.write_text(f"{key}\n{made.stdout}")
    with pytest.raises(InvalidInput, match="begins with a key itself") as refused:
        read_keys(file)
    assert key not in str(refused.value)


@pytest.mark.parametrize(
    "line",
    [
        'web-app = "SECRET"',
        'web-app = ["SECRET"]',
        "web-app.SECRET = 5",
        'SECRET = { sha256 = "" }',
        'web-app = { sha256 = "SECRET0" }',
        'web-app = { sha256 = "", rate = "SECRET" }',
    ],
)
def test_what_is_wrong_with_a_file_never_quotes_a_key_or_a_hash(tmp_path: Path, line: str) -> None:
    file = tmp_path / "keys.toml"
    key, _ = new_key("web-app")
    for secret in (key, hash_of(key)):
        file.write_text(line.replace("SECRET", secret))
        with pytest.raises(InvalidInput) as refused:
            read_keys(file)
        assert secret[:16] not in str(refused.value)


def test_only_known_keys_get_in_and_health_stays_open(keys: tuple[Path, str, str]) -> None:
    file, alice, _ = keys
    with ServerProcess(settings_of(api_keys=file)) as server:
        assert list_games(server.channel, metadata=with_key(alice)) == 4
        wrong = [
            (None, "API_KEY_REQUIRED"),
            ((*with_key(alice), *with_key(alice)), "API_KEY_REQUIRED"),
            *((with_key(key), "API_KEY_UNKNOWN") for key in ("", "alice", alice[:-1], alice + "0")),
            (with_key(alice.replace("alice", "bob")), "API_KEY_UNKNOWN"),
            (with_key(hash_of(alice)), "API_KEY_UNKNOWN"),
        ]
        for metadata, reason in wrong:
            with pytest.raises(grpc.RpcError) as refused:
                list_games(server.channel, metadata=metadata)
            found = details(refused.value)
            assert (found["code"], found["ErrorInfo"].reason) == ("UNAUTHENTICATED", reason)
        # Streams too, before they have sent anything.
        batch = server.opponent.AnalyzeBatch(iter([AnalyzeBatchRequest(id="a")]))
        with pytest.raises(grpc.RpcError) as refused:
            next(batch)
        assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED
        with pytest.raises(grpc.RpcError) as refused:
            reflect(server.channel)
        assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED
        assert reflect(server.channel, metadata=with_key(alice))
        assert server.health.Check(HealthCheckRequest()).status == HealthCheckResponse.SERVING


def reflect(channel: grpc.Channel, **call: object) -> list[str]:
    stub = reflection_pb2_grpc.ServerReflectionStub(channel)
    request = reflection_pb2.ServerReflectionRequest(list_services="")
    (answer,) = stub.ServerReflectionInfo(iter([request]), timeout=20, **call)
    return [service.name for service in answer.list_services_response.service]


def test_a_key_has_its_rate(keys: tuple[Path, str, str]) -> None:
    file, alice, bob = keys
    with ServerProcess(settings_of(api_keys=file)) as server:
        for _ in range(3):
            list_games(server.channel, metadata=with_key(bob))
        with pytest.raises(grpc.RpcError) as refused:
            list_games(server.channel, metadata=with_key(bob))
        found = details(refused.value)
        assert (found["code"], found["ErrorInfo"].reason) == ("RESOURCE_EXHAUSTED", "RATE_LIMITED")
        delay = found["RetryInfo"].retry_delay.ToTimedelta().total_seconds()
        assert 0 < delay <= 2
        assert dict(refused.value.trailing_metadata())["grpc-retry-pushback-ms"].isdigit()
        for _ in range(30):
            list_games(server.channel, metadata=with_key(alice))
        time.sleep(delay + 0.05)
        list_games(server.channel, metadata=with_key(bob))


def test_the_rate_of_the_settings_holds_for_keys_without_one(keys: tuple[Path, str, str]) -> None:
    file, alice, _ = keys
    admitted = ApiKeys(file, 0.001, 5)
    for _ in range(5):
        admitted.admit(with_key(alice))
    with pytest.raises(Refusal, match=r"alice may make 0\.001 calls a second"):
        admitted.admit(with_key(alice))


def test_a_changed_file_is_read_again_and_a_faulty_one_is_not(
    keys: tuple[Path, str, str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    file, alice, bob = keys
    monkeypatch.setattr("aleator.service.api_keys.RELOAD", 0.0)
    admitted = ApiKeys(file, None, 1)
    carol, line = new_key("carol")
    lines = file.read_text()
    for faulty in (f"{lines}carol = {{ sha256 = '{carol}' }}", "no TOML at all", None):
        if faulty is None:
            file.unlink()
        else:
            file.write_text(faulty)
        assert admitted.admit(with_key(alice)) == "alice"
        (told,) = caplog.records
        assert told.getMessage() == "API keys not read"
        assert told.file == str(file)
        assert carol not in f"{vars(told)}"
        caplog.clear()
        assert admitted.admit(with_key(alice)) == "alice"
        assert not caplog.text  # told once
    file.write_text(f"{lines.splitlines()[0]}\n{line}\n")
    assert admitted.admit(with_key(carol)) == "carol"
    assert admitted.admit(with_key(alice)) == "alice"
    with pytest.raises(Refusal, match="not known"):
        admitted.admit(with_key(bob))
    file.write_text("# nobody\n")
    with caplog.at_level("WARNING"), pytest.raises(Refusal, match="not known"):
        admitted.admit(with_key(alice))
    ApiKeys(file, None, 1)
    assert [record.getMessage() for record in caplog.records] == ["API keys read", "no API keys"]


def test_the_log_does_not_count_the_keys_as_a_matter_of_the_call_that_came_first(
    keys: tuple[Path, str, str], tmp_path: Path
) -> None:
    file, alice, _ = keys
    log_file = tmp_path / "log"
    with (
        log_file.open("w") as stream,
        ServerProcess(settings_of(api_keys=file, log_format="json"), stream) as server,
    ):
        time.sleep(1.1)  # the file is looked at once a second
        file.write_text(file.read_text() + "\n")
        list_games(server.channel, metadata=with_key(alice))
    lines = [json.loads(line) for line in log_file.read_text().splitlines()]
    (read,) = [line for line in lines if line["event"] == "API keys read"]
    assert (read["keys"], read["file"]) == (2, str(file))
    assert "request_id" not in read
    assert any(line.get("request_id") for line in lines)


def test_no_key_is_in_the_log(keys: tuple[Path, str, str], tmp_path: Path) -> None:
    file, alice, _ = keys
    settings = settings_of(api_keys=file, log_level="debug", log_format="json")
    log_file = tmp_path / "log"
    with log_file.open("w") as stream, ServerProcess(settings, stream) as server:
        list_games(server.channel, metadata=with_key(alice))
        for key in (alice[:-1], "swordfish"):
            with pytest.raises(grpc.RpcError) as refused:
                list_games(server.channel, metadata=with_key(key))
            assert key not in str(refused.value)
        file.write_text(f"{file.read_text()}eve = {{ sha256 = '{alice}' }}")
        time.sleep(1.1)
        list_games(server.channel, metadata=with_key(alice))
        server.stop()
    log = log_file.read_text()
    assert "ListGames" in log
    assert '"client":"alice"' in log.replace(" ", "")
    assert "must be 64 hexadecimal digits" in log
    secret = alice.rpartition("_")[2]
    for hidden in (secret[:16], hash_of(alice)[:16], "swordfish"):
        assert hidden not in log


def test_reflection_can_be_off() -> None:
    with ServerProcess(settings_of(reflection=False)) as server:
        with pytest.raises(grpc.RpcError) as refused:
            reflect(server.channel)
        assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED
        assert list_games(server.channel) == 4
