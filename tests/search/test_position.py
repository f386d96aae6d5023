"""Positions, limits and errors: who may ask what."""

import pytest

from aleator.search import Limits, Position
from aleator.search.errors import (
    FullStateRequired,
    GameFinished,
    HandHidden,
    IllegalMove,
    InvalidInput,
    SeatNotToAct,
    SeatRequired,
    UnknownGame,
)
from aleator.search.games import codec, game_ids, register
from aleator.search.games.roygbiv import RoygbivCodec
from aleator.search.limits import parse_duration

FINISHED = "roygbiv 7777777/7777777/7777777/7777777/7777777/7777777/7777777 7777777 -,- 300,200 -"


@pytest.fixture
def position():
    """Seat 0 to act in a new game."""
    return Position.create("roygbiv", seed=1, start_seat=0)


def paths(caught):
    return [violation.path for violation in caught.value.violations]


def test_a_new_game(position):
    assert position.game == "roygbiv"
    assert position.options == {"players": 2, "open_hands": False}
    assert position.seats == 2
    assert position.seats_to_act == (0,)
    assert position.scores == (0, 0)
    assert position.win_shares is None
    assert position.is_full
    assert not position.finished
    assert eval(repr(position)) == position
    assert Position.create("roygbiv") != Position.create("roygbiv")


def test_moves_of_seats(position):
    assert position.moves() == position.moves(0)
    with pytest.raises(SeatNotToAct, match="seat 1 is not to act; to act: 0"):
        position.moves(1)
    for seat in (-1, 2):
        with pytest.raises(InvalidInput, match=r"seat: must be 0\.\.1") as caught:
            position.moves(seat)
        assert paths(caught) == ["seat"]


def test_hidden_hands_have_no_moves(position):
    assert position.observe(0).moves() == position.moves()
    with pytest.raises(HandHidden, match="seat 0"):
        position.observe(1).moves()
    with pytest.raises(HandHidden):
        position.observe(1).find_move("1@a1")


def test_finished_games():
    position = Position.parse(FINISHED)
    assert position.finished
    assert position.win_shares == (1, 0)
    assert position.scores == (300, 200)
    for seat in (None, 0):
        with pytest.raises(GameFinished):
            position.moves(seat)
    with pytest.raises(GameFinished):
        position.apply({})


def test_several_seats_to_act():
    position = Position.parse(
        "riviera 1.1 play 012 0 r3g5p2b6 - 0:in:r3r4:-,0:in:g5g12:-,0:in:p1p2:- hand_size=2"
    )
    assert position.seats_to_act == (0, 1, 2)
    with pytest.raises(SeatRequired, match="0, 1, 2"):
        position.moves()
    with pytest.raises(InvalidInput, match="seat 0 or 1 or 2") as caught:
        position.apply({})
    assert paths(caught) == ["moves"]
    with pytest.raises(InvalidInput, match="follows, but a move of seat 0 or 2") as caught:
        position.apply({1: position.find_move("g5", 1)}, outcome={"dice": []})
    assert paths(caught) == ["outcome"]
    between, events = position.apply({1: position.find_move("g5", 1)})
    assert between.seats_to_act == (0, 2)
    seen = between.observe(2)  # shows one hand of those to act
    assert seen.moves() == seen.moves(2)
    with pytest.raises(SeatRequired, match="0, 2"):
        between.observe(1).moves()
    assert [event.description for event in events] == ["Seat 1 has chosen."]
    with pytest.raises(SeatNotToAct, match="to act: 0, 2"):
        between.moves(1)
    with pytest.raises(SeatRequired, match="0, 2"):
        between.moves()
    between, _ = between.apply({2: between.find_move("p2", 2)})
    assert between.moves() == between.moves(0)  # the only one left
    assert [seat.split(":")[-1] for seat in between.notation.split()[7].split(",")] == [
        "-",
        "chose@g5",
        "chose@p2",
    ]
    assert "chose@?,0:in:??:-:chose@? " in between.observe(0).notation
    after, events = between.apply({0: between.find_move("r3")})
    assert [event.description for event in events] == [
        "Seat 0 played the red 3, worth 2 stars.",
        "Seat 1 played the green 5, worth 1 star.",
        "Seat 2 played the purple 2, worth 2 stars.",
    ]
    assert "chose" not in after.notation


