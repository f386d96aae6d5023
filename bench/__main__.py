"""Prints how fast Aleator is: `python -m bench GAME`, from the root of the repository."""

import json
from dataclasses import asdict
from typing import Annotated

import typer

from bench.engine import measure_engine, measure_growth
from bench.figures import show
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
        show(figures)


typer.run(bench)
