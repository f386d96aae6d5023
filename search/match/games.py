"""The games of a match: who sits where, and what happens."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, NamedTuple, TypeAlias

from aleator.ext.core.search import StopFlag
from aleator.search.bots import Bot
from aleator.search.position import Position
from aleator.search.record import Ply

Tell: TypeAlias = Callable[[Literal["move", "game"]], object]
"""Called after each move and after each game."""


class MatchStopped(Exception):
    """A match was stopped, and there is nothing to tell of what it was about to play."""


class GameResult(NamedTuple):
    """The end of one game.

    Attributes
    ----------
    bots : tuple of int
        The number of the bot in each seat.
    win_shares, scores : tuple of float
        By seat.
    plies : tuple of Ply
        The game itself, if it was to be written down.
    """

    bots: tuple[int, ...]
    win_shares: tuple[float, ...]
    scores: tuple[float, ...]
    plies: tuple[Ply, ...] = ()


GameSet: TypeAlias = tuple[GameResult, ...]
"""Games with the same luck, in which every bot sits once in each seat."""


@dataclass(frozen=True, slots=True)
class Match:
    """All that what happens in a match depends on, save the bots themselves.

    Attributes
    ----------
    game : str
    options : dict
    bots : int
        How many there are.
    seed : int
    written : bool
        Whether the games are written down.
    """

    game: str
    options: dict[str, Any]
    bots: int
    seed: int
    written: bool = False

    def play_set(
        self, number: int, bots: Sequence[Bot], tell: Tell, stop: StopFlag | None = None
    ) -> GameSet:
        """Play one set of games.

        Parameters
        ----------
        number : int
            Of the set, from 0.
        bots : sequence of Bot
        tell : callable
        stop : StopFlag, optional

        Raises
        ------
        MatchStopped
            If it is stopped before the end.
        """
        seed = _derive(self.seed, "pair", number)
        lineups = make_lineups(self.bots, self._seats, random.Random(_derive(seed, "seats")))
        return tuple(self._play(seed, lineup, bots, tell, stop) for lineup in lineups)

    @property
    def games_in_set(self) -> int:
        """How many games a set has."""
        return len(list(make_lineups(self.bots, self._seats, random.Random(0))))

    @property
    def _seats(self) -> int:
        return Position.create(self.game, self.options, 0).seats

    def _play(
        self,
        set_seed: int,
        lineup: tuple[int, ...],
        bots: Sequence[Bot],
        tell: Tell,
        stop: StopFlag | None,
    ) -> GameResult:
        position = Position.create(self.game, self.options, _derive(set_seed, "set-up"))
        plies = []
        ply = 0
        while not position.finished:
            moves = {}
            for seat in position.seats_to_act:
                bot_seed = _derive(set_seed, "bot", *lineup, ply, seat)
                moves[seat] = bots[lineup[seat]].choose(position.observe(seat), seat, bot_seed)
                if stop is not None and stop.is_set():  # the move may be thought up in haste
                    raise MatchStopped
                tell("move")
            if self.written:
                plies.append(Ply.of(position, moves))
            position, _ = position.apply(moves, seed=_derive(set_seed, "chance", ply))
            ply += 1
        tell("game")
        shares = position.win_shares
        assert shares is not None
        return GameResult(lineup, shares, position.scores, tuple(plies))


def make_lineups(bots: int, seats: int, luck: random.Random) -> Iterator[tuple[int, ...]]:
    """List who sits where in the games of a set: every bot once in each seat."""
    filled_up = (bots - 1,) * (seats - bots)
    for chosen in combinations(range(bots), min(bots, seats)):
        order = [*chosen, *filled_up]
        luck.shuffle(order)  # so that over many sets each sits beside each
        for turn in range(seats):
            yield tuple(order[turn:] + order[:turn])


def _derive(*parts: int | str) -> int:
    """A seed that depends on all of its parts and on nothing else."""
    return random.Random("/".join(map(str, parts))).getrandbits(64)
