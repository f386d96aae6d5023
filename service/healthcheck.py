"""`aleator health`: asks a server whether it serves, for probes of containers.

The exit status is 0 if it serves, 1 if not, and then the error stream says why. It is apart from
the other commands, whose imports take a second of processor time, as probes run every few seconds.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import grpc
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse

ADDRESS = "127.0.0.1:50051"
TIMEOUT = 3.0
"""Seconds to wait for the answer."""
_OPTIONS = {"tls": "--tls or --ca", "root_certificates": "--ca", "server_name": "--server-name"}
"""What the settings of a connection are called here."""


def serving_status(
    address: str,
    service: str = "",
    timeout: float = TIMEOUT,
    credentials: grpc.ChannelCredentials | None = None,
    server_name: str | None = None,
) -> str:
    """Ask a server whether a service serves; by default all of it.

    Parameters
    ----------
    address : str
        ``HOST:PORT``.
    service : str
        The full name of the service, or nothing for the whole server.
    timeout : float
        Seconds to wait for the answer.
    credentials : grpc.ChannelCredentials, optional
        For TLS.
    server_name : str, optional
        The name in the server's certificate, if it is not that of the address.

    Returns
    -------
    str
        ``SERVING`` or another status of the health service, or the code and words of an error.
    """
    options = [("grpc.ssl_target_name_override", server_name)] if server_name else []
    channel = (
        grpc.insecure_channel(address, options)
        if credentials is None
        else grpc.secure_channel(address, credentials, options)
    )
    with channel:
        check = channel.unary_unary(
            "/grpc.health.v1.Health/Check",
            request_serializer=HealthCheckRequest.SerializeToString,
            response_deserializer=HealthCheckResponse.FromString,
        )
        try:
            response = check(HealthCheckRequest(service=service), timeout=timeout)
        except grpc.RpcError as error:
            # A probe that finds all well does without it.
            from aleator.client.errors import explained  # noqa: PLC0415

            return f"{error.code().name}: {explained(error.details() or '', _OPTIONS)}"
    return HealthCheckResponse.ServingStatus.Name(response.status)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if (options.certificate is None) != (options.key is None):
        parser.error("--certificate and --key go together")
    credentials = None
    if options.tls or options.ca or options.certificate or options.server_name:
        try:
            files = [
                None if path is None else path.read_bytes()
                for path in (options.ca, options.key, options.certificate)
            ]
        except OSError as error:
            parser.error(f"cannot read {error.filename}: {error.strerror}")
        credentials = grpc.ssl_channel_credentials(*files)
    status = serving_status(
        options.address, options.service, options.timeout, credentials, options.server_name
    )
    if status == "SERVING":
        return 0
    sys.stderr.write(f"{options.address}: {status}\n")
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "aleator health", description="Ask a server whether it serves; exit with 0 if so, else 1."
    )
    parser.add_argument(
        "address", nargs="?", metavar="HOST:PORT", default=ADDRESS, help=f"default: {ADDRESS}"
    )
    parser.add_argument("--service", metavar="NAME", default="", help="default: the whole server")
    parser.add_argument(
        "--timeout", metavar="SECONDS", type=float, default=TIMEOUT, help=f"default: {TIMEOUT:g}"
    )
    parser.add_argument("--tls", action="store_true", help="use TLS; each option below implies it")
    parser.add_argument(
        "--ca", metavar="FILE", type=Path, help="who signs the server's certificate, as PEM"
    )
    parser.add_argument("--certificate", metavar="FILE", type=Path, help="the client's own, as PEM")
    parser.add_argument("--key", metavar="FILE", type=Path, help="the key of --certificate")
    parser.add_argument(
        "--server-name", metavar="NAME", help="in the server's certificate, instead of the host's"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
