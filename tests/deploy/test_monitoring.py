"""The dashboard and the alert rules ask for what a server exports, and the rules fire in time.

An expression with a misspelt name or label is no error to Prometheus: it just finds nothing.
"""

import json
import re
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import promql_parser
import pytest
import yaml

from aleator.service.api_keys import new_key
from aleator.v1.game_service_pb2 import ListGamesRequest
from tests.service.telemetry.observed import ObservedServer

DEPLOY = Path(__file__).parents[2] / "deploy"
DASHBOARD = json.loads((DEPLOY / "grafana/aleator.json").read_text())
ALERTS = yaml.safe_load((DEPLOY / "prometheus/alerts.yml").read_text())
OF_PROMETHEUS = {"job", "instance"}
"""Labels that Prometheus adds."""
VARIABLES = {"$__rate_interval": "5m", "$instance": ".*"}
"""Of Grafana, and what it may put in their place."""


def alert_expressions() -> list[tuple[str, str]]:
    return [(rule["alert"], rule["expr"]) for group in ALERTS["groups"] for rule in group["rules"]]


def panels() -> list[dict[str, Any]]:
    return [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]


def dashboard_expressions() -> list[tuple[str, str]]:
    found = [(panel["title"], target["expr"]) for panel in panels() for target in panel["targets"]]
    found += [(note["name"], note["target"]["expr"]) for note in DASHBOARD["annotations"]["list"]]
    return found


def parse(expression: str) -> promql_parser.Expr:
    for variable, value in VARIABLES.items():
        expression = expression.replace(variable, value)
    return promql_parser.parse(expression)


def selectors(expression: promql_parser.Expr) -> Iterator[promql_parser.VectorSelector]:
    found: list[Any] = []
    promql_parser.walk(expression, found.append)
    for node in found:
        if isinstance(node, promql_parser.VectorSelector):
            yield node
        elif isinstance(node, promql_parser.MatrixSelector):
            yield node.vector_selector


def aggregates(expression: promql_parser.Expr) -> list[promql_parser.AggregateExpr]:
    found: list[Any] = []
    promql_parser.walk(expression, found.append)
    return [node for node in found if isinstance(node, promql_parser.AggregateExpr)]


Exported = dict[str, dict[str, set[str]]]
"""By the names of metrics and of labels, the values that labels have."""


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Exported:
    folder = tmp_path_factory.mktemp("server")
    key, line = new_key("name")
    (folder / "keys").write_text(line)
    with ObservedServer(folder / "log", api_keys=str(folder / "keys")) as server:
        server.games.ListGames(ListGamesRequest(), metadata=(("x-api-key", key),))
        found: Exported = defaultdict(lambda: defaultdict(set))
        for name, labels in server.series():
            for label in OF_PROMETHEUS:
                found[name][label] = set()
            for label, value in labels:
                found[name][label].add(value)
    found["up"] = {label: set() for label in OF_PROMETHEUS}
    for labels in found.values():
        if "code" in labels:
            labels["code"] = {code.name for code in grpc.StatusCode}
    return found


@pytest.mark.parametrize(("name", "expression"), [*alert_expressions(), *dashboard_expressions()])
def test_expressions_ask_for_what_is_exported(
    name: str, expression: str, exported: Exported
) -> None:
    tree = parse(expression)
    assert list(selectors(tree))
    for selector in selectors(tree):
        assert selector.name in exported
        labels = exported[selector.name]
        for matcher in selector.matchers.matchers:
            assert matcher.name in labels
            known = labels[matcher.name]
            if matcher.name in OF_PROMETHEUS:
                continue
            if matcher.op == promql_parser.MatchOp.Equal:
                assert matcher.value in known
            else:
                # Each alternative stands for something, not just one of them.
                for alternative in matcher.value.split("|"):
                    assert any(re.fullmatch(alternative, value) for value in known), alternative
    for aggregate in aggregates(tree):
        if aggregate.modifier is not None:
            for selector in selectors(aggregate.expr):
                assert set(aggregate.modifier.labels) <= set(exported[selector.name])


def test_the_test_finds_what_is_wrong(exported: Exported) -> None:
    for expression in (
        "aleator_call_total",
        'aleator_calls_total{codes="OK"}',
        'aleator_calls_total{code="KO"}',
        'aleator_calls_total{code=~"OK|KO"}',
        'rate(aleator_calls_total{method="aleator.v1.GameService/ListMove"}[5m])',
        "sum by (game) (aleator_calls_total)",
    ):
        with pytest.raises(AssertionError):
            test_expressions_ask_for_what_is_exported("", expression, exported)


def test_the_dashboard_fits_together() -> None:
    everything = DASHBOARD["panels"]
    assert len({panel["id"] for panel in everything}) == len(everything)
    assert len(panels()) > 15
    taken = set()
    for panel in everything:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        cells = {
            (place["x"] + column, place["y"] + line)
            for column in range(place["w"])
            for line in range(place["h"])
        }
        assert not cells & taken, panel["title"]
        taken |= cells
    for panel in panels():
        assert panel["fieldConfig"]["defaults"]["unit"]
        references = [target["refId"] for target in panel["targets"]]
        assert len(set(references)) == len(references)


promtool = pytest.mark.skipif(
    shutil.which("promtool") is None, reason="needs promtool, of Debian's package prometheus"
)


@promtool
@pytest.mark.parametrize(
    "arguments",
    [["check", "config", "prometheus.yml"], ["test", "rules", "alerts_test.yml"]],
    ids=["config", "rules"],
)
def test_promtool_passes(arguments: list[str]) -> None:
    done = subprocess.run(
        ["promtool", *arguments],
        cwd=DEPLOY / "prometheus",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_alert_is_tried() -> None:
    tried = (DEPLOY / "prometheus/alerts_test.yml").read_text()
    for name, _ in alert_expressions():
        assert f'alertname="{name}"' in tried


def test_all_go_by_the_same_name_of_the_job() -> None:
    for path in ("prometheus/prometheus.yml", "kubernetes/prometheus.yml"):
        (job,) = yaml.safe_load((DEPLOY / path).read_text())["scrape_configs"]
        assert job["job_name"] == "aleator"
