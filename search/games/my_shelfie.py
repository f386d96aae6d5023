"""My Shelfie, the dice game, as text and plain data.

Notation: ``SHEETS DICE REROLLS SEAT START``. SHEETS are joined by ``,``, one per seat, each 5 rows
of 5 characters joined by ``/``: ``.`` blank, ``o`` circled, ``x`` crossed. DICE are six letters,
the initials of plants, games, books, trophies, cats and joker; REROLLS says how often dice may
still be rolled again, SEAT is the one to act, START the one that started. A finished game has
``-`` for DICE and SEAT. Moves are ``keep:ppj`` (``keep:-`` for none), ``circle:p2+g3`` and
``cross:t``, a space being the initial of its row and the number of dice that it needs.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from aleator.ext.core.game import State
from aleator.ext.games.my_shelfie import (
    CIRCLE_MOVES,
    CIRCLE_SETS,
    CROSS_MOVES,
    HAND_DICE,
    LARGEST_VALUE,
    MyShelfie,
)
from aleator.search.errors import InvalidInput, Violation, shorten
from aleator.search.games.base import Codec, GameEvent, Record, StrictModel, read_model
from aleator.search.games.my_shelfie_invariants import (
    BLANK,
    CIRCLED,
    CIRCLES_PER_TURN,
    COLUMNS,
    CROSSED,
    DICE,
    FACES,
    ROWS,
    SIDE,
    SINGULARS,
    SPACES,
    DiceRecord,
    SheetRecord,
    StateRecord,
    check_dice,
    line_name,
    space_name,
    violations,
)
from aleator.search.games.my_shelfie_progress import contradictions

FIELDS = ("SHEETS", "DICE", "REROLLS", "SEAT", "START")
SEAT_COUNTS = (2, 3, 4)
INITIALS = "pgbtcj"  # of FACES
MARKS = ".ox"
LAST_BLANKS = 4  # spaces of a sheet, about, that are blank still when a game ends

# The shapes of the fields of the notation. What the numbers can be is checked with the record.
SHEET_ROW = r"[.ox]{5}"
SHEET = f"{SHEET_ROW}(?:/{SHEET_ROW}){{4}}"
SHAPES = (
    ("DICE", r"[pgbtcj]{1,9}|-", "letters of pgbtcj or -"),
    ("REROLLS", r"[0-9]", "a digit"),
    ("SEAT", r"[0-9]|-", "a digit or -"),
    ("START", r"[0-9]", "a digit"),
)

_KEEP_CODES = {counts: code for code, counts in enumerate(HAND_DICE)}
_CIRCLE_CODES = {spaces: code for code, spaces in enumerate(CIRCLE_SETS, CIRCLE_MOVES)}

Coordinate = Annotated[int, Field(ge=0, le=SIDE - 1)]


class MyShelfieOptions(StrictModel):
    """The options of the rules page."""

    players: Literal[2, 3, 4] = Field(2, description="Number of seats.")
    values: list[Annotated[int, Field(ge=-LARGEST_VALUE, le=LARGEST_VALUE)]] = Field(
        [1, 2, 3, 5, 8] * SIDE,
        min_length=SPACES,
        max_length=SPACES,
        description="The points of the 25 spaces, row by row, as whole numbers.",
    )
    end: Literal["complete_round", "immediate"] = Field(
        "complete_round",
        description=(
            "When the game ends once a sheet has two rows without a blank space:"
            " with the round, or with the turn."
        ),
    )


class SpaceRecord(StrictModel):
    """A typed space."""

    row: Coordinate
    column: Coordinate


class CircleRecord(StrictModel):
    """The typed circle move."""

    spaces: list[SpaceRecord] = Field(
        [], min_length=1, max_length=CIRCLES_PER_TURN, validate_default=True
    )


class CrossRecord(StrictModel):
    """The typed cross move."""

    row: Coordinate


class MoveRecord(StrictModel):
    """The typed move: one of its fields is set."""

    keep: DiceRecord | None = None
    circle: CircleRecord | None = None
    cross: CrossRecord | None = None


class OutcomeRecord(StrictModel):
    """The typed outcome."""

    rolls: list[DiceRecord] = Field(default_factory=list)


class MyShelfieCodec(Codec):
    """The codec of My Shelfie."""

    id: ClassVar[str] = "my_shelfie"
    title: ClassVar[str] = "My Shelfie: The Dice Game"
    hidden: ClassVar[str] = ""
    seat_counts: ClassVar[tuple[int, ...]] = SEAT_COUNTS
    example: ClassVar[str] = (
        "my_shelfie oo.../xxoxx/.o.../...../o.o..,.oo../o..../.oo../o..../..o.. ggbtjj 1 1 0"
    )
    Options: ClassVar[type[StrictModel]] = MyShelfieOptions
    told_by_notation: ClassVar[frozenset[str]] = frozenset({"players"})
    move_kinds: ClassVar[frozenset[str]] = frozenset({"kept", "circled", "crossed"})
    chance_event: ClassVar[tuple[str, str, str]] = ("rolled", "dice", "rolls")

    rules: MyShelfie

    @staticmethod
    def make_rules(options: dict[str, Any]) -> MyShelfie:
        """The compiled rules."""
        return MyShelfie(options["players"], options["values"], options["end"] == "immediate")

    @classmethod
    def options_in_notation(cls, fields: Sequence[str]) -> dict[str, Any]:
        """The number of players, which is the number of sheets."""
        sheets, *_ = _split(fields)
        count = sheets.count(",") + 1
        if count not in SEAT_COUNTS:
            raise InvalidInput.at("", f"SHEETS must hold 2, 3 or 4 sheets, not {count}")
        return {"players": count}

    def read_state(self, record: Mapping[str, Any]) -> State:
        """Read a state and check it against the invariants of the game."""
        state = read_model(StateRecord, record)
        wrong = violations(state, self.rules.seats, immediate_end=self.rules.immediate_end)
        if wrong:
            raise InvalidInput(wrong)
        assert state.start_seat is not None, "checked above"
        return self.rules.pack(
            [sheet.spaces for sheet in state.sheets],
            (state.dice or DiceRecord()).counts,
            state.rerolls,
            state.seat_to_act,
            state.start_seat,
        )

    def write_state(self, state: State) -> Record:
        """The typed record."""
        fields = self.rules.unpack(state)
        record: Record = {"sheets": [{"spaces": sheet} for sheet in fields["sheets"]]}
        if fields["seat_to_act"] is not None:
            record["dice"] = _dice_record(fields["dice"])
            record["seat_to_act"] = fields["seat_to_act"]
        record["rerolls"] = fields["rerolls"]
        record["start_seat"] = fields["start_seat"]
        return record

    def parse_state(self, fields: Sequence[str]) -> State:
        """Read the five fields of the notation."""
        sheets, dice, rerolls, seat, start = _split(fields)
        wrong = list(_misshapen(sheets, (dice, rerolls, seat, start)))
        if wrong:
            raise InvalidInput(wrong)
        record: Record = {
            "sheets": [
                {"spaces": [MARKS.index(mark) for mark in sheet.replace("/", "")]}
                for sheet in sheets.split(",")
            ],
            "rerolls": int(rerolls),
            "start_seat": int(start),
        }
        if dice != "-":
            record["dice"] = _dice_record([dice.count(initial) for initial in INITIALS])
        if seat != "-":
            record["seat_to_act"] = int(seat)
        return self.read_state(record)

    def format_state(self, state: State) -> str:
        """Write the five fields of the notation."""
        fields = self.rules.unpack(state)
        sheets = (
            "/".join("".join(MARKS[sheet[space]] for space in row) for row in ROWS)
            for sheet in fields["sheets"]
        )
        seat = fields["seat_to_act"]
        return " ".join(
            (
                ",".join(sheets),
                _letters(fields["dice"]),
                str(fields["rerolls"]),
                "-" if seat is None else str(seat),
                str(fields["start_seat"]),
            )
        )

    def read_move(self, record: Mapping[str, Any]) -> int:
        """The code: of a keep, then of a circle, then of a cross move."""
        move = read_model(MoveRecord, record)
        if [move.keep, move.circle, move.cross].count(None) != 2:
            raise InvalidInput.at("", "must have exactly one of keep, circle and cross")
        if move.cross is not None:
            return CROSS_MOVES + move.cross.row
        if move.circle is not None:
            spaces = [space.row * SIDE + space.column for space in move.circle.spaces]
            for index, space in enumerate(spaces):
                if space in spaces[:index]:
                    raise InvalidInput.at(
                        f"circle.spaces[{index}]", f"names {space_name(space)} again"
                    )
            return _CIRCLE_CODES[tuple(sorted(spaces))]
        assert move.keep is not None, "one of three is set"
        wrong = list(check_dice("keep", move.keep))
        if not wrong and move.keep.size > DICE:
            wrong = [Violation("keep", f"must be at most {DICE} dice, not {move.keep.size}")]
        if wrong:
            raise InvalidInput(wrong)
        return _KEEP_CODES[move.keep.counts]

    def write_move(self, move: int) -> Record:
        """The typed record."""
        if move >= CROSS_MOVES:
            return {"cross": {"row": move - CROSS_MOVES}}
        if move >= CIRCLE_MOVES:
            return {"circle": {"spaces": _space_records(CIRCLE_SETS[move - CIRCLE_MOVES])}}
        return {"keep": _dice_record(HAND_DICE[move])}

    def parse_move(self, text: str) -> int:
        """Read a move such as ``keep:ppj``, ``circle:p2+g3`` or ``cross:t``."""
        kind, _, rest = text.partition(":")
        if kind == "keep" and re.fullmatch(r"[pgbtcj]{1,6}|-", rest):
            return _KEEP_CODES[tuple(rest.count(initial) for initial in INITIALS)]
        if kind == "cross" and re.fullmatch(r"[pgbtc]", rest):
            return CROSS_MOVES + INITIALS.index(rest)
        if kind == "circle" and re.fullmatch(r"[pgbtc][1-5](?:\+[pgbtc][1-5]){0,2}", rest):
            spaces = {INITIALS.index(name[0]) * SIDE + int(name[1]) - 1 for name in rest.split("+")}
            if len(spaces) == rest.count("+") + 1:
                return _CIRCLE_CODES[tuple(sorted(spaces))]
        raise InvalidInput.at(
            "",
            "must be keep: and dice of pgbtcj or -, circle: and 1-3 different spaces joined by +,"
            " or cross: and a row of pgbtc, such as keep:ppj, circle:p2+g3 or cross:t,"
            f" not {shorten(text)}",
        )

    def format_move(self, move: int) -> str:
        """Write a move such as ``keep:ppj``."""
        if move >= CROSS_MOVES:
            return f"cross:{INITIALS[move - CROSS_MOVES]}"
        if move >= CIRCLE_MOVES:
            spaces = CIRCLE_SETS[move - CIRCLE_MOVES]
            return "circle:" + "+".join(
                f"{INITIALS[space // SIDE]}{space % SIDE + 1}" for space in spaces
            )
        return f"keep:{_letters(HAND_DICE[move])}"

    def describe_move(self, state: State | None, seat: int, move: int) -> str:
        """A sentence; if `state` is given, with what a circle or cross move brings."""
        if move < CIRCLE_MOVES:
            return _describe_keep(HAND_DICE[move])
        if move < CROSS_MOVES:
            return self._describe_circle(state, seat, move)
        row = ROWS[move - CROSS_MOVES]
        if state is None:
            return f"Cross {line_name(row)}."
        sheet = self._sheets(state)[seat]
        blank = [space for space in row if sheet.spaces[space] == BLANK]
        return f"Cross {line_name(row)}: {_spaces_in_words(blank)}."

    def _describe_circle(self, state: State | None, seat: int, move: int) -> str:
        circling = f"Circle {_spaces_in_words(CIRCLE_SETS[move - CIRCLE_MOVES])}"
        if state is None:
            return f"{circling}."
        after = self.rules.apply_move(state, seat, move)
        lines = _completed(self._sheets(state)[seat], self._sheets(after)[seat])
        if lines:
            circling += f", completing {_listed([line_name(line) for line in lines])}"
        return f"{circling}, for {_points_in_words(self._points(seat, state, after))}."

    def explain_illegal(self, state: State, seat: int, move: int) -> str:
        """Why a seat cannot keep these dice, circle these spaces or cross this row."""
        fields = self.rules.unpack(state)
        if move < CIRCLE_MOVES:
            return _explain_keep(fields["dice"], fields["rerolls"], HAND_DICE[move])
        if fields["rerolls"]:
            return "the dice can be rolled again: first say which to keep, all six to stop rolling"
        if move < CROSS_MOVES:
            sheet = fields["sheets"][seat]
            return _explain_circle(fields["dice"], sheet, CIRCLE_SETS[move - CIRCLE_MOVES])
        if any(code < CROSS_MOVES for code in self.rules.legal_moves(state, seat)):
            return "a row may be crossed only if nothing can be circled"
        return f"{line_name(ROWS[move - CROSS_MOVES])} has no blank space"

    def apply_outcome(self, state: State, record: Mapping[str, Any]) -> State:
        """Let the dice show what they showed on the caller's table.

        Turns in which there is nothing to decide have a roll, too.
        """
        rolls = read_model(OutcomeRecord, record).rolls
        wrong = [
            violation
            for index, dice in enumerate(rolls)
            for violation in check_dice(f"rolls[{index}]", dice)
        ]
        if wrong:
            raise InvalidInput(wrong)
        needed = 0
        while self.rules.chance_pending(state):
            path = f"rolls[{needed}]"
            count = self.rules.dice_to_roll(state)
            seat = self.rules.unpack(state)["seat_to_act"]
            if needed == len(rolls):
                raise InvalidInput.at(path, f"is missing: seat {seat} rolls {count} dice")
            dice = rolls[needed]
            if dice.size != count:
                raise InvalidInput.at(
                    path, f"must add up to the {count} dice that seat {seat} rolls, not {dice.size}"
                )
            state = self.rules.roll(state, dice.counts)
            needed += 1
        if len(rolls) > needed:
            raise InvalidInput.at(f"rolls[{needed}]", f"is too many: {needed} are needed")
        return state

    def events(
        self, before: State, moves: Sequence[tuple[int, int]], after: State
    ) -> list[GameEvent]:
        """What was kept, circled, crossed and blocked, the dice rolled, and the end."""
        ((seat, move),) = moves
        if move < CIRCLE_MOVES:
            return list(self._keep_events(seat, HAND_DICE[move], after))
        events = list(self._mark_events(seat, before, after))
        events += self._turn_events(seat, before, after)
        return events

    def _keep_events(self, seat: int, kept: Sequence[int], after: State) -> Iterator[GameEvent]:
        record = {"seat": seat, "dice": _dice_record(kept)}
        words = "all six dice" if sum(kept) == DICE else _dice_in_words(kept)
        yield GameEvent(seat, "kept", f"Seat {seat} kept {words}.", {"kept": record})
        if sum(kept) < DICE:
            shown = self.rules.unpack(after)["dice"]
            yield _rolled(seat, [new - old for new, old in zip(shown, kept, strict=True)])

    def _mark_events(self, seat: int, before: State, after: State) -> Iterator[GameEvent]:
        """The marks of the seat that moved, and of those that it blocked."""
        old_sheets, new_sheets = self._sheets(before), self._sheets(after)
        circled = _changed(old_sheets[seat], new_sheets[seat], CIRCLED)
        if circled:
            points = self._points(seat, before, after)
            words = f"circled {_spaces_in_words(circled)}, for {_points_in_words(points)}"
            record: Record = {"seat": seat, "spaces": _space_records(circled), "points": points}
            yield GameEvent(seat, "circled", f"Seat {seat} {words}.", {"circled": record})
        else:
            crossed = _changed(old_sheets[seat], new_sheets[seat], CROSSED)
            row = crossed[0] // SIDE
            words = f"crossed {line_name(ROWS[row])}: {_spaces_in_words(crossed)}"
            record = {"seat": seat, "row": row, "spaces": _space_records(crossed)}
            yield GameEvent(seat, "crossed", f"Seat {seat} {words}.", {"crossed": record})
        for line in _completed(old_sheets[seat], new_sheets[seat]):
            record = {"seat": seat}
            if line in ROWS:
                record["row"] = ROWS.index(line)
            else:
                record["column"] = COLUMNS.index(line)
            words = f"Seat {seat} completed {line_name(line)}."
            yield GameEvent(seat, "completed", words, {"completed": record})
        for other in range(self.rules.seats):
            blocked = _changed(old_sheets[other], new_sheets[other], CROSSED)
            if other != seat and blocked:
                record = {"seat": other, "spaces": _space_records(blocked), "by_seat": seat}
                words = f"Seat {other} had to cross {_spaces_in_words(blocked)}."
                yield GameEvent(other, "blocked", words, {"blocked": record})

    def _turn_events(self, seat: int, before: State, after: State) -> Iterator[GameEvent]:
        """What follows a turn: the last round, turns without a decision, a roll or the end."""
        fields = self.rules.unpack(after)
        finished = self.rules.finished(after)
        if not finished and not any(sheet.ends_game for sheet in self._sheets(before)):
            for enders in [s for s, sheet in enumerate(self._sheets(after)) if sheet.ends_game]:
                words = "has two rows without a blank space: this is the last round"
                record = {"seat": enders}
                yield GameEvent(
                    enders, "last_round", f"Seat {enders} {words}.", {"last_round": record}
                )
        stop = fields["start_seat"] if fields["seat_to_act"] is None else fields["seat_to_act"]
        if not (finished and self.rules.immediate_end):
            passing = (seat + 1) % self.rules.seats
            while passing != stop:
                words = f"Seat {passing} has no blank space left and passes."
                yield GameEvent(passing, "passed", words, {"passed": {"seat": passing}})
                passing = (passing + 1) % self.rules.seats
        if not finished:
            yield _rolled(stop, fields["dice"])
            return
        scores = [round(score) for score in self.rules.scores(after)]
        points = ", ".join(f"seat {i} has {score}" for i, score in enumerate(scores))
        yield GameEvent(
            None, "finished", f"The game is over: {points}.", {"finished": {"scores": scores}}
        )

    def hand_known(self, state: State, seat: int) -> bool:  # noqa: ARG002
        """Always: nothing is hidden."""
        return True

    def move_of_event(self, state: State, kind: str, event: Record) -> Record:  # noqa: ARG002
        """The move that was kept, circled or crossed."""
        if kind == "kept":
            return {"keep": event.get("dice", {})}
        if kind == "circled":
            return {"circle": {"spaces": event.get("spaces", [])}}
        return {"cross": {"row": event.get("row")}}

    def outcome_of_events(self, events: Sequence[Record], *, own: bool) -> Record:  # noqa: ARG002
        """The rolls."""
        return {"rolls": [event["rolled"].get("dice", {}) for event in events if "rolled" in event]}

    def contradictions(
        self,
        before: State,
        after: State,
        seat: int,  # noqa: ARG002
        answered: int | None,
    ) -> list[Violation]:
        """Why one observation cannot have come of an earlier one."""
        return contradictions(self.rules, before, after, answered)

    def decisions_left(self, state: State, seat: int) -> float:
        """About one for each blank space, but for those of the end: so it is in play."""
        fields = self.rules.unpack(state)
        blank = fields["sheets"][seat].count(BLANK)
        return max(1, blank - LAST_BLANKS) + fields["rerolls"]

    def _points(self, seat: int, before: State, after: State) -> int:
        """By how much the score of a seat has changed."""
        return round(self.rules.scores(after)[seat] - self.rules.scores(before)[seat])

    def _sheets(self, state: State) -> list[SheetRecord]:
        return [SheetRecord(spaces=sheet) for sheet in self.rules.unpack(state)["sheets"]]


def _describe_keep(kept: Sequence[int]) -> str:
    left = DICE - sum(kept)
    if left == 0:
        return "Keep all six dice and stop rolling."
    if left == DICE:
        return "Roll all six dice again."
    others = "the other die" if left == 1 else f"the other {left} dice"
    return f"Keep {_dice_in_words(kept)} and roll {others} again."


def _explain_keep(dice: Sequence[int], rerolls: int, kept: Sequence[int]) -> str:
    if rerolls == 0:
        return "the dice cannot be rolled again in this turn"
    face, shown = next(
        (face, shown) for face, count, shown in zip(FACES, kept, dice, strict=True) if count > shown
    )
    return f"the dice do not show so many {face}, but {shown}"


def _explain_circle(dice: Sequence[int], sheet: Sequence[int], spaces: Sequence[int]) -> str:
    for space in spaces:
        if sheet[space] != BLANK:
            mark = "circled" if sheet[space] == CIRCLED else "crossed"
            return f"{space_name(space)} is {mark} already"
    if dice[-1] == DICE:
        return "six jokers circle exactly one space"
    return (
        f"{_dice_in_words(dice)} do not pay for {_spaces_in_words(spaces)}: each space takes dice"
        " of its row, one of which may be a joker if it takes two or more"
    )


def _rolled(seat: int, dice: Sequence[int]) -> GameEvent:
    record = {"seat": seat, "dice": _dice_record(dice)}
    return GameEvent(
        seat, "rolled", f"Seat {seat} rolled {_dice_in_words(dice)}.", {"rolled": record}
    )


def _completed(old: SheetRecord, new: SheetRecord) -> list[range]:
    """The rows and columns that have become complete."""
    return [line for line in (*ROWS, *COLUMNS) if new.completed(line) and not old.completed(line)]


def _changed(old: SheetRecord, new: SheetRecord, mark: int) -> list[int]:
    """The spaces that were given a mark."""
    return [space for space in range(SPACES) if old.spaces[space] != new.spaces[space] == mark]


def _dice_record(counts: Sequence[int]) -> Record:
    return dict(zip(FACES, counts, strict=True))


def _space_records(spaces: Sequence[int]) -> list[Record]:
    return [{"row": space // SIDE, "column": space % SIDE} for space in spaces]


def _letters(counts: Sequence[int]) -> str:
    return "".join(i * count for i, count in zip(INITIALS, counts, strict=True)) or "-"


def _listed(words: Sequence[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def _dice_in_words(counts: Sequence[int]) -> str:
    words = [
        f"{count} {singular if count == 1 else plural}"
        for count, singular, plural in zip(counts, SINGULARS, FACES, strict=True)
        if count
    ]
    return _listed(words) if words else "none of the dice"


def _spaces_in_words(spaces: Sequence[int]) -> str:
    return _listed([space_name(space) for space in spaces])


def _points_in_words(points: int) -> str:
    return f"{points} {'point' if points == 1 else 'points'}"


def _split(fields: Sequence[str]) -> tuple[str, str, str, str, str]:
    """Name the fields of the notation, once there are as many as there must be."""
    if len(fields) != len(FIELDS):
        raise InvalidInput.at(
            "", f"must have the five fields {' '.join(FIELDS)} after the game, not {len(fields)}"
        )
    sheets, dice, rerolls, seat, start = fields
    return sheets, dice, rerolls, seat, start


def _misshapen(sheets: str, others: Sequence[str]) -> Iterator[Violation]:
    """Say which parts of the notation do not have the shape they must have."""
    for seat, sheet in enumerate(sheets.split(",")):
        if not re.fullmatch(SHEET, sheet):
            yield Violation(
                "",
                f"SHEETS: sheet {seat} must be 5 rows of 5 of {MARKS} joined by /,"
                f" not {shorten(sheet, 30)}",
            )
    for (name, pattern, expected), text in zip(SHAPES, others, strict=True):
        if not re.fullmatch(pattern, text):
            yield Violation("", f"{name} must be {expected}, not {shorten(text)}")
