"""ROYGBIV's board and what a play does to it: for the rules and the evaluation."""

from libc.stdint cimport uint8_t, uint16_t, uint64_t

from aleator.ext.core.bits cimport popcount
from aleator.ext.core.game cimport MAX_SEATS
from aleator.ext.core.random cimport Random, below


cdef enum:
    SIDE = 7
    CELLS = 49
    CENTRE = 24
    VALUES = 7
    COPIES = 7  # dice of each value
    HAND = 3

    # What chance is to do next.
    NOTHING = 0
    SET_UP = 1
    DRAW = 2

    NO_SEAT = 255


# Index 0 of the per-value arrays holds what
# the comment says, 1..7 belong to the values.
cdef struct Board:
    uint64_t[VALUES + 1] cells  # [v]: bit c set if cell c shows v; [0]: the empty cells
    uint8_t[MAX_SEATS][VALUES + 1] hands  # dice known by value; [0]: all dice of the hand
    uint8_t[VALUES + 1] played  # original values placed; [0]: dice on the board
    uint8_t[VALUES + 1] bag  # dice known by value; [0]: all dice of the bag
    uint16_t[MAX_SEATS] scores
    uint8_t seat  # to act, or, while a draw is pending, to draw
    uint8_t pending  # NOTHING, SET_UP or DRAW
    uint8_t known  # bit mask of the seats whose hands are filled in
    uint8_t start  # during set-up: the seat to act first, or NO_SEAT to draw it


cdef extern from *:
    """
    #define ALEATOR_ROW(c) (0x7FULL << ((c) / 7 * 7))
    #define ALEATOR_COLUMN(c) (0x40810204081ULL << ((c) % 7))
    #define ALEATOR_LINES(c) (ALEATOR_ROW(c) ^ ALEATOR_COLUMN(c))
    #define ALEATOR_SEVEN(c) ALEATOR_LINES(c), ALEATOR_LINES(c + 1), ALEATOR_LINES(c + 2), \\
        ALEATOR_LINES(c + 3), ALEATOR_LINES(c + 4), ALEATOR_LINES(c + 5), ALEATOR_LINES(c + 6)
    static const unsigned long long ALEATOR_LINE_MASKS[49] = {
        ALEATOR_SEVEN(0), ALEATOR_SEVEN(7), ALEATOR_SEVEN(14), ALEATOR_SEVEN(21),
        ALEATOR_SEVEN(28), ALEATOR_SEVEN(35), ALEATOR_SEVEN(42)
    };
    """
    const uint64_t* LINES "ALEATOR_LINE_MASKS"  # [c]: the 12 other cells of c's row and column


cdef inline int place(uint64_t* cells, int value, int cell) noexcept nogil:
    """Put a die on an empty cell and capture; returns the points.

    Always six steps, with the mask emptied for values that are not lower: a
    loop of `value` steps would mispredict its end.
    """
    cdef uint64_t line = LINES[cell]
    cdef uint64_t taken = <uint64_t>1 << cell
    cdef uint64_t caught
    cdef int points = 0
    cdef int x
    cells[0] ^= taken
    for x in range(1, VALUES):
        caught = cells[x] & line & (<uint64_t>0 - <uint64_t>(x < value))
        cells[x] ^= caught
        taken |= caught
        points += x * popcount(caught)
    cells[value] |= taken
    return points


cdef inline int pick(uint8_t* counts, Random* random) noexcept nogil:
    """Take a uniformly drawn die out of counts whose entry 0 is their sum."""
    cdef int rank = below(random, counts[0])
    cdef int value = 1
    while rank >= counts[value]:
        rank -= counts[value]
        value += 1
    counts[value] -= 1
    counts[0] -= 1
    return value


cdef inline int points_of(const uint64_t* cells, int value, int cell) noexcept nogil:
    """What `place` would return."""
    cdef uint64_t line = LINES[cell]
    cdef int points = 0
    cdef int x
    for x in range(1, VALUES):
        points += x * popcount(
            cells[x] & line & (<uint64_t>0 - <uint64_t>(x < value))
        )
    return points
