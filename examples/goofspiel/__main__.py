"""Registers Goofspiel and asks how to bid in the position of a notation: `python -m goofspiel`."""

import sys

from aleator.search import Engine, Limits, Position
from aleator.search.games import register
from goofspiel import GoofspielCodec

register(GoofspielCodec)
position = Position.parse(sys.argv[1] if len(sys.argv) > 1 else GoofspielCodec.example)
analysis = Engine().suggest(position, seat=0, limits=Limits(simulations=100_000), seed=1)
for candidate in analysis.candidates:
    if candidate.probability:
        print(f"{candidate.probability:4.0%}  {candidate.move.description}")
