"""The games that the conformance kit tests: every registered one, or the one of `--reference`."""

from dataclasses import dataclass
from importlib import import_module
from types import ModuleType

from aleator.search.games import game_ids


@dataclass(frozen=True, eq=False)
class Case:
    """A game under options, and its plain rules to compare with."""

    game: str
    options: dict
    reference: ModuleType

    def __str__(self):
        return f"{self.game}-{self.options}"


def pytest_generate_tests(metafunc):
    if "case" in metafunc.fixturenames:
        named = metafunc.config.getoption("reference")
        names = [named] if named else [f"tests.reference.{game}" for game in game_ids()]
        metafunc.parametrize("case", _cases(names), ids=str)


def _cases(names):
    return [
        Case(game, options, reference)
        for reference in map(import_module, names)
        for game, options in reference.CASES
    ]
