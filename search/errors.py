"""What can be wrong with what a caller gave, one exception class per reason.

Every class derives from `AleatorError`, so that a front end can map all of them in one place.
Messages are written for the person who sent the input: what is wrong, where, what was expected.
"""

from collections.abc import Iterable
from typing import NamedTuple, Self


class AleatorError(Exception):
    """Base of all errors that the caller's input can cause."""


class Violation(NamedTuple):
    """One thing wrong with an input.

    Attributes
    ----------
    path : str
        The place, such as ``hands[1].dice[3]``; empty for the whole input.
    message : str
        What is wrong and what was expected there.
    """

    path: str
    message: str

    def under(self, parent: str) -> "Violation":
        """The same violation, its path continued from `parent`."""
        if not self.path:
            return Violation(parent, self.message)
        separator = "" if self.path.startswith("[") else "."
        return Violation(f"{parent}{separator}{self.path}", self.message)


class InvalidInput(AleatorError, ValueError):
    """An input that is malformed or contradicts itself.

    Parameters
    ----------
    violations : iterable of Violation
        Everything that is wrong, at least one.
    """

    def __init__(self, violations: Iterable[Violation]) -> None:
        self.violations = list(violations)
        super().__init__(self.violations)

    @classmethod
    def at(cls, path: str, message: str) -> Self:
        """An error with one violation."""
        return cls([Violation(path, message)])

    def under(self, parent: str) -> "InvalidInput":
        """The same error, its paths continued from `parent`."""
        return InvalidInput(violation.under(parent) for violation in self.violations)

    def without_paths(self) -> "InvalidInput":
        """The same error, of a text: places in what it says are told in the messages."""
        return InvalidInput(
            Violation("", f"{path}: {message}" if path else message)
            for path, message in self.violations
        )

    def __str__(self) -> str:
        return "; ".join(
            f"{path}: {message}" if path else message for path, message in self.violations
        )


class UnknownGame(AleatorError, LookupError):
    """A game id that no codec is registered for."""

    def __init__(self, game: str, known: Iterable[str]) -> None:
        self.game = game
        self.known = tuple(known)
        super().__init__(game, self.known)

    def __str__(self) -> str:
        return f"unknown game {shorten(self.game)}; known are {', '.join(self.known)}"


class GameFinished(AleatorError):
    """A move was asked of a finished game."""

    def __str__(self) -> str:
        return "the game is finished"


class SeatNotToAct(AleatorError):
    """A move was asked of a seat whose turn it is not."""

    def __init__(self, seat: int, seats_to_act: tuple[int, ...]) -> None:
        self.seat = seat
        self.seats_to_act = seats_to_act
        super().__init__(seat, seats_to_act)

    def __str__(self) -> str:
        to_act = ", ".join(map(str, self.seats_to_act))
        return f"seat {self.seat} is not to act; to act: {to_act}"


class SeatRequired(AleatorError):
    """Several seats are to act and the caller did not say which one is meant."""

    def __init__(self, seats_to_act: tuple[int, ...]) -> None:
        self.seats_to_act = seats_to_act
        super().__init__(seats_to_act)

    def __str__(self) -> str:
        to_act = ", ".join(map(str, self.seats_to_act))
        return f"several seats are to act ({to_act}): name one"


class IllegalMove(InvalidInput):
    """A well-formed move that the rules do not allow here."""

    def __init__(self, violations: Iterable[Violation], move: str, seat: int) -> None:
        super().__init__(violations)
        self.move = move
        self.seat = seat

    def under(self, parent: str) -> "IllegalMove":
        """The same error, its paths continued from `parent`."""
        return IllegalMove(super().under(parent).violations, self.move, self.seat)


class FullStateRequired(AleatorError):
    """A move or chance event was asked of an observation: something in it is hidden."""

    def __str__(self) -> str:
        return "this needs a full state, but part of the given state is hidden"


class HandHidden(AleatorError):
    """The moves of a seat were asked for, but its own hand is hidden."""

    def __init__(self, seat: int) -> None:
        self.seat = seat
        super().__init__(seat)

    def __str__(self) -> str:
        return f"the hand of seat {self.seat} is hidden, so its moves are not known"


def shorten(text: object, limit: int = 24) -> str:
    """Quote a value for a message: ASCII only and cut off, whatever was sent."""
    quoted = ascii(text if not isinstance(text, str) else text[: limit + 1])
    return quoted if len(quoted) <= limit + 2 else f"{quoted[:limit]}..."
