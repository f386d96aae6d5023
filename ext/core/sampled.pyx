"""Information-set Monte Carlo tree search: simulations of determinizations, which the tree follows.

Every simulation draws a determinization of the seat's observation (where they are
few, those of each root move go through all of them, see `worlds.pyx`), walks the
tree along moves that are legal in it, adds one edge, evaluates the state
behind it, and credits every edge passed with the win share of the seat that
moved there. The tree is one over the information sets of the searching seat
(SO-ISMCTS): it branches where that seat sees a difference, on visible moves
and on the codes of observed chance events. Where the tuning says so, every seat
has a tree, that branches on what it sees, and chooses by that (MO-ISMCTS).
Selection is UCB with the number of times an edge was available in place of its
node's visits. Every seat maximises its own share (max^n). Where several seats
act at once, none sees the others' choices, so each seat selects on its own
statistics: by UCB (decoupled UCT) or, where the game's tuning says so, by
regret matching+, with the mean of each edge as its baseline and the average of
the strategies, later ones weighing more, as the answer.

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
V. Lisý et al., "Convergence of Monte Carlo tree search in simultaneous move
games", NIPS (2013), and M. Schmid et al., "Variance reduction in Monte Carlo
counterfactual regret minimization", AAAI (2019), for regret matching.

Limits: opponents are modelled as if they knew what the searching seat knows
(strategy fusion), with trees of their own as if they knew what it knows at the
root; determinizations are those of the game; strategies are mixed
for secret choices only, not to hide what a hand holds.
"""

from libc.math cimport INFINITY, sqrtf
from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memcpy, memset

from aleator.ext.core.arena cimport Edge, MixedEdge, new_edge, new_node, node_at
from aleator.ext.core.bits cimport lowest_bit
from aleator.ext.core.check cimport check
from aleator.ext.core.game cimport CHANCE, FINISHED, MAX_DEPTH, MAX_MOVES, MAX_SEATS, Game, State
from aleator.ext.core.random cimport below, next64, seed_random
from aleator.ext.core.root_log cimport root_log
from aleator.ext.core.search cimport ROOT, Search
from aleator.ext.core.worlds cimport Worlds, free_worlds, list_worlds, world_at


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
    bint mixed  # whether it is a mixed edge
    int seat  # who moved there


