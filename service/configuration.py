"""Where a server's settings come from: flags, environment, file, defaults, in this order.

A setting has one name. It is `--max-time` as a flag, `ALEATOR_MAX_TIME` in the environment and
`max_time` in the TOML file, which `--config FILE` or `ALEATOR_CONFIG` names. Keys of the file that
are no setting's are errors, and so are variables that look like one misspelt. Other variables are
ignored, since an orchestrator sets such for its own use (Kubernetes sets `ALEATOR_SERVICE_HOST`
beside a service named aleator).
"""

import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import tomlkit
from pydantic_settings import EnvSettingsSource
from pydantic_settings.exceptions import SettingsError
from tomlkit.items import Item

from aleator.search.errors import InvalidInput, Violation
from aleator.search.games.base import read_model
from aleator.service.settings import Settings

PREFIX = "ALEATOR_"
"""What the names of variables begin with."""
CONFIG = "ALEATOR_CONFIG"
"""The variable that names the file, where no flag does."""
_ALIKE = 0.75
"""How alike a variable's name must be to that of a setting, of 1, to be taken for a mistake."""


@dataclass(frozen=True)
class Configuration:
    """Settings, and where they came from.

    Attributes
    ----------
    settings : Settings
    origins : mapping of str to str
        For each setting that is not at its default, where its value was found.
    """

    settings: Settings
    origins: Mapping[str, str]

    def toml(self) -> str:
        """Write all settings as a file that `load` reads, each with where it came from."""
        document = tomlkit.document()
        values = self.settings.model_dump(mode="json")  # masks secrets
        for name, value in values.items():
            origin = self.origins.get(name, "default")
            if value is None:  # TOML has no sign for it
                document.add(tomlkit.comment(f"{name} is not set"))
                continue
            item: Item = tomlkit.item(value)
            document.add(name, item.comment(origin))
        return document.as_string()


def load(flags: Mapping[str, object], file: Path | None = None) -> Configuration:
    """Read the settings.

    Parameters
    ----------
    flags : mapping of str to object
        What the command line gave; None stands for what it did not.
    file : Path, optional
        The file. Default: the one that the environment names, if it names one.

    Raises
    ------
    InvalidInput
        With a violation for everything wrong, which tells the setting and where it was set.
    """
    if file is None and (named := os.environ.get(CONFIG)):
        file = Path(named)
    wrong = list(_misspelt_variables())
    given = {name: value for name, value in flags.items() if value is not None}
    variables = _read_environment()
    keys = {} if file is None else _read_file(file)
    for key in [key for key in keys if key not in Settings.model_fields]:
        del keys[key]
        wrong.append(Violation(key, f"{_no_setting(key)} ({file})"))
    origins = dict.fromkeys(keys, f"{file}")
    origins |= {name: f"{PREFIX}{name.upper()}" for name in variables}
    origins |= {name: f"--{name.replace('_', '-')}" for name in given}
    try:
        settings = read_model(Settings, keys | variables | given)
    except InvalidInput as error:
        wrong += [_with_origin(violation, origins) for violation in error.violations]
    if wrong:
        raise InvalidInput(wrong)
    return Configuration(settings, origins)


def _read_environment() -> dict[str, Any]:
    try:
        return EnvSettingsSource(Settings)()
    except SettingsError as error:  # a list that is no JSON
        raise InvalidInput.at("environment", str(error)) from None


def _misspelt_variables() -> Iterator[Violation]:
    """Name the variables that are no setting's, but nearly."""
    known = ["CONFIG", *(name.upper() for name in Settings.model_fields)]
    for variable in sorted(os.environ):
        name = variable.removeprefix(PREFIX)
        if not variable.startswith(PREFIX) or name in known:
            continue
        begin = [setting for setting in known if setting.startswith(name)]
        near = begin if len(begin) == 1 else get_close_matches(name, known, 1, _ALIKE)
        if near:
            yield Violation(variable, f"is no setting; the nearest is {PREFIX}{near[0]}")


def _no_setting(key: str) -> str:
    """Say that a key of the file is no setting, and which are like it."""
    name = key.lower().replace("-", "_")
    begin = [setting for setting in Settings.model_fields if setting.startswith(name)]
    near = begin or get_close_matches(name, Settings.model_fields)
    if not near:
        return "is no setting; `aleator config` prints all"
    return f"is no setting; the nearest {'is' if len(near) == 1 else 'are'} {', '.join(near)}"


def _read_file(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidInput.at("config", f"cannot be read: {file}: {error.strerror}") from None
    except ValueError as error:
        raise InvalidInput.at("config", f"is no TOML: {file}: {error}") from None


def _with_origin(violation: Violation, origins: Mapping[str, str]) -> Violation:
    name = violation.path.partition(".")[0].partition("[")[0]
    origin = origins.get(name)
    if origin is None or origin.startswith("--"):  # the flag has the name of the setting
        return violation
    return Violation(violation.path, f"{violation.message} ({origin})")
