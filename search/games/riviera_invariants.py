"""What holds for every Riviera state that play can reach, checked on what callers send.

The checks find everything that is wrong at once: each one runs as soon as the parts that it
compares are sound by themselves. They are necessary conditions, not sufficient ones: whether some
course of play leads to exactly this table is not asked. That some deal of the hidden cards agrees
with what is shown is left to the compiled rules, which look for one.
"""

from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import NamedTuple

from pydantic import Field

from aleator.ext.games.riviera import valid_mask
from aleator.search.errors import Violation, shorten
from aleator.search.games.base import StrictModel

COLOURS = "rgpbo"
GOLDEN = "*"
DICE = COLOURS + GOLDEN
COLOUR_NAMES = ("red", "green", "purple", "blue", "orange")
VALUES = 12
CARDS = [f"{colour}{value}" for colour in COLOURS for value in range(1, VALUES + 1)]
CARD_NUMBERS = {name: number for number, name in enumerate(CARDS)}
COLOUR_CARDS = (1 << VALUES) - 1
HEAP = 6  # the number of the discard heap as a holder of cards, after the seats
PILE = 7  # and of the draw pile
FIVE_COLOURS = 5  # seats from which all colours are in use

EXTRA_PLAY, RESERVE, TURN, SWAP, ADD_GOLDEN = 1, 2, 9, 10, 11  # values with a power
LATE_POWERS = (RESERVE, SWAP, ADD_GOLDEN)


class Phase(IntEnum):
    """What is to be decided, with the numbers of the wire's enum."""

    NINES = 1
    PLAY = 2
    EXTRA = 3
    POWERS = 4
    STOP = 5
    OVER = 6


class Status(IntEnum):
    """How a seat is faring in the round, with the numbers of the wire's enum."""

    IN = 1
    STOPPED = 2
    CRASHED = 3


SECRET_PHASES = (Phase.PLAY, Phase.EXTRA, Phase.STOP)


class Rules(NamedTuple):
    """The options that matter here, none left out."""

    players: int
    mode: str
    powers: bool
    stars: Sequence[int]
    hand_size: int
    target: int
    removed_colour: str
    max_same_colour_in_hand: int | None
    reroll_first_roll: bool
    preroll_powers: str
    max_rounds: int | None

    @property
    def sequential(self) -> bool:
        """Whether seats choose in turn, in the open."""
        return self.mode == "sequential"

    @property
    def colours(self) -> int:
        """Colours in use."""
        return len(COLOURS) - (self.players < FIVE_COLOURS)

    @property
    def pile(self) -> int:
        """Cards in the pile after the deal."""
        return self.colours * VALUES - self.players * self.hand_size


class HandRecord(StrictModel):
    """Cards in one place: those known, and how many more there are."""

    cards: list[str] = Field(default_factory=list)
    hidden_count: int = 0

    @property
    def size(self) -> int:
        """The number of cards, known or not."""
        return len(self.cards) + self.hidden_count


class DieRecord(StrictModel):
    """A die on the table; a value of 0 is none yet."""

    colour: str = ""
    value: int = 0
    turned: bool = False


class ExchangeRecord(StrictModel):
    """A swap, or without an opponent a redraw; the cards both given and drawn, or neither."""

    seat: int | None = None
    opponent: int | None = None
    given: list[str] = Field(default_factory=list)
    drawn: list[str] = Field(default_factory=list)
    played: list[int] = Field(default_factory=list)

    @property
    def told(self) -> bool:
        """Whether the cards are known."""
        return bool(self.given or self.drawn)


class NoValidRecord(StrictModel):
    """Dice for which a seat had no valid card, and of a Last Chance how many exchanges before."""

    dice: list[DieRecord] = Field(default_factory=list)
    exchanges: int = 0


class PlayRecord(StrictModel):
    """The typed play."""

    card: str = ""


class TurnRecord(StrictModel):
    """The typed turn of a die."""

    die: str = ""
    down: bool = False


