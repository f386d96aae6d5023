"""sqrt(ln n) of visit counts, from a table: no logarithm in the loop of a search."""

from libc.stdint cimport uint32_t


cdef extern from *:
    """
    #include <string.h>
    static inline unsigned aleator_float_bits(float x) {
        unsigned bits;
        memcpy(&bits, &x, sizeof bits);
        return bits;
    }
    """
    uint32_t float_bits "aleator_float_bits"(float x) noexcept nogil

cdef enum:
    LOG_STEPS = 256  # table entries for each doubling

# ROOT_LOG[i] = sqrt(ln n) for the counts n whose float starts with these bits:
# exact below 256, off by less than 0.4 % of n above.
cdef float* ROOT_LOG


cdef inline float root_log(uint32_t count) noexcept nogil:
    """sqrt(ln count) for a count of at least 1."""
    return ROOT_LOG[(float_bits(<float>count) >> 15) - 127 * LOG_STEPS]
