"""The memory of one search tree: 32-byte cells in one block, given out by index.

A node takes one cell; its edges take a block of 1, 2, 4, ... consecutive
cells, and move to a block twice as long when they outgrow it. Outgrown blocks
are kept in one free list per size, as are those of subtrees that are dropped. The
block is reserved at once and touched only as the tree grows, so that its size is
a cap and not a cost.

Limits: indices have 32 bits, so a tree has at most 2^32 cells (128 GiB).
"""

from libc.stdint cimport uint32_t, uint64_t


cdef enum:
    SIZES = 16  # edge blocks have at most 2^15 cells


# One cell. The mean of an edge is total * inverse_root^2, so that it needs no field.
cdef struct Edge:
    uint32_t move  # the move, or the code of what was observed of a chance event
    uint32_t child  # cell of the node behind it, 0 for none yet
    uint32_t visits
    uint32_t availability  # times the move was legal when its node was visited
    double total  # sum of the acting seat's win shares
    float prior  # how good the move looked when the edge was made
    float inverse_root  # 1 / sqrt(visits)


# The same cell where a seat chooses in secret and mixes its moves by regret.
cdef struct MixedEdge:
    uint32_t move
    uint32_t child
    uint32_t visits
    uint32_t stamp  # of the last visit of the node in which the move was legal
    float mean  # of the acting seat's win shares
    float regret  # of not having chosen the move, above 0 or cut off there
    double strategy  # sum over the node's visits of visit number * probability of the move


# And where values are averaged over chance; edges of chance events are like it.
cdef struct ValuedEdge:
    uint32_t move
    uint32_t child
    uint32_t visits
    float worth  # to the searching seat, in win shares
    float inverse_root
    uint32_t[3] unused


# One cell, too: an information set, as the searching seat tells them apart.
cdef struct Node:
    uint32_t edges  # first cell of the block of edges
    uint32_t count  # edges in use
    uint32_t size  # the block has 2^size cells; meaningless while edges is 0
    uint32_t unseen  # cell of the node after a move the searching seat does not see
    uint32_t visits  # times a seat chose among its edges
    uint32_t[3] unused


cdef struct Arena:
    Edge* cells  # cell 0 is never given out: index 0 means none
    uint32_t used
    uint32_t capacity
    uint32_t nodes
    uint32_t freed  # cells in the lists of free blocks
    uint32_t[SIZES] free  # first free block by size, 0 for none; linked by `child`


cdef int open_arena(Arena* arena, size_t memory) except -1
cdef void close_arena(Arena* arena) noexcept nogil
cdef uint32_t new_node(Arena* arena) noexcept nogil
cdef Edge* new_edge(Arena* arena, uint32_t node, uint32_t move) noexcept nogil
cdef void drop_tree(Arena* arena, uint32_t node) noexcept nogil
cdef uint64_t cells_of_tree(Arena* arena, uint32_t node) noexcept nogil
cdef void copy_tree(Arena* source, uint32_t node, Arena* target, uint32_t place) noexcept nogil


cdef inline Node* node_at(Arena* arena, uint32_t index) noexcept nogil:
    return <Node*>(arena.cells + index)
