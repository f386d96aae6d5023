"""What of a position can have come of an earlier one: no false alarms, and what is found."""

import copy
import random
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import pytest

from aleator.search import Move, Position
from aleator.search.errors import InvalidInput
from aleator.search.games import Record, game_ids

CASES = [case for game in game_ids() for case in import_module(f"tests.reference.{game}").CASES]
LONGEST = 250
"""Plies of a game that are looked at."""
GAMES = 3

# What shows where of the moves of a game, so that another one than was answered must be noticed.
SHOWN = {
    "generator": {
        "pass_turn": ("seats", "seat_to_act"),
        "enter": ("seats",),
        "step": ("seats",),
    },
    "my_shelfie": {"circle": ("sheets",), "cross": ("sheets",)},
    "riviera": {
        "play": ("seats",),
        "last_chance": ("seats",),
        "crash": ("seats",),
        "stop": ("seats",),
        "more": ("seats",),
        "turn": ("dice",),
        "swap": ("exchanges",),
        "redraw": ("exchanges",),
    },
    "roygbiv": {"value": ("cells", "played", "hands")},
}


class Watcher:
    """What a seat is told of a game: every position, or some."""

    def __init__(self, position: Position, seat: int, share: float | None) -> None:
        self.seat = seat
        self.share = share
        self.position = position.observe(seat)
        self.answered: Move | None = None

    def see(self, position: Position, rng: random.Random) -> None:
        acts = self.seat in position.seats_to_act
        if acts if self.share is None else rng.random() < self.share:
            told = position if rng.random() < 0.5 else position.observe(self.seat)
            self.position = told.following(self.position, self.seat, self.answered)
            assert self.position == position.observe(self.seat)
            self.answered = None

    def decide(self, position: Position, move: Move) -> None:
        if position.observe(self.seat) == self.position:
            self.answered = move


def random_moves(position: Position, rng: random.Random) -> dict[int, Move]:
    """Moves of all seats to act, or of some of those that choose at once."""
    seats = list(position.seats_to_act)
    if rng.random() < 0.5:
        seats = rng.sample(seats, rng.randint(1, len(seats)))
    return {seat: rng.choice(position.moves(seat)) for seat in seats}


def random_plies(
    game: str, options: dict[str, Any], seed: int
) -> Iterator[tuple[Position, dict[int, Move], Position]]:
    """A random game: each position, the moves made in it, and the next one."""
    rng = random.Random(seed)
    position = Position.create(game, options, seed=seed)
    for _ in range(LONGEST):
        if position.finished:
            return
        moves = random_moves(position, rng)
        after, _ = position.apply(moves, seed=rng.getrandbits(64))
        yield position, moves, after
        position = after


def faults(after: Position, before: Position, seat: int, answered: Move | None = None) -> list[str]:
    """The fields that are found impossible."""
    try:
        after.following(before.observe(seat), seat, answered)
    except InvalidInput as error:
        return [violation.path for violation in error.violations]
    return []


@pytest.mark.parametrize(("game", "options"), CASES, ids=str)
def test_what_happens_is_never_found_impossible(game: str, options: dict[str, Any]) -> None:
    for number in range(GAMES):
        rng = random.Random(number)
        watchers: list[Watcher] = []
        for position, moves, after in random_plies(game, options, number):
            watchers = watchers or [
                Watcher(position, seat, share)
                for seat in range(position.seats)
                for share in (1.0, 0.4, 0.1, None)
            ]
            for watcher in watchers:
                if watcher.seat in moves:
                    watcher.decide(position, moves[watcher.seat])
                watcher.see(after, rng)


@pytest.mark.parametrize(("game", "options"), CASES, ids=str)
def test_another_move_than_answered_is_noticed(game: str, options: dict[str, Any]) -> None:
    rng = random.Random(1)
    noticed = 0
    plies = (ply for seed in range(GAMES) for ply in random_plies(game, options, seed))
    for position, moves, after in plies:
        (seat, made) = rng.choice(list(moves.items()))
        other = rng.choice(position.moves(seat))
        kind = next(iter(other.record))
        same_round = game != "riviera" or position.record["round"] == after.record["round"]
        revealed = (
            not after.same_decision(position, seat)
            and "choice" not in after.observe(seat).record.get("seats", [{}] * 9)[seat]
        )
        if other.code == made.code or kind not in SHOWN[game] or not (same_round and revealed):
            continue
        if kind == "more" and next(iter(made.record)) != "stop":
            continue
        found = faults(after, position, seat, other)
        assert found, (position, made, other)
        assert all(path.startswith(SHOWN[game][kind]) for path in found), (found, made, other)
        assert not faults(after, position, seat, made)
        noticed += 1
    assert noticed > 5


@pytest.mark.parametrize(("game", "options"), CASES, ids=str)
def test_what_was_before_does_not_follow(game: str, options: dict[str, Any]) -> None:
    for position, _, after in random_plies(game, options, 2):
        for seat in range(position.seats):
            if position.observe(seat) != after.observe(seat):
                assert faults(position, after, seat), (position, after)


def test_other_games_and_options_are_named() -> None:
    before = Position.create("roygbiv", seed=1)
    assert faults(Position.create("generator", seed=1), before, 0) == ["game"]
    other = Position.create("roygbiv", {"open_hands": True}, seed=1)
    assert faults(other, before, 0) == ["options.open_hands"]


def rise(record: Record, before: Record, seat: int) -> str | None:
    """One point more for the seat."""
    if "scores" in record:
        record["scores"][seat] += 1
        return "scores"
    if record["round"] != before["round"]:
        return None
    record["seats"][seat]["score"] += 1
    return f"seats[{seat}].score"


