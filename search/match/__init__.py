"""Matches between bots, with as little luck in the result as can be.

Games are played in sets, called pairs for the usual two seats: every bot sits once in each seat,
and all games of a set have the same luck. The set-up comes from one seed, and what chance brings
after the n-th decision from one seed for each n. Where chance does not depend on what is played, as
with ROYGBIV's bag, a seat then gets the very same dice in all games of a set.

With fewer bots than seats the last one takes all seats left; with more, each choice of as many bots
as there are seats plays.

The games of a set are not independent of each other, so the set is the unit that counts: the
estimate is the mean over sets of a bot's mean share of the win, with Student's t interval over
sets. What happens in a set depends on the match's seed and the set's number only, so that any
number of processes gets the same result, and a match that was stopped can go on.
"""

from aleator.search.match.games import GameResult, GameSet, Match, MatchStopped
from aleator.search.match.match import Progress, play_match
from aleator.search.match.result import BotResult, MatchResult, TestResult, mean_interval

__all__ = [
    "BotResult",
    "GameResult",
    "GameSet",
    "Match",
    "MatchResult",
    "MatchStopped",
    "Progress",
    "TestResult",
    "mean_interval",
    "play_match",
]
