"""The script that loads a server for a long time, for a short one."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_a_loaded_server_answers_well_and_stops_cleanly():
    command = [sys.executable, "-m", "tools.soak", "--minutes", "0.1", "--clients", "6"]
    result = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=100, check=False
    )
    found = json.loads(result.stdout)
    assert found["calls"] > 10
    # On a busy machine answers may be late, which is for a calm one to tell.
    assert [fault for fault in found["faults"] if "DEADLINE_EXCEEDED" not in fault] == []
    assert found["stopped in, s"] < 15
    assert any(key.endswith(" OK") for key in found["by method and status"])
