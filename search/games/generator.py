"""Generator as text and plain data.

Notation: ``BOARD SEAT ROLLED ROLLS``. BOARD lists the stacks of each seat, the seats joined by
``/``: the stacks are joined by ``,``, each a node and its pieces, the top one first, such as
``GRY:SL``; ``-`` stands for none. SEAT is the one to act and ROLLED the colour it rolled, both
``-`` in a finished game. ROLLS counts the rolls so far, this one included. A move is ``pass``,
``enter:S``, or ``GR-GRY``, the nodes from and to, with ``:top`` for the top piece of a tower and
``:two`` for the upper two of three.
"""

import re
from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import Field, model_validator

from aleator.ext.core.game import State
from aleator.ext.games.generator import Generator
from aleator.search.errors import InvalidInput, Violation, shorten
from aleator.search.games.base import Codec, GameEvent, Record, StrictModel, read_model
from aleator.search.games.generator_invariants import (
    COLOURS,
    DEEPEST,
    SIZES,
    StateRecord,
    node_name,
    node_number,
    pieces_of,
    sizes_of,
    violations,
)
from aleator.search.games.generator_progress import contradictions

FIELDS = ("BOARD", "SEAT", "ROLLED", "ROLLS")
SEAT_COUNTS = (2, 3, 4)
COLOUR_NAMES = {"G": "green", "R": "red", "Y": "yellow", "B": "blue"}
SIZE_NAMES = {"S": "small", "M": "medium", "L": "large"}
GOALS = len(SIZES)  # pieces in place that win
FEWEST_TURNS = 60  # of a seat that a game is thought to go on, at the least

# Codes of the moves that are not steps between nodes; the compiled rules number
# steps so that the lowest two bits are never 0.
PASS = 0
ENTER = {size: 4 * number for number, size in enumerate(SIZES, 1)}

NodeName = Annotated[str, Field(pattern=r"^[GRYB]{1,4}$")]


class Unit(IntEnum):
    """What part of a stack moves, with the numbers of the wire's enum."""

    WHOLE = 1
    TOP = 2
    UPPER_TWO = 3


UNIT_NAMES = {
    Unit.WHOLE: "the whole stack",
    Unit.TOP: "the top piece",
    Unit.UPPER_TWO: "the upper two pieces",
}
UNIT_SUFFIXES = {Unit.WHOLE: "", Unit.TOP: ":top", Unit.UPPER_TWO: ":two"}


class GeneratorOptions(StrictModel):
    """The options of the rules page."""

    players: Literal[2, 3, 4] = Field(2, description="Number of seats.")
    horizontal: Literal["any_corner", "adjacent"] = Field(
        "any_corner",
        description="Whether a horizontal move reaches any corner of the quadrangle, or only the"
        " two adjacent ones.",
    )
    forced_move: bool = Field(
        default=False,
        description="Whether a seat may pass only when it has no other legal move.",
    )
    sub_towers: bool = Field(
        default=False,
        description="Whether the upper two pieces of a tower of three may move as one unit.",
    )
    enter_stacks: bool = Field(
        default=False,
        description="Whether a new pyramid may enter on top of a larger one of its own.",
    )
    max_rolls: int = Field(
        2000,
        ge=1,
        le=65535,
        description="The number of rolls after which the game is drawn, 1-65535.",
    )


class PassRecord(StrictModel):
    """A pass says nothing more."""


class EnterRecord(StrictModel):
    """Which pyramid enters."""

    size: Literal["S", "M", "L"]


class StepRecord(StrictModel):
    """What moves where; a unit of 0 is an unset field on the wire."""

    from_node: NodeName
    to_node: NodeName
    unit: Annotated[int, Field(ge=0, le=max(Unit))] = 0


class MoveRecord(StrictModel):
    """The typed move: one of the three."""

    pass_turn: PassRecord | None = None
    enter: EnterRecord | None = None
    step: StepRecord | None = None

    @model_validator(mode="after")
    def _one_is_set(self) -> "MoveRecord":
        if (self.pass_turn, self.enter, self.step).count(None) != 2:
            raise ValueError("must hold one of pass_turn, enter and step")
        return self


