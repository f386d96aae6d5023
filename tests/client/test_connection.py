"""How the client library connects: retries, deadlines, keys, TLS; against a scripted server."""

import pickle
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from functools import partial

import grpc
import pytest
import trustme
from google.protobuf.duration_pb2 import Duration
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status

import aleator.client
from aleator.client.connection import API_KEY_HEADER, Connection
from aleator.v1 import game_service_pb2, opponent_service_pb2


class Scripted:
    """What a server answers with, and the calls that it got."""

    def __init__(self) -> None:
        self.refusals = []
        self.calls = []
        self.status = None
        self.remaining = None

    def list_games(self, _, context):
        self._note(context)
        return game_service_pb2.ListGamesResponse()

    def get_game(self, _, context):
        context.abort_with_status(rpc_status.to_status(self.status))

    def create_game(self, *_):
        time.sleep(1)

    def suggest_move(self, _, context):
        self._note(context)
        return opponent_service_pb2.SuggestMoveResponse()

    def analyze_batch(self, _, context):
        self._note(context)
        yield opponent_service_pb2.AnalyzeBatchResponse(id="a")

    def _note(self, context):
        self.calls.append((time.monotonic(), dict(context.invocation_metadata())))
        self.remaining = context.time_remaining()
        if self.refusals:
            code, trailers = self.refusals.pop(0)
            context.set_trailing_metadata(trailers)
            context.abort(code, "as told")

    def handlers(self):
        def unary(function):
            return grpc.unary_unary_rpc_method_handler(
                function, response_serializer=lambda answer: answer.SerializeToString()
            )

        batch = grpc.stream_stream_rpc_method_handler(
            self.analyze_batch, response_serializer=lambda answer: answer.SerializeToString()
        )
        games = {
            "ListGames": unary(self.list_games),
            "GetGame": unary(self.get_game),
            "CreateGame": unary(self.create_game),
        }
        return [
            grpc.method_handlers_generic_handler("aleator.v1.GameService", games),
            grpc.method_handlers_generic_handler(
                "aleator.v1.OpponentService",
                {"AnalyzeBatch": batch, "SuggestMove": unary(self.suggest_move)},
            ),
        ]


@contextmanager
def serving(credentials=None):
    scripted = Scripted()
    server = grpc.server(ThreadPoolExecutor(4), scripted.handlers())
    if credentials is None:
        port = server.add_insecure_port("127.0.0.1:0")
    else:
        port = server.add_secure_port("127.0.0.1:0", credentials)
    server.start()
    scripted.address = f"127.0.0.1:{port}"
    yield scripted
    server.stop(0).wait()


@pytest.fixture
def scripted():
    with serving() as server:
        yield server


@pytest.mark.parametrize("code", [grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED])
def test_a_refused_call_is_made_again(connect, scripted, code):
    scripted.refusals = [(code, ())] * 2
    connect(scripted.address).call("list_games")
    assert len(scripted.calls) == 3


def test_a_stream_is_started_again(connect, scripted):
    scripted.refusals = [(grpc.StatusCode.UNAVAILABLE, ())]
    (answer,) = connect(scripted.address).stream("analyze_batch", [])
    assert answer.id == "a"
    assert len(scripted.calls) == 2


def test_the_server_says_when_to_come_again(connect, scripted):
    pushback = (("grpc-retry-pushback-ms", "700"),)
    scripted.refusals = [(grpc.StatusCode.RESOURCE_EXHAUSTED, pushback)]
    connect(scripted.address).call("list_games")
    (first, _), (second, _) = scripted.calls
    assert second - first > 0.65


def test_tries_come_to_an_end(connect, scripted):
    pushback = (("grpc-retry-pushback-ms", "1"),)
    scripted.refusals = [(grpc.StatusCode.UNAVAILABLE, pushback)] * 100
    with pytest.raises(aleator.client.Unavailable):
        connect(scripted.address).call("list_games")
    assert len(scripted.calls) == 5


def test_a_wrong_request_is_made_once(connect, scripted):
    scripted.refusals = [(grpc.StatusCode.INVALID_ARGUMENT, ())] * 2
    with pytest.raises(aleator.client.InvalidArgument) as caught:
        connect(scripted.address).call("list_games")
    assert len(scripted.calls) == 1
    assert str(caught.value) == "INVALID_ARGUMENT: as told"
    assert not caught.value.reason  # gRPC alone has no more to say


def test_details_of_an_error(connect, scripted):
    scripted.status = status_pb2.Status(code=grpc.StatusCode.DATA_LOSS.value[0], message="gone")
    scripted.status.details.add().Pack(
        error_details_pb2.ErrorInfo(reason="LOST", metadata={"what": "all"})
    )
    scripted.status.details.add().Pack(
        error_details_pb2.RetryInfo(retry_delay=Duration(nanos=500_000_000))
    )
    with pytest.raises(aleator.client.CallError) as caught:
        connect(scripted.address).call("get_game", "x")
    error = pickle.loads(pickle.dumps(caught.value))  # as it goes from one process to another
    assert str(error) == "DATA_LOSS: gone"
    assert (error.code, error.message) == (grpc.StatusCode.DATA_LOSS, "gone")
    assert (error.reason, error.metadata) == ("LOST", {"what": "all"})
    assert error.retry_after.total_seconds() == 0.5


