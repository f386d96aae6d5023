"""What a search found out: small immutable values, apart from the search itself.

Win shares and scores are always by seat, never "for the side to move".
"""

import enum
from dataclasses import dataclass

from aleator.search.position import Move


class StopReason(enum.Enum):
    """Why a search ended."""

    ONLY_MOVE = "only_move"
    SIMULATIONS = "simulations"
    TIME = "time"
    STOPPED = "stopped"
    SOLVED = "solved"
    DECIDED = "decided"


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a move or position seems to be worth.

    Attributes
    ----------
    win_share : tuple of float
        Expected share of the win by seat, 0..1.
    score : tuple of float
        Expected final score by seat.
    standard_error : float
        Of the acting seat's win share.
    lower_bound : float
        Lower confidence bound of the acting seat's win share.
    """

    win_share: tuple[float, ...]
    score: tuple[float, ...]
    standard_error: float
    lower_bound: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """One move that was considered.

    Attributes
    ----------
    move : Move
    visits : int
        Simulations that began with it.
    estimate : Estimate or None
        None if it was not tried.
    probability : float
        How often the best play chooses it; 1 or 0 where it is not mixed.
    principal_variation : tuple of Move
        The expected continuation, this move first.
    """

    move: Move
    visits: int
    estimate: Estimate | None
    probability: float
    principal_variation: tuple[Move, ...]


@dataclass(frozen=True, slots=True)
class Statistics:
    """What a search did and used.

    Attributes
    ----------
    simulations, determinizations, nodes : int
        Summed over the threads. Of a solved position the nodes are the positions tried.
    depth : int
        The longest path in a tree.
    memory : int
        Bytes used for trees.
    elapsed : float
        Seconds.
    threads : int
    seed : int
        Gives the same answer again, with the same simulation limit and threads.
    stop_reason : StopReason or None
        None while the search goes on.
    exact : bool
        Whether the rest of the game was solved: then the estimates are exact, with a standard
        error of 0, and the moves were not simulated.
    continued : int
        Simulations of earlier searches behind the trees that this one went on from; the seed alone
        does not give the same answer then.
    """

    simulations: int
    determinizations: int
    nodes: int
    depth: int
    memory: int
    elapsed: float
    threads: int
    seed: int
    stop_reason: StopReason | None
    exact: bool
    continued: int = 0


@dataclass(frozen=True, slots=True)
class Analysis:
    """The answer of a search.

    Attributes
    ----------
    best_move : Move
        The move to play.
    seat : int
        Whose move it is.
    candidates : tuple of Candidate
        Best first.
    estimate : Estimate or None
        Of the position; None if nothing was searched.
    statistics : Statistics
    warnings : tuple of str
        What the caller should know, in English.
    """

    best_move: Move
    seat: int
    candidates: tuple[Candidate, ...]
    estimate: Estimate | None
    statistics: Statistics
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """One report of a running search.

    Attributes
    ----------
    analysis : Analysis
    final : bool
        Whether it is the last one.
    """

    analysis: Analysis
    final: bool
