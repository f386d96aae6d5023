"""ROYGBIV as text and plain data.

Notation: ``BOARD PLAYED HANDS SCORES SEAT``. BOARD is 7 rows of 7 characters, ``.`` or the value
shown, joined by ``/``; PLAYED is seven digits, how many dice of each original value lie on the
board; HANDS are joined by ``,``, one per seat: the dice, a ``?`` for each hidden one, or ``-`` for
none; SCORES are joined by ``,``; SEAT is the one to act, or ``-`` in a finished game. A move is
``5@d4``: the value, then the column a-g and the row 1-7 from the top.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from aleator.ext.core.game import State
from aleator.ext.games.roygbiv import Roygbiv
from aleator.search.errors import InvalidInput, Violation, shorten
from aleator.search.games.base import (
    Codec,
    GameEvent,
    Record,
    StrictModel,
    read_model,
)
from aleator.search.games.roygbiv_invariants import COPIES, SIDE, VALUES, StateRecord, violations
from aleator.search.games.roygbiv_progress import contradictions

COLUMNS = "abcdefg"
FIELDS = ("BOARD", "PLAYED", "HANDS", "SCORES", "SEAT")
SEAT_COUNTS = (2, 3, 4, 6)

# The shapes of the fields of the notation. Whether the digits can be is checked with the record.
ROW = r"[.0-9]{7}"
PLAYED = r"[0-9]{7}"
HAND = r"[0-9]+|\?+|-"
SCORE = r"[0-9]{1,4}"
SEAT = r"[0-9]|-"
SHAPE = re.compile(
    f"{ROW}(?:/{ROW}){{6}} {PLAYED} (?:{HAND})(?:,(?:{HAND}))* {SCORE}(?:,{SCORE})* (?:{SEAT})"
)

Coordinate = Annotated[int, Field(ge=0, le=SIDE - 1)]
Value = Annotated[int, Field(ge=1, le=VALUES)]


class RoygbivOptions(StrictModel):
    """The options of the rules page."""

    players: Literal[2, 3, 4, 6] = Field(2, description="Number of seats.")
    open_hands: bool = Field(
        default=False, description="Whether every seat sees every hand and every draw."
    )


class MoveRecord(StrictModel):
    """The typed move; a value of 0 is an unset field on the wire."""

    value: Value = Field(0, validate_default=True)
    row: Coordinate
    column: Coordinate


class OutcomeRecord(StrictModel):
    """The typed outcome of a draw."""

    drawn: Value = Field(0, validate_default=True)


class RoygbivCodec(Codec):
    """The codec of ROYGBIV."""

    id: ClassVar[str] = "roygbiv"
    title: ClassVar[str] = "ROYGBIV"
    hidden: ClassVar[str] = (
        "The other seats' hands, what they draw, and the order of the bag;"
        " with open_hands only the order of the bag."
    )
    seat_counts: ClassVar[tuple[int, ...]] = SEAT_COUNTS
    example: ClassVar[str] = (
        "roygbiv ......./......./......./...7..7/...76../6664667/7677777 0024066 ???,223 7,23 1"
    )
    Options: ClassVar[type[StrictModel]] = RoygbivOptions
    told_by_notation: ClassVar[frozenset[str]] = frozenset({"players"})
    move_kinds: ClassVar[frozenset[str]] = frozenset({"played"})
    chance_event: ClassVar[tuple[str, str, str]] = ("drew", "value", "drawn")

    rules: Roygbiv

    @staticmethod
    def make_rules(options: dict[str, Any]) -> Roygbiv:
        """The compiled rules."""
        return Roygbiv(**options)

    @classmethod
    def options_in_notation(cls, fields: Sequence[str]) -> dict[str, Any]:
        """The number of players, which is the number of hands."""
        _, _, hands, _, _ = _split(fields)
        count = hands.count(",") + 1
        if count not in SEAT_COUNTS:
            raise InvalidInput.at("", f"HANDS must hold 2, 3, 4 or 6 hands, not {count}")
        return {"players": count}

    def read_state(self, record: Mapping[str, Any]) -> State:
        """Read a state or observation and check it against the invariants of the game."""
        state = read_model(StateRecord, record)
        wrong = violations(state, self.rules.seats, open_hands=self.rules.open_hands)
        if wrong:
            raise InvalidInput(wrong)
        hands = [hand.hidden_count or hand.dice for hand in state.hands]
        return self.rules.pack(state.cells, state.played, hands, state.scores, state.seat_to_act)

    def write_state(self, state: State) -> Record:
        """The typed record; known hands ascending."""
        fields = self.rules.unpack(state)
        record: Record = {
            "cells": fields["cells"],
            "played": fields["played"],
            "hands": [
                {"hidden_count": hand} if isinstance(hand, int) else {"dice": hand}
                for hand in fields["hands"]
            ],
            "scores": fields["scores"],
        }
        if fields["seat_to_act"] is not None:
            record["seat_to_act"] = fields["seat_to_act"]
        return record

    def parse_state(self, fields: Sequence[str]) -> State:
        """Read the five fields of the notation."""
        board, played, hands, scores, seat = _split(fields)
        if not SHAPE.fullmatch(" ".join(fields)):
            raise InvalidInput(_misshapen(board, played, hands, scores, seat))
        record: Record = {
            "cells": [0 if face == "." else int(face) for face in board.replace("/", "")],
            "played": [int(count) for count in played],
            "hands": [_parse_hand(hand) for hand in hands.split(",")],
            "scores": [int(score) for score in scores.split(",")],
        }
        if seat != "-":
            record["seat_to_act"] = int(seat)
        return self.read_state(record)

    def format_state(self, state: State) -> str:
        """Write the five fields of the notation."""
        fields = self.rules.unpack(state)
        faces = "".join(str(face) if face else "." for face in fields["cells"])
        hands = (
            "?" * hand if isinstance(hand, int) else "".join(map(str, hand)) or "-"
            for hand in fields["hands"]
        )
        return " ".join(
            (
                "/".join(faces[start : start + SIDE] for start in range(0, len(faces), SIDE)),
                "".join(map(str, fields["played"])),
                ",".join(hands),
                ",".join(map(str, fields["scores"])),
                "-" if fields["seat_to_act"] is None else str(fields["seat_to_act"]),
            )
        )

    def read_move(self, record: Mapping[str, Any]) -> int:
        """The code: value * 49 + cell."""
        move = read_model(MoveRecord, record)
        return _encode(move.value, move.row, move.column)

    def write_move(self, move: int) -> Record:
        """The typed record."""
        value, row, column = _decode(move)
        return {"value": value, "row": row, "column": column}

    def parse_move(self, text: str) -> int:
        """Read a move such as ``5@d4``."""
        match = re.fullmatch(r"([1-7])@([a-g])([1-7])", text)
        if match is None:
            raise InvalidInput.at(
                "",
                "must be a value 1-7, @, a column a-g and a row 1-7, such as 5@e4,"
                f" not {shorten(text)}",
            )
        value, column, row = match.groups()
        return _encode(int(value), int(row) - 1, COLUMNS.index(column))

    def format_move(self, move: int) -> str:
        """Write a move such as ``5@d4``."""
        value, row, column = _decode(move)
        return f"{value}@{_cell_name(row, column)}"

    def describe_move(self, state: State | None, seat: int, move: int) -> str:  # noqa: ARG002
        """A sentence, with the dice captured if `state` is given."""
        if state is None:
            return f"{_placing(move)}."
        return _capturing(move, self.rules.values_captured(state, move))

    def explain_illegal(self, state: State, seat: int, move: int) -> str:
        """Why a seat cannot play a value on a cell."""
        value, row, column = _decode(move)
        fields = self.rules.unpack(state)
        face = fields["cells"][row * SIDE + column]
        if face:
            return f"{_cell_name(row, column)} is taken by a {face}; it must be an empty cell"
        return f"the hand of seat {seat} holds no {value}"

    def apply_outcome(self, state: State, record: Mapping[str, Any]) -> State:
        """Draw the die that the caller drew."""
        outcome = read_model(OutcomeRecord, record)
        try:
            return self.rules.draw(state, outcome.drawn)
        except ValueError as error:
            raise InvalidInput.at("drawn", str(error)) from None

    def events(
        self, before: State, moves: Sequence[tuple[int, int]], after: State
    ) -> list[GameEvent]:
        """What was played, that a die was drawn, and the end of the game."""
        ((seat, move),) = moves
        value, row, column = _decode(move)
        captured = self.captures(before, move)
        dice = tuple(die["value"] for die in captured)
        events = [
            GameEvent(
                seat,
                "played",
                f"Seat {seat} put a {value} on {_cell_name(row, column)},"
                f" {_captures_in_words(dice)}.",
                {
                    "played": {
                        "seat": seat,
                        "value": value,
                        "row": row,
                        "column": column,
                        "points": sum(dice),
                        "captured": captured,
                    }
                },
            )
        ]
        drawn = self._drawn(before, seat, value, after)
        if drawn is not None:
            events.append(self._draw_event(seat, drawn))
        if self.rules.finished(after):
            scores = self.rules.unpack(after)["scores"]
            points = ", ".join(f"seat {i} has {score}" for i, score in enumerate(scores))
            events.append(
                GameEvent(
                    None,
                    "finished",
                    f"The board is full: {points}.",
                    {"finished": {"scores": scores}},
                )
            )
        return events

    def hand_known(self, state: State, seat: int) -> bool:
        """Whether the seat's own dice are given."""
        return not isinstance(self.rules.unpack(state)["hands"][seat], int)

    def move_of_event(self, state: State, kind: str, event: Record) -> Record:  # noqa: ARG002
        """The die that was played, and where."""
        return {name: event[name] for name in ("value", "row", "column") if name in event}

    def outcome_of_events(self, events: Sequence[Record], *, own: bool) -> Record | None:
        """The die that was drawn, if the seat sees it."""
        if not (own or self.rules.open_hands):
            return None
        values = [event["drew"].get("value", 0) for event in events if "drew" in event]
        return {"drawn": values[0] if values else 0}

    def suppose(
        self, state: State, seat: int, move: tuple[int, int], outcome: Record | None
    ) -> State:
        """Deal the hidden dice so that the mover holds the one that it plays, if it can.

        And the one that is drawn lies in the bag.
        """
        if self.rules.is_full(state):
            return state
        fields = self.rules.unpack(self.rules.determinization(state, seat, 0))
        hands = [list(hand) for hand in fields["hands"] if not isinstance(hand, int)]
        bag = [
            value
            for value, count in enumerate(fields["played"], 1)
            for _ in range(COPIES - count - sum(hand.count(value) for hand in hands))
        ]
        mover, (value, _, _) = move[0], _decode(move[1])
        hidden = [hand for holder, hand in enumerate(hands) if holder != seat]
        if mover != seat and hands[mover]:
            _bring(value, hands[mover], [*hidden, bag])
        if outcome is not None:
            _bring(outcome["drawn"], bag, hidden)
        return self.rules.pack(
            fields["cells"], fields["played"], hands, fields["scores"], fields["seat_to_act"]
        )

    def public_event(self, event: Record) -> Record:
        """An event without the die that a seat drew for itself."""
        if self.rules.open_hands or "drew" not in event:
            return event
        return {"drew": {name: item for name, item in event["drew"].items() if name != "value"}}

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
        """The plays of the seat; its last one leaves no choice but of the cell, or none."""
        fields = self.rules.unpack(state)
        turn = 0 if fields["seat_to_act"] is None else fields["seat_to_act"]
        plays = fields["cells"].count(0)
        return len(range((seat - turn) % self.rules.seats, plays, self.rules.seats))

    def captures(self, state: State, move: int) -> list[Record]:
        """The dice that a legal move would turn, with the values they show."""
        return [
            {"row": cell // SIDE, "column": cell % SIDE, "value": value}
            for cell, value in self.rules.captured(state, move)
        ]

    def _drawn(self, before: State, seat: int, played: int, after: State) -> int | None:
        """The die that a seat drew after it played one; None if the bag was empty."""
        old = self.rules.unpack(before)["hands"][seat]
        new = self.rules.unpack(after)["hands"][seat]
        assert not isinstance(old, int), "full states show all hands"
        assert not isinstance(new, int), "full states show all hands"
        return sum(new) - sum(old) + played or None

    def _draw_event(self, seat: int, drawn: int) -> GameEvent:
        record: Record = {"seat": seat}
        if not self.rules.open_hands:
            return GameEvent(seat, "drew", f"Seat {seat} drew a die.", {"drew": record})
        record["value"] = drawn
        return GameEvent(seat, "drew", f"Seat {seat} drew a {drawn}.", {"drew": record})


def _bring(value: int, place: list[int], others: Sequence[list[int]]) -> None:
    """Exchange a die for one of a value, if any of the other places has one."""
    other = next((other for other in others if value in other), place)
    if value not in place and place and value in other:
        other.remove(value)
        other.append(place.pop())
        place.append(value)


def _encode(value: int, row: int, column: int) -> int:
    return (value * SIDE + row) * SIDE + column


def _decode(move: int) -> tuple[int, int, int]:
    rest, column = divmod(move, SIDE)
    value, row = divmod(rest, SIDE)
    return value, row, column


def _cell_name(row: int, column: int) -> str:
    return f"{COLUMNS[column]}{row + 1}"


@lru_cache(maxsize=10_000)  # lists of legal moves are full of the same ones
def _capturing(move: int, dice: tuple[int, ...]) -> str:
    return f"{_placing(move)}, {_captures_in_words(dice)}."


def _placing(move: int) -> str:
    value, row, column = _decode(move)
    return f"Put a {value} on {_cell_name(row, column)}"


def _captures_in_words(dice: Sequence[int]) -> str:
    if not dice:
        return "capturing nothing"
    *most, last = sorted(dice)
    listed = f"{', '.join(map(str, most))} and {last}" if most else str(last)
    points = sum(dice)
    return f"capturing {listed} for {points} {'point' if points == 1 else 'points'}"


def _split(fields: Sequence[str]) -> tuple[str, str, str, str, str]:
    """Name the fields of the notation, once there are as many as there must be."""
    if len(fields) != len(FIELDS):
        raise InvalidInput.at(
            "", f"must have the five fields {' '.join(FIELDS)} after the game, not {len(fields)}"
        )
    board, played, hands, scores, seat = fields
    return board, played, hands, scores, seat


def _misshapen(board: str, played: str, hands: str, scores: str, seat: str) -> Iterator[Violation]:
    """Say which parts of the notation do not have the shape they must have."""
    rows = board.split("/")
    if len(rows) != SIDE:
        yield Violation("", f"BOARD must have {SIDE} rows joined by /, not {len(rows)}")
        rows = []
    parts = [
        *(
            (f"BOARD row {number}", ROW, "7 of . and 1-7", row)
            for number, row in enumerate(rows, 1)
        ),
        ("PLAYED", PLAYED, "seven digits", played),
        *(("HANDS", HAND, "dice, or ? for each, or -", hand) for hand in hands.split(",")),
        *(("SCORES", SCORE, "whole numbers joined by ,", score) for score in scores.split(",")),
        ("SEAT", SEAT, "a digit or -", seat),
    ]
    for name, pattern, expected, text in parts:
        if not re.fullmatch(pattern, text):
            yield Violation("", f"{name} must be {expected}, not {shorten(text)}")


def _parse_hand(text: str) -> Record:
    if text == "-":
        return {"dice": []}
    if text[0] == "?":
        return {"hidden_count": len(text)}
    return {"dice": [int(die) for die in text]}
