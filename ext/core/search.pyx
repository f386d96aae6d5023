"""Information-set Monte Carlo tree search for one seat, on one thread.

Every simulation draws a determinization of the seat's observation, walks the
tree along moves that are legal in it, adds one edge, evaluates the state
behind it, and credits every edge passed with the win share of the seat that
moved there. The tree is one over the information sets of the searching seat
(SO-ISMCTS): it branches where that seat sees a difference, on visible moves
and on the codes of observed chance events. Selection is UCB with the number of
times an edge was available in place of its node's visits. Every seat maximises
its own share (max^n). Where several seats act at once, none sees the others'
choices, so each seat selects on its own statistics: by UCB (decoupled UCT) or,
where the game's tuning says so, by regret matching+, with the mean of each edge
as its baseline and the average of the strategies, later ones weighing more, as
the answer.

Where a game of two seats that see everything tells the few outcomes of its chance events, and
values states without luck, nothing need be sampled: its tuning can have the tree grow best
first, all outcomes and moves behind an edge at once, and an edge be worth the mean over the
outcomes of the best move's value (expectimax). UCB says where to look; a simulation credits
the root move with what it is worth by then.

What a game knows about good play enters by its priors, which set the order in
which a node tries its moves and how many (progressive widening), by its
evaluation, and by its tuning. Without knowledge all moves are tried once before
any is tried twice, and states are valued by uniformly random playouts.

Sources: P. Cowling, E. Powley, D. Whitehouse, "Information Set Monte Carlo Tree
Search", IEEE TCIAIG 4 (2012); C. Luckhardt, K. Irani, "An algorithmic solution
of n-person games", AAAI (1986); D. Perick et al., "Comparison of different
selection strategies in MCTS for the game of Tron", IEEE CIG (2012); G. Chaslot
et al., "Progressive strategies for Monte-Carlo tree search", New Mathematics and
Natural Computation 4 (2008), for progressive widening and priors;
H. Flyvbjerg, H. Petersen, "Error estimates on averages of correlated data",
J. Chem. Phys. 91 (1989), for standard errors;
V. Lisý et al., "Convergence of Monte Carlo tree search in simultaneous move
games", NIPS (2013), and M. Schmid et al., "Variance reduction in Monte Carlo
counterfactual regret minimization", AAAI (2019), for regret matching.

Limits: opponents are modelled as if they knew what the searching seat knows
(strategy fusion); determinizations are those of the game; strategies are mixed
for secret choices only, not to hide what a hand holds.
"""

from libc.math cimport log, sqrt, sqrtf
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from aleator.ext.core.arena cimport (
    Arena,
    Edge,
    MixedEdge,
    Node,
    close_arena,
    drop_tree,
    new_edge,
    new_node,
    node_at,
    open_arena,
)
from aleator.ext.core.bits cimport lowest_bit
from aleator.ext.core.check cimport check
from aleator.ext.core.clock cimport flag_t, get_flag, monotonic_ns, set_flag
from aleator.ext.core.game cimport (
    CHANCE,
    FINISHED,
    MAX_DEPTH,
    MAX_MOVES,
    MAX_SEATS,
    Game,
    State,
    Tuning,
)
from aleator.ext.core.random cimport Random, below, next64, seed_random


cdef enum:
    ROOT = 1  # the root is the first cell given out
    # Simulations between looks at the clock: doubled while they pass quickly.
    MAX_STRIDE = 64
    SHORT_STRIDE_NS = 50_000
    LONG_STRIDE_NS = 200_000
    # A search that is stopped, or late, at its start does so many all the same, unless they
    # take too long: a hurried answer is better than a random move.
    FIRST_SIMULATIONS = 64
    FIRST_NS = 4_000_000
    VARIATION_DRAWS = 8  # determinizations tried for a principal variation
    MIN_VARIATION_VISITS = 2
    LAST_STAMP = 0x7FFFFFF0
    BLOCK_SIZES = 32
    LEAST_BLOCKS = 16  # fewer say little of their variance
    # A full tree is pruned until a part of the arena is free again, but not more often than
    # one simulation for so many cells: where blocks of a wanted size run out again at once, it
    # only stops growing.
    FREE_PART = 4
    CELLS_A_PRUNING = 256
    PRUNED_A_LOOK = 1024  # nodes between looks at the clock

cdef float WORST = -1e30
# Regret matching chooses uniformly with probability 1/sqrt(visits of the node), but at least:
cdef float CURIOSITY = 0.02


# One edge passed in a simulation.
cdef struct Step:
    uint32_t edge  # its cell
    uint32_t node  # the cell of the node it belongs to
    uint32_t stamp  # of the visit of that node
    # With what probability regret matching chose it, and would have but for its curiosity;
    # 0 if it was not regret matching.
    float chance
    float strategy
    uint32_t event  # the cell of the chance event's edge passed next, where values are averaged
    bint mixed  # whether it is a mixed edge
    int seat  # who moved there


cdef extern from *:
    """
    #include <string.h>
    static inline unsigned aleator_float_bits(float x) {
        unsigned bits;
        memcpy(&bits, &x, sizeof bits);
        return bits;
    }
    """
    uint32_t float_bits "aleator_float_bits"(float x) noexcept nogil

cdef enum:
    LOG_STEPS = 256  # table entries for each doubling

