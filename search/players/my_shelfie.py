"""Reference players of My Shelfie."""

import random
from functools import lru_cache

from aleator.ext.games.my_shelfie_evaluation import LineBonus
from aleator.search.games.base import Codec
from aleator.search.players import Player
from aleator.search.position import Move, Position


@lru_cache(maxsize=10)
def _line_bonus(codec: Codec) -> LineBonus:
    options = codec.options
    return LineBonus(options["players"], options["values"], options["end"] == "immediate")


def greedy(position: Position, seat: int, _luck: random.Random) -> Move:
    """Play the dice turn exactly for the points it brings, counted with a bonus for lines."""
    return position.move(_line_bonus(position.codec).best(position.state), seat)


PLAYERS: dict[str, Player] = {"greedy": greedy}
