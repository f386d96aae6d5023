"""API keys: how they are made, kept as hashes in a file, and told apart.

A key is `aleator_NAME_SECRET`, with 256 random bits as the secret. As nobody can guess those, a
plain SHA-256 of the key is enough to keep it by. The name is no secret: by it the hash is looked up
that the key is compared with, in constant time.

The file is TOML with one line a key, as `new_key` writes it. It is read again when it has changed;
a file with a fault is reported in the log, and what was read before stays in force.
"""

import hmac
import logging
import re
import secrets
import tomllib
from collections.abc import Iterable, Mapping
from contextvars import Context
from dataclasses import dataclass
from hashlib import sha256
from math import inf
from pathlib import Path
from time import monotonic
from typing import Annotated

import grpc
from pydantic import BaseModel, ConfigDict, Field

from aleator.search.errors import InvalidInput, Violation, shorten
from aleator.search.games.base import read_model
from aleator.service.errors import Refusal

PREFIX = "aleator_"
HEADER = "x-api-key"
"""The metadata that a client sends its key in."""
RELOAD = 1.0
"""Seconds at most until a change of the file is seen."""
NAME = re.compile(r"[A-Za-z0-9-]{1,32}")
_SECRET = re.compile(rf"{PREFIX}[\w-]*|[0-9A-Fa-f]{{16,}}")
"""A key or a hash, or the beginning of one."""

_LOGGER = logging.getLogger(__name__)


