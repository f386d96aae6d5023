"""What to install for the parts of Aleator that not everybody needs."""

import sys


def install(extra: str) -> str:
    """The command that installs an extra for the Python that runs this."""
    return f"{sys.executable} -m pip install 'aleator[{extra}]'"
