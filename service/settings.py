"""What an operator can set of a server.

This is the one list of settings: the flags of the commands, the variables of the environment, the
keys of the file and what `aleator config` prints are all made from it, with the texts under the
fields. `configuration` reads them.

A setting that is a secret must be a `pydantic.SecretStr`; then it is masked wherever it is printed.
"""

import os
import re
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ByteSize,
    Field,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from aleator.search.errors import InvalidInput, shorten
from aleator.search.limits import parse_duration
from aleator.service.extras import install

_ADDRESS = re.compile(r"\S+:(?P<port>[0-9]{1,5})")
_ENDPOINT = re.compile(r"https?://[^\s/]+/?")
_LAST_PORT = 65535
_SIZE = TypeAdapter(ByteSize)


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


def is_loopback(address: str) -> bool:
    """Tell whether only this machine can connect to a ``HOST:PORT``."""
    host = address.rpartition(":")[0].strip("[]")
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _check_reach(address: str | None, info: ValidationInfo) -> None:
    """Refuse an address that others can connect to, without TLS."""
    if (
        address is not None
        and not is_loopback(address)
        and info.data.get("tls_certificate") is None
    ):
        raise ValueError(
            f"others can connect to {address}, and without TLS read all that is sent: set"
            " tls_certificate and tls_key, or insecure if that is what you want"
        )


def _read_seconds(value: Any) -> Any:
    """Read a text as a duration."""
    if not isinstance(value, str):
        return value
    try:
        return parse_duration(value)
    except InvalidInput as error:
        raise ValueError(error.violations[0].message) from None


def _read_size(value: Any) -> Any:
    """Read a text as a number of bytes, with or without a unit."""
    if not isinstance(value, str):
        return value
    try:
        return int(_SIZE.validate_python(value))
    except ValidationError:
        raise ValueError(f"must be bytes, or a size such as 256MiB, not {shorten(value)}") from None


def _check_endpoint(endpoint: str) -> str:
    if not _ENDPOINT.fullmatch(endpoint):
        raise ValueError(
            f"must be a URL such as http://localhost:4317, not {shorten(endpoint, 64)}"
        )
    if not _can_export():
        raise ValueError(f"needs more: {install('traces')}")
    return endpoint


def _can_export() -> bool:
    """Tell whether what sends traces is installed; it loads gRPC, so it is only looked for."""
    try:
        return find_spec("opentelemetry.exporter.otlp.proto.grpc") is not None
    except ModuleNotFoundError:  # not even the packages around it are there
        return False


Address = Annotated[str, AfterValidator(_check_address)]
"""``HOST:PORT``."""
Endpoint = Annotated[str, AfterValidator(_check_endpoint)]
"""``http://HOST:PORT`` or ``https://HOST:PORT``."""
Seconds = Annotated[float, BeforeValidator(_read_seconds), Field(gt=0, allow_inf_nan=False)]
"""A time: a number of seconds, or a text such as ``500ms``."""
Bytes = Annotated[int, BeforeValidator(_read_size)]
"""A size: a number of bytes, or a text such as ``256MiB``."""
LogFormat: TypeAlias = Literal["auto", "json", "text"]
LogLevel: TypeAlias = Literal["debug", "info", "warning", "error"]