class SwapRecord(StrictModel):
    """The typed swap."""

    opponent: int
    cards: list[str] = Field(default_factory=list)


class RedrawRecord(StrictModel):
    """The typed redraw."""

    cards: list[str] = Field(default_factory=list)


class EmptyRecord(StrictModel):
    """A move without particulars."""


class MoveRecord(StrictModel):
    """The typed move: one of its fields is set."""

    play: PlayRecord | None = None
    last_chance: EmptyRecord | None = None
    crash: EmptyRecord | None = None
    stop: EmptyRecord | None = None
    more: EmptyRecord | None = None
    pass_on: EmptyRecord | None = None
    use: EmptyRecord | None = None
    turn: TurnRecord | None = None
    swap: SwapRecord | None = None
    redraw: RedrawRecord | None = None


class SeatRecord(StrictModel):
    """What belongs to one seat besides its hand."""

    score: int = 0
    status: int = 0
    last_chance_used: bool = False
    played: list[str] = Field(default_factory=list)
    power_card: str = ""
    reserved: str = ""
    reserves_next: str = ""
    choice: MoveRecord | None = None
    choice_hidden: bool = False
    last_chance: NoValidRecord | None = None
    crash: NoValidRecord | None = None

    @property
    def chose(self) -> bool:
        """Whether the seat has made a choice that is not revealed yet."""
        return self.choice_hidden or self.choice is not None


class StateRecord(StrictModel):
    """The typed state, before its numbers are checked; on the wire an empty list is absent."""

    round: int = 0
    turn: int = 0
    phase: int = 0
    token: int | None = None
    waiting: list[int] = Field(default_factory=list)
    extra_plays: list[int] = Field(default_factory=list)
    dice: list[DieRecord] = Field(default_factory=list)
    golden_next: bool = False
    hands: list[HandRecord] = Field(default_factory=list)
    exchanges: list[ExchangeRecord] = Field(default_factory=list)
    discard: HandRecord | None = None
    pile_size: int | None = None
    seats: list[SeatRecord] = Field(default_factory=list)

    @property
    def discarded(self) -> HandRecord:
        """The discard heap, by the redraws."""
        redraws = [exchange for exchange in self.exchanges if exchange.opponent is None]
        cards = [card for redraw in redraws for card in redraw.given]
        return HandRecord(cards=cards, hidden_count=2 * len(redraws) - len(cards))

    def played_before(self, exchange: ExchangeRecord) -> list[str]:
        """The cards that were on the table at a swap or redraw."""
        counts = zip(self.seats, exchange.played, strict=True)
        return [card for seat, count in counts for card in seat.played[:count]]


def violations(record: StateRecord, rules: Rules) -> list[Violation]:
    """Everything in a state that cannot be, with paths into the typed record."""
    wrong = [
        *_check_counters(record, rules),
        *_check_lengths(record, rules),
        *_check_exchanges(record, rules),
    ]
    if wrong:
        return wrong
    wrong += _check_dice(record, rules)
    cards_wrong = list(_check_cards(record, rules, in_use=_colours_of(record)))
    wrong += cards_wrong
    statuses_wrong = list(_check_statuses(record, rules))
    wrong += statuses_wrong
    wrong += _check_powers(record, rules)
    wrong += _check_told(record)
    if not statuses_wrong:
        wrong += _check_turn_order(record, rules)
        wrong += _check_choices(record, rules)
        if not cards_wrong:
            wrong += _check_progress(record, rules)
    if not wrong:
        wrong += _check_moved_cards(record)
        wrong += _check_crashed_hands(record)
    return wrong


def card_value(card: str) -> int:
    """The value of a card by its name."""
    return int(card[1:])


def card_mask(cards: Sequence[str]) -> int:
    """Cards as a bit mask."""
    return sum(1 << CARD_NUMBERS[card] for card in cards)


def dice_values(dice: Sequence[DieRecord]) -> list[int]:
    """The six dice in order, 0 for those that are not there."""
    values = [0] * len(DICE)
    for die in dice:
        values[DICE.index(die.colour)] = die.value
    return values


