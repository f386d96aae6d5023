"""A clock is never used up, and its time is spread over the game."""

import random
from typing import Any

import pytest

from aleator.search import Position
from aleator.search.clock import Clock

OVERHEAD = 0.005
"""Seconds at most that a move takes longer than it was given."""


def spent(
    game: str, options: dict[str, Any], clock: Clock, seed: int
) -> tuple[list[float], Position]:
    """What a seat spends on each of its decisions in a game of random moves."""
    rng = random.Random(seed)
    position = Position.create(game, options, seed=seed)
    times = []
    while not position.finished:
        if 0 in position.seats_to_act and len(position.moves(0)) > 1:
            budget = clock.budget(position, 0)
            took = budget + rng.random() * min(OVERHEAD, 0.5 * (clock.left - budget))
            assert 0 < took < clock.left
            clock.spend(took)
            clock.left += clock.increment
            times.append(took)
        moves = {seat: rng.choice(position.moves(seat)) for seat in position.seats_to_act}
        position, _ = position.apply(moves, seed=rng.getrandbits(64))
    return times, position


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("time", [5.0, 300.0])
@pytest.mark.parametrize("game", ["roygbiv", "my_shelfie", "riviera"])
def test_time_is_spread_over_the_game(game: str, time: float, seed: int) -> None:
    times, _ = spent(game, {}, Clock(time), seed)
    half = len(times) // 2
    assert sum(times[:half]) < 0.85 * time
    if game != "riviera":  # whose length is hard to tell
        assert sum(times) > 0.6 * time
        assert max(times) < 5 * time / len(times)


@pytest.mark.parametrize("time", [30.0, 300.0])
def test_the_longest_game_goes_on_to_its_end(time: float) -> None:
    times, position = spent("generator", {}, Clock(time), 1)
    assert position.record["rolls"] > 1000
    quarter = len(times) // 4
    assert sum(times[:quarter]) < 0.8 * time
    assert min(times) > time / 30_000


def test_increments_are_spent() -> None:
    clock = Clock(10.0, increment=2.0)
    times, _ = spent("roygbiv", {}, clock, 1)
    assert sum(times) > 0.8 * len(times) * 2.0
    assert clock.left < 11.0
