"""Why an address cannot be listened on, in words for the operator; gRPC itself does not say."""

import errno
import os
import socket

_WORDS = {
    errno.EADDRINUSE: "another program listens there",
    errno.EADDRNOTAVAIL: "this machine has no such address",
    errno.EACCES: "this user may not use the port",
}


def cannot_listen(setting: str, address: str, error: OSError | None = None) -> SystemExit:
    """Make the error that ends the server.

    Parameters
    ----------
    setting : str
        The setting that names the address.
    address : str
        ``HOST:PORT``.
    error : OSError, optional
        What the attempt ended with, where it is known. Else it is made again to find out.
    """
    error = error or _try(address)
    if error is None:
        why = "it was not free a moment ago"
    elif isinstance(error, socket.gaierror):
        why = "there is no such host"
    else:
        why = _WORDS.get(error.errno or 0) or os.strerror(error.errno or 0)
    return SystemExit(f"{setting}: cannot listen on {address}: {why}")


def _try(address: str) -> OSError | None:
    """Try to listen as gRPC does, on any of the addresses that a name stands for."""
    host, _, port = address.rpartition(":")
    error: OSError | None = None
    try:
        found = socket.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_STREAM)
        for family, kind, protocol, _, place in found:
            with socket.socket(family, kind, protocol) as attempt:
                attempt.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                try:
                    attempt.bind(place)
                    attempt.listen(1)
                except OSError as failed:
                    error = failed
                else:
                    return None
    except OSError as failed:
        error = failed
    return error
