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

    empty = state["cells"].count(0)
    return [
        *(best[value][rank] / 20 for rank in range(3) for value in range(2, 8)),
        *(sum(captures(board, value)) / 400 for value in range(2, 8)),
        *(state["cells"].count(value) / 7 for value in VALUES),
        *expected[0].values(),
        *expected[1].values(),
        *((pool[value] - sum(hidden) * share[value]) / 3 for value in VALUES),
        empty / 24 - 1,
        empty % 2,
        best_capture(acting) / 20,
        best_capture(1 - acting) / 20,
        sum(line.count(0) ** 2 for line in lines(board)) / 300,
        hidden[acting] / 3,
        hidden[1 - acting] / 3,
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
