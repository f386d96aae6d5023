"""ROYGBIV again, slowly and plainly, from its rules page; for tests to compare with.

States and moves are the typed records of the wire. Probabilities are exact fractions.
"""

from collections import Counter
from fractions import Fraction
from itertools import product
from math import comb

CASES = [
    ("roygbiv", {}),
    ("roygbiv", {"players": 3}),
    ("roygbiv", {"players": 4, "open_hands": True}),
    ("roygbiv", {"players": 6}),
]

SIDE = 7
VALUES = range(1, 8)


def grid(cells):
    return [cells[SIDE * row : SIDE * row + SIDE] for row in range(SIDE)]


def place(board, value, row, column):
    """The board, a list of rows, after a die is put on an empty cell, and the points."""
    assert board[row][column] == 0
    result = [list(line) for line in board]
    points = 0
    for r in range(SIDE):
        for c in range(SIDE):
            in_line = (r == row) != (c == column)
            if in_line and 0 < board[r][c] < value:
                points += board[r][c]
                result[r][c] = value
    result[row][column] = value
    return result, points


def unseen(state):
    """The dice that are neither on the board nor in a known hand, by value."""
    counts = Counter({value: 7 - state["played"][value - 1] for value in VALUES})
    for hand in state["hands"]:
        counts.subtract(hand.get("dice", []))
    assert all(count >= 0 for count in counts.values())
    return +counts


def legal_moves(state):
    if "seat_to_act" not in state:
        return []
    hand = state["hands"][state["seat_to_act"]]["dice"]
    board = grid(state["cells"])
    return [
        {"value": value, "row": row, "column": column}
        for value in sorted(set(hand))
        for row, column in product(range(SIDE), range(SIDE))
        if board[row][column] == 0
    ]


def successors(state, move, options):
    """What a full state can become: pairs of probability and state."""
    seat = state["seat_to_act"]
    board, points = place(grid(state["cells"]), move["value"], move["row"], move["column"])
    cells = [value for line in board for value in line]
    played = list(state["played"])
    played[move["value"] - 1] += 1
    scores = list(state["scores"])
    scores[seat] += points
    kept = list(state["hands"][seat]["dice"])
    kept.remove(move["value"])
    bag = unseen(state)
    draws = [
        (Fraction(count, bag.total()), [*kept, value]) for value, count in sorted(bag.items())
    ] or [(Fraction(1), kept)]
    result = []
    for probability, hand in draws:
        hands = list(state["hands"])
        hands[seat] = {"dice": sorted(hand)}
        after = {"cells": cells, "played": played, "hands": hands, "scores": scores}
        if 0 in cells:
            after["seat_to_act"] = (seat + 1) % len(hands)
        result.append((probability, after))
    return result


def observe(state, seat, options):
    hands = [
        hand
        if other == seat or options["open_hands"] or not hand.get("dice")
        else {"hidden_count": len(hand["dice"])}
        for other, hand in enumerate(state["hands"])
    ]
    return {**state, "hands": hands}


def determinizations(observation, options):
    """All full states that agree with an observation: pairs of probability and state."""
    found = [(Fraction(1), observation)]
    for seat, hand in enumerate(observation["hands"]):
        if "hidden_count" in hand:
            found = [
                (probability * chance, {**state, "hands": replaced(state["hands"], seat, dice)})
                for probability, state in found
                for chance, dice in hands_from(unseen(state), hand["hidden_count"])
            ]
    return found


def replaced(hands, seat, dice):
    return [*hands[:seat], {"dice": dice}, *hands[seat + 1 :]]


def hands_from(counts, size):
    """All hands of `size` drawn without replacement: pairs of probability and sorted dice."""
    ranges = [range(min(size, counts[value]) + 1) for value in VALUES]
    for taken in product(*ranges):
        if sum(taken) == size:
            ways = 1
            for value, count in zip(VALUES, taken, strict=True):
                ways *= comb(counts[value], count)
            dice = [value for value, count in zip(VALUES, taken, strict=True) for _ in range(count)]
            yield Fraction(ways, comb(counts.total(), size)), dice


def symmetries(state, options):
    """Seats one on, two rows exchanged (not the centre's), the board transposed."""
    count = len(state["hands"])
    one_on = {
        **state,
        "hands": [*state["hands"][-1:], *state["hands"][:-1]],
        "scores": [*state["scores"][-1:], *state["scores"][:-1]],
    }
    if "seat_to_act" in state:
        one_on["seat_to_act"] = (state["seat_to_act"] + 1) % count
    board = grid(state["cells"])
    exchanged = [board[1], board[0], *board[2:]]
    same = tuple(range(count))
    return [
        (one_on, tuple((seat + 1) % count for seat in same), lambda move: move),
        (with_board(state, exchanged), same, exchange_rows),
        (with_board(state, zip(*board, strict=True)), same, transpose),
    ]


def with_board(state, board):
    return {**state, "cells": [value for line in board for value in line]}


def exchange_rows(move):
    return {**move, "row": {0: 1, 1: 0}.get(move["row"], move["row"])}


def transpose(move):
    return {**move, "row": move["column"], "column": move["row"]}


def win_shares(state, options):
    best = max(state["scores"])
    winners = state["scores"].count(best)
    return [1 / winners if score == best else 0.0 for score in state["scores"]]