def stars_of(cards: Sequence[str], stars: Sequence[int]) -> int:
    """What cards are worth."""
    return sum(stars[card_value(card) - 1] for card in cards)


def clockwise(token: int, players: int) -> list[int]:
    """The seats in order from the one with the Start token."""
    return [(token + step) % players for step in range(players)]


def usable_dice(record: StateRecord, seat: int) -> list[int]:
    """The six dice without those that other seats have reserved."""
    taken = [other.reserved for index, other in enumerate(record.seats) if index != seat]
    return dice_values([die for die in record.dice if die.colour not in taken])


def _dice_shown(record: StateRecord, rules: Rules) -> bool:
    """Whether the dice of a turn lie on the table."""
    if record.phase == Phase.POWERS:
        return rules.preroll_powers == "before_stop"
    return record.phase in {Phase.NINES, Phase.PLAY, Phase.EXTRA}


def _colours_of(record: StateRecord) -> str:
    return "".join(die.colour for die in record.dice if die.colour in COLOURS)


def _check_counters(record: StateRecord, rules: Rules) -> Iterator[Violation]:
    most_rounds = 65535 if rules.max_rounds is None else rules.max_rounds
    if not 1 <= record.round <= most_rounds:
        yield Violation("round", f"must be 1..{most_rounds}, not {record.round}")
    if not 1 <= record.turn <= rules.hand_size + 1:
        yield Violation("turn", f"must be 1..{rules.hand_size + 1}, not {record.turn}")
    if not 1 <= record.phase <= len(Phase):
        yield Violation("phase", "must be one of the phases")
    if record.token is None or not 0 <= record.token < rules.players:
        yield Violation("token", f"must be a seat 0..{rules.players - 1}")
    for name in ("waiting", "extra_plays"):
        seats = getattr(record, name)
        for index, seat in enumerate(seats):
            if not 0 <= seat < rules.players or seat in seats[:index]:
                yield Violation(
                    f"{name}[{index}]", f"must be another seat of 0..{rules.players - 1}"
                )


def _check_lengths(record: StateRecord, rules: Rules) -> Iterator[Violation]:
    for name in ("hands", "seats"):
        count = len(getattr(record, name))
        if count != rules.players:
            yield Violation(name, f"must be {rules.players}, one for each seat, not {count}")
    for index, seat in enumerate(record.seats):
        if not 1 <= seat.status <= len(Status):
            yield Violation(f"seats[{index}].status", "must be in, stopped or crashed")
    for index, die in enumerate(record.dice):
        if die.colour not in DICE or not die.colour:
            yield Violation(
                f"dice[{index}].colour", f"must be one of {DICE}, not {shorten(die.colour)}"
            )


def _check_dice(record: StateRecord, rules: Rules) -> Iterator[Violation]:
    shown = [die.colour for die in record.dice]
    for index, die in enumerate(record.dice):
        if die.colour in shown[:index]:
            yield Violation(f"dice[{index}].colour", f"there is one {die.colour} die")
    yield from _check_faces(record, rules)
    colours = _colours_of(record)
    if len(set(colours)) != rules.colours:
        yield Violation(
            "dice", f"must hold the {rules.colours} coloured dice in use, not {len(set(colours))}"
        )
    elif rules.removed_colour != "random":
        removed = COLOURS[COLOUR_NAMES.index(rules.removed_colour)]
        if removed in colours:
            yield Violation(
                f"dice[{shown.index(removed)}].colour",
                f"is {rules.removed_colour}, which the options remove",
            )
    yield from _check_golden(record, rules)


def _check_faces(record: StateRecord, rules: Rules) -> Iterator[Violation]:
    shown = _dice_shown(record, rules)
    low, high = (1, 6) if shown else (0, 0)
    for index, die in enumerate(record.dice):
        if die.colour == GOLDEN and not shown:
            yield Violation(f"dice[{index}]", "the golden die is on the table only during a turn")
        elif not low <= die.value <= high:
            expected = "1..6" if shown else "0, since no dice are on the table now"
            yield Violation(f"dice[{index}].value", f"must be {expected}, not {die.value}")
        if die.turned and (not shown or record.turn == 1 or not rules.powers):
            yield Violation(f"dice[{index}].turned", "no die can have been turned this turn")