def other_die(record: Record, before: Record, seat: int) -> str | None:
    """A die of the hand is another one than before, though the seat has not played."""
    hand, old = (one["hands"][seat]["dice"] for one in (record, before))
    if hand != old or not hand or before["seat_to_act"] == seat:
        return None
    hand[0] = hand[0] % 7 + 1
    return f"hands[{seat}].dice"


def fallen_die(record: Record, before: Record, _seat: int) -> str | None:
    """A die of the board shows less than before."""
    cell = next(cell for cell, face in enumerate(before["cells"]) if face > 1)
    record["cells"][cell] = before["cells"][cell] - 1
    return f"cells[{cell}]"


def turned_roll(record: Record, before: Record, _seat: int) -> str | None:
    """The pieces stand as after the roll before, but nobody has moved."""
    if "rolled" not in record:
        return None
    record["seats"] = copy.deepcopy(before["seats"])
    record["seats"][0]["stacks"].append({"node": "YYYY", "pieces": "S"})
    record["seats"][0].pop("stash")
    return "seats[0].stacks"


def lost_mark(record: Record, before: Record, seat: int) -> str | None:
    """A circle has gone."""
    for space, mark in enumerate(before["sheets"][seat]["spaces"]):
        if mark == 1:
            record["sheets"][seat]["spaces"][space] = 0
            return f"sheets[{seat}].spaces[{space}]"
    return None


def more_marks(record: Record, before: Record, seat: int) -> str | None:
    """A seat has circled a row that did not have its turn."""
    sheet = record["sheets"][seat]["spaces"]
    if seat == before["seat_to_act"] or sheet[15:20] != [0] * 5:
        return None
    sheet[15:19] = [1] * 4
    return "sheets["


def lost_card(record: Record, before: Record, seat: int) -> str | None:
    """A card of the hand is another one."""
    if record["round"] != before["round"]:
        return None
    cards = record["hands"][seat]["cards"]
    shown = {card for hand in record["hands"] for card in hand["cards"]}
    shown |= {card for one in record["seats"] for card in one["played"]}
    colours = {die["colour"] for die in record["dice"]} - {"*"}
    unseen = [f"{c}{v}" for c in sorted(colours) for v in range(1, 13) if f"{c}{v}" not in shown]
    if not cards or not unseen:
        return None
    cards[0] = unseen[0]
    return f"hands[{seat}].cards"


def other_token(record: Record, before: Record, _seat: int) -> str | None:
    """The Start token lies before another seat."""
    if record["round"] != before["round"] or record["phase"] == 6:
        return None
    record["token"] = (record["token"] + 1) % len(record["hands"])
    return "token"


def other_value(record: Record, before: Record, _seat: int) -> str | None:
    """A die shows something else in the same turn."""
    dice, old = record["dice"], before["dice"]
    same = all(record[name] == before[name] for name in ("round", "turn"))
    if not same or before["phase"] == 1 or not (dice[0].get("value") and old[0].get("value")):
        return None
    dice[0]["value"] = dice[0]["value"] % 6 + 1
    return "dice"


CHANGES: dict[str, list[Callable[[Record, Record, int], str | None]]] = {
    "generator": [turned_roll],
    "my_shelfie": [lost_mark, more_marks],
    "riviera": [rise, lost_card, other_token, other_value],
    "roygbiv": [rise, other_die, fallen_die],
}


@pytest.mark.parametrize(
    ("game", "change"),
    [(game, change) for game, changes in CHANGES.items() for change in changes],
)
def test_what_cannot_have_come_about_is_named(
    game: str, change: Callable[[Record, Record, int], str | None]
) -> None:
    noticed = 0
    for options in [options for other, options in CASES if other == game]:
        for position, _, after in random_plies(game, options, 3):
            for seat in range(position.seats):
                before = position.observe(seat)
                record = after.observe(seat).record
                field = change(record, before.record, seat)
                if field is None or (change is rise and after.finished):
                    continue
                try:
                    changed = Position.from_record(game, position.options, record)
                except InvalidInput:
                    continue
                found = faults(changed, position, seat)
                assert any(path.startswith(field) for path in found), (before, changed, found)
                noticed += 1
    assert noticed > 20


@pytest.mark.parametrize("options", [options for game, options in CASES if game == "riviera"])
def test_what_was_told_once_is_remembered(options: dict[str, Any]) -> None:
    remembered = 0
    plies = (ply for seed in range(GAMES) for ply in random_plies("riviera", options, seed))
    for position, _, after in plies:
        for seat in range(position.seats):
            before, full = position.observe(seat), after.observe(seat)
            if before.record["round"] != full.record["round"]:
                continue
            told = forget(full.record, before.record, seat)
            less = Position.from_record("riviera", position.options, told)
            remembered += less != full
            assert less.following(before, seat) == full
    assert remembered > 20


def forget(record: Record, before: Record, seat: int) -> Record:
    """A record without what follows from an earlier one."""
    if record["exchanges"] and len(record["exchanges"]) == len(before["exchanges"]):
        for exchange in record["exchanges"]:
            exchange.pop("given", None)
            exchange.pop("drawn", None)
        del record["discard"]
        for other, hand in enumerate(record["hands"]):
            if other != seat:
                hand["hidden_count"] = hand.get("hidden_count", 0) + len(hand["cards"])
                hand["cards"] = []
    for one, old in zip(record["seats"], before["seats"], strict=True):
        for name in ("last_chance", "crash"):
            if name in old:
                del one[name]
    return record
