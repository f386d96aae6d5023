"""Going on with the part of an earlier search's tree that fits a new one's position.

Between two decisions of a seat others move and chance has its way. The part that fits is the node
of the earlier tree whose information set is what the seat knows now. It is found by trying, in one
determinization, what can have followed the move that was played: chance events as far as the game
tells their outcomes, and the moves for which the tree has edges. That part, copied, is the tree
which the new search begins with. So where to look is known at once; but estimates, their errors and
the counts of visits come from the new search's own simulations.

Limits: what comes after a chance event of untold outcomes is not found, nor what many moves of
others, or secret ones, lie before.
"""

from libc.stdint cimport uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcmp, memcpy

from aleator.ext.core.arena cimport Edge, cells_of_tree, copy_tree, node_at
from aleator.ext.core.bits cimport lowest_bit
from aleator.ext.core.game cimport CHANCE, FINISHED, MAX_MOVES, Game
from aleator.ext.core.random cimport Random, seed_random
from aleator.ext.core.search cimport ROOT, Search


cdef enum:
    MAX_PLIES = 12  # decisions and chance events from one decision of the seat to the next
    MAX_STATES = 4096  # looked at: about a millisecond


cdef class Finder:
    """Looks in a tree for the node of what its seat knows now."""

    cdef Search search
    cdef Game game
    cdef uint32_t first  # the move that was played
    cdef const void* goal
    cdef char* states  # one for each ply of the line that is tried, and one for an observation
    cdef int left  # states that may still be looked at

    def __cinit__(self, Search search not None, uint32_t first):
        self.search = search
        self.game = search.game
        self.first = first
        self.left = MAX_STATES
        self.states = <char*>malloc((MAX_PLIES + 2) * search.game.state_size)
        if self.states == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.states)

    cdef uint32_t find_node(self, const void* goal) noexcept nogil:
        """The node of an observation, NULL for any; 0 if there is none, or it was not found."""
        cdef Random random
        self.goal = goal
        seed_random(&random, self.search.seed, self.search.stream)
        memcpy(self.states, self.search.root.data, self.game.state_size)
        if not self.game.determinize(self.states, self.search.seat, &random):
            return 0
        return self.find(ROOT, 0)

    cdef uint32_t find(self, uint32_t node, int ply) noexcept nogil:
        """The same among the nodes from one on, whose state is that of the ply."""
        cdef const char* state = self.states + ply * self.game.state_size
        cdef int actors = self.game.actors(state)
        cdef uint32_t[MAX_MOVES] moves
        cdef uint32_t found = 0
        cdef int seat, count, i
        if node == 0 or ply == MAX_PLIES or self.left == 0 or actors == FINISHED:
            return 0
        self.left -= 1
        if actors == CHANCE:
            for i in range(self.game.outcomes):
                found = self.find_after_chance(node, ply, i)
                if found:
                    break
            return found
        seat = lowest_bit(actors)
        if actors >> self.search.seat & 1:
            seat = self.search.seat
            if ply and self.is_goal(state):
                return node
        count = self.game.legal(state, seat, moves)
        for i in range(count):
            if ply or moves[i] == self.first:
                found = self.find_after_move(node, ply, seat, moves[i])
                if found:
                    break
        return found

    cdef bint is_goal(self, const char* state) noexcept nogil:
        cdef size_t size = self.game.state_size
        cdef char* seen = self.states + (MAX_PLIES + 1) * size
        if self.goal == NULL:
            return True
        memcpy(seen, state, size)
        self.game.observe(seen, self.search.seat)
        return memcmp(seen, self.goal, size) == 0

    cdef uint32_t find_after_chance(self, uint32_t node, int ply, int outcome) noexcept nogil:
        cdef char* state = self.states + ply * self.game.state_size
        cdef char* after = state + self.game.state_size
        cdef Edge* edge
        cdef uint32_t code
        memcpy(after, state, self.game.state_size)
        code = self.game.observed(after, self.game.occur(after, outcome), self.search.seat)
        if code:
            edge = self.search.find_event(node, code)
            node = 0 if edge == NULL else edge.child
        return self.find(node, ply + 1)

    cdef uint32_t find_after_move(
        self, uint32_t node, int ply, int seat, uint32_t move
    ) noexcept nogil:
        cdef char* state = self.states + ply * self.game.state_size
        cdef char* after = state + self.game.state_size
        cdef Edge* edge
        if self.game.visible(state, seat, move, self.search.seat):
            # Edges of moves and of events are told apart by what comes at their node.
            edge = self.search.find_event(node, move)
            node = 0 if edge == NULL else edge.child
        else:
            node = node_at(&self.search.arena, node).unseen
        if node == 0:
            return 0
        memcpy(after, state, self.game.state_size)
        self.game.apply(after, seat, move)
        return self.find(node, ply + 1)


def can_continue(Search search not None, uint32_t move):
    """Tell whether a later search may go on from one that has ended.

    Parameters
    ----------
    search : Search
    move : int
        What is played after it.

    Returns
    -------
    bool
        False if it has no decision of its seat that `continue_tree` could find after the move.
    """
    cdef uint32_t node
    cdef Finder finder
    # Regrets are of the strategy that the root had; other seats' trees have no such node.
    if search.mixed or search.trees > 1:
        return False
    finder = Finder(search, move)
    with nogil:
        node = finder.find_node(NULL)
    return node != 0


def continue_tree(Search search not None, Search earlier not None, uint32_t move):
    """Let a search that has made no simulations begin with what an earlier one found.

    Parameters
    ----------
    search, earlier : Search
        Of one seat of one game, of one kind and tuning.
    move : int
        What was played after the earlier search.

    Returns
    -------
    int
        How many simulations of the earlier search, or of those that it went on from, are behind
        the tree that the search begins with; 0 if there is nothing to go on from.

    Raises
    ------
    ValueError
        If the search has begun, or the two are of different games, seats or kinds.
    """
    cdef uint32_t node
    cdef Finder finder
    if search.simulations or node_at(&search.arena, ROOT).count:
        raise ValueError("the search has begun")
    if type(search) is not type(earlier) or search.game is not earlier.game:
        raise ValueError("the searches are of different kinds or games")
    if search.seat != earlier.seat:
        raise ValueError("the searches are of different seats")
    if search.mixed or earlier.mixed or search.trees > 1:
        return 0
    finder = Finder(earlier, move)
    with nogil:
        node = finder.find_node(search.root.data)
        if node and fits(search, earlier, node):
            copy_tree(&earlier.arena, node, &search.arena, ROOT)
            search.take_over_root(earlier.stamp)
    return node_at(&search.arena, ROOT).visits


cdef bint fits(Search search, Search earlier, uint32_t node) noexcept nogil:
    """Whether a search may choose among all moves tried at a node, and has memory for it."""
    cdef Edge* edge = earlier.arena.cells + node_at(&earlier.arena, node).edges
    cdef Edge* end = edge + node_at(&earlier.arena, node).count
    cdef uint32_t stamp = search.mark(search.root_moves, search.root_count)
    while edge < end:
        if search.marks[edge.move] != stamp:
            return False
        edge += 1
    return cells_of_tree(&earlier.arena, node) < search.arena.capacity // 2