# ROOT_LOG[i] = sqrt(ln n) for the counts n whose float starts with these bits:
# exact below 256, off by less than 0.4 % of n above. No logarithm in the loop.
cdef float[32 * LOG_STEPS + 1] ROOT_LOG

cdef void fill_root_log() noexcept:
    cdef double count
    cdef int i
    for i in range(32 * LOG_STEPS + 1):
        count = (1 + <double>(i % LOG_STEPS) / LOG_STEPS) * (<uint64_t>1 << (i // LOG_STEPS))
        ROOT_LOG[i] = <float>sqrt(log(count))

fill_root_log()


cdef inline float root_log(uint32_t count) noexcept nogil:
    """sqrt(ln count) for a count of at least 1."""
    return ROOT_LOG[(float_bits(<float>count) >> 15) - 127 * LOG_STEPS]


cdef class StopFlag:
    """A flag that ends the searches that were given it; set from any thread."""

    cdef flag_t flag

    def __cinit__(self):
        set_flag(&self.flag, 0)

    def set(self):
        """Ask the searches to end after their current simulation."""
        set_flag(&self.flag, 1)

    def is_set(self):
        """Whether `set` was called."""
        return get_flag(&self.flag) != 0


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


cdef void add_to_blocks(RootSums* sums, uint32_t number, float share) noexcept nogil:
    """Add the share of the `number`th simulation, from 1, to the blocks that it completes."""
    cdef Blocks* blocks = sums.blocks
    while True:
        blocks.total += share
        blocks.squares += <double>share * share
        if number & 1:
            blocks.pending = share
            break
        number >>= 1
        share = (share + blocks.pending) / 2
        blocks += 1


cdef double squared_error(const RootSums* sums, uint32_t visits) noexcept nogil:
    """The squared standard error of the mean of so many simulations, by the worst block size.

    Simulations of one move resemble those just before, and the tree learns: so their mean is
    less sure than as many independent ones would make it, which long blocks show.
    """
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


cdef class Search:
    """A search tree for one seat, grown by one thread at a time.

    Parameters
    ----------
    game : Game
    observation : State
        What the seat knows; `Game.observe_state` gives it. Nothing else of the
        position is ever seen here.
    seat : int
        A seat that is to act.
    seed, stream : int
        The random stream: equal seeds and streams give equal searches; threads
        of one search share the seed and differ in the stream.
    knowledge : bool
        Whether to use the game's priors, evaluation and tuning.
    tuning : mapping
        Values of `Tuning` that differ from the game's, or from the defaults without
        knowledge.
    memory : int
        Cap of the tree in bytes; a tree that reaches it loses the parts that were
        visited least.
    moves : sequence of int
        The root moves to choose among: legal ones, all different.

    Raises
    ------
    ValueError
        If the seat is not to act, there are no moves, the memory is less than a
        kilobyte a move, or there is no such tuning.
    MemoryError
        If the system refuses the memory.
    """

    cdef readonly Game game
    cdef readonly int seat
    cdef readonly uint64_t simulations
    cdef readonly int depth
    cdef readonly bint memory_full  # the cap was reached
    cdef bint cramped  # and the last simulation could not add what was due
    cdef uint64_t next_pruning  # in simulations
    cdef uint32_t looked_at  # nodes in this pruning
    cdef State root
    cdef State work
    cdef State before  # a pending chance event
    cdef State after
    cdef Arena arena
    cdef Random random
    cdef Tuning tuning
    cdef bint knowledge
    cdef uint64_t seed
    cdef uint64_t stream
    cdef uint32_t* marks  # by move: the stamp of the visit in which it was legal
    cdef uint32_t stamp
    cdef uint32_t[MAX_MOVES] root_moves
    cdef float[MAX_MOVES] root_priors
    cdef bint root_has_priors
    cdef readonly bint mixed  # whether the answer is a mixed strategy
    cdef int root_count
    cdef RootSums* sums  # by index of the root's edges
    cdef Step[MAX_DEPTH] path

    def __cinit__(
        self,
        Game game not None,
        State observation not None,
        int seat,
        moves,
        *,
        uint64_t seed,
        uint64_t stream,
        bint knowledge,
        tuning,
        size_t memory,
    ):
        self.game = game
        self.seat = seat
        self.knowledge = knowledge
        self.seed = seed
        self.stream = stream
        if memory < 1024 * <size_t>len(moves):
            raise ValueError("memory must be at least a kilobyte for each move")
        self.root = game.observe_state(observation, seat)
        self.work = game.copy_state(observation)
        self.before = game.copy_state(observation)
        self.after = game.copy_state(observation)
        self.marks = <uint32_t*>calloc(game.move_space, sizeof(uint32_t))
        self.sums = <RootSums*>calloc(len(moves), sizeof(RootSums))
        if self.marks == NULL or self.sums == NULL:
            raise MemoryError
        self.list_root_moves(moves)
        self.set_tuning(tuning)
        open_arena(&self.arena, memory)
        new_node(&self.arena)
        seed_random(&self.random, seed, stream)
        self.rate_root_moves()

    cdef int list_root_moves(self, moves) except -1:
        """Keep the given moves, in the order the game lists them, whatever the caller's."""
        cdef uint32_t[MAX_MOVES] legal
        cdef int actors = self.game.actors(self.root.data)
        cdef int count = 0
        cdef int i
        cdef uint32_t stamp, move
        if actors > 0 and actors >> self.seat & 1:
            count = self.game.legal(self.root.data, self.seat, legal)
        stamp = self.mark(legal, count)
        for move in moves:
            if move >= <uint32_t>self.game.move_space or self.marks[move] != stamp:
                raise ValueError("moves must be some of the legal moves, each once")
            self.marks[move] = stamp + 1
        for i in range(count):
            if self.marks[legal[i]] == stamp + 1:
                self.root_moves[self.root_count] = legal[i]
                self.root_count += 1
        if self.root_count == 0:
            raise ValueError("moves must be some of the legal moves, each once")
        return 0

    cdef int set_tuning(self, tuning) except -1:
        values = dict((self.game if self.knowledge else Game()).tuning_values())
        unknown = set(tuning) - set(values)
        if unknown:
            raise ValueError(f"no such tuning: {sorted(unknown)}")
        values.update(tuning)
        if not 1 <= values["depth"] <= MAX_DEPTH:
            raise ValueError(f"depth must be 1..{MAX_DEPTH}")
        self.tuning = values
        if self.tuning.averaged and not (
            self.knowledge and self.game.seats == 2 and self.game.outcomes
        ):
            raise ValueError(
                "averaged needs a game of two seats that tells its outcomes, and knowledge"
            )
        return 0

    cdef void rate_root_moves(self) noexcept nogil:
        """Take the priors of the root's moves once: they do not depend on what is hidden."""
        memcpy(self.work.data, self.root.data, self.game.state_size)
        self.game.determinize(self.work.data, self.seat, &self.random)
        self.mixed = self.mixes(self.work.data, self.seat, self.root_moves[0])
        if self.knowledge:
            self.root_has_priors = self.game.root_priors(
                self.work.data, self.seat, self.root_moves, self.root_count, self.root_priors
            )

    def __dealloc__(self):
        close_arena(&self.arena)
        free(self.marks)
        free(self.sums)

    def run(self, uint64_t simulations, int64_t deadline, StopFlag stop not None):
        """Add simulations until so many were added, the deadline, or the flag.

        The first few of a search are made whatever the deadline and the flag say, as
        long as they take less than four milliseconds.

        Parameters
        ----------
        simulations : int
            How many to add at most.
        deadline : int
            In nanoseconds of `time.monotonic_ns`.
        stop : StopFlag

        Returns
        -------
        int
            How many were added.
        """
        cdef uint64_t before = self.simulations
        with nogil:
            self.loop(simulations, deadline, &stop.flag)
        return self.simulations - before

    cdef void loop(self, uint64_t simulations, int64_t deadline, flag_t* stop) noexcept nogil:
        cdef uint64_t end = self.simulations + simulations
        cdef int64_t last = monotonic_ns()
        cdef int64_t now
        cdef int64_t first_end = last + FIRST_NS
        cdef int stride = 1
        cdef int left = 1
        while self.simulations < min(end, <uint64_t>FIRST_SIMULATIONS):
            self.advance()
            last = monotonic_ns()
            if last >= first_end:
                break
        if last >= deadline:
            return
        while self.simulations < end and not get_flag(stop):
            self.advance()
            left -= 1
            if self.cramped and self.simulations >= self.next_pruning:
                self.prune(deadline, stop)
                left = 0
            if left <= 0:
                now = monotonic_ns()
                if now >= deadline:
                    return
                if now - last < SHORT_STRIDE_NS and stride < MAX_STRIDE:
                    stride *= 2
                elif now - last > LONG_STRIDE_NS and stride > 1:
                    stride //= 2
                last = now
                left = stride

    cdef void prune(self, int64_t deadline, flag_t* stop) noexcept nogil:
        """Drop the least visited parts of the tree, until enough is free or time is up."""
        cdef uint32_t least = 2
        self.memory_full = True
        self.cramped = False
        self.next_pruning = self.simulations + self.arena.capacity // CELLS_A_PRUNING
        while self.arena.freed < self.arena.capacity // FREE_PART and least < <uint32_t>1 << 30:
            least *= 4
            self.looked_at = 0
            if not self.prune_behind(ROOT, least, False, deadline, stop):
                return

    cdef bint prune_behind(
        self, uint32_t node, uint32_t least, bint whole, int64_t deadline, flag_t* stop
    ) noexcept nogil:
        """Drop what is behind edges of fewer visits; False if time was up before the end.

        A `whole` node keeps what is right behind its edges: so do those of chance events that
        are averaged, where decisions and chance alternate.
        """
        cdef Node* owner = node_at(&self.arena, node)
        cdef Edge* edge
        cdef uint32_t i
        self.looked_at += 1
        if self.looked_at % PRUNED_A_LOOK == 0 and (
            get_flag(stop) or monotonic_ns() >= deadline
        ):
            return False
        for i in range(owner.count):
            edge = self.arena.cells + owner.edges + i
            if edge.child == 0:
                continue
            if edge.visits < least and not whole:
                drop_tree(&self.arena, edge.child)
                edge.child = 0
            elif not self.prune_behind(
                edge.child, least, self.tuning.averaged and not whole, deadline, stop
            ):
                return False
        if owner.unseen == 0:
            return True
        if node_at(&self.arena, owner.unseen).visits < least:
            drop_tree(&self.arena, owner.unseen)
            owner.unseen = 0
            return True
        return self.prune_behind(owner.unseen, least, False, deadline, stop)

    cdef bint mixes(self, const void* state, int seat, uint32_t move) noexcept nogil:
        """Whether a seat that has this move chooses in secret and is to mix its moves."""
        return self.tuning.mixed and not self.game.visible(state, seat, move, seat)

    cdef void advance(self) noexcept nogil:
        """Add a simulation."""
        if self.tuning.averaged:
            self.look_ahead()
        else:
            self.simulate()

    cdef void look_ahead(self) noexcept nogil:
        """Follow the best moves to the edge of the tree, unfold it there, and average.

        While values are averaged, an edge's `prior` is what it is worth to the searching
        seat, a chance event's edge too.
        """
        cdef void* state = self.work.data
        cdef float[MAX_SEATS] shares
        cdef float[MAX_SEATS] scores
        cdef uint32_t node = ROOT
        cdef int depth = 0
        cdef Step* step
        cdef Edge* edge
        cdef Edge* event
        memcpy(state, self.root.data, self.game.state_size)
        self.game.determinize(state, self.seat, &self.random)
        while True:
            step = &self.path[depth]
            step.node = node
            step.seat = lowest_bit(self.game.actors(state))
            step.mixed = False
            edge = self.most_promising(node, step.seat)
            if edge == NULL:
                self.cramped = True
                return
            step.edge = <uint32_t>(edge - self.arena.cells)
            depth += 1
            self.game.apply(state, step.seat, edge.move)
            if edge.visits == 0:
                edge.prior = self.worth(state)
                break
            if self.game.actors(state) == FINISHED or depth == self.tuning.depth:
                break
            if edge.child == 0:
                self.unfold(edge, state)
                break
            event = self.least_seen(edge.child)
            event.visits += 1
            step.event = <uint32_t>(event - self.arena.cells)
            self.game.occur(
                state, event - (self.arena.cells + node_at(&self.arena, edge.child).edges)
            )
            node = event.child
        self.game.points(state, scores)
        self.average(depth)
        shares[self.seat] = (self.arena.cells + self.path[0].edge).prior
        shares[1 - self.seat] = 1 - shares[self.seat]
        self.credit_root(shares, scores)
        self.depth = max(self.depth, depth)
        self.simulations += 1

    cdef float worth(self, void* state) noexcept nogil:
        """What a state after a move is worth to the searching seat; it is used up."""
        cdef float[MAX_SEATS] shares
        cdef float[MAX_SEATS] scores
        if self.game.actors(state) == FINISHED:
            self.game.returns(state, shares)
        else:
            self.game.evaluate(state, &self.random, shares, scores)
        return shares[self.seat]

    cdef Edge* most_promising(self, uint32_t node, int seat) noexcept nogil:
        """The edge with the highest upper bound, or a new one of the root; NULL for no memory."""
        cdef Node* owner = node_at(&self.arena, node)
        cdef Edge* edge
        cdef Edge* end
        cdef Edge* best = NULL
        cdef float bonus, score
        cdef float best_score = WORST
        owner.visits += 1
        if node == ROOT and owner.count < <uint32_t>self.root_count:
            return new_edge(&self.arena, ROOT, self.root_moves[owner.count])
        edge = self.arena.cells + owner.edges
        end = edge + owner.count
        bonus = self.tuning.exploration * root_log(owner.visits)
        while edge < end:
            score = (edge.prior if seat == self.seat else 1 - edge.prior) + (
                bonus * edge.inverse_root
            )
            if score > best_score:
                best_score = score
                best = edge
            edge += 1
        return best

    cdef Edge* least_seen(self, uint32_t node) noexcept nogil:
        """One of the events of a chance node that were followed least, at random."""
        cdef Edge* first = self.arena.cells + node_at(&self.arena, node).edges
        cdef Edge* edge
        cdef Edge* least = NULL
        cdef int count = node_at(&self.arena, node).count
        cdef int begin = below(&self.random, count)
        cdef int i
        for i in range(count):
            edge = first + (begin + i) % count
            if least == NULL or edge.visits < least.visits:
                least = edge
        return least

    cdef void unfold(self, Edge* edge, const void* state) noexcept nogil:
        """Add what can follow an edge: every outcome of chance, and every move then.

        If the memory does not suffice, the edge stays as it is.
        """
        cdef uint32_t node = new_node(&self.arena)
        if node == 0:
            self.cramped = True
        elif self.unfold_outcomes(node, state, &edge.prior):
            edge.child = node
        else:
            self.cramped = True
            drop_tree(&self.arena, node)

    cdef bint unfold_outcomes(
        self, uint32_t node, const void* state, float* worth
    ) noexcept nogil:
        """Add every outcome and move behind a node; False if the memory does not suffice."""
        cdef uint32_t[MAX_MOVES] moves
        cdef uint32_t decision
        cdef Edge* event
        cdef Edge* added
        cdef float total = 0
        cdef float best
        cdef int outcomes = self.game.outcomes
        cdef int outcome, count, seat, i
        for outcome in range(outcomes):
            memcpy(self.before.data, state, self.game.state_size)
            event = new_edge(
                &self.arena,
                node,
                self.game.observed(
                    self.before.data, self.game.occur(self.before.data, outcome), self.seat
                ),
            )
            decision = 0 if event == NULL else new_node(&self.arena)
            if decision == 0:
                return False
            event.child = decision
            seat = lowest_bit(self.game.actors(self.before.data))
            count = self.game.legal(self.before.data, seat, moves)
            check(0 < count <= MAX_MOVES)
            best = WORST
            for i in range(count):
                added = new_edge(&self.arena, decision, moves[i])
                if added == NULL:
                    return False
                memcpy(self.after.data, self.before.data, self.game.state_size)
                self.game.apply(self.after.data, seat, moves[i])
                added.prior = self.worth(self.after.data)
                added.visits = 1
                added.inverse_root = 1
                best = max(best, added.prior if seat == self.seat else 1 - added.prior)
            event.prior = best if seat == self.seat else 1 - best
            total += event.prior
            node_at(&self.arena, decision).visits = count
        worth[0] = total / outcomes
        return True

    cdef void average(self, int depth) noexcept nogil:
        """Bring the values of the edges passed up to date, from the last to the first."""
        cdef Edge* edge
        cdef Edge* event
        cdef Edge* end
        cdef float total
        cdef int i
        for i in range(depth - 1, -1, -1):
            edge = self.arena.cells + self.path[i].edge
            if i < depth - 1:
                event = self.arena.cells + self.path[i].event
                event.prior = self.best_worth(event.child, self.path[i + 1].seat)
                event = self.arena.cells + node_at(&self.arena, edge.child).edges
                end = event + node_at(&self.arena, edge.child).count
                total = 0
                while event < end:
                    total += event.prior
                    event += 1
                edge.prior = total / node_at(&self.arena, edge.child).count
            edge.visits += 1
            edge.inverse_root = 1 / sqrtf(<float>edge.visits)

    cdef float best_worth(self, uint32_t node, int seat) noexcept nogil:
        """What a decision of a seat is worth to the searching seat."""
        cdef Edge* edge = self.arena.cells + node_at(&self.arena, node).edges
        cdef Edge* end = edge + node_at(&self.arena, node).count
        cdef float best = edge.prior
        while edge < end:
            best = max(best, edge.prior) if seat == self.seat else min(best, edge.prior)
            edge += 1
        return best

    cdef void simulate(self) noexcept nogil:
        cdef void* state = self.work.data
        cdef float[MAX_SEATS] shares
        cdef float[MAX_SEATS] scores
        cdef uint32_t node = ROOT
        cdef uint32_t move
        cdef uint32_t* link
        cdef uint64_t event
        cdef int depth = 0
        cdef int actors, seat
        cdef float[MAX_SEATS] luck  # of the chance events passed
        cdef bint foreseen = self.tuning.foreseen
        cdef bint added = False
        cdef Edge* edge = self.select(&self.path[0], ROOT, NULL, self.seat, &added)
        if self.tuning.paired and edge != NULL:
            seed_random(&self.random, self.seed ^ self.stream, ~<uint64_t>edge.visits)
        memcpy(state, self.root.data, self.game.state_size)
        self.game.determinize(state, self.seat, &self.random)
        if foreseen:
            memset(luck, 0, sizeof(luck))
        while True:
            actors = self.game.actors(state)
            if actors == FINISHED:
                self.game.returns(state, shares)
                self.game.points(state, scores)
                break
            if actors == CHANCE:
                if foreseen:
                    if added:
                        self.evaluate(state, shares, scores)
                        break
                    memcpy(self.before.data, state, self.game.state_size)
                event = self.game.chance(state, &self.random)
                if foreseen:
                    self.game.luck(self.before.data, state, shares)
                    for seat in range(self.game.seats):
                        luck[seat] += shares[seat]
                node = self.follow_event(node, self.game.observed(state, event, self.seat))
                continue
            # The own seat first: so the root's edges are its moves.
            seat = self.seat if actors >> self.seat & 1 else lowest_bit(actors)
            if depth:
                if added or node == 0 or depth == self.tuning.depth:
                    self.evaluate(state, shares, scores)
                    break
                edge = self.select(&self.path[depth], node, state, seat, &added)
            if edge == NULL:
                self.cramped = True
                self.evaluate(state, shares, scores)
                break
            depth += 1
            move = edge.move
            if self.game.visible(state, seat, move, self.seat):
                link = &edge.child
            else:
                link = &node_at(&self.arena, node).unseen
            # A node is made when its edge is passed again: most never are.
            if link[0] == 0 and not added:
                link[0] = new_node(&self.arena)
                self.cramped = self.cramped or link[0] == 0
            node = link[0]
            self.game.apply(state, seat, move)
        if foreseen:
            for seat in range(self.game.seats):
                shares[seat] -= luck[seat]
        self.back_up(depth, shares, scores)

    cdef void evaluate(self, void* state, float* shares, float* scores) noexcept nogil:
        if self.knowledge:
            self.game.evaluate(state, &self.random, shares, scores)
        else:
            Game.evaluate(self.game, state, &self.random, shares, scores)

    cdef uint32_t follow_event(self, uint32_t node, uint32_t code) noexcept nogil:
        """The node after a chance event of which `code` was seen; 0 beyond the tree."""
        cdef Edge* edge
        if node == 0 or code == 0:
            return node
        edge = self.find_event(node, code)
        if edge == NULL:
            edge = new_edge(&self.arena, node, code)
            if edge == NULL:
                self.cramped = True
                return 0
        edge.visits += 1
        if edge.child == 0:
            edge.child = new_node(&self.arena)
            self.cramped = self.cramped or edge.child == 0
        return edge.child

    cdef Edge* find_event(self, uint32_t node, uint32_t code) noexcept nogil:
        """The edge of an observed chance event, or NULL."""
        cdef Edge* edge = self.arena.cells + node_at(&self.arena, node).edges
        cdef Edge* end = edge + node_at(&self.arena, node).count
        while edge < end:
            if edge.move == code:
                return edge
            edge += 1
        return NULL

    cdef uint32_t mark(self, const uint32_t* moves, int count) noexcept nogil:
        """Mark the given moves, and no others, with the stamp that is returned."""
        cdef int i
        if self.stamp >= LAST_STAMP:
            memset(self.marks, 0, self.game.move_space * sizeof(uint32_t))
            self.stamp = 0
        self.stamp += 2
        for i in range(count):
            check(moves[i] < <uint32_t>self.game.move_space)
            self.marks[moves[i]] = self.stamp
        return self.stamp

    cdef Edge* select(
        self, Step* step, uint32_t node, const void* state, int seat, bint* added
    ) noexcept nogil:
        """Choose an edge among the legal moves: an untried one, or one that was tried.

        The root needs no state. NULL if a new edge was due and the arena is full.
        """
        cdef uint32_t[MAX_MOVES] listed
        cdef uint32_t* moves = listed
        cdef int count
        cdef int tried
        cdef bint mixed
        cdef Edge* edge = NULL
        cdef uint32_t visits = node_at(&self.arena, node).visits
        node_at(&self.arena, node).visits = visits + 1
        if node == ROOT:
            moves = self.root_moves
            count = self.root_count
            mixed = self.mixed
        else:
            count = self.game.legal(state, seat, moves)
            check(0 < count <= MAX_MOVES)
            mixed = self.mixes(state, seat, moves[0])
        step.stamp = self.mark(moves, count)
        step.node = node
        step.seat = seat
        step.mixed = mixed
        step.chance = 0
        tried = self.mark_tried(node, step.stamp, mixed)
        if tried < count and tried < (
            self.tuning.widening_base + self.tuning.widening_factor * sqrtf(<float>visits)
        ):
            edge = self.try_move(node, state, seat, moves, count, count - tried, mixed)
            added[0] = edge != NULL
        if edge == NULL and tried:
            if mixed:
                edge = <Edge*>self.match_regret(step, tried)
            else:
                edge = self.highest_bound(node)
        if edge != NULL:
            step.edge = <uint32_t>(edge - self.arena.cells)
        return edge

    cdef int mark_tried(self, uint32_t node, uint32_t stamp, bint mixed) noexcept nogil:
        """Mark with `stamp + 1` the moves with `stamp` that were tried; how many these are."""
        cdef uint32_t* marks = self.marks
        cdef Edge* edge = self.arena.cells + node_at(&self.arena, node).edges
        cdef Edge* end = edge + node_at(&self.arena, node).count
        cdef int tried = 0
        while edge < end:
            if marks[edge.move] == stamp:
                marks[edge.move] = stamp + 1
                tried += 1
                if mixed:
                    (<MixedEdge*>edge).stamp = stamp
                else:
                    edge.availability += 1
            edge += 1
        return tried

    cdef Edge* highest_bound(self, uint32_t node) noexcept nogil:
        """The edge with the highest upper bound, among those that `mark_tried` marked."""
        cdef uint32_t* marks = self.marks
        cdef uint32_t stamp = self.stamp + 1
        cdef Edge* first = self.arena.cells + node_at(&self.arena, node).edges
        cdef Edge* end = first + node_at(&self.arena, node).count
        cdef Edge* edge = first
        cdef Edge* best = NULL
        cdef float score
        cdef float best_score = WORST
        cdef float best_prior = WORST
        cdef float exploration = self.tuning.exploration
        cdef float prior_visits = self.tuning.prior_visits
        if prior_visits > 0:
            while edge < end:
                if marks[edge.move] == stamp and edge.prior > best_prior:
                    best_prior = edge.prior
                edge += 1
            edge = first
        while edge < end:
            if marks[edge.move] == stamp:
                score = (
                    <float>edge.total * edge.inverse_root * edge.inverse_root
                    + exploration * root_log(edge.availability) * edge.inverse_root
                )
                if prior_visits > 0:
                    score += (
                        prior_visits / (prior_visits + edge.visits) * (edge.prior - best_prior)
                    )
                if score > best_score:
                    best_score = score
                    best = edge
            edge += 1
        return best

    cdef MixedEdge* match_regret(self, Step* step, int tried) noexcept nogil:
        """Draw an edge in proportion to regret, among those that `mark_tried` marked."""
        cdef uint32_t visits = node_at(&self.arena, step.node).visits
        cdef MixedEdge* first = (
            <MixedEdge*>self.arena.cells + node_at(&self.arena, step.node).edges
        )
        cdef MixedEdge* end = first + node_at(&self.arena, step.node).count
        cdef MixedEdge* edge = first
        cdef MixedEdge* drawn = NULL
        cdef float total = 0
        cdef float share, left
        cdef float uniform = (<float>1.0) / tried
        cdef float curiosity = max(CURIOSITY, 1 / sqrtf(<float>visits))
        while edge < end:
            if edge.stamp == step.stamp:
                total += edge.regret
            edge += 1
        left = <float>((next64(&self.random) >> 40) * (1.0 / (1 << 24)))
        edge = first
        while edge < end:
            if edge.stamp == step.stamp:
                share = edge.regret / total if total > 0 else uniform
                edge.strategy += <double>visits * share
                if left >= 0:  # else drawn before
                    drawn = edge
                    step.strategy = share
                    step.chance = (1 - curiosity) * share + curiosity * uniform
                    left -= step.chance
            edge += 1
        return drawn

    cdef Edge* try_move(
        self,
        uint32_t node,
        const void* state,
        int seat,
        const uint32_t* moves,
        int count,
        int untried,
        bint mixed,
    ) noexcept nogil:
        """Add an edge for the untried legal move that looks best.

        One at random if the game has no opinion. NULL if the arena is full.
        """
        cdef float[MAX_MOVES] values
        cdef float* priors = values
        cdef bint known = False
        cdef uint32_t stamp = self.stamp
        cdef int best = -1
        cdef int i, rank
        cdef Edge* edge
        if node == ROOT:
            priors = self.root_priors
            known = self.root_has_priors
        elif self.knowledge:
            known = self.game.priors(state, seat, moves, count, priors)
        rank = 0 if known else below(&self.random, untried)
        for i in range(count):
            if self.marks[moves[i]] == stamp:
                if known:
                    if best < 0 or priors[i] > priors[best]:
                        best = i
                elif rank == 0:
                    best = i
                    break
                else:
                    rank -= 1
        edge = new_edge(&self.arena, node, moves[best])
        if edge != NULL and mixed:
            (<MixedEdge*>edge).stamp = stamp
        elif edge != NULL:
            edge.availability = 1
            edge.prior = priors[best] if known else 0
        return edge

    cdef void back_up(self, int depth, const float* shares, const float* scores) noexcept nogil:
        cdef Edge* edge
        cdef MixedEdge* mixed
        cdef Step* step
        cdef float share
        cdef int i
        for i in range(depth):
            step = &self.path[i]
            share = shares[step.seat]
            if step.mixed:
                if step.chance > 0:
                    self.regret(step, share)
                mixed = <MixedEdge*>(self.arena.cells + step.edge)
                mixed.visits += 1
                mixed.mean += (share - mixed.mean) / mixed.visits
            else:
                edge = self.arena.cells + step.edge
                edge.visits += 1
                edge.total += share
                edge.inverse_root = 1 / sqrtf(<float>edge.visits)
        if depth:
            self.credit_root(shares, scores)
        self.depth = max(self.depth, depth)
        self.simulations += 1

    cdef void credit_root(self, const float* shares, const float* scores) noexcept nogil:
        """Add to the sums of the root move that was followed."""
        cdef RootSums* sums = self.sums + (self.path[0].edge - node_at(&self.arena, ROOT).edges)
        cdef int seat
        for seat in range(self.game.seats):
            sums.shares[seat] += shares[seat]
            sums.scores[seat] += scores[seat]
        # Edges and mixed edges have their visits in the same place.
        add_to_blocks(sums, (self.arena.cells + self.path[0].edge).visits, shares[self.seat])

    cdef void regret(self, Step* step, float share) noexcept nogil:
        """Add to each edge's regret what it would have brought beyond the strategy's value.

        That is its mean, corrected for the drawn edge by what was seen now, so that the
        expectation is that of the simulations while the variance is small.
        """
        cdef MixedEdge* first = (
            <MixedEdge*>self.arena.cells + node_at(&self.arena, step.node).edges
        )
        cdef MixedEdge* end = first + node_at(&self.arena, step.node).count
        cdef MixedEdge* drawn = <MixedEdge*>(self.arena.cells + step.edge)
        cdef MixedEdge* edge = first
        cdef float correction = (share - drawn.mean) / step.chance
        cdef float value = 0
        cdef float total = 0
        cdef float means = 0
        cdef int count = 0
        while edge < end:
            if edge.stamp == step.stamp:
                total += edge.regret
                value += edge.regret * edge.mean
                means += edge.mean
                count += 1
            edge += 1
        value = value / total if total > 0 else means / count
        value += step.strategy * correction
        edge = first
        while edge < end:
            if edge.stamp == step.stamp:
                edge.regret = max(
                    <float>0, edge.regret + edge.mean - value + (correction if edge == drawn else 0)
                )
            edge += 1

    @property
    def nodes(self):
        """Nodes in the tree."""
        return self.arena.nodes

    @property
    def memory(self):
        """Bytes of the tree in use."""
        return <size_t>(self.arena.used - self.arena.freed) * sizeof(Edge)

    def root_statistics(self):
        """What the simulations say of each root move tried so far; see `merge_roots`."""
        return [row[:7] for row in merge_roots([self])]

    def principal_variation(self, uint32_t move, int length):
        """The line the tree expects after a root move, legal in one possible world.

        The most visited moves are followed in a few determinizations; the line
        with the highest visit counts, compared move by move, is the answer. So
        every move of it could be played as it stands.

        Parameters
        ----------
        move : int
            A root move that was tried.
        length : int
            1..256, the most moves to list.

        Returns
        -------
        list of tuple
            (seat, move), the root move first.
        """
        best = []
        cdef Random random
        cdef int draw
        if not 1 <= length <= MAX_DEPTH:
            raise ValueError(f"length must be 1..{MAX_DEPTH}")
        for draw in range(VARIATION_DRAWS):
            seed_random(&random, self.seed, ~<uint64_t>draw)
            line = self.line(move, length, &random)
            if [visits for visits, _, _ in line] > [visits for visits, _, _ in best]:
                best = line
        return [(seat, move) for _, seat, move in best]

    cdef list line(self, uint32_t move, int length, Random* random):
        """(visits, seat, move) along the most visited edges in one determinization."""
        cdef State state = self.game.copy_state(self.root)
        cdef uint32_t[MAX_MOVES] moves
        cdef uint32_t node = ROOT
        cdef uint32_t code
        cdef int actors, seat, count
        cdef Edge* edge
        cdef list line = []
        moves[0] = move
        count = 1
        self.game.determinize(state.data, self.seat, random)
        while node and len(line) < length:
            actors = self.game.actors(state.data)
            if actors == FINISHED:
                break
            if actors == CHANCE:
                code = self.game.observed(
                    state.data, self.game.chance(state.data, random), self.seat
                )
                if code:
                    edge = self.find_event(node, code)
                    node = 0 if edge == NULL else edge.child
                continue
            seat = self.seat if actors >> self.seat & 1 else lowest_bit(actors)
            if line:
                count = self.game.legal(state.data, seat, moves)
            edge = self.most_visited(node, moves, count)
            if edge == NULL or (line and edge.visits < MIN_VARIATION_VISITS):
                break
            line.append((edge.visits, seat, edge.move))
            if self.game.visible(state.data, seat, edge.move, self.seat):
                node = edge.child
            else:
                node = node_at(&self.arena, node).unseen
            self.game.apply(state.data, seat, edge.move)
        return line

    cdef Edge* most_visited(self, uint32_t node, const uint32_t* moves, int count) noexcept nogil:
        """The edge with most visits among those of the given moves, or NULL."""
        cdef Edge* best = NULL
        cdef Edge* edge = self.arena.cells + node_at(&self.arena, node).edges
        cdef Edge* end = edge + node_at(&self.arena, node).count
        cdef uint32_t stamp = self.mark(moves, count)
        while edge < end:
            if self.marks[edge.move] == stamp and (best == NULL or edge.visits > best.visits):
                best = edge
            edge += 1
        return best


# What the simulations of several searches say of one root move.
cdef struct MergedRow:
    double[MAX_SEATS] shares
    double[MAX_SEATS] scores
    double squares
    double spread
    uint64_t visits
    double strategy
    uint32_t most  # visits in one of the searches
    int search  # which one that is


def merge_roots(list searches not None):
    """Add up what several searches from the same root say of each move tried in any.

    Parameters
    ----------
    searches : list of Search
        At least one; of equal game, seat and moves.

    Returns
    -------
    list of tuple
        (move, visits, shares, scores, squares, spread, strategy, search, doubt), the shares
        and scores summed over the simulations, by seat; the squares are those of the
        searching seat's shares, and the spread is the variance of the sum of these,
        0 of a single simulation; the strategy is the weight of the move in a mixed
        strategy, 0 if the searches are not `mixed`; the search is the index of the one
        that visited the move most; the doubt is what its look still takes off its mean,
        by `prior_visits`.
    """
    cdef Search first = searches[0]
    cdef Search search
    cdef MergedRow* rows = <MergedRow*>calloc(first.root_count, sizeof(MergedRow))
    cdef uint32_t* places = <uint32_t*>calloc(first.game.move_space, sizeof(uint32_t))
    cdef MergedRow* row
    cdef Edge* edge
    cdef int seats = first.game.seats
    cdef int index, place, seat
    cdef float best_prior = WORST
    cdef float prior_visits = first.tuning.prior_visits if first.root_has_priors else 0
    cdef uint32_t i
    try:
        if rows == NULL or places == NULL:
            raise MemoryError
        for place in range(first.root_count):
            places[first.root_moves[place]] = place
            best_prior = max(best_prior, first.root_priors[place])
        for index in range(len(searches)):
            search = searches[index]
            for i in range(node_at(&search.arena, ROOT).count):
                edge = search.arena.cells + node_at(&search.arena, ROOT).edges + i
                row = rows + places[edge.move]
                row.visits += edge.visits
                if search.mixed:
                    row.strategy += (<MixedEdge*>edge).strategy
                if edge.visits > row.most:
                    row.most = edge.visits
                    row.search = index
                for seat in range(seats):
                    row.shares[seat] += search.sums[i].shares[seat]
                    row.scores[seat] += search.sums[i].scores[seat]
                row.squares += search.sums[i].blocks[0].squares
                row.spread += (
                    <double>edge.visits * edge.visits * squared_error(search.sums + i, edge.visits)
                )
        return [
            (
                first.root_moves[place],
                rows[place].visits,
                [rows[place].shares[seat] for seat in range(seats)],
                [rows[place].scores[seat] for seat in range(seats)],
                rows[place].squares,
                rows[place].spread,
                rows[place].strategy,
                rows[place].search,
                prior_visits
                / (prior_visits + rows[place].visits)
                * (best_prior - first.root_priors[place])
                if prior_visits > 0
                else 0.0,
            )
            for place in range(first.root_count)
            if rows[place].visits
        ]
    finally:
        free(rows)
        free(places)
