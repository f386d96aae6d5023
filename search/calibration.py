"""Measuring how strong the levels of a game are, by matches among them and reference players.

Each level plays the next two, and each reference player of the game every other level, two seats
with the options that the game is measured with; ratings come from all games together. A strength
level is a number of simulations, so that nothing depends on how fast the machine is.
"""

import random
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np

from aleator.ext.core.search import StopFlag
from aleator.search.errors import InvalidInput
from aleator.search.games import codec_class
from aleator.search.match import MatchResult, MatchStopped, Progress, play_match
from aleator.search.players import players_of
from aleator.search.position import Position, pick_seed
from aleator.search.ratings import Counts, rate
from aleator.search.strength import (
    ANCHOR_ELO,
    LEVELS,
    Calibration,
    Pairing,
    RatedLevel,
    RatedPlayer,
)

TOP_SIMULATIONS = 10_000
"""What level 10, which has no limit of its own, is measured with."""
RANDOM = "random"


def level_spec(level: int) -> str:
    """The bot of a level, without a limit of time; it tells the simulations that the level has."""
    return f"engine:level={level},sims={LEVELS[level - 1].simulations or TOP_SIMULATIONS}"


def find_pairings(game: str) -> list[tuple[str, str]]:
    """Which bots play each other to measure a game."""
    levels = [level_spec(level) for level in range(1, len(LEVELS) + 1)]
    players = list(players_of(game))
    return [
        *pairwise(levels),
        *zip(levels, levels[2:], strict=False),
        *((level, player) for player in players for level in levels[::2]),
        *pairwise(players),
        *((player, RANDOM) for player in players),
        (levels[0], RANDOM),
    ]


def calibrate(
    game: str,
    *,
    pairs: int,
    seed: int | None = None,
    workers: int = 1,
    folder: Path | None = None,
    progress: Callable[[Progress], object] | None = None,
    stop: StopFlag | None = None,
) -> Calibration:
    """Measure how strong the levels are.

    Parameters
    ----------
    game : str
    pairs : int
        Sets of games of each match.
    seed : int, optional
        By default a random one.
    workers : int
        Processes that play.
    folder : Path, optional
        Where finished sets are kept, a file for each match; the same call later goes on from them.
        It needs a seed.
    progress : callable, optional
        Told how far all matches together are.
    stop : StopFlag, optional

    Raises
    ------
    UnknownGame, InvalidInput
    MatchStopped
        If it is stopped.
    """
    options = Position.create(game, codec_class(game).measured_with, seed=0).options
    if folder is not None:
        if seed is None:
            raise InvalidInput.at("seed", "is missing; without it no match can go on")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InvalidInput.at("folder", f"{error.strerror}: {folder}") from None
    seed = pick_seed(seed)
    pairings = find_pairings(game)
    results = []
    for number, bots in enumerate(pairings):
        result = play_match(
            game,
            *bots,
            options=options,
            pairs=pairs,
            seed=random.Random(f"{seed}/{bots}").getrandbits(64),
            workers=workers,
            file=folder / _file_name(game, bots) if folder else None,
            progress=_part_of_all(progress, number, len(pairings), 2 * pairs),
            stop=stop,
        )
        if result.partial:
            raise MatchStopped
        results.append(result)
    return _sum_up(game, options, seed, results)


def _file_name(game: str, bots: tuple[str, str]) -> str:
    words = "-".join([game, *bots])
    return "".join(sign if sign.isalnum() or sign in "-_" else "_" for sign in words) + ".jsonl"


def _part_of_all(
    report: Callable[[Progress], object] | None, number: int, matches: int, games: int
) -> Callable[[Progress], object] | None:
    """Report the progress of one match as that of all of them."""
    if report is None:
        return None

    def tell(part: Progress) -> None:
        done = number * games + games - part.all_games + part.games
        report(Progress(done, part.moves, matches * games))

    return tell


def _sum_up(
    game: str, options: dict[str, object], seed: int, results: list[MatchResult]
) -> Calibration:
    players = [*players_of(game), RANDOM]
    names = [*(level_spec(level) for level in range(1, len(LEVELS) + 1)), *players]
    anchor = players[0]
    sets = [counts for result in results for counts in _count_sets(result, names)]
    ratings = dict(zip(names, rate(sets, names.index(anchor)), strict=True))
    elos = {
        name: {
            "elo": round(ANCHOR_ELO + rating.elo, 1),
            "interval": tuple(round(ANCHOR_ELO + end, 1) for end in rating.interval),
        }
        for name, rating in ratings.items()
    }
    return Calibration(
        game=game,
        options=options,
        seed=seed,
        anchor=anchor,
        levels=tuple(
            RatedLevel(
                simulations=level.simulations or TOP_SIMULATIONS,
                margin=level.margin,
                breadth=level.breadth,
                **elos[level_spec(number)],
            )
            for number, level in enumerate(LEVELS, 1)
        ),
        players=tuple(RatedPlayer(name=name, **elos[name]) for name in players),
        pairings=tuple(
            Pairing(
                bots=(result.bots[0].bot, result.bots[1].bot),
                games=result.games,
                win_share=round(result.win_share, 4),
                interval=(round(result.interval[0], 4), round(result.interval[1], 4)),
            )
            for result in results
        ),
    )


def _count_sets(result: MatchResult, names: list[str]) -> list[Counts]:
    """How much its two bots won against each other, by set."""
    first, second = (names.index(bot.bot) for bot in result.bots)
    games = result.games / result.pairs
    sets = []
    for share in result.bots[0].set_shares:
        counts = np.zeros((len(names), len(names)))
        counts[first, second], counts[second, first] = games * share, games * (1 - share)
        sets.append(counts)
    return sets
