"""What ROYGBIV's network sees, and how the last plays go, again slowly; for tests to compare with.

States are typed records of two seats, as in `tests.reference.roygbiv`.
"""

from itertools import product

from tests.reference.roygbiv import SIDE, VALUES, grid, legal_moves, place, successors, unseen


def captures(board, value):
    """What a die would capture on each empty cell, most first."""
    cells = product(range(SIDE), range(SIDE))
    return sorted(
        (place(board, value, row, column)[1] for row, column in cells if board[row][column] == 0),
        reverse=True,
    )


def lines(board):
    return [*board, *zip(*board, strict=True)]


def apart(board, value):
    """The most that a die would capture without sharing a line with a best capture of its."""
    points = {
        (row, column): place(board, value, row, column)[1]
        for row, column in product(range(SIDE), range(SIDE))
        if board[row][column] == 0
    }
    best = [cell for cell, most in points.items() if most == max(points.values())]
    return max(
        (
            gain
            for cell, gain in points.items()
            if any(cell[0] != other[0] and cell[1] != other[1] for other in best)
        ),
        default=0,
    )


def reachable(board, value):
    """How many dice show a value and have an empty cell in their row or column."""
    columns = list(zip(*board, strict=True))
    return sum(
        board[row][column] == value and (0 in board[row] or 0 in columns[column])
        for row, column in product(range(SIDE), range(SIDE))
    )


def features(state, viewer=None):
    """The features of a full state with no draw pending, for the seat to act."""
    board = grid(state["cells"])
    acting = state["seat_to_act"]
    pool = unseen(state)  # the bag, for now
    hands = [{value: hand.get("dice", []).count(value) for value in VALUES}
             for hand in state["hands"]]  # fmt: skip
    hidden = [0, 0]
    if viewer is not None and pool:
        other = 1 - viewer
        hidden[other] = sum(hands[other].values())
        pool.update(hands[other])
        hands[other] = dict.fromkeys(VALUES, 0)
    share = {value: pool[value] / pool.total() if pool else 0 for value in VALUES}
    best = {value: [*captures(board, value), 0, 0][:3] for value in VALUES}
    expected = [
        {value: hands[seat][value] + hidden[seat] * share[value] for value in VALUES}
        for seat in (acting, 1 - acting)
    ]

    def best_capture(seat):
        """Over all hands that the hidden dice, drawn one by one and put back, can make."""
        total = 0
        for dice in product(VALUES, repeat=hidden[seat]):
            chance = 1
            for value in dice:
                chance *= share[value]
            held = [value for value in VALUES if hands[seat][value]] + list(dice)
            total += chance * best[max(held)][0] if held else 0
        return total

    def weigh(points, dice):
        return sum(points[value] * dice[value] for value in VALUES)

    empty = state["cells"].count(0)
    first = {value: best[value][0] for value in VALUES}
    second = {value: best[value][1] for value in VALUES}
    total = {value: sum(captures(board, value)) for value in VALUES}
    open_cells = [line.count(0) for line in lines(board)]
    return [
        *(best[value][rank] / 20 for rank in range(3) for value in range(2, 8)),
        *(total[value] / 400 for value in range(2, 8)),
        *(sum(points**2 for points in captures(board, value)) / 3000 for value in range(2, 8)),
        *(apart(board, value) / 20 for value in range(2, 8)),
        *(reachable(board, value) / 7 for value in range(1, 7)),
        *(state["cells"].count(value) / 7 for value in VALUES),
        *expected[0].values(),
        *expected[1].values(),
        *((pool[value] - sum(hidden) * share[value]) / 3 for value in VALUES),
        empty / 24 - 1,
        empty % 2,
        best_capture(acting) / 20,
        best_capture(1 - acting) / 20,
        sum(cells**2 for cells in open_cells) / 300,
        hidden[acting] / 3,
        hidden[1 - acting] / 3,
        *(
            feature
            for dice in expected
            for feature in (
                weigh(first, dice) / 40,
                weigh(second, dice) / 40,
                weigh(total, dice) / 800,
            )
        ),
        weigh(first, share) / 20,
        weigh(total, share) / 400,
        *(open_cells.count(cells) / 4 for cells in (1, 2, 3)),
    ]


def best_ending(state, options):
    """The final scores if both seats play for the margin, with the bag empty."""
    if "seat_to_act" not in state:
        return state["scores"]
    seat = state["seat_to_act"]
    endings = [
        best_ending(after, options)
        for move in legal_moves(state)
        for _, after in successors(state, move, options)
    ]
    return max(endings, key=lambda scores: scores[seat] - scores[1 - seat])