def _check_golden(record: StateRecord, rules: Rules) -> Iterator[Violation]:
    shown = [die.colour for die in record.dice]
    if GOLDEN in shown and (record.turn == 1 or not _played(record, ADD_GOLDEN, rules)):
        yield Violation(f"dice[{shown.index(GOLDEN)}]", "nobody can have added the golden die")
    if record.golden_next:
        late = record.phase == Phase.STOP and rules.preroll_powers == "before_stop"
        if not (late or record.phase == Phase.POWERS) or not _played(record, ADD_GOLDEN, rules):
            yield Violation("golden_next", "nobody can have added the golden die to the next roll")


def _played(record: StateRecord, value: int, rules: Rules) -> bool:
    """Whether a card of a value with a power was played this round."""
    return rules.powers and any(
        card[1:] == str(value) for seat in record.seats for card in seat.played
    )


def _places(record: StateRecord) -> Iterator[tuple[str, list[str]]]:
    for index, hand in enumerate(record.hands):
        yield f"hands[{index}].cards", hand.cards
    for index, seat in enumerate(record.seats):
        yield f"seats[{index}].played", seat.played
    for index, exchange in enumerate(record.exchanges):
        if exchange.opponent is None:
            yield f"exchanges[{index}].given", exchange.given


def _check_cards(record: StateRecord, rules: Rules, in_use: str) -> Iterator[Violation]:
    seen: dict[str, str] = {}
    for path, cards in _places(record):
        for index, card in enumerate(cards):
            if card not in CARD_NUMBERS:
                yield Violation(
                    f"{path}[{index}]", f"must be a card such as r12, not {shorten(card)}"
                )
            elif card[0] not in in_use:
                yield Violation(f"{path}[{index}]", f"{card} is of a colour that is not in use")
            elif card in seen:
                yield Violation(f"{path}[{index}]", f"{card} is in {seen[card]} already")
            else:
                seen[card] = path
    for index, (hand, seat) in enumerate(zip(record.hands, record.seats, strict=True)):
        expected = rules.hand_size - len(seat.played)
        if expected < 0:
            yield Violation(
                f"seats[{index}].played", f"must be at most {rules.hand_size}, the size of a hand"
            )
        elif hand.hidden_count < 0 or hand.size != expected:
            yield Violation(
                f"hands[{index}]",
                f"must be {expected} cards, known or hidden: {rules.hand_size} were dealt and"
                f" {len(seat.played)} played, not {hand.size}",
            )
    yield from _check_heap(record, rules)


def _check_heap(record: StateRecord, rules: Rules) -> Iterator[Violation]:
    heap = record.discarded
    given = record.discard
    if heap.size > rules.pile:
        yield Violation("exchanges", f"redraw {heap.size} of the {rules.pile} cards of the pile")
        return
    if given is not None and (
        sorted(given.cards) != sorted(heap.cards) or given.hidden_count != heap.hidden_count
    ):
        yield Violation(
            "discard", "must hold the two cards given of each redraw in `exchanges`, or be left out"
        )
    if record.pile_size is not None and record.pile_size != rules.pile - heap.size:
        yield Violation(
            "pile_size",
            f"must be {rules.pile - heap.size} after {heap.size} were drawn,"
            f" not {record.pile_size}",
        )
    if heap.size and sum(seat.status == Status.IN for seat in record.seats) > 1:
        yield Violation("exchanges", "cannot hold a redraw: it takes a seat alone in the round")


