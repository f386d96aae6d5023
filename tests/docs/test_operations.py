"""docs/operations.md tells what the code has: settings, metrics, fields of log lines."""

import re
from pathlib import Path

from grpc import StatusCode

from aleator.service.telemetry.calls import Call
from aleator.service.telemetry.logs import call_fields
from tools import operations

ROOT = Path(__file__).parents[2]


def test_the_tables_are_as_written_from_the_code():
    assert operations.PAGE.read_text() == operations.written()


def test_every_field_of_a_log_line_is_explained():
    call = Call(
        "a/b", "id", (), 0.0, "client", "key", StatusCode.OK, "R", "game", 2, 100, "time", 0.5
    )
    page = operations.PAGE.read_text()
    explained = re.findall(
        r"^\| `(\w+)` \|", page.partition("## Log")[2].partition("\n## ")[0], re.MULTILINE
    )
    assert {*call_fields(call), "event", "level", "timestamp", "logger"} <= set(explained)


def test_paths_in_the_page_are_there():
    page = operations.PAGE.read_text()
    for path in re.findall(r"\]\((?!http|#)([^)#]+)", page):
        assert (operations.PAGE.parent / path).exists(), path
