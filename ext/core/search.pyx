"""What every tree search for one seat is made of, whatever its simulations do.

It draws on what the seat knows, has the memory of the tree and prunes it when it is full, adds
simulations until a limit, sums up what they say of the root's moves, and reads lines of play off
the tree. What a simulation does is for the kinds of search, `sampled.pyx` and `averaged.pyx`.

The tree is one over the information sets of the searching seat: it branches where that seat sees a
difference, on visible moves and on the codes of observed chance events.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from aleator.ext.core.arena cimport (
    Edge,
    MixedEdge,
    Node,
    close_arena,
    drop_tree,
    new_node,
    node_at,
    open_arena,
)
from aleator.ext.core.bits cimport lowest_bit
from aleator.ext.core.blocks cimport RootSums, add_to_blocks, squared_error
from aleator.ext.core.check cimport check
from aleator.ext.core.clock cimport flag_t, get_flag, monotonic_ns, set_flag
from aleator.ext.core.game cimport CHANCE, FINISHED, MAX_DEPTH, MAX_MOVES, MAX_SEATS, Game, State
from aleator.ext.core.random cimport Random, seed_random


cdef enum:
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
    # A full tree is pruned until a part of the arena is free again, but not more often than
    # one simulation for so many cells: where blocks of a wanted size run out again at once, it
    # only stops growing.
    FREE_PART = 4
    CELLS_A_PRUNING = 256
    PRUNED_A_LOOK = 1024  # nodes between looks at the clock


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


cdef class Search:
    """A search tree for one seat, grown by one thread at a time; one of its kinds.

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
        self.marks = <uint32_t*>calloc(game.move_space, sizeof(uint32_t))
        self.sums = <RootSums*>calloc(len(moves), sizeof(RootSums))
        if self.marks == NULL or self.sums == NULL:
            raise MemoryError
        self.list_root_moves(moves)
        self.set_tuning(tuning)
        open_arena(&self.arena, memory)
        self.trees = 1
        self.roots[0] = new_node(&self.arena)
        seed_random(&self.random, seed, stream)
        self.rate_root_moves()

    def __init__(self, *_, **__):
        if type(self) is Search:
            raise TypeError("this is what the kinds of search have in common: make one of them")

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
        return 0

    cdef void rate_root_moves(self) noexcept nogil:
        """Take the priors of the root's moves once: they do not depend on what is hidden."""
        memcpy(self.work.data, self.root.data, self.game.state_size)
        self.game.determinize(self.work.data, self.seat, &self.random)
        if self.knowledge:
            self.root_has_priors = self.game.root_priors(
                self.work.data, self.seat, self.root_moves, self.root_count, self.root_priors
            )

    cdef void take_over_root(self, uint32_t stamp) noexcept nogil:
        """Make a root of a node of another search that had come to a stamp.

        Stamps in the tree must not come again. In a sampled tree, edges of the root have the looks
        of `root_priors`.
        """
        cdef Node* root = node_at(&self.arena, ROOT)
        cdef uint32_t i
        cdef int place
        self.stamp = max(self.stamp, stamp)
        if self.alternating or not self.root_has_priors:
            return
        for i in range(root.count):
            for place in range(self.root_count):
                if self.root_moves[place] == self.arena.cells[root.edges + i].move:
                    self.arena.cells[root.edges + i].prior = self.root_priors[place]

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

    cdef void advance(self) noexcept nogil:
        """Add a simulation: for the kinds of search, this does nothing."""

    cdef void credit_root(
        self, uint32_t cell, const float* shares, const float* scores
    ) noexcept nogil:
        """Add to the sums of the root's edge that was followed."""
        cdef RootSums* sums = self.sums + (cell - node_at(&self.arena, ROOT).edges)
        cdef int seat
        for seat in range(self.game.seats):
            sums.shares[seat] += shares[seat]
            sums.scores[seat] += scores[seat]
        add_to_blocks(sums, shares[self.seat])

    cdef void prune(self, int64_t deadline, flag_t* stop) noexcept nogil:
        """Drop the least visited parts of the tree, until enough is free or time is up."""
        cdef uint32_t least = 2
        cdef int tree
        self.memory_full = True
        self.cramped = False
        self.next_pruning = self.simulations + self.arena.capacity // CELLS_A_PRUNING
        while self.arena.freed < self.arena.capacity // FREE_PART and least < <uint32_t>1 << 30:
            least *= 4
            self.looked_at = 0
            for tree in range(self.trees):
                if not self.prune_behind(self.roots[tree], least, False, deadline, stop):
                    return

    cdef bint prune_behind(
        self, uint32_t node, uint32_t least, bint whole, int64_t deadline, flag_t* stop
    ) noexcept nogil:
        """Drop what is behind edges of fewer visits; False if time was up before the end.

        A `whole` node keeps what is right behind its edges: so do the nodes of chance where
        decisions and chance alternate.
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
                edge.child, least, self.alternating and not whole, deadline, stop
            ):
                return False
        if owner.unseen == 0:
            return True
        if node_at(&self.arena, owner.unseen).visits < least:
            drop_tree(&self.arena, owner.unseen)
            owner.unseen = 0
            return True
        return self.prune_behind(owner.unseen, least, False, deadline, stop)

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

    cdef Edge* find_event(self, uint32_t node, uint32_t code) noexcept nogil:
        """The edge of an observed chance event, or NULL."""
        cdef Edge* edge = self.arena.cells + node_at(&self.arena, node).edges
        cdef Edge* end = edge + node_at(&self.arena, node).count
        while edge < end:
            if edge.move == code:
                return edge
            edge += 1
        return NULL

    @property
    def nodes(self):
        """Nodes in the tree."""
        return self.arena.nodes

    @property
    def memory(self):
        """Bytes of the tree in use."""
        return <size_t>(self.arena.used - self.arena.freed) * sizeof(Edge)

    @property
    def footprint(self):
        """Bytes that the search takes as long as it exists, about."""
        return (
            self.arena.used * sizeof(Edge)
            + self.root_count * sizeof(RootSums)
            + self.game.move_space * sizeof(uint32_t)
        )

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
    uint64_t looked_at  # with the visits that came with trees that were continued
    double strategy
    uint32_t most  # of these in one of the searches
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
        (move, visits, shares, scores, squares, spread, strategy, search, behind, trust), the shares
        and scores summed over the simulations, by seat; the squares are those of the
        searching seat's shares, and the spread is the variance of the sum of these,
        0 of a single simulation; the strategy is the weight of the move in a mixed
        strategy, 0 if the searches are not `mixed`; the search is the index of the one
        that visited the move most; `behind` is by how much its look is worse than the best
        one, and `trust` how much looks count against simulations, by `prior_visits`.
    """
    cdef Search first = searches[0]
    cdef Search search
    cdef MergedRow* rows = <MergedRow*>calloc(first.root_count, sizeof(MergedRow))
    cdef uint32_t* places = <uint32_t*>calloc(first.game.move_space, sizeof(uint32_t))
    cdef MergedRow* row
    cdef Edge* edge
    cdef int seats = first.game.seats
    cdef int index, place, seat
    cdef float best_prior = -INFINITY
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
                row.visits += search.sums[i].count
                row.looked_at += edge.visits
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
                    <double>search.sums[i].count
                    * search.sums[i].count
                    * squared_error(search.sums + i)
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
                best_prior - first.root_priors[place] if prior_visits > 0 else 0.0,
                prior_visits / (prior_visits + rows[place].looked_at) if prior_visits > 0 else 0.0,
            )
            for place in range(first.root_count)
            if rows[place].visits
        ]
    finally:
        free(rows)
        free(places)
