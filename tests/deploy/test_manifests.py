"""Everything under deploy/ is valid, and starts the server with settings that it has."""

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

DEPLOY = Path(__file__).parents[2] / "deploy"
KUBERNETES = DEPLOY / "kubernetes"
ALEATOR = Path(sys.executable).with_name("aleator")


def resources() -> list[dict[str, Any]]:
    """What kustomization.yaml names."""
    named = yaml.safe_load((KUBERNETES / "kustomization.yaml").read_text())["resources"]
    return [
        resource
        for name in named
        for resource in yaml.safe_load_all((KUBERNETES / name).read_text())
    ]


def of_kind(kind: str) -> dict[str, Any]:
    (found,) = [resource for resource in resources() if resource["kind"] == kind]
    return found


def container() -> dict[str, Any]:
    (found,) = of_kind("Deployment")["spec"]["template"]["spec"]["containers"]
    return found


def settings_of(arguments: Sequence[str], environment: dict[str, str]) -> dict[str, Any]:
    """What the server makes of a command and its environment."""
    command, *flags = arguments
    assert command == "serve"
    own = {name: value for name, value in os.environ.items() if not name.startswith("ALEATOR_")}
    done = subprocess.run(
        [ALEATOR, "config", *flags],
        env=own | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return tomllib.loads(done.stdout)


@pytest.mark.parametrize("resource", resources(), ids=lambda resource: resource["kind"])
def test_resources_are_as_kubernetes_has_them(resource: dict[str, Any]) -> None:
    for release in ("1.33", kubernetes_validate.latest_version()):
        kubernetes_validate.validate(resource, release, strict=True)


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="needs kubectl")
def test_kustomize_builds_them() -> None:
    done = subprocess.run(
        ["kubectl", "kustomize", KUBERNETES], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert len(list(yaml.safe_load_all(done.stdout))) == len(resources())


def test_the_pods_serve_where_probes_and_services_look() -> None:
    found = container()
    environment = {
        variable["name"]: variable.get("value")
        or str(
            found["resources"]["limits"][
                variable["valueFrom"]["resourceFieldRef"]["resource"].removeprefix("limits.")
            ]
        )
        for variable in found["env"]
    }
    settings = settings_of(found["args"], environment)
    ports = {port["name"]: port["containerPort"] for port in found["ports"]}
    assert settings["listen"] == f"0.0.0.0:{ports['grpc']}"
    assert settings["metrics_listen"] == f"0.0.0.0:{ports['metrics']}"
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert found[probe]["grpc"]["port"] == ports["grpc"]
    # Ended calls, before Kubernetes ends the pod; and memory for all trees.
    pod = of_kind("Deployment")["spec"]["template"]["spec"]
    wait = found["lifecycle"]["preStop"]["sleep"]["seconds"]
    assert wait + settings["grace"] < pod["terminationGracePeriodSeconds"]
    assert found["resources"]["limits"]["memory"] == "1Gi"
    assert settings["workers"] * settings["memory"] + 200 * 2**20 < 2**30
    labels = of_kind("Deployment")["spec"]["template"]["metadata"]["labels"].items()
    selectors = [
        resource["spec"]["selector"] for resource in resources() if resource["kind"] == "Service"
    ]
    selectors.append(of_kind("PodDisruptionBudget")["spec"]["selector"]["matchLabels"])
    selectors.append(of_kind("NetworkPolicy")["spec"]["podSelector"]["matchLabels"])
    for selector in selectors:
        assert selector.items() <= labels


def test_the_autoscaler_goes_by_a_metric_that_is_exported() -> None:
    (metric,) = of_kind("HorizontalPodAutoscaler")["spec"]["metrics"]
    name = metric["pods"]["metric"]["name"]
    adapter = yaml.safe_load((KUBERNETES / "prometheus-adapter.yaml").read_text())
    (rule,) = adapter["rules"]["custom"]
    assert rule["name"]["as"] == name
    exported = Path(__file__).parents[2] / "service/telemetry/metrics.py"
    assert f'"{rule["name"]["matches"]}"' in exported.read_text()


def test_the_compose_file_is_one() -> None:
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec"]
    done = subprocess.run(
        [*check, DEPLOY / "compose.yaml"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_the_compose_file_serves_where_prometheus_looks() -> None:
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    server = services["aleator"]
    settings = settings_of(server["command"], server["environment"])
    assert settings["workers"] == server["cpus"]
    scraped = yaml.safe_load((DEPLOY / "prometheus/prometheus.yml").read_text())
    (target,) = scraped["scrape_configs"][0]["static_configs"][0]["targets"]
    assert target == f"aleator:{settings['metrics_listen'].rpartition(':')[2]}"
    for service in services.values():
        for volume in service.get("volumes", ()):
            source = volume.split(":")[0]
            assert not source.startswith(".") or (DEPLOY / source).exists(), volume
        for port in service["ports"]:
            assert port.startswith("127.0.0.1:")


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_the_unit_is_valid_and_hardened(tmp_path: Path) -> None:
    unit = (DEPLOY / "systemd/aleator.service").read_text()
    here = tmp_path / "aleator.service"
    here.write_text(unit.replace("/opt/aleator/bin/aleator", str(ALEATOR)))
    done = subprocess.run(
        ["systemd-analyze", "verify", here], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--threshold=20", here],
        capture_output=True,
        check=True,
    )


def test_the_unit_starts_the_server_with_the_printed_settings(tmp_path: Path) -> None:
    unit = (DEPLOY / "systemd/aleator.service").read_text()
    (start,) = [line for line in unit.splitlines() if line.startswith("ExecStart=")]
    program, *arguments = start.removeprefix("ExecStart=").split()
    assert program.endswith("/aleator")
    file = tmp_path / "aleator.toml"
    printed = subprocess.run([ALEATOR, "config"], capture_output=True, text=True, check=True)
    file.write_text(printed.stdout)
    arguments = [word.replace("/etc/aleator/aleator.toml", str(file)) for word in arguments]
    settings = settings_of(arguments, {})
    (stop,) = [line for line in unit.splitlines() if line.startswith("TimeoutStopSec=")]
    assert settings["grace"] < float(stop.partition("=")[2].removesuffix("s"))
