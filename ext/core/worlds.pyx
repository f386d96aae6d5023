"""The determinizations of an observation, gone through evenly where they are few.

Where a game lists all full states that agree with an observation, which of them a simulation
meets is not left to luck: number k meets the one in whose part of the unit interval, cut by the
probabilities, the fractional part of k times the golden ratio lies. So of any run of simulations
each state gets its share, but for one or two. With knowledge, a state's probability is
weighed by how likely it makes what others chose, but for a part of it (`weighed`).

Source: L. Kuipers, H. Niederreiter, "Uniform distribution of sequences" (1974).

Limits: at most MAX_WORLDS states; 32-bit numbers, after which the sequence begins anew.
"""

from libc.math cimport floor
from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from aleator.ext.core.check cimport check
from aleator.ext.core.game cimport MAX_WORLDS, Game, State, weighed
from aleator.ext.core.random cimport Random, next64


cdef double GOLDEN_RATIO = 0.6180339887498949


cdef int list_worlds(
    Worlds* worlds, Game game, State observation, int seat, bint knowledge, Random* random
) except -1:
    """List what an observation leaves open, in zeroed memory, if the game does.

    Where they are several, one number is drawn, so that other seeds begin elsewhere.
    """
    cdef int numbers = game.worlds(observation.data, seat)
    check(numbers <= MAX_WORLDS)
    if numbers == 0:
        return 0
    if numbers > 1:
        worlds.offset = <double>(next64(random) >> 11) * (1.0 / <double>(<uint64_t>1 << 53))
    worlds.size = game.state_size
    worlds.states = <char*>malloc(numbers * worlds.size)
    worlds.bounds = <double*>malloc(2 * numbers * sizeof(double))
    if worlds.states == NULL or worlds.bounds == NULL:
        raise MemoryError
    with nogil:
        fill_worlds(worlds, game, observation.data, seat, knowledge, numbers)
    return 0


cdef void fill_worlds(
    Worlds* worlds, Game game, const void* observation, int seat, bint knowledge, int numbers
) noexcept nogil:
    cdef double* likelihoods = worlds.bounds + numbers
    cdef char* state
    cdef double probability
    cdef double mean = 0
    cdef double bound = 0
    cdef int number, i
    for number in range(numbers):
        state = worlds.states + worlds.count * worlds.size
        memcpy(state, observation, worlds.size)
        probability = game.world(state, seat, number)
        if probability > 0:
            worlds.bounds[worlds.count] = probability
            likelihoods[worlds.count] = game.likelihood(state, seat) if knowledge else 1
            mean += probability * likelihoods[worlds.count]
            worlds.count += 1
    for i in range(worlds.count):
        bound += weighed(worlds.bounds[i], likelihoods[i], mean)
        worlds.bounds[i] = bound


cdef const void* world_at(const Worlds* worlds, uint32_t number) noexcept nogil:
    """The state that a simulation of that number meets."""
    cdef double place = worlds.offset + number * GOLDEN_RATIO
    cdef int low = 0
    cdef int high = worlds.count - 1
    cdef int middle
    place -= floor(place)
    while low < high:
        middle = (low + high) // 2
        if worlds.bounds[middle] > place:
            high = middle
        else:
            low = middle + 1
    return worlds.states + low * worlds.size


cdef void free_worlds(Worlds* worlds) noexcept nogil:
    free(worlds.states)
    free(worlds.bounds)