class OutcomeRecord(StrictModel):
    """The typed outcome of a roll."""

    rolled: Literal["G", "R", "Y", "B"]


class Stack(NamedTuple):
    """What stands on a node: whose, and its pieces, the top one first."""

    seat: int
    pieces: str


class GeneratorCodec(Codec):
    """The codec of Generator."""

    id: ClassVar[str] = "generator"
    title: ClassVar[str] = "Generator"
    score_unit: ClassVar[str] = "pieces in place"
    hidden: ClassVar[str] = ""
    seat_counts: ClassVar[tuple[int, ...]] = SEAT_COUNTS
    example: ClassVar[str] = "generator G:M,GR:ML,YG:L,RYG:SM/Y:SL,YY:M,RBGB:S 0 R 57"
    Options: ClassVar[type[StrictModel]] = GeneratorOptions
    told_by_notation: ClassVar[frozenset[str]] = frozenset({"players"})
    move_kinds: ClassVar[frozenset[str]] = frozenset({"passed", "entered", "moved"})
    chance_event: ClassVar[tuple[str, str, str]] = ("rolled", "colour", "rolled")
    # Nearly all games that do not end in a draw have ended by then; in the others both seats block
    # each other's start and pass till the end.
    measured_with: ClassVar[Mapping[str, Any]] = {"max_rolls": 400}

    rules: Generator

    @staticmethod
    def make_rules(options: dict[str, Any]) -> Generator:
        """The compiled rules."""
        return Generator(**options)

    @classmethod
    def options_in_notation(cls, fields: Sequence[str]) -> dict[str, Any]:
        """The number of players, which is the number of parts of BOARD."""
        board, *_ = _split(fields)
        count = board.count("/") + 1
        if count not in SEAT_COUNTS:
            raise InvalidInput.at("", f"BOARD must have 2, 3 or 4 parts joined by /, not {count}")
        return {"players": count}

    def read_state(self, record: Mapping[str, Any]) -> State:
        """Read a state and check it against the invariants of the game."""
        state = read_model(StateRecord, record)
        wrong = violations(state, self._letters(), self.rules.max_rolls)
        if wrong:
            raise InvalidInput(wrong)
        packed = self.rules.pack(
            [
                [(node_number(stack.node), sizes_of(stack.pieces)) for stack in seat.stacks]
                for seat in state.seats
            ],
            state.seat_to_act,
            COLOURS.index(state.rolled) if state.rolled else None,
            state.rolls,
        )
        wrong = self._end_faults(packed, state)
        if wrong:
            raise InvalidInput(wrong)
        return packed

    def _end_faults(self, packed: State, state: StateRecord) -> list[Violation]:
        """The game is finished if a seat has won or the rolls are used up, and only then."""
        winners = [seat for seat, score in enumerate(self.rules.scores(packed)) if score == GOALS]
        if len(winners) > 1:
            listed = " and ".join(map(str, winners))
            return [Violation("seats", f"cannot have two winners: seats {listed} have won")]
        if winners and state.seat_to_act is not None:
            return [Violation("seat_to_act", f"must be unset: seat {winners[0]} has won the game")]
        if not winners and state.seat_to_act is None and state.rolls < self.rules.max_rolls:
            return [
                Violation(
                    "seat_to_act",
                    f"must be set: nobody has won, and {state.rolls} of {self.rules.max_rolls}"
                    " rolls are used",
                )
            ]
        return []

    def write_state(self, state: State) -> Record:
        """The typed record; stacks by level and then in the order of the colours."""
        fields = self.rules.unpack(state)
        record: Record = {
            "seats": [
                {
                    "colour": colour,
                    "stacks": [
                        {"node": node_name(node), "pieces": pieces_of(sizes)}
                        for node, sizes in stacks
                    ],
                    "stash": dict(zip(SIZE_NAMES.values(), stash, strict=True)),
                }
                for colour, stacks, stash in zip(
                    self._letters(), fields["stacks"], fields["stash"], strict=True
                )
            ],
            "rolls": fields["rolls"],
        }
        if fields["seat_to_act"] is not None:
            record["seat_to_act"] = fields["seat_to_act"]
        if fields["rolled"] is not None:
            record["rolled"] = COLOURS[fields["rolled"]]
        return record

    def parse_state(self, fields: Sequence[str]) -> State:
        """Read the four fields of the notation."""
        board, seat, rolled, rolls = _split(fields)
        parts = [
            [] if part == "-" else [stack.partition(":") for stack in part.split(",")]
            for part in board.split("/")
        ]
        wrong = [
            Violation("", f"BOARD must be of nodes and pieces, such as GRY:SL, not {given}")
            for part in parts
            for node, colon, pieces in part
            if not (node and colon and pieces)
            for given in [shorten(f"{node}{colon}{pieces}")]
        ]
        for name, pattern, expected, text in (
            ("SEAT", r"\d|-", "a digit or -", seat),
            ("ROLLED", r"[GRYB]|-", "G, R, Y, B or -", rolled),
            ("ROLLS", r"\d{1,6}", "a number", rolls),
        ):
            if not re.fullmatch(pattern, text, re.ASCII):
                wrong.append(Violation("", f"{name} must be {expected}, not {shorten(text)}"))
        if wrong:
            raise InvalidInput(wrong)
        record: Record = {
            "seats": [
                {"stacks": [{"node": node, "pieces": pieces} for node, _, pieces in part]}
                for part in parts
            ],
            "rolls": int(rolls),
        }
        if seat != "-":
            record["seat_to_act"] = int(seat)
        if rolled != "-":
            record["rolled"] = rolled
        return self.read_state(record)

    def format_state(self, state: State) -> str:
        """Write the four fields of the notation."""
        fields = self.rules.unpack(state)
        parts = (
            ",".join(f"{node_name(node)}:{pieces_of(sizes)}" for node, sizes in stacks) or "-"
            for stacks in fields["stacks"]
        )
        seat, rolled = fields["seat_to_act"], fields["rolled"]
        return " ".join(
            (
                "/".join(parts),
                "-" if seat is None else str(seat),
                "-" if rolled is None else COLOURS[rolled],
                str(fields["rolls"]),
            )
        )

    def read_move(self, record: Mapping[str, Any]) -> int:
        """The code of a typed move."""
        move = read_model(MoveRecord, record)
        if move.enter is not None:
            return ENTER[move.enter.size]
        if move.step is not None:
            return self._encode(
                move.step.from_node, move.step.to_node, Unit(move.step.unit or Unit.WHOLE), "step"
            )
        return PASS

    def write_move(self, move: int) -> Record:
        """The typed record."""
        step = self._step(move)
        if step is not None:
            origin, target, unit = step
            return {"step": {"from_node": origin, "to_node": target, "unit": int(unit)}}
        if move == PASS:
            return {"pass_turn": {}}
        return {"enter": {"size": _entering(move)}}

    def parse_move(self, text: str) -> int:
        """Read a move such as ``pass``, ``enter:S`` or ``GR-GRY:top``."""
        if text == "pass":
            return PASS
        match = re.fullmatch(r"enter:([SML])", text)
        if match is not None:
            return ENTER[match[1]]
        match = re.fullmatch(r"([GRYB]{1,4})-([GRYB]{1,4})(|:top|:two)", text)
        if match is None:
            raise InvalidInput.at(
                "",
                "must be pass, enter:S (or M, L), or the nodes from and to, such as GR-GRY, with"
                f" :top or :two for a part of a tower, not {shorten(text)}",
            )
        origin, target, suffix = match.groups()
        unit = next(unit for unit, written in UNIT_SUFFIXES.items() if written == suffix)
        return self._encode(origin, target, unit, "")

    def format_move(self, move: int) -> str:
        """Write a move such as ``GR-GRY:top``."""
        step = self._step(move)
        if step is not None:
            origin, target, unit = step
            return f"{origin}-{target}{UNIT_SUFFIXES[unit]}"
        return "pass" if move == PASS else f"enter:{_entering(move)}"

    def _encode(self, origin: str, target: str, unit: Unit, path: str) -> int:
        try:
            return self.rules.step(node_number(origin), node_number(target), unit)
        except ValueError:
            raise InvalidInput.at(path, f"no rod joins {origin} and {target}") from None

    def _step(self, move: int) -> tuple[str, str, Unit] | None:
        """The nodes and the unit of a step; None for other moves."""
        parts = self.rules.step_parts(move)
        if parts is None:
            return None
        origin, target, unit = parts
        return node_name(origin), node_name(target), Unit(unit)

    def describe_move(self, state: State | None, seat: int, move: int) -> str:
        """A sentence, with what is captured and won if `state` is given."""
        if move == PASS:
            return "Pass."
        step = self._step(move)
        if state is None:
            if step is None:
                return f"Enter {_a_pyramid(_entering(move))}."
            origin, target, unit = step
            return f"Move {UNIT_NAMES[unit]} from {origin} to {target}."
        stacks = self._stacks(state)
        if step is None:
            target = self._letters()[seat]
            doing = f"Enter {_a_pyramid(_entering(move))} on {target}"
        else:
            origin, target, unit = step
            moving = _unit_in_words(stacks[origin].pieces, unit, origin)
            doing = f"Move {moving} to {target}"
        consequence = ""
        standing = stacks.get(target)
        if standing is not None:
            consequence = (
                f", onto {_pieces_in_words(standing.pieces)}"
                if standing.seat == seat
                else f", capturing {self._captured_in_words(standing)}"
            )
        if self.rules.scores(self.rules.apply_move(state, seat, move))[seat] == GOALS:
            consequence += ", and win"
        return f"{doing}{consequence}."

    def explain_illegal(self, state: State, seat: int, move: int) -> str:
        """Why a seat cannot do this on what it rolled."""
        rolled = self.rules.unpack(state)["rolled"]
        assert rolled is not None, "a seat that is to act has rolled"
        if move == PASS:
            return "passing is allowed only when there is no other legal move"
        step = self._step(move)
        if step is None:
            return self._why_not_enter(state, seat, _entering(move), COLOURS[rolled])
        return self._why_not_step(state, seat, step, COLOURS[rolled])

    def _why_not_enter(self, state: State, seat: int, size: str, rolled: str) -> str:
        own = self._letters()[seat]
        if rolled != own:
            return (
                f"a pyramid enters only on a roll of its own colour, {COLOUR_NAMES[own]},"
                f" and {COLOUR_NAMES[rolled]} was rolled"
            )
        if not self.rules.unpack(state)["stash"][seat][SIZES.index(size)]:
            return f"the stash of seat {seat} holds no {SIZE_NAMES[size]} pyramid"
        standing = self._stacks(state)[own]
        if standing.seat == seat and not self.rules.enter_stacks:
            return f"the start node {own} is taken by a stack of the seat itself"
        return self._why_not_land(seat, size, own, standing)

    def _why_not_step(
        self, state: State, seat: int, step: tuple[str, str, Unit], rolled: str
    ) -> str:
        origin, target, unit = step
        stacks = self._stacks(state)
        stack = stacks.get(origin)
        if stack is None or stack.seat != seat:
            return f"seat {seat} has no piece on {origin}"
        no_unit = self._why_no_unit(stack.pieces, unit)
        if no_unit is not None:
            return f"{no_unit} on {origin}"
        if target[-1] != rolled:
            return f"{target} is not of the colour rolled, {COLOUR_NAMES[rolled]}"
        bottom = _unit_pieces(stack.pieces, unit)[-1]
        if len(target) > DEEPEST[bottom]:
            return (
                f"{target} is on level {len(target)}, and a {SIZE_NAMES[bottom]} pyramid stays on"
                f" levels 1-{DEEPEST[bottom]}"
            )
        if target not in stacks:
            return f"{target} is opposite {origin}: with adjacent corners it is out of reach"
        return self._why_not_land(seat, bottom, target, stacks[target])

    def _why_no_unit(self, pieces: str, unit: Unit) -> str | None:
        """Why a stack has no such unit; None if it has."""
        if unit is Unit.TOP and len(pieces) == 1:
            return "a single pyramid, which moves as the whole stack, stands"
        if unit is Unit.UPPER_TWO and len(pieces) < len(SIZES):
            return "no tower of three stands"
        if unit is Unit.UPPER_TWO and not self.rules.sub_towers:
            return "only the option sub_towers lets the upper two move from the tower"
        return None

    def _why_not_land(self, seat: int, bottom: str, node: str, standing: Stack) -> str:
        moving = f"a {SIZE_NAMES[bottom]} pyramid"
        if standing.seat == seat:
            return f"{moving} cannot stand on {_pieces_in_words(standing.pieces)} on {node}"
        return f"{moving} cannot capture {self._captured_in_words(standing)} on {node}"

    def apply_outcome(self, state: State, record: Mapping[str, Any]) -> State:
        """Let the die show what the caller rolled."""
        outcome = read_model(OutcomeRecord, record)
        return self.rules.roll(state, COLOURS.index(outcome.rolled))

    def events(
        self, before: State, moves: Sequence[tuple[int, int]], after: State
    ) -> list[GameEvent]:
        """What the seat did, and the next roll or the end of the game."""
        ((seat, move),) = moves
        action = self._action_event(before, seat, move)
        if self.rules.finished(after):
            return [action, self._finished_event(after)]
        return [action, self._roll_event(seat, after)]

    def hand_known(self, state: State, seat: int) -> bool:  # noqa: ARG002
        """Always: nothing is hidden."""
        return True

    def move_of_event(self, state: State, kind: str, event: Record) -> Record:
        """The move that was passed, entered or moved."""
        if kind == "passed":
            return {"pass_turn": {}}
        if kind == "entered":
            return {"enter": {"size": event.get("size", "")}}
        origin, pieces = event.get("from_node", ""), event.get("pieces", "")
        stack = self._stacks(state).get(origin)
        parts = (
            UNIT_NAMES
            if stack is None
            else [unit for unit in UNIT_NAMES if _unit_pieces(stack.pieces, unit) == pieces]
        )
        if not parts:
            raise InvalidInput.at("pieces", f"must be a part of the stack on {origin}")
        step = {"from_node": origin, "to_node": event.get("to_node", ""), "unit": min(parts)}
        return {"step": step}

    def outcome_of_events(self, events: Sequence[Record], *, own: bool) -> Record:  # noqa: ARG002
        """The roll."""
        rolls = [event["rolled"].get("colour") for event in events if "rolled" in event]
        return {"rolled": rolls[0] if rolls else None}

    def contradictions(
        self,
        before: State,
        after: State,
        seat: int,  # noqa: ARG002
        answered: int | None,
    ) -> list[Violation]:
        """Why one observation cannot have come of an earlier one."""
        return contradictions(self.rules, before, after, answered)

    def decisions_left(self, state: State, seat: int) -> float:  # noqa: ARG002
        """More in a longer game, as such games are those in which nobody gets ahead."""
        rolls = self.rules.unpack(state)["rolls"]
        left = (self.rules.max_rolls - rolls) / self.rules.seats
        return max(1.0, min(left, FEWEST_TURNS + rolls / self.rules.seats))

    def _action_event(self, before: State, seat: int, move: int) -> GameEvent:
        who = self._seat_name(seat).capitalize()
        record: Record = {"seat": seat}
        if move == PASS:
            return GameEvent(seat, "passed", f"{who} passed.", {"passed": record})
        stacks = self._stacks(before)
        step = self._step(move)
        if step is None:
            kind = "entered"
            target = self._letters()[seat]
            record |= {"size": _entering(move), "node": target}
            told = f"{who} entered {_a_pyramid(_entering(move))} on {target}"
        else:
            kind = "moved"
            origin, target, unit = step
            pieces = _unit_pieces(stacks[origin].pieces, unit)
            record |= {"from_node": origin, "to_node": target, "pieces": pieces}
            moving = _unit_in_words(stacks[origin].pieces, unit, origin)
            told = f"{who} moved {moving} to {target}"
        standing = stacks.get(target)
        if standing is not None and standing.seat != seat:
            record["captured"] = {"seat": standing.seat, "pieces": standing.pieces}
            told += f" and captured {self._captured_in_words(standing)}"
        return GameEvent(seat, kind, f"{told}.", {kind: record})

    def _roll_event(self, mover: int, after: State) -> GameEvent:
        fields = self.rules.unpack(after)
        seat, rolled = fields["seat_to_act"], fields["rolled"]
        assert seat is not None, "the game goes on"
        assert rolled is not None, "chance has been resolved"
        again = " again after the capture" if seat == mover else ""
        colour = COLOURS[rolled]
        return GameEvent(
            seat,
            "rolled",
            f"{self._seat_name(seat).capitalize()} rolled {COLOUR_NAMES[colour]}{again}.",
            {"rolled": {"seat": seat, "colour": colour, "extra_turn": seat == mover}},
        )

    def _finished_event(self, after: State) -> GameEvent:
        shares = self.rules.win_shares(after)
        if 1.0 in shares:
            winner = shares.index(1.0)
            told = (
                f"{self._seat_name(winner).capitalize()} has a large, a medium and a small pyramid"
                " in place in three branches and wins."
            )
            return GameEvent(winner, "finished", told, {"finished": {"winner": winner}})
        told = f"The game is drawn after {self.rules.max_rolls} rolls."
        return GameEvent(None, "finished", told, {"finished": {}})

    def _letters(self) -> str:
        """The colours of the seats, as letters."""
        return "".join(COLOURS[colour] for colour in self.rules.colours)

    def _seat_name(self, seat: int) -> str:
        return COLOUR_NAMES[self._letters()[seat]]

    def _stacks(self, state: State) -> dict[str, Stack]:
        """What stands on the nodes, by their names."""
        return {
            node_name(node): Stack(seat, pieces_of(sizes))
            for seat, stacks in enumerate(self.rules.unpack(state)["stacks"])
            for node, sizes in stacks
        }

    def _captured_in_words(self, stack: Stack) -> str:
        whose = self._seat_name(stack.seat)
        if len(stack.pieces) > 1:
            return f"{whose}'s tower {'/'.join(stack.pieces)}"
        return f"{whose}'s {SIZE_NAMES[stack.pieces]} pyramid"


