"""Giving out the cells of a search tree; `arena.pxd` describes the layout."""

from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from aleator.ext.core.check cimport check


cdef int open_arena(Arena* arena, size_t memory) except -1:
    """Reserve `memory` bytes; MemoryError if the system refuses."""
    check(sizeof(Edge) == 32 and sizeof(MixedEdge) == 32)
    check(sizeof(ValuedEdge) == 32 and sizeof(Node) == 32)
    memset(arena, 0, sizeof(Arena))
    arena.capacity = <uint32_t>min(memory // sizeof(Edge), <size_t>0xFFFFFFFF)
    arena.cells = <Edge*>malloc(arena.capacity * sizeof(Edge))
    if arena.cells == NULL:
        raise MemoryError(f"cannot reserve {memory} bytes for the search tree")
    arena.used = 1
    return 0


cdef void close_arena(Arena* arena) noexcept nogil:
    free(arena.cells)
    arena.cells = NULL


cdef uint32_t new_node(Arena* arena) noexcept nogil:
    """A node without edges; 0 if the arena is full."""
    cdef uint32_t index = new_block(arena, 0)
    if index:
        arena.nodes += 1
        memset(arena.cells + index, 0, sizeof(Node))
    return index


cdef uint32_t new_block(Arena* arena, uint32_t size) noexcept nogil:
    """A block of 2^size cells; 0 if the arena is full."""
    cdef uint32_t index = arena.free[size]
    if index:
        arena.free[size] = arena.cells[index].child
        arena.freed -= <uint32_t>1 << size
        return index
    index = arena.used
    if arena.capacity - index < <uint32_t>1 << size:
        return 0
    arena.used = index + (<uint32_t>1 << size)
    return index


cdef void free_block(Arena* arena, uint32_t index, uint32_t size) noexcept nogil:
    arena.cells[index].child = arena.free[size]
    arena.free[size] = index
    arena.freed += <uint32_t>1 << size


cdef Edge* new_edge(Arena* arena, uint32_t node, uint32_t move) noexcept nogil:
    """Append an unvisited edge to a node; NULL if the arena is full.

    The node's other edges may move: pointers to them are void afterwards.
    """
    cdef Node* owner = node_at(arena, node)
    cdef uint32_t block, size
    cdef Edge* edge
    check(0 < node < arena.used)
    if owner.edges == 0 or owner.count == <uint32_t>1 << owner.size:
        size = owner.size + 1 if owner.edges else 0
        check(size < SIZES)
        block = new_block(arena, size)
        if block == 0:
            return NULL
        if owner.edges:
            memcpy(arena.cells + block, arena.cells + owner.edges, owner.count * sizeof(Edge))
            free_block(arena, owner.edges, owner.size)
        owner.edges = block
        owner.size = size
    edge = arena.cells + owner.edges + owner.count
    owner.count += 1
    memset(edge, 0, sizeof(Edge))
    edge.move = move
    return edge


cdef void drop_tree(Arena* arena, uint32_t node) noexcept nogil:
    """Free a node with all that is behind it; whatever leads to it is the caller's to cut."""
    cdef Node* dropped = node_at(arena, node)
    cdef uint32_t i
    for i in range(dropped.count):
        if arena.cells[dropped.edges + i].child:
            drop_tree(arena, arena.cells[dropped.edges + i].child)
    if dropped.unseen:
        drop_tree(arena, dropped.unseen)
    if dropped.edges:
        free_block(arena, dropped.edges, dropped.size)
    free_block(arena, node, 0)
    arena.nodes -= 1


cdef uint64_t cells_of_tree(Arena* arena, uint32_t node) noexcept nogil:
    """How many cells a node takes with all that is behind it."""
    cdef Node* owner = node_at(arena, node)
    cdef uint64_t cells = 1 + (<uint64_t>1 << owner.size if owner.edges else 0)
    cdef uint32_t i
    for i in range(owner.count):
        if arena.cells[owner.edges + i].child:
            cells += cells_of_tree(arena, arena.cells[owner.edges + i].child)
    if owner.unseen:
        cells += cells_of_tree(arena, owner.unseen)
    return cells


cdef void copy_tree(Arena* source, uint32_t node, Arena* target, uint32_t place) noexcept nogil:
    """Make a node of one arena, with all that is behind it, a node of another that has room for it.

    Parameters
    ----------
    place : uint32_t
        The node there, which has no edges so far.
    """
    cdef Node* original = node_at(source, node)
    cdef Node* copy = node_at(target, place)
    cdef uint32_t i, child
    copy[0] = original[0]
    if original.edges:
        copy.edges = new_block(target, original.size)
        check(copy.edges != 0)
        memcpy(
            target.cells + copy.edges,
            source.cells + original.edges,
            original.count * sizeof(Edge),
        )
    for i in range(original.count):
        child = source.cells[original.edges + i].child
        if child:
            target.cells[copy.edges + i].child = copy_behind(source, child, target)
    if original.unseen:
        copy.unseen = copy_behind(source, original.unseen, target)


cdef uint32_t copy_behind(Arena* source, uint32_t node, Arena* target) noexcept nogil:
    cdef uint32_t place = new_node(target)
    check(place != 0)
    copy_tree(source, node, target, place)
    return place
