"""Goofspiel as text and plain data.

Notation: ``HANDS PRIZES DECK SCORES``, explained in the rules page.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal

from pydantic import Field

from aleator.ext.core.game import State
from aleator.search.errors import InvalidInput, Violation, shorten
from aleator.search.games.base import Codec, GameEvent, Record, StrictModel, read_model
from goofspiel.rules import Goofspiel

LETTERS = "A23456789TJQK"  # by value, from 1
SEAT_COUNTS = (2, 3)
CARDS = f"[{LETTERS}]+"
HAND = f"(?:{CARDS}(?::[{LETTERS}?])?|-)"
# The shapes of the fields of the notation, with what they must be.
FIELDS = {
    "HANDS": (f"{HAND}(?:,{HAND})*", "cards such as A34 or A34:3, or - for none, joined by ,"),
    "PRIZES": (CARDS, "cards"),
    "DECK": (rf"{CARDS}|\?+|-", "cards, or ? for each, or - for none"),
    "SCORES": ("[0-9]{1,2}(?:,[0-9]{1,2})*", "whole numbers joined by ,"),
}


class GoofspielOptions(StrictModel):
    """The options of the rules page."""

    players: Literal[2, 3] = Field(2, description="Number of seats.")
    cards: int = Field(13, ge=2, le=13, description="Cards of each seat, and prizes: 2..13.")


class HandRecord(StrictModel):
    """A hand; on the wire an empty list is absent, and so is a bid of 0, which is none."""

    cards: list[int] = Field(default_factory=list)
    bid: int = 0
    bid_hidden: bool = False


class StateRecord(StrictModel):
    """The typed state, before its numbers are checked."""

    hands: list[HandRecord] = Field(default_factory=list)
    prizes: list[int] = Field(default_factory=list)
    deck: list[int] = Field(default_factory=list)
    scores: list[int] = Field(default_factory=list)


class MoveRecord(StrictModel):
    """The typed move; a card of 0 is an unset field on the wire."""

    card: int = 0


class OutcomeRecord(StrictModel):
    """The prize turned over after a round; 0 is an unset field on the wire."""

    prize: int = 0


class GoofspielCodec(Codec):
    """The codec of Goofspiel."""

    id: ClassVar[str] = "goofspiel"
    title: ClassVar[str] = "Goofspiel"
    hidden: ClassVar[str] = "The order of the deck, and bids until all are made."
    seat_counts: ClassVar[tuple[int, ...]] = SEAT_COUNTS
    example: ClassVar[str] = "goofspiel A34,A24 24 ?? 0,2 cards=4"
    Options: ClassVar[type[StrictModel]] = GoofspielOptions
    told_by_notation: ClassVar[frozenset[str]] = frozenset({"players"})

    rules: Goofspiel

    @staticmethod
    def make_rules(options: dict[str, Any]) -> Goofspiel:
        """The compiled rules."""
        return Goofspiel(**options)

    @classmethod
    def options_in_notation(cls, fields: Sequence[str]) -> dict[str, Any]:
        """The number of players, which is the number of hands."""
        count = _split(fields)["HANDS"].count(",") + 1
        if count not in SEAT_COUNTS:
            raise InvalidInput.at("", f"HANDS must hold 2 or 3 hands, not {count}")
        return {"players": count}

    def read_state(self, record: Mapping[str, Any]) -> State:
        """Read a state or observation and check that its parts fit together."""
        state = read_model(StateRecord, record)
        wrong = list(_violations(state, self.rules.seats, self.rules.cards))
        if wrong:
            raise InvalidInput(wrong)
        hands = [hand.cards for hand in state.hands]
        bids = [None if hand.bid_hidden else hand.bid for hand in state.hands]
        return self.rules.pack(hands, bids, state.prizes, state.deck, state.scores)

    def write_state(self, state: State) -> Record:
        """The typed record; hands ascending."""
        fields = self.rules.unpack(state)
        return {
            "hands": [
                {"cards": hand} | _bid_record(bid)
                for hand, bid in zip(fields["hands"], fields["bids"], strict=True)
            ],
            "prizes": fields["prizes"],
            "deck": fields["deck"],
            "scores": fields["scores"],
        }

    def parse_state(self, fields: Sequence[str]) -> State:
        """Read the four fields of the notation."""
        texts = _split(fields)
        wrong = [
            Violation("", f"{name} must be {expected}, not {shorten(texts[name])}")
            for name, (shape, expected) in FIELDS.items()
            if not re.fullmatch(shape, texts[name])
        ]
        prizes = _parse_cards(texts["PRIZES"])
        to_come = self.rules.cards - len(prizes)
        if not wrong and len(texts["DECK"].strip("-")) != max(0, to_come):
            wrong.append(Violation("", f"DECK must be of the {to_come} prizes not in PRIZES"))
        if wrong:
            raise InvalidInput(wrong)
        return self.read_state(
            {
                "hands": [_parse_hand(hand) for hand in texts["HANDS"].split(",")],
                "prizes": prizes,
                "deck": _parse_cards(texts["DECK"]),
                "scores": [int(score) for score in texts["SCORES"].split(",")],
            }
        )

    def format_state(self, state: State) -> str:
        """Write the four fields of the notation."""
        fields = self.rules.unpack(state)
        unknown = self.rules.cards - len(fields["prizes"]) - len(fields["deck"])
        return " ".join(
            (
                ",".join(map(_format_hand, fields["hands"], fields["bids"])),
                _format_cards(fields["prizes"]),
                _format_cards(fields["deck"]) + "?" * unknown or "-",
                ",".join(map(str, fields["scores"])),
            )
        )

    def read_move(self, record: Mapping[str, Any]) -> int:
        """The code, which is the value of the card."""
        card = read_model(MoveRecord, record).card
        if not 1 <= card <= self.rules.cards:
            raise InvalidInput.at("card", f"must be 1..{self.rules.cards}, not {card}")
        return card

    def write_move(self, move: int) -> Record:
        """The typed record."""
        return {"card": move}

    def parse_move(self, text: str) -> int:
        """Read a card such as ``T``."""
        letters = LETTERS[: self.rules.cards]
        if len(text) != 1 or text not in letters:
            raise InvalidInput.at("", f"must be one of {letters}, not {shorten(text)}")
        return _parse_cards(text)[0]

    def format_move(self, move: int) -> str:
        """Write a card such as ``T``."""
        return _format_cards([move])

    def describe_move(self, state: State | None, seat: int, move: int) -> str:
        """A sentence, with the prize if `state` is given."""
        if state is None:
            return f"Bid {move}."
        return f"Bid {move} for the prize of {self.rules.unpack(state)['prizes'][-1]}."

    def explain_illegal(self, state: State, seat: int, move: int) -> str:
        """Why a seat cannot bid a card: it has been used."""
        return f"the hand of seat {seat} holds no {_format_cards([move])} any more"

    def apply_outcome(self, state: State, record: Mapping[str, Any]) -> State:
        """Turn over the prize that the caller's deck had on top."""
        outcome = read_model(OutcomeRecord, record)
        try:
            return self.rules.turn_over(state, outcome.prize)
        except ValueError as error:
            raise InvalidInput.at("prize", str(error)) from None

    def events(
        self, before: State, moves: Sequence[tuple[int, int]], after: State
    ) -> list[GameEvent]:
        """Who has bid; after the last one the bids, and the next prize or the end of the game."""
        old, new = self.rules.unpack(before), self.rules.unpack(after)
        if any(bid != 0 for bid in new["bids"]):
            return [
                GameEvent(seat, "laid_down", f"Seat {seat} has bid.", {"laid_down": {"seat": seat}})
                for seat, _ in sorted(moves)
            ]
        made = dict(moves)
        bids = [made.get(seat, bid) for seat, bid in enumerate(old["bids"])]
        prize = old["prizes"][-1]
        revealed: Record = {"bids": bids, "prize": prize}
        told = "nobody gets"
        if old["scores"] != new["scores"]:
            revealed["winner"] = bids.index(max(bids))
            told = f"seat {revealed['winner']} gets"
        words = f"The bids are {', '.join(map(str, bids))}: {told} the prize of {prize}."
        events = [GameEvent(None, "revealed", words, {"revealed": revealed})]
        if not self.rules.finished(after):
            turned = new["prizes"][-1]
            words = f"The next prize is {turned}."
            return [*events, GameEvent(None, "turned", words, {"turned": {"prize": turned}})]
        points = ", ".join(f"seat {i} has {score}" for i, score in enumerate(new["scores"]))
        words = f"The game is over: {points}."
        finished = {"finished": {"scores": new["scores"]}}
        return [*events, GameEvent(None, "finished", words, finished)]

    def hand_known(self, state: State, seat: int) -> bool:
        """All hands are open."""
        return True


