"""What the moves of a game cost: a search of each position, with what the seat to move knew.

A first search finds the best move. If another one was played, both are evaluated anew by searches
of their own, as long and with the same seed: the first one looked at them unequally hard, and one
of many moves may look best by luck. So a loss may come out below 0, where the move played looks
better after all.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from aleator.search.analysis import Analysis
from aleator.search.engine import Engine
from aleator.search.errors import AleatorError, InvalidInput
from aleator.search.games import codec
from aleator.search.limits import Limits
from aleator.search.position import Move, Position
from aleator.search.record import GameRecord

SIGNIFICANT = 1.96
"""Standard errors that a loss must exceed to be called one."""
GRADES = (("blunder", 0.10), ("mistake", 0.05), ("inaccuracy", 0.02))
"""What a loss of at least so much of the win is called."""


@dataclass(frozen=True, slots=True)
class MoveReview:
    """What one move cost.

    Attributes
    ----------
    ply : int
        Of the position in the record, from 0.
    seat : int
    position : str
        As the seat knew it.
    played, best : str
    choices : int
        Legal moves.
    win_share : float or None
        What the position was worth to the seat; None if it had only one move.
    loss : float
        Share of the win by which the move was worse than the best one.
    error : float
        The standard error of the loss; 0 if the best move was played.
    """

    ply: int
    seat: int
    position: str
    played: str
    best: str
    choices: int
    win_share: float | None
    loss: float
    error: float

    @property
    def grade(self) -> str:
        """A word for a loss that is no luck of the search; empty for others."""
        if self.loss <= SIGNIFICANT * self.error:
            return ""
        return next((word for word, least in GRADES if self.loss >= least), "")


@dataclass(frozen=True, slots=True)
class SeatReview:
    """How a seat played.

    Attributes
    ----------
    seat : int
    player : str
    moves : int
        Moves with a choice.
    best : int
        Of them, those that were the best or as good.
    grades : dict of int
        How many of them were blunders, mistakes and inaccuracies.
    mean_loss : float
        Share of the win lost in a move with a choice.
    error : float
        Its standard error.
    """

    seat: int
    player: str
    moves: int
    best: int
    grades: dict[str, int]
    mean_loss: float
    error: float


def review_game(
    record: GameRecord, engine: Engine, limits: Limits, seed: int
) -> Iterator[MoveReview]:
    """Review a game, move by move.

    Parameters
    ----------
    record : GameRecord
    engine : Engine
    limits : Limits
        Of each search; there are three where the best move was not played.
    seed : int

    Raises
    ------
    UnknownGame, InvalidInput
        With paths such as ``plies[3].moves[0]``, before the first review, for a record of what
        cannot be played.
    """
    codec(record.game, record.options)  # complains if there is no such game
    plies = list(_read_plies(record))
    for ply, (position, moves) in enumerate(plies):
        for seat, move in moves.items():
            yield _review_move(ply, position.observe(seat), move, engine, limits=limits, seed=seed)


def _read_plies(record: GameRecord) -> Iterator[tuple[Position, dict[int, Move]]]:
    for index, ply in enumerate(record.plies):
        path = f"plies[{index}]"
        try:
            position = Position.parse(ply.position, record.game, record.options)
        except InvalidInput as error:
            raise error.under(path) from None
        moves = {}
        for seat, notation in ply.moves.items():
            try:
                moves[seat] = position.find_move(notation, seat)
            except AleatorError as error:
                raise InvalidInput.at(f"{path}.moves[{seat}]", str(error)) from None
        yield position, moves


def _review_move(
    ply: int, known: Position, move: Move, engine: Engine, *, limits: Limits, seed: int
) -> MoveReview:
    seat = move.seat
    first = engine.suggest(known, seat, limits, seed=seed)
    best = first.best_move
    loss = error = 0.0
    if not _is_best(move, first):
        better, worse = (engine.evaluate(known, found, limits, seed=seed) for found in (best, move))
        loss = better.win_share[seat] - worse.win_share[seat]
        error = math.hypot(better.standard_error, worse.standard_error)
    return MoveReview(
        ply=ply,
        seat=seat,
        position=known.notation,
        played=move.notation,
        best=best.notation,
        choices=len(known.moves(seat)),
        win_share=None if first.estimate is None else first.estimate.win_share[seat],
        loss=loss,
        error=error,
    )


def _is_best(move: Move, analysis: Analysis) -> bool:
    """Whether the best play makes the move, at least now and then."""
    return analysis.best_move == move or any(
        candidate.move == move and candidate.probability > 0 for candidate in analysis.candidates
    )


def sum_up(record: GameRecord, moves: Sequence[MoveReview]) -> list[SeatReview]:
    """Sum up the moves of each seat."""
    seats = []
    for seat, player in enumerate(record.players):
        chosen = [move for move in moves if move.seat == seat and move.choices > 1]
        seats.append(
            SeatReview(
                seat=seat,
                player=player,
                moves=len(chosen),
                best=sum(move.loss <= 0 for move in chosen),
                grades={word: sum(move.grade == word for move in chosen) for word, _ in GRADES},
                mean_loss=fmean(move.loss for move in chosen) if chosen else 0.0,
                # The searches are independent of each other.
                error=math.hypot(*(move.error for move in chosen)) / max(1, len(chosen)),
            )
        )
    return seats
