"""The monotonic clock and the stop flag, as the search loop reads them.

The flag is a C11 atomic: one thread sets it (a cancelled call, a shutdown),
search threads read it between simulations, with relaxed order, since nothing
else is published through it.
"""

from libc.stdint cimport int64_t


cdef extern from *:
    """
    #include <stdatomic.h>
    #include <stdint.h>
    #include <time.h>
    typedef atomic_int aleator_flag;
    static inline void aleator_flag_set(aleator_flag *flag, int value) {
        atomic_store_explicit(flag, value, memory_order_relaxed);
    }
    static inline int aleator_flag_get(aleator_flag *flag) {
        return atomic_load_explicit(flag, memory_order_relaxed);
    }
    static inline int64_t aleator_now(void) {
        struct timespec time;
        clock_gettime(CLOCK_MONOTONIC, &time);
        return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
    }
    """
    ctypedef struct flag_t "aleator_flag":
        pass
    void set_flag "aleator_flag_set"(flag_t* flag, int value) noexcept nogil
    int get_flag "aleator_flag_get"(flag_t* flag) noexcept nogil
    int64_t monotonic_ns "aleator_now"() noexcept nogil  # same clock as time.monotonic_ns()
