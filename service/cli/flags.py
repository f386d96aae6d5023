"""The flags of commands that take the settings of a server, made from the list of settings."""

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typer
from pydantic.fields import FieldInfo

from aleator.service.configuration import CONFIG, Configuration, load
from aleator.service.settings import Settings

_CONFIG = inspect.Parameter(
    "config",
    inspect.Parameter.KEYWORD_ONLY,
    default=None,
    annotation=Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="TOML file of settings.", show_default=f"${CONFIG}"),
    ],
)


def with_settings(command: Callable[[Configuration], None]) -> Callable[..., None]:
    """Make a command of a function of the configuration: it gets `--config` and all settings.

    Values are read as texts, and checked all together.
    """

    @functools.wraps(command)
    def with_flags(*, config: Path | None, **flags: object) -> None:
        command(load(flags, config))

    parameters = [_CONFIG, *(_flag(*item) for item in Settings.model_fields.items())]
    with_flags.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    with_flags.__annotations__ = {flag.name: flag.annotation for flag in parameters}
    return with_flags


def _flag(name: str, field: FieldInfo) -> inspect.Parameter:
    types = get_args(field.annotation) if _is_union(field.annotation) else (field.annotation,)
    is_switch = bool in types
    default = field.get_default(call_default_factory=True, validated_data={})
    option: Any = typer.Option(
        help=field.description,
        metavar=None if is_switch else _metavar(types),
        show_default=False
        if default is None
        else str(default).lower()
        if is_switch
        else str(default),
    )
    annotation: Any = Annotated[bool | None if is_switch else str | None, option]
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation
    )


def _is_union(annotation: Any) -> bool:
    return get_origin(annotation) in {Union, UnionType}


def _metavar(types: tuple[Any, ...]) -> str:
    first = types[0]
    if get_origin(first) is Literal:
        return "|".join(get_args(first))
    return {int: "NUMBER", float: "DURATION", Path: "FILE"}.get(first, "TEXT")
