"""Compiles the small games that tests of the search play: `coin.pyx`, `matrix.pyx`."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

from aleator.ext import include

SETUP = """
from Cython.Build import cythonize
from setuptools import Extension, setup
setup(ext_modules=cythonize([Extension({name!r}, [{name!r} + ".pyx"])], include_path=[{include!r}],
      language_level=3))
"""


def compile_game(name: str, folder: Path) -> ModuleType:
    """The module of a game beside this file, compiled in a folder."""
    source = Path(__file__).parent / f"{name}.pyx"
    (folder / source.name).write_text(source.read_text())
    (folder / "setup.py").write_text(SETUP.format(name=name, include=include()))
    subprocess.run(
        [sys.executable, "setup.py", "-q", "build_ext", "--inplace"],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    (library,) = folder.glob(f"{name}.*.so")
    spec = importlib.util.spec_from_file_location(name, library)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