class Settings(BaseSettings):
    """Settings of a server; those given to the constructor and defaults, nothing from outside."""

    model_config = SettingsConfigDict(
        env_prefix="ALEATOR_", extra="forbid", frozen=True, use_attribute_docstrings=True
    )

    listen: Address = "127.0.0.1:50051"
    """Where to listen, HOST:PORT; port 0 takes a free one. Others than loopback addresses need TLS,
    or `insecure`."""
    tls_certificate: Path | None = None
    """Certificate of the server with its chain, a file in PEM; it makes the server use TLS."""
    tls_key: Annotated[Path | None, Field(validate_default=True)] = None
    """Private key of the certificate, a file in PEM."""
    tls_client_ca: Annotated[Path | None, Field(validate_default=True)] = None
    """Certificates of the authorities, a file in PEM, one of which must have signed the certificate
    that a client has to show (mutual TLS)."""
    insecure: Annotated[bool, Field(validate_default=True)] = False
    """Whether to listen without TLS where others than this machine can connect."""
    api_keys: Path | None = None
    """File of API keys, lines that `aleator key` prints; with it every call needs a key."""
    key_rate: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """Calls a second that an API key may make, if its line does not say; by default any number."""
    key_burst: int = Field(default=20, ge=1)
    """Calls that an API key with a rate may make at once after a pause."""
    max_calls: int = Field(default=1000, ge=1)
    """Calls of a client at once at most, streams that stand included; more are refused."""
    reflection: bool = True
    """Whether the server describes its methods by gRPC's reflection."""
    workers: int = Field(default_factory=usable_cores, ge=1)
    """How many search threads run at once; by default as many as there are cores to use."""
    queue: int = Field(default=64, ge=0)
    """How many searches may wait for a worker; further ones are refused."""
    turn: Seconds = 1.0
    """Time that a search surely has once it runs, though its client holds more than its share of
    the workers while another client waits."""
    niceness: int = Field(default=10, ge=0, le=19)
    """By how much threads that search step back behind the thread that answers, and so behind all
    other programs of the machine too, until their time is over; on Linux, and only where the
    process may raise their priority again then (RLIMIT_NICE or CAP_SYS_NICE)."""
    default_time: Seconds = 1.0
    """Time of a search whose request sets neither a time nor a number of simulations."""
    max_time: Seconds = 60.0
    """Time that no search exceeds, whatever its request says."""
    max_simulations: int | None = Field(default=None, ge=1)
    """Simulations of a search at most: a request for more is refused."""
    max_threads: int | None = Field(default=None, ge=1)
    """Threads of a search at most: a request for more is refused. Default: the workers."""
    memory: Annotated[Bytes, Field(ge=2**20)] = 256 * 2**20
    """Memory of the trees of one search at most."""
    total_memory: Annotated[Bytes | None, Field(ge=2**20)] = None
    """Memory of the trees of all searches at most; divided by the workers, it lowers the memory of
    one search. Default: the workers times the memory of one search."""
    kept_memory: Annotated[Bytes, Field(ge=0)] = 64 * 2**20
    """Memory besides, of the trees that all bots of Play together keep between their moves; what
    was kept longest is forgotten first. With 0 none are kept."""
    grace: Seconds = 10.0
    """Time that running calls have to end once the server is told to stop."""
    log_format: LogFormat = "auto"
    """How lines of the log look: `json`, `text`, or `auto`: text on a terminal, else JSON."""
    log_level: LogLevel = "info"
    """The least that is logged; `debug` adds calls of health checks and reflection."""
    metrics_listen: Address | None = None
    """Where to serve metrics for Prometheus over HTTP, HOST:PORT; by default nowhere. With TLS it
    is HTTPS, with the same certificates; others than loopback addresses need it, or `insecure`."""
    traces_endpoint: Endpoint | None = None
    """Where to send OpenTelemetry traces by OTLP over gRPC, a URL; needs aleator[traces]."""
    channelz: bool = False
    """Whether to tell about connections by gRPC's channelz service."""

    @property
    def search_memory(self) -> int:
        """Bytes of the trees of one search, so that any that run at once keep to the total."""
        if self.total_memory is None:
            return self.memory
        return min(self.memory, self.total_memory // self.workers)

    @property
    def search_threads(self) -> int:
        """Threads of a search at most."""
        return min(self.workers, self.max_threads or self.workers)

    @field_validator("tls_key")
    @classmethod
    def _check_tls_key(cls, key: Path | None, info: ValidationInfo) -> Path | None:
        certificate = info.data.get("tls_certificate")
        if (key is None) != (certificate is None):
            missing = "tls_key" if key is None else "tls_certificate"
            raise ValueError(f"tls_certificate and tls_key go together, but {missing} is missing")
        return key

    @field_validator("tls_client_ca")
    @classmethod
    def _check_tls_client_ca(cls, authorities: Path | None, info: ValidationInfo) -> Path | None:
        if authorities is not None and info.data.get("tls_certificate") is None:
            raise ValueError("needs tls_certificate and tls_key")
        return authorities

    @field_validator("insecure")
    @classmethod
    def _check_insecure(cls, insecure: bool, info: ValidationInfo) -> bool:  # noqa: FBT001
        if not insecure:
            _check_reach(info.data.get("listen"), info)
        return insecure

    @field_validator("metrics_listen")
    @classmethod
    def _check_metrics_listen(cls, address: str | None, info: ValidationInfo) -> str | None:
        if not info.data.get("insecure"):
            _check_reach(address, info)
        return address

    @field_validator("total_memory")
    @classmethod
    def _check_total_memory(cls, memory: int | None, info: ValidationInfo) -> int | None:
        workers = info.data.get("workers", 1)
        if memory is not None and memory // workers < 2**20:
            raise ValueError(
                f"must be at least {workers * 2**20}, 1 MiB for each of {workers} workers,"
                f" not {memory}"
            )
        return memory

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003 - the signature is pydantic's
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Take what the constructor is given only: `configuration` merges the sources."""
        return (init_settings,)
