"""Positions to ask about: those of a random game of each kind, the same in every run."""

from random import Random

from aleator.search import Position


def positions(game: str, count: int) -> list[Position]:
    """So many positions, spread over a random game, at which one seat or more have a choice.

    Parameters
    ----------
    game : str
    count : int
        How many; a short game has fewer.
    """
    chance = Random(1)
    position, found = Position.create(game, seed=1), []
    while not position.finished:
        moves = {seat: position.moves(seat) for seat in position.seats_to_act}
        if any(len(choices) > 1 for choices in moves.values()):
            found.append(position)
        chosen = {seat: chance.choice(choices) for seat, choices in moves.items()}
        position, _ = position.apply(chosen, seed=chance.getrandbits(32))
    step = max(1, len(found) // count)
    return found[::step][:count]
