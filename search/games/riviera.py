"""Riviera as text and plain data.

Notation: ``TURN PHASE WAITING TOKEN DICE EXCHANGES SEATS``. A card is a colour letter of ``rgpbo``
and its value, ``r12``; cards are written one after the other, hidden ones as ``?``, none as ``-``.
TURN is ``ROUND.TURN``; PHASE one of nines, play, extra, powers, stop, over; WAITING the seats that
have still to act as digits, ``-`` for none, in the phase extra those with an open extra play and
then ``+`` and those that have still to play; TOKEN the seat with the Start token. DICE are the
colours in use with the values shown, ``r3!`` for a die turned this turn, ``*4`` the golden die, and
``+*`` at the end if the golden die joins the next roll. EXCHANGES are the swaps and redraws of the
round in order, joined by ``,``: ``0>1:r3b10/g1g2`` if seat 0 gave r3 and b10 to seat 1 and drew g1
and g2, ``0>d:r3b10/g1g2`` if it discarded them for two of the pile, ``0>1`` if the cards are not
known. SEATS are joined by ``,``, each ``SCORE:STATUS:HAND:PLAYED``, where each ``/`` among the
cards played stands for a swap or redraw of anybody's, and the optional parts ``:used`` (its Last
Chance), ``:power@CARD``, ``:reserved@COLOUR``, ``:reserves@COLOUR``, ``:chose@MOVE``,
``:chance@DICE``, with ``~1`` at the end if there was an exchange before, and ``:crash@DICE``.

Moves are a card, ``last_chance``, ``crash``, ``stop``, ``more``, ``pass``, ``use``, ``r+1``,
``swap:1:r3,b10`` and ``redraw:r3,b10``.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator

from aleator.ext.core.game import State
from aleator.ext.games.riviera import Riviera, pair_mask
from aleator.search.errors import InvalidInput, Violation, shorten
from aleator.search.games.base import Codec, GameEvent, Record, StrictModel, read_model
from aleator.search.games.riviera_invariants import (
    ADD_GOLDEN,
    CARD_NUMBERS,
    CARDS,
    COLOUR_NAMES,
    COLOURS,
    DICE,
    FIVE_COLOURS,
    GOLDEN,
    HEAP,
    VALUES,
    MoveRecord,
    NoValidRecord,
    Phase,
    Rules,
    StateRecord,
    Status,
    card_mask,
    card_value,
    dice_values,
    stars_of,
    violations,
)
from aleator.search.games.riviera_progress import contradictions, remember, same_decision

if TYPE_CHECKING:
    from aleator.ext.games.riviera import RivieraFields  # only the stub has it

FIELDS = ("TURN", "PHASE", "WAITING", "TOKEN", "DICE", "EXCHANGES", "SEATS")
SEAT_COUNTS = (2, 3, 4, 5, 6)
STARS = [2, 2, 2, 1, 1, 1, 1, 2, 2, 2, 3, 5]
DIE_NAMES = (*COLOUR_NAMES, "golden")
PHASE_NAMES = {phase: phase.name.lower() for phase in Phase}
PHASES = {name: phase for phase, name in PHASE_NAMES.items()}
STATUS_NAMES = {status: status.name.lower() for status in Status}
STATUSES = {name: status for status, name in STATUS_NAMES.items()}

# Move codes of the compiled rules; those below are the cards to play.
PLAIN_MOVES = ("last_chance", "crash", "stop", "more", "pass_on", "use")
LAST_CHANCE, CRASH, _, _, PASS, USE = range(len(CARDS), len(CARDS) + len(PLAIN_MOVES))
TURN = USE + 1
PAIRS = len(CARDS) * (len(CARDS) - 1) // 2
SWAP = TURN + 2 * len(DICE)
REDRAW = SWAP + HEAP * PAIRS
HIDDEN = 255
ROUND_DECISIONS = 8  # of a seat, about

# What is told of moves that need no particulars.
PLAIN_EVENTS = {
    "last_chance": ("used_last_chance", "had no valid card and used its Last Chance"),
    "crash": ("crashed", "had no valid card and crashed"),
    "more": ("went_on", "goes on"),
    "redraw": ("redrew", "discarded two cards and drew two from the pile"),
}

# The shapes of the parts of the notation. What the numbers can be is checked with the record.
CARD = r"[rgpbo](?:1[0-2]|[1-9])"
HAND = rf"(?:{CARD})*\?*"
DIE = r"[rgpbo*][1-6]?!?"
PLAYED = rf"-|(?:{CARD}|/)+"
TOLD = r"(?:[rgpbo*][1-6])+"
EXCHANGE = rf"[0-5]>[0-5d](?::(?:{CARD}){{2}}/(?:{CARD}){{2}})?"
SHAPES = (
    ("TURN", r"[0-9]{1,5}\.[0-9]{1,2}", "round and turn such as 1.3"),
    ("PHASE", "|".join(PHASES), f"one of {', '.join(PHASES)}"),
    ("WAITING", r"-|[0-5]+|[0-5]+\+[0-5]+", "digits of seats, or -"),
    ("TOKEN", r"[0-5]", "the digit of a seat"),
    ("DICE", rf"(?:{DIE})+(?:\+\*)?", "dice such as r3g1p6b2"),
    ("EXCHANGES", rf"-|{EXCHANGE}(?:,{EXCHANGE})*", "such as 0>1:r3b10/g1g2,1>2, or -"),
)
SEAT_PARTS = {
    "used": "",
    "power": CARD,
    "reserved": r"[rgpbo]",
    "reserves": r"[rgpbo]",
    "chose": r"[a-z0-9_]+|\?",
    "chance": rf"{TOLD}(?:~[1-5])?",
    "crash": TOLD,
}

CardName = Annotated[str, Field(pattern=rf"^{CARD}$")]
DieName = Annotated[str, Field(pattern=r"^[rgpbo*]$")]


class RivieraOptions(StrictModel):
    """The options of the rules page."""

    players: int = Field(2, ge=2, le=6, description="Number of seats, 2-6.")
    mode: Literal["simultaneous", "sequential"] = Field(
        "simultaneous",
        description="Whether seats choose secretly at once, or clockwise in the open.",
    )
    powers: bool = Field(default=True, description="Whether some cards have powers.")
    stars: list[Annotated[int, Field(ge=0, le=100)]] = Field(
        STARS,
        min_length=VALUES,
        max_length=VALUES,
        description="What a played card is worth by its value, 1 to 12.",
    )
    hand_size: int = Field(10, ge=1, description="Cards dealt to each seat, as there are enough.")
    target: int = Field(40, ge=1, le=1000, description="The score that ends the game.")
    removed_colour: Literal["random", "red", "green", "purple", "blue", "orange"] = Field(
        "random",
        description=(
            "With 2-4 seats, the colour that is out of the game; with 5 or 6 none is, and this"
            " must be random."
        ),
    )
    max_same_colour_in_hand: Annotated[int, Field(ge=1)] | None = Field(
        6,
        description=(
            "A deal is repeated while a hand has more cards of one colour; null for no repeat."
        ),
    )
    reroll_first_roll: bool = Field(
        default=True,
        description=(
            "Whether a round's first roll is repeated, at most twice, while a seat has no valid"
            " card. By default false if mode is sequential."
        ),
    )
    preroll_powers: Literal["before_stop", "after_stop"] = Field(
        "before_stop",
        description="When the powers 2, 10 and 11 are used: before Stop or More, or after it.",
    )
    max_rounds: Annotated[int, Field(ge=1, le=1000)] | None = Field(
        None, description="The game ends after so many rounds; null for no such end."
    )

    @model_validator(mode="before")
    @classmethod
    def _reroll_by_mode(cls, data: Any) -> Any:
        if isinstance(data, dict) and "reroll_first_roll" not in data:
            return {**data, "reroll_first_roll": data.get("mode") != "sequential"}
        return data

    @field_validator("stars")
    @classmethod
    def _can_be_won(cls, stars: list[int]) -> list[int]:
        if not any(stars):
            raise ValueError("must not all be 0: nobody could reach the target")
        return stars

    @field_validator("hand_size")
    @classmethod
    def _fits_the_cards(cls, size: int, info: ValidationInfo) -> int:
        players = info.data.get("players", 2)
        cards = VALUES * (len(COLOURS) - (players < FIVE_COLOURS))
        if size > cards // players:
            raise ValueError(f"must be at most {cards // players} with {players} players")
        return size

    @field_validator("removed_colour")
    @classmethod
    def _removes_with_few(cls, colour: str, info: ValidationInfo) -> str:
        if colour != "random" and info.data.get("players", 2) >= FIVE_COLOURS:
            raise ValueError("must be random with 5 or 6 players: no colour is removed")
        return colour

    @field_validator("max_same_colour_in_hand")
    @classmethod
    def _can_be_dealt(cls, most: int | None, info: ValidationInfo) -> int | None:
        if {"players", "hand_size"} <= info.data.keys() and not Riviera(
            players=info.data["players"],
            hand_size=info.data["hand_size"],
            max_same_colour_in_hand=most,
        ).can_deal():
            raise ValueError("leaves no acceptable deal, or hardly any")
        return most


class OutcomeRecord(StrictModel):
    """The typed outcome: what the chance events after a move need of it."""

    hands: list["OutcomeHandRecord"] = Field(default_factory=list)
    dice: list["OutcomeDieRecord"] = Field(default_factory=list)
    drawn: list[CardName] = Field(default_factory=list)


class OutcomeHandRecord(StrictModel):
    """A hand dealt."""

    cards: list[CardName] = Field(default_factory=list)


class OutcomeDieRecord(StrictModel):
    """A die rolled."""

    colour: DieName = Field("", validate_default=True)
    value: Annotated[int, Field(ge=1, le=6)] = Field(0, validate_default=True)


class RivieraCodec(Codec):
    """The codec of Riviera."""

    id: ClassVar[str] = "riviera"
    title: ClassVar[str] = "Riviera"
    score_unit: ClassVar[str] = "stars"
    hidden: ClassVar[str] = (
        "The other seats' hands, the draw pile, the hands of crashed seats, discards of redraws,"
        " and, where seats choose at once, their choices until all have chosen."
    )
    seat_counts: ClassVar[tuple[int, ...]] = SEAT_COUNTS
    example: ClassVar[str] = (
        "riviera 2.3 play 01 1 r3g5p2b6 -"
        " 11:in:r4g2g8p12b1b3b7b9:r11b5,"
        "8:in:????????:g1g6:used:chance@r2g4p4b5"
    )
    Options: ClassVar[type[StrictModel]] = RivieraOptions
    told_by_notation: ClassVar[frozenset[str]] = frozenset({"players"})

    rules: Riviera

    def __init__(self, options: StrictModel) -> None:
        super().__init__(options)
        self._given = Rules(**self.options)

    @staticmethod
    def make_rules(options: dict[str, Any]) -> Riviera:
        """The compiled rules."""
        return Riviera(**options)

    @classmethod
    def options_in_notation(cls, fields: Sequence[str]) -> dict[str, Any]:
        """The number of players, which is the number of seats listed."""
        seats = _split(fields)[-1]
        count = seats.count(",") + 1
        if count not in SEAT_COUNTS:
            raise InvalidInput.at("", f"SEATS must hold 2 to 6 seats, not {count}")
        return {"players": count}

    def read_state(self, record: Mapping[str, Any]) -> State:
        """Read a state or observation and check it against the invariants of the game."""
        given = read_model(StateRecord, record)
        wrong = violations(given, self._given)
        if wrong:
            raise InvalidInput(wrong)
        state = self.rules.pack(self._fields(given))
        if not self.rules.is_full(state):
            self._check_agreement(given, state)
        return state

    def _check_agreement(self, given: StateRecord, state: State) -> None:
        """Check that some cards can be those that are hidden, from the view of all who can ask."""
        viewers = [seat for seat, hand in enumerate(given.hands) if not hand.hidden_count] or [0]
        for seat in viewers:
            try:
                self.rules.determinization(state, seat, 0)
            except ValueError:
                raise InvalidInput.at(
                    "hands",
                    "no way to deal the hidden cards agrees with what is shown, with the cards"
                    " exchanged, and with the dice for which seats had no valid card",
                ) from None
        self._check_shown(given, state, viewers)

    def _check_shown(self, given: StateRecord, state: State, viewers: Sequence[int]) -> None:
        """Check that a seat can know the cards that are shown among hidden ones."""
        known = [self.rules.unpack(self.rules.observe_state(state, v))["hands"] for v in viewers]
        wrong = [
            Violation(
                f"hands[{index}].cards[{number}]",
                f"{card} is shown among hidden cards: list in `exchanges` how a seat came to know"
                " that",
            )
            for index, hand in enumerate(given.hands)
            if hand.hidden_count
            for number, card in enumerate(hand.cards)
            if not any(hands[index] & card_mask([card]) for hands in known)
        ]
        if wrong:
            raise InvalidInput(wrong)

    def _fields(self, record: StateRecord) -> "RivieraFields":
        """The fields of the compiled rules, of a record that was checked."""
        seats = record.seats
        dice = [die.colour for die in record.dice]
        removed = next(
            (number for number, colour in enumerate(COLOURS) if colour not in dice), len(COLOURS)
        )
        assert record.token is not None, "checked before"
        return {
            "hands": [card_mask(hand.cards) for hand in record.hands],
            "played": [card_mask(seat.played) for seat in seats],
            "exchanges": [
                (
                    exchange.seat or 0,
                    HEAP if exchange.opponent is None else exchange.opponent,
                    card_mask(exchange.given),
                    card_mask(exchange.drawn),
                    card_mask(record.played_before(exchange)),
                )
                for exchange in record.exchanges
            ],
            "chance_dice": [_told_dice(seat.last_chance) for seat in seats],
            "chance_after": [
                0 if seat.last_chance is None else seat.last_chance.exchanges for seat in seats
            ],
            "crash_dice": [_told_dice(seat.crash) for seat in seats],
            "scores": [seat.score for seat in seats],
            "choices": [
                HIDDEN
                if seat.choice_hidden
                else 0
                if seat.choice is None
                else _encode(seat.choice) + 1
                for seat in seats
            ],
            "powers": [CARD_NUMBERS.get(seat.power_card, -1) + 1 for seat in seats],
            "reserved": [_die_number(seat.reserved) for seat in seats],
            "reserving": [_die_number(seat.reserves_next) for seat in seats],
            "dice": dice_values(record.dice),
            "heap": card_mask(record.discarded.cards),
            "heap_size": record.discarded.size,
            "pile_size": self._given.pile - record.discarded.size,
            "round": record.round,
            "turn": record.turn,
            "phase": PHASE_NAMES[Phase(record.phase)],
            "token": record.token,
            "removed": removed,
            "inside": _seat_mask(i for i, seat in enumerate(seats) if seat.status == Status.IN),
            "stopped": _seat_mask(
                i for i, seat in enumerate(seats) if seat.status == Status.STOPPED
            ),
            "used": _seat_mask(i for i, seat in enumerate(seats) if seat.last_chance_used),
            "waiting": _seat_mask(record.waiting),
            "extra": _seat_mask(record.extra_plays),
            "turned": sum(1 << DICE.index(die.colour) for die in record.dice if die.turned),
            "golden": int(record.golden_next),
        }

    def write_state(self, state: State) -> Record:
        """The typed record."""
        fields = self.rules.unpack(state)
        players = range(self.rules.seats)
        exchanges = len(fields["exchanges"])
        record: Record = {
            "round": fields["round"],
            "turn": fields["turn"],
            "phase": int(PHASES[fields["phase"]]),
            "token": fields["token"],
            "waiting": _seats_in(fields["waiting"]),
            "extra_plays": _seats_in(fields["extra"]),
            "dice": list(_dice_records(fields)),
            "golden_next": bool(fields["golden"]),
            "hands": [
                _hand_record(
                    fields["hands"][seat],
                    self.rules.hand_size - fields["played"][seat].bit_count(),
                )
                for seat in players
            ],
            "exchanges": [_exchange_record(fields, number) for number in range(exchanges)],
            "discard": _hand_record(fields["heap"], fields["heap_size"]),
            "pile_size": fields["pile_size"],
            "seats": [self._seat_record(fields, seat) for seat in players],
        }
        return record

    def _seat_record(self, fields: "RivieraFields", seat: int) -> Record:
        record: Record = {
            "score": fields["scores"][seat],
            "status": int(_status(fields, seat)),
            "last_chance_used": bool(fields["used"] >> seat & 1),
            "played": _in_order(fields, seat),
        }
        if fields["powers"][seat]:
            record["power_card"] = CARDS[fields["powers"][seat] - 1]
        if fields["reserved"][seat]:
            record["reserved"] = DICE[fields["reserved"][seat] - 1]
        if fields["reserving"][seat]:
            record["reserves_next"] = DICE[fields["reserving"][seat] - 1]
        if fields["choices"][seat] == HIDDEN:
            record["choice_hidden"] = True
        elif fields["choices"][seat]:
            record["choice"] = self.write_move(fields["choices"][seat] - 1)
        dice = fields["chance_dice"][seat]
        if dice is not None:
            record["last_chance"] = {"dice": _told_records(dice)}
            if fields["chance_after"][seat]:
                record["last_chance"]["exchanges"] = fields["chance_after"][seat]
        dice = fields["crash_dice"][seat]
        if dice is not None:
            record["crash"] = {"dice": _told_records(dice)}
        return record

    def parse_state(self, fields: Sequence[str]) -> State:
        """Read the seven fields of the notation."""
        split = _split(fields)
        wrong = [
            Violation("", f"{name} must be {expected}, not {shorten(text)}")
            for (name, shape, expected), text in zip(SHAPES, split, strict=False)
            if not re.fullmatch(shape, text)
        ]
        turn, phase, waiting, token, dice, exchanges, seats = split
        for number, seat in enumerate(seats.split(",")):
            wrong += _seat_faults(number, seat)
        count = 0 if exchanges == "-" else exchanges.count(",") + 1
        wrong += [
            Violation("", f"SEATS seat {number}: more / among the cards played than EXCHANGES")
            for number, seat in enumerate(seats.split(","))
            if seat.count("/") > count
        ]
        if wrong:
            raise InvalidInput(wrong)
        first, _, later = waiting.partition("+")
        extra = first if phase == PHASE_NAMES[Phase.EXTRA] else "-"
        to_act = later or "-" if extra != "-" else first
        rolled, _, golden = dice.partition("+")
        split_seats = [_parse_seat(seat) for seat in seats.split(",")]
        round_text, _, turn_text = turn.partition(".")
        return self.read_state(
            {
                "round": int(round_text),
                "turn": int(turn_text),
                "phase": int(PHASES[phase]),
                "token": int(token),
                "waiting": [int(digit) for digit in to_act if digit != "-"],
                "extra_plays": [int(digit) for digit in extra if digit != "-"],
                "dice": _parse_dice(rolled),
                "golden_next": bool(golden),
                "hands": [hand for hand, _ in split_seats],
                "exchanges": list(_parse_exchanges(exchanges, seats)),
                "seats": [seat for _, seat in split_seats],
            }
        )

    def format_state(self, state: State) -> str:
        """Write the seven fields of the notation."""
        record = self.write_state(state)
        waiting = _digits(record["waiting"])
        if record["extra_plays"]:
            later = f"+{waiting}" if record["waiting"] else ""
            waiting = _digits(record["extra_plays"]) + later
        dice = _format_dice(record["dice"])
        return " ".join(
            (
                f"{record['round']}.{record['turn']}",
                PHASE_NAMES[record["phase"]],
                waiting,
                str(record["token"]),
                f"{dice}+{GOLDEN}" if record["golden_next"] else dice,
                ",".join(map(_format_exchange, record["exchanges"])) or "-",
                ",".join(self._format_seat(record, seat) for seat in range(self.rules.seats)),
            )
        )

    def _format_seat(self, record: Record, number: int) -> str:
        seat = record["seats"][number]
        parts = [
            str(seat["score"]),
            STATUS_NAMES[seat["status"]],
            _format_hand(record["hands"][number]),
            _format_played(record, number),
        ]
        if seat["last_chance_used"]:
            parts.append("used")
        named = (("power", "power_card"), ("reserved", "reserved"), ("reserves", "reserves_next"))
        parts += [f"{key}@{seat[name]}" for key, name in named if name in seat]
        if "choice" in seat:
            parts.append(f"chose@{self.format_move(self.read_move(seat['choice']))}")
        if "choice_hidden" in seat:
            parts.append("chose@?")
        if "last_chance" in seat:
            told = seat["last_chance"]
            after = f"~{told['exchanges']}" if "exchanges" in told else ""
            parts.append(f"chance@{_format_dice(told['dice'])}{after}")
        if "crash" in seat:
            parts.append(f"crash@{_format_dice(seat['crash']['dice'])}")
        return ":".join(parts)

    def read_move(self, record: Mapping[str, Any]) -> int:
        """The code: the card played, then plain moves, turns, swaps and redraws."""
        return _encode(read_model(MoveRecord, record))

    def write_move(self, move: int) -> Record:
        """The typed record."""
        if move < len(CARDS):
            return {"play": {"card": CARDS[move]}}
        if move < TURN:
            return {PLAIN_MOVES[move - LAST_CHANCE]: {}}
        if move < SWAP:
            record: Record = {"die": DICE[(move - TURN) // 2]}
            if (move - TURN) % 2:
                record["down"] = True
            return {"turn": record}
        opponent, pair = divmod(move - SWAP, PAIRS)
        cards = _card_names(pair_mask(pair))
        if opponent == HEAP:
            return {"redraw": {"cards": cards}}
        return {"swap": {"opponent": opponent, "cards": cards}}

    def parse_move(self, text: str) -> int:
        """Read a move such as ``r12``, ``pass``, ``b-1`` or ``swap:1:r3,b10``."""
        return self.read_move(_parse_move(text))

    def format_move(self, move: int) -> str:
        """Write a move such as ``r12``."""
        ((kind, record),) = self.write_move(move).items()
        match kind:
            case "play":
                return str(record["card"])
            case "turn":
                return f"{record['die']}{'-' if 'down' in record else '+'}1"
            case "swap":
                return f"swap:{record['opponent']}:{','.join(record['cards'])}"
            case "redraw":
                return f"redraw:{','.join(record['cards'])}"
        return kind.removesuffix("_on")

    def describe_move(self, state: State | None, seat: int, move: int) -> str:
        """A sentence; if `state` is given, with what the move brings."""
        fields = None if state is None else self.rules.unpack(state)
        ((kind, _),) = self.write_move(move).items()
        match kind:
            case "play":
                return f"Play {self._describe_card(move)}."
            case "swap" | "redraw":
                return _describe_exchange(move)
            case "turn":
                return _describe_turn(move, fields)
            case "pass_on":
                return _describe_pass(fields, seat)
            case "use":
                return _describe_use(fields, seat)
        stars = "its stars"
        if fields is not None:
            played = _card_names(fields["played"][seat])
            stars = _count(stars_of(played, self._given.stars), "star")
        return {
            "last_chance": "Use your Last Chance: stay in the round without playing a card.",
            "crash": "Crash: leave the round without stars.",
            "stop": f"Stop: leave the round and bank {stars}.",
            "more": "More: stay in for the next roll.",
        }[kind]

    def _describe_card(self, card: int) -> str:
        stars = self._given.stars[card % VALUES]
        return f"{card_name(CARDS[card])}, worth {_count(stars, 'star')}"

    def explain_illegal(self, state: State, seat: int, move: int) -> str:
        """Why a well-formed move is not legal for a seat that is to act."""
        fields = self.rules.unpack(state)
        legal = self.rules.legal_moves(state, seat)
        phase = PHASES[fields["phase"]]
        if phase in {Phase.PLAY, Phase.EXTRA}:
            if move < len(CARDS):
                if not fields["hands"][seat] >> move & 1:
                    return f"seat {seat} does not hold {card_name(CARDS[move])}"
                return f"{card_name(CARDS[move])} is not valid for the dice that the seat can use"
            if phase == Phase.PLAY and move in {LAST_CHANCE, CRASH}:
                if legal[0] < len(CARDS):
                    return "the seat has a valid card and must play one"
                return "the seat has used its Last Chance already, and can only crash"
        listed = ", ".join(map(self.format_move, legal[:6]))
        more = ", ..." if len(legal) > 6 else ""
        return f"seat {seat} can now only choose among {listed}{more}"

    def apply_outcome(self, state: State, record: Mapping[str, Any]) -> State:
        """Let the cards and dice come out as they did on the caller's table."""
        outcome = read_model(OutcomeRecord, record)
        unused = set(outcome.model_fields_set)
        while (event := self.rules.pending_chance(state)) is not None:
            match event:
                case "deal":
                    unused.discard("hands")
                    state = self._deal(state, outcome)
                case "roll":
                    unused.discard("dice")
                    state = self._roll(state, outcome)
                case "swap" | "redraw":
                    unused.discard("drawn")
                    state = self._draw(state, outcome)
                case _:
                    state = self.rules.settle(state)
        if unused:
            raise InvalidInput(
                Violation(name, "must be left out: nothing of that sort follows this move")
                for name in sorted(unused)
            )
        return state

    def _deal(self, state: State, outcome: OutcomeRecord) -> State:
        players, size = self.rules.seats, self.rules.hand_size
        if len(outcome.hands) != players:
            raise InvalidInput.at(
                "hands",
                f"must be the {players} hands dealt for the new round, not {len(outcome.hands)}",
            )
        removed = self.rules.unpack(state)["removed"]
        most = self._given.max_same_colour_in_hand
        seen: set[str] = set()
        wrong = []
        for index, hand in enumerate(outcome.hands):
            path = f"hands[{index}].cards"
            if len(hand.cards) != size:
                wrong.append(Violation(path, f"must be {size} cards, not {len(hand.cards)}"))
            for number, card in enumerate(hand.cards):
                if card in seen or COLOURS.index(card[0]) == removed:
                    wrong.append(
                        Violation(f"{path}[{number}]", f"{card} is not among the cards left")
                    )
                seen.add(card)
            colours = [card[0] for card in hand.cards]
            if most is not None and any(colours.count(colour) > most for colour in COLOURS):
                wrong.append(
                    Violation(path, f"has more than {most} cards of one colour: deal again")
                )
        if wrong:
            raise InvalidInput(wrong)
        return self.rules.settle(state, [card_mask(hand.cards) for hand in outcome.hands])

    def _roll(self, state: State, outcome: OutcomeRecord) -> State:
        fields = self.rules.unpack(state)
        colours = [colour for colour in COLOURS if COLOURS.index(colour) != fields["removed"]]
        if fields["golden"]:
            colours.append(GOLDEN)
        rolled = [die.colour for die in outcome.dice]
        if sorted(rolled) != sorted(colours):
            raise InvalidInput.at(
                "dice", f"must be the dice rolled, {' '.join(colours)}, each once"
            )
        values = {die.colour: die.value for die in outcome.dice}
        return self.rules.settle(state, [values.get(colour, 0) for colour in DICE])

    def _draw(self, state: State, outcome: OutcomeRecord) -> State:
        seat, other = self.rules.asked_seats(state)
        fields = self.rules.unpack(state)
        if other is None:
            taken = fields["heap"]
            for holder in range(self.rules.seats):
                taken |= fields["hands"][holder] | fields["played"][holder]
            source = card_mask(
                [card for card in CARDS if COLOURS.index(card[0]) != fields["removed"]]
            )
            source &= ~taken
            where = "the draw pile"
        else:
            source = fields["hands"][other]
            where = f"the hand of seat {other}"
        if len(set(outcome.drawn)) != 2 or len(outcome.drawn) != 2:
            raise InvalidInput.at(
                "drawn", f"must be the two cards that seat {seat} drew from {where}"
            )
        wrong = [
            Violation(f"drawn[{index}]", f"{card} is not in {where}")
            for index, card in enumerate(outcome.drawn)
            if not source >> CARD_NUMBERS[card] & 1
        ]
        if wrong:
            raise InvalidInput(wrong)
        return self.rules.settle(state, card_mask(outcome.drawn))

    def events(
        self, before: State, moves: Sequence[tuple[int, int]], after: State
    ) -> list[GameEvent]:
        """Who chose secretly, or what was chosen, once it is revealed, and what followed."""
        old, new = self.rules.unpack(before), self.rules.unpack(after)
        if any(new["choices"]):
            return [
                GameEvent(seat, "chose", f"Seat {seat} has chosen.", {"chose": {"seat": seat}})
                for seat, _ in sorted(moves)
            ]
        revealed = [(seat, code - 1) for seat, code in enumerate(old["choices"]) if code]
        events = [self._move_event(old, seat, move) for seat, move in sorted([*revealed, *moves])]
        ended = new["round"] != old["round"] or (
            self.rules.finished(after) and not self._slam_seats(after)
        )
        if ended:
            events.append(_scores_event("round_ended", f"Round {old['round']} is over", new))
        if new["round"] != old["round"]:
            events.append(
                GameEvent(
                    None,
                    "dealt",
                    f"Round {new['round']}: every seat has {self.rules.hand_size} new cards.",
                    {"dealt": {"round": new["round"]}},
                )
            )
        if any(new["dice"]) and (new["round"], new["turn"]) != (old["round"], old["turn"]):
            events.append(_roll_event(new))
        if self.rules.finished(after):
            events.append(self._end_event(after, new))
        return events

    def _slam_seats(self, state: State) -> list[int]:
        played = self.rules.unpack(state)["played"]
        return [
            seat for seat, cards in enumerate(played) if cards.bit_count() == self.rules.hand_size
        ]

    def _end_event(self, state: State, fields: "RivieraFields") -> GameEvent:
        slams = self._slam_seats(state)
        event = _scores_event("finished", "The game is over", fields)
        if slams:
            event.record["finished"]["grand_slam"] = slams
            seats = " and ".join(f"seat {seat}" for seat in slams)
            words = f"Grand Slam: {seats} played the last card and won the game."
            return event._replace(description=words)
        return event

    def _move_event(self, fields: "RivieraFields", seat: int, move: int) -> GameEvent:
        """What everybody sees of a move; `fields` are those before it."""
        ((kind, told),) = self.write_move(move).items()
        record: Record = {"seat": seat}
        match kind:
            case "play":
                event, words = "played", f"played {self._describe_card(move)}"
                record["card"] = told["card"]
            case "stop":
                played = _card_names(fields["played"][seat])
                record["stars"] = stars_of(played, self._given.stars)
                event, words = "stopped", f"stopped and banked {_count(record['stars'], 'star')}"
            case "turn":
                event, words = "turned", _turn_in_words(record, fields, move)
            case "swap":
                record["opponent"] = told["opponent"]
                event, words = "swapped", f"swapped two cards with seat {told['opponent']}"
            case "use" | "pass_on":
                event, words = _power_in_words(record, fields, move)
            case _:
                event, words = PLAIN_EVENTS[kind]
        return GameEvent(seat, event, f"Seat {seat} {words}.", {event: record})

    def hand_known(self, state: State, seat: int) -> bool:
        """Whether all cards of the seat's own hand are given."""
        fields = self.rules.unpack(state)
        cards = fields["hands"][seat] | fields["played"][seat]
        return cards.bit_count() == self.rules.hand_size

    def contradictions(
        self, before: State, after: State, seat: int, answered: int | None
    ) -> list[Violation]:
        """Why one observation cannot have come of an earlier one."""
        move = None if answered is None else self.write_move(answered)
        return contradictions(self.rules, self._given, (before, after), seat, move)

    def decisions_left(self, state: State, seat: int) -> float:  # noqa: ARG002
        """About one for each point that the first seat needs, and some of the last round."""
        return ROUND_DECISIONS + max(
            0, self._given.target - max(self.rules.unpack(state)["scores"])
        )

    def remember(self, before: State, after: State, seat: int) -> State:
        """How cards changed hands, and the dice for which seats had no valid card."""
        return remember(self.rules, before, after, seat)

    def same_decision(self, before: State, after: State, seat: int) -> bool:  # noqa: ARG002
        """Whether at most others have made their secret choices meanwhile."""
        return same_decision(self.rules, before, after)


