"""What a game's codec offers: everything about a game that is text or plain data.

A codec sits between callers and the compiled rules of one game under one set of options. It reads
and writes *records*, plain data whose keys are the field names of the wire messages (a key that
is absent means an unset field), and the short text notation of states and moves; it checks what
comes in and says all that is wrong with it; it describes moves and events in English. The rules
themselves are the compiled `Game` in `rules`; nothing here decides them.

A new game is one subclass of `Codec`, registered in the package's ``__init__``, with the rules
page ``<id>.md`` beside its module.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any, ClassVar, NamedTuple, TypeVar

import pydantic
from pydantic_core import ErrorDetails

from aleator.ext.core.game import Game, State
from aleator.search.errors import InvalidInput, Violation, shorten

Record = dict[str, Any]

DECISIONS_LEFT = 40.0
"""Of a game that does not tell: so a clock is never used up."""

Model = TypeVar("Model", bound=pydantic.BaseModel)


class GameEvent(NamedTuple):
    """Something that happened in the open.

    Attributes
    ----------
    seat : int or None
        Whose event it is; None if it is nobody's.
    kind : str
        Its sort, the one key of `record`.
    description : str
        One English sentence.
    record : dict
        The typed event, such as ``{"drew": {"seat": 1}}``.
    """

    seat: int | None
    kind: str
    description: str
    record: Record


class OptionInfo(NamedTuple):
    """One option of a game, for lists of what there is.

    Attributes
    ----------
    name : str
    type : str
        The JSON type: integer, number, boolean, string or array; of options that may be null, the
        type otherwise.
    default : object
    choices : tuple
        The allowed values; empty if they are not a short list.
    description : str
    """

    name: str
    type: str
    default: Any
    choices: tuple[Any, ...]
    description: str


class StrictModel(pydantic.BaseModel):
    """Base of the models of options and records: nothing is coerced, no key is ignored."""

    model_config = pydantic.ConfigDict(extra="forbid", strict=True, frozen=True)


# What must stand there, by pydantic's type of the error.
_EXPECTED = {
    "literal_error": "{expected}",
    "int_type": "an integer",
    "int_parsing": "an integer",
    "int_from_float": "an integer",
    "float_type": "a number",
    "float_parsing": "a number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "string_type": "text",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "greater_than_equal": "at least {ge}",
    "less_than_equal": "at most {le}",
    "greater_than": "above {gt}",
    "less_than": "below {lt}",
    "finite_number": "a finite number",
    "string_pattern_mismatch": "text that matches {pattern}",
}


def read_model(model: type[Model], data: object) -> Model:
    """Read plain data by a model.

    Raises
    ------
    InvalidInput
        With a violation for everything that does not fit.
    """
    try:
        return model.model_validate(data)
    except pydantic.ValidationError as error:
        raise InvalidInput(
            Violation(_path(detail["loc"]), _message(model, detail)) for detail in error.errors()
        ) from None


def _message(model: type[pydantic.BaseModel], detail: ErrorDetails) -> str:
    kind = detail["type"]
    if kind == "extra_forbidden":
        known = f"; there are {', '.join(model.model_fields)}" if len(detail["loc"]) == 1 else ""
        return f"is unknown{known}"
    if kind == "missing":
        return "is missing"
    if kind in _EXPECTED:
        wanted = _EXPECTED[kind].format(**detail.get("ctx", {}))
        return f"must be {wanted}, not {_as_sent(detail['input'])}"
    return detail["msg"].removeprefix("Value error, ")  # raised by a model of ours


def _as_sent(value: object) -> str:
    """A value for a message, as JSON writes it where Python differs."""
    return json.dumps(value) if value is None or isinstance(value, bool) else shorten(value)


def _path(location: Sequence[int | str]) -> str:
    """Write a location as ``hands[1].dice[3]``."""
    return "".join(
        f"[{part}]" if isinstance(part, int) else f".{part}" for part in location
    ).removeprefix(".")


class Codec(ABC):
    """Text and plain data of one game under one set of options.

    Instances come from `aleator.search.games.codec`, which gives the same one for the same
    options: states of different instances are never equal.

    Attributes
    ----------
    id, title : str
        The game's short and full name.
    hidden : str
        What seats cannot see, in English; empty if they see everything.
    seat_counts : tuple of int
        The numbers of players it can be played by.
    example : str
        The notation of some position.
    score_unit : str
        What its scores count, in the plural.
    Options : type
        The pydantic model of the options.
    told_by_notation : frozenset of str
        The options that the body of the notation tells, see `options_in_notation`.
    move_kinds : frozenset of str
        The kinds of events that are moves, of a game that a seat can follow by its events; empty
        if events do not tell all that it sees.
    chance_event : tuple of str
        Of such a game, the kind of events that tell what chance brought, their field that does, and
        the field of the outcome, or list of the outcome, that it makes.
    measured_with : mapping
        The options of games in which its play is measured, where those that begin with the defaults
        would take too long.
    rules : Game
        The compiled rules.
    options : dict
        The options with defaults filled in, as JSON values.
    """

    id: ClassVar[str]
    title: ClassVar[str]
    hidden: ClassVar[str]
    seat_counts: ClassVar[tuple[int, ...]]
    example: ClassVar[str]
    score_unit: ClassVar[str] = "points"
    Options: ClassVar[type[StrictModel]]
    told_by_notation: ClassVar[frozenset[str]]
    move_kinds: ClassVar[frozenset[str]] = frozenset()
    chance_event: ClassVar[tuple[str, str, str]]
    measured_with: ClassVar[Mapping[str, Any]] = {}

    rules: Game

    def __init__(self, options: StrictModel) -> None:
        self.options: dict[str, Any] = options.model_dump(mode="json")
        self.rules = self.make_rules(self.options)
        self._notation_options = "".join(
            f" {name}={_format_option(value)}"
            for name, value in self.options.items()
            if name not in self.told_by_notation and _must_be_given(options, name)
        )

    @staticmethod
    @abstractmethod
    def make_rules(options: dict[str, Any]) -> Game:
        """The compiled rules under checked options, none left out."""

    @classmethod
    def option_list(cls) -> tuple[OptionInfo, ...]:
        """The options, in the order of the rules page."""
        properties = cls.Options.model_json_schema()["properties"]
        return tuple(
            OptionInfo(
                name=name,
                type=schema.get("type") or schema["anyOf"][0]["type"],
                default=schema["default"],
                choices=tuple(schema.get("enum", ())),
                description=schema["description"],
            )
            for name, schema in properties.items()
        )

    @classmethod
    def rules_markdown(cls) -> str:
        """The rules of the game, in Markdown."""
        package = cls.__module__.rpartition(".")[0]
        return resources.files(package).joinpath(f"{cls.id}.md").read_text(encoding="utf-8")

    @classmethod
    @abstractmethod
    def options_in_notation(cls, fields: Sequence[str]) -> dict[str, Any]:
        """The options `told_by_notation`, such as the number of players, from its fields.

        Raises
        ------
        InvalidInput
            If the fields that tell are malformed.
        """

    def notation(self, state: State) -> str:
        """The whole notation of a state or observation: game, body, options."""
        return f"{self.id} {self.format_state(state)}{self._notation_options}"

    @abstractmethod
    def read_state(self, record: Mapping[str, Any]) -> State:
        """Read a state or observation.

        Raises
        ------
        InvalidInput
            With a violation for everything that is wrong.
        """

    @abstractmethod
    def write_state(self, state: State) -> Record:
        """The typed record of a state or observation."""

    @abstractmethod
    def parse_state(self, fields: Sequence[str]) -> State:
        """Read the body of the notation, split at its spaces.

        Raises
        ------
        InvalidInput
            With a violation for everything that is wrong.
        """

    @abstractmethod
    def format_state(self, state: State) -> str:
        """The body of the notation."""

    @abstractmethod
    def read_move(self, record: Mapping[str, Any]) -> int:
        """The code of a typed move; raises InvalidInput if there can be no such move."""

    @abstractmethod
    def write_move(self, move: int) -> Record:
        """The typed record of a move."""

    @abstractmethod
    def parse_move(self, text: str) -> int:
        """The code of a move in notation; raises InvalidInput if there can be no such move."""

    @abstractmethod
    def format_move(self, move: int) -> str:
        """The notation of a move."""

    @abstractmethod
    def describe_move(self, state: State | None, seat: int, move: int) -> str:
        """A move as an English sentence.

        Parameters
        ----------
        state : State or None
            Where it is legal for `seat`; None leaves out what it would bring about.
        seat, move : int
        """

    @abstractmethod
    def explain_illegal(self, state: State, seat: int, move: int) -> str:
        """Why a well-formed move is not legal for a seat that is to act."""

    @abstractmethod
    def apply_outcome(self, state: State, record: Mapping[str, Any]) -> State:
        """Resolve the pending chance event as a caller says it came out.

        Raises
        ------
        InvalidInput
            If it cannot have come out so.
        """

    @abstractmethod
    def events(
        self, before: State, moves: Sequence[tuple[int, int]], after: State
    ) -> list[GameEvent]:
        """What everybody saw happen between two full states.

        Of a secret choice that waits for those of other seats, this is that it was made. The
        reveal tells the choices of all seats, the earlier ones too, which `before` holds.

        Parameters
        ----------
        before, after : State
            The second one after the moves and the chance events they led to.
        moves : sequence of (seat, move)
        """

    @abstractmethod
    def hand_known(self, state: State, seat: int) -> bool:
        """Whether the state tells what `seat` itself must know to have moves."""

    def move_of_event(self, state: State, kind: str, event: Record) -> Record:
        """The typed move that an event of `move_kinds` tells.

        Parameters
        ----------
        state : State
            Where it was made, as a seat knows it.
        kind : str
        event : dict
            As sent: anything may be missing.
        """
        raise NotImplementedError

    def outcome_of_events(self, events: Sequence[Record], *, own: bool) -> Record | None:
        """The outcome of chance that the events after a move tell; None if they need not.

        Parameters
        ----------
        events : sequence of dict
        own : bool
            Whether the move was one of the seat that follows the game.
        """
        raise NotImplementedError

    def suppose(
        self,
        state: State,
        seat: int,  # noqa: ARG002
        move: tuple[int, int],  # noqa: ARG002
        outcome: Record | None,  # noqa: ARG002
    ) -> State:
        """A full state of which a seat knows `state`, where a move of a seat can come out so."""
        return state

    def public_event(self, event: Record) -> Record:
        """An event without what only one seat may know."""
        return event

    def contradictions(
        self,
        before: State,  # noqa: ARG002
        after: State,  # noqa: ARG002
        seat: int,  # noqa: ARG002
        answered: int | None,  # noqa: ARG002
    ) -> list[Violation]:
        """Why one observation of a seat cannot have come of an earlier one; empty if it can.

        As far as can be told: a game must never find fault with what can be, but need not find
        all that cannot.

        Parameters
        ----------
        before, after : State
            What the seat knew, and knows now.
        seat : int
        answered : int or None
            The code of the move that the seat decided on before, if it was to act then. It is
            made, unless the seat has the `same_decision` still before it.
        """
        return []

    def remember(self, before: State, after: State, seat: int) -> State:  # noqa: ARG002
        """An observation, with what an earlier one told of things that cannot have changed."""
        return after

    def same_decision(self, before: State, after: State, seat: int) -> bool:  # noqa: ARG002
        """Whether a seat that is to act in both has still the same to decide."""
        return before == after

    def decisions_left(self, state: State, seat: int) -> float:  # noqa: ARG002
        """About how many decisions a seat has still to make, where it has a choice."""
        return DECISIONS_LEFT


def _must_be_given(options: StrictModel, name: str) -> bool:
    """Whether an option would be another if it were left out beside the others."""
    try:
        return type(options).model_validate(options.model_dump(exclude={name})) != options
    except pydantic.ValidationError:
        return True


def _format_option(value: object) -> str:
    """An option's value in the notation: JSON without spaces, strings bare."""
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))


def parse_option(text: str) -> object:
    """The value of an option in the notation; what is not JSON is a string."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):  # the latter for thousands of brackets
        return text
