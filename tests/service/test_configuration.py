"""Settings from flags, environment and a file: which goes before which, and what is refused."""

import re
import tomllib
from pathlib import Path

import pytest
from pydantic import SecretStr
from typer.testing import CliRunner

from aleator.search.errors import InvalidInput
from aleator.service.cli.app import app
from aleator.service.configuration import Configuration, load
from aleator.service.settings import Settings


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [*Settings.model_fields, "config"]:
        monkeypatch.delenv(f"ALEATOR_{name.upper()}", raising=False)


def test_a_flag_goes_before_the_environment_and_that_before_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "aleator.toml"
    file.write_text('queue = 1\nworkers = 3\nmax_time = "1m30s"\nmemory = "64MiB"\n')
    monkeypatch.setenv("ALEATOR_QUEUE", "2")
    monkeypatch.setenv("ALEATOR_WORKERS", "4")
    monkeypatch.setenv("ALEATOR_CONFIG", str(file))
    monkeypatch.setenv("ALEATOR_SERVICE_HOST", "10.0.0.1")  # as Kubernetes sets it
    configuration = load({"queue": "5", "workers": None})
    settings = configuration.settings
    assert (settings.queue, settings.workers) == (5, 4)
    assert (settings.max_time, settings.memory) == (90.0, 64 * 2**20)
    assert settings.grace == Settings().grace
    assert configuration.origins == {
        "queue": "--queue",
        "workers": "ALEATOR_WORKERS",
        "max_time": str(file),
        "memory": str(file),
    }


def test_a_setting_is_a_flag_and_config_prints_what_is_a_file_again(tmp_path: Path) -> None:
    settings = Settings().model_dump(mode="json")
    help_text = CliRunner().invoke(app, ["serve", "--help"]).output
    for name in settings:
        assert re.search(rf"--{name.replace('_', '-')}\b", help_text)
    printed = CliRunner().invoke(app, ["config", "--workers", "7", "--grace", "500ms"]).output
    assert "workers = 7 # --workers\n" in printed
    file = tmp_path / "aleator.toml"
    file.write_text(printed)
    again = CliRunner().invoke(app, ["config", "--config", str(file)]).output
    given = {name: value for name, value in settings.items() if value is not None}
    assert tomllib.loads(again) == tomllib.loads(printed) == given | {"workers": 7, "grace": 0.5}


def test_everything_wrong_is_told_at_once_with_where_it_was_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "aleator.toml"
    file.write_text(
        'wokers = 3\nmax_time = "soon"\nlisten = 3\nmax-thread = 2\ntls = "a.pem"\ncolour = 1\n'
    )
    monkeypatch.setenv("ALEATOR_MEMORY", "much")
    monkeypatch.setenv("ALEATOR_API_KEY", "keys.toml")
    monkeypatch.setenv("ALEATOR_TLS_CERT", "server.pem")
    monkeypatch.setenv("ALEATOR_METRICS_PORT", "tcp://10.0.0.1:9464")  # as Kubernetes may set it
    result = CliRunner().invoke(app, ["config", "--config", str(file), "--queue", "-1"])
    assert result.exit_code == 2
    assert result.stdout == ""
    assert set(result.stderr.splitlines()) == {
        f"wokers: is no setting; the nearest is workers ({file})",
        f"max-thread: is no setting; the nearest is max_threads ({file})",
        f"tls: is no setting; the nearest are tls_certificate, tls_key, tls_client_ca ({file})",
        f"colour: is no setting; `aleator config` prints all ({file})",
        f"max_time: must be seconds, or a duration such as 50ms or 1m30s, not 'soon' ({file})",
        f"listen: must be text, not 3 ({file})",
        "memory: must be bytes, or a size such as 256MiB, not 'much' (ALEATOR_MEMORY)",
        "queue: must be at least 0, not '-1'",
        "ALEATOR_API_KEY: is no setting; the nearest is ALEATOR_API_KEYS",
        "ALEATOR_TLS_CERT: is no setting; the nearest is ALEATOR_TLS_CERTIFICATE",
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [("a = = b", "is no TOML"), ("\udcff", "is no TOML"), (None, "cannot be read")],
)
def test_a_file_that_cannot_be_read(tmp_path: Path, text: str | None, message: str) -> None:
    file = tmp_path / "aleator.toml"
    if text is not None:
        file.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(InvalidInput, match=f"^config: {message}"):
        load({}, file)


def test_secrets_are_masked() -> None:
    class WithSecret(Settings):
        secret: SecretStr = SecretStr("sesame")

    printed = Configuration(WithSecret(), {}).toml()
    assert "secret = " in printed
    assert "sesame" not in printed


def test_the_memory_of_all_searches_is_bounded() -> None:
    assert Settings(workers=4, memory=2**28).search_memory == 2**28
    assert Settings(workers=4, memory=2**28, total_memory=2**29).search_memory == 2**27
    with pytest.raises(InvalidInput, match=r"^total_memory: must be at least 4194304"):
        load({"workers": "4", "total_memory": "3MiB"})