def card_name(card: str) -> str:
    """A card in English."""
    return f"the {COLOUR_NAMES[COLOURS.index(card[0])]} {card[1:]}"


def _turn_in_words(record: Record, fields: "RivieraFields", move: int) -> str:
    die, down = divmod(move - TURN, 2)
    value = fields["dice"][die]
    record |= {"die": DICE[die], "from_value": value, "to_value": _turned(value, down)}
    return f"turned the {DIE_NAMES[die]} die from {value} to {record['to_value']}"


def _power_in_words(record: Record, fields: "RivieraFields", move: int) -> tuple[str, str]:
    """Kind and words of the use of a power or of a pass."""
    power = fields["powers"][record["seat"]]
    if PHASES[fields["phase"]] == Phase.EXTRA or not power:
        return "passed", "played no further card"
    card = CARDS[power - 1]
    if move == PASS:
        record["card"] = card
        return "passed", f"made no use of {card_name(card)}"
    if card_value(card) == ADD_GOLDEN:
        return "added_golden", "added the golden die to the next roll"
    record["die"] = card[0]
    return "reserved", f"reserved the {COLOUR_NAMES[COLOURS.index(card[0])]} die for the next roll"


def _scores_event(kind: str, words: str, fields: "RivieraFields") -> GameEvent:
    listed = ", ".join(f"seat {seat} has {score}" for seat, score in enumerate(fields["scores"]))
    return GameEvent(None, kind, f"{words}: {listed}.", {kind: {"scores": fields["scores"]}})


