"""Matches between two bots, with as little luck in the result as can be.

Games are played in sets, called pairs for the usual two seats: bot A sits once in each seat, bot B
in all others, and all games of a set have the same luck. The set-up comes from one seed, and what
chance brings after the n-th decision from one seed for each n. Where chance does not depend on
what is played, as with ROYGBIV's bag, a seat then gets the very same dice in all games of a set.

The games of a set are not independent of each other, so the set is the unit that counts: the
estimate is the mean over sets of A's mean share of the win, with Student's t interval over sets.
"""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any, NamedTuple

from scipy import stats

from aleator.ext.core.search import StopFlag
from aleator.search.bots import Bot, make_bot
from aleator.search.errors import InvalidInput
from aleator.search.position import Position, pick_seed

CONFIDENCE = 0.95


class MatchStopped(Exception):
    """A match was stopped before there is anything to tell: its first set had not ended."""


class Progress(NamedTuple):
    """How far a match has come.

    Attributes
    ----------
    games, moves : int
        Games played to the end, and moves in those and in the one under way.
    all_games : int
        Games of the whole match.
    """

    games: int
    moves: int
    all_games: int


@dataclass(frozen=True, slots=True)
class MatchResult:
    """How a match came out, from the view of bot A.

    Attributes
    ----------
    game : str
    options : dict
        None left out.
    a, b : str
        The bots' specifications.
    seed : int
        Gives the same match again, if no bot is limited by time.
    pairs, games : int
        Sets of games with the same luck, and games in all of them.
    wins, ties, losses : int
        Games that A won alone, shared, and lost.
    win_share : float
        A's mean share of the win, 0..1.
    interval : (float, float)
        Its 95% confidence interval.
    even_share : float
        What equal bots would get: one seat's part.
    score, opponents_score : float
        Mean final score of A's seat, and of the other seats.
    pair_shares : tuple of float
        A's share of the win by set.
    partial : bool
        Whether the match was stopped before all its sets were played.
    """

    game: str
    options: dict[str, Any]
    a: str
    b: str
    seed: int
    pairs: int
    games: int
    wins: int
    ties: int
    losses: int
    win_share: float
    interval: tuple[float, float]
    even_share: float
    score: float
    opponents_score: float
    pair_shares: tuple[float, ...]
    partial: bool


@dataclass(frozen=True, slots=True)
class _Game:
    """The end of one game, from the view of bot A."""

    share: float
    score: float
    opponents_score: float


def play_match(
    game: str,
    a: str | Bot,
    b: str | Bot,
    *,
    options: Mapping[str, Any] | None = None,
    pairs: int,
    seed: int | None = None,
    progress: Callable[[Progress], object] | None = None,
    stop: StopFlag | None = None,
) -> MatchResult:
    """Play a match.

    Parameters
    ----------
    game : str
    a, b : str or Bot
        Specifications as in `aleator.search.bots`, or bots.
    options : mapping, optional
        The game's options; with more than two seats A takes one and B all others.
    pairs : int
        Number of sets of games, at least 1.
    seed : int, optional
        0..2^64-1; by default a random one.
    progress : callable, optional
        Called once all is set up, after each move, and after each game.
    stop : StopFlag, optional
        Ends the match once it is set; only whole sets of games count then.

    Raises
    ------
    UnknownGame
    InvalidInput
        With paths such as ``a``, ``b.sims``, ``options.players``, ``pairs`` and ``seed``.
    MatchStopped
        If it is stopped before the end of its first set.
    """
    if pairs < 1:
        raise InvalidInput.at("pairs", f"must be at least 1, not {pairs}")
    match_seed = pick_seed(seed)
    start = Position.create(game, options, 0)
    bots = (_bot(a, "a", game, stop), _bot(b, "b", game, stop))
    count = _Count(pairs * start.seats, progress)
    sets: list[list[_Game]] = []
    try:
        for pair in range(pairs):
            pair_seed = _derive(match_seed, "pair", pair)
            sets.append(
                [
                    _play(start, bots, pair_seed, seat, count=count, stop=stop)
                    for seat in range(start.seats)
                ]
            )
    except MatchStopped:
        if not sets:
            raise
    games = [played for one_set in sets for played in one_set]
    pair_shares = tuple(fmean(played.share for played in one_set) for one_set in sets)
    wins = sum(played.share == 1 for played in games)
    losses = sum(played.share == 0 for played in games)
    return MatchResult(
        game=start.game,
        options=start.options,
        a=bots[0].spec,
        b=bots[1].spec,
        seed=match_seed,
        pairs=len(sets),
        games=len(games),
        wins=wins,
        ties=len(games) - wins - losses,
        losses=losses,
        win_share=fmean(pair_shares),
        interval=mean_interval(pair_shares),
        even_share=1 / start.seats,
        score=fmean(played.score for played in games),
        opponents_score=fmean(played.opponents_score for played in games),
        pair_shares=pair_shares,
        partial=len(sets) < pairs,
    )


def mean_interval(shares: tuple[float, ...]) -> tuple[float, float]:
    """The 95% confidence interval of the mean of independent shares, each 0..1."""
    count = len(shares)
    mean = fmean(shares)
    if min(shares) == max(shares):
        # No spread to measure. So many of the sets to come may still differ, by the exact
        # binomial bound, and those may give all or nothing.
        others = stats.binomtest(0, count).proportion_ci(CONFIDENCE).high
        return mean * (1 - others), mean + (1 - mean) * others
    low, high = stats.t.interval(CONFIDENCE, count - 1, loc=mean, scale=stats.sem(shares))
    return max(0.0, float(low)), min(1.0, float(high))


class _Count:
    """Counts games and moves for who wants to hear of them."""

    def __init__(self, all_games: int, report: Callable[[Progress], object] | None) -> None:
        self._done = Progress(0, 0, all_games)
        self._report = report
        self.add()

    def add(self, *, games: int = 0, moves: int = 0) -> None:
        done = self._done
        self._done = Progress(done.games + games, done.moves + moves, done.all_games)
        if self._report is not None:
            self._report(self._done)


def _bot(bot: str | Bot, path: str, game: str, stop: StopFlag | None) -> Bot:
    if isinstance(bot, Bot):
        return bot
    try:
        return make_bot(bot, game, stop)
    except InvalidInput as error:
        raise error.under(path) from None


def _play(
    start: Position,
    bots: tuple[Bot, Bot],
    pair_seed: int,
    seat_of_a: int,
    *,
    count: _Count,
    stop: StopFlag | None,
) -> _Game:
    """Play one game of a set, A in one seat and B in the others."""
    position = Position.create(start.game, start.options, _derive(pair_seed, "set-up"))
    ply = 0
    while not position.finished:
        moves = {}
        for seat in position.seats_to_act:
            bot = bots[seat != seat_of_a]
            bot_seed = _derive(pair_seed, "bot", seat_of_a, ply, seat)
            moves[seat] = bot.choose(position.observe(seat), seat, bot_seed)
            if stop is not None and stop.is_set():  # the move may have been thought up in haste
                raise MatchStopped
            count.add(moves=1)
        position, _ = position.apply(moves, seed=_derive(pair_seed, "chance", ply))
        ply += 1
    count.add(games=1)
    shares = position.win_shares
    assert shares is not None
    scores = list(position.scores)
    own_score = scores.pop(seat_of_a)
    return _Game(share=shares[seat_of_a], score=own_score, opponents_score=fmean(scores))


def _derive(*parts: int | str) -> int:
    """A seed that depends on all of its parts and on nothing else."""
    return random.Random("/".join(map(str, parts))).getrandbits(64)
