"""Matrix: two seats choose once, in secret, and a matrix says who wins; for tests of the search.

What chance seats should choose with is known of such games. Limits: searched before any choice.
"""

from libc.stdint cimport uint8_t, uint32_t

from aleator.ext.core.game cimport FINISHED, Game
from aleator.ext.core.random cimport Random


cdef enum:
    MOST = 4  # moves of a seat


cdef struct Choices:
    uint8_t[2] made  # by seat: the move and one; 0 for none yet


cdef class Matrix(Game):
    """The game.

    Parameters
    ----------
    shares : sequence of sequence of float
        By move of seat 0 and of seat 1: what seat 0 has of the win.
    """

    cdef float[MOST][MOST] shares
    cdef int[2] moves

    def __init__(self, shares):
        self.seats = 2
        self.move_space = MOST
        self.state_size = sizeof(Choices)
        self.tuning.mixed = True
        self.moves = [len(shares), len(shares[0])]
        for row, values in enumerate(shares):
            for column, share in enumerate(values):
                self.shares[<int>row][<int>column] = share

    cdef int actors(self, const void* state) noexcept nogil:
        cdef const Choices* choices = <const Choices*>state
        return (choices.made[0] == 0) | (choices.made[1] == 0) << 1 or FINISHED

    cdef int legal(self, const void* state, int seat, uint32_t* moves) noexcept nogil:
        cdef int move
        for move in range(self.moves[seat]):
            moves[move] = move
        return self.moves[seat]

    cdef void apply(self, void* state, int seat, uint32_t move) noexcept nogil:
        (<Choices*>state).made[seat] = move + 1

    cdef bint visible(self, const void* state, int seat, uint32_t move, int viewer) noexcept nogil:
        return False

    cdef void returns(self, const void* state, float* win_shares) noexcept nogil:
        cdef const Choices* choices = <const Choices*>state
        win_shares[0] = self.shares[choices.made[0] - 1][choices.made[1] - 1]
        win_shares[1] = 1 - win_shares[0]

    cdef void points(self, const void* state, float* scores) noexcept nogil:
        self.returns(state, scores)

    cdef void observe(self, void* state, int seat) noexcept nogil:
        (<Choices*>state).made[1 - seat] = 0

    cdef bint full(self, const void* state) noexcept nogil:
        return True

    cdef bint determinize(self, void* state, int seat, Random* random) noexcept nogil:
        return True