def _roll_event(fields: "RivieraFields") -> GameEvent:
    values = fields["dice"]
    shown = ", ".join(f"{n} {v}" for n, v in zip(DIE_NAMES, values, strict=True) if v)
    dice = _told_records(values)
    return GameEvent(None, "rolled", f"The dice show {shown}.", {"rolled": {"dice": dice}})


def _describe_turn(move: int, fields: "RivieraFields | None") -> str:
    die, down = divmod(move - TURN, 2)
    words = f"Turn the {DIE_NAMES[die]} die {'down' if down else 'up'} by one"
    if fields is None:
        return f"{words}."
    value = fields["dice"][die]
    return f"{words}, from {value} to {_turned(value, down)}."


def _turned(value: int, down: int) -> int:
    return (value - 1 + (-1 if down else 1)) % 6 + 1


def _describe_pass(fields: "RivieraFields | None", seat: int) -> str:
    if fields is None:
        return "Pass."
    match PHASES[fields["phase"]]:
        case Phase.EXTRA:
            return "Pass: play no further card."
        case Phase.NINES:
            return "Pass: turn no die."
    return f"Pass: make no use of {card_name(CARDS[fields['powers'][seat] - 1])}."


def _describe_use(fields: "RivieraFields | None", seat: int) -> str:
    if fields is None:
        return "Use the power of the card."
    colour, value = divmod(fields["powers"][seat] - 1, VALUES)
    if value + 1 == ADD_GOLDEN:
        return "Add the golden die to the next roll."
    return f"Reserve the {COLOUR_NAMES[colour]} die of the next roll."


