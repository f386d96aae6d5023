"""Following a game by its events, from what a seat knew to what it knows after them.

The events of each move begin with the move itself and tell what chance brought. So the move is
made, chance comes out as told, and what the rules then tell must be what was told.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from aleator.ext.core.game import State
from aleator.search.errors import IllegalMove, InvalidInput, Violation
from aleator.search.games.base import Codec, GameEvent, Record


def replay(codec: Codec, state: State, seat: int, events: Sequence[Record]) -> State:
    """What a seat knows after some events.

    Parameters
    ----------
    codec : Codec
    state : State
        What it knew before.
    seat : int
    events : sequence of dict
        The typed events of any number of moves, as `Codec.events` gives them; and where it keeps
        what a seat drew to itself, with that.

    Raises
    ------
    InvalidInput
        If they cannot have happened, with paths such as ``[2].roygbiv.played.value``.
    """
    starts = [index for index, event in enumerate(events) if set(event) & codec.move_kinds]
    if not codec.move_kinds:
        raise InvalidInput.at(
            "", f"do not tell all that a seat of {codec.title} sees: send the state"
        )
    if not events or starts[:1] != [0]:
        known = ", ".join(sorted(codec.move_kinds))
        raise InvalidInput.at("[0]" if events else "", f"must begin with a move: one of {known}")
    for start, end in zip(starts, [*starts[1:], len(events)], strict=True):
        state = _after_move(codec, state, seat, events[start:end], start)
    return state


def _after_move(
    codec: Codec, state: State, seat: int, events: Sequence[Record], start: int
) -> State:
    """What a seat knows after the events of one move."""
    ((kind, event),) = events[0].items()
    path = f"[{start}].{codec.id}.{kind}"
    to_act = codec.rules.seats_to_act(state)
    if not to_act:
        raise InvalidInput.at(path, "happened after the end of the game")
    (mover,) = to_act
    if event.get("seat", 0) != mover:
        raise InvalidInput.at(f"{path}.seat", f"must be {mover}, the seat that is to act")
    try:
        code = codec.read_move(codec.move_of_event(state, kind, event))
    except InvalidInput as error:
        raise error.under(path) from None
    outcome = codec.outcome_of_events(events[1:], own=mover == seat)
    full = codec.suppose(state, seat, (mover, code), outcome)
    if code not in codec.rules.legal_moves(full, mover):
        reason = codec.explain_illegal(full, mover, code)
        raise IllegalMove([Violation(path, reason)], codec.format_move(code), mover)
    made = codec.rules.apply_move(full, mover, code)
    if codec.rules.chance_pending(made):
        made = _after_chance(codec, made, outcome, events, start)
    wrong = list(_differences(codec, events, codec.events(full, [(mover, code)], made), start))
    if wrong:
        raise InvalidInput(wrong)
    return codec.rules.observe_state(made, seat)


def _after_chance(
    codec: Codec, made: State, outcome: Record | None, events: Sequence[Record], start: int
) -> State:
    """What chance made of a move; without an outcome anything, as the seat does not see it."""
    if outcome is None:
        return codec.rules.advance(made, 0)
    try:
        return codec.apply_outcome(made, outcome)
    except InvalidInput as error:
        raise InvalidInput(
            _in_events(codec, violation, events, start) for violation in error.violations
        ) from None


def _in_events(
    codec: Codec, violation: Violation, events: Sequence[Record], start: int
) -> Violation:
    """What is wrong with an outcome, at the event that tells it."""
    kind, field, name = codec.chance_event
    match = re.fullmatch(rf"{name}(?:\[(\d+)\])?(.*)", violation.path)
    assert match is not None, violation.path
    number = int(match[1] or 0)
    told = [index for index, event in enumerate(events) if kind in event]
    if number >= len(told):
        after = told[-1] + 1 if told else 1
        return Violation(f"[{start + after}]", f"is missing: an event `{kind}`")
    path = f"[{start + told[number]}].{codec.id}.{kind}.{field}"
    if field not in events[told[number]][kind]:
        return Violation(path, "is required")
    return Violation(path + match[2], violation.message)


def _differences(
    codec: Codec, told: Sequence[Record], due: Sequence[GameEvent], start: int
) -> Iterator[Violation]:
    for index, event in enumerate(due):
        place = f"[{start + index}].{codec.id}"
        if index >= len(told):
            yield Violation(f"[{start + index}]", f"is missing: {event.description}")
        elif _shown(codec.public_event(told[index])) != _shown(event.record):
            yield Violation(place, f"must be: {event.description}")
    for index in range(len(due), len(told)):
        yield Violation(f"[{start + index}]", "must be left out: nothing more happened")


def _shown(value: Any) -> Any:
    """A record without what is 0 or empty, which the wire leaves out."""
    if isinstance(value, dict):
        return {name: shown for name, item in value.items() if (shown := _shown(item))}
    if isinstance(value, list):
        return [_shown(item) for item in value]
    return value