def _split(fields: Sequence[str]) -> tuple[str, str, str, str]:
    """Name the fields of the notation, once there are as many as there must be."""
    if len(fields) != len(FIELDS):
        raise InvalidInput.at(
            "", f"must have the four fields {' '.join(FIELDS)} after the game, not {len(fields)}"
        )
    board, seat, rolled, rolls = fields
    return board, seat, rolled, rolls


def _entering(move: int) -> str:
    return next(size for size, code in ENTER.items() if code == move)


def _unit_pieces(pieces: str, unit: Unit) -> str:
    return {Unit.WHOLE: pieces, Unit.TOP: pieces[:1], Unit.UPPER_TWO: pieces[:2]}[unit]


def _a_pyramid(size: str) -> str:
    return f"a {SIZE_NAMES[size]} pyramid"


def _pieces_in_words(pieces: str) -> str:
    if len(pieces) > 1:
        return f"the tower {'/'.join(pieces)}"
    return f"the {SIZE_NAMES[pieces]} pyramid"


def _unit_in_words(pieces: str, unit: Unit, origin: str) -> str:
    moving = _unit_pieces(pieces, unit)
    if moving == pieces:
        return f"{_pieces_in_words(pieces)} from {origin}"
    return f"{_pieces_in_words(moving)} from {_pieces_in_words(pieces)} on {origin}"
