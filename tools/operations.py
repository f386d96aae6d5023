"""Writes the tables of docs/operations.md: `python -m tools.operations`, from the root.

The settings and the metrics are listed as the code has them, between two comments of the page.
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from aleator.service.lateness import Lateness
from aleator.service.settings import Settings
from aleator.service.telemetry.calls import Call
from aleator.service.telemetry.metrics import Metrics
from aleator.service.telemetry.searches import SearchWatch

PAGE = Path(__file__).parents[1] / "docs/operations.md"


def settings_table() -> list[str]:
    """All settings, with their defaults as in a TOML file."""
    rows = []
    for name, field in Settings.model_fields.items():
        default = "the cores" if field.default_factory else _default(field.default)
        rows.append((f"`{name}`", default, " ".join((field.description or "").split())))
    return _table(("setting", "default", "what it is"), rows)


def metrics_table() -> list[str]:
    """All metrics that a server exports, with their labels."""
    metrics = Metrics(Settings(), ["service/method"], ["game"], SearchWatch(), Lateness())
    metrics.count_dropped_lines(lambda: 0)
    call = Call("service/method", "id", (), 0.0, key="name", reason="REASON")
    metrics.call_started(call)
    metrics.call_ended(call)
    rows = []
    exported = generate_latest(metrics.registry).decode()
    for family in text_string_to_metric_families(exported):
        labels = {label for sample in family.samples for label in sample.labels} - {"le"}
        name = family.name + ("_total" if family.type == "counter" else "")
        listed = ", ".join(f"`{label}`" for label in sorted(labels))
        rows.append((f"`{name}`", family.type, listed, family.documentation))
    return _table(("metric", "kind", "labels", "what it is"), sorted(rows))


def written() -> str:
    """The page, with its tables written anew."""
    page = PAGE.read_text()
    for name, table in (("settings", settings_table()), ("metrics", metrics_table())):
        begin, end = f"<!-- {name}: python -m tools.operations -->\n", f"<!-- end of {name} -->"
        text = begin + "\n".join(table) + "\n" + end
        between = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
        page, found = between.subn(lambda _, text=text: text, page)
        assert found == 1, name
    return page


def _default(value: object) -> str:
    if value is None:
        return ""
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(cells)} |" for cells in (header, ["---"] * len(header), *rows)]


if __name__ == "__main__":
    PAGE.write_text(written())
