"""The race to couple and what captures cost; see the module's `.pyx`."""

from aleator.ext.core.game cimport Game
from aleator.ext.games.generator_board cimport COLOURS, NODES, PLAYERS, SIZES, Board
from libc.stdint cimport uint8_t, uint16_t, uint32_t


cdef enum:
    MAX_STACKS = 16  # no seat has more than 15 pieces

cdef float HOPELESS  # rolls, and no race is said to take longer
cdef uint8_t[NODES] LEVEL
cdef uint8_t[NODES] BRANCH
# PLACE[adjacent][own colour][4 * node + size]
cdef uint8_t[2][COLOURS][4 * NODES] PLACE
# By size: the places of a piece that is in place, as bits.
cdef uint32_t[SIZES] IN_PLACE


# What the evaluation needs to know of the options.
cdef struct Terms:
    const float* race  # expected rolls to couple, by set of closed nodes and triple
    uint8_t[PLAYERS] colour  # by seat
    int seats
    int max_rolls
    bint adjacent
    bint sub_towers
    bint enter_stacks


# One seat's stacks.
cdef struct Stacks:
    int count
    int closed  # nodes of level 1 that others close to the seat; bits by branch, as below
    int blocked  # nodes of level 1 where own stacks are in the way of others of the seat
    int guards  # stacks that close a node of level 1 to others, as bits
    uint16_t[MAX_STACKS] nodes
    uint8_t[MAX_STACKS] sizes
    uint32_t[SIZES] stash  # bit STASH if some are there


# How a seat stands in the race.
cdef struct Standing:
    Stacks stacks
    float race
    float danger  # rolls it is expected to lose by the next roll of each opponent
    float hit  # probability that it loses something by them, added up


cdef int set_terms(
    Terms* terms, colours, int max_rolls, bint adjacent, bint sub_towers, bint enter_stacks
) except -1
cdef float race_of(
    const Terms* terms, const Stacks* stacks, int seat, int lost, int left_out
) noexcept nogil
cdef void assess(
    const Terms* terms, const Board* board, int seat, Standing* standing
) noexcept nogil
cdef float lead(const Terms* terms, const Board* board, int seat) noexcept nogil
cdef list rate_moves(Game game, const Terms* terms, const Board* board, bint replies)
cdef list standings(const Terms* terms, const Board* board)