def _check_statuses(record: StateRecord, rules: Rules) -> Iterator[Violation]:
    inside = [index for index, seat in enumerate(record.seats) if seat.status == Status.IN]
    empty = [
        index
        for index, seat in enumerate(record.seats)
        if len(seat.played) >= rules.hand_size and record.hands[index].size == 0
    ]
    over = record.phase == Phase.OVER
    reached = any(seat.score >= rules.target for seat in record.seats)
    for index, seat in enumerate(record.seats):
        if not 0 <= seat.score < 65536:
            yield Violation(f"seats[{index}].score", f"must be 0..65535, not {seat.score}")
        elif seat.score >= rules.target and (not over or empty):
            yield Violation(
                f"seats[{index}].score",
                f"must be below {rules.target}, which ends the game, not {seat.score}",
            )
        if index in empty and (not over or seat.status != Status.IN):
            yield Violation(f"hands[{index}]", "is empty, a Grand Slam, which ends the game")
    if not over and not inside:
        yield Violation("seats", "nobody is in the round, so it would have ended")
    if over and not empty:
        if inside:
            yield Violation("phase", "the game cannot be over while a seat is in the round")
        elif not reached and record.round != rules.max_rounds:
            yield Violation("phase", f"the game cannot be over: nobody has {rules.target} stars")


def _check_powers(record: StateRecord, rules: Rules) -> Iterator[Violation]:
    for index, seat in enumerate(record.seats):
        path = f"seats[{index}].power_card"
        card = seat.power_card
        if card and (card not in seat.played or card_value(card) not in (*LATE_POWERS, TURN)):
            yield Violation(path, "must be a 2, 9, 10 or 11 that the seat has played")
        elif card and (not rules.powers or seat.status != Status.IN):
            yield Violation(
                path, "a power waits only where cards have one, for a seat in the round"
            )
        elif card and not _power_may_wait(record, card_value(card), rules):
            yield Violation(path, f"the power of a {card_value(card)} cannot wait in this phase")
        reservations = (
            ("reserved", seat.reserved, record.phase != Phase.OVER),
            (
                "reserves_next",
                seat.reserves_next,
                record.phase == Phase.POWERS and rules.preroll_powers == "before_stop",
            ),
        )
        for name, colour, possible in reservations:
            if colour and not (possible and rules.powers and f"{colour}{RESERVE}" in seat.played):
                yield Violation(
                    f"seats[{index}].{name}",
                    f"the seat cannot have reserved {shorten(colour)}: it must have played that 2",
                )
        early = record.turn == 1 and _dice_shown(record, rules)
        if seat.reserved and (early or seat.status == Status.STOPPED):
            yield Violation(f"seats[{index}].reserved", "no reservation can hold now")


def _power_may_wait(record: StateRecord, value: int, rules: Rules) -> bool:
    after_stop = rules.preroll_powers == "after_stop"
    match record.phase:
        case Phase.NINES:
            return value == TURN and record.turn > 1
        case Phase.PLAY:
            return rules.sequential
        case Phase.EXTRA | Phase.POWERS:
            return True
        case Phase.STOP:
            return value == TURN or after_stop
    return True  # a Grand Slam stops everything


def _check_turn_order(record: StateRecord, rules: Rules) -> Iterator[Violation]:
    assert record.token is not None, "checked before"
    inside = [index for index, seat in enumerate(record.seats) if seat.status == Status.IN]
    expected: list[int] | None = None
    match record.phase:
        case Phase.OVER:
            expected = []
        case Phase.NINES:
            expected = _with_power(record, (TURN,))
        case Phase.POWERS:
            expected = _with_power(record, LATE_POWERS)
    if expected is not None and sorted(record.waiting) != expected:
        yield Violation("waiting", f"must be {expected} in this phase")
        return
    for index, seat in enumerate(record.waiting):
        if seat not in inside:
            yield Violation(f"waiting[{index}]", f"seat {seat} is not in the round")
    if record.phase in {Phase.NINES, Phase.PLAY, Phase.POWERS, Phase.STOP} and not record.waiting:
        yield Violation("waiting", "must be the seats that have still to act, at least one")
    yield from _check_extra(record, rules)
    if rules.sequential and record.phase in SECRET_PHASES:
        yield from _check_clockwise(record, inside, clockwise(record.token, rules.players))


