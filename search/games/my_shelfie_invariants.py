"""What holds for every My Shelfie state that play can reach, checked on what callers send.

Here are the names of items and spaces, too, and what a line of a sheet scores.

The checks find everything that is wrong at once: each one runs as soon as the parts that it
compares are sound by themselves. They are necessary conditions, not sufficient ones: whether some
sequence of turns leads to exactly these sheets is not asked.

A crossed space tells how it came about: its row was crossed or blocked, and then has no blank
left, or its column was blocked, and then another seat has five circles there. And the marks of a
sheet bound the number of turns that its seat has had, which must be the same for all, but for
those that the current round has still to come to.
"""

from collections.abc import Iterator, Sequence

from pydantic import Field

from aleator.search.errors import Violation
from aleator.search.games.base import StrictModel

SIDE = 5
SPACES = SIDE * SIDE
DICE = 6
REROLLS = 2
CIRCLES_PER_TURN = 3
SCORING_CIRCLES = 3
BLANK, CIRCLED, CROSSED = range(3)
ITEMS = ("plants", "games", "books", "trophies", "cats")  # by row
FACES = (*ITEMS, "jokers")
SINGULARS = ("plant", "game", "book", "trophy", "cat", "joker")
ROWS = tuple(range(start, start + SIDE) for start in range(0, SPACES, SIDE))
COLUMNS = tuple(range(start, SPACES, SIDE) for start in range(SIDE))


class DiceRecord(StrictModel):
    """How many dice show each face; on the wire a 0 is absent."""

    plants: int = 0
    games: int = 0
    books: int = 0
    trophies: int = 0
    cats: int = 0
    jokers: int = 0

    @property
    def counts(self) -> tuple[int, ...]:
        """The six numbers, in the order of FACES."""
        return tuple(getattr(self, face) for face in FACES)

    @property
    def size(self) -> int:
        """The number of dice."""
        return sum(self.counts)


class SheetRecord(StrictModel):
    """The marks of a sheet, row by row."""

    spaces: list[int] = Field(default_factory=list)

    def filled(self, line: range) -> bool:
        """Whether a row or column has no blank space."""
        return all(self.spaces[space] != BLANK for space in line)

    def completed(self, line: range) -> bool:
        """Whether all of a row or column is circled."""
        return all(self.spaces[space] == CIRCLED for space in line)

    @property
    def ends_game(self) -> bool:
        """Whether two rows have no blank space."""
        return sum(map(self.filled, ROWS)) >= 2


class StateRecord(StrictModel):
    """The typed state, before its numbers are checked; on the wire 0 and empty are absent."""

    sheets: list[SheetRecord] = Field(default_factory=list)
    dice: DiceRecord | None = None
    rerolls: int = 0
    seat_to_act: int | None = None
    start_seat: int | None = None


def space_name(space: int) -> str:
    """A space in words, such as ``plants 3``."""
    return f"{ITEMS[space // SIDE]} {space % SIDE + 1}"


def line_name(line: range) -> str:
    """A row or column in words."""
    return f"the row of {ITEMS[line[0] // SIDE]}" if line in ROWS else f"column {line[0] + 1}"


def line_points(spaces: Sequence[int], values: Sequence[int], line: range) -> int | None:
    """The points of a row or column of a sheet; None if it has too few circles to score."""
    circled = [space for space in line if spaces[space] == CIRCLED]
    if len(circled) < SCORING_CIRCLES:
        return None
    return sum(values[space] for space in circled)


def check_dice(path: str, dice: DiceRecord) -> Iterator[Violation]:
    """Every number of dice by itself can be."""
    for face, count in zip(FACES, dice.counts, strict=True):
        if not 0 <= count <= DICE:
            yield Violation(f"{path}.{face}", f"must be 0..{DICE}, not {count}")


def violations(state: StateRecord, seats: int, *, immediate_end: bool) -> list[Violation]:
    """Everything in a state that cannot be, with paths into the typed record."""
    sheets = list(_check_sheets(state.sheets, seats))
    seat = list(_check_seats(state, seats))
    wrong = sheets + list(_check_dice(state)) + seat
    if sheets:
        return wrong
    marks = list(_check_crosses(state.sheets)) + list(_check_blocks(state.sheets))
    wrong += marks
    if seat or state.start_seat is None:
        return wrong
    end = list(_check_end(state, state.start_seat, immediate_end=immediate_end))
    wrong += end
    if marks or end:
        return wrong
    if not _turns_agree(state, state.start_seat, immediate_end=immediate_end):
        wrong.append(
            Violation(
                "sheets",
                "cannot be reached when seats take turns: the marks need more turns of one seat"
                " than another one can have had",
            )
        )
    return wrong


def _check_sheets(sheets: list[SheetRecord], seats: int) -> Iterator[Violation]:
    if len(sheets) != seats:
        yield Violation("sheets", f"must be {seats}, one for each seat, not {len(sheets)}")
        return
    for seat, sheet in enumerate(sheets):
        path = f"sheets[{seat}].spaces"
        if len(sheet.spaces) != SPACES:
            yield Violation(path, f"must have {SPACES} spaces, not {len(sheet.spaces)}")
            continue
        for space, mark in enumerate(sheet.spaces):
            if not BLANK <= mark <= CROSSED:
                yield Violation(f"{path}[{space}]", f"must be {BLANK}..{CROSSED}, not {mark}")


