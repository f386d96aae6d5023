"""My Shelfie's dice turn, solved exactly for any value of the sheets behind it.

A valuation is a subclass of `TurnSolver` that says what a turn's ends are worth to
the seat whose turn it is, in a unit of its own.
"""

from libc.stdint cimport uint8_t, uint16_t, uint32_t

from aleator.ext.core.random cimport Random
from aleator.ext.games.my_shelfie_tables cimport HANDS, SETS, SIDE, Shelves, Terms


cdef enum:
    LINES = 2 * SIDE  # the rows, then the columns
    MASKS = 1 << SIDE  # sets of spaces in a line

cdef float NONE  # worse than any value

# The sets that some roll pays, six jokers apart, which circle any one space.
cdef int USEFUL_COUNT
cdef uint16_t[SETS] USEFUL
cdef uint8_t[SETS] SET_SIZE
# The lines that the set has spaces in, as line * MASKS + the set's spaces there. Two for each
# space: where spaces share a line, the rest is line 0 with no space.
cdef uint16_t[SETS][6] SET_LINES


# What choices are worth. How much of it is set depends on the rolls to come.
cdef struct Turn:
    float[SETS] circled  # of circling a set; NONE if it is not payable or not blank
    float[SIDE] crossed  # of crossing a row; NONE if it has no blank
    # Of keeping a hand. Six dice are a roll: of stopping there.
    float[HANDS] last  # before the last reroll
    float[HANDS] first  # with two rerolls left
    float before  # of the turn, before the first roll


cdef class TurnSolver:
    cdef Terms terms

    # For a valuation to say.
    cdef float value_after(self, const Shelves* after, int seat) noexcept nogil
    cdef void value_circles(self, const Shelves* shelves, Turn* turn) noexcept nogil

    cdef float value_crosses(self, const Shelves* shelves, Turn* turn) noexcept nogil
    cdef void value_payable(self, const Shelves* shelves, Turn* turn) noexcept nogil
    cdef void solve(self, const Shelves* shelves, Turn* turn) noexcept nogil
    cdef float value(self, const Shelves* shelves, const Turn* turn) noexcept nogil
    cdef uint32_t best_move(self, const Shelves* shelves, const Turn* turn) noexcept nogil
    cdef void finish_turn(
        self, Shelves* shelves, const Turn* turn, Random* random
    ) noexcept nogil


cdef float move_value(const Shelves* shelves, const Turn* turn, uint32_t move) noexcept nogil
