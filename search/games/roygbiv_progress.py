"""What of a ROYGBIV position can have come of an earlier one, as one seat sees both.

Seats play in order and the dice played are counted, so it is known who has played how often since.
What dice were put where is tried out, as long as there are few. The hands tell the rest.
"""

from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from aleator.ext.core.game import State
from aleator.ext.games.roygbiv import Roygbiv
from aleator.search.errors import Violation
from aleator.search.games.progress import can_lead
from aleator.search.games.roygbiv_invariants import CELLS

if TYPE_CHECKING:
    from aleator.ext.games.roygbiv import RoygbivFields  # only the stub has it


class Board(NamedTuple):
    """What a play changes in the open."""

    cells: list[int]
    played: list[int]
    scores: list[int]
    seat: int


def contradictions(
    rules: Roygbiv, before: State, after: State, answered: int | None
) -> list[Violation]:
    """Why `after` cannot have come of `before`, see `Codec.contradictions`."""
    if before == after:
        return []
    old, new = rules.unpack(before), rules.unpack(after)
    wrong = [
        violation
        for name in ("cells", "played", "scores")
        for violation in _falls(name, old[name], new[name])
    ]
    if wrong:
        return wrong
    plays = sum(new["played"]) - sum(old["played"])
    if plays == 0:
        return list(_changes(old, new))
    first = old["seat_to_act"]
    assert first is not None, "the board was not full"
    expected = (first + plays) % rules.seats
    if new["seat_to_act"] not in {None, expected}:
        wrong.append(Violation("seat_to_act", f"must be {expected} after {plays} plays since"))
    for seat in range(rules.seats):
        own = len(range((seat - first) % rules.seats, plays, rules.seats))
        played = answered // CELLS if answered is not None and seat == first else None
        wrong += _check_hand(old, new, seat, own, played)
    if not wrong:
        wrong += _check_board(rules, old, new, plays, answered)
    return wrong


def _falls(name: str, old: list[int], new: list[int]) -> Iterator[Violation]:
    for index, (was, now) in enumerate(zip(old, new, strict=True)):
        if now < was:
            yield Violation(
                f"{name}[{index}]", f"must be at least {was}, as before: it never falls, not {now}"
            )


def _changes(old: "RoygbivFields", new: "RoygbivFields") -> Iterator[Violation]:
    why = "must not change: no die was played since"
    for name in ("cells", "scores"):
        for index, (was, now) in enumerate(zip(old[name], new[name], strict=True)):
            if was != now:
                yield Violation(f"{name}[{index}]", why)
    if old["seat_to_act"] != new["seat_to_act"]:
        yield Violation("seat_to_act", why)
    for seat, (hand, other) in enumerate(zip(old["hands"], new["hands"], strict=True)):
        if hand != other:
            yield Violation(f"hands[{seat}]", why)


def _check_hand(
    old: "RoygbivFields", new: "RoygbivFields", seat: int, plays: int, answered: int | None
) -> Iterator[Violation]:
    """What has left a hand was played, one die in each turn of the seat."""
    hand, now = old["hands"][seat], new["hands"][seat]
    if isinstance(hand, int) or isinstance(now, int):
        return
    path = f"hands[{seat}].dice"
    left = Counter(hand)
    if answered is not None:
        left[answered] -= 1
        plays -= 1
    gone = left - Counter(now)
    if gone.total() > plays:
        dice = ", ".join(map(str, sorted(left.elements()))) or "none"
        but = f", but for {plays} that it has played since" if plays else ""
        yield Violation(path, f"must have of before what is left of the seat's dice, {dice}{but}")
        return
    for die in gone:
        if new["played"][die - 1] == old["played"][die - 1]:
            yield Violation(path, f"must have the {die} of before, which was not played")
    if plays == 0 and answered is None and sorted(hand) != sorted(now):
        yield Violation(path, "must not change: the seat has not played since")


def _check_board(
    rules: Roygbiv, old: "RoygbivFields", new: "RoygbivFields", plays: int, answered: int | None
) -> list[Violation]:
    """The dice were put somewhere, and turned those that they capture."""
    assert old["seat_to_act"] is not None, "the board was not full"
    board = Board(old["cells"], old["played"], old["scores"], old["seat_to_act"])
    goal = Board(new["cells"], new["played"], new["scores"], 0)
    if answered is not None:
        value, cell = divmod(answered, CELLS)
        if board.cells[cell] or not goal.cells[cell]:
            return [Violation(f"cells[{cell}]", "must hold the die of the move that was answered")]
        if goal.played[value - 1] == board.played[value - 1]:
            message = f"must count the {value} of the move that was answered"
            return [Violation(f"played[{value - 1}]", message)]
        board = _play(rules, board, value, cell)
        plays -= 1
    if plays == 1:
        (board,) = _plays(rules, goal, board)
    if plays <= 1:
        return list(_differences(board, goal))

    def promising(board: Board, left: int) -> bool:
        return _may_become(board, goal) if left else not any(_differences(board, goal))

    if can_lead(board, plays, partial(_plays, rules, goal), promising):
        return []
    return [Violation("cells", f"no {plays} plays lead to this, with these scores and dice played")]


def _plays(rules: Roygbiv, goal: Board, board: Board) -> Iterator[Board]:
    """The board after each play of a die that is still to be played, on a cell to be filled."""
    values = [
        value
        for value, (count, due) in enumerate(zip(board.played, goal.played, strict=True), 1)
        if count < due
    ]
    for cell in range(CELLS):
        if goal.cells[cell] and not board.cells[cell]:
            for value in values:
                yield _play(rules, board, value, cell)


def _play(rules: Roygbiv, board: Board, value: int, cell: int) -> Board:
    """The board after a play, by the rules; the hands are made up."""
    hands = [[value]] * rules.seats
    state = rules.pack(board.cells, board.played, hands, board.scores, board.seat)
    fields = rules.unpack(rules.apply_move(state, board.seat, value * CELLS + cell))
    seat = (board.seat + 1) % rules.seats
    return Board(fields["cells"], fields["played"], fields["scores"], seat)


def _may_become(board: Board, goal: Board) -> bool:
    return all(now <= then for now, then in zip(board.cells, goal.cells, strict=True)) and all(
        now <= then for now, then in zip(board.scores, goal.scores, strict=True)
    )


def _differences(board: Board, goal: Board) -> Iterator[Violation]:
    for name in ("cells", "played", "scores"):
        for index, (due, told) in enumerate(
            zip(getattr(board, name), getattr(goal, name), strict=True)
        ):
            if due != told:
                yield Violation(
                    f"{name}[{index}]", f"must be {due} after what was played since, not {told}"
                )
