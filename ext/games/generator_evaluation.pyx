"""What a position of Generator is worth: the race to couple, and what captures cost.

The race of a seat is the number of its own rolls it is expected to need until it
couples, if nobody disturbs it and three pieces do all the work: one of each size,
wherever they stand or still in the stash. It is exact for three pieces alone on
the board, up to the simplifications of `place_class`: the three share the
rolls, block each other's way on level 1 and choose among the branches as the
dice fall. It comes from a table over the places of the three, solved by value
iteration, one for every set of nodes that towers topped by a small pyramid, which
nothing captures, close to the seat. A seat's race is the least over its pieces.

A stack is exposed if an opponent's next roll may capture it. That happens on the
roll of the stack's own colour only, from the nodes a rod away; the loss is what
the seat's race grows by.

Limits: stacks that only stand in the way for now are not seen by the race, nor is
the work of leaving a tower's lower part; exposure looks one roll ahead.
"""

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from aleator.ext.core.bits cimport lowest_bit
from aleator.ext.core.game cimport MAX_MOVES, Game
from aleator.ext.games.generator_board cimport (
    ALL_SIZES,
    COLOURS,
    DRAWN,
    GOING_ON,
    LARGE,
    LEAVES,
    LEVELS,
    MEDIUM,
    NODES,
    NOTHING,
    OWNER_SHIFT,
    SIZES,
    SMALL,
    WORDS,
    Board,
    child,
    landing,
    parent,
    sibling,
)


cdef enum:
    # The place of a piece, as far as its way to couple depends on it: STASH; the
    # branch and level; on the level of its goal also the tail: whether it is on the
    # goal's colour, one roll of it away, or (with neighbouring corners only) two.
    # Branches are counted from the own one.
    STASH = 0
    GOAL_TAIL = 0
    NEAR = 1
    FAR = 2
    TAILS = 3
    SMALL_PLACES = 25
    MEDIUM_PLACES = 21
    LARGE_PLACES = 17
    PLACES = 25  # of any size
    TRIPLES = SMALL_PLACES * MEDIUM_PLACES * LARGE_PLACES
    CLOSED_SETS = 16  # of the nodes of level 1, as bits by branch
    WAYS = 3  # that a piece can go on one roll
    NO_PLACE = 255
    UNREACHED = 32  # rolls, more than three pieces need if nothing is in their way

HOPELESS = 99
cdef float DECIDED = 1000  # more than any lead in rolls

cdef int[SIZES] PLACE_COUNT
PLACE_COUNT[0] = SMALL_PLACES
PLACE_COUNT[1] = MEDIUM_PLACES
PLACE_COUNT[2] = LARGE_PLACES

# WAY[adjacent][size][place][roll]: the places a piece can go to, NO_PLACE behind the last.
cdef uint8_t[2][SIZES][PLACES][COLOURS][WAYS] WAY
# BOTTOMS[sizes]: the sizes at the bottom of the units that can leave a stack.
cdef uint8_t[2][ALL_SIZES + 1] BOTTOMS
cdef uint8_t[ALL_SIZES + 1] CAPTURERS  # the sizes that may land on an opponent's stack
cdef uint8_t[LEVELS + 1] LIMIT


cdef inline int goal_level(int size) noexcept nogil:
    return LEVELS - size


cdef int tail_of(int colour, bint adjacent) noexcept nogil:
    """The tail of a node whose colour is so many steps from the goal's."""
    if colour == 0:
        return GOAL_TAIL
    return FAR if adjacent and colour == 2 else NEAR


cdef int place_of(int size, int level, int branch, int tail) noexcept nogil:
    if level < goal_level(size):
        return 1 + COLOURS * (level - 1) + branch
    return 1 + COLOURS * (goal_level(size) - 1) + TAILS * branch + tail