def _parse_cards(text: str) -> list[int]:
    """The values of the cards in a text, whatever else is in it."""
    return [LETTERS.index(letter) + 1 for letter in text if letter in LETTERS]


def _format_cards(cards: Sequence[int]) -> str:
    return "".join(LETTERS[card - 1] for card in cards)


def _parse_hand(text: str) -> Record:
    cards, _, bid = text.partition(":")
    record: Record = {"cards": _parse_cards(cards)}
    if bid == "?":
        return record | _bid_record(None)
    return record | _bid_record(_parse_cards(bid)[0] if bid else 0)


def _format_hand(cards: Sequence[int], bid: int | None) -> str:
    if bid == 0:
        return _format_cards(cards) or "-"
    return f"{_format_cards(cards)}:{'?' if bid is None else _format_cards([bid])}"


def _bid_record(bid: int | None) -> Record:
    """The fields of a hand that tell the card laid down; None is one that is not known."""
    if bid is None:
        return {"bid_hidden": True}
    return {"bid": bid} if bid else {}


def _split(fields: Sequence[str]) -> dict[str, str]:
    """Name the fields of the notation, once there are as many as there must be."""
    if len(fields) != len(FIELDS):
        names = " ".join(FIELDS)
        raise InvalidInput.at(
            "", f"must have the four fields {names} after the game, not {len(fields)}"
        )
    return dict(zip(FIELDS, fields, strict=True))


