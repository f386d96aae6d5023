"""The server that the tests of the wire share."""

from collections.abc import Iterator

import pytest

from tests.service.process import ServerProcess


@pytest.fixture(scope="session")
def server() -> Iterator[ServerProcess]:
    with ServerProcess() as running:
        yield running
