"""What of a My Shelfie position can have come of an earlier one.

Marks stay. Seats take turns in order, and in a turn a seat with a blank space makes at least one
mark of its own and circles three spaces at most: so the new marks tell how often it can have been
its turn. Of a turn whose dice are known, what it marked is tried out.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from aleator.ext.core.game import State
from aleator.ext.games.my_shelfie import (
    CIRCLE_MOVES,
    CIRCLE_SETS,
    CROSS_MOVES,
    HAND_DICE,
    MyShelfie,
)
from aleator.search.errors import Violation
from aleator.search.games.my_shelfie_invariants import (
    BLANK,
    CIRCLED,
    CIRCLES_PER_TURN,
    CROSSED,
    DICE,
    FACES,
    ROWS,
)

if TYPE_CHECKING:
    from aleator.ext.games.my_shelfie import MyShelfieFields  # only the stub has it


def contradictions(
    rules: MyShelfie, before: State, after: State, answered: int | None
) -> list[Violation]:
    """Why `after` cannot have come of `before`, see `Codec.contradictions`."""
    if before == after:
        return []
    old, new = rules.unpack(before), rules.unpack(after)
    if old["seat_to_act"] is None:
        return [Violation("seat_to_act", "must be unset: the game was finished")]
    wrong = list(_check_marks(old, new))
    if old["start_seat"] != new["start_seat"]:
        wrong.append(Violation("start_seat", f"must be {old['start_seat']}, as before"))
    if wrong:
        return wrong
    if old["sheets"] == new["sheets"]:
        return list(_check_dice(old, new, answered))
    if answered is not None:
        wrong = list(_check_answered(old, new, answered))
    if wrong:
        return wrong
    # Whose turn it is, or would be if the game were not over, unless any may have ended it.
    last = [new["seat_to_act"]] if new["seat_to_act"] is not None else [new["start_seat"]]
    if new["seat_to_act"] is None and rules.immediate_end:
        last = [*range(rules.seats)]
    found = [_check_turns(rules, before, after, seat, answered) for seat in last]
    return min(found, key=len)


def _check_marks(old: "MyShelfieFields", new: "MyShelfieFields") -> Iterator[Violation]:
    for seat, (spaces, others) in enumerate(zip(old["sheets"], new["sheets"], strict=True)):
        for space, (was, now) in enumerate(zip(spaces, others, strict=True)):
            if was not in {BLANK, now}:
                yield Violation(
                    f"sheets[{seat}].spaces[{space}]", f"must be {was}, as before: marks stay"
                )


def _check_dice(
    old: "MyShelfieFields", new: "MyShelfieFields", answered: int | None
) -> Iterator[Violation]:
    """With the same marks it is still the same turn."""
    seat = old["seat_to_act"]
    if new["seat_to_act"] != seat:
        yield Violation(f"sheets[{seat}].spaces", f"must have new marks: seat {seat} had its turn")
        return
    rolls = old["rerolls"] - new["rerolls"]
    if rolls < 0:
        yield Violation("rerolls", f"must be at most {old['rerolls']}, as no turn has ended")
    elif rolls == 0:
        yield Violation("dice", "must be as before: nothing was rolled since")
    elif answered is not None and answered < CIRCLE_MOVES:
        kept = HAND_DICE[answered]
        stopped = sum(kept) == DICE
        if stopped and new["rerolls"] != 0:
            yield Violation("rerolls", "must be 0: all dice were kept")
        if stopped or rolls == 1:
            for face, count, shown in zip(FACES, kept, new["dice"], strict=True):
                if shown < count:
                    yield Violation(f"dice.{face}", f"must be at least the {count} that were kept")


def _check_answered(
    old: "MyShelfieFields", new: "MyShelfieFields", answered: int
) -> Iterator[Violation]:
    """What was circled or crossed is so."""
    seat = old["seat_to_act"]
    assert seat is not None, "it has answered"
    if answered >= CROSS_MOVES:
        spaces = [
            space for space in ROWS[answered - CROSS_MOVES] if old["sheets"][seat][space] == BLANK
        ]
        mark, done = CROSSED, "crossed"
    elif answered >= CIRCLE_MOVES:
        spaces = list(CIRCLE_SETS[answered - CIRCLE_MOVES])
        mark, done = CIRCLED, "circled"
    else:
        return
    for space in spaces:
        if new["sheets"][seat][space] != mark:
            yield Violation(
                f"sheets[{seat}].spaces[{space}]",
                f"must be {mark}: it was {done} by the move that was answered",
            )


def _check_turns(
    rules: MyShelfie, before: State, after: State, last: int, answered: int | None
) -> list[Violation]:
    """The seats can have had as many turns as their marks take: some full rounds, and one more."""
    old, new = rules.unpack(before), rules.unpack(after)
    first = old["seat_to_act"]
    assert first is not None, "the game went on"
    seats = rules.seats
    begun = (last - first) % seats  # so many seats from the first on had one turn more
    rounds = int(begun == 0)
    most: list[tuple[int, int]] = []
    wrong = []
    for seat, (spaces, others) in enumerate(zip(old["sheets"], new["sheets"], strict=True)):
        more = (seat - first) % seats < begun
        circles, marks = _own_marks(spaces, others)
        rounds = max(rounds, -(-circles // CIRCLES_PER_TURN) - more)
        if BLANK in others:
            most.append((marks - more, seat))
            if marks < more:
                message = f"must have new marks: seat {seat} had its turn"
                wrong.append(Violation(f"sheets[{seat}].spaces", message))
    if wrong:
        return wrong
    fewest, seat = min(most, default=(rounds, first))
    if fewest < rounds:
        message = "must have more new marks: the other seats had more turns"
        return [Violation(f"sheets[{seat}].spaces", message)]
    if begun == 1 and most and fewest == 0 and old["rerolls"] == 0:
        return _check_turn(rules, before, new, answered)
    return []


def _own_marks(old: list[int], new: list[int]) -> tuple[int, int]:
    """How many spaces a seat has circled, and may have marked in all, as others may block it.

    A row that it crosses itself has no blank space left.
    """
    circles = crosses = 0
    for row in ROWS:
        marks = [new[space] for space in row if new[space] != old[space]]
        circles += marks.count(CIRCLED)
        if all(new[space] != BLANK for space in row):
            crosses += marks.count(CROSSED)
    return circles, circles + crosses


def _check_turn(
    rules: MyShelfie, before: State, new: "MyShelfieFields", answered: int | None
) -> list[Violation]:
    """One turn has ended whose dice are known."""
    (seat,) = rules.seats_to_act(before)
    moves = rules.legal_moves(before, seat) if answered is None else [answered]
    results = [rules.unpack(rules.apply_move(before, seat, move))["sheets"] for move in moves]
    if new["sheets"] in results:
        return []
    if answered is None:
        message = f"no legal move of seat {seat} with its dice leads to these marks"
        return [Violation(f"sheets[{seat}].spaces", message)]
    return [
        Violation(f"sheets[{index}].spaces", "must be as the move that was answered left them")
        for index, (due, told) in enumerate(zip(results[0], new["sheets"], strict=True))
        if due != told
    ]
