"""The certificates of a server, read again when their files have changed."""

import logging
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc

from aleator.search.errors import InvalidInput, Violation
from aleator.service.settings import Settings

_LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Files:
    certificate: Path
    key: Path
    client_ca: Path | None

    def version(self) -> tuple[tuple[int, int], ...]:
        """Tell the files from what they were before."""
        files = filter(None, (self.certificate, self.key, self.client_ca))
        return tuple((status.st_mtime_ns, status.st_ino) for status in map(Path.stat, files))

    def read(self) -> grpc.ServerCertificateConfiguration:
        """Read the files.

        Raises
        ------
        InvalidInput
            If one cannot be read, or holds no certificate or no key that fits it.
        """
        certificate = _read("tls_certificate", self.certificate)
        key = _read("tls_key", self.key)
        authorities = None if self.client_ca is None else _read("tls_client_ca", self.client_ca)
        # gRPC's own words on what is wrong would be few, and OpenSSL's are for its makers.
        wrong = [
            Violation(setting, f"holds no certificate in PEM: {file}")
            for setting, file, pem in (
                ("tls_certificate", self.certificate, certificate),
                ("tls_client_ca", self.client_ca, authorities),
            )
            if pem is not None and not _is_certificate(pem)
        ]
        if wrong:
            raise InvalidInput(wrong)
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(
                self.certificate, self.key, password=_refuse_password
            )
        except (ssl.SSLError, ValueError) as error:
            raise InvalidInput([self._fault_of_pair(error)]) from None
        return grpc.ssl_server_certificate_configuration([(key, certificate)], authorities)

    def _fault_of_pair(self, error: Exception) -> Violation:
        """Say what is wrong with the certificate and its key, where the former is one."""
        if not isinstance(error, ssl.SSLError):
            return Violation("tls_key", f"{error}: {self.key}")
        if not error.reason:
            return Violation("tls_key", f"holds no private key in PEM: {self.key}")
        if error.reason == "KEY_VALUES_MISMATCH":
            return Violation("tls_key", f"is not the key of the certificate: {self.key}")
        words = error.reason.lower().replace("_", " ")  # such as "ee key too small"
        return Violation("tls_certificate", f"cannot be used: {words}: {self.certificate}")


class _Reader:
    """Hands gRPC the certificates; it asks at every handshake, on a thread of its own."""

    def __init__(self, files: _Files) -> None:
        self._files = files
        self._version = files.version()

    def __call__(self) -> Any:
        """Return what has changed, if anything has, else None."""
        try:
            version = self._files.version()
            if version == self._version:
                return None
            self._version = version
            configuration = self._files.read()
        except (OSError, InvalidInput) as error:
            _LOGGER.error("certificate not read", extra={"error": str(error)})  # noqa: TRY400
            return None
        _LOGGER.info("certificate read", extra={"file": str(self._files.certificate)})
        return configuration


def server_credentials(settings: Settings) -> grpc.ServerCredentials | None:
    """Read what a server proves itself by, and asks of its clients; None without TLS.

    Raises
    ------
    InvalidInput
        If a file does not hold what it should.
    """
    if settings.tls_certificate is None or settings.tls_key is None:
        return None
    files = _Files(settings.tls_certificate, settings.tls_key, settings.tls_client_ca)
    configuration = files.read()
    return grpc.dynamic_ssl_server_credentials(
        configuration,
        _Reader(files),
        require_client_authentication=settings.tls_client_ca is not None,
    )


def _read(setting: str, file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise InvalidInput.at(setting, f"cannot be read: {file}: {error.strerror}") from None


def _refuse_password() -> str:
    raise ValueError("must not need a password")


def _is_certificate(pem: bytes) -> bool:
    """Tell whether a file holds certificates in PEM."""
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_verify_locations(cadata=pem.decode("ascii"))
    except (ssl.SSLError, ValueError):
        return False
    return True