def _check_clockwise(
    record: StateRecord, inside: Sequence[int], order: Sequence[int]
) -> Iterator[Violation]:
    """Where seats act in turn, all those after the first one that waits are waiting."""
    started = False
    for seat in order:
        started = started or seat in record.waiting
        if started and seat in inside and seat not in record.waiting:
            yield Violation("waiting", f"must hold seat {seat}, which acts after others there")


def _with_power(record: StateRecord, values: tuple[int, ...]) -> list[int]:
    return [
        index
        for index, seat in enumerate(record.seats)
        if seat.power_card in CARD_NUMBERS and card_value(seat.power_card) in values
    ]


def _check_extra(record: StateRecord, rules: Rules) -> Iterator[Violation]:
    if record.phase != Phase.EXTRA:
        if record.extra_plays:
            yield Violation("extra_plays", "must be empty in this phase")
        return
    if not rules.powers or not record.extra_plays:
        yield Violation("extra_plays", "must be the seats with an open extra play, at least one")
    if rules.sequential and len(record.extra_plays) > 1:
        yield Violation("extra_plays", "must be one seat: an extra play is made within its turn")
    if not rules.sequential and record.waiting:
        yield Violation("waiting", "must be empty: all have played before the extra plays")
    for index, seat in enumerate(record.extra_plays):
        if record.seats[seat].status != Status.IN or not any(
            card[1:] == "1" for card in record.seats[seat].played
        ):
            yield Violation(f"extra_plays[{index}]", f"seat {seat} has not played a 1")
        if seat in record.waiting:
            yield Violation(f"extra_plays[{index}]", f"seat {seat} has still to play a card")


def _check_choices(record: StateRecord, rules: Rules) -> Iterator[Violation]:
    secret = not rules.sequential and record.phase in SECRET_PHASES
    to_choose = record.extra_plays if record.phase == Phase.EXTRA else record.waiting
    for index, seat in enumerate(record.seats):
        path = f"seats[{index}].choice"
        if seat.chose and not secret:
            yield Violation(path, "there are no secret choices in this phase")
        elif seat.chose and (index in to_choose or seat.status != Status.IN):
            yield Violation(path, f"seat {index} cannot have chosen already")
        elif seat.choice is not None and seat.choice_hidden:
            yield Violation(path, "is given although it is said to be hidden")
        elif (
            secret
            and not seat.chose
            and record.phase != Phase.EXTRA
            and seat.status == Status.IN
            and index not in to_choose
        ):
            yield Violation(path, f"is missing: seat {index} is in the round and not waited for")
        elif seat.choice is not None:
            yield from _check_choice(record, index, seat.choice, path)


def _check_choice(
    record: StateRecord, index: int, choice: MoveRecord, path: str
) -> Iterator[Violation]:
    """A secret choice is one that the phase and, as far as it is known, the hand allow."""
    given = set(choice.model_fields_set)
    allowed = {
        Phase.PLAY: {"play", "last_chance", "crash"},
        Phase.EXTRA: {"play", "pass_on"},
        Phase.STOP: {"stop", "more"},
    }[Phase(record.phase)]
    if len(given) != 1 or not given <= allowed:
        yield Violation(path, f"must be one of {', '.join(sorted(allowed))} in this phase")
        return
    hand = record.hands[index]
    held = card_mask([card for card in hand.cards if card in CARD_NUMBERS])
    valid = valid_mask(usable_dice(record, index))
    if choice.play is not None:
        if (
            choice.play.card not in CARD_NUMBERS
            or hand.hidden_count
            or (not valid & held & card_mask([choice.play.card]))
        ):
            yield Violation(f"{path}.play.card", "must be a valid card of the seat's known hand")
    elif record.phase == Phase.PLAY and held & valid:
        yield Violation(path, "must be a play: the seat has a valid card")
    if choice.last_chance is not None and record.seats[index].last_chance_used:
        yield Violation(path, "the seat has used its Last Chance already")


