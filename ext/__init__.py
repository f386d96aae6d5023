"""Compiled code: the search and the rules it calls in its inner loop."""

from pathlib import Path


def include() -> str:
    """Where Cython finds `aleator.ext.core`, for the `include_path` of a game kept elsewhere."""
    here = Path(__file__).parent
    links = here.parent / "build" / "packages"  # of an installation in place, see setup.py
    return str(links if links.is_dir() else here.parent.parent)
