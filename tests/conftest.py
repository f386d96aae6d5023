"""Settings of all tests."""

import os

from hypothesis import settings

settings.register_profile("aleator", deadline=None)  # the machine may be busy
if "CI" not in os.environ:  # there hypothesis loads a profile of its own
    settings.load_profile("aleator")


def pytest_addoption(parser):
    parser.addoption(
        "--reference",
        metavar="MODULE",
        help="the module with the plain rules of a game, which the conformance kit tests alone",
    )
