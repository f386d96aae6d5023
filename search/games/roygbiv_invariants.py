"""What holds for every ROYGBIV state that play can reach, checked on what callers send.

The checks find everything that is wrong at once: each one runs as soon as the parts that it
compares are sound by themselves. They are necessary conditions, not sufficient ones: whether some
sequence of plays leads to exactly this board is not asked.

How many dice each seat has played follows from the number of plays and the seat to act, since
turns go round, and with it the size of each hand: every play is followed by a draw as long as the
bag, 48 dice less three for each seat, is not empty.
"""

from collections.abc import Iterator
from itertools import accumulate

from pydantic import Field

from aleator.search.errors import Violation
from aleator.search.games.base import StrictModel

SIDE = 7
CELLS = SIDE * SIDE
CENTRE = CELLS // 2
VALUES = 7
COPIES = 7  # dice of each value
HAND = 3
MAX_SCORE = CELLS * VALUES * (VALUES - 1) // 2  # every die raised from 1 to 7 in single steps


class HandRecord(StrictModel):
    """A hand: its dice, or only how many are hidden."""

    dice: list[int] = Field(default_factory=list)
    hidden_count: int | None = None

    @property
    def size(self) -> int:
        """The number of dice, known or not."""
        return len(self.dice) if self.hidden_count is None else self.hidden_count


class StateRecord(StrictModel):
    """The typed state, before its numbers are checked; on the wire an empty list is absent."""

    cells: list[int] = Field(default_factory=list)
    played: list[int] = Field(default_factory=list)
    hands: list[HandRecord] = Field(default_factory=list)
    scores: list[int] = Field(default_factory=list)
    seat_to_act: int | None = None


def violations(state: StateRecord, seats: int, *, open_hands: bool) -> list[Violation]:
    """Everything in a state that cannot be, with paths into the typed record."""
    cells = list(_check_cells(state.cells))
    played = list(_check_counts("played", state.played, VALUES, COPIES))
    hands = list(_check_hands(state.hands, seats, open_hands=open_hands))
    scores = list(_check_counts("scores", state.scores, seats, MAX_SCORE))
    seat = list(_check_seat(state, seats, board_known=not cells))
    wrong = cells + played + hands + scores + seat
    if not played:
        wrong += _check_conservation(state)
    if cells or seat:
        return wrong
    plays = _plays(state, seats)
    if not hands:
        wrong += _check_hand_sizes(state.hands, plays)
    if not played:
        wrong += _check_dice_shown(state, plays, scored=not scores)
    return wrong


def _check_counts(name: str, numbers: list[int], length: int, most: int) -> Iterator[Violation]:
    if len(numbers) != length:
        yield Violation(name, f"must have {length} numbers, not {len(numbers)}")
        return
    if min(numbers) >= 0 and max(numbers) <= most:
        return
    for index, number in enumerate(numbers):
        if not 0 <= number <= most:
            yield Violation(f"{name}[{index}]", f"must be 0..{most}, not {number}")


def _check_cells(cells: list[int]) -> Iterator[Violation]:
    yield from _check_counts("cells", cells, CELLS, VALUES)
    if len(cells) == CELLS and cells[CENTRE] == 0:
        yield Violation(f"cells[{CENTRE}]", "must show a die: the centre is never empty")


def _check_hands(hands: list[HandRecord], seats: int, *, open_hands: bool) -> Iterator[Violation]:
    if len(hands) != seats:
        yield Violation("hands", f"must be {seats}, one for each seat, not {len(hands)}")
        return
    for seat, hand in enumerate(hands):
        path = f"hands[{seat}]"
        if hand.dice and hand.hidden_count is not None:
            yield Violation(path, "must have dice or hidden_count, not both")
        if hand.hidden_count is not None and not 0 <= hand.hidden_count <= HAND:
            yield Violation(f"{path}.hidden_count", f"must be 0..{HAND}, not {hand.hidden_count}")
        elif hand.hidden_count and open_hands:
            yield Violation(f"{path}.hidden_count", "must be 0: with open_hands no hand is hidden")
        if len(hand.dice) > HAND:
            yield Violation(f"{path}.dice", f"must be at most {HAND} dice, not {len(hand.dice)}")
            continue
        for index, die in enumerate(hand.dice):
            if not 1 <= die <= VALUES:
                yield Violation(f"{path}.dice[{index}]", f"must be 1..{VALUES}, not {die}")


