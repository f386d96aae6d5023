"""Playing a match: sets one after another or at once, from a file or anew, until it ends."""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Literal, NamedTuple

from aleator.ext.core.search import StopFlag
from aleator.search.bots import Bot, make_bot
from aleator.search.errors import InvalidInput
from aleator.search.match.file import MatchFile
from aleator.search.match.games import GameSet, Match, MatchStopped
from aleator.search.match.result import MatchResult, share_of, sum_up
from aleator.search.match.workers import play_in_processes
from aleator.search.position import Position, pick_seed
from aleator.search.ratings import SequentialTest
from aleator.search.record import GameRecord


class Progress(NamedTuple):
    """How far a match has come.

    Attributes
    ----------
    games, moves : int
        Games played to the end, and moves in those and in the ones under way. Those that a file
        held do not count.
    all_games : int
        Games to play at most.
    """

    games: int
    moves: int
    all_games: int


def play_match(
    game: str,
    *bots: str | Bot,
    options: Mapping[str, Any] | None = None,
    pairs: int,
    seed: int | None = None,
    elo0: float | None = None,
    elo1: float | None = None,
    workers: int = 1,
    file: Path | None = None,
    record: Path | None = None,
    progress: Callable[[Progress], object] | None = None,
    stop: StopFlag | None = None,
) -> MatchResult:
    """Play a match.

    Parameters
    ----------
    game : str
    *bots : str or Bot
        At least two: specifications as in `aleator.search.bots`, or bots.
    options : mapping, optional
        The game's options.
    pairs : int
        Number of sets of games, at least 1.
    seed : int, optional
        0..2^64-1; by default that of the file, or a random one.
    elo0, elo1 : float, optional
        With both, and two bots, the match ends early as soon as a sequential test decides whether
        the first bot is stronger than the other by `elo0` at most or by `elo1` at least.
    workers : int
        Processes that play, at least 1; more than one only for bots given by specification.
    file : Path, optional
        Where finished sets are kept; a match whose file there is goes on from there.
    record : Path, optional
        A file that the games are appended to, as in `aleator.search.record`.
    progress : callable, optional
        Called once all is set up, and again and again while games are played.
    stop : StopFlag, optional
        Ends the match once it is set; only whole sets of games count then.

    Raises
    ------
    UnknownGame
    InvalidInput
        With paths such as ``bots[1].sims``, ``options.players``, ``pairs``, ``seed``, ``file``.
    MatchStopped
        If it is stopped before the end of its first set.
    """
    for name, value in {"pairs": pairs, "workers": workers}.items():
        if value < 1:
            raise InvalidInput.at(name, f"must be at least 1, not {value}")
    new_seed = pick_seed(seed)
    start = Position.create(game, options, 0)
    stop = stop or StopFlag()
    made = _make_bots(bots, game, stop, workers)
    specs = [bot.spec for bot in made]
    test = _make_test(elo0, elo1, start.seats, len(bots))
    keep = None
    if file is not None:
        played = {"game": game, "options": start.options, "bots": specs}
        keep = MatchFile(file, played, seed, new_seed)
    match = Match(
        game,
        start.options,
        bots=len(bots),
        seed=keep.seed if keep else new_seed,
        written=record is not None,
    )
    tally = _Tally(pairs, keep.sets if keep else {}, test)
    report = _Reporter(len(tally.missing) * match.games_in_set, progress)
    fresh_sets = _play_sets(
        match, made, iter(tally.missing), workers=workers, report=report, stop=stop
    )
    with closing(fresh_sets):
        for number, games in fresh_sets:
            if keep:
                keep.add(number, games)
            if record:
                _write_down(record, match, specs, games)
            tally.add(number, games)
            if tally.ended:
                break
    if not tally.sets:
        raise MatchStopped
    return sum_up(match, specs, tally.sets, test, partial=not tally.ended)


class _Tally:
    """The sets that count: in their order, without a gap, up to the end of the match.

    If sets counted as they ended, a match that is stopped would favour short games.
    """

    def __init__(
        self, pairs: int, kept: Mapping[int, GameSet], test: SequentialTest | None
    ) -> None:
        self.sets: list[GameSet] = []
        self.ended = False
        self._pairs = pairs
        self._test = test
        self._waiting = dict(kept)
        self._shares: list[float] = []
        self._count()
        self.missing = [number for number in range(pairs) if number not in kept and not self.ended]

    def add(self, number: int, games: GameSet) -> None:
        self._waiting[number] = games
        self._count()

    def _count(self) -> None:
        while not self.ended and (games := self._waiting.pop(len(self.sets), None)) is not None:
            self.sets.append(games)
            self._shares.append(share_of(0, games))
            decided = self._test is not None and self._test.decide(self._shares) is not None
            self.ended = decided or len(self.sets) == self._pairs


class _Reporter:
    """Tells how far the match has come, from its start on."""

    def __init__(self, all_games: int, report: Callable[[Progress], object] | None) -> None:
        self._done = Progress(0, 0, all_games)
        self._report = report
        self.set(0, 0)

    def tell(self, what: Literal["move", "game"]) -> None:
        self.set(self._done.games + (what == "game"), self._done.moves + (what == "move"))

    def set(self, games: int, moves: int) -> None:
        self._done = Progress(games, moves, self._done.all_games)
        if self._report is not None:
            self._report(self._done)


def _play_sets(
    match: Match,
    bots: Sequence[Bot],
    numbers: Iterator[int],
    *,
    workers: int,
    report: _Reporter,
    stop: StopFlag,
) -> Generator[tuple[int, GameSet]]:
    """Play sets until there are no more or it is stopped."""
    if workers > 1:
        specs = [bot.spec for bot in bots]
        yield from play_in_processes(
            match, specs, numbers, workers=workers, report=report.set, stop=stop
        )
        return
    for number in numbers:
        try:
            games = match.play_set(number, bots, report.tell, stop)
        except MatchStopped:
            return
        yield number, games


def _make_bots(bots: Sequence[str | Bot], game: str, stop: StopFlag, workers: int) -> list[Bot]:
    if len(bots) < 2:
        raise InvalidInput.at("bots", "must be at least two")
    if workers > 1 and not all(isinstance(bot, str) for bot in bots):
        raise InvalidInput.at("workers", "must be 1 for bots that are not given by specification")
    made = []
    for index, bot in enumerate(bots):
        try:
            made.append(make_bot(bot, game, stop) if isinstance(bot, str) else bot)
        except InvalidInput as error:
            raise error.under(f"bots[{index}]") from None
    return made


def _make_test(
    elo0: float | None, elo1: float | None, seats: int, bots: int
) -> SequentialTest | None:
    if elo0 is None and elo1 is None:
        return None
    if elo0 is None or elo1 is None:
        missing, given = ("elo0", "elo1") if elo0 is None else ("elo1", "elo0")
        raise InvalidInput.at(missing, f"is missing; {given} alone tests nothing")
    if bots != 2:
        raise InvalidInput.at("elo0", f"tests two bots against each other, not {bots}")
    return SequentialTest(elo0, elo1, seats)


def _write_down(file: Path, match: Match, specs: Sequence[str], games: GameSet) -> None:
    for game in games:
        GameRecord(
            game=match.game,
            options=match.options,
            players=tuple(specs[bot] for bot in game.bots),
            plies=game.plies,
            scores=game.scores,
            win_shares=game.win_shares,
        ).append_to(file)
