"""States and games as Python sees them, and the parts common to all games.

`game.pxd` explains the interface. The methods here that take and return
`State` objects check their arguments and leave the given states alone; the
search uses the C methods beside them. Uniform random playouts are the default
evaluation; games override them with faster or better ones.

Limits: at most six seats; one state is at most a few kilobytes.
"""

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcmp, memcpy, memset

from aleator.ext.core.bits cimport lowest_bit
from aleator.ext.core.random cimport Random, below, mix64, seed_random


cdef void share_highest(const float* scores, int seats, float* win_shares) noexcept nogil:
    """Give each of the k seats with the highest score 1/k, the others 0."""
    cdef float best = scores[0]
    cdef int winners = 0
    cdef int seat
    for seat in range(1, seats):
        if scores[seat] > best:
            best = scores[seat]
    for seat in range(seats):
        winners += scores[seat] == best
    for seat in range(seats):
        win_shares[seat] = (<float>1.0) / winners if scores[seat] == best else 0


cdef uint64_t hash_bytes(const void* data, size_t size, uint64_t seed) noexcept nogil:
    """Hash `size` bytes; `size` need not be a multiple of eight."""
    cdef const uint8_t* bytes = <const uint8_t*>data
    cdef uint64_t result = mix64(seed ^ size)
    cdef uint64_t word
    cdef size_t i = 0
    cdef size_t step
    while i < size:
        step = min(<size_t>8, size - i)
        word = 0
        memcpy(&word, bytes + i, step)
        result = mix64(result ^ word)
        i += step
    return result


cdef class State:
    """A state or an observation of one game; immutable for Python callers."""

    def __cinit__(self, Game game not None):
        self.game = game
        self.data = calloc(1, game.state_size)
        if self.data == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.data)

    def copy(self):
        """An independent copy."""
        return self.game.copy_state(self)

    def raw(self):
        """The bytes of the struct, for comparisons; not a storage format."""
        return (<const char*>self.data)[:self.game.state_size]

    def __eq__(self, other):
        if not isinstance(other, State):
            return NotImplemented
        cdef State that = other
        return self.game is that.game and memcmp(
            self.data, that.data, self.game.state_size
        ) == 0

    def __hash__(self):
        return hash(self.raw())


