"""Expectimax, grown best first: for games of two seats that see everything.

Where such a game tells the few outcomes of its chance events, and values states without luck,
nothing need be sampled: all outcomes and moves behind an edge are added at once, and an edge is
worth the mean over the outcomes of the best move's value. UCB says where to look; a simulation
credits the root move with what it is worth by then.
"""

from libc.math cimport INFINITY, sqrtf
from libc.stdint cimport uint32_t
from libc.string cimport memcpy

from aleator.ext.core.arena cimport (
    Arena,
    Node,
    ValuedEdge,
    drop_tree,
    new_edge,
    new_node,
    node_at,
)
from aleator.ext.core.bits cimport lowest_bit
from aleator.ext.core.check cimport check
from aleator.ext.core.game cimport FINISHED, MAX_DEPTH, MAX_MOVES, MAX_SEATS, State
from aleator.ext.core.random cimport below
from aleator.ext.core.root_log cimport root_log
from aleator.ext.core.search cimport ROOT, Search


# One edge passed in a simulation.
cdef struct Step:
    uint32_t edge  # its cell
    uint32_t event  # the cell of the chance event's edge passed next
    int seat  # who moved there


cdef inline ValuedEdge* edge_at(Arena* arena, uint32_t cell) noexcept nogil:
    return <ValuedEdge*>(arena.cells + cell)


cdef inline uint32_t cell_of(Arena* arena, const ValuedEdge* edge) noexcept nogil:
    return <uint32_t>(edge - <ValuedEdge*>arena.cells)