def _check_told(record: StateRecord) -> Iterator[Violation]:
    """The dice for which seats had no valid card."""
    for index, seat in enumerate(record.seats):
        if seat.last_chance is not None:
            path = f"seats[{index}].last_chance"
            if not seat.last_chance_used:
                yield Violation(path, "the seat has not used its Last Chance")
            if not 0 <= seat.last_chance.exchanges <= len(record.exchanges):
                yield Violation(f"{path}.exchanges", f"must be 0..{len(record.exchanges)}")
            yield from _check_told_dice(f"{path}.dice", seat.last_chance.dice, record)
        if seat.crash is not None:
            path = f"seats[{index}].crash"
            if seat.status != Status.CRASHED:
                yield Violation(path, "the seat has not crashed")
            if seat.crash.exchanges:
                yield Violation(f"{path}.exchanges", "must be left out of a crash")
            yield from _check_told_dice(f"{path}.dice", seat.crash.dice, record)


def _check_told_dice(
    path: str, dice: Sequence[DieRecord], record: StateRecord
) -> Iterator[Violation]:
    in_use = _colours_of(record) + GOLDEN
    if not dice:
        yield Violation(path, "must be the dice that the seat could use, at least one")
    shown = [die.colour for die in dice]
    for index, die in enumerate(dice):
        if not die.colour or die.colour not in in_use or die.colour in shown[:index]:
            yield Violation(f"{path}[{index}].colour", "must be another die in use")
        if not 1 <= die.value <= 6:
            yield Violation(f"{path}[{index}].value", f"must be 1..6, not {die.value}")


def _check_progress(record: StateRecord, rules: Rules) -> Iterator[Violation]:
    """Every turn, a seat in the round has played a card or used its Last Chance."""
    for index, seat in enumerate(record.seats):
        if seat.status != Status.IN or record.phase == Phase.OVER:
            continue
        done = record.turn
        if record.phase == Phase.NINES or _has_to_play(record, index):
            done -= 1
        least = done - seat.last_chance_used
        most = done
        if rules.powers:
            most += sum(card[1:] == str(EXTRA_PLAY) for card in seat.played)
        if not least <= len(seat.played) <= most:
            expected = str(least) if least == most else f"{max(least, 0)}..{most}"
            yield Violation(
                f"seats[{index}].played",
                f"must be {expected} cards after {done} turns of this seat, not {len(seat.played)}",
            )


def _has_to_play(record: StateRecord, seat: int) -> bool:
    """Whether a seat's card of this turn is not on the table yet."""
    if record.phase == Phase.EXTRA:
        return seat in record.waiting
    return record.phase == Phase.PLAY and (seat in record.waiting or record.seats[seat].chose)


def _check_exchanges(record: StateRecord, rules: Rules) -> Iterator[Violation]:
    """Each swap or redraw takes a 10 that its seat has played, and two cards on each side."""
    if any(len(places) != rules.players for places in (record.seats, record.hands)):
        return
    earlier = [0] * rules.players
    redrawn = False
    for index, exchange in enumerate(record.exchanges):
        path = f"exchanges[{index}]"
        seat, opponent = exchange.seat, exchange.opponent
        if seat is None or not 0 <= seat < rules.players:
            yield Violation(f"{path}.seat", f"must be a seat 0..{rules.players - 1}")
            return
        if opponent is not None and (opponent == seat or not 0 <= opponent < rules.players):
            yield Violation(f"{path}.opponent", "must be another seat, or left out for a redraw")
            return
        lengths = [len(other.played) for other in record.seats]
        if len(exchange.played) != rules.players or any(
            not least <= count <= most
            for least, count, most in zip(earlier, exchange.played, lengths, strict=True)
        ):
            yield Violation(
                f"{path}.played",
                "must be for each seat how many cards of its `played` were on the table, no fewer"
                " than at the exchange before",
            )
            return
        earlier = exchange.played
        yield from _check_right_to(path, record, index, rules)
        if redrawn and opponent is not None:
            yield Violation(f"{path}.opponent", "nobody else was in the round any more")
        redrawn = redrawn or opponent is None
        if exchange.told:
            yield from _check_exchanged(path, exchange, _colours_of(record))