cdef class Game:
    """Rules of one game under one set of options; see the module's `.pxd`."""

    def __cinit__(self):
        self.tuning.exploration = 0.7
        self.tuning.widening_base = MAX_MOVES
        self.tuning.depth = MAX_DEPTH

    cdef void start(self, void* state, int start_seat) noexcept nogil:
        """Set up a zeroed struct; `start_seat` -1 has chance choose the first seat."""

    cdef int actors(self, const void* state) noexcept nogil:
        """The bit mask of the seats to act, or CHANCE, or FINISHED."""
        return FINISHED

    cdef int legal(self, const void* state, int seat, uint32_t* moves) noexcept nogil:
        """List the moves of a seat that is to act; at most MAX_MOVES, all different."""
        return 0

    cdef void apply(self, void* state, int seat, uint32_t move) noexcept nogil:
        """Carry out a legal move, up to the next decision, chance event or the end."""

    cdef uint64_t chance(self, void* state, Random* random) noexcept nogil:
        """Draw the pending chance event and return its code, for `observed`.

        Another chance event may be pending afterwards.
        """
        return 0

    cdef uint64_t occur(self, void* state, int outcome) noexcept nogil:
        """Let one of the `outcomes` of the pending chance event come about; as `chance`."""
        return 0

    cdef void returns(self, const void* state, float* win_shares) noexcept nogil:
        """The share of the win by seat, of a finished game."""

    cdef void points(self, const void* state, float* scores) noexcept nogil:
        """The score by seat, so far or final."""

    cdef bint visible(self, const void* state, int seat, uint32_t move, int viewer) noexcept nogil:
        """Whether `viewer` sees the move at once, asked before it is applied."""
        return True

    cdef uint32_t observed(self, const void* state, uint64_t event, int viewer) noexcept nogil:
        """What `viewer` saw of the chance event just drawn, as a code; 0 for nothing."""
        return 0

    cdef void observe(self, void* state, int seat) noexcept nogil:
        """Blank in place what `seat` cannot know."""

    cdef bint full(self, const void* state) noexcept nogil:
        """Whether nothing is hidden, so that moves and chance can be applied."""
        return True

    cdef bint determined(self, const void* state, int seat) noexcept nogil:
        """Whether what `seat` sees, this observation, leaves only one full state.

        False is always allowed: it only keeps positions from being solved.
        """
        return self.full(state)

    cdef bint determinize(self, void* state, int seat, Random* random) noexcept nogil:
        """Draw in place what `seat` does not know; False if nothing agrees."""
        return True

    cdef int worlds(self, const void* state, int seat) noexcept nogil:
        """How many numbers, from 0, `world` takes for an observation; 0: too many, or not told.

        At most MAX_WORLDS.
        """
        return self.full(state)

    cdef double world(self, void* state, int seat, int number) noexcept nogil:
        """Fill in, in place, what `seat` does not know, in one of all ways; how likely it is.

        0 if the number stands for none, and the state is to be thrown away. Each way has one
        number, and is as likely as `determinize` draws it.
        """
        return 1

    cdef double likelihood(self, const void* state, int seat) noexcept nogil:
        """How likely the other seats' choices so far are, were this the full state; above 0.

        In proportion only. For searches with knowledge, which go through what `world` lists.
        """
        return 1

    cdef uint64_t information_hash(self, const void* state, int seat) noexcept nogil:
        """A hash of what `seat` knows of a state or observation."""
        return 0

    cdef void playout(self, void* state, Random* random) noexcept nogil:
        """Play uniformly random legal moves to the end, in place."""
        cdef uint32_t[MAX_MOVES] moves
        cdef int actors = self.actors(state)
        cdef int seat, count
        while actors != FINISHED:
            if actors == CHANCE:
                self.chance(state, random)
            else:
                seat = lowest_bit(actors)
                count = self.legal(state, seat, moves)
                self.apply(state, seat, moves[below(random, count)])
            actors = self.actors(state)

    cdef bint priors(
        self, const void* state, int seat, const uint32_t* moves, int count, float* values
    ) noexcept nogil:
        """How good each legal move looks to `seat`; False for no opinion.

        In win shares, of which only the differences count. The state is full, but what
        the seat cannot know of it must not matter.
        """
        return False

    cdef bint root_priors(
        self, const void* state, int seat, const uint32_t* moves, int count, float* values
    ) noexcept nogil:
        """The same for the root of a search: once, so that it may take longer."""
        return self.priors(state, seat, moves, count, values)

    cdef void evaluate(
        self, void* state, Random* random, float* win_shares, float* scores
    ) noexcept nogil:
        """Estimate the outcome of a full state, which is used up: one playout.

        The shares are win shares and add up to 1; the scores are final ones.
        """
        self.playout(state, random)
        self.returns(state, win_shares)
        self.points(state, scores)

    cdef void luck(
        self, const void* before, const void* after, float* win_shares
    ) noexcept nogil:
        """What a chance event changed, from a full state where it was pending, by seat.

        In win shares, with a mean of 0 over what could come out and a sum of 0 over the
        seats. Asked only of a game whose tuning says `foreseen`.
        """
        memset(win_shares, 0, self.seats * sizeof(float))

    cdef State new_state(self):
        return State.__new__(State, self)

    cdef State copy_state(self, State state):
        cdef State copy = self.new_state()
        memcpy(copy.data, self.read(state), self.state_size)
        return copy

    cdef const void* read(self, State state) except NULL:
        if state.game is not self:
            raise ValueError("the state belongs to another game or to other options")
        return state.data

    cdef int check_seat(self, int seat) except -1:
        if not 0 <= seat < self.seats:
            raise ValueError(f"seat must be 0..{self.seats - 1}, not {seat}")
        return 0

    def tuning_values(self):
        """How the search uses the game's knowledge, as a dict; see `Tuning` in `game.pxd`."""
        return self.tuning

    def move_priors(self, State state not None, int seat):
        """How good the moves of a seat look at the root of a search; None for no opinion.

        They are in the order of `legal_moves`.

        Raises
        ------
        ValueError
            If the state is not full.
        """
        cdef uint32_t[MAX_MOVES] moves
        cdef float[MAX_MOVES] values
        cdef int count, i
        if not self.full(self.read(state)):
            raise ValueError("priors need a full state, this is an observation")
        if seat not in self.seats_to_act(state):
            raise ValueError(f"seat {seat} is not to act")
        count = self.legal(state.data, seat, moves)
        if not self.root_priors(state.data, seat, moves, count, values):
            return None
        return [values[i] for i in range(count)]

    def evaluate_state(self, State state not None, uint64_t seed):
        """The estimate that the search takes of a full state, once.

        Returns
        -------
        win_shares, scores : tuple of float
            By seat.

        Raises
        ------
        ValueError
            If the state is not full.
        """
        cdef float[MAX_SEATS] shares
        cdef float[MAX_SEATS] scores
        cdef State work = self.copy_state(state)
        cdef Random random
        if not self.full(state.data):
            raise ValueError("an estimate needs a full state, this is an observation")
        seed_random(&random, seed, 0)
        with nogil:
            self.evaluate(work.data, &random, shares, scores)
        return (
            tuple([shares[seat] for seat in range(self.seats)]),
            tuple([scores[seat] for seat in range(self.seats)]),
        )

    def new_game(self, uint64_t seed, start_seat=None):
        """Set up a game, its chance drawn from `seed`.

        Parameters
        ----------
        seed : int
            0..2^64-1; equal seeds give equal games.
        start_seat : int, optional
            The seat that acts first; by default drawn like the rest.

        Raises
        ------
        ValueError
            If there is no such seat.
        """
        cdef State state = self.new_state()
        if start_seat is not None:
            self.check_seat(start_seat)
        self.start(state.data, -1 if start_seat is None else start_seat)
        self.resolve(state, seed)
        return state

    cdef int resolve(self, State state, uint64_t seed) except -1:
        cdef Random random
        if not self.full(state.data):
            raise ValueError("chance needs a full state, this is an observation")
        seed_random(&random, seed, 0)
        with nogil:
            while self.actors(state.data) == CHANCE:
                self.chance(state.data, &random)
        return 0

    def advance(self, State state not None, uint64_t seed):
        """The state after all pending chance events, drawn from `seed`."""
        cdef State copy = self.copy_state(state)
        self.resolve(copy, seed)
        return copy

    def seats_to_act(self, State state not None):
        """The seats that are to act, ascending; empty at chance events and at the end."""
        cdef int actors = self.actors(self.read(state))
        if actors == CHANCE:
            return ()
        return tuple([seat for seat in range(self.seats) if actors >> seat & 1])

    def chance_pending(self, State state not None):
        """Whether a chance event comes next."""
        return self.actors(self.read(state)) == CHANCE

    def finished(self, State state not None):
        """Whether the game is over."""
        return self.actors(self.read(state)) == FINISHED

    def legal_moves(self, State state not None, int seat):
        """The codes of the moves of a seat; empty if it is not to act."""
        cdef const void* data = self.read(state)
        cdef int actors = self.actors(data)
        self.check_seat(seat)
        if actors == CHANCE or not actors >> seat & 1:
            return []
        cdef uint32_t[MAX_MOVES] moves
        cdef int count = self.legal(data, seat, moves)
        return [moves[i] for i in range(count)]

    def apply_move(self, State state not None, int seat, uint32_t move):
        """The state after a move; a chance event may be pending in it.

        Raises
        ------
        ValueError
            If the move is not legal for that seat, or the state is not full.
        """
        if not self.full(self.read(state)):
            raise ValueError("moves need a full state, this is an observation")
        if move not in self.legal_moves(state, seat):
            raise ValueError(f"move {move} is not legal for seat {seat}")
        cdef State copy = self.copy_state(state)
        self.apply(copy.data, seat, move)
        return copy

    def observe_state(self, State state not None, int seat):
        """What a seat may know of a state."""
        cdef State copy = self.copy_state(state)
        self.check_seat(seat)
        self.observe(copy.data, seat)
        return copy

    def is_full(self, State state not None):
        """Whether nothing is hidden in the state."""
        return self.full(self.read(state))

    def is_determined(self, State state not None, int seat):
        """Whether what a seat knows of a state is known to leave only one full state."""
        cdef State observation = self.observe_state(state, seat)
        return self.determined(observation.data, seat)

    def determinization(self, State state not None, int seat, uint64_t seed):
        """A full state drawn among those that agree with what `seat` knows.

        Raises
        ------
        ValueError
            If no full state agrees.
        """
        cdef State copy = self.observe_state(state, seat)
        cdef Random random
        seed_random(&random, seed, 0)
        if not self.determinize(copy.data, seat, &random):
            raise ValueError("no full state agrees with this observation")
        return copy

    def enumerate_determinizations(
        self, State state not None, int seat, *, bint knowledge=False
    ):
        """All full states that agree with what `seat` knows, and how likely each one is.

        Parameters
        ----------
        state : State
        seat : int
        knowledge : bool
            Whether what others chose says something of it, as in a search with knowledge; by
            default the rules alone do.

        Returns
        -------
        list of (float, State), or None
            None if they are too many, or the game does not tell.
        """
        cdef State observation = self.observe_state(state, seat)
        cdef State copy
        cdef int count = self.worlds(observation.data, seat)
        cdef int number
        found = []
        for number in range(count):
            copy = self.copy_state(observation)
            probability = self.world(copy.data, seat, number)
            if probability > 0:
                likelihood = self.likelihood(copy.data, seat) if knowledge else 1
                found.append((probability, likelihood, copy))
        mean = sum([probability * likelihood for probability, likelihood, _ in found])
        return [
            (weighed(probability, likelihood, mean), world)
            for probability, likelihood, world in found
        ] or None

    def win_shares(self, State state not None):
        """Each seat's share of the win, of a finished game.

        Raises
        ------
        ValueError
            If the game is not over.
        """
        cdef float shares[MAX_SEATS]
        if not self.finished(state):
            raise ValueError("the game is not finished")
        self.returns(state.data, shares)
        return tuple([shares[seat] for seat in range(self.seats)])

    def scores(self, State state not None):
        """Each seat's score, so far or final."""
        cdef float scores[MAX_SEATS]
        self.points(self.read(state), scores)
        return tuple([scores[seat] for seat in range(self.seats)])

    def information_key(self, State state not None, int seat):
        """A 64-bit hash of what a seat knows: equal for states it can't tell apart."""
        self.check_seat(seat)
        return self.information_hash(self.read(state), seat)

    def run_playouts(self, State state not None, uint32_t count, uint64_t seed):
        """Play `count` uniformly random games from a full state, without the GIL.

        Returns
        -------
        win_shares, scores : tuple of float
            Means by seat.
        """
        cdef float shares[MAX_SEATS]
        cdef float scores[MAX_SEATS]
        cdef double share_sums[MAX_SEATS]
        cdef double score_sums[MAX_SEATS]
        cdef State work = self.copy_state(state)
        cdef Random random
        cdef uint32_t _
        cdef int seat
        if not self.full(state.data):
            raise ValueError("playouts need a full state, this is an observation")
        if count == 0:
            raise ValueError("count must be at least 1")
        seed_random(&random, seed, 0)
        for seat in range(MAX_SEATS):
            share_sums[seat] = 0
            score_sums[seat] = 0
        with nogil:
            for _ in range(count):
                memcpy(work.data, state.data, self.state_size)
                self.playout(work.data, &random)
                self.returns(work.data, shares)
                self.points(work.data, scores)
                for seat in range(self.seats):
                    share_sums[seat] += shares[seat]
                    score_sums[seat] += scores[seat]
        return (
            tuple([share_sums[seat] / count for seat in range(self.seats)]),
            tuple([score_sums[seat] / count for seat in range(self.seats)]),
        )