def _check_seat(state: StateRecord, seats: int, *, board_known: bool) -> Iterator[Violation]:
    seat = state.seat_to_act
    if seat is not None and not 0 <= seat < seats:
        yield Violation("seat_to_act", f"must be 0..{seats - 1}, not {seat}")
    elif board_known and seat is not None and all(state.cells):
        yield Violation("seat_to_act", "must be unset: the board is full, so the game is finished")
    elif board_known and seat is None and not all(state.cells):
        yield Violation("seat_to_act", "must be set: the board has empty cells left")


def _check_conservation(state: StateRecord) -> Iterator[Violation]:
    """There are seven dice of each value."""
    left = [COPIES - count for count in state.played]
    for seat, hand in enumerate(state.hands):
        for index, die in enumerate(hand.dice):
            if not 1 <= die <= VALUES:
                continue
            left[die - 1] -= 1
            if left[die - 1] < 0:
                yield Violation(
                    f"hands[{seat}].dice[{index}]",
                    f"is one {die} too many: there are {COPIES}, {state.played[die - 1]} of them"
                    " played and the others in hands",
                )


def _plays(state: StateRecord, seats: int) -> list[int]:
    """How many dice each seat has played."""
    total = CELLS - state.cells.count(0) - 1
    if state.seat_to_act is None:
        return [total // seats] * seats
    rounds, rest = divmod(total, seats)
    # The last `rest` seats before the one to act have played once more than the others.
    return [rounds + ((state.seat_to_act - 1 - seat) % seats < rest) for seat in range(seats)]


def _check_hand_sizes(hands: list[HandRecord], plays: list[int]) -> Iterator[Violation]:
    draws = (CELLS - 1) // len(hands) - HAND  # by each seat in a whole game
    for seat, hand in enumerate(hands):
        expected = HAND + min(plays[seat], draws) - plays[seat]
        if hand.size != expected:
            part = "dice" if hand.hidden_count is None else "hidden_count"
            yield Violation(
                f"hands[{seat}].{part}",
                f"must be {expected} dice after {plays[seat]} plays of this seat, not {hand.size}",
            )


def _check_dice_shown(state: StateRecord, plays: list[int], *, scored: bool) -> list[Violation]:
    """The dice played can have come to show what the board shows, for so many points."""
    on_board = sum(plays) + 1
    if sum(state.played) != on_board:
        message = f"must add up to the {on_board} dice on the board, not {sum(state.played)}"
        return [Violation("played", message)]
    shown = [state.cells.count(value) for value in range(1, VALUES + 1)]
    wrong = list(_check_faces(state, shown))
    if scored and not wrong:
        wrong += _check_scores(state, shown, plays)
    return wrong


def _check_faces(state: StateRecord, shown: list[int]) -> Iterator[Violation]:
    for value, (count, original) in enumerate(zip(shown, state.played, strict=True), 1):
        if count and not original:
            yield Violation(
                f"cells[{state.cells.index(value)}]",
                f"must not show a {value}: no {value} was played, so no die can have become one",
            )
    # Captures only raise dice, so at most as many show a value or less as were played of them.
    for value, (count, original) in enumerate(
        zip(accumulate(shown), accumulate(state.played), strict=True), 1
    ):
        if count > original:
            yield Violation(
                "cells",
                f"show {count} dice of {value} or less, but only {original} of them were played"
                " and captures only raise dice",
            )
            break


def _check_scores(state: StateRecord, shown: list[int], plays: list[int]) -> Iterator[Violation]:
    """The points can come from the captures that raised the dice.

    To raise a die from x to v brings at least x points, in one capture, and at most
    x + (x+1) + ... + (v-1), step by step.
    """
    total = sum(state.scores)
    least = most = 0
    for value, (count, original) in enumerate(zip(shown, state.played, strict=True), 1):
        least += value * max(0, original - count)
        most += value * (value - 1) // 2 * (count - original)
    if not least <= total <= most:
        expected = str(least) if least == most else f"{least}..{most}"
        yield Violation(
            "scores", f"must add up to {expected}, as the captures on the board show, not {total}"
        )
    for seat, score in enumerate(state.scores):
        if score and not plays[seat]:
            yield Violation(
                f"scores[{seat}]", f"must be 0 before the seat's first play, not {score}"
            )
