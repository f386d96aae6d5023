"""How likely a game of Generator is to be drawn, and what that leaves of a win share.

Two ways lead to a draw: seats that have shut each other in pass until the rolls are used up, which
is the likelier the longer the game has lasted; and the rolls may be used up before somebody gets
there. Both are the less likely the surer the network is of a winner. So the probability of a draw
is

    1 - (1 - sigmoid(LATE + LATER ln(rolls) - SURE s)) (1 - exp(-left / (LENGTH exp(-SHORTER s))))

where s is the logit of the greatest share, and a share x becomes (1 - draw) x + draw / seats. The
order of a seat's moves stays as it is. The numbers are fitted to self-play by
`tools/fit_generator.py`.

Limits: fitted to games of two seats as well as the engine plays them. That both pass, and whether
the position is locked, is not looked at: weaker players may play for long and still come to an end.
"""

import json
from importlib.resources import files

from libc.math cimport expf, logf


cdef enum:
    TERMS = 5

# In the order of the text.
NAMES = ("late", "later", "sure", "length", "shorter")
cdef float[TERMS] WEIGHTS
cdef float SUREST = 1 - 1e-6


def set_weights(weights not None):
    """Use these numbers, by their names in `NAMES`."""
    cdef int i
    if set(weights) != set(NAMES):
        raise ValueError(f"weights must be {', '.join(NAMES)}")
    for i in range(TERMS):
        WEIGHTS[i] = weights[NAMES[i]]


set_weights(json.loads(files("aleator.ext.games").joinpath("generator_draws.json").read_text()))


cdef void allow_for_draws(float* shares, int seats, int rolls, int left) noexcept nogil:
    """Mix an even share into the win shares of a position before a roll.

    `rolls` were made, and `left` can be made yet.
    """
    cdef float most = 0
    cdef float logit, locked, late
    cdef float draw
    cdef int seat
    for seat in range(seats):
        most = max(most, shares[seat])
    most = min(most, SUREST)
    logit = logf(most / (1 - most))
    locked = 1 / (1 + expf(WEIGHTS[2] * logit - WEIGHTS[0] - WEIGHTS[1] * logf(rolls + 1)))
    late = expf(-left / (WEIGHTS[3] * expf(-WEIGHTS[4] * logit)))
    draw = 1 - (1 - locked) * (1 - late)
    for seat in range(seats):
        shares[seat] = (1 - draw) * shares[seat] + draw / seats
