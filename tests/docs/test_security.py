"""What docs/security.md gives for trying out TLS and keys works, from the certificate on."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from aleator.service.api_keys import new_key
from tests.service.process import ServerProcess

PAGE = (Path(__file__).parents[2] / "docs" / "security.md").read_text()


def lines(start):
    """The lines of the page that start with something."""
    return re.findall(f"^{start} .*$", PAGE, re.MULTILINE)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
def test_the_way_from_a_certificate_to_a_call(tmp_path):
    key, line = new_key("web-app")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = os.environ | {"KEY": key, "PATH": path}

    def run(command):
        done = subprocess.run(
            ["sh", "-ec", command],
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}"
        return done.stdout

    (make_certificate,) = lines("openssl")
    run(make_certificate)
    (tmp_path / "keys.toml").write_text(f"{line}\n")
    settings = {
        "listen": "127.0.0.1:0",
        "tls_certificate": str(tmp_path / "server.pem"),
        "tls_key": str(tmp_path / "server.key"),
        "api_keys": str(tmp_path / "keys.toml"),
    }
    with ServerProcess(json.dumps(settings)) as server:
        address = f"localhost:{server.address.rpartition(':')[2]}"
        (ask_health,), (call,) = lines("aleator health"), lines("grpcurl")
        run(ask_health.replace("localhost:50051", address))
        if shutil.which("grpcurl"):
            assert "roygbiv" in run(call.replace("localhost:50051", address))
        (program,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
        (tmp_path / "program.py").write_text(program.replace("localhost:50051", address))
        assert "'roygbiv'" in run("python program.py")
