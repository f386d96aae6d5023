"""Reference players of ROYGBIV."""

import random

from aleator.search.players import Player
from aleator.search.position import Move, Position


def greedy(position: Position, seat: int, luck: random.Random) -> Move:
    """Play for the most points at once, and at random among moves that bring as many."""
    rules = position.codec.rules
    # A play's points depend on the board and the die only, so any true state tells them.
    state = rules.determinization(position.state, seat, luck.getrandbits(64))
    moves = position.moves(seat)
    scores = [rules.scores(rules.apply_move(state, seat, move.code))[seat] for move in moves]
    most = max(scores)
    return luck.choice([move for move, score in zip(moves, scores, strict=True) if score == most])


PLAYERS: dict[str, Player] = {"greedy": greedy}
