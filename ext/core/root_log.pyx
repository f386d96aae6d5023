"""The table of `root_log.pxd`."""

from libc.math cimport log, sqrt
from libc.stdint cimport uint64_t


cdef float[32 * LOG_STEPS + 1] table

cdef void fill_root_log() noexcept:
    cdef double count
    cdef int i
    for i in range(32 * LOG_STEPS + 1):
        count = (1 + <double>(i % LOG_STEPS) / LOG_STEPS) * (<uint64_t>1 << (i // LOG_STEPS))
        table[i] = <float>sqrt(log(count))

fill_root_log()
ROOT_LOG = table