cdef void list_ways(bint adjacent, int size) noexcept nogil:
    """Where a piece of a size can go from each place, colours counted from the own one.

    To climb from level 3 or 4 a piece needs the colour of a parent that the place does
    not tell: it is taken to be that of the branch. On level 2 it is.
    """
    cdef int goal = goal_level(size)
    cdef int level, branch, tail, roll, place, count
    cdef uint8_t* ways
    for place in range(PLACES):
        for roll in range(COLOURS):
            for count in range(WAYS):
                WAY[adjacent][size][place][roll][count] = NO_PLACE
    WAY[adjacent][size][STASH][0][0] = place_of(size, 1, 0, 0)
    for level in range(1, goal + 1):
        for branch in range(COLOURS):
            for tail in range(TAILS if level == goal else 1):
                place = place_of(size, level, branch, tail)
                for roll in range(COLOURS):
                    ways = WAY[adjacent][size][place][roll]
                    count = 0
                    if level == 1 and roll != branch and not (adjacent and (roll ^ branch) == 2):
                        ways[count] = place_of(size, 1, roll, 0)
                        count += 1
                    if level < goal:
                        ways[count] = place_of(size, level + 1, branch, tail_of(roll, adjacent))
                        count += 1
                    if level > 1 and roll == branch:
                        ways[count] = place_of(size, level - 1, branch, 0)
                        count += 1
                    if level == goal and tail == NEAR and roll == 0:
                        ways[count] = place_of(size, level, branch, GOAL_TAIL)
                    elif level == goal and tail == FAR and roll & 1:
                        ways[count] = place_of(size, level, branch, NEAR)


cdef void fill_tables() noexcept:
    cdef int node, colour, size, adjacent, branch, sizes, top, bottom
    for node in range(NODES):
        LEVEL[node] = 1 if node < COLOURS else LEVEL[parent(node)] + 1
        BRANCH[node] = node if node < COLOURS else BRANCH[parent(node)]
    LIMIT[1] = LIMIT[2] = ALL_SIZES
    LIMIT[3] = SMALL | MEDIUM
    LIMIT[4] = SMALL
    for sizes in range(1, ALL_SIZES + 1):
        top = sizes & -sizes
        bottom = LARGE if sizes & LARGE else MEDIUM if sizes & MEDIUM else SMALL
        BOTTOMS[0][sizes] = BOTTOMS[1][sizes] = top | bottom
        CAPTURERS[sizes] = landing(sizes, False)
    BOTTOMS[1][ALL_SIZES] = ALL_SIZES
    for adjacent in range(2):
        for size in range(SIZES):
            list_ways(adjacent, size)
            for colour in range(COLOURS):
                for node in range(NODES):
                    if LEVEL[node] <= goal_level(size):
                        PLACE[adjacent][colour][4 * node + size] = place_of(
                            size,
                            LEVEL[node],
                            (BRANCH[node] - colour) & 3,
                            tail_of((node - colour) & 3, adjacent),
                        )
    for size in range(SIZES):
        for branch in range(1, COLOURS):
            IN_PLACE[size] |= <uint32_t>1 << place_of(size, goal_level(size), branch, GOAL_TAIL)

fill_tables()

cdef inline int triple(int small, int medium, int large) noexcept nogil:
    return (large * MEDIUM_PLACES + medium) * SMALL_PLACES + small


cdef inline int branch_in_place(int size, int place) noexcept nogil:
    """The branch of a place that is a goal, counted from the own one; 0 for other places."""
    if IN_PLACE[size] >> place & 1:
        return (place - 1 - COLOURS * (goal_level(size) - 1)) // TAILS
    return 0


cdef bint way_open(
    int closed, bint enter_stacks, const int* places, int size, int target
) noexcept nogil:
    """Whether a piece may go to a place: nodes closed, and the other two of the three."""
    cdef int branch = target - 1
    cdef int other
    if 0 <= branch < COLOURS:
        if closed >> branch & 1:
            return False
        for other in range(SIZES):
            if other != size and places[other] == target:
                # A smaller one may land on a larger one, but not enter there.
                if other < size or (places[size] == STASH and not enter_stacks):
                    return False
    return True


cdef float best_of_roll(
    const float* race, bint adjacent, bint enter_stacks, int closed, int* places, int roll
) noexcept nogil:
    """The least race after the use of a roll, if any."""
    cdef float best = HOPELESS
    cdef int size, way, target, place
    for size in range(SIZES):
        place = places[size]
        for way in range(WAYS):
            target = WAY[adjacent][size][place][roll][way]
            if target == NO_PLACE:
                break
            if way_open(closed, enter_stacks, places, size, target):
                places[size] = target
                best = min(best, race[triple(places[0], places[1], places[2])])
                places[size] = place
    return best


cdef float rolls_needed(float* after) noexcept nogil:
    """Expected rolls where a roll of colour c leads to a race of `after[c]`, or is passed.

    Passing keeps the race as it is, so the best n of the four rolls are used, for the n
    that is best.
    """
    cdef float total = 0
    cdef float best = HOPELESS
    cdef float lower
    cdef int i, j
    for i in range(COLOURS):
        for j in range(i, 0, -1):
            if after[j] < after[j - 1]:
                lower = after[j]
                after[j] = after[j - 1]
                after[j - 1] = lower
    for i in range(COLOURS):
        total += after[i]
        best = min(best, (COLOURS + total) / (i + 1))
    return best


