"""A seat follows its game by the events, as far as they tell all that it sees."""

import copy
import random
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

from aleator.search import Position
from aleator.search.errors import InvalidInput
from aleator.search.games import Record

FOLLOWED = ("generator", "my_shelfie", "roygbiv")
CASES = [case for game in FOLLOWED for case in import_module(f"tests.reference.{game}").CASES]


def random_plies(
    game: str, options: dict[str, Any], seed: int
) -> Iterator[tuple[Position, list[Record], Position]]:
    """A random game: each position, the events of the move made in it, and the next position."""
    rng = random.Random(seed)
    position = Position.create(game, options, seed=seed)
    while not position.finished:
        seat = position.acting_seat()
        after, events = position.apply({seat: rng.choice(position.moves())}, rng.getrandbits(64))
        yield position, [event.record for event in events], after
        position = after


def seen(events: list[Record], position: Position, after: Position, seat: int) -> list[Record]:
    """Events with the die that a seat drew, which it sees."""
    events = copy.deepcopy(events)
    for event in events:
        if position.game == "roygbiv" and event.get("drew", {}).get("seat") == seat:
            played = events[0]["played"]["value"]
            old, new = (sum(one.record["hands"][seat]["dice"]) for one in (position, after))
            event["drew"]["value"] = new - old + played
    return events


@pytest.mark.parametrize(("game", "options"), CASES, ids=str)
def test_events_tell_what_a_seat_knows(game: str, options: dict[str, Any]) -> None:
    rng = random.Random(1)
    followers: dict[int, tuple[Position, list[Record]]] = {}
    for position, events, after in random_plies(game, options, 1):
        for seat in range(position.seats):
            known, missed = followers.get(seat, (position.observe(seat), []))
            missed = [*missed, *seen(events, position, after, seat)]
            if rng.random() < 0.5 or after.finished:
                known, missed = known.after_events(seat, missed), []
                assert known == after.observe(seat)
            followers[seat] = (known, missed)


@pytest.mark.parametrize(("game", "options"), CASES, ids=str)
def test_events_that_cannot_be_are_named(game: str, options: dict[str, Any]) -> None:
    plies = list(random_plies(game, options, 2))
    rng = random.Random(2)
    for position, events, after in plies:
        told = seen(events, position, after, 0)
        index = rng.randrange(len(told))
        (event,) = told[index].values()
        change = rng.choice(["seat", "lost", "twice", "other"])
        if change == "seat":
            event["seat"] = event.get("seat", 0) + 1
        elif change == "lost":
            del told[index]
        elif change == "twice":
            told.insert(index, copy.deepcopy(told[index]))
        else:
            _, others, _ = rng.choice(plies)
            told[index] = copy.deepcopy(rng.choice(others))
        found = faults(position, told)
        if not found:  # another course of the game, or the same by chance
            assert change == "other"
        assert all(path.startswith("[") for path in found) or not told


def faults(position: Position, told: list[Record]) -> list[str]:
    """The places of what cannot be."""
    try:
        position.observe(0).after_events(0, told)
    except InvalidInput as error:
        return [violation.path for violation in error.violations]
    return []


def test_games_that_cannot_be_followed_by_events_say_so() -> None:
    with pytest.raises(InvalidInput, match="send the state"):
        Position.create("riviera", seed=1).after_events(0, [{"dealt": {"round": 1}}])
