"""The benchmark runs and measures everything that it promises."""

import json
import subprocess
import sys
from pathlib import Path
from runpy import run_module

import pytest

ROOT = Path(__file__).parents[2]


def test_bench_measures_playouts_searches_and_calls(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # Too short to tell anything, but all that is done.
    monkeypatch.setattr("bench.engine.SAMPLE", 0.02)
    monkeypatch.setattr("bench.wire.CALLS", 80)
    monkeypatch.setattr("bench.wire.SINGLE_CALLS", 20)
    monkeypatch.setattr(sys, "argv", ["bench", "roygbiv", "--rounds", "1", "--json"])
    with pytest.raises(SystemExit) as end:
        run_module("bench", run_name="__main__")
    assert not end.value.code
    figures = json.loads(capsys.readouterr().out)
    medians = {figure["name"]: figure["median"] for figure in figures}
    assert set(medians) == {
        "random playouts, 1 thread",
        "random simulations, 1 thread",
        "random playouts : random simulations",
        "simulations, 1 thread",
        "simulations, 2 threads",
        "simulations, 2 threads : 1",
        "SuggestMove, calls",
        "SuggestMove, latency",
        "SuggestMove, server time",
        "SuggestMove : echo, calls",
        "SuggestMove : echo, server time",
        "echo, calls",
        "echo, latency",
        "echo, server time",
    }
    assert all(median > 0 for median in medians.values())


def test_sizing_measures_every_call() -> None:
    command = [sys.executable, "-m", "bench.sizing", "roygbiv", "--seconds", "0.1", "--rounds", "1"]
    result = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=100, check=True
    )
    _, _, *rows = result.stdout.splitlines()
    calls = [row.split(" | ") for row in rows]
    assert [call[1] for call in calls] == [
        "ListMoves",
        "SuggestMove, 100 simulations",
        "SuggestMove, 1,000 simulations",
        "SuggestMove, 10,000 simulations",
    ]
    assert all(0 < float(call[2].removesuffix(" ms").replace(",", "")) < 10_000 for call in calls)
