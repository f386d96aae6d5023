"""Coin: the smallest game in which it matters who knows what; for tests of the search.

One seat lays a coin, heads or tails, under a cup; the other guesses it. Seat 0 may also leave
before, for a sure share of the win. Who lays is an option: seat 0, or chance for seat 1, which
alone looks at it. Seat 0 then says first whether it guesses at all, so that to guess right is
its second choice: a search that lets it choose differently for each coin thinks that easy.
"""

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from aleator.ext.core.game cimport CHANCE, FINISHED, Game, hash_bytes
from aleator.ext.core.random cimport Random, below


cdef enum:
    LEAVE = 1  # the moves
    GO_ON = 2
    HEADS = 3
    TAILS = 4


cdef struct Cup:
    uint8_t coin  # HEADS or TAILS; 0 for none yet, or not known
    uint8_t laid
    uint8_t begun  # seat 0 has said that it guesses
    uint8_t guess
    uint8_t left


cdef class Coin(Game):
    """The game.

    Parameters
    ----------
    share : float
        What seat 0 has of the win if it leaves.
    dealt : bool
        Whether chance lays the coin, for seat 1, and seat 0 guesses.
    """

    cdef float share
    cdef bint dealt

    def __init__(self, float share, bint dealt):
        self.seats = 2
        self.move_space = TAILS + 1
        self.state_size = sizeof(Cup)
        self.share = share
        self.dealt = dealt

    cdef int actors(self, const void* state) noexcept nogil:
        cdef const Cup* cup = <const Cup*>state
        if cup.left or cup.guess:
            return FINISHED
        if self.dealt:
            return 1 if cup.laid else CHANCE
        return 2 if cup.laid else 1

    cdef int legal(self, const void* state, int seat, uint32_t* moves) noexcept nogil:
        cdef const Cup* cup = <const Cup*>state
        cdef int count = 0
        if seat == 0 and not cup.begun:
            moves[0] = LEAVE
            count = 1
            if self.dealt:
                moves[1] = GO_ON
                return 2
        moves[count] = HEADS
        moves[count + 1] = TAILS
        return count + 2

    cdef void apply(self, void* state, int seat, uint32_t move) noexcept nogil:
        cdef Cup* cup = <Cup*>state
        if move == LEAVE:
            cup.left = 1
        elif move == GO_ON:
            cup.begun = 1
        elif cup.laid:
            cup.guess = move
        else:
            cup.coin = move
            cup.laid = 1

    cdef uint64_t chance(self, void* state, Random* random) noexcept nogil:
        cdef Cup* cup = <Cup*>state
        cup.coin = HEADS + below(random, 2)
        cup.laid = 1
        return cup.coin

    cdef uint32_t observed(self, const void* state, uint64_t event, int viewer) noexcept nogil:
        return event if viewer == 1 else 0

    cdef bint visible(self, const void* state, int seat, uint32_t move, int viewer) noexcept nogil:
        cdef bint lays = move >= HEADS and not (<const Cup*>state).laid
        return viewer == seat or not lays

    cdef void returns(self, const void* state, float* win_shares) noexcept nogil:
        cdef const Cup* cup = <const Cup*>state
        cdef bint right = cup.guess == cup.coin
        win_shares[0] = self.share if cup.left else right == self.dealt
        win_shares[1] = 1 - win_shares[0]

    cdef void points(self, const void* state, float* scores) noexcept nogil:
        self.returns(state, scores)

    cdef void observe(self, void* state, int seat) noexcept nogil:
        cdef Cup* cup = <Cup*>state
        if seat == self.dealt ^ 1 and not cup.guess:
            cup.coin = 0

    cdef bint full(self, const void* state) noexcept nogil:
        cdef const Cup* cup = <const Cup*>state
        return cup.coin != 0 or not cup.laid

    cdef bint determinize(self, void* state, int seat, Random* random) noexcept nogil:
        cdef Cup* cup = <Cup*>state
        if not self.full(state):
            cup.coin = HEADS + below(random, 2)
        return True

    cdef uint64_t information_hash(self, const void* state, int seat) noexcept nogil:
        cdef Cup copy
        memcpy(&copy, state, sizeof(Cup))
        self.observe(&copy, seat)
        return hash_bytes(&copy, sizeof(Cup), seat)
