"""Prints how fast Aleator is: `python -m bench GAME`, from the root of the repository."""

import json
from dataclasses import asdict
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from bench.engine import measure_engine, measure_growth
from bench.figures import Figure
from bench.wire import measure_wire


def bench(
    game: Annotated[str, typer.Argument(help="Id of a game, such as roygbiv.")],
    rounds: Annotated[int, typer.Option(min=1, help="Samples of each figure.")] = 7,
    *,
    long: Annotated[bool, typer.Option("--long", help="Measure long searches only.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure playouts, searches and calls; medians over rounds in which all take turns."""
    if long:
        figures = measure_growth(game, rounds)
    else:
        figures = measure_engine(game, rounds) + measure_wire(game, rounds)
    if as_json:
        typer.echo(json.dumps([asdict(figure) | {"median": figure.median} for figure in figures]))
    else:
        Console().print(_table(figures))


def _table(figures: list[Figure]) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("figure")
    for header in ("median", "lowest", "highest"):
        table.add_column(header, justify="right")
    table.add_column("unit")
    for figure in figures:
        values = (figure.median, min(figure.samples), max(figure.samples))
        table.add_row(figure.name, *map(_readable, values), figure.unit)
    return table


def _readable(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"


typer.run(bench)
