"""Positions: a state of some game and what one may ask of it.

A `Position` is an immutable value that holds a full state or an observation. It wraps the
compiled rules and the codec of its game, checks who may do what, and raises the errors of
`aleator.search.errors`, whose paths are those of the wire message ``GameState`` (`options.players`,
`roygbiv.cells[3]`, `notation`) and its siblings.
"""

import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from aleator.ext.core.game import State
from aleator.search.errors import (
    FullStateRequired,
    GameFinished,
    HandHidden,
    IllegalMove,
    InvalidInput,
    SeatNotToAct,
    SeatRequired,
    Violation,
)
from aleator.search.games import Codec, GameEvent, Record, codec, parse_notation
from aleator.search.games.replay import replay

SEEDS = 2**64


@dataclass(frozen=True, slots=True)
class Move:
    """A move of one seat, equal to another of the same game, options, seat and code.

    Attributes
    ----------
    codec : Codec
    code : int
        Its number in the compiled rules.
    seat : int
    state : State or None
        Where it is to be played, for the description; None if that is not known.
    """

    codec: Codec = field(repr=False)
    code: int
    seat: int
    state: State | None = field(default=None, repr=False, compare=False)

    @property
    def notation(self) -> str:
        """A few characters of text."""
        return self.codec.format_move(self.code)

    @property
    def record(self) -> Record:
        """The typed move."""
        return self.codec.write_move(self.code)

    @property
    def description(self) -> str:
        """A sentence of English; what the move brings about only if it is known where."""
        return self.codec.describe_move(self.state, self.seat, self.code)


