"""The compiled rules of ROYGBIV: the cases of the rules page, and against the reference."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aleator.search import Position
from aleator.search.games import codec
from tests.reference import roygbiv as reference

PLAYERS = (2, 3, 4, 6)


def lay_out(rows, hand, played=None):
    """A packed state in which seat 0 is to act, whatever led to it."""
    cells = [int(face) for row in rows for face in row.replace(".", "0")]
    counts = played or [cells.count(value) for value in range(1, 8)]
    rules = codec("roygbiv").rules
    return rules, rules.pack(cells, counts, [hand, [1, 1, 1]], [0, 0], 0)


def play(rows, value, row, column):
    rules, state = lay_out(rows, [value, 2, 2])
    after = rules.apply_move(state, 0, (value * 7 + row) * 7 + column)
    fields = rules.unpack(after)
    board = ["".join(map(str, line)) for line in reference.grid(fields["cells"])]
    return fields["scores"][0], [line.replace("0", ".") for line in board]


@pytest.mark.parametrize(
    ("before", "value", "row", "column", "points", "after"),
    [
        pytest.param(
            ["...5...", "3.....2", "...4...", ".......", "...3...", ".......", "...1..."],
            4, 1, 3, 9,
            ["...5...", "4..4..4", "...4...", ".......", "...4...", ".......", "...4..."],
            id="a 4 with 3, 2 in its row and 5, 4, 3, 1 in its column",
        ),
        pytest.param(
            [".......", "1.23456", "7......", ".......", ".......", ".......", "......."],
            1, 1, 1, 0,
            [".......", "1123456", "7......", ".......", ".......", ".......", "......."],
            id="any 1",
        ),
        pytest.param(
            [".......", ".......", ".......", "7.....6", ".......", ".......", "......."],
            7, 3, 3, 6,
            [".......", ".......", ".......", "7..7..7", ".......", ".......", "......."],
            id="a 7 in line with a 7 and a 6",
        ),
        pytest.param(
            [".......", ".......", ".......", "5......", ".......", ".......", "......."],
            5, 3, 6, 0,
            [".......", ".......", ".......", "5.....5", ".......", ".......", "......."],
            id="an equal value",
        ),
        pytest.param(
            ["...3...", ".......", ".......", "2.6....", ".......", ".......", "......."],
            5, 3, 3, 5,
            ["...5...", ".......", ".......", "5.65...", ".......", ".......", "......."],
            id="smaller dice beyond a gap and beyond a larger die",
        ),
        pytest.param(
            [".......", ".......", "..3....", "..1....", ".......", ".......", "......."],
            4, 3, 5, 1,
            [".......", ".......", "..3....", "..4..4.", ".......", ".......", "......."],
            id="a 3 beside a die that has just become 4",
        ),
    ],
)  # fmt: skip
def test_cases_of_the_rules_page(before, value, row, column, points, after):
    assert play(before, value, row, column) == (points, after)


faces = st.integers(0, 7)


@given(st.lists(faces, min_size=49, max_size=49), st.integers(1, 7), st.data())
def test_captures_as_in_the_reference(cells, value, data):
    empty = [cell for cell in range(49) if cells[cell] == 0]
    if not empty:
        return
    cell = data.draw(st.sampled_from(empty))
    rules, state = lay_out(
        ["".join(map(str, line)) for line in reference.grid(cells)], [value, 2, 2], [0] * 7
    )
    move = value * 49 + cell
    after = rules.unpack(rules.apply_move(state, 0, move))
    turned = [(at, old) for at, old in enumerate(cells) if old and old != after["cells"][at]]
    assert rules.captured(state, move) == turned
    assert rules.values_captured(state, move) == tuple(sorted(old for _, old in turned))
    board, points = reference.place(reference.grid(cells), value, cell // 7, cell % 7)
    assert after["cells"] == [face for line in board for face in line]
    assert after["scores"] == [points, 0]


@settings(max_examples=30)
@given(st.sampled_from(PLAYERS), st.booleans(), st.integers(0, 2**64 - 1), st.data())
def test_games_as_in_the_reference(players, open_hands, seed, data):
    """Play a game move by move in both, and compare everything that can be asked."""
    position = Position.create("roygbiv", {"players": players, "open_hands": open_hands}, seed)
    state = position.record
    for ply in range(48):
        seat = state["seat_to_act"]
        assert position.seats_to_act == (seat,)
        moves = reference.legal_moves(state)
        assert sorted(move.code for move in position.moves()) == [
            position.codec.read_move(move) for move in moves
        ]
        move = data.draw(st.sampled_from(moves)) if ply % 8 == 0 else moves[seed * ply % len(moves)]
        position, events = position.apply({seat: position.find_move(move)}, seed=ply)
        possible = [after for _, after in reference.successors(state, move, position.options)]
        points = position.record["scores"][seat] - state["scores"][seat]
        assert events[0].record["played"]["points"] == points
        state = position.record
        assert state in possible
        for viewer in range(players):
            observation = reference.observe(state, viewer, position.options)
            assert position.observe(viewer).record == observation
    assert position.finished
    assert position.win_shares == pytest.approx(reference.win_shares(state, position.options))


@pytest.mark.parametrize("players", PLAYERS)
def test_set_up(players):
    games = [Position.create("roygbiv", {"players": players}, seed) for seed in range(1400)]
    for position in games:
        state = position.record
        assert [len(hand["dice"]) for hand in state["hands"]] == [3] * players
        assert sum(map(bool, state["cells"])) == 1
        assert state["cells"][24]
        assert state["played"][state["cells"][24] - 1] == 1
    centres = Counter(position.record["cells"][24] for position in games)
    starts = Counter(position.record["seat_to_act"] for position in games)
    assert set(centres) == set(range(1, 8))
    assert set(starts) == set(range(players))
    # Five standard deviations.
    assert all(abs(count - 200) < 5 * 13.1 for count in centres.values())
    assert all(abs(count - 1400 / players) < 5 * 18.8 for count in starts.values())


def test_the_caller_names_the_start():
    for seat in range(3):
        position = Position.create("roygbiv", {"players": 3}, seed=7, start_seat=seat)
        assert position.seats_to_act == (seat,)


@settings(max_examples=30)
@given(st.permutations(range(7)), st.permutations(range(7)), st.booleans(), st.integers(0, 999))
def test_rows_and_columns_may_be_permuted(rows, columns, transposed, seed):
    """No place on the board is special once the centre die lies there."""
    position = Position.create("roygbiv", {"open_hands": True}, seed)
    for ply in range(20):
        moves = position.moves()
        move = moves[(seed + 37 * ply) % len(moves)]
        position, _ = position.apply({move.seat: move}, seed=ply)
    rules = position.codec.rules
    fields = rules.unpack(position.state)

    def moved(row, column):
        row, column = rows[row], columns[column]
        return column * 7 + row if transposed else row * 7 + column

    def rearranged(cells):
        result = [0] * 49
        for cell, face in enumerate(cells):
            result[moved(*divmod(cell, 7))] = face
        return result

    image = rules.pack(**{**fields, "cells": rearranged(fields["cells"])})
    for move in position.moves()[::5]:
        value, cell = divmod(move.code, 49)
        after = rules.unpack(rules.apply_move(position.state, move.seat, move.code))
        image_move = value * 49 + moved(*divmod(cell, 7))
        image_after = rules.unpack(rules.apply_move(image, move.seat, image_move))
        assert image_after["cells"] == rearranged(after["cells"])
        assert image_after["scores"] == after["scores"]


def random_play(state):
    """Each seat's expected final score when all legal moves are equally likely, exactly."""
    if "seat_to_act" not in state:
        return state["scores"]
    moves = reference.legal_moves(state)
    outcomes = [random_play(reference.successors(state, move, {})[0][1]) for move in moves]
    return [sum(scores) / len(moves) for scores in zip(*outcomes, strict=True)]


def test_playouts_choose_among_values_not_among_dice():
    """Exactly, in the last six plays; the first hand holds two dice of the same value."""
    position = Position.parse(
        "roygbiv 3.46.77/76.6.17/7776737/7.277.7/7727777/3355776/7665576 5765677 344,115 99,28 1"
    )
    expected = random_play(position.record)
    _, scores = position.codec.rules.run_playouts(position.state, 400_000, 1)
    assert scores == pytest.approx(expected, abs=0.05)


def test_last_six_plays_of_two_seats_hide_nothing():
    position = Position.create("roygbiv", seed=5)
    for ply in range(42):
        move = position.moves()[ply % 3]
        position, _ = position.apply({move.seat: move}, seed=ply)
    seat = position.seats_to_act[0]
    observation = position.observe(seat)
    assert len(reference.determinizations(observation.record, position.options)) == 1
    rules = position.codec.rules
    assert rules.determinization(observation.state, seat, seed=0) == position.state
