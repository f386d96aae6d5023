"""Goofspiel again, slowly and plainly, for Aleator's conformance kit to compare with.

States and moves are the typed records. Probabilities are exact fractions. Importing this registers
the game, so that the kit, which is started with the name of this module, finds it.
"""

from fractions import Fraction
from itertools import permutations
from math import factorial
from typing import Any

from aleator.search.games import register
from goofspiel import GoofspielCodec

Record = dict[str, Any]

register(GoofspielCodec)

CASES = [
    ("goofspiel", {"cards": 4}),
    ("goofspiel", {"players": 3, "cards": 5}),
    ("goofspiel", {}),
]


def successors(state: Record, move: Any, options: Record) -> list[tuple[Fraction, Record]]:
    """The one state that follows: the deck is part of a full state."""
    bids = [move[seat]["card"] for seat in range(options["players"])]
    scores = list(state["scores"])
    if bids.count(max(bids)) == 1:
        scores[bids.index(max(bids))] += state["prizes"][-1]
    hands = [
        {"cards": [card for card in hand["cards"] if card != bid]}
        for hand, bid in zip(state["hands"], bids, strict=True)
    ]
    prizes = [*state["prizes"], *state["deck"][:1]]
    after = {"hands": hands, "prizes": prizes, "deck": state["deck"][1:], "scores": scores}
    return [(Fraction(1), after)]


def determinizations(observation: Record, options: Record) -> list[tuple[Fraction, Record]] | None:
    """Every order of the prizes to come, unless they are too many."""
    rest = set(range(1, options["cards"] + 1)) - set(observation["prizes"])
    if len(rest) > 4:
        return None
    orders = permutations(sorted(rest))
    share = Fraction(1, factorial(len(rest)))
    return [(share, {**observation, "deck": list(order)}) for order in orders]


def symmetries(state: Record, options: Record) -> list[tuple[Record, tuple[int, ...], Any]]:
    """Every seat one on."""
    seats = options["players"]
    image = {
        **state,
        "hands": [*state["hands"][-1:], *state["hands"][:-1]],
        "scores": [*state["scores"][-1:], *state["scores"][:-1]],
    }
    return [(image, tuple((seat + 1) % seats for seat in range(seats)), lambda move: move)]


def win_shares(state: Record, options: Record) -> list[float]:
    """An equal part for each seat with the highest score."""
    best = max(state["scores"])
    winners = state["scores"].count(best)
    return [1 / winners if score == best else 0.0 for score in state["scores"]]