def _check_right_to(
    path: str, record: StateRecord, index: int, rules: Rules
) -> Iterator[Violation]:
    """The seat has played a 10 for each of its exchanges, and both have two cards."""
    exchange = record.exchanges[index]
    seat = exchange.seat
    assert seat is not None, "checked before"
    uses = sum(other.seat == seat for other in record.exchanges[: index + 1])
    on_table = record.seats[seat].played[: exchange.played[seat]]
    waiting = record.seats[seat].power_card
    tens = sum(card[1:] == str(SWAP) and card != waiting for card in on_table)
    if not rules.powers or tens < uses:
        yield Violation(f"{path}.seat", f"seat {seat} had not played a 10 for it")
    for other in (seat, exchange.opponent):
        if other is not None and rules.hand_size - exchange.played[other] < 2:
            yield Violation(f"{path}.played", f"seat {other} did not have two cards")


def _check_exchanged(path: str, exchange: ExchangeRecord, in_use: str) -> Iterator[Violation]:
    if len(exchange.given) != 2 or len(exchange.drawn) != 2:
        yield Violation(path, "must have two cards each, or none of both if they are not known")
    cards = [*exchange.given, *exchange.drawn]
    for name, named in (("given", exchange.given), ("drawn", exchange.drawn)):
        for index, card in enumerate(named):
            if card not in CARD_NUMBERS or card[0] not in in_use or cards.count(card) > 1:
                yield Violation(
                    f"{path}.{name}[{index}]",
                    f"must be another card such as r12, of a colour in use, not {shorten(card)}",
                )


def _check_moved_cards(record: StateRecord) -> Iterator[Violation]:
    """Cards were where the exchanges took them from, as far as that is told: looking back."""
    places = dict[str, int]()
    for seat, hand in enumerate(record.hands):
        places |= dict.fromkeys(hand.cards, seat)
    places |= dict.fromkeys(record.discarded.cards, HEAP)
    # Hands of which all is told; a card that is not among those told was not there.
    whole = {seat for seat, hand in enumerate(record.hands) if not hand.hidden_count}
    later: set[str] = {card for seat in record.seats for card in seat.played}
    for index in reversed(range(len(record.exchanges))):
        exchange = record.exchanges[index]
        assert exchange.seat is not None, "checked before"
        before = set(record.played_before(exchange))
        for seat, belongings in enumerate(record.seats):
            for card in belongings.played:
                if card in later and card not in before:
                    places[card] = seat
        later = before
        partner = HEAP if exchange.opponent is None else exchange.opponent
        if not exchange.told:
            places = {
                card: place
                for card, place in places.items()
                if place not in {exchange.seat, partner}
            }
            whole -= {exchange.seat, partner}
            continue
        moves = (("given", exchange.given, partner), ("drawn", exchange.drawn, exchange.seat))
        for name, cards, to in moves:
            for number, card in enumerate(cards):
                if places.get(card, to) != to or (to in whole and card not in places):
                    where = "on the discard heap" if to == HEAP else f"in the hand of seat {to}"
                    yield Violation(
                        f"exchanges[{index}].{name}[{number}]",
                        f"{card} was not {where} afterwards, by where it is now or was played",
                    )
                    return
        places |= dict.fromkeys(exchange.given, exchange.seat)
        places |= dict.fromkeys(exchange.drawn, PILE if partner == HEAP else partner)


def _check_crashed_hands(record: StateRecord) -> Iterator[Violation]:
    """Cards that are shown in a crashed hand were not valid."""
    for index, seat in enumerate(record.seats):
        if seat.crash is not None:
            valid = valid_mask(dice_values(seat.crash.dice))
            for number, card in enumerate(record.hands[index].cards):
                if valid & card_mask([card]):
                    yield Violation(
                        f"hands[{index}].cards[{number}]",
                        f"{card} was valid when the seat crashed for want of a valid card",
                    )