def test_apply_leaves_the_position_alone(position):
    before = position.notation
    move = position.moves()[0]
    after, _ = position.apply({0: move}, seed=1)
    assert position.notation == before
    assert after.seats_to_act == (1,)
    assert position.apply({0: move}, seed=1)[0] == after
    assert {position.apply({0: move}, seed=seed)[0] == after for seed in range(50)} == {True, False}


def test_what_apply_refuses(position):
    move = position.moves()[0]
    with pytest.raises(FullStateRequired):
        position.observe(0).apply({0: move})
    with pytest.raises(SeatNotToAct):
        position.apply({1: move})
    with pytest.raises(InvalidInput) as caught:
        position.apply({})
    assert paths(caught) == ["moves"]
    for seed in (-1, 2**64):
        with pytest.raises(InvalidInput) as caught:
            position.apply({0: move}, seed=seed)
        assert paths(caught) == ["seed"]
    with pytest.raises(InvalidInput) as caught:
        position.apply({0: move}, seed=1, outcome={"drawn": 1})
    assert paths(caught) == ["outcome"]
    after, _ = position.apply({0: move}, seed=1)
    with pytest.raises(IllegalMove):
        after.apply({1: after.move(move.code, 1)})  # its cell is taken now


def test_what_create_refuses():
    for arguments, path in (
        ({"seed": -1}, "seed"),
        ({"start_seat": 2}, "start_seat"),
        ({"start_seat": -1}, "start_seat"),
        ({"options": {"players": 1}}, "options.players"),
    ):
        with pytest.raises(InvalidInput) as caught:
            Position.create("roygbiv", **arguments)
        assert paths(caught) == [path]


@pytest.mark.parametrize("game", ["", "chess", "ROYGBIV", "x" * 10_000, "\N{SNOWMAN}"])
def test_unknown_games(game):
    for ask in (
        lambda: Position.create(game),
        lambda: Position.from_record(game, None, {}),
        lambda: codec(game),
    ):
        with pytest.raises(UnknownGame) as caught:
            ask()
        assert str(caught.value).isascii()
        assert len(str(caught.value)) < 200
        assert "roygbiv" in caught.value.known
    with pytest.raises(UnknownGame):
        Position.parse("chess rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1")


def test_paths_of_typed_states():
    with pytest.raises(InvalidInput) as caught:
        Position.from_record("roygbiv", {"open_hands": True}, {})
    assert "roygbiv.cells" in paths(caught)
    with pytest.raises(InvalidInput) as caught:
        Position.from_record("roygbiv", {"hands": 1}, {})
    assert paths(caught) == ["options.hands"]


def test_registry():
    assert "roygbiv" in game_ids()
    assert register(RoygbivCodec) is RoygbivCodec
    other = type("Other", (RoygbivCodec,), {})
    with pytest.raises(ValueError, match="roygbiv already"):
        register(other)
    assert codec("roygbiv") is codec("roygbiv", {"players": 2})
    assert codec("roygbiv") is not codec("roygbiv", {"open_hands": True})


def test_whole_numbers_may_be_floats():
    """As they arrive from JSON and protobuf's Struct."""
    assert codec("generator", {"max_rolls": 100.0}) is codec("generator", {"max_rolls": 100})
    with pytest.raises(InvalidInput):
        codec("generator", {"max_rolls": 100.5})


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"time": 0.0}, ["time"]),
        ({"time": -1.0}, ["time"]),
        ({"time": float("nan")}, ["time"]),
        ({"time": float("inf")}, ["time"]),
        ({"simulations": 0}, ["simulations"]),
        ({"simulations": 2**63}, ["simulations"]),
        ({"threads": 0}, ["threads"]),
        ({"threads": 257}, ["threads"]),
        ({"time": 0.0, "simulations": 0, "threads": 0}, ["time", "simulations", "threads"]),
    ],
)
def test_limits_out_of_range(arguments, expected):
    with pytest.raises(InvalidInput) as caught:
        Limits(**arguments)
    assert paths(caught) == expected


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("1s", 1), ("50ms", 0.05), ("1m30s", 90), ("0.25s", 0.25), ("2", 2), (" 0.5 ", 0.5)],
)
def test_durations(text, seconds):
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "soon", "1 fortnight", "s", "1s and more", "1,5", "inf", "1e999", "nan"]
)
def test_no_durations(text):
    with pytest.raises(InvalidInput) as caught:
        parse_duration(text)
    assert paths(caught) == ["time"]
