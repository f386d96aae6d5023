"""What positions of My Shelfie are worth: a fitted win share, and a simple count for a player
to measure against.
"""

from aleator.ext.core.random cimport Random
from aleator.ext.games.my_shelfie_tables cimport Shelves, Terms
from aleator.ext.games.my_shelfie_turn cimport LINES, Turn, TurnSolver


cdef enum:
    PATTERNS = 243  # of a line's five spaces, each blank, circled or crossed: 3^5
    HIDDEN = 32  # hidden units; the first half adds to the result, the second half takes away
    OUTPUTS = 2  # that are sums without hidden units: the final points of both seats
    WIDTH = HIDDEN + OUTPUTS
    CONDITIONS = 7  # of a line: how many blanks keep it from five circles, or a cross in it
    CONDITION_PAIRS = CONDITIONS * CONDITIONS
    NEARNESS = 7  # to the end: blanks of the two fullest rows, up to 6
    TURN_ORDERS = 3


# The weights that a game's values leave, for two seats of which the first has its turn first:
# what each feature adds to the hidden units and outputs.
cdef struct Net:
    float[2][LINES][PATTERNS][WIDTH] lines  # a line of the first seat's sheet, of the second's
    float[LINES][CONDITION_PAIRS][WIDTH] conditions  # of the same line on both sheets
    float[NEARNESS][NEARNESS][TURN_ORDERS][WIDTH] nearness


cdef class WinShare(TurnSolver):
    cdef Net* net
    cdef float unit  # mean value of a space, in which scores are judged

    cdef int fill_net(self, const float* weights, values) except -1
    cdef void list_gains(
        self, const Shelves* after, int first, int second, float[HIDDEN]* base, float[HIDDEN]* gain
    ) noexcept nogil

    cdef int turn_order(self, const Shelves* shelves, int first, int second) noexcept nogil
    cdef void sum_pair(
        self, const Shelves* shelves, int first, int second, float* sums
    ) noexcept nogil
    cdef void judge(self, const Shelves* shelves, float* win_shares, float* scores) noexcept nogil
    cdef void evaluate(
        self, Shelves* shelves, Random* random, float* win_shares, float* scores
    ) noexcept nogil
    cdef void luck(
        self, const Shelves* before, const Shelves* after, float* win_shares
    ) noexcept nogil


cdef class LineBonus(TurnSolver):
    cdef float[LINES][PATTERNS] worth