cdef void solve(
    float* race, bint adjacent, bint enter_stacks, int closed, const int* order, int count
) noexcept nogil:
    """Value iteration in place over the triples, from above, nearest to the goal first."""
    cdef int[SIZES] places
    cdef int[SIZES] branches
    cdef float[COLOURS] after
    cdef float value
    cdef int i, index, roll, size
    cdef bint changed = True
    for index in range(TRIPLES):
        race[index] = HOPELESS
    while changed:
        changed = False
        for i in range(count):
            index = order[i]
            places[0] = index % SMALL_PLACES
            places[1] = index // SMALL_PLACES % MEDIUM_PLACES
            places[2] = index // (SMALL_PLACES * MEDIUM_PLACES)
            for size in range(SIZES):
                branches[size] = branch_in_place(size, places[size])
            if branches[0] * branches[1] * branches[2] == 6 and (
                branches[0] + branches[1] + branches[2] == 6
            ):
                race[index] = 0
                continue
            for roll in range(COLOURS):
                after[roll] = best_of_roll(race, adjacent, enter_stacks, closed, places, roll)
            value = rolls_needed(after)
            if value < race[index] - <float>1e-4:
                race[index] = value
                changed = True


cdef int list_order(bint adjacent, int* order) noexcept nogil:
    """List the triples by the least number of rolls from their goal, blocking aside.

    Those with a tail that the option does not know are left out. Returns how many there are.
    """
    cdef int[SIZES][PLACES] steps
    cdef int size, place, roll, way, target, index, distance
    cdef int count = 0
    cdef bint changed
    for size in range(SIZES):
        for place in range(PLACE_COUNT[size]):
            steps[size][place] = 0 if IN_PLACE[size] >> place & 1 else UNREACHED
        changed = True
        while changed:
            changed = False
            for place in range(PLACE_COUNT[size]):
                for roll in range(COLOURS):
                    for way in range(WAYS):
                        target = WAY[adjacent][size][place][roll][way]
                        if target == NO_PLACE:
                            break
                        if steps[size][target] + 1 < steps[size][place]:
                            steps[size][place] = steps[size][target] + 1
                            changed = True
    for distance in range(UNREACHED):
        for index in range(TRIPLES):
            if distance == (
                steps[0][index % SMALL_PLACES]
                + steps[1][index // SMALL_PLACES % MEDIUM_PLACES]
                + steps[2][index // (SMALL_PLACES * MEDIUM_PLACES)]
            ):
                order[count] = index
                count += 1
    return count


# Solved once for each value of (adjacent, enter_stacks), when it is first needed.
cdef float *RACES[2][2]


cdef const float* races(bint adjacent, bint enter_stacks) except NULL:
    """The tables for two options: by set of closed nodes and triple."""
    cdef int* order
    cdef float* race
    cdef int closed, count
    if RACES[adjacent][enter_stacks] == NULL:
        order = <int*>malloc(TRIPLES * sizeof(int))
        race = <float*>malloc(CLOSED_SETS * TRIPLES * sizeof(float))
        if order == NULL or race == NULL:
            free(order)
            free(race)
            raise MemoryError
        with nogil:
            count = list_order(adjacent, order)
            for closed in range(CLOSED_SETS):
                solve(race + closed * TRIPLES, adjacent, enter_stacks, closed, order, count)
        free(order)
        RACES[adjacent][enter_stacks] = race
    return RACES[adjacent][enter_stacks]


cdef int set_terms(
    Terms* terms, colours, int max_rolls, bint adjacent, bint sub_towers, bint enter_stacks
) except -1:
    """Fill in the terms for a game's options."""
    terms.race = races(adjacent, enter_stacks)
    terms.seats = len(colours)
    terms.max_rolls = max_rolls
    for seat, colour in enumerate(colours):
        terms.colour[<int>seat] = colour
    terms.adjacent = adjacent
    terms.sub_towers = sub_towers
    terms.enter_stacks = enter_stacks
    return 0


cdef inline bint is_closed(int content, int seat) noexcept nogil:
    """Whether what stands on a node, a node's byte, can never be captured by a seat."""
    return (
        content >> OWNER_SHIFT != seat
        and content & SMALL != 0
        and content & (MEDIUM | LARGE) != 0
    )


cdef void list_stacks(
    const Terms* terms, const Board* board, int seat, Stacks* stacks
) noexcept nogil:
    cdef int colour = terms.colour[seat]
    cdef int word, node, size, branch, i, sizes
    cdef uint64_t bits
    stacks.count = 0
    for word in range(WORDS):
        bits = board.stacks[seat][word]
        while bits:
            node = (word << 6) + lowest_bit(bits)
            bits &= bits - 1
            stacks.nodes[stacks.count] = node
            stacks.sizes[stacks.count] = board.nodes[node] & ALL_SIZES
            stacks.count += 1
    for size in range(SIZES):
        stacks.stash[size] = board.stash[seat][size] != 0
    stacks.closed = 0
    stacks.blocked = 0
    stacks.guards = 0
    for branch in range(COLOURS):
        stacks.closed |= is_closed(board.nodes[(branch + colour) & 3], seat) << branch
    # The stacks on level 1 are the first ones.
    for i in range(stacks.count):
        if stacks.nodes[i] >= COLOURS:
            break
        sizes = stacks.sizes[i]
        branch = (stacks.nodes[i] - colour) & 3
        if sizes != LARGE or (branch == 0 and not terms.enter_stacks):
            stacks.blocked |= 1 << branch
        if sizes & SMALL and sizes != SMALL:
            stacks.guards |= 1 << i


cdef inline int on_top_level(int place) noexcept nogil:
    """The bit of the node of a place on level 1, by branch; 0 for other places."""
    return 1 << (place - 1) if 0 < place <= COLOURS else 0


cdef float race_of(
    const Terms* terms, const Stacks* stacks, int seat, int lost, int left_out
) noexcept nogil:
    """The race of a seat's stacks.

    Stack number `lost`, if not -1, is in the stash, stack number `left_out` takes no part.
    An own stack on level 1 with none of the three pieces in it is in their way.
    """
    cdef const uint8_t* place = &PLACE[terms.adjacent][terms.colour[seat]][0]
    cdef uint32_t[SIZES] places
    cdef uint32_t smalls, mediums, larges
    cdef int i, sizes, small, medium, large, node, blocked_large, blocked_medium, blocked
    cdef float best = HOPELESS
    places[0] = stacks.stash[0]
    places[1] = stacks.stash[1]
    places[2] = stacks.stash[2]
    for i in range(stacks.count):
        sizes = stacks.sizes[i]
        node = 4 * stacks.nodes[i]
        if i == left_out:
            continue
        if i == lost:
            places[0] |= sizes & 1
            places[1] |= sizes >> 1 & 1
            places[2] |= sizes >> 2
        else:
            places[0] |= <uint32_t>(sizes & 1) << place[node]
            places[1] |= <uint32_t>(sizes >> 1 & 1) << place[node + 1]
            places[2] |= <uint32_t>(sizes >> 2) << place[node + 2]
    blocked = stacks.blocked
    if lost >= 0 and stacks.nodes[lost] < COLOURS:
        blocked &= ~(1 << ((stacks.nodes[lost] - terms.colour[seat]) & 3))
    larges = places[2]
    while larges:
        large = lowest_bit(larges)
        larges &= larges - 1
        blocked_large = blocked & ~on_top_level(large)
        mediums = places[1]
        while mediums:
            medium = lowest_bit(mediums)
            mediums &= mediums - 1
            blocked_medium = blocked_large & ~on_top_level(medium)
            smalls = places[0]
            while smalls:
                small = lowest_bit(smalls)
                smalls &= smalls - 1
                best = min(
                    best,
                    terms.race[
                        (stacks.closed | blocked_medium & ~on_top_level(small)) * TRIPLES
                        + triple(small, medium, large)
                    ],
                )
    return best


cdef bint can_capture(
    const Terms* terms, const Board* board, int attacker, int node, int sizes
) noexcept nogil:
    """Whether a seat can capture a stack of these sizes if it rolls the node's colour."""
    cdef const uint8_t* nodes = &board.nodes[0]
    cdef uint8_t* bottoms = BOTTOMS[terms.sub_towers]
    cdef int takers = CAPTURERS[sizes] & LIMIT[LEVEL[node]]
    cdef int own = attacker << OWNER_SHIFT
    cdef int i, origin
    if takers == 0:
        return False
    for i in range(1, COLOURS):
        origin = sibling(node, (node + i) & 3)
        if terms.adjacent and i == 2:
            continue
        if (nodes[origin] ^ own) < 1 << OWNER_SHIFT and bottoms[nodes[origin] & ALL_SIZES] & takers:
            return True
    if node < LEAVES:
        for i in range(COLOURS):
            origin = child(node, i)
            if (nodes[origin] ^ own) < 1 << OWNER_SHIFT and (
                bottoms[nodes[origin] & ALL_SIZES] & takers
            ):
                return True
    if node >= COLOURS:
        origin = parent(node)
        return (nodes[origin] ^ own) < 1 << OWNER_SHIFT and (
            bottoms[nodes[origin] & ALL_SIZES] & takers
        ) != 0
    if node == terms.colour[attacker]:
        for i in range(SIZES):
            if takers >> i & 1 and board.stash[attacker][i]:
                return True
    return False


cdef void assess(
    const Terms* terms, const Board* board, int seat, Standing* standing
) noexcept nogil:
    cdef Stacks* stacks = &standing.stacks
    cdef float[COLOURS] losses  # by roll
    cdef float loss
    cdef int attacker, i, roll, node
    cdef int hits
    list_stacks(terms, board, seat, stacks)
    standing.race = race_of(terms, stacks, seat, -1, -1)
    standing.danger = 0
    standing.hit = 0
    for attacker in range(terms.seats):
        if attacker == seat:
            continue
        hits = 0
        for roll in range(COLOURS):
            losses[roll] = 0
        for i in range(stacks.count):
            node = stacks.nodes[i]
            if can_capture(terms, board, attacker, node, stacks.sizes[i]):
                # The extra turn that a capture brings counts for a roll.
                loss = 1 + max(<float>0, race_of(terms, stacks, seat, i, -1) - standing.race)
                losses[node & 3] = max(losses[node & 3], loss)
                hits |= 1 << (node & 3)
        for roll in range(COLOURS):
            standing.danger += losses[roll] / COLOURS
            standing.hit += <float>(hits >> roll & 1) / COLOURS


cdef list standings(const Terms* terms, const Board* board):
    """(race, danger) by seat."""
    cdef Standing standing
    cdef int seat
    found = []
    for seat in range(terms.seats):
        assess(terms, board, seat, &standing)
        found.append((standing.race, standing.danger))
    return found


cdef float lead(const Terms* terms, const Board* board, int seat) noexcept nogil:
    """By how many rolls a seat is ahead of its best opponent: what the reference players see."""
    cdef Standing standing
    cdef float own = 0
    cdef float best = 3 * HOPELESS
    cdef float away
    cdef int other
    if board.result == DRAWN:
        return 0
    if board.result != GOING_ON:
        return DECIDED if board.result == 1 + seat else -DECIDED
    for other in range(terms.seats):
        assess(terms, board, other, &standing)
        away = standing.race + standing.danger - (board.seat == other)
        if other == seat:
            own = away
        else:
            best = min(best, away)
    return best - own


cdef float best_reply(
    Game game, const Terms* terms, const Board* board, Board* work, int seat
) noexcept nogil:
    """The lead of a seat after the reply that is best for the seat to act, maybe another."""
    cdef uint32_t[MAX_MOVES] moves
    cdef int mover = board.seat
    cdef int count = game.legal(board, mover, moves)
    cdef int i
    cdef float value
    cdef float best = -2 * DECIDED
    cdef float answer = 0
    for i in range(count):
        memcpy(work, board, sizeof(Board))
        game.apply(work, mover, moves[i])
        value = lead(terms, work, mover)
        if value > best:
            best = value
            answer = value if mover == seat else lead(terms, work, seat)
    return answer


cdef list rate_moves(Game game, const Terms* terms, const Board* board, bint replies):
    """What each legal move leads to, in rolls."""
    cdef uint32_t[MAX_MOVES] moves
    cdef int seat = board.seat
    cdef int count = game.legal(board, seat, moves)
    cdef Board after, rolled, work
    cdef int i, colour
    cdef float value
    ratings = []
    for i in range(count):
        memcpy(&after, board, sizeof(Board))
        game.apply(&after, seat, moves[i])
        if replies and after.result == 0:
            value = 0
            for colour in range(COLOURS):
                memcpy(&rolled, &after, sizeof(Board))
                rolled.rolled = colour
                rolled.rolls += 1
                rolled.pending = NOTHING
                value += best_reply(game, terms, &rolled, &work, seat) / COLOURS
        else:
            value = lead(terms, &after, seat)
        ratings.append((moves[i], value))
    return ratings
