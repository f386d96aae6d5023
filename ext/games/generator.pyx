"""Generator: rules on a quaternary tree that is computed, not stored.

Nodes are numbered as in a heap with four children: the top quadrangle is 0..3,
the children of node n are 4 * (n + 1) .. 4 * (n + 1) + 3, in the order of the
colours. So the colour of n is n % 4, its parent n // 4 - 1, and its quadrangle
n // 4. Every node holds one byte, and a bit mask for each seat tells where its
stacks are; moves are listed for the colour rolled only, without a branch on
what the destination holds.

The rules are on the game's page of the documentation. Limits: 2 to 4 seats,
at most 65,535 rolls.
"""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from aleator.ext.core.bits cimport lowest_bit
from aleator.ext.core.game cimport CHANCE, FINISHED, Game, State, hash_bytes
from aleator.ext.core.random cimport Random, below, next64
from aleator.ext.games.generator_board cimport (
    ALL_SIZES,
    COLOURS,
    COPIES,
    DOWN,
    DRAWN,
    ENTER,
    GOING_ON,
    LARGE,
    LEAVES,
    LEVELS,
    MEDIUM,
    NODES,
    NOTHING,
    NO_SEAT,
    ORIGIN_SHIFT,
    OWNER_SHIFT,
    PASS,
    PLAYERS,
    ROD_SHIFT,
    ROLL,
    SET_UP,
    SIZES,
    SMALL,
    TOP,
    UP,
    UPPER_TWO,
    WHOLE,
    WORDS,
    Board,
    child,
    landing,
    parent,
    sibling,
    step_end,
)
from aleator.ext.games.generator_evaluation cimport Terms, rate_moves, set_terms, standings
from aleator.ext.games.generator_network cimport forecast, rate


# Colours of the seats, by number of players less two.
COLOURS_OF_SEATS = ((0, 2), (0, 1, 2), (0, 1, 2, 3))

# LANDING[byte of the node ^ own seat << OWNER_SHIFT]: the sizes that may be at the
# bottom of a unit that moves there. The owner's bits are 0 for an own stack.
cdef uint8_t[PLAYERS << OWNER_SHIFT] LANDING
cdef uint8_t[LEVELS + 2] LIMIT  # by level: the sizes that may stand there
cdef uint8_t[ALL_SIZES + 1] BOTTOM  # the largest size of a set, as a set
cdef uint8_t[ALL_SIZES + 1] TOP_ALONE  # the smallest of several sizes; 0 for a single one
cdef uint8_t[NODES] LEVEL
cdef uint8_t[NODES] BRANCH
# GOAL[l]: the size that counts for the win on level l.
cdef uint8_t[LEVELS + 1] GOAL
# TARGETS[c]: the nodes of colour c below level 1 outside branch c.
cdef uint64_t[COLOURS][WORDS] TARGETS


