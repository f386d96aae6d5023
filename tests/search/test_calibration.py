"""Calibration of levels, with few and short matches."""

import pytest

from aleator.search import StopFlag, calibration, strength
from aleator.search.calibration import calibrate, find_pairings
from aleator.search.errors import InvalidInput
from aleator.search.games import game_ids
from aleator.search.match import MatchStopped
from aleator.search.players import players_of
from aleator.search.strength import Calibration, Level


@pytest.fixture
def three_levels(monkeypatch):
    levels = (Level(2, 0.2), Level(5, 0.1), Level(None, 0.0))
    monkeypatch.setattr(strength, "LEVELS", levels)
    monkeypatch.setattr(calibration, "LEVELS", levels)
    monkeypatch.setattr(calibration, "TOP_SIMULATIONS", 10)


def test_a_calibration(three_levels):
    reports = []
    found = calibrate("roygbiv", pairs=2, seed=1, progress=reports.append)
    assert Calibration.model_validate_json(found.model_dump_json()) == found
    assert [level.simulations for level in found.levels] == [2, 5, 10]
    ratings = {player.name: player.elo for player in found.players}
    assert found.anchor == "greedy"
    assert ratings["greedy"] == 1000
    assert ratings["random"] < 900
    met = [pairing.bots for pairing in found.pairings]
    assert met == find_pairings("roygbiv")
    assert len(met) == 3 + 2 + 2
    assert reports[0] == (0, 0, 4 * len(met))
    assert reports[-1][0] == 4 * len(met)
    assert [report.games for report in reports] == sorted(report.games for report in reports)


def test_a_calibration_goes_on_where_it_was_stopped(three_levels, tmp_path):
    stop = StopFlag()

    def watch(progress):
        if progress.games == 10:
            stop.set()

    with pytest.raises(MatchStopped):
        calibrate("roygbiv", pairs=2, seed=1, folder=tmp_path, progress=watch, stop=stop)
    reports = []
    found = calibrate("roygbiv", pairs=2, seed=1, folder=tmp_path, progress=reports.append)
    assert sum(report.moves > 0 for report in reports) < 5 * 4 * 50
    assert found == calibrate("roygbiv", pairs=2, seed=1)


@pytest.mark.parametrize("game", game_ids())
def test_everybody_meets_others(game):
    pairings = find_pairings(game)
    names = {name for bots in pairings for name in bots}
    assert len(names) == 10 + len(players_of(game)) + 1
    assert len({frozenset(bots) for bots in pairings}) == len(pairings)
    met = {pairings[0][0]}
    for _ in pairings:
        met |= {name for bots in pairings if met & set(bots) for name in bots}
    assert met == names


def test_what_cannot_go_on_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match="seed: is missing"):
        calibrate("roygbiv", pairs=1, folder=tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(InvalidInput, match="folder: "):
        calibrate("roygbiv", pairs=1, seed=1, folder=tmp_path / "file")
