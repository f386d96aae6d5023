"""The win shares of a position of Generator; see the module's `.pyx`."""

from aleator.ext.core.game cimport Game
from aleator.ext.games.generator_board cimport COLOURS, NODES, PLAYERS, Board
from aleator.ext.games.generator_evaluation cimport MAX_STACKS, Terms
from libc.stdint cimport uint8_t, uint16_t, uint32_t


cdef enum:
    HIDDEN = 32  # units
    NUMBERS = 23  # that describe a seat, besides its stacks
    STACKS = 396  # kinds of stack, by what stands where
    # The rows of the first layer's weights.
    BIAS = 0
    OWN = 1
    OTHERS = OWN + NUMBERS
    OWN_STACKS = OTHERS + NUMBERS
    OTHER_STACKS = OWN_STACKS + STACKS
    ROWS = OTHER_STACKS + STACKS


cdef struct Network:
    float[ROWS][HIDDEN] rows
    float[HIDDEN] output

cdef Network NETWORK
# KIND[mirrored][own colour][node]: the kind of the stack with sizes 1 there, others follow.
# Mirrored, the colours are counted the other way round.
cdef uint16_t[2][COLOURS][NODES] KIND


# What the network sees of a position.
cdef struct Description:
    float[PLAYERS][NUMBERS] numbers
    int[PLAYERS] counts  # of stacks
    uint16_t[PLAYERS][MAX_STACKS] nodes
    uint8_t[PLAYERS][MAX_STACKS] sizes


cdef inline int kind_of(int colour, int node, int sizes, bint mirrored) noexcept nogil:
    """The kind of a stack, seen from a seat of this colour."""
    return KIND[mirrored][colour][node] + sizes - 1


cdef inline void add(float* target, const float* row, float factor) noexcept nogil:
    """Add a multiple of a row of weights to another."""
    cdef int i
    for i in range(HIDDEN):
        target[i] += factor * row[i]


cdef void describe(const Terms* terms, const Board* board, Description* seen) noexcept nogil
cdef void look(
    const Terms* terms, const Description* seen, bint mirrored, float[HIDDEN]* hidden, float* shares
) noexcept nogil
cdef void win_chances(const Terms* terms, const Board* board, float* shares) noexcept nogil
cdef void forecast(const Terms* terms, const Board* board, float* shares) noexcept nogil
cdef void rate(
    Game game, const Terms* terms, const void* board, int seat, const uint32_t* moves, int count,
    float* values,
) noexcept nogil
