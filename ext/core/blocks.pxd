"""What the simulations of one root move sum up to, and how sure their mean is.

Simulations of one move resemble those just before, and the tree learns: so their mean is less sure
than as many independent ones would make it. Means of long blocks of them depend on each other less,
and their spread shows it.

Source: H. Flyvbjerg, H. Petersen, "Error estimates on averages of correlated data", J. Chem. Phys.
91 (1989).
"""

from libc.stdint cimport uint32_t

from aleator.ext.core.game cimport MAX_SEATS


cdef enum:
    BLOCK_SIZES = 32
    LEAST_BLOCKS = 16  # fewer say little of their variance


# Sums over the means of blocks of 2^k successive simulations, the searching seat's win share.
cdef struct Blocks:
    double total
    double squares
    float pending  # the mean of a block whose neighbour is not complete yet


# Sums over the simulations that began with one root move.
cdef struct RootSums:
    double[MAX_SEATS] shares
    double[MAX_SEATS] scores
    Blocks[BLOCK_SIZES] blocks  # by k
    uint32_t count  # of the simulations


cdef inline void add_to_blocks(RootSums* sums, float share) noexcept nogil:
    """Count a simulation, and add its share to the blocks that it completes."""
    cdef Blocks* blocks = sums.blocks
    cdef uint32_t number
    sums.count += 1
    number = sums.count
    while True:
        blocks.total += share
        blocks.squares += <double>share * share
        if number & 1:
            blocks.pending = share
            break
        number >>= 1
        share = (share + blocks.pending) / 2
        blocks += 1


cdef inline double squared_error(const RootSums* sums) noexcept nogil:
    """The squared standard error of the mean of the shares, by the worst block size."""
    cdef uint32_t visits = sums.count
    cdef double worst = 0
    cdef double error
    cdef double count
    cdef int k = 0
    while visits >= (LEAST_BLOCKS if k else 2):
        count = visits
        error = sums.blocks[k].squares - sums.blocks[k].total * sums.blocks[k].total / count
        error /= count * (count - 1)
        worst = max(worst, error)
        visits >>= 1
        k += 1
    return worst