@dataclass(frozen=True, slots=True)
class Position:
    """A full state or an observation of a game.

    Attributes
    ----------
    codec : Codec
        The game under its options.
    state : State
        A state without pending chance.
    """

    codec: Codec = field(repr=False)
    state: State = field(repr=False)

    @classmethod
    def create(
        cls,
        game: str,
        options: Mapping[str, Any] | None = None,
        seed: int | None = None,
        start_seat: int | None = None,
    ) -> Self:
        """Set up a new game.

        Parameters
        ----------
        game : str
        options : mapping, optional
            Values by name; left out means the default.
        seed : int, optional
            0..2^64-1; equal seeds set up equal games. By default a random one.
        start_seat : int, optional
            The seat that acts first; by default drawn.

        Raises
        ------
        UnknownGame, InvalidInput
        """
        bound = codec(game, options)
        if start_seat is not None:
            _check_seat(bound, start_seat, "start_seat")
        return cls(bound, bound.rules.new_game(pick_seed(seed), start_seat))

    @classmethod
    def parse(
        cls, notation: str, game: str | None = None, options: Mapping[str, Any] | None = None
    ) -> Self:
        """Read a position from its notation.

        Parameters
        ----------
        notation : str
        game, options : optional
            What is said beside it; it must not contradict it.

        Raises
        ------
        UnknownGame, InvalidInput
        """
        return cls(*parse_notation(notation, game, options))

    @classmethod
    def from_record(
        cls, game: str, options: Mapping[str, Any] | None, record: Mapping[str, Any]
    ) -> Self:
        """Read a position from the typed state of its game.

        Raises
        ------
        UnknownGame, InvalidInput
        """
        bound = codec(game, options)
        try:
            return cls(bound, bound.read_state(record))
        except InvalidInput as error:
            raise error.under(bound.id) from None

    def __repr__(self) -> str:
        return f"Position.parse({self.notation!r})"

    @property
    def game(self) -> str:
        """The game's id."""
        return self.codec.id

    @property
    def options(self) -> dict[str, Any]:
        """The game's options, none left out."""
        return dict(self.codec.options)

    @property
    def record(self) -> Record:
        """The typed state."""
        return self.codec.write_state(self.state)

    @property
    def notation(self) -> str:
        """One line of text that `parse` reads."""
        return self.codec.notation(self.state)

    @property
    def seats(self) -> int:
        """The number of players."""
        return self.codec.rules.seats

    @property
    def seats_to_act(self) -> tuple[int, ...]:
        """The seats that are to move, ascending; empty in a finished game."""
        return self.codec.rules.seats_to_act(self.state)

    @property
    def finished(self) -> bool:
        """Whether the game is over."""
        return self.codec.rules.finished(self.state)

    @property
    def win_shares(self) -> tuple[float, ...] | None:
        """Each seat's share of the win; None while the game goes on."""
        return self.codec.rules.win_shares(self.state) if self.finished else None

    @property
    def scores(self) -> tuple[float, ...]:
        """Each seat's score, so far or final."""
        return self.codec.rules.scores(self.state)

    @property
    def is_full(self) -> bool:
        """Whether nothing is hidden."""
        return self.codec.rules.is_full(self.state)

    def acting_seat(self, seat: int | None = None) -> int:
        """The seat that a question about a seat to act is about.

        Parameters
        ----------
        seat : int, optional
            By default the only one that is to act; of several, the only one whose hand is known.

        Raises
        ------
        GameFinished
        InvalidInput
            If there is no such seat; the path is ``seat``.
        SeatRequired
            If none is given and it might be more than one.
        SeatNotToAct
        HandHidden
            If the seat's own hand is hidden in this position.
        """
        if seat is not None:
            _check_seat(self.codec, seat, "seat")
        to_act = self.seats_to_act
        if not to_act:
            raise GameFinished
        if seat is None:
            # Of several seats to act, what one seat sees shows the hand of that one alone.
            able = [seat for seat in to_act if self.codec.hand_known(self.state, seat)]
            if len(to_act) > 1 and len(able) != 1:
                raise SeatRequired(to_act)
            seat = able[0] if able else to_act[0]
        elif seat not in to_act:
            raise SeatNotToAct(seat, to_act)
        if not self.hand_known(seat):
            raise HandHidden(seat)
        return seat

    def moves(self, seat: int | None = None) -> list[Move]:
        """All legal moves of a seat, by default of the one to act; raises as `acting_seat`."""
        seat = self.acting_seat(seat)
        return [self.move(code, seat) for code in self.codec.rules.legal_moves(self.state, seat)]

    def described_moves(self, seat: int | None = None) -> Iterator[tuple[int, str]]:
        """The codes of `moves` with their descriptions, in a fraction of the time."""
        seat = self.acting_seat(seat)
        codec, state = self.codec, self.state
        return (
            (code, codec.describe_move(state, seat, code))
            for code in codec.rules.legal_moves(state, seat)
        )

    def move(self, code: int, seat: int) -> Move:
        """The move of a known legal code."""
        return Move(self.codec, code, seat, self.state)

    def find_move(self, wanted: str | Mapping[str, Any], seat: int | None = None) -> Move:
        """Read a legal move.

        Parameters
        ----------
        wanted : str or mapping
            Its notation or its typed record.
        seat : int, optional
            By default the one to act.

        Raises
        ------
        InvalidInput
            If there can be no such move; paths start with ``notation`` or the game's id.
        IllegalMove
            If the rules do not allow it here.
        GameFinished, SeatRequired, SeatNotToAct, HandHidden
        """
        seat = self.acting_seat(seat)
        path = "notation" if isinstance(wanted, str) else self.codec.id
        try:
            code = self._read_move(wanted)
            self._check_legal(code, seat)
        except InvalidInput as error:
            raise error.under(path) from None
        return self.move(code, seat)

    def _read_move(self, wanted: str | Mapping[str, Any]) -> int:
        if not isinstance(wanted, str):
            return self.codec.read_move(wanted)
        try:
            return self.codec.parse_move(wanted)
        except InvalidInput as error:
            raise error.without_paths() from None

    def _check_legal(self, code: int, seat: int) -> None:
        if code not in self.codec.rules.legal_moves(self.state, seat):
            reason = self.codec.explain_illegal(self.state, seat, code)
            raise IllegalMove([Violation("", reason)], self.codec.format_move(code), seat)

    def apply(
        self,
        moves: Mapping[int, Move],
        seed: int | None = None,
        outcome: Mapping[str, Any] | None = None,
    ) -> "tuple[Position, list[GameEvent]]":
        """Carry out moves and the chance events they lead to.

        Parameters
        ----------
        moves : mapping
            By seat, of one or more seats that are to act. Where several choose at once, their
            choices may come in any number of calls: until the last one is made, the state keeps
            them, and nobody sees what the others chose.
        seed : int, optional
            What chance is drawn from; by default a random seed.
        outcome : mapping, optional
            The typed outcome of the chance event, instead of a seed.

        Returns
        -------
        position : Position
        events : list of GameEvent
            What everybody saw happen.

        Raises
        ------
        FullStateRequired
            If this is an observation.
        GameFinished, SeatNotToAct, IllegalMove
        InvalidInput
            For a bad seed or outcome, and if there is no move.
        """
        if self.finished:
            raise GameFinished
        if not self.is_full:
            raise FullStateRequired
        for seat, move in moves.items():
            self.acting_seat(seat)
            self._check_legal(move.code, seat)
        if not moves:
            to_act = " or ".join(map(str, self.seats_to_act))
            raise InvalidInput.at("moves", f"must have a move of seat {to_act}")
        rules = self.codec.rules
        state = self.state
        for seat, move in moves.items():
            state = rules.apply_move(state, seat, move.code)
        state = self._resolve_chance(state, seed, outcome)
        played = [(seat, move.code) for seat, move in moves.items()]
        events = self.codec.events(self.state, played, state)
        return Position(self.codec, state), events

    def _resolve_chance(
        self, state: State, seed: int | None, outcome: Mapping[str, Any] | None
    ) -> State:
        if outcome is None:
            return self.codec.rules.advance(state, pick_seed(seed))
        if seed is not None:
            raise InvalidInput.at("outcome", "give a seed or an outcome, not both")
        if not self.codec.rules.chance_pending(state):
            to_act = " or ".join(map(str, self.codec.rules.seats_to_act(state)))
            what_follows = f"a move of seat {to_act}" if to_act else "the end of the game"
            raise InvalidInput.at("outcome", f"no chance event follows, but {what_follows}")
        try:
            return self.codec.apply_outcome(state, outcome)
        except InvalidInput as error:
            raise error.under(f"outcome.{self.codec.id}") from None

    def observe(self, seat: int) -> "Position":
        """What one seat may know of this position; raises InvalidInput for no such seat."""
        _check_seat(self.codec, seat, "seat")
        return Position(self.codec, self.codec.rules.observe_state(self.state, seat))

    def following(self, before: Self, seat: int, answered: Move | None = None) -> Self:
        """What a seat knows here, if this can have come of what it knew before.

        Parameters
        ----------
        before : Position
            What it knew at an earlier time.
        seat : int
        answered : Move, optional
            The move that the seat then decided on.

        Returns
        -------
        position : Position
            The observation, with what `before` tells and this position does not, of things that
            cannot have changed.

        Raises
        ------
        InvalidInput
            With everything that cannot be; paths as in the typed state, and ``game`` and
            ``options.NAME``.
        HandHidden
        """
        if self.codec is not before.codec:
            raise InvalidInput(self._changed_options(before))
        seen = self.observe(seat)
        if not seen.hand_known(seat):
            raise HandHidden(seat)
        # A seat that is still to decide the same has not made its move yet.
        made = answered is not None and not seen.same_decision(before, seat)
        code = answered.code if answered is not None and made else None
        wrong = self.codec.contradictions(before.state, seen.state, seat, code)
        if wrong:
            raise InvalidInput(wrong)
        return type(self)(self.codec, self.codec.remember(before.state, seen.state, seat))

    def after_events(self, seat: int, events: Sequence[Record]) -> Self:
        """What a seat that knew this knows after some events.

        Parameters
        ----------
        seat : int
        events : sequence of dict
            The records of the events of any number of moves, as `apply` gives them; and of ROYGBIV
            with hidden hands, with the value of what the seat itself drew.

        Raises
        ------
        InvalidInput
            If they cannot have happened, and in games where they do not tell all that a seat sees;
            with paths such as ``[2].roygbiv.played.value``.
        """
        return type(self)(self.codec, replay(self.codec, self.state, seat, events))

    def _changed_options(self, before: Self) -> list[Violation]:
        if self.game != before.game:
            return [Violation("game", f"is {self.game}, but {before.game} was played")]
        return [
            Violation(f"options.{name}", f"is {value}, but was {before.codec.options[name]}")
            for name, value in self.codec.options.items()
            if value != before.codec.options[name]
        ]

    def hand_known(self, seat: int) -> bool:
        """Whether this tells what a seat itself must know to have moves."""
        return self.codec.hand_known(self.state, seat)

    def same_decision(self, before: Self, seat: int) -> bool:
        """Whether a seat is to act and has the same to decide as in an earlier observation."""
        acts = seat in self.seats_to_act and seat in before.seats_to_act
        return acts and self.codec.same_decision(before.state, self.state, seat)

    def decisions_left(self, seat: int) -> float:
        """How many decisions a seat has probably still to make, roughly."""
        return self.codec.decisions_left(self.state, seat)


def pick_seed(seed: int | None) -> int:
    """A seed for the compiled code: the given one, checked, or a random one."""
    if seed is None:
        return secrets.randbelow(SEEDS)
    if not 0 <= seed < SEEDS:
        raise InvalidInput.at("seed", "must be 0..2^64-1")
    return seed


def _check_seat(bound: Codec, seat: int, path: str) -> None:
    seats = bound.rules.seats
    if not 0 <= seat < seats:
        raise InvalidInput.at(path, f"must be 0..{seats - 1}, not {seat}")
