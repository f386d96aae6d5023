"""A server as its operator sees it: what it logs and the metrics that it serves."""

import json
import time
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from prometheus_client.parser import text_string_to_metric_families

from tests.service.process import ServerProcess

Series = dict[tuple[str, frozenset[tuple[str, str]]], float]


class ObservedServer(ServerProcess):
    """A server that logs to a file and serves metrics."""

    def __init__(self, log: Path, **settings: Any) -> None:
        self.log = log
        ports = {"listen": "127.0.0.1:0", "metrics_listen": "127.0.0.1:0"}
        with log.open("w") as stderr:
            super().__init__(json.dumps(ports | settings), stderr=stderr)
        self.metrics_address = self._find_metrics()

    def lines(self) -> list[dict[str, Any]]:
        """What was logged, once the server has ended."""
        if self.process.returncode is None:
            self.stop()
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    def exposition(self) -> str:
        """What Prometheus reads."""
        with urlopen(f"http://{self.metrics_address}/metrics", timeout=10) as answer:
            return answer.read().decode()

    def series(self) -> Series:
        """The values of all series now."""
        return {
            (sample.name, frozenset(sample.labels.items())): sample.value
            for family in text_string_to_metric_families(self.exposition())
            for sample in family.samples
        }

    def value(self, name: str, **labels: str) -> float:
        """The value of one series now."""
        return self.series()[name, frozenset(labels.items())]

    def expect(self, value: float, name: str, **labels: str) -> None:
        """Wait for a value: a client may know the end of a call before it is counted."""
        for _ in range(100):
            found = self.series().get((name, frozenset(labels.items())))
            if found == value:
                return
            time.sleep(0.05)
        raise AssertionError(f"{name} {labels} is {found}, not {value}")

    def _find_metrics(self) -> str:
        """Read the address of the metrics in the log, which another thread writes."""
        for _ in range(200):
            for line in self.log.read_text().splitlines():
                if '"event": "serving"' in line and line.endswith("}"):
                    return json.loads(line)["metrics"]
            time.sleep(0.05)
        raise AssertionError(self.log.read_text())
