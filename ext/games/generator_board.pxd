"""Generator's board and moves: for the rules and the evaluation.

Nodes are numbered as in a heap with four children: the top quadrangle is 0..3,
the children of node n are 4 * (n + 1) .. 4 * (n + 1) + 3, in the order of the
colours. So the colour of n is n % 4, its parent n // 4 - 1, and its quadrangle
n // 4.
"""

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t


cdef enum:
    COLOURS = 4  # green, red, yellow, blue: 0..3, the same for nodes, seats and the die
    LEVELS = 4
    NODES = 340  # 4 + 16 + 64 + 256
    LEAVES = 84  # the first node of the lowest level
    WORDS = 6  # 64-bit words for a bit per node
    PLAYERS = 4  # seats at most

    # Sizes of pyramids are numbered 0 S, 1 M, 2 L; a set of sizes is three bits.
    SIZES = 3
    SMALL = 1
    MEDIUM = 2
    LARGE = 4
    ALL_SIZES = 7
    COPIES = 5  # pyramids of each size and seat
    OWNER_SHIFT = 3  # above the sizes in a node's byte

    # What part of a stack moves: the numbers of the wire's enum.
    NO_UNIT = 0
    WHOLE = 1
    TOP = 2
    UPPER_TWO = 3

    # The rod a move follows: up, 1..3 to the colour so many steps further in the
    # same quadrangle, or down to the child of colour 0..3.
    UP = 0
    DOWN = 4

    # A move is origin << 5 | rod << 2 | unit. Without a unit it is pass, or
    # ENTER + (size << 2).
    ORIGIN_SHIFT = 5
    ROD_SHIFT = 2
    PASS = 0
    ENTER = 4

    # What chance is to do next.
    NOTHING = 0
    SET_UP = 1
    ROLL = 2
    NO_SEAT = 255

    # How the game ended; a seat's win is 1 + the seat.
    GOING_ON = 0
    DRAWN = 7


cdef struct Board:
    uint64_t[PLAYERS][WORDS] stacks  # bit n set if a stack of the seat stands on node n
    uint8_t[NODES] nodes  # sizes standing there | owner << OWNER_SHIFT; 0: nobody
    uint8_t[PLAYERS][SIZES] stash
    uint16_t rolls  # die rolls so far, with the one to be used now
    uint8_t seat  # to act or, while a roll is pending, to roll; 0 at the end
    uint8_t rolled  # colour; 0 while a roll is pending and at the end
    uint8_t pending  # NOTHING, SET_UP or ROLL
    uint8_t result  # GOING_ON, DRAWN or 1 + the winner
    uint8_t start  # during set-up: the seat to act first, or NO_SEAT to draw it


cdef inline int parent(int node) noexcept nogil:
    return (node >> 2) - 1


cdef inline int child(int node, int colour) noexcept nogil:
    return 4 * (node + 1) + colour


cdef inline int sibling(int node, int colour) noexcept nogil:
    return (node & ~3) | colour


cdef inline uint8_t landing(int sizes, bint own) noexcept nogil:
    """The sizes that may land on a stack, as a set."""
    cdef uint8_t top = sizes & -sizes
    if sizes == 0:
        return ALL_SIZES
    if own:
        return top - 1
    if sizes == (MEDIUM | LARGE):
        return SMALL
    if sizes != top:
        return 0
    return SMALL if top == SMALL else top - 1


cdef inline int step_end(uint32_t move) noexcept nogil:
    """The node that a step leads to."""
    cdef int origin = move >> ORIGIN_SHIFT
    cdef int rod = move >> ROD_SHIFT & 7
    if rod >= DOWN:
        return child(origin, rod - DOWN)
    return parent(origin) if rod == UP else sibling(origin, (origin + rod) & 3)
