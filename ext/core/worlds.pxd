"""The determinizations of an observation, gone through evenly; explained in the `.pyx`."""

from libc.stdint cimport uint32_t

from aleator.ext.core.game cimport Game, State
from aleator.ext.core.random cimport Random


cdef struct Worlds:
    int count  # 0: not listed, to be drawn at random
    size_t size  # bytes of a state
    char* states  # one after the other
    double* bounds  # by state: the probability of it and of those before it; as much space again
    double offset  # of the sequence that goes through them, 0 to 1


cdef int list_worlds(
    Worlds* worlds, Game game, State observation, int seat, bint knowledge, Random* random
) except -1
cdef const void* world_at(const Worlds* worlds, uint32_t number) noexcept nogil
cdef void free_worlds(Worlds* worlds) noexcept nogil
