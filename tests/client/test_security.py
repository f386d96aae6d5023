"""The client library and a server that asks for TLS, a certificate and an API key."""

import json
import time

import pytest
import trustme

import aleator.client
from aleator.service.api_keys import new_key
from tests.service.process import ServerProcess

OPENING = "roygbiv ......./......./......./...7.../......./......./....... 0000001 467,??? 0,0 0"


def test_a_server_that_asks_who_is_calling(connect, tmp_path):
    authority = trustme.CA()
    files = {name: tmp_path / name for name in ("ca", "server.pem", "server.key", "keys.toml")}
    authority.cert_pem.write_to_path(files["ca"])
    issued = authority.issue_cert("127.0.0.1")
    issued.cert_chain_pems[0].write_to_path(files["server.pem"])
    issued.private_key_pem.write_to_path(files["server.key"])
    key, line = new_key("tests")
    files["keys.toml"].write_text(line + "\n")
    settings = {
        "listen": "127.0.0.1:0",
        "tls_certificate": str(files["server.pem"]),
        "tls_key": str(files["server.key"]),
        "tls_client_ca": str(files["ca"]),
        "api_keys": str(files["keys.toml"]),
        "key_rate": 4,
        "key_burst": 2,
    }
    own = authority.issue_cert("client@example.org")
    tls = aleator.client.Tls(
        files["ca"], own.cert_chain_pems[0].bytes(), own.private_key_pem.bytes()
    )
    with ServerProcess(json.dumps(settings)) as server:
        client = connect(server.address, tls=tls, api_key=key)
        analysis = client.call("suggest_move", OPENING, simulations=5)
        assert analysis.statistics.simulations == 5
        # Calls beyond the key's rate are refused, and made again when the server says.
        start = time.monotonic()
        for _ in range(6):
            assert client.call("list_games").games
        assert time.monotonic() - start > 0.7
        for wrong, reason in ((None, "API_KEY_REQUIRED"), (f"{key}x", "API_KEY_UNKNOWN")):
            keys = {} if wrong is None else {"api_key": wrong}
            with pytest.raises(aleator.client.Unauthenticated) as caught:
                connect(server.address, tls=tls, **keys).call("list_games")
            assert caught.value.reason == reason
            assert key not in str(caught.value)
        with pytest.raises(aleator.client.Unavailable):
            connect(server.address, tls=aleator.client.Tls(files["ca"])).call("list_games")
