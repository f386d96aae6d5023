"""The exact value of each move where no luck and no secret is left, by trying all that follows.

When two seats know everything of a game whose rest is without luck, best play is
found by walking that rest (minimax; without pruning, as every root move's exact
value is wanted). Of moves with the same share of the win, the one with the better
difference of scores counts as better.

Limits: two seats; a bounded number of positions, hence the last few plies only.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from aleator.ext.core.bits cimport lowest_bit
from aleator.ext.core.clock cimport monotonic_ns
from aleator.ext.core.game cimport CHANCE, FINISHED, MAX_MOVES, MAX_SEATS, Game, State


cdef enum:
    MAX_PLIES = 24  # a longer rest is never small enough
    CLOCK_STRIDE = 256  # positions between looks at the clock


cdef struct Value:
    float[MAX_SEATS] shares
    float[MAX_SEATS] scores
    int length  # of the line of best play
    int[MAX_PLIES] seats
    uint32_t[MAX_PLIES] moves


cdef inline bint better(const Value* one, const Value* other, int seat) noexcept nogil:
    cdef float margin = one.scores[seat] - one.scores[1 - seat]
    if one.shares[seat] != other.shares[seat]:
        return one.shares[seat] > other.shares[seat]
    return margin > other.scores[seat] - other.scores[1 - seat]


cdef class Solver:
    """Walks the rest of a game of two seats, once.

    Parameters
    ----------
    game : Game
    budget : int
        How many positions to try at most.
    deadline : int
        When to give up, in nanoseconds of `time.monotonic_ns`.
    """

    cdef Game game
    cdef readonly uint64_t positions  # tried so far
    cdef readonly int depth  # plies of the longest line
    cdef uint64_t budget
    cdef int64_t deadline
    cdef char* states  # one for each ply of the line that is being tried
    cdef Value[MAX_PLIES + 1] values  # of each of these

    def __cinit__(self, Game game not None, uint64_t budget, int64_t deadline):
        self.game = game
        self.budget = budget
        self.deadline = deadline
        self.states = <char*>malloc((MAX_PLIES + 1) * game.state_size)
        if self.states == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.states)

    def solve(self, State observation not None, int seat, moves):
        """The exact value of some moves of a seat that is to act.

        Parameters
        ----------
        observation : State
            What the seat knows.
        seat : int
        moves : sequence of int
            Legal ones.

        Returns
        -------
        list of tuple, or None
            (win shares, scores, line) for each of the moves, shares and scores by seat, the
            line being the (seat, move) of best play, this move first. None if there is luck
            or a secret in what follows, or if it is too much to try.
        """
        cdef uint32_t move
        cdef bint solved
        cdef Value* value = &self.values[1]
        cdef State full
        cdef const void* data = self.game.read(observation)
        if self.game.seats != 2 or not self.game.determined(data, seat):
            return None
        full = self.game.determinization(observation, seat, 0)
        if not self.known_to_all(full) or self.game.seats_to_act(full) != (seat,):
            return None
        result = []
        for move in moves:
            memcpy(self.states + self.game.state_size, full.data, self.game.state_size)
            with nogil:
                self.game.apply(self.states + self.game.state_size, seat, move)
                solved = self.walk(1)
            if not solved:
                return None
            line = [(value.seats[i], value.moves[i]) for i in range(value.length)]
            result.append((
                (value.shares[0], value.shares[1]),
                (value.scores[0], value.scores[1]),
                [(seat, move), *line],
            ))
        return result

    cdef bint known_to_all(self, State state) except -1:
        """Whether each seat, knowing what it sees, knows everything."""
        cdef State observation
        cdef int viewer
        for viewer in range(self.game.seats):
            observation = self.game.observe_state(state, viewer)
            if not self.game.determined(observation.data, viewer):
                return False
        return True

    cdef bint walk(self, int ply) noexcept nogil:
        """Value the state of this ply into `values[ply]`; False if it cannot be done."""
        cdef char* state = self.states + ply * self.game.state_size
        cdef char* after = state + self.game.state_size
        cdef Value* value = &self.values[ply]
        cdef Value* next
        cdef uint32_t[MAX_MOVES] moves
        cdef int actors = self.game.actors(state)
        cdef int seat, count, i
        self.positions += 1
        if actors == FINISHED:
            self.game.returns(state, value.shares)
            self.game.points(state, value.scores)
            value.length = 0
            self.depth = max(self.depth, ply)
            return True
        if actors == CHANCE or actors & (actors - 1) or ply == MAX_PLIES:
            return False
        if self.positions >= self.budget:
            return False
        if self.positions % CLOCK_STRIDE == 0 and monotonic_ns() >= self.deadline:
            return False
        seat = lowest_bit(actors)
        count = self.game.legal(state, seat, moves)
        next = &self.values[ply + 1]
        for i in range(count):
            memcpy(after, state, self.game.state_size)
            self.game.apply(after, seat, moves[i])
            if not self.walk(ply + 1):
                return False
            if i == 0 or better(next, value, seat):
                memcpy(value.shares, next.shares, sizeof(next.shares))
                memcpy(value.scores, next.scores, sizeof(next.scores))
                memcpy(value.seats + 1, next.seats, next.length * sizeof(int))
                memcpy(value.moves + 1, next.moves, next.length * sizeof(uint32_t))
                value.seats[0] = seat
                value.moves[0] = moves[i]
                value.length = next.length + 1
        return True
