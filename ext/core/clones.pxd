"""`ALEATOR_CLONES`, an attribute of C functions: processors with wider vectors use them.

The results are the same to the bit, as nothing is fused or reordered. The build with
checks has no clones, for plain backtraces.
"""

cdef extern from *:
    """
    #if defined(__x86_64__) && defined(NDEBUG)
    #define ALEATOR_CLONES __attribute__((target_clones("avx2", "default")))
    #else
    #define ALEATOR_CLONES
    #endif
    """
