"""What tests of refused input have in common."""

import pytest

from aleator.search.errors import InvalidInput
from aleator.search.games import codec


def refused(function, *arguments):
    """The error that a call must raise."""
    with pytest.raises(InvalidInput) as caught:
        function(*arguments)
    return caught.value


def refused_state(game, record, **options):
    """The error of a typed state that must be refused."""
    return refused(codec(game, options).read_state, record)


def paths(error):
    """The places of all that is wrong."""
    return [path for path, _ in error.violations]