class Entry(BaseModel):
    """What the file says of a key."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    rate: Annotated[float | None, Field(gt=0, allow_inf_nan=False)] = None
    burst: Annotated[int | None, Field(ge=1)] = None


@dataclass(slots=True)
class _Bucket:
    """The calls that a key may make at once, which fill up again over time."""

    tokens: float
    seen: float


class ApiKeys:
    """The keys of a file.

    Parameters
    ----------
    file : Path
    rate : float, optional
        Calls a second of a key whose line does not say; default: any number.
    burst : int
        Calls at once of such a key, after a pause.

    Raises
    ------
    InvalidInput
        If the file cannot be read, with everything wrong in it.
    """

    def __init__(self, file: Path, rate: float | None, burst: int) -> None:
        self._file = file
        self._rate = inf if rate is None else rate
        self._burst = burst
        self._buckets: dict[str, _Bucket] = {}
        self._version = _version(file)
        self._checked = monotonic()
        self._entries = read_keys(file)
        if not self._entries:
            _LOGGER.warning("no API keys", extra={"file": str(file)})
        self._nobody = secrets.token_hex(32)  # the hash of no key

    def admit(self, metadata: Iterable[tuple[str, str | bytes]]) -> str:
        """Tell the name of the key that a call comes with.

        Raises
        ------
        Refusal
            If there is none, if it is not known, or if its calls come too fast.
        """
        key = _key_of(metadata)
        self._refresh()
        name = key.removeprefix(PREFIX).rpartition("_")[0]
        entry = self._entries.get(name)
        known = self._nobody if entry is None else entry.sha256
        if not hmac.compare_digest(hash_of(key), known) or entry is None:
            raise Refusal(
                grpc.StatusCode.UNAUTHENTICATED, "API_KEY_UNKNOWN", "the API key is not known"
            )
        self._take(name, entry)
        return name

    def _take(self, name: str, entry: Entry) -> None:
        """Count a call, unless it comes too fast."""
        rate = self._rate if entry.rate is None else entry.rate
        if rate == inf:
            return
        burst = self._burst if entry.burst is None else entry.burst
        now = monotonic()
        bucket = self._buckets.get(name)
        if bucket is None:
            bucket = self._buckets[name] = _Bucket(burst, now)
        bucket.tokens = min(burst, bucket.tokens + rate * (now - bucket.seen))
        bucket.seen = now
        if bucket.tokens < 1:
            raise Refusal(
                grpc.StatusCode.RESOURCE_EXHAUSTED,
                "RATE_LIMITED",
                f"the API key {name} may make {rate:g} calls a second",
                {"key": name},
                retry_after=(1 - bucket.tokens) / rate,
            )
        bucket.tokens -= 1

    def _refresh(self) -> None:
        """Read the file again if it has changed."""
        now = monotonic()
        if now < self._checked + RELOAD:
            return
        self._checked = now
        version = _version(self._file)
        if version == self._version:
            return
        self._version = version
        Context().run(self._read_again)  # the call that comes first then has nothing to do with it

    def _read_again(self) -> None:
        file = {"file": str(self._file)}
        try:
            self._entries = read_keys(self._file)
        except InvalidInput as error:
            _LOGGER.error("API keys not read", extra=file | {"error": str(error)})  # noqa: TRY400
            return
        self._buckets = {
            name: bucket for name, bucket in self._buckets.items() if name in self._entries
        }
        level = logging.INFO if self._entries else logging.WARNING
        _LOGGER.log(level, "API keys read", extra=file | {"keys": len(self._entries)})


def new_key(name: str) -> tuple[str, str]:
    """Make a key.

    Returns
    -------
    str
        The key.
    str
        The line of the file that stands for it.

    Raises
    ------
    InvalidInput
        If the name is none for a key.
    """
    if not NAME.fullmatch(name):
        raise InvalidInput.at(
            "name", f"must be 1..32 letters, digits and hyphens, not {shorten(name)}"
        )
    key = f"{PREFIX}{name}_{secrets.token_hex(32)}"
    return key, f'{name} = {{ sha256 = "{hash_of(key)}" }}'


def hash_of(key: str) -> str:
    """Hash a key as the file has it."""
    return sha256(key.encode(errors="replace")).hexdigest()


def read_keys(file: Path) -> Mapping[str, Entry]:
    """Read a file of keys.

    Raises
    ------
    InvalidInput
        With everything wrong, which never quotes what stands in the place of a hash.
    """
    text = ""
    try:
        text = file.read_text(encoding="utf-8")
        lines = tomllib.loads(text)
    except OSError as error:
        raise InvalidInput.at("api_keys", f"cannot be read: {file}: {error.strerror}") from None
    except ValueError as error:  # it tells a place, not what stands there
        message = f"is no TOML: {file}: {error}"
        if text.startswith(PREFIX):
            message += "; it begins with a key itself, which only its client should have"
        raise InvalidInput.at("api_keys", message) from None
    entries: dict[str, Entry] = {}
    violations: list[Violation] = []
    for name, line in lines.items():
        try:
            if not NAME.fullmatch(name):
                raise InvalidInput.at("", "is no name of a key: letters, digits and hyphens only")
            entries[name] = read_model(Entry, line)
        except InvalidInput as error:
            violations += error.under(f"api_keys.{shorten(name)[1:-1]}").violations
    if violations:
        raise InvalidInput(_without_secrets(violation) for violation in violations)
    return entries


def _without_secrets(violation: Violation) -> Violation:
    """Say what is wrong without quoting a key or a hash, which may stand anywhere by mistake."""
    path, message = (_SECRET.sub("(secret)", text) for text in (violation.path, violation.message))
    if path.endswith(".sha256") and message != "is missing":
        message = "must be 64 hexadecimal digits, as `aleator key` prints them"
    return Violation(path, message)


def _key_of(metadata: Iterable[tuple[str, str | bytes]]) -> str:
    """Find the key among what a client sends with a call."""
    given = [value for name, value in metadata if name == HEADER]
    if len(given) == 1 and isinstance(given[0], str):
        return given[0]
    raise Refusal(
        grpc.StatusCode.UNAUTHENTICATED,
        "API_KEY_REQUIRED",
        f"the call needs an API key, in its metadata as {HEADER}",
    )


def _version(file: Path) -> tuple[int, int, int] | None:
    """Tell a file from what it was before."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