def _describe_exchange(move: int) -> str:
    opponent, pair = divmod(move - SWAP, PAIRS)
    cards = " and ".join(map(card_name, _card_names(pair_mask(pair))))
    if opponent == HEAP:
        return f"Discard {cards} and draw two cards from the pile."
    return f"Give {cards} to seat {opponent} for two cards drawn from its hand."


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _status(fields: "RivieraFields", seat: int) -> Status:
    if fields["inside"] >> seat & 1:
        return Status.IN
    return Status.STOPPED if fields["stopped"] >> seat & 1 else Status.CRASHED


def _card_names(mask: int) -> list[str]:
    return [card for number, card in enumerate(CARDS) if mask >> number & 1]


def _seats_in(mask: int) -> list[int]:
    return [seat for seat in range(HEAP) if mask >> seat & 1]


def _seat_mask(seats: Iterable[int]) -> int:
    return sum(1 << seat for seat in seats)


def _die_number(colour: str) -> int:
    return DICE.index(colour) + 1 if colour else 0


def _told_dice(told: NoValidRecord | None) -> list[int] | None:
    return None if told is None else dice_values(told.dice)


def _told_records(values: Sequence[int]) -> list[Record]:
    return [
        {"colour": colour, "value": value}
        for colour, value in zip(DICE, values, strict=True)
        if value
    ]


