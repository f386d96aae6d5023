"""What ROYGBIV positions and moves are worth; see the module's `.pyx`."""

from libc.stdint cimport uint32_t

from aleator.ext.core.random cimport Random
from aleator.ext.games.roygbiv cimport Board


cdef void rate_quickly(
    const Board* board, int seat, int seats, const uint32_t* moves, int count, float* values
) noexcept nogil
cdef void rate_closely(
    const Board* board, int seat, const uint32_t* moves, int count, float* values
) noexcept nogil
cdef void estimate(const Board* board, float* win_shares, float* scores) noexcept nogil
cdef double keeping_likelihood(const Board* board, int seat) noexcept nogil
cdef void guided_playout(Board* board, int seats, Random* random) noexcept nogil
cdef void soften(const float* scores, int seats, float* win_shares) noexcept nogil
