"""A client of Aleator's server, for programs that wait (`connect`) and for asyncio (`aio.connect`).

    import aleator.client

    with aleator.client.connect("localhost:50051") as client:
        state = client.create_game("roygbiv", seed=1).state
        analysis = client.suggest_move(state, time=0.5)
        print(analysis.best_move_notation)

Positions and moves are messages of `aleator.v1` or their notations, times are seconds or
timedeltas. Every call has a deadline, is made again where the server is busy or just not there,
and raises an error of `aleator.client.errors` if it brings no answer. Needs neither the engine nor
a server's other libraries.
"""

from aleator.client import aio
from aleator.client.calls import BatchAnswer, batch_item
from aleator.client.connection import Settings, Tls
from aleator.client.errors import (
    CallError,
    Cancelled,
    DeadlineExceeded,
    FailedPrecondition,
    InvalidArgument,
    NotFound,
    PermissionDenied,
    ResourceExhausted,
    Unauthenticated,
    Unavailable,
    Violation,
)
from aleator.client.sync import Client, Play, Stream, connect
from aleator.client.values import Effort, Move, Search, State, Time

__all__ = [
    "BatchAnswer",
    "CallError",
    "Cancelled",
    "Client",
    "DeadlineExceeded",
    "Effort",
    "FailedPrecondition",
    "InvalidArgument",
    "Move",
    "NotFound",
    "PermissionDenied",
    "Play",
    "ResourceExhausted",
    "Search",
    "Settings",
    "State",
    "Stream",
    "Time",
    "Tls",
    "Unauthenticated",
    "Unavailable",
    "Violation",
    "aio",
    "batch_item",
    "connect",
]