def _dice_records(fields: "RivieraFields") -> Iterator[Record]:
    for number, (colour, value) in enumerate(zip(DICE, fields["dice"], strict=True)):
        in_use = value if colour == GOLDEN else number != fields["removed"]
        if in_use:
            record: Record = {"colour": colour}
            if value:
                record["value"] = value
            if fields["turned"] >> number & 1:
                record["turned"] = True
            yield record


def _hand_record(cards: int, size: int) -> Record:
    record: Record = {"cards": _card_names(cards)}
    hidden = size - cards.bit_count()
    if hidden:
        record["hidden_count"] = hidden
    return record


def _in_order(fields: "RivieraFields", seat: int) -> list[str]:
    """The cards that a seat has played, those between two exchanges by their names."""
    played = []
    before = 0
    for mask in [*(exchange[-1] for exchange in fields["exchanges"]), -1]:
        played += _card_names(fields["played"][seat] & mask & ~before)
        before = mask
    return played


def _exchange_record(fields: "RivieraFields", number: int) -> Record:
    seat, partner, given, drawn, before = fields["exchanges"][number]
    record: Record = {
        "seat": seat,
        "played": [(played & before).bit_count() for played in fields["played"]],
    }
    if partner != HEAP:
        record["opponent"] = partner
    if given:
        record |= {"given": _card_names(given), "drawn": _card_names(drawn)}
    return record