cdef void fill_tables() noexcept:
    cdef int i, colour
    for i in range(PLAYERS << OWNER_SHIFT):
        LANDING[i] = landing(i & ALL_SIZES, i < 1 << OWNER_SHIFT)
    for i in range(1, ALL_SIZES + 1):
        BOTTOM[i] = LARGE if i & LARGE else MEDIUM if i & MEDIUM else SMALL
        TOP_ALONE[i] = 0 if i == BOTTOM[i] else i & -i
    LIMIT[1] = LIMIT[2] = SMALL | MEDIUM | LARGE
    LIMIT[3] = SMALL | MEDIUM
    LIMIT[4] = SMALL
    GOAL[2] = LARGE
    GOAL[3] = MEDIUM
    GOAL[4] = SMALL
    for i in range(NODES):
        LEVEL[i] = 1 if i < COLOURS else LEVEL[parent(i)] + 1
        BRANCH[i] = i if i < COLOURS else BRANCH[parent(i)]
        colour = i % COLOURS
        if LEVEL[i] > 1 and BRANCH[i] != colour:
            TARGETS[colour][i // 64] |= <uint64_t>1 << (i % 64)

fill_tables()


cdef inline void place(Board* board, int seat, int node, int sizes) noexcept nogil:
    """Put pieces on a node that is empty or the seat's own."""
    board.nodes[node] |= sizes | seat << OWNER_SHIFT
    board.stacks[seat][node >> 6] |= <uint64_t>1 << (node & 63)


cdef inline void lift(Board* board, int seat, int node, int sizes) noexcept nogil:
    """Take pieces of a seat's stack from a node."""
    cdef int left = board.nodes[node] & ALL_SIZES & ~sizes
    if left:
        board.nodes[node] ^= sizes
    else:
        board.nodes[node] = 0
        board.stacks[seat][node >> 6] ^= <uint64_t>1 << (node & 63)


cdef inline bint capture(Board* board, int seat, int node) noexcept nogil:
    """Send what others have on a node back to the stash; False if nothing."""
    cdef int sizes = board.nodes[node] & ALL_SIZES
    cdef int owner = board.nodes[node] >> OWNER_SHIFT
    cdef int size
    if sizes == 0 or owner == seat:
        return False
    lift(board, owner, node, sizes)
    for size in range(SIZES):
        board.stash[owner][size] += sizes >> size & 1
    return True


cdef inline int list_units(
    uint32_t* moves, int count, int rod, int bottoms, int sizes, bint sub_towers
) noexcept nogil:
    """Append the moves along a rod whose end takes units with these bottoms.

    Every move is written and only counted if it is legal: no branches to mispredict.
    """
    moves[count] = rod | WHOLE
    count += (bottoms & BOTTOM[sizes]) != 0
    moves[count] = rod | TOP
    count += (bottoms & TOP_ALONE[sizes]) != 0
    if sub_towers and sizes == ALL_SIZES:
        moves[count] = rod | UPPER_TWO
        count += (bottoms & MEDIUM) != 0
    return count


cdef class Generator(Game):
    """Rules of Generator.

    Parameters
    ----------
    players : int
        2 to 4.
    horizontal : str
        ``any_corner`` or ``adjacent``.
    forced_move, sub_towers, enter_stacks : bool
    max_rolls : int
        1 to 65,535.

    Attributes
    ----------
    colours : tuple of int
        The colour of each seat.

    Raises
    ------
    ValueError
        For other values.
    """

    cdef readonly tuple colours
    cdef readonly bint adjacent
    cdef readonly bint forced_move
    cdef readonly bint sub_towers
    cdef readonly bint enter_stacks
    cdef readonly int max_rolls
    cdef uint8_t[PLAYERS] colour  # `colours` for the code without Python
    cdef Terms terms

    def __cinit__(self, *_args, **_options):
        # The estimate does not look at the die, so that nothing need be rolled for it.
        self.tuning.foreseen = True
        self.outcomes = COLOURS

    def __init__(
        self,
        int players=2,
        str horizontal="any_corner",
        bint forced_move=False,
        bint sub_towers=False,
        bint enter_stacks=False,
        int max_rolls=2000,
    ):
        if not 2 <= players <= PLAYERS:
            raise ValueError(f"players must be 2..{PLAYERS}, not {players}")
        if horizontal not in ("any_corner", "adjacent"):
            raise ValueError(f"horizontal must be any_corner or adjacent, not {horizontal}")
        if not 1 <= max_rolls <= 0xFFFF:
            raise ValueError(f"max_rolls must be 1..{0xFFFF}, not {max_rolls}")
        self.seats = players
        self.tuning.averaged = players == 2
        self.tuning.exploration = 0.05 if self.tuning.averaged else 0.2
        self.colours = COLOURS_OF_SEATS[players - 2]
        for seat, colour in enumerate(self.colours):
            self.colour[<int>seat] = colour
        self.adjacent = horizontal == "adjacent"
        self.forced_move = forced_move
        self.sub_towers = sub_towers
        self.enter_stacks = enter_stacks
        self.max_rolls = max_rolls
        self.move_space = NODES << ORIGIN_SHIFT
        self.state_size = sizeof(Board)
        set_terms(
            &self.terms, self.colours, max_rolls, self.adjacent, sub_towers, enter_stacks
        )

    cdef void start(self, void* state, int start_seat) noexcept nogil:
        cdef Board* board = <Board*>state
        cdef int seat, size
        for seat in range(self.seats):
            for size in range(SIZES):
                board.stash[seat][size] = COPIES
            board.stash[seat][1] -= 1
            place(board, seat, self.colour[seat], MEDIUM)
        board.pending = SET_UP
        board.start = NO_SEAT if start_seat < 0 else start_seat

    cdef int actors(self, const void* state) noexcept nogil:
        cdef const Board* board = <const Board*>state
        if board.pending != NOTHING:
            return CHANCE
        if board.result != GOING_ON:
            return FINISHED
        return 1 << board.seat

    cdef int legal(self, const void* state, int seat, uint32_t* moves) noexcept nogil:
        cdef const Board* board = <const Board*>state
        cdef int rolled = board.rolled
        cdef int own = seat << OWNER_SHIFT
        cdef int count = not self.forced_move
        cdef int word, node, sizes, level, target, bottoms, size
        cdef uint64_t bits
        moves[0] = PASS
        if rolled == self.colour[seat]:
            bottoms = LANDING[board.nodes[rolled] ^ own]
            if board.stacks[seat][0] >> rolled & 1 and not self.enter_stacks:
                bottoms = 0
            for size in range(SIZES):
                moves[count] = ENTER + (size << ROD_SHIFT)
                count += (board.stash[seat][size] != 0) & (bottoms >> size & 1)
        for word in range(WORDS):
            bits = board.stacks[seat][word]
            while bits:
                node = (word << 6) + lowest_bit(bits)
                bits &= bits - 1
                sizes = board.nodes[node] & ALL_SIZES
                level = LEVEL[node]
                if ((node ^ rolled) & (1 if self.adjacent else 3)) != 0:
                    bottoms = LANDING[board.nodes[sibling(node, rolled)] ^ own] & LIMIT[level]
                    count = list_units(
                        moves,
                        count,
                        node << ORIGIN_SHIFT | ((rolled - node) & 3) << ROD_SHIFT,
                        bottoms,
                        sizes,
                        self.sub_towers,
                    )
                if node < LEAVES:
                    target = child(node, rolled)
                    bottoms = LANDING[board.nodes[target] ^ own] & LIMIT[level + 1]
                    count = list_units(
                        moves,
                        count,
                        node << ORIGIN_SHIFT | (DOWN + rolled) << ROD_SHIFT,
                        bottoms,
                        sizes,
                        self.sub_towers,
                    )
                if level > 1 and (parent(node) & 3) == rolled:
                    bottoms = LANDING[board.nodes[parent(node)] ^ own]
                    count = list_units(
                        moves,
                        count,
                        node << ORIGIN_SHIFT | UP << ROD_SHIFT,
                        bottoms,
                        sizes,
                        self.sub_towers,
                    )
        if count == 0:
            moves[0] = PASS
            return 1
        return count

    cdef void apply(self, void* state, int seat, uint32_t move) noexcept nogil:
        cdef Board* board = <Board*>state
        cdef bint captured = False
        cdef int sizes, target
        if move != PASS:
            if move & 3:
                sizes = self.unit_sizes(board, move)
                target = step_end(move)
                lift(board, seat, move >> ORIGIN_SHIFT, sizes)
            else:
                sizes = 1 << ((move - ENTER) >> ROD_SHIFT)
                target = self.colour[seat]
                board.stash[seat][(move - ENTER) >> ROD_SHIFT] -= 1
            captured = capture(board, seat, target)
            place(board, seat, target, sizes)
            # Only a piece that comes to a node of the seat's colour can complete the three.
            if (target & 3) == self.colour[seat] and self.goals(board, seat) == SIZES:
                self.finish(board, 1 + seat)
                return
        if board.rolls == self.max_rolls:
            self.finish(board, DRAWN)
            return
        if not captured:
            board.seat = 0 if seat + 1 == self.seats else seat + 1
        board.rolled = 0
        board.pending = ROLL

    cdef int unit_sizes(self, const Board* board, uint32_t move) noexcept nogil:
        """The pieces that a move takes along."""
        cdef int sizes = board.nodes[move >> ORIGIN_SHIFT] & ALL_SIZES
        cdef int unit = move & 3
        if unit == TOP:
            return sizes & -sizes
        return SMALL | MEDIUM if unit == UPPER_TWO else sizes

    cdef void finish(self, Board* board, int result) noexcept nogil:
        board.result = result
        board.seat = 0
        board.rolled = 0

    cdef int goals(self, const Board* board, int seat) noexcept nogil:
        """How many of the three winning pieces stand in branches all different.

        By Hall's theorem that is 3 less the most by which some set of the sizes
        has more members than branches.
        """
        cdef int[SIZES] branches  # by size: where one is in place, as bits
        cdef int word, node, size, sizes, reached, lack
        cdef int worst = 0
        cdef uint64_t bits
        branches[0] = branches[1] = branches[2] = 0
        for word in range(WORDS):
            bits = board.stacks[seat][word] & TARGETS[self.colour[seat]][word]
            while bits:
                node = (word << 6) + lowest_bit(bits)
                bits &= bits - 1
                size = LEVELS - LEVEL[node]
                branches[size] |= (board.nodes[node] >> size & 1) << BRANCH[node]
        for sizes in range(1, ALL_SIZES + 1):
            reached = 0
            lack = 0
            for size in range(SIZES):
                if sizes >> size & 1:
                    reached |= branches[size]
                    lack += 1
            while reached:
                reached &= reached - 1
                lack -= 1
            worst = max(worst, lack)
        return SIZES - worst

    cdef uint64_t chance(self, void* state, Random* random) noexcept nogil:
        cdef Board* board = <Board*>state
        cdef int starter = 0
        if board.pending == SET_UP:
            starter = below(random, self.seats) if board.start == NO_SEAT else board.start
            board.seat = starter
            board.start = 0
        self.use_roll(board, next64(random) >> 62)
        return 1 + starter * COLOURS + board.rolled

    cdef uint64_t occur(self, void* state, int outcome) noexcept nogil:
        cdef Board* board = <Board*>state
        self.use_roll(board, outcome)
        return 1 + outcome

    cdef void use_roll(self, Board* board, int colour) noexcept nogil:
        board.rolled = colour
        board.rolls += 1
        board.pending = NOTHING

    cdef void returns(self, const void* state, float* win_shares) noexcept nogil:
        cdef const Board* board = <const Board*>state
        cdef int seat
        for seat in range(self.seats):
            if board.result == DRAWN:
                win_shares[seat] = (<float>1.0) / self.seats
            else:
                win_shares[seat] = board.result == 1 + seat

    cdef void points(self, const void* state, float* scores) noexcept nogil:
        cdef int seat
        for seat in range(self.seats):
            scores[seat] = self.goals(<const Board*>state, seat)

    cdef bint root_priors(
        self, const void* state, int seat, const uint32_t* moves, int count, float* values
    ) noexcept nogil:
        # For the root only: elsewhere in the tree the moves are few enough to try them all,
        # and rating them first costs as much as trying them.
        rate(self, &self.terms, state, seat, moves, count, values)
        return True

    cdef void evaluate(
        self, void* state, Random* random, float* win_shares, float* scores
    ) noexcept nogil:
        # A die that has been rolled is not looked at: the estimate is the mean over all rolls,
        # and the search tells them apart where it looks on.
        forecast(&self.terms, <Board*>state, win_shares)
        self.points(state, scores)

    cdef uint32_t observed(self, const void* state, uint64_t event, int viewer) noexcept nogil:
        return event

    cdef uint64_t information_hash(self, const void* state, int seat) noexcept nogil:
        return hash_bytes(state, sizeof(Board), seat)

    def move_leads(self, State state not None, bint replies):
        """What the reference players think of the moves of the seat to act.

        Parameters
        ----------
        state : State
        replies : bool
            Whether to look past the move to the next roll and what is then done with it.

        Returns
        -------
        list of tuple
            (move, lead), in the order of `legal_moves`: by how many rolls the seat is then
            ahead, as `lead` in the evaluation has it.
        """
        cdef const Board* board = <const Board*>self.read(state)
        if self.actors(board) <= 0:
            raise ValueError("no seat is to act")
        return rate_moves(self, &self.terms, board, replies)

    def standings(self, State state not None):
        """The race to couple and the danger of each seat, in rolls, as the evaluation has them.

        Returns
        -------
        list of tuple
            (race, danger) by seat.
        """
        return standings(&self.terms, <const Board*>self.read(state))

    def step(self, int origin, int target, int unit):
        """The code of moving a unit from one node to another.

        Parameters
        ----------
        origin, target : int
            Node numbers.
        unit : int
            1 whole stack, 2 top piece, 3 upper two of three.

        Raises
        ------
        ValueError
            If no rod joins the nodes, or there are no such nodes or unit.
        """
        cdef int rod
        if not (0 <= origin < NODES and 0 <= target < NODES and WHOLE <= unit <= UPPER_TWO):
            raise ValueError("no such nodes or unit")
        if origin != target and origin >> 2 == target >> 2:
            rod = (target - origin) & 3
        elif parent(target) == origin:
            rod = DOWN + (target & 3)
        elif parent(origin) == target:
            rod = UP
        else:
            raise ValueError("no rod joins these nodes")
        return origin << ORIGIN_SHIFT | rod << ROD_SHIFT | unit

    def step_parts(self, uint32_t move):
        """Origin, target and unit of a code that `step` makes; None for others."""
        if not move & 3:
            return None
        return move >> ORIGIN_SHIFT, step_end(move), move & 3

    def pack(self, stacks, seat_to_act, rolled, rolls):
        """Build a state from fields that were checked to agree with each other.

        Parameters
        ----------
        stacks : sequence
            By seat: (node, sizes) of each stack, sizes as bits 1 S, 2 M, 4 L.
        seat_to_act, rolled : int or None
            None in a finished game.
        rolls : int
        """
        cdef State state = self.new_state()
        cdef Board* board = <Board*>state.data
        cdef int seat, node, sizes, size
        if len(stacks) != self.seats:
            raise ValueError(f"need the stacks of {self.seats} seats")
        for seat in range(self.seats):
            for size in range(SIZES):
                board.stash[seat][size] = COPIES
            for node, sizes in stacks[seat]:
                if not (0 <= node < NODES and 1 <= sizes <= ALL_SIZES) or board.nodes[node]:
                    raise ValueError("stacks stand on nodes of their own and hold 1..7")
                place(board, seat, node, sizes)
                for size in range(SIZES):
                    if sizes >> size & 1:
                        if board.stash[seat][size] == 0:
                            raise ValueError(f"there are {COPIES} pyramids of each size")
                        board.stash[seat][size] -= 1
        board.rolls = rolls
        if seat_to_act is None:
            board.result = DRAWN
            for seat in range(self.seats):
                if self.goals(board, seat) == SIZES:
                    board.result = 1 + seat
        else:
            self.check_seat(seat_to_act)
            board.seat = seat_to_act
            board.rolled = checked_colour(rolled)
        return state

    def unpack(self, State state not None):
        """The fields that `pack` takes, and `stash`, by seat and size, as a dict."""
        cdef const Board* board = <const Board*>self.read(state)
        cdef int seat, node, size
        cdef bint going_on = board.result == GOING_ON
        return {
            "stacks": [
                [
                    (node, board.nodes[node] & ALL_SIZES)
                    for node in range(NODES)
                    if board.stacks[seat][node >> 6] >> (node & 63) & 1
                ]
                for seat in range(self.seats)
            ],
            "stash": [
                [board.stash[seat][size] for size in range(SIZES)] for seat in range(self.seats)
            ],
            "seat_to_act": board.seat if going_on else None,
            "rolled": board.rolled if going_on and board.pending == NOTHING else None,
            "rolls": board.rolls,
        }

    def roll(self, State state not None, int colour):
        """The state after the pending roll showed `colour`.

        Raises
        ------
        ValueError
            If no roll is pending, or there is no such colour.
        """
        cdef State copy = self.copy_state(state)
        cdef Board* board = <Board*>copy.data
        if board.pending != ROLL:
            raise ValueError("no roll is pending")
        self.use_roll(board, checked_colour(colour))
        return copy


cdef int checked_colour(int colour) except -1:
    if not 0 <= colour < COLOURS:
        raise ValueError(f"colours are 0..{COLOURS - 1}, not {colour}")
    return colour
