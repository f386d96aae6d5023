"""What a position of Generator is worth; see the module's `.pyx`."""

from aleator.ext.core.game cimport Game
from aleator.ext.games.generator_board cimport PLAYERS, Board
from libc.stdint cimport uint8_t, uint32_t, uint64_t


cdef enum:
    FEATURES = 23  # of one seat


# What the evaluation needs to know of the options.
cdef struct Terms:
    const float* race  # expected rolls to couple, by set of closed nodes and triple
    uint8_t[PLAYERS] colour  # by seat
    int seats
    bint adjacent
    bint sub_towers
    bint enter_stacks


cdef int set_terms(
    Terms* terms, colours, bint adjacent, bint sub_towers, bint enter_stacks
) except -1
cdef void win_chances(const Terms* terms, const Board* board, float* shares) noexcept nogil
cdef void rate(
    Game game, const Terms* terms, const void* board, int seat, const uint32_t* moves, int count,
    float* values,
) noexcept nogil
cdef list rate_moves(Game game, const Terms* terms, const Board* board, bint replies)
cdef list standings(const Terms* terms, const Board* board)
cdef tuple play_itself(
    Game game, const Terms* terms, uint64_t seed, float noise, float chosen, bint learned
)