cdef class AveragedSearch(Search):
    """A tree of values that are averaged over chance; parameters and errors as of `Search`.

    Raises
    ------
    ValueError
        If the game does not tell the outcomes of its chance, or has not two seats, or its knowledge
        is not to be used.
    """

    cdef State before  # a pending chance event
    cdef State after
    cdef Step[MAX_DEPTH] path

    def __cinit__(self, *_, **__):
        if not (self.knowledge and self.game.seats == 2 and self.game.outcomes):
            raise ValueError(
                "averaged needs a game of two seats that tells its outcomes, and knowledge"
            )
        self.alternating = True
        self.before = self.game.copy_state(self.root)
        self.after = self.game.copy_state(self.root)

    cdef void advance(self) noexcept nogil:
        """Follow the best moves to the edge of the tree, unfold it there, and average."""
        cdef void* state = self.work.data
        cdef float[MAX_SEATS] shares
        cdef float[MAX_SEATS] scores
        cdef uint32_t node = ROOT
        cdef int depth = 0
        cdef Step* step
        cdef ValuedEdge* edge
        cdef ValuedEdge* event
        memcpy(state, self.root.data, self.game.state_size)
        self.game.determinize(state, self.seat, &self.random)
        while True:
            step = &self.path[depth]
            step.seat = lowest_bit(self.game.actors(state))
            edge = self.most_promising(node, step.seat)
            if edge == NULL:
                self.cramped = True
                return
            step.edge = cell_of(&self.arena, edge)
            depth += 1
            self.game.apply(state, step.seat, edge.move)
            if edge.visits == 0:
                edge.worth = self.worth(state)
                break
            if self.game.actors(state) == FINISHED or depth == self.tuning.depth:
                break
            if edge.child == 0:
                self.unfold(edge, state)
                break
            event = self.least_seen(edge.child)
            event.visits += 1
            step.event = cell_of(&self.arena, event)
            self.game.occur(state, step.event - node_at(&self.arena, edge.child).edges)
            node = event.child
        self.game.points(state, scores)
        self.average(depth)
        shares[self.seat] = edge_at(&self.arena, self.path[0].edge).worth
        shares[1 - self.seat] = 1 - shares[self.seat]
        self.credit_root(self.path[0].edge, shares, scores)
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

    cdef ValuedEdge* most_promising(self, uint32_t node, int seat) noexcept nogil:
        """The edge with the highest upper bound, or a new one of the root; NULL for no memory."""
        cdef Node* owner = node_at(&self.arena, node)
        cdef ValuedEdge* edge
        cdef ValuedEdge* end
        cdef ValuedEdge* best = NULL
        cdef float bonus, score
        cdef float best_score = -INFINITY
        owner.visits += 1
        if node == ROOT and owner.count < <uint32_t>self.root_count:
            return <ValuedEdge*>new_edge(&self.arena, ROOT, self.root_moves[owner.count])
        edge = edge_at(&self.arena, owner.edges)
        end = edge + owner.count
        bonus = self.tuning.exploration * root_log(owner.visits)
        while edge < end:
            score = (edge.worth if seat == self.seat else 1 - edge.worth) + (
                bonus * edge.inverse_root
            )
            if score > best_score:
                best_score = score
                best = edge
            edge += 1
        return best

    cdef ValuedEdge* least_seen(self, uint32_t node) noexcept nogil:
        """One of the events of a chance node that were followed least, at random."""
        cdef ValuedEdge* first = edge_at(&self.arena, node_at(&self.arena, node).edges)
        cdef ValuedEdge* edge
        cdef ValuedEdge* least = NULL
        cdef int count = node_at(&self.arena, node).count
        cdef int begin = below(&self.random, count)
        cdef int i
        for i in range(count):
            edge = first + (begin + i) % count
            if least == NULL or edge.visits < least.visits:
                least = edge
        return least

    cdef void unfold(self, ValuedEdge* edge, const void* state) noexcept nogil:
        """Add what can follow an edge: every outcome of chance, and every move then.

        If the memory does not suffice, the edge stays as it is.
        """
        cdef uint32_t node = new_node(&self.arena)
        if node == 0:
            self.cramped = True
        elif self.unfold_outcomes(node, state, &edge.worth):
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
        cdef ValuedEdge* event
        cdef ValuedEdge* added
        cdef float total = 0
        cdef float best
        cdef int outcomes = self.game.outcomes
        cdef int outcome, count, seat, i
        for outcome in range(outcomes):
            memcpy(self.before.data, state, self.game.state_size)
            event = <ValuedEdge*>new_edge(
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
            best = -INFINITY
            for i in range(count):
                added = <ValuedEdge*>new_edge(&self.arena, decision, moves[i])
                if added == NULL:
                    return False
                memcpy(self.after.data, self.before.data, self.game.state_size)
                self.game.apply(self.after.data, seat, moves[i])
                added.worth = self.worth(self.after.data)
                added.visits = 1
                added.inverse_root = 1
                best = max(best, added.worth if seat == self.seat else 1 - added.worth)
            event.worth = best if seat == self.seat else 1 - best
            total += event.worth
            node_at(&self.arena, decision).visits = count
        worth[0] = total / outcomes
        return True

    cdef void average(self, int depth) noexcept nogil:
        """Bring the values of the edges passed up to date, from the last to the first."""
        cdef ValuedEdge* edge
        cdef ValuedEdge* event
        cdef ValuedEdge* end
        cdef float total
        cdef int i
        for i in range(depth - 1, -1, -1):
            edge = edge_at(&self.arena, self.path[i].edge)
            if i < depth - 1:
                event = edge_at(&self.arena, self.path[i].event)
                event.worth = self.best_worth(event.child, self.path[i + 1].seat)
                event = edge_at(&self.arena, node_at(&self.arena, edge.child).edges)
                end = event + node_at(&self.arena, edge.child).count
                total = 0
                while event < end:
                    total += event.worth
                    event += 1
                edge.worth = total / node_at(&self.arena, edge.child).count
            edge.visits += 1
            edge.inverse_root = 1 / sqrtf(<float>edge.visits)

    cdef float best_worth(self, uint32_t node, int seat) noexcept nogil:
        """What a decision of a seat is worth to the searching seat."""
        cdef ValuedEdge* edge = edge_at(&self.arena, node_at(&self.arena, node).edges)
        cdef ValuedEdge* end = edge + node_at(&self.arena, node).count
        cdef float best = edge.worth
        while edge < end:
            best = max(best, edge.worth) if seat == self.seat else min(best, edge.worth)
            edge += 1
        return best
