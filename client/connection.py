"""How a client is connected: address, TLS, API key, deadline, retries."""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, TypedDict, Unpack

import grpc

from aleator.client.values import Time, seconds_of

API_KEY_HEADER = "x-api-key"
PORT = 50051
ADDRESS = f"localhost:{PORT}"
TIMEOUT = 10.0
"""Seconds that a call may take, besides the time that it asks the server to search."""
_SERVICES = ("aleator.v1.GameService", "aleator.v1.OpponentService")
_RETRIES = {
    "methodConfig": [
        {
            "name": [{"service": service} for service in _SERVICES],
            # The server keeps nothing between calls, so that every call can be made again. A server
            # that is busy may say itself when to come again (gRPC's retry pushback).
            "retryPolicy": {
                "maxAttempts": 5,
                "initialBackoff": "0.1s",
                "maxBackoff": "2s",
                "backoffMultiplier": 2,
                "retryableStatusCodes": ["UNAVAILABLE", "RESOURCE_EXHAUSTED"],
            },
        }
    ]
}
_OPTIONS = (
    ("grpc.service_config", json.dumps(_RETRIES)),
    # Otherwise gRPC would wait up to two minutes for a server that was started again.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 2000),
)
_UNREAD = (
    # Nothing is sent ahead of what is read but the beginning of one message.
    ("grpc.http2.lookahead_bytes", 1),
    ("grpc.http2.bdp_probe", 0),
)
_LOCAL = re.compile(r"(localhost|127\.[\d.]+|\[::1\]):|unix:")
"""Addresses of this machine."""
_HOST = re.compile(r"[\w.-]+|\[[\da-fA-F:.]+\]")
"""An address without its port, for which gRPC would take 443."""
_NO_ADDRESS = re.compile(r"https?://.*|:.*|.*:|\s*")
"""What is often given in place of one, of which gRPC says little or nothing that helps."""

Pem: TypeAlias = bytes | str | Path
"""A certificate or key in PEM: its bytes, or the path of its file."""


@dataclass(frozen=True, slots=True)
class Tls:
    """What encrypts a connection.

    Attributes
    ----------
    root_certificates : bytes, str, Path or None
        Who signs the server's certificate, as PEM or the file with it; by default those whom gRPC
        trusts.
    certificate, key : bytes, str, Path or None
        The client's own certificate and key, where the server asks for one.
    server_name : str or None
        The name in the server's certificate, where it is not that of the address.
    """

    root_certificates: Pem | None = None
    certificate: Pem | None = None
    key: Pem | None = field(default=None, repr=False)
    server_name: str | None = None

    def credentials(self) -> grpc.ChannelCredentials:
        """Read the files.

        Raises
        ------
        ValueError
            If only one of `certificate` and `key` is given.
        OSError
            With the name of the attribute whose file cannot be read.
        """
        if (self.certificate is None) != (self.key is None):
            raise ValueError("give certificate and key, or neither")
        return grpc.ssl_channel_credentials(
            _read(self.root_certificates, "root_certificates"),
            _read(self.key, "key"),
            _read(self.certificate, "certificate"),
        )


class Settings(TypedDict, total=False):
    """What can be said of a connection besides its address; everything may be left out.

    Attributes
    ----------
    tls : Tls or bool
        Encrypts; True is `Tls()`, which trusts whom gRPC trusts. Without it nothing is encrypted.
    api_key : str
        Tells the server who is calling. Without `tls` it is sent to this machine only.
    insecure : bool
        Sends the API key unencrypted to other machines too, because something between encrypts.
    timeout : float or timedelta
        How long a call may take, besides the time that it asks the server to search: 10 seconds by
        default. Each call can be given another one.
    """

    tls: Tls | bool
    api_key: str
    insecure: bool
    timeout: Time


class Connection:
    """Where to connect to, and how.

    Attributes
    ----------
    address : str
        ``HOST:PORT``, or another name that gRPC resolves; without a port it is 50051.
    metadata : tuple
        What every call carries.
    timeout : float
        Seconds that a call may take, besides its search.

    Raises
    ------
    ValueError
        If that is no address, or the API key would go to another machine unencrypted.
    OSError
        If a file of `tls` cannot be read.
    """

    def __init__(self, address: str, **settings: Unpack[Settings]) -> None:
        if _NO_ADDRESS.fullmatch(address):
            raise ValueError(f"address: must be HOST:PORT, not {address!r}")
        if _HOST.fullmatch(address):
            address = f"{address}:{PORT}"
        wanted = settings.get("tls", False)
        tls = (Tls() if wanted else None) if isinstance(wanted, bool) else wanted
        api_key = settings.get("api_key")
        if api_key and not (tls or settings.get("insecure") or _LOCAL.match(address)):
            raise ValueError(
                f"the API key would go to {address} unencrypted: give tls, or insecure=True"
                " where something between encrypts"
            )
        self.address = address
        self._options: list[tuple[str, str | int]] = [*_OPTIONS]
        self._credentials = tls.credentials() if tls else None
        if tls and tls.server_name:
            self._options.append(("grpc.ssl_target_name_override", tls.server_name))
        self.metadata = ((API_KEY_HEADER, api_key),) if api_key else ()
        self.timeout = seconds_of(settings.get("timeout", TIMEOUT), "timeout")

    def open(self, kind: Any, *, ahead: bool = True) -> Any:
        """Open a channel; it connects with its first call.

        Parameters
        ----------
        kind : module
            `grpc` or `grpc.aio`.
        ahead : bool
            Whether the server may send what is not read yet, which saves a round trip a message.
        """
        options = self._options if ahead else [*self._options, *_UNREAD]
        if self._credentials is None:
            return kind.insecure_channel(self.address, options)
        return kind.secure_channel(self.address, self._credentials, options)


def _read(pem: Pem | None, name: str) -> bytes | None:
    """The bytes of a certificate or key."""
    if pem is None or isinstance(pem, bytes):
        return pem
    try:
        return Path(pem).read_bytes()
    except OSError as error:
        raise OSError(error.errno, f"{name}: {error.strerror}", str(pem)) from None