def _encode(move: MoveRecord) -> int:
    """The code of a typed move; raises InvalidInput if there can be no such move."""
    given = [kind for kind in MoveRecord.model_fields if getattr(move, kind) is not None]
    if len(given) != 1:
        raise InvalidInput.at("", f"must have one of {', '.join(MoveRecord.model_fields)}")
    kind = given[0]
    if move.play is not None:
        _check_card("play.card", move.play.card)
        return CARD_NUMBERS[move.play.card]
    if move.turn is not None:
        if move.turn.die not in DICE or not move.turn.die:
            raise InvalidInput.at(
                "turn.die", f"must be one of {DICE}, not {shorten(move.turn.die)}"
            )
        return TURN + 2 * DICE.index(move.turn.die) + move.turn.down
    if move.redraw is not None:
        return REDRAW + _encode_pair("redraw.cards", move.redraw.cards)
    if move.swap is not None:
        pair = _encode_pair("swap.cards", move.swap.cards)
        if not 0 <= move.swap.opponent < HEAP:
            raise InvalidInput.at("swap.opponent", f"must be a seat, not {move.swap.opponent}")
        return SWAP + move.swap.opponent * PAIRS + pair
    return LAST_CHANCE + PLAIN_MOVES.index(kind)


def _encode_pair(path: str, cards: Sequence[str]) -> int:
    if len(cards) != 2 or cards[0] == cards[1]:
        raise InvalidInput.at(path, f"must be two different cards, not {len(cards)}")
    for index, card in enumerate(cards):
        _check_card(f"{path}[{index}]", card)
    low, high = sorted(CARD_NUMBERS[card] for card in cards)
    return high * (high - 1) // 2 + low


