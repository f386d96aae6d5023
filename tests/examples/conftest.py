"""The server that the programs ask."""

from tests.service.conftest import server  # noqa: F401 - a fixture
