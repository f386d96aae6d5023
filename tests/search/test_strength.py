"""Strength levels and the Elo scales of the games."""

import pytest

from aleator.search import Engine, Position, Strength, strength
from aleator.search.errors import InvalidInput
from aleator.search.games import game_ids
from aleator.search.limits import Limits
from aleator.search.strength import LEVELS, Calibration, Level, elo_range


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> Calibration:
    """A game whose levels are 100 Elo points apart, save that level 4 came out below level 3."""
    elos = [800, 900, 1000, 990, 1200, 1300, 1400, 1500, 1600, 1700.5]
    found = Calibration(
        game="roygbiv",
        options={},
        seed=1,
        anchor="greedy",
        levels=[
            {
                "simulations": 10 * 2**index,
                "margin": 0.1 - 0.01 * index,
                "breadth": max(0, 20 - 5 * index),
                "elo": elo,
                "interval": (elo - 50, elo + 50),
            }
            for index, elo in enumerate(elos)
        ],
        players=[],
        pairings=[],
    )
    monkeypatch.setattr(strength, "calibration", lambda game: found if game == "roygbiv" else None)
    return found


def test_levels_grow():
    settings = [Strength(level).settings("roygbiv") for level in range(1, 11)]
    assert settings == list(LEVELS)
    limited = [level.simulations for level in settings[:-1]]
    assert limited == sorted(set(limited))
    margins = [level.margin for level in settings]
    assert margins == sorted(set(margins), reverse=True)
    assert settings[-1] == Strength().settings("roygbiv") == Level(None, 0)
    for level in (0, 11):
        with pytest.raises(InvalidInput) as caught:
            Strength(level)
        assert caught.value.violations[0].path == "level"


def test_an_elo_between_levels_is_played_between_them(measured):
    assert elo_range("roygbiv") == (800, 1700)
    assert Strength(elo=800).settings("roygbiv") == Level(10, 0.1, 20)
    assert Strength(elo=1200).settings("roygbiv") == Level(160, pytest.approx(0.06))
    middle = Strength(elo=850).settings("roygbiv")
    assert middle == Level(round(10 * 2**0.5), pytest.approx(0.095), 18)
    found = [Strength(elo=elo).settings("roygbiv").simulations for elo in range(800, 1701, 10)]
    assert found == sorted(found)
    assert Strength(elo=1000).settings("roygbiv").simulations == 40
    assert Strength(elo=1001).settings("roygbiv").simulations == 80


@pytest.mark.parametrize(
    ("asked", "game", "message"),
    [
        ({"elo": 799}, "roygbiv", "elo: must be 800..1700 in roygbiv, not 799"),
        ({"elo": 1701}, "roygbiv", "elo: must be 800..1700 in roygbiv, not 1701"),
        ({"elo": float("nan")}, "roygbiv", "elo: must be 800..1700"),
        ({"elo": 1000}, "generator", "elo: is not known in generator: give a level"),
        ({"elo": 1000, "level": 3}, "roygbiv", "elo: must not be given beside a level"),
    ],
)
def test_an_elo_out_of_range_is_told(measured, asked, game, message):
    with pytest.raises(InvalidInput, match=message):
        Strength(**asked).settings(game)


def test_weak_levels_look_at_more_moves_and_choose_among_them():
    position = Position.create("roygbiv", seed=1)
    tried, chosen = [], []
    for level in (1, 10):
        analyses = [
            Engine().suggest(
                position, limits=Limits(simulations=20), strength=Strength(level), seed=seed
            )
            for seed in range(10)
        ]
        tried.append(min(len(analysis.candidates) for analysis in analyses))
        chosen.append(len({analysis.best_move for analysis in analyses}))
    assert tried[0] == 20 > tried[1]
    assert chosen[0] > chosen[1]


@pytest.mark.parametrize("game", game_ids())
def test_measured_strengths_are_of_the_levels_there_are(game):
    """Levels that were changed must be measured again."""
    found = strength.calibration(game)
    if found is None:
        pytest.skip("not measured yet")
    settings = [Level(level.simulations, level.margin, level.breadth) for level in found.levels]
    assert settings[:-1] == list(LEVELS[:-1])
    assert found.game == game
    assert Limits(simulations=found.levels[-1].simulations)
    for level in found.levels:
        assert level.interval[0] <= level.elo <= level.interval[1]
