"""`check`: an assertion of the bounds-checked build, nothing in the normal one."""

cdef extern from *:
    """
    #include <assert.h>
    #define aleator_check(condition) assert(condition)
    """
    void check "aleator_check"(bint condition) noexcept nogil
