"""Reference players of Riviera."""

import random

from aleator.ext.games.riviera import Riviera
from aleator.search.players import Player
from aleator.search.position import Move, Position


def rules(position: Position, seat: int, luck: random.Random) -> Move:
    """Play by stars, flexibility and the exact chance to crash, without looking ahead further.

    Plays the valid card that is best by its stars, its power, and what the rest of the hand can
    expect of the next roll. Stops when the stars at risk times the chance to crash exceed the stars
    that the next play can be expected to bring; dares more when behind, never stops where that
    would lose, and always where it would win.
    """
    del luck  # nothing is left to it
    compiled = position.codec.rules
    assert isinstance(compiled, Riviera)
    return position.move(compiled.choose_by_rules(position.state, seat), seat)


PLAYERS: dict[str, Player] = {"rules": rules}
