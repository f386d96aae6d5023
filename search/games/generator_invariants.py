"""What holds for every Generator state that play can reach, checked on what callers send.

Here are the names of nodes and pieces, too. The checks find everything that is wrong at once.
They are necessary conditions, not sufficient ones: whether some sequence of rolls and moves leads
to exactly this board is not asked.
"""

from collections import Counter
from collections.abc import Iterator

from pydantic import Field

from aleator.search.errors import Violation, shorten
from aleator.search.games.base import StrictModel

COLOURS = "GRYB"
SIZES = "SML"  # ascending
LEVELS = 4
COPIES = 5  # pyramids of each size and seat
PIECES = COPIES * len(SIZES)
DEEPEST = {"S": 4, "M": 3, "L": 2}  # the lowest level a size may stand on


class StackRecord(StrictModel):
    """Pieces on a node, the top one first."""

    node: str = ""
    pieces: str = ""


class StashRecord(StrictModel):
    """Pieces that are not on the board; on the wire a 0 is absent."""

    small: int = 0
    medium: int = 0
    large: int = 0


class SeatRecord(StrictModel):
    """What a seat has; colour and stash follow from the rest and may be left out."""

    colour: str = ""
    stacks: list[StackRecord] = Field(default=[])
    stash: StashRecord | None = None


class StateRecord(StrictModel):
    """The typed state, before it is checked; on the wire what is empty or 0 is absent."""

    seats: list[SeatRecord] = Field(default=[])
    seat_to_act: int | None = None
    rolled: str = ""
    rolls: int = 0


def node_number(name: str) -> int:
    """The number of a node in the compiled rules: those of a heap with four children."""
    number = -1
    for colour in name:
        number = 4 * (number + 1) + COLOURS.index(colour)
    return number


def node_name(number: int) -> str:
    """The colours on the way to a node."""
    name = ""
    while number >= 0:
        name = COLOURS[number % 4] + name
        number = number // 4 - 1
    return name


def sizes_of(pieces: str) -> int:
    """The pieces of a stack as a bit mask, as the compiled rules have it."""
    return sum(1 << SIZES.index(size) for size in pieces)


def pieces_of(sizes: int) -> str:
    """The pieces of a bit mask, the top one first."""
    return "".join(size for number, size in enumerate(SIZES) if sizes >> number & 1)


def violations(state: StateRecord, colours: str, max_rolls: int) -> list[Violation]:
    """Everything in a state that cannot be, with paths into the typed record.

    Parameters
    ----------
    state : StateRecord
    colours : str
        The letters of the seats' colours.
    max_rolls : int
    """
    wrong = list(_check_turn(state, len(colours), max_rolls))
    if len(state.seats) != len(colours):
        message = f"must be {len(colours)}, one for each player, not {len(state.seats)}"
        return [Violation("seats", message), *wrong]
    board: list[Violation] = []
    taken: dict[str, str] = {}
    for seat, (record, colour) in enumerate(zip(state.seats, colours, strict=True)):
        path = f"seats[{seat}]"
        if record.colour not in {"", colour}:
            message = f"must be {colour} or unset, not {shorten(record.colour)}"
            board.append(Violation(f"{path}.colour", message))
        stacks = list(_check_stacks(record, path, taken))
        board += stacks or _check_pieces(record, path)
    if not (board or wrong):
        board += _check_entries(state)
    return board + wrong


def _check_turn(state: StateRecord, seats: int, max_rolls: int) -> Iterator[Violation]:
    seat = state.seat_to_act
    if seat is not None and not 0 <= seat < seats:
        yield Violation("seat_to_act", f"must be 0..{seats - 1}, not {seat}")
    if seat is None and state.rolled:
        yield Violation("rolled", "must be unset: no seat is to act, so the game is finished")
    elif seat is not None and (len(state.rolled) != 1 or state.rolled not in COLOURS):
        yield Violation(
            "rolled", f"must be G, R, Y or B, what seat_to_act rolled, not {shorten(state.rolled)}"
        )
    if not 1 <= state.rolls <= max_rolls:
        yield Violation("rolls", f"must be 1..{max_rolls}, not {state.rolls}")


def _check_stacks(seat: SeatRecord, path: str, taken: dict[str, str]) -> Iterator[Violation]:
    """Every stack by itself; `taken` collects the nodes of all seats."""
    if len(seat.stacks) > PIECES:
        yield Violation(f"{path}.stacks", f"must be at most {PIECES}, not {len(seat.stacks)}")
        return
    for index, stack in enumerate(seat.stacks):
        place = f"{path}.stacks[{index}]"
        named = 1 <= len(stack.node) <= LEVELS and set(stack.node) <= set(COLOURS)
        if not named:
            yield Violation(
                f"{place}.node",
                f"must be 1-{LEVELS} letters of G, R, Y, B, not {shorten(stack.node)}",
            )
        elif taken.setdefault(stack.node, place) != place:
            yield Violation(f"{place}.node", f"{stack.node} is taken by {taken[stack.node]}")
        if not _is_stack(stack.pieces):
            yield Violation(
                f"{place}.pieces",
                "must be different letters of S, M, L in this order, the top piece first, not"
                f" {shorten(stack.pieces)}",
            )
        elif named and len(stack.node) > DEEPEST[stack.pieces[-1]]:
            bottom = stack.pieces[-1]
            yield Violation(
                f"{place}.pieces",
                f"must not have {bottom} on level {len(stack.node)}: it stays on levels"
                f" 1-{DEEPEST[bottom]}",
            )


def _is_stack(pieces: str) -> bool:
    return pieces != "" and pieces == "".join(size for size in SIZES if size in pieces)


def _check_pieces(seat: SeatRecord, path: str) -> Iterator[Violation]:
    """Board and stash hold five of each size together."""
    placed = Counter(size for stack in seat.stacks for size in stack.pieces)
    for size in SIZES:
        if placed[size] > COPIES:
            yield Violation(
                f"{path}.stacks", f"must hold at most {COPIES} of {size}, not {placed[size]}"
            )
    if seat.stash is None:
        return
    for size, (name, count) in zip(SIZES, seat.stash, strict=True):
        if count + placed[size] != COPIES and placed[size] <= COPIES:
            yield Violation(
                f"{path}.stash.{name}",
                f"must be {COPIES - placed[size]}: {placed[size]} of {COPIES} are on the board,"
                f" not {count}",
            )


def _check_entries(state: StateRecord) -> Iterator[Violation]:
    """Each seat starts with one pyramid on the board, and a roll brings in at most one."""
    placed = sum(len(stack.pieces) for seat in state.seats for stack in seat.stacks)
    entered = placed - len(state.seats)
    if entered > state.rolls - 1:
        yield Violation(
            "rolls",
            f"must be at least {entered + 1} with {placed} pieces on the board: each roll before"
            f" brings in at most one, not {state.rolls}",
        )