def _check_seats(state: StateRecord, seats: int) -> Iterator[Violation]:
    if state.start_seat is None:
        yield Violation("start_seat", "must be set: the last round ends before that seat")
    elif not 0 <= state.start_seat < seats:
        yield Violation("start_seat", f"must be 0..{seats - 1}, not {state.start_seat}")
    if state.seat_to_act is not None and not 0 <= state.seat_to_act < seats:
        yield Violation("seat_to_act", f"must be 0..{seats - 1}, not {state.seat_to_act}")


def _check_dice(state: StateRecord) -> Iterator[Violation]:
    if not 0 <= state.rerolls <= REROLLS:
        yield Violation("rerolls", f"must be 0..{REROLLS}, not {state.rerolls}")
    elif state.rerolls and state.seat_to_act is None:
        yield Violation("rerolls", "must be 0: no seat is to act, so the game is finished")
    if state.dice is None:
        if state.seat_to_act is not None:
            yield Violation("dice", f"must be set: {DICE} dice lie before the seat to act")
        return
    if state.seat_to_act is None:
        yield Violation("dice", "must be unset: no seat is to act, so the game is finished")
        return
    wrong = list(check_dice("dice", state.dice))
    yield from wrong
    if not wrong and state.dice.size != DICE:
        yield Violation("dice", f"must add up to {DICE} dice, not {state.dice.size}")


def _others_completed(sheets: list[SheetRecord], seat: int, line: range) -> bool:
    return any(sheet.completed(line) for other, sheet in enumerate(sheets) if other != seat)


def _check_crosses(sheets: list[SheetRecord]) -> Iterator[Violation]:
    for seat, sheet in enumerate(sheets):
        for space, mark in enumerate(sheet.spaces):
            row, column = ROWS[space // SIDE], COLUMNS[space % SIDE]
            if mark != CROSSED or sheet.filled(row) or _others_completed(sheets, seat, column):
                continue
            yield Violation(
                f"sheets[{seat}].spaces[{space}]",
                f"must not be crossed: {line_name(row)} has blank spaces left,"
                f" and no other seat has completed {line_name(column)}",
            )


def _check_blocks(sheets: list[SheetRecord]) -> Iterator[Violation]:
    for line in (*ROWS, *COLUMNS):
        owners = [seat for seat, sheet in enumerate(sheets) if sheet.completed(line)]
        for seat in owners[1:]:
            yield Violation(
                f"sheets[{seat}].spaces",
                f"must not have {line_name(line)} complete: seat {owners[0]} has it complete,"
                " and who is first blocks the others",
            )
        for seat, sheet in enumerate(sheets):
            for space in line:
                if owners and sheet.spaces[space] == BLANK:
                    yield Violation(
                        f"sheets[{seat}].spaces[{space}]",
                        f"must not be blank: seat {owners[0]} has completed {line_name(line)},"
                        " which crosses the blank spaces of the others there",
                    )


def _check_end(state: StateRecord, start: int, *, immediate_end: bool) -> Iterator[Violation]:
    seat = state.seat_to_act
    ending = any(sheet.ends_game for sheet in state.sheets)
    if seat is None:
        if not ending:
            yield Violation(
                "seat_to_act", "must be set: no sheet has two rows without a blank space yet"
            )
    elif ending and (immediate_end or seat == start):
        yield Violation(
            "seat_to_act",
            "must be unset: a sheet has two rows without a blank space, so the game is finished"
            if immediate_end
            else "must be unset: a sheet has two rows without a blank space, and the round is"
            " complete, so the game is finished",
        )
    elif BLANK not in state.sheets[seat].spaces:
        yield Violation(
            "seat_to_act", f"must be a seat with a blank space; seat {seat} has nothing to decide"
        )


def _turns_agree(state: StateRecord, start: int, *, immediate_end: bool) -> bool:
    """Whether the seats can have had as many turns as rounds allow."""
    seats = len(state.sheets)
    ranges = [_turns(state.sheets, (start + place) % seats) for place in range(seats)]
    if state.seat_to_act is not None:
        ahead = [(state.seat_to_act - start) % seats]
    else:
        ahead = list(range(seats)) if immediate_end else [0]
    # So many seats from the start on have had one turn more than the others.
    return any(
        max(least - (place < more) for place, (least, _) in enumerate(ranges))
        <= min(most - (place < more) for place, (_, most) in enumerate(ranges))
        for more in ahead
    )


def _turns(sheets: list[SheetRecord], seat: int) -> tuple[int, int]:
    """The least and the most turns that a seat can have had."""
    sheet = sheets[seat]
    circles = sheet.spaces.count(CIRCLED)
    crossed = [
        [space for space in row if sheet.spaces[space] == CROSSED]
        for row in ROWS
        if sheet.filled(row) and not _others_completed(sheets, seat, row)
    ]
    own = sum(
        not all(_others_completed(sheets, seat, COLUMNS[space % SIDE]) for space in spaces)
        for spaces in crossed
    )
    maybe_own = sum(
        CROSSED in [sheet.spaces[space] for space in row] for row in ROWS if sheet.filled(row)
    )
    passed = BLANK not in sheet.spaces  # in the last round, perhaps
    return -(-circles // CIRCLES_PER_TURN) + own, circles + maybe_own + passed
