"""docs/trust.md is what its script writes from the results there are."""

import re

from tools import trust


def test_the_page_is_as_written_from_the_results():
    assert trust.PAGE.read_text() == trust.page()
    for picture in re.findall(r"\((trust/.*?\.svg)\)", trust.page()):
        assert (trust.PAGE.parent / picture).read_text().startswith("<?xml")


def test_a_game_is_measured(monkeypatch, tmp_path):
    found = trust.measure("roygbiv", simulations=10, games=4, repeats=3)
    assert found["moves"] == sum(row["moves"] for row in found["bins"]) > 4 * 40
    for row in found["bins"]:
        assert row["low"] <= row["outcome"] <= row["high"]
    # Both seats are asked, so what they win adds up to the games.
    total = sum(row["moves"] * row["outcome"] for row in found["bins"])
    assert 0.4 < total / found["moves"] < 0.6
    assert 0 <= found["covered"] <= 1
    trust.draw_reliability("roygbiv", found, tmp_path / "reliability.svg")
    assert "win share told" in (tmp_path / "reliability.svg").read_text()
