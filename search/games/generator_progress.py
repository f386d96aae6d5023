"""What of a Generator position can have come of an earlier one.

Each roll is counted and followed by one move, and nothing is hidden: so all sequences of so many
moves can be tried, as long as they are few.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from aleator.ext.core.game import State
from aleator.ext.games.generator import Generator
from aleator.search.errors import Violation
from aleator.search.games.progress import can_lead

if TYPE_CHECKING:
    from aleator.ext.games.generator import GeneratorFields  # only the stub has it

NODES_A_MOVE = 2
"""How many nodes a move changes at most."""
COLOURS = 4


def contradictions(
    rules: Generator, before: State, after: State, answered: int | None
) -> list[Violation]:
    """Why `after` cannot have come of `before`, see `Codec.contradictions`."""
    if before == after:
        return []
    old, new = rules.unpack(before), rules.unpack(after)
    if old["seat_to_act"] is None:
        return [Violation("seat_to_act", "must be unset: the game was finished")]
    if new["rolls"] < old["rolls"]:
        message = f"must be at least {old['rolls']}, as before, not {new['rolls']}"
        return [Violation("rolls", message)]
    moves = new["rolls"] - old["rolls"] + (new["seat_to_act"] is None)
    if moves == 0:
        return list(_changes(old, new, f"must not change: the {old['rolls']} rolls are as before"))
    starts = _after_move(rules, before, answered)
    if moves == 1:
        return _check_one(rules, starts, after, before, answered=answered is not None)
    return _check_several(rules, starts, moves, after, before)


def _changes(old: "GeneratorFields", new: "GeneratorFields", why: str) -> Iterator[Violation]:
    for seat in _changed(old, new):
        yield Violation(f"seats[{seat}].stacks", why)
    if old["seat_to_act"] != new["seat_to_act"]:
        yield Violation("seat_to_act", why)
    if old["rolled"] != new["rolled"]:
        yield Violation("rolled", why)


def _changed(old: "GeneratorFields", new: "GeneratorFields") -> list[int]:
    """The seats whose stacks differ."""
    pairs = zip(old["stacks"], new["stacks"], strict=True)
    return [seat for seat, (stacks, others) in enumerate(pairs) if stacks != others]


def _after_move(rules: Generator, state: State, move: int | None = None) -> list[State]:
    """The states after the one move, or after each that is legal; the roll is still to come."""
    (seat,) = rules.seats_to_act(state)
    moves = rules.legal_moves(state, seat) if move is None else [move]
    return [rules.apply_move(state, seat, code) for code in moves]


def _rolled(rules: Generator, state: State, colour: int | None) -> State:
    """A state with its roll, if there is one to come."""
    if colour is None or not rules.chance_pending(state):
        return state
    return rules.roll(state, colour)


def _check_one(
    rules: Generator, starts: list[State], after: State, before: State, *, answered: bool
) -> list[Violation]:
    """Why a position is not one move further."""
    old, new = rules.unpack(before), rules.unpack(after)
    if any(_rolled(rules, state, new["rolled"]) == after for state in starts):
        return []
    results = [rules.unpack(state) for state in starts]
    for state, made in zip(starts, results, strict=True):
        if made["stacks"] == new["stacks"]:
            seat = "unset" if rules.finished(state) else made["seat_to_act"]
            return [Violation("seat_to_act", f"must be {seat} after the move")]
    if answered:
        why = "must be as the move that was answered left them"
        return [Violation(f"seats[{seat}].stacks", why) for seat in _changed(results[0], new)]
    (mover,) = rules.seats_to_act(before)
    why = f"no legal move of seat {mover} leads to this"
    return [Violation(f"seats[{seat}].stacks", why) for seat in _changed(old, new) or [mover]]


def _check_several(
    rules: Generator, starts: list[State], moves: int, after: State, before: State
) -> list[Violation]:
    """Whether a position is so many moves further, the first of which has led to one of a few."""
    goal = rules.unpack(after)
    board = _board(goal)

    def following(state: State) -> Iterator[State]:
        if state is before:
            yield from starts
        elif not rules.finished(state):
            for colour in range(COLOURS):
                yield from _after_move(rules, rules.roll(state, colour))

    def promising(state: State, left: int) -> bool:
        if left == 0:
            return _rolled(rules, state, goal["rolled"]) == after
        differing = {node for node, *_ in _board(rules.unpack(state)) ^ board}
        return len(differing) <= NODES_A_MOVE * left

    if can_lead(before, moves, following, promising):
        return []
    return [Violation("seats", f"no {moves} legal moves lead to this from the position before")]


def _board(fields: "GeneratorFields") -> set[tuple[int, int, int]]:
    """What stands where: node, seat, pieces."""
    return {
        (node, seat, sizes)
        for seat, stacks in enumerate(fields["stacks"])
        for node, sizes in stacks
    }
