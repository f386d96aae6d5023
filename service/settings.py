"""What an operator can set of a server."""

import os
import re
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from aleator.search.errors import shorten

_ADDRESS = re.compile(r"\S+:(?P<port>[0-9]{1,5})")
_LAST_PORT = 65535


def usable_cores() -> int:
    """Count the cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _check_address(address: str) -> str:
    if not (match := _ADDRESS.fullmatch(address)) or int(match["port"]) > _LAST_PORT:
        raise ValueError(
            f"must be HOST:PORT with a port of 0..{_LAST_PORT}, such as 127.0.0.1:50051,"
            f" not {shorten(address, 64)}"
        )
    return address


Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Settings(BaseModel):
    """Settings of a server.

    Attributes
    ----------
    listen : str
        The address to listen on, ``HOST:PORT``; port 0 takes a free one.
    workers : int
        How many search threads run at once. Default: the cores that the process may use.
    queue : int
        How many searches may wait for a worker; further ones are refused.
    default_time : float
        Seconds that a search takes if the request sets neither a time nor a number of simulations.
    max_time : float
        Seconds that no search exceeds, whatever the request says.
    memory : int
        Bytes that the tree of one search may take.
    grace : float
        Seconds that running calls have to end once the server is told to stop.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    listen: Annotated[str, AfterValidator(_check_address)] = "127.0.0.1:50051"
    workers: int = Field(default_factory=usable_cores, ge=1)
    queue: int = Field(default=64, ge=0)
    default_time: Seconds = 1.0
    max_time: Seconds = 60.0
    memory: int = Field(default=256 * 2**20, ge=2**20)
    grace: Seconds = 10.0
