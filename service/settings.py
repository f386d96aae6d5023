"""What an operator can set of a server."""

import os
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


def usable_cores() -> int:
    """Count the cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


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

    listen: str = Field(default="127.0.0.1:50051", pattern=r"^\S+:\d{1,5}$")
    workers: int = Field(default_factory=usable_cores, ge=1)
    queue: int = Field(default=64, ge=0)
    default_time: Seconds = 1.0
    max_time: Seconds = 60.0
    memory: int = Field(default=256 * 2**20, ge=2**20)
    grace: Seconds = 10.0
