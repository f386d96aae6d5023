"""Reference players of Generator: what the next rolls bring, by the race to couple.

Both judge a position by how many rolls a seat is ahead of its best opponent: the rolls that each is
expected to need until it couples, and to lose to captures by the next roll. The compiled
evaluation (`ext/games/generator_evaluation.pyx`) tells how.
"""

import random

from aleator.ext.games.generator import Generator
from aleator.search.players import Player
from aleator.search.position import Move, Position


def greedy(position: Position, seat: int, luck: random.Random) -> Move:
    """Play what looks best at once."""
    return _best(position, seat, luck, replies=False)


def expectimax(position: Position, seat: int, luck: random.Random) -> Move:
    """Play what looks best after each next roll and the best use of it."""
    return _best(position, seat, luck, replies=True)


def _best(position: Position, seat: int, luck: random.Random, *, replies: bool) -> Move:
    rules = position.codec.rules
    assert isinstance(rules, Generator)
    leads = rules.move_leads(position.state, replies)
    most = max(lead for _, lead in leads)
    return position.move(luck.choice([code for code, lead in leads if lead == most]), seat)


PLAYERS: dict[str, Player] = {"greedy": greedy, "expectimax": expectimax}
