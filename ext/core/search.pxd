"""The parts that a kind of search builds on; `search.pyx` says what they do."""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from aleator.ext.core.arena cimport Arena, Edge
from aleator.ext.core.blocks cimport RootSums
from aleator.ext.core.clock cimport flag_t
from aleator.ext.core.game cimport MAX_MOVES, MAX_SEATS, Game, State, Tuning
from aleator.ext.core.random cimport Random


cdef enum:
    ROOT = 1  # the root is the first cell given out


cdef class Search:
    cdef readonly Game game
    cdef readonly int seat
    cdef readonly uint64_t simulations
    cdef readonly int depth
    cdef readonly bint memory_full  # the cap was reached
    cdef readonly bint mixed  # whether the answer is a mixed strategy
    cdef bint cramped  # the last simulation could not add what was due
    # Decisions and chance alternate in the tree, and an event's edge is kept as long as its chance
    # node.
    cdef bint alternating
    cdef uint64_t next_pruning  # in simulations
    cdef uint32_t looked_at  # nodes in this pruning
    cdef State root
    cdef State work
    cdef Arena arena
    cdef int trees  # one, or one for each seat
    cdef uint32_t[MAX_SEATS] roots  # of the trees: that of the searching seat first
    cdef Random random
    cdef Tuning tuning
    cdef bint knowledge
    cdef uint64_t seed
    cdef uint64_t stream
    cdef uint32_t* marks  # by move: the stamp of the visit in which it was legal
    cdef uint32_t stamp
    cdef uint32_t[MAX_MOVES] root_moves
    cdef float[MAX_MOVES] root_priors
    cdef bint root_has_priors
    cdef int root_count
    cdef RootSums* sums  # by index of the root's edges

    cdef int list_root_moves(self, moves) except -1
    cdef int set_tuning(self, tuning) except -1
    cdef void rate_root_moves(self) noexcept nogil
    cdef void take_over_root(self, uint32_t stamp) noexcept nogil
    cdef void loop(self, uint64_t simulations, int64_t deadline, flag_t* stop) noexcept nogil
    cdef void advance(self) noexcept nogil
    cdef void credit_root(
        self, uint32_t cell, const float* shares, const float* scores
    ) noexcept nogil
    cdef void prune(self, int64_t deadline, flag_t* stop) noexcept nogil
    cdef bint prune_behind(
        self, uint32_t node, uint32_t least, bint whole, int64_t deadline, flag_t* stop
    ) noexcept nogil
    cdef uint32_t mark(self, const uint32_t* moves, int count) noexcept nogil
    cdef Edge* find_event(self, uint32_t node, uint32_t code) noexcept nogil
    cdef list line(self, uint32_t move, int length, Random* random)
    cdef Edge* most_visited(self, uint32_t node, const uint32_t* moves, int count) noexcept nogil
