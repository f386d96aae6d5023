"""Who calls: the name that a client's share of the server, log lines and metrics go by.

It is the name of the client's API key, else the common name of its certificate, else its address.
The name is kept in a context variable, since every call is a task of its own and what searches for
it belongs to it.
"""

from contextvars import ContextVar
from functools import lru_cache
from ipaddress import IPv6Address, IPv6Network, ip_address
from typing import Any
from urllib.parse import unquote

import grpc

_NAME: ContextVar[str] = ContextVar("caller", default="")
_NAME_LIMIT = 64
"""Characters of a certificate's name that count."""
_HOUSEHOLD = 64
"""Bits of an IPv6 address that tell one client from another: it can choose the others freely."""


def caller() -> str:
    """Tell who made the current call; nobody outside of calls."""
    return _NAME.get()


def set_caller(name: str) -> None:
    """Say who made the current call."""
    _NAME.set(name)


def name_caller(context: "grpc.aio.ServicerContext[Any, Any]") -> str:
    """Name whoever made the current call, if a key has not named it."""
    name = _NAME.get()
    if not name:
        certified = next(iter(context.auth_context().get("x509_common_name", ())), b"")
        name = certified.decode(errors="replace")[:_NAME_LIMIT] or address_of(context.peer())
        set_caller(name)
    return name


@lru_cache(maxsize=10_000)
def address_of(peer: str) -> str:
    """Shorten gRPC's name of a peer, such as ``ipv4:192.0.2.7:50000``, to whom it stands for."""
    kind, _, rest = peer.partition(":")
    host = unquote(rest).rpartition(":")[0].strip("[]")
    try:
        address = ip_address(host)
    except ValueError:
        return kind  # a socket of the file system: all of them are this machine's own
    if not isinstance(address, IPv6Address):
        return str(address)
    if address.ipv4_mapped:
        return str(address.ipv4_mapped)
    if address.is_loopback:  # this machine, which is no network of others
        return str(address)
    return str(IPv6Network((address.packed, _HOUSEHOLD), strict=False))
