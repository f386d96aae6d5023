"""The interface between a game and the search: what a fifth game implements.

A game is a subclass of `Game`, one instance per set of options, that works on
a fixed-size C struct without pointers, so that a state is copied by memcpy. The
same struct holds a full state or an observation: what a seat cannot know is
blanked by `observe` and drawn by `determinize`.

Play goes through points of three kinds, told apart by `actors`: a decision of
one or several seats, a chance event (also: the reveal of secret choices), or
the end. Where several seats act at once, each seat's `apply` only notes its
choice, not `visible` to anybody, and the last one makes a chance event
pending, whose event, `observed`, tells what the reveal showed. So a search that
follows only what its seat sees needs no rule about simultaneous moves.

Every method below is called with the GIL released and may touch no Python
object but the game's own C fields.
"""

from libc.stdint cimport uint32_t, uint64_t

from aleator.ext.core.random cimport Random


cdef enum:
    MAX_SEATS = 6
    MAX_DEPTH = 256  # decisions the tree follows in one simulation
    MAX_MOVES = 512  # no state of any game has more legal moves for one seat
    MAX_WORLDS = 1024  # ways to fill in an observation that are gone through one by one
    CHANCE = -1  # what `actors` says while a chance event is pending
    FINISHED = 0  # and when the game is over


# How the search uses a game's knowledge; what suits a game is found in matches. The search
# scores a move `mean + exploration * sqrt(ln availability / visits)`, and a node tries its moves
# from the best prior down, `widening_base + widening_factor * sqrt(visits of the node)` of them.
cdef struct Tuning:
    float exploration  # in win shares
    float widening_base
    float widening_factor
    # With B for this: a move scores `B / (B + visits)` times its prior's distance from the best
    # prior less, so that looks matter as much as B simulations; for the answer its mean counts
    # `visits / (B + visits)` and its prior the rest. 0: they set the order only.
    float prior_visits
    int depth  # moves that the tree follows at most, 1 to 256; what comes then is evaluated
    # The k-th simulation of each root move meets the same hidden things and the same luck.
    bint paired
    # Secret choices, which not even the own seat is said to see at once, are made by regret
    # matching: the answer is a mixed strategy. Otherwise by the rule above, for a pure one.
    bint mixed
    # The game foresees chance: `evaluate` takes states with an event pending too, and `luck`
    # tells what an event that came out changed. So luck is taken out of what simulations say.
    bint foreseen
    # Values are backed up as the mean over the outcomes of chance of the best move's value, instead
    # of the mean of simulations. For games that tell their `outcomes`, of two seats that see
    # everything, whose evaluation has no luck in it and takes states with an event pending.
    bint averaged
    # Each seat has a tree of its own, that branches on what it sees, and chooses by that. Otherwise
    # all choose by the searching seat's, as if they saw what it sees.
    bint own_trees


cdef class Game


cdef class State:
    cdef void* data  # game.state_size bytes, padding zeroed, so that equal states are equal bytes
    cdef readonly Game game


cdef class Game:
    cdef readonly int seats
    cdef readonly int move_space  # moves are numbered 0..move_space-1
    cdef size_t state_size
    # How many outcomes, equally likely, every chance event has that `occur` can bring about: those
    # that follow a move. 0: not told.
    cdef int outcomes
    cdef Tuning tuning

    # The rules, for the search.
    cdef void start(self, void* state, int start_seat) noexcept nogil
    cdef int actors(self, const void* state) noexcept nogil
    cdef int legal(self, const void* state, int seat, uint32_t* moves) noexcept nogil
    cdef void apply(self, void* state, int seat, uint32_t move) noexcept nogil
    cdef uint64_t chance(self, void* state, Random* random) noexcept nogil
    cdef uint64_t occur(self, void* state, int outcome) noexcept nogil
    cdef void returns(self, const void* state, float* win_shares) noexcept nogil
    cdef void points(self, const void* state, float* scores) noexcept nogil

    # What seats know.
    cdef bint visible(self, const void* state, int seat, uint32_t move, int viewer) noexcept nogil
    cdef uint32_t observed(self, const void* state, uint64_t event, int viewer) noexcept nogil
    cdef void observe(self, void* state, int seat) noexcept nogil
    cdef bint full(self, const void* state) noexcept nogil
    cdef bint determined(self, const void* state, int seat) noexcept nogil
    cdef bint determinize(self, void* state, int seat, Random* random) noexcept nogil
    cdef int worlds(self, const void* state, int seat) noexcept nogil
    cdef double world(self, void* state, int seat, int number) noexcept nogil
    cdef double likelihood(self, const void* state, int seat) noexcept nogil
    cdef uint64_t information_hash(self, const void* state, int seat) noexcept nogil

    # What a position is worth.
    cdef void playout(self, void* state, Random* random) noexcept nogil
    cdef bint priors(
        self, const void* state, int seat, const uint32_t* moves, int count, float* values
    ) noexcept nogil
    cdef bint root_priors(
        self, const void* state, int seat, const uint32_t* moves, int count, float* values
    ) noexcept nogil
    cdef void evaluate(
        self, void* state, Random* random, float* win_shares, float* scores
    ) noexcept nogil
    cdef void luck(
        self, const void* before, const void* after, float* win_shares
    ) noexcept nogil

    # For Python callers.
    cdef State new_state(self)
    cdef State copy_state(self, State state)
    cdef const void* read(self, State state) except NULL
    cdef int check_seat(self, int seat) except -1
    cdef int resolve(self, State state, uint64_t seed) except -1


cdef inline double weighed(double probability, double likelihood, double mean) noexcept nogil:
    """How likely a full state is by what others chose, too; `mean` is that of the likelihoods.

    A tenth leaves their choices aside, so that a bluff cannot blind the search.
    """
    return probability * (0.1 + 0.9 * likelihood / mean)


cdef void share_highest(const float* scores, int seats, float* win_shares) noexcept nogil
cdef uint64_t hash_bytes(const void* data, size_t size, uint64_t seed) noexcept nogil
