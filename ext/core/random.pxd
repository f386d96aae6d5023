"""Random numbers for the compiled code: xoshiro256++ streams, one per thread.

Every search thread and every chance draw owns a stream, so that results are
reproducible whatever the scheduling. Streams are seeded from (seed, stream)
through SplitMix64, as the authors of xoshiro advise.

Source: D. Blackman, S. Vigna, "Scrambled linear pseudorandom number
generators", ACM TOMS 47 (2021); D. Lemire, "Fast random integer generation in
an interval", ACM TOMACS 29 (2019) for `below`.

Limits: not for cryptography; a caller who knows a seed can predict the draws.
"""

from libc.stdint cimport uint32_t, uint64_t


cdef struct Random:
    uint64_t s0
    uint64_t s1
    uint64_t s2
    uint64_t s3


cdef inline uint64_t mix64(uint64_t x) noexcept nogil:
    """One step of SplitMix64: a bijection of 64 bits that scatters its input."""
    x += <uint64_t>0x9E3779B97F4A7C15
    x = (x ^ (x >> 30)) * <uint64_t>0xBF58476D1CE4E5B9
    x = (x ^ (x >> 27)) * <uint64_t>0x94D049BB133111EB
    return x ^ (x >> 31)


cdef inline void seed_random(Random* random, uint64_t seed, uint64_t stream) noexcept nogil:
    """Start the stream numbered `stream` of `seed`."""
    cdef uint64_t x = mix64(seed ^ mix64(stream ^ <uint64_t>0x5851F42D4C957F2D))
    random.s0 = mix64(x)
    random.s1 = mix64(random.s0 ^ x)
    random.s2 = mix64(random.s1 ^ x)
    random.s3 = mix64(random.s2 ^ x)


cdef inline uint64_t rotate_left(uint64_t x, int k) noexcept nogil:
    return (x << k) | (x >> (64 - k))


cdef inline uint64_t next64(Random* random) noexcept nogil:
    """The next 64 uniform bits."""
    cdef uint64_t result = rotate_left(random.s0 + random.s3, 23) + random.s0
    cdef uint64_t t = random.s1 << 17
    random.s2 ^= random.s0
    random.s3 ^= random.s1
    random.s1 ^= random.s2
    random.s0 ^= random.s3
    random.s2 ^= t
    random.s3 = rotate_left(random.s3, 45)
    return result


cdef inline uint32_t below(Random* random, uint32_t n) noexcept nogil:
    """A uniform integer of 0..n-1, without bias; n must be at least 1."""
    cdef uint64_t product = (next64(random) >> 32) * n
    cdef uint32_t low = <uint32_t>product
    cdef uint32_t threshold
    if low < n:
        threshold = (<uint32_t>0 - n) % n
        while low < threshold:
            product = (next64(random) >> 32) * n
            low = <uint32_t>product
    return <uint32_t>(product >> 32)


cdef inline uint32_t scaled(uint32_t bits, uint32_t n) noexcept nogil:
    """Map 32 uniform bits to 0..n-1 without a division.

    The bias is below n / 2^32: for the inner loops of playouts, where n is a
    few dozen and one 64-bit draw serves two choices.
    """
    return <uint32_t>((<uint64_t>bits * n) >> 32)