def _violations(state: StateRecord, seats: int, cards: int) -> Iterator[Violation]:
    """Everything in a state that cannot be, with paths into the typed record."""
    yield from _check_cards("prizes", state.prizes, cards)
    yield from _check_cards("deck", state.deck, cards, without=state.prizes)
    if not state.prizes:
        yield Violation("prizes", "must hold at least the prize that is bid for")
    turned = len(state.prizes)
    if state.deck and len(state.deck) != cards - turned:
        yield Violation(
            "deck", f"must be all {cards - turned} prizes to come, or empty, not {len(state.deck)}"
        )
    if len(state.hands) != seats:
        yield Violation("hands", f"must be {seats}, one for each seat, not {len(state.hands)}")
    left = cards - turned + 1
    # With the last prize face up it is told by the first hand whether it has been bid for.
    if left == 1 and state.hands and not state.hands[0].cards:
        left = 0
    for seat, hand in enumerate(state.hands):
        path = f"hands[{seat}].cards"
        yield from _check_cards(path, hand.cards, cards)
        if len(hand.cards) != left:
            yield Violation(path, f"must be {left}, not {len(hand.cards)}, at prize {turned}")
    yield from _check_bids(state.hands)
    if len(state.scores) != seats:
        yield Violation("scores", f"must be {seats}, one for each seat, not {len(state.scores)}")
    most = sum(state.prizes[: cards - left])
    if min(state.scores, default=0) < 0 or sum(state.scores) > most:
        yield Violation("scores", f"must be 0 or more and add up to at most {most}")


def _check_bids(hands: Sequence[HandRecord]) -> Iterator[Violation]:
    for seat, hand in enumerate(hands):
        if hand.bid and hand.bid not in hand.cards:
            yield Violation(f"hands[{seat}].bid", f"must be a card of the hand, not {hand.bid}")
        if hand.bid_hidden and (hand.bid or not hand.cards):
            yield Violation(
                f"hands[{seat}].bid_hidden", "must be false with a bid, and without cards"
            )
    if hands and all(hand.bid or hand.bid_hidden for hand in hands):
        yield Violation("hands", "must not all have a bid: the last one reveals them")


def _check_cards(
    path: str, listed: Sequence[int], cards: int, without: Sequence[int] = ()
) -> Iterator[Violation]:
    """Each card is one that there is, and was neither listed before nor in `without`."""
    seen = set(without)
    for index, card in enumerate(listed):
        if not 1 <= card <= cards:
            yield Violation(f"{path}[{index}]", f"must be 1..{cards}, not {card}")
        elif card in seen:
            yield Violation(f"{path}[{index}]", f"is a second {card}; there is one of each")
        seen.add(card)
