"""What of a Riviera position can have come of an earlier one, as one seat sees both.

Most of it follows from what a round keeps: cards played, who has left it, the swaps and redraws,
the order of its turns and phases. Of the seat's own hand all is known. What the others hold is
checked for agreement with all that was seen when a position is read.

And what of an earlier position still holds: how cards changed hands, and for which dice seats had
no valid card, are facts of the round that an observation may leave out.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from aleator.ext.core.game import State
from aleator.ext.games.riviera import Riviera
from aleator.search.errors import InvalidInput, Violation
from aleator.search.games.base import Record
from aleator.search.games.riviera_invariants import (
    CARDS,
    DICE,
    HEAP,
    Rules,
    card_mask,
    stars_of,
)

if TYPE_CHECKING:
    from aleator.ext.games.riviera import RivieraFields  # only the stub has it

FACES = 6
OVER = 9
"""The place of the end of the game among the phases of a turn."""


class View(NamedTuple):
    """A position, with what is often asked of it."""

    fields: "RivieraFields"
    place: int  # of its phase in the turn

    @property
    def time(self) -> tuple[int, int, int]:
        """When it is."""
        return self.fields["round"], self.fields["turn"], self.place

    def status(self, seat: int) -> str:
        """How a seat is faring in the round."""
        if self.fields["inside"] >> seat & 1:
            return "in"
        return "stopped" if self.fields["stopped"] >> seat & 1 else "crashed"


def contradictions(
    rules: Riviera, options: Rules, states: tuple[State, State], seat: int, answered: Record | None
) -> list[Violation]:
    """Why the second state cannot have come of the first one, see `Codec.contradictions`.

    The move answered is a typed one.
    """
    if states[0] == states[1]:
        return []
    old, new = (_view(rules, state) for state in states)
    wrong = list(_check_game(old, new, options))
    if not wrong and old.fields["round"] == new.fields["round"]:
        wrong = [
            *_check_round(old, new),
            *_check_token(old, new, rules),
            *_check_exchanges(old, new),
            *_check_dice(old, new),
            *_check_waiting(old, new),
        ]
        if not wrong:
            wrong += _check_hand(old, new, seat)
        if not wrong and answered is not None:
            wrong += _check_answered(old, new, seat, answered)
    return wrong


def remember(rules: Riviera, before: State, after: State, seat: int) -> State:
    """An observation with what an earlier one of the same round told more.

    Raises
    ------
    InvalidInput
        If there is no way to deal the hidden cards that agrees with all of it.
    """
    old, new = rules.unpack(before), rules.unpack(after)
    if old["round"] != new["round"]:
        return after
    told = [*_add_dice(old, new), *_add_exchanges(old, new)]
    if not told:
        return after
    try:
        # What is sure of the other hands shows in any of them.
        full = rules.determinization(rules.pack(new), seat, 0)
    except ValueError:
        listed = " and ".join(told)
        raise InvalidInput.at(
            "hands", f"no way to deal the hidden cards agrees with this and with {listed} of before"
        ) from None
    return rules.observe_state(full, seat)


def _add_dice(old: "RivieraFields", new: "RivieraFields") -> Iterator[str]:
    """Add the dice for which seats had no valid card; tells what was added."""
    for seat in range(len(old["hands"])):
        if old["chance_dice"][seat] is not None and new["chance_dice"][seat] is None:
            new["chance_dice"][seat] = old["chance_dice"][seat]
            new["chance_after"][seat] = old["chance_after"][seat]
            yield f"seats[{seat}].last_chance"
        if old["crash_dice"][seat] is not None and new["crash_dice"][seat] is None:
            new["crash_dice"][seat] = old["crash_dice"][seat]
            yield f"seats[{seat}].crash"


def _add_exchanges(old: "RivieraFields", new: "RivieraFields") -> Iterator[str]:
    """Add the cards of swaps and redraws; tells what was added."""
    for step, (earlier, later) in enumerate(zip(old["exchanges"], new["exchanges"], strict=False)):
        _, partner, given, _, _ = earlier
        if given and not later[2]:
            new["exchanges"][step] = earlier
            if partner == HEAP:
                new["heap"] |= given
            yield f"exchanges[{step}]"


def same_decision(rules: Riviera, before: State, after: State) -> bool:
    """Whether at most others have made their secret choices meanwhile."""
    if before == after:
        return True
    old, new = rules.unpack(before), rules.unpack(after)
    for fields in (old, new):
        fields["choices"] = []
        fields["waiting"] = fields["extra"] = 0
    return old == new


def _view(rules: Riviera, state: State) -> View:
    fields = rules.unpack(state)
    order = ["nines", "play", "powers", "stop"]
    if rules.after_stop:
        order = ["nines", "play", "stop", "powers"]
    phase = fields["phase"]
    if phase == "over":
        return View(fields, OVER)
    # An extra play is open within the plays of a sequential turn.
    return View(fields, order.index("play" if phase == "extra" else phase))


def _seats(view: View) -> range:
    return range(len(view.fields["hands"]))


def _check_game(old: View, new: View, options: Rules) -> Iterator[Violation]:
    """What holds across rounds."""
    was, now = old.fields, new.fields
    if was["phase"] == "over":
        yield Violation("phase", "must be that of a finished game, as before")
        return
    if was["removed"] != now["removed"]:
        yield Violation("dice", "must be of the colours in use before")
    if now["round"] < was["round"]:
        yield Violation("round", f"must be at least {was['round']}, as before")
        return
    for seat in _seats(old):
        if was["used"] >> seat & 1 and not now["used"] >> seat & 1:
            yield Violation(
                f"seats[{seat}].last_chance_used", "must be true: it was used before, once a game"
            )
        banked = was["scores"][seat]
        least, exact = banked, now["round"] == was["round"]
        if now["round"] > was["round"] and old.status(seat) != "in":
            exact = now["round"] == was["round"] + 1
            if old.status(seat) == "stopped":
                least += _stars(was["played"][seat], options)
        exact = exact and new.place != OVER
        score = now["scores"][seat]
        if score < least or (exact and score != least):
            must = f"must be {least}" if exact else f"must be at least {least}"
            yield Violation(
                f"seats[{seat}].score", f"{must} after a score of {banked} before, not {score}"
            )


def _check_round(old: View, new: View) -> Iterator[Violation]:
    """What a round keeps."""
    was, now = old.fields, new.fields
    if now["turn"] < was["turn"]:
        yield Violation("turn", f"must be at least {was['turn']}, as before in this round")
        return
    if new.time < old.time:
        yield Violation("phase", f"must not come before {was['phase']} in the same turn")
        return
    for seat in _seats(old):
        missing = was["played"][seat] & ~now["played"][seat]
        if missing:
            yield Violation(
                f"seats[{seat}].played", f"must have {_names(missing)}, as before in this round"
            )
        status = old.status(seat)
        if status not in {"in", new.status(seat)}:
            yield Violation(f"seats[{seat}].status", f"must be {status}, as before in this round")
        for name, told, told_now in (
            ("last_chance", was["chance_dice"][seat], now["chance_dice"][seat]),
            ("crash", was["crash_dice"][seat], now["crash_dice"][seat]),
        ):
            if told is not None and told_now not in (None, told):
                yield Violation(f"seats[{seat}].{name}", "must be for the dice told before")


def _check_token(old: View, new: View, rules: Riviera) -> Iterator[Violation]:
    """The Start token goes on with every turn, before Stop or More."""
    passes = [_passes(view, rules) for view in (old, new)]
    due = {passes[1] - passes[0]}
    if new.place == OVER:  # by a Grand Slam, or with the round
        due.add(passes[1] - passes[0] + 1)
    expected = sorted({(old.fields["token"] + count) % rules.seats for count in due})
    if new.fields["token"] not in expected:
        seats = " or ".join(map(str, expected))
        yield Violation("token", f"must be {seats}, as it goes on by a seat each turn")


def _passes(view: View, rules: Riviera) -> int:
    phase = view.fields["phase"]
    passed = phase == "stop" or (phase == "powers" and rules.after_stop)
    return view.fields["turn"] + passed


def _check_exchanges(old: View, new: View) -> Iterator[Violation]:
    """Those of before are the first ones."""
    was, now = old.fields["exchanges"], new.fields["exchanges"]
    if len(now) < len(was):
        yield Violation("exchanges", f"must begin with the {len(was)} of before in this round")
        return
    for step, (earlier, later) in enumerate(zip(was, now, strict=False)):
        seat, partner, given, drawn, on_table = earlier
        if later[:2] != (seat, partner) or later[4] != on_table:
            yield Violation(f"exchanges[{step}]", "must be the one told before")
        elif given and later[2]:
            for name, cards, told in (("given", given, later[2]), ("drawn", drawn, later[3])):
                if cards != told:
                    yield Violation(
                        f"exchanges[{step}].{name}", f"must be {_names(cards)}, as told before"
                    )


def _check_dice(old: View, new: View) -> Iterator[Violation]:
    """The dice of a turn stay as they are, but for what nines turn."""
    was, now = old.fields, new.fields
    if was["turn"] != now["turn"] or not (any(was["dice"]) and any(now["dice"])):
        return
    turning = was["phase"] == "nines"
    for die, (shown, shows) in enumerate(zip(was["dice"], now["dice"], strict=True)):
        turned_before, turned = (view.fields["turned"] >> die & 1 for view in (old, new))
        if turning and turned and not turned_before:
            if shown and (shows - shown) % FACES in {1, FACES - 1}:
                continue
        elif shown == shows and turned == turned_before:
            continue
        yield Violation("dice", f"the die {DICE[die]} must show {shown} still, or be turned by one")


def _check_waiting(old: View, new: View) -> Iterator[Violation]:
    """Who has acted does not act again in the same phase of the same turn."""
    if old.time != new.time:
        return
    was, now = old.fields, new.fields
    for seat in _seats(old):
        if now["waiting"] & ~was["waiting"] & 1 << seat:
            yield Violation("waiting", f"must not hold seat {seat}, which has acted already")
        elif was["choices"][seat] and not now["choices"][seat] and was["played"] == now["played"]:
            yield Violation(f"seats[{seat}].choice", "must be there still: nothing was revealed")


def _check_hand(old: View, new: View, seat: int) -> Iterator[Violation]:
    """The own hand is that of before, without what was played and with what was exchanged."""
    hand = old.fields["hands"][seat]
    for asker, partner, given, drawn, _ in new.fields["exchanges"][len(old.fields["exchanges"]) :]:
        if seat in {asker, partner}:
            if not given:
                return
            lost, gained = (given, drawn) if seat == asker else (drawn, given)
            hand = hand & ~lost | gained
    hand &= ~new.fields["played"][seat]
    held = new.fields["hands"][seat]
    if hand & ~held:
        yield Violation(
            f"hands[{seat}].cards",
            f"must have {_names(hand & ~held)}, which the seat held before and has not played",
        )
    if held & ~hand:
        yield Violation(
            f"hands[{seat}].cards",
            f"must not have {_names(held & ~hand)}, which it did not hold before",
        )


def _check_answered(old: View, new: View, seat: int, answered: Record) -> Iterator[Violation]:
    """The move that was answered is made, or is the secret choice of the seat."""
    ((kind, move),) = answered.items()
    if new.time == old.time and new.fields["choices"][seat]:
        return  # it waits; what it is will be seen
    check = _ANSWERED.get(kind)
    if check is not None:
        yield from check(old, new, seat, move)


def _played(_old: View, new: View, seat: int, move: Record) -> Iterator[Violation]:
    if not new.fields["played"][seat] & card_mask([move["card"]]):
        yield Violation(
            f"seats[{seat}].played", f"must have {move['card']}, the move that was answered"
        )


def _used_last_chance(_old: View, new: View, seat: int, _move: Record) -> Iterator[Violation]:
    if not new.fields["used"] >> seat & 1:
        yield Violation(
            f"seats[{seat}].last_chance_used", "must be true: its use was the move answered"
        )


def _left(status: str) -> Callable[..., Iterator[Violation]]:
    def check(_old: View, new: View, seat: int, _move: Record) -> Iterator[Violation]:
        if new.status(seat) != status:
            yield Violation(f"seats[{seat}].status", f"must be {status} by the move answered")

    return check


def _went_on(old: View, new: View, seat: int, _move: Record) -> Iterator[Violation]:
    """It can have stopped only at the next Stop or More."""
    turns = new.fields["turn"] - old.fields["turn"]
    if turns <= 1 and new.status(seat) == "stopped" and (turns == 0 or new.place < old.place):
        yield Violation(f"seats[{seat}].status", "must be in: it answered to go on")


def _turned(old: View, new: View, _seat: int, move: Record) -> Iterator[Violation]:
    if new.fields["turn"] != old.fields["turn"] or not any(new.fields["dice"]):
        return
    die = DICE.index(move["die"])
    step = -1 if move.get("down") else 1
    due = (old.fields["dice"][die] - 1 + step) % FACES + 1
    if new.fields["dice"][die] != due:
        yield Violation("dice", f"the die {move['die']} must show {due} by the move answered")


def _exchanged(old: View, new: View, seat: int, move: Record) -> Iterator[Violation]:
    partner = move.get("opponent", HEAP)
    cards = card_mask(move["cards"])
    made = new.fields["exchanges"][len(old.fields["exchanges"]) :]
    if not any(
        (asker, other) == (seat, partner) and given in {0, cards}
        for asker, other, given, _, _ in made
    ):
        yield Violation("exchanges", "must have the one that was answered")


_ANSWERED: dict[str, Callable[..., Iterator[Violation]]] = {
    "play": _played,
    "last_chance": _used_last_chance,
    "crash": _left("crashed"),
    "stop": _left("stopped"),
    "more": _went_on,
    "turn": _turned,
    "swap": _exchanged,
    "redraw": _exchanged,
}


def _names(cards: int) -> str:
    return ", ".join(card for number, card in enumerate(CARDS) if cards >> number & 1)


def _stars(cards: int, options: Rules) -> int:
    return stars_of(
        [card for number, card in enumerate(CARDS) if cards >> number & 1], options.stars
    )