def _check_card(path: str, card: str) -> None:
    if card not in CARD_NUMBERS:
        raise InvalidInput.at(path, f"must be a card such as r12, not {shorten(card)}")


def _parse_move(text: str) -> Record:
    """The typed record of a move in notation."""
    if text in CARD_NUMBERS:
        return {"play": {"card": text}}
    plain = "pass_on" if text == "pass" else text
    if plain in PLAIN_MOVES and text != "pass_on":
        return {plain: {}}
    if re.fullmatch(r"[rgpbo*][+-]1", text):
        return {"turn": {"die": text[0], "down": text[1] == "-"}}
    match = re.fullmatch(rf"swap:([0-5]):({CARD}),({CARD})", text)
    if match:
        return {"swap": {"opponent": int(match[1]), "cards": [match[2], match[3]]}}
    match = re.fullmatch(rf"redraw:({CARD}),({CARD})", text)
    if match:
        return {"redraw": {"cards": [match[1], match[2]]}}
    raise InvalidInput.at(
        "",
        "must be a card such as r12, last_chance, crash, stop, more, pass, use, a die turned such"
        f" as b+1 or *-1, swap:1:r3,b10 or redraw:r3,b10, not {shorten(text)}",
    )


def _split(fields: Sequence[str]) -> tuple[str, str, str, str, str, str, str]:
    """Name the fields of the notation, once there are as many as there must be."""
    if len(fields) != len(FIELDS):
        raise InvalidInput.at(
            "", f"must have the seven fields {' '.join(FIELDS)} after the game, not {len(fields)}"
        )
    turn, phase, waiting, token, dice, exchanges, seats = fields
    return turn, phase, waiting, token, dice, exchanges, seats


