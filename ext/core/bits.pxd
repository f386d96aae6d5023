"""Bit tricks the compiler has as built-ins: population count, lowest set bit."""

from libc.stdint cimport uint32_t, uint64_t


cdef extern from *:
    """
    static inline int aleator_popcount(unsigned long long x) { return __builtin_popcountll(x); }
    static inline int aleator_lowest_bit(unsigned long long x) { return __builtin_ctzll(x); }
    """
    int popcount "aleator_popcount"(uint64_t x) noexcept nogil
    int lowest_bit "aleator_lowest_bit"(uint64_t x) noexcept nogil  # undefined for 0