@pytest.mark.parametrize("timeouts", [({"timeout": 0.1}, {}), ({}, {"timeout": 0.1})])
def test_a_server_that_does_not_answer(connect, scripted, timeouts):
    of_client, of_call = timeouts
    with pytest.raises(aleator.client.DeadlineExceeded):
        connect(scripted.address, **of_client).call("create_game", "x", **of_call)


def test_deadlines(connect, scripted):
    about = partial(pytest.approx, abs=3)
    client = connect(scripted.address, timeout=timedelta(seconds=20))
    client.call("list_games")
    assert scripted.remaining == about(20)
    client.call("suggest_move", "", time=30)
    assert scripted.remaining == about(50)
    client.call("suggest_move", "", time=30, timeout=5)
    assert scripted.remaining == about(5)
    list(client.stream("analyze_batch", []))
    assert scripted.remaining > 1e6  # none, as gRPC says it
    list(client.stream("analyze_batch", [], timeout=5))
    assert scripted.remaining == about(5)


def test_nobody_is_there(connect):
    with pytest.raises(aleator.client.Unavailable):
        connect("127.0.0.1:1").call("list_games")


def test_every_call_carries_the_key(connect, scripted):
    client = connect(scripted.address, api_key="sesame")
    client.call("list_games")
    assert list(client.stream("analyze_batch", []))
    keys = [metadata[API_KEY_HEADER] for _, metadata in scripted.calls]
    assert keys == ["sesame", "sesame"]


def test_a_key_does_not_leave_the_machine_unencrypted():
    with pytest.raises(ValueError, match="unencrypted") as caught:
        Connection("example.org:50051", api_key="sesame")
    assert "sesame" not in str(caught.value)
    for address in ("localhost:1", "127.0.0.1:1", "[::1]:1", "unix:/tmp/aleator"):
        Connection(address, api_key="sesame")
    Connection("example.org:50051", api_key="sesame", tls=True)
    Connection("example.org:50051", api_key="sesame", insecure=True)


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ("localhost", "localhost:50051"),
        ("192.0.2.1", "192.0.2.1:50051"),
        ("[::1]", "[::1]:50051"),
        ("example.org:1", "example.org:1"),
        ("dns:///example.org", "dns:///example.org"),
        ("unix:aleator", "unix:aleator"),
    ],
)
def test_the_port_if_none_is_given(given, address):
    assert Connection(given).address == address


@pytest.mark.parametrize("given", ["", "http://localhost:50051", "localhost:", ":50051", "::1"])
def test_what_is_no_address(given):
    with pytest.raises(ValueError, match="address: must be HOST:PORT"):
        Connection(given)


@pytest.mark.parametrize("name", ["root_certificates", "certificate", "key"])
def test_a_file_of_tls_that_is_not_there(name, tmp_path):
    there, missing = tmp_path / "there.pem", tmp_path / "nope.pem"
    there.touch()
    files = {"certificate": there, "key": there, name: missing}
    with pytest.raises(FileNotFoundError, match=f"{name}: No such file") as caught:
        aleator.client.Tls(**files).credentials()
    assert caught.value.filename == str(missing)


def test_mutual_tls(connect, tmp_path):
    authority = trustme.CA()
    of_server = authority.issue_cert("aleator.example")
    of_client = authority.issue_cert("somebody@example.org")
    roots = tmp_path / "roots.pem"
    roots.write_bytes(authority.cert_pem.bytes())
    credentials = grpc.ssl_server_credentials(
        [(of_server.private_key_pem.bytes(), of_server.cert_chain_pems[0].bytes())],
        authority.cert_pem.bytes(),
        require_client_auth=True,
    )
    tls = aleator.client.Tls(
        root_certificates=roots,
        certificate=of_client.cert_chain_pems[0].bytes(),
        key=of_client.private_key_pem.bytes(),
        server_name="aleator.example",
    )
    assert "PRIVATE" not in repr(tls)
    with serving(credentials) as server:
        connect(server.address, tls=tls, api_key="sesame").call("list_games")
        assert server.calls[0][1][API_KEY_HEADER] == "sesame"
        for other, hint in (
            (False, "give `tls`"),
            (aleator.client.Tls(roots, server_name="aleator.example"), "asks for a certificate"),
            (aleator.client.Tls(roots, tls.certificate, tls.key), "server_name"),
            (aleator.client.Tls(None, tls.certificate, tls.key), "root_certificates"),
        ):
            with pytest.raises(aleator.client.Unavailable, match=hint):
                connect(server.address, tls=other).call("list_games")
    with serving() as server, pytest.raises(aleator.client.Unavailable, match="leave `tls` out"):
        connect(server.address, tls=tls).call("list_games")
    with pytest.raises(ValueError, match="certificate and key"):
        aleator.client.Tls(certificate=tls.certificate).credentials()