def _seat_faults(number: int, text: str) -> Iterator[Violation]:
    name = f"SEATS seat {number}"
    parts = text.split(":")
    shapes = (
        ("score", r"[0-9]{1,5}", "a number"),
        ("status", "|".join(STATUSES), f"one of {', '.join(STATUSES)}"),
        ("hand", rf"-|{HAND}", "cards such as r3b10??, or -"),
        ("played cards", PLAYED, "cards such as r3b10, with / for each exchange, or -"),
    )
    if len(parts) < len(shapes):
        yield Violation("", f"{name} must be SCORE:STATUS:HAND:PLAYED, not {shorten(text)}")
        return
    for (part, shape, expected), word in zip(shapes, parts, strict=False):
        if not re.fullmatch(shape, word):
            yield Violation("", f"{name}: {part} must be {expected}, not {shorten(word)}")
    seen: set[str] = set()
    for word in parts[len(shapes) :]:
        key, _, value = word.partition("@")
        if key in seen or key not in SEAT_PARTS or not re.fullmatch(SEAT_PARTS[key], value):
            yield Violation(
                "",
                f"{name}: further parts are {', '.join(SEAT_PARTS)}, each once and most with @ and"
                f" a value, not {shorten(word)}",
            )
        elif key == "chose" and value != "?":
            try:
                _parse_move(value)
            except InvalidInput as error:
                yield Violation("", f"{name}: chose@ {error.violations[0].message}")
        seen.add(key)


def _parse_seat(text: str) -> tuple[Record, Record]:
    """The hand and the other properties of a seat whose shape was checked."""
    score, status, hand, played, *parts = text.split(":")
    told = {key: value for key, _, value in (part.partition("@") for part in parts)}
    seat: Record = {
        "score": int(score),
        "status": int(STATUSES[status]),
        "last_chance_used": "used" in told,
        "played": re.findall(CARD, played),
        "power_card": told.get("power", ""),
        "reserved": told.get("reserved", ""),
        "reserves_next": told.get("reserves", ""),
    }
    if told.get("chose") == "?":
        seat["choice_hidden"] = True
    elif "chose" in told:
        seat["choice"] = _parse_move(told["chose"])
    if "chance" in told:
        dice, _, after = told["chance"].partition("~")
        seat["last_chance"] = {"dice": _parse_dice(dice), "exchanges": int(after or "0")}
    if "crash" in told:
        seat["crash"] = {"dice": _parse_dice(told["crash"])}
    return _parse_hand(hand), seat


def _parse_exchanges(text: str, seats: str) -> Iterator[Record]:
    """The typed records; how many cards were played before stands with the cards played."""
    played = [seat.split(":")[3].split("/") for seat in seats.split(",")]
    for number, exchange in enumerate(text.split(",") if text != "-" else ()):
        who, _, cards = exchange.partition(":")
        seat, _, opponent = who.partition(">")
        given, _, drawn = cards.partition("/")
        record: Record = {
            "seat": int(seat),
            "given": re.findall(CARD, given),
            "drawn": re.findall(CARD, drawn),
            "played": [len(re.findall(CARD, "".join(parts[: number + 1]))) for parts in played],
        }
        if opponent != "d":
            record["opponent"] = int(opponent)
        yield record


def _format_exchange(exchange: Record) -> str:
    text = f"{exchange['seat']}>{exchange.get('opponent', 'd')}"
    if "given" in exchange:
        text += f":{''.join(exchange['given'])}/{''.join(exchange['drawn'])}"
    return text


def _format_played(record: Record, seat: int) -> str:
    """The cards that a seat has played, with a slash for each exchange among or before them."""
    cards = record["seats"][seat]["played"]
    counts = [0, *(exchange["played"][seat] for exchange in record["exchanges"]), len(cards)]
    parts = ["".join(cards[first:end]) for first, end in pairwise(counts)]
    return "/".join(parts).rstrip("/") or "-"


def _parse_dice(text: str) -> list[Record]:
    return [
        {"colour": colour, "value": int(value or "0"), "turned": bool(turned)}
        for colour, value, turned in re.findall(r"([rgpbo*])([1-6]?)(!?)", text)
    ]


def _format_dice(dice: Sequence[Record]) -> str:
    return "".join(
        f"{die['colour']}{die.get('value', '')}{'!' if die.get('turned') else ''}" for die in dice
    )


def _parse_hand(text: str) -> Record:
    return {"cards": re.findall(CARD, text), "hidden_count": text.count("?")}


def _format_hand(hand: Record) -> str:
    return "".join(hand["cards"]) + "?" * hand.get("hidden_count", 0) or "-"


def _digits(seats: Sequence[int]) -> str:
    return "".join(map(str, seats)) or "-"