cdef class SampledSearch(Search):
    """A tree that simulations of determinizations grow; parameters as of `Search`."""

    cdef State before  # a pending chance event
    cdef Worlds worlds
    cdef int[MAX_SEATS] viewers  # by tree: whose it is
    cdef uint32_t[MAX_SEATS] nodes  # by tree: where the simulation is, 0 beyond it
    cdef int[MAX_SEATS] tree_of  # by seat: the tree that it chooses by
    cdef Step[MAX_DEPTH] path
    # Edges of the node at hand whose moves are legal, counted from its first. There is one place
    # more, as each edge is written down before it is known whether it belongs there.
    cdef uint32_t[MAX_MOVES + 1] tried

    def __cinit__(self, *_, **__):
        self.before = self.game.copy_state(self.root)
        list_worlds(
            &self.worlds, self.game, self.root, self.seat, self.knowledge, &self.random
        )
        self.plant_trees()
        # `rate_root_moves` left a determinization.
        self.mixed = self.mixes(self.work.data, self.seat, self.root_moves[0])

    def __dealloc__(self):
        free_worlds(&self.worlds)

    cdef int plant_trees(self) except -1:
        """Begin the trees of the other seats, if these have their own."""
        cdef int seat
        self.viewers[0] = self.seat
        if not self.tuning.own_trees:
            return 0
        for seat in range(self.game.seats):
            if seat != self.seat:
                self.viewers[self.trees] = seat
                self.tree_of[seat] = self.trees
                self.roots[self.trees] = new_node(&self.arena)
                self.trees += 1
        return 0

    cdef void advance(self) noexcept nogil:
        cdef void* state = self.work.data
        cdef float[MAX_SEATS] shares
        cdef float[MAX_SEATS] scores
        cdef uint32_t node
        cdef uint32_t move
        cdef uint64_t event
        cdef int depth = 0
        cdef int actors, seat
        cdef float[MAX_SEATS] luck  # of the chance events passed
        cdef bint foreseen = self.tuning.foreseen
        cdef bint added = False
        cdef Edge* edge = self.select(&self.path[0], ROOT, NULL, self.seat, &added)
        if self.tuning.paired and edge != NULL:
            seed_random(&self.random, self.seed ^ self.stream, ~<uint64_t>edge.visits)
        self.determinize(<uint32_t>self.simulations if edge == NULL else edge.visits)
        memcpy(self.nodes, self.roots, sizeof(self.nodes))
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
                self.follow_event(state, event)
                continue
            # The own seat first: so the root's edges are its moves.
            seat = self.seat if actors >> self.seat & 1 else lowest_bit(actors)
            node = self.nodes[self.tree_of[seat]]
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
            self.follow_move(state, seat, edge, added or depth == self.tuning.depth)
            self.game.apply(state, seat, move)
        if foreseen:
            for seat in range(self.game.seats):
                shares[seat] -= luck[seat]
        self.back_up(depth, shares, scores)

    cdef bint mixes(self, const void* state, int seat, uint32_t move) noexcept nogil:
        """Whether a seat that has this move chooses in secret and is to mix its moves."""
        return self.tuning.mixed and not self.game.visible(state, seat, move, seat)

    cdef void determinize(self, uint32_t number) noexcept nogil:
        """Fill in what the seat does not know, for the simulation of a root move of that number."""
        if self.worlds.count:
            memcpy(self.work.data, world_at(&self.worlds, number), self.game.state_size)
        else:
            memcpy(self.work.data, self.root.data, self.game.state_size)
            self.game.determinize(self.work.data, self.seat, &self.random)

    cdef void evaluate(self, void* state, float* shares, float* scores) noexcept nogil:
        if self.knowledge:
            self.game.evaluate(state, &self.random, shares, scores)
        else:
            Game.evaluate(self.game, state, &self.random, shares, scores)

    cdef void follow_move(
        self, const void* state, int seat, Edge* chosen, bint last
    ) noexcept nogil:
        """Go on in all trees after a move, which is not applied yet.

        A node is made when its edge is passed again, as most never are, and none behind the
        `last` move that the tree follows.
        """
        cdef uint32_t move = chosen.move
        cdef uint32_t* link
        cdef int tree
        for tree in range(self.trees):
            if self.nodes[tree] == 0:
                continue
            if not self.game.visible(state, seat, move, self.viewers[tree]):
                link = &node_at(&self.arena, self.nodes[tree]).unseen
            elif tree == self.tree_of[seat]:
                link = &chosen.child
            elif last:
                self.nodes[tree] = 0
                continue
            else:
                self.nodes[tree] = self.node_behind(self.nodes[tree], move)
                continue
            if link[0] == 0 and not last:
                link[0] = new_node(&self.arena)
                self.cramped = self.cramped or link[0] == 0
            self.nodes[tree] = link[0]

    cdef void follow_event(self, const void* state, uint64_t event) noexcept nogil:
        """Go on in all trees after a chance event, by what is seen of it."""
        cdef uint32_t code
        cdef int tree
        for tree in range(self.trees):
            code = self.game.observed(state, event, self.viewers[tree])
            if self.nodes[tree] and code:
                self.nodes[tree] = self.node_behind(self.nodes[tree], code)

    cdef uint32_t node_behind(self, uint32_t node, uint32_t code) noexcept nogil:
        """The node behind something that was seen and not chosen there; 0 if memory is out."""
        cdef Edge* edge = self.find_event(node, code)
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
                edge = self.highest_bound(node, tried)
        if edge != NULL:
            step.edge = <uint32_t>(edge - self.arena.cells)
        return edge

    cdef int mark_tried(self, uint32_t node, uint32_t stamp, bint mixed) noexcept nogil:
        """Mark with `stamp + 1` the moves with `stamp` that were tried; how many these are.

        Their edges are listed in `tried`. Which moves are legal is as good as random where hands
        are hidden, so this does without branches.
        """
        cdef uint32_t* marks = self.marks
        cdef uint32_t* tried = self.tried
        cdef Edge* first = self.arena.cells + node_at(&self.arena, node).edges
        cdef uint32_t edges = node_at(&self.arena, node).count
        cdef uint32_t* mark
        cdef uint32_t i, is_legal
        cdef int count = 0
        for i in range(edges):
            check(first[i].move < <uint32_t>self.game.move_space)  # and so not of an event
            mark = marks + first[i].move
            is_legal = mark[0] == stamp
            mark[0] += is_legal
            tried[count] = i
            count += is_legal
        check(count <= MAX_MOVES)
        for i in range(<uint32_t>count):
            if mixed:
                (<MixedEdge*>first + tried[i]).stamp = stamp
            else:
                first[tried[i]].availability += 1
        return count

    cdef Edge* highest_bound(self, uint32_t node, int tried) noexcept nogil:
        """The edge with the highest upper bound, among those that `mark_tried` listed."""
        cdef Edge* first = self.arena.cells + node_at(&self.arena, node).edges
        cdef Edge* edge
        cdef Edge* best = NULL
        cdef float score
        cdef float best_score = -INFINITY
        cdef float best_prior = -INFINITY
        cdef float exploration = self.tuning.exploration
        cdef float prior_visits = self.tuning.prior_visits
        cdef int i
        if prior_visits > 0:
            for i in range(tried):
                best_prior = max(best_prior, first[self.tried[i]].prior)
        for i in range(tried):
            edge = first + self.tried[i]
            score = (
                <float>edge.total * edge.inverse_root * edge.inverse_root
                + exploration * root_log(edge.availability) * edge.inverse_root
            )
            if prior_visits > 0:
                score += prior_visits / (prior_visits + edge.visits) * (edge.prior - best_prior)
            if score > best_score:
                best_score = score
                best = edge
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
            self.credit_root(self.path[0].edge, shares, scores)
        self.depth = max(self.depth, depth)
        self.simulations += 1

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
