"""docs/strength.md is what its script writes from the results there are."""

import re

import pytest

from aleator.search.games import game_ids
from aleator.search.players import players_of
from aleator.search.strength import Calibration
from tools import strength


def test_the_page_is_as_written_from_the_results():
    assert strength.PAGE.read_text() == strength.page()
    for picture in re.findall(r"\((strength/.*?\.svg)\)", strength.page()):
        assert (strength.PAGE.parent / picture).read_text().startswith("<?xml")


@pytest.mark.parametrize("game", game_ids())
def test_references_are_players_of_their_game(game):
    players = players_of(game)
    if not players:
        pytest.skip("no players yet")
    for contest in strength.contests(game):
        against = contest.bots[1]
        assert against in {*players, "random"} or against.startswith("engine:")
        assert contest.players in {2, 4}


def test_a_page_of_a_game(monkeypatch, tmp_path):
    level = {"simulations": 20, "margin": 0.1, "breadth": 10, "elo": 900.4, "interval": (850, 950)}
    found = Calibration(
        game="roygbiv",
        options={},
        seed=1,
        anchor="greedy",
        levels=[level] * 10,
        players=[
            {"name": "greedy", "elo": 1000, "interval": (1000, 1000)},
            {"name": "random", "elo": 300, "interval": (200, 400)},
        ],
        pairings=[
            {
                "bots": ("engine:level=3,sims=80", "greedy"),
                "games": 40,
                "win_share": 0.421,
                "interval": (0.3, 0.5),
            }
        ],
    )
    monkeypatch.setattr(strength, "find_calibration", lambda _: found)
    monkeypatch.setattr(strength, "game_ids", lambda: ["roygbiv"])
    monkeypatch.setattr(strength, "FOLDER", tmp_path / "strength")
    monkeypatch.setattr(strength, "PAGE", tmp_path / "strength.md")
    strength.write()
    text = strength.PAGE.read_text()
    assert "| level 3 | 20 | 10 | 10% | 900 | 850 to 950 | 42.1% |" in text
    assert "| `greedy` | | | | 1000 | 1000 to 1000 | |" in text
    assert (tmp_path / "strength" / "roygbiv-levels.svg").exists()
    assert "time.svg" not in text


def test_matches_are_measured(monkeypatch, tmp_path):
    monkeypatch.setattr(strength, "FOLDER", tmp_path / "strength")
    monkeypatch.setattr(
        strength,
        "contests",
        lambda _: [
            strength.Contest("reference", ("engine:sims=5", "greedy"), players=3),
            strength.Contest("time", ("engine:time=1ms", "random")),
        ],
    )
    strength.measure("roygbiv", ["reference", "time"], pairs=2, workers=1, folder=tmp_path)
    three, timed = strength.contest_results("roygbiv")
    assert three["games"] == 6
    assert timed["games"] == 4
    assert "| `engine:sims=5` | `greedy` | 3 | 6 |" in strength._contest_table([three])
    strength.draw_times("roygbiv", [timed], tmp_path / "time.svg")
    assert "milliseconds" in (tmp_path / "time.svg").read_text()
