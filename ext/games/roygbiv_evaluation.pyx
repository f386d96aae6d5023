"""ROYGBIV: what positions and moves are worth, for the search.

With two seats, a small neural network tells how many points each seat will still
make. It sees 88 features: for each value the best captures that a die of it could
make now and sums over all empty cells, the values on the board, both hands, the bag,
what these could capture, and how much of the board is empty. A hand that is not known,
or not yet drawn, enters by its expectation. The margin becomes a share of the win by a
logistic function whose scale depends on the number of empty cells. The last
plays, from the fourth last on, are played out exactly. For dealing the other hand, there are
weights of the dice that players keep.

With more seats, positions are played to the end by the best of a few random
plays at a time, and the final scores softened into shares of the win.

Sources: G. Tesauro, "Temporal difference learning and TD-Gammon", CACM 38 (1995).
The weights are in `roygbiv_weights.json`, fitted by `tools/fit_roygbiv.py`.

Limits: the network predicts means of play like its own; with more than two seats
nothing is fitted but the price of a die.
"""

import json
from importlib.resources import files

from libc.math cimport expf, logf
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from aleator.ext.core cimport clones  # no-cython-lint: for ALEATOR_CLONES
from aleator.ext.core.bits cimport lowest_bit, popcount
from aleator.ext.core.game cimport MAX_MOVES, State
from aleator.ext.core.random cimport Random, below, next64, scaled, seed_random
from aleator.ext.games.roygbiv cimport (
    CELLS,
    DRAW,
    HAND,
    NO_SEAT,
    NOTHING,
    SIDE,
    VALUES,
    Board,
    pick,
    place,
    points_of,
)


cdef enum:
    LANES = VALUES + 1  # one byte for each value, the first unused
    BEST = 3  # captures looked at for each value
    FEATURES = 88
    HIDDEN = 128
    TRIES = 6  # random plays of which a guided playout takes the best
    EXACT_PLAYS = 4  # so many last plays are solved

    ROW = 0x7F  # the cells of row 0
    COLUMN = 0x40810204081  # the cells of column 0

# Points that a die is worth for each unit of its value, as long as it is not played.
cdef float PRICE = 3
cdef float UNIT = 20  # points, of what the network predicts
cdef float SOFTNESS = 15  # points, for more than two seats
# So much of a share of the win is given by a flat function of the margin, so that the search
# still prefers more points where the result is certain.
cdef float SHADE = 0.04
cdef float FLAT = 40  # points, the scale of that function
cdef float STEEPEST = 10  # points, the least scale by which differences are made priors


# Rows of floats whose length is a multiple of four, for the vector unit.
cdef struct Network:
    float[FEATURES][HIDDEN] inner
    float[HIDDEN] inner_bias
    float[2][HIDDEN] outer  # to the points of the seat to act, and of the other
    float[2] outer_bias
    float[CELLS] scales  # by empty cells: of the logistic function, in points
    # By empty cells and value: how much likelier than others a die is kept in hand, in the play
    # before by the seat that is not to act; above 0.
    float[CELLS][LANES] keeping

cdef Network NETWORK


cdef extern from *:
    """
    #define ALEATOR_INPUTS 88
    #define ALEATOR_HIDDEN 128
    #define ALEATOR_BLOCK 32
    ALEATOR_CLONES static void aleator_apply_layer(
        const float *restrict input, const float *restrict weights,
        const float *restrict bias, float *restrict output)
    {
        for (int start = 0; start < ALEATOR_HIDDEN; start += ALEATOR_BLOCK) {
            float sums[ALEATOR_BLOCK];
            for (int j = 0; j < ALEATOR_BLOCK; j++)
                sums[j] = bias[start + j];
            for (int i = 0; i < ALEATOR_INPUTS; i++)
                for (int j = 0; j < ALEATOR_BLOCK; j++)
                    sums[j] += input[i] * weights[i * ALEATOR_HIDDEN + start + j];
            for (int j = 0; j < ALEATOR_BLOCK; j++)
                output[start + j] = sums[j] > 0 ? sums[j] : 0;
        }
    }
    """
    void apply_layer "aleator_apply_layer"(
        const float* input, const float* weights, const float* bias, float* output
    ) noexcept nogil


# What is known of a hand: dice, and how many more of the pool of unseen dice are in it.
cdef struct Hand:
    uint8_t[LANES] dice
    int unseen


def weights():
    """The weights in use, as in `roygbiv_weights.json`."""
    return {
        "inner": [[NETWORK.inner[i][j] for j in range(HIDDEN)] for i in range(FEATURES)],
        "inner_bias": [NETWORK.inner_bias[j] for j in range(HIDDEN)],
        "outer": [[NETWORK.outer[i][j] for j in range(HIDDEN)] for i in range(2)],
        "outer_bias": [NETWORK.outer_bias[i] for i in range(2)],
        "scales": [NETWORK.scales[i] for i in range(CELLS)],
        "keeping": [[NETWORK.keeping[i][j] for j in range(1, LANES)] for i in range(CELLS)],
    }


def use_weights(values):
    """Play by other weights from now on, in the whole process.

    Parameters
    ----------
    values : dict
        As `weights` returns.
    """
    cdef int i, j
    for i in range(FEATURES):
        for j in range(HIDDEN):
            NETWORK.inner[i][j] = values["inner"][i][j]
    for j in range(HIDDEN):
        NETWORK.inner_bias[j] = values["inner_bias"][j]
    for i in range(2):
        for j in range(HIDDEN):
            NETWORK.outer[i][j] = values["outer"][i][j]
        NETWORK.outer_bias[i] = values["outer_bias"][i]
    for i in range(CELLS):
        NETWORK.scales[i] = values["scales"][i]
        for j in range(1, LANES):
            NETWORK.keeping[i][j] = values["keeping"][i][j - 1]


use_weights(json.loads(files(__package__).joinpath("roygbiv_weights.json").read_text()))


cdef inline void keep_best(
    uint8_t* best, uint8_t* second, uint8_t* third, uint8_t new
) noexcept nogil:
    cdef uint8_t low = new if new < best[0] else best[0]
    best[0] = new if new > best[0] else best[0]
    new = low if low > second[0] else second[0]
    low = low if low < second[0] else second[0]
    second[0] = new
    third[0] = low if low > third[0] else third[0]


cdef inline void sum_line(const uint64_t* cells, uint64_t line, uint8_t* sums) noexcept nogil:
    """For each value, what a die of it would capture in a line."""
    cdef int value
    cdef int total = 0
    sums[0] = 0
    sums[1] = 0
    for value in range(1, VALUES):
        total += value * popcount(cells[value] & line)
        sums[value + 1] = total


cdef inline float best_capture(
    const uint8_t* best, const Hand* hand, const float* up_to
) noexcept nogil:
    """The expected points of the best play of a hand: that of its highest die."""
    cdef int highest = 0
    cdef int value, _
    cdef float share
    cdef float last = 0
    cdef float result = 0
    for value in range(1, VALUES + 1):
        if hand.dice[value]:
            highest = value
    if hand.unseen == 0:
        return best[highest]
    for value in range(max(1, highest), VALUES + 1):
        share = 1
        for _ in range(hand.unseen):
            share *= up_to[value]
        result += best[value] * (share - last)
        last = share
    return result


ctypedef fused Points:
    uint8_t
    int


cdef inline float weigh(const Points* points, const float* dice) noexcept nogil:
    """Points by value, summed over dice."""
    cdef float total = 0
    cdef int value
    for value in range(1, VALUES + 1):
        total += points[value] * dice[value]
    return total


cdef inline void find_apart(
    const uint8_t[SIDE][SIDE * LANES] captures,
    const uint8_t* column_best,
    const uint8_t* best,
    uint8_t* apart,
) noexcept nogil:
    """For each value, the best capture that shares no line with a best one.

    Best captures that share a line pairwise lie in one line. So what counts is what lies
    outside of a line that has all of them; one byte a value, 255 for true.
    """
    cdef uint8_t[SIDE][LANES] row_best
    cdef uint8_t[SIDE * LANES] column_open
    cdef uint8_t[LANES] row_open
    cdef uint8_t[SIDE * LANES] found
    cdef uint8_t[LANES] rows
    cdef uint8_t[LANES] columns
    cdef int i, j, value
    memset(row_best, 0, sizeof(row_best))
    memset(rows, 0, sizeof(rows))
    memset(columns, 0, sizeof(columns))
    memset(found, 0, sizeof(found))
    memset(apart, 0, LANES)
    for i in range(SIDE):
        for j in range(SIDE):
            for value in range(LANES):
                row_best[i][value] = max(row_best[i][value], captures[i][j * LANES + value])
        for value in range(LANES):
            rows[value] += row_best[i][value] == best[value]
            columns[value] += column_best[i * LANES + value] == best[value]
    for j in range(SIDE):
        for value in range(LANES):
            column_open[j * LANES + value] = 255 * (
                (column_best[j * LANES + value] != best[value]) | (columns[value] > 1)
            )
    for i in range(SIDE):
        for value in range(LANES):
            row_open[value] = 255 * ((row_best[i][value] != best[value]) | (rows[value] > 1))
        for j in range(SIDE):
            for value in range(LANES):
                found[j * LANES + value] = max(
                    found[j * LANES + value], captures[i][j * LANES + value] & row_open[value]
                )
    for j in range(SIDE):
        for value in range(LANES):
            apart[value] = max(
                apart[value], found[j * LANES + value] & column_open[j * LANES + value]
            )


cdef void describe(
    const uint64_t* cells,
    const Hand* mine,
    const Hand* theirs,
    const uint8_t* pool,
    float* features,
) noexcept nogil:
    """Write the features of a position, as the seat to act sees it.

    Parameters
    ----------
    cells : by value
    mine, theirs : hands of the seat to act, and of the other
    pool : counts by value of the dice that are unseen: in the bag, and in the hands as
        far as these say so; entry 0 is their sum
    """
    cdef uint8_t[LANES] row
    cdef uint8_t[SIDE * LANES] columns
    cdef uint8_t[SIDE][SIDE * LANES] captures  # by row, column and value; 0 if not empty
    cdef uint8_t[BEST][SIDE * LANES] tops
    cdef uint8_t[BEST][LANES] best
    cdef uint8_t[LANES] apart  # the best that shares no line with the best
    cdef int[LANES] sums
    cdef int[LANES] squares
    cdef int[SIDE + 1] lines  # by number of empty cells
    cdef float[LANES] up_to  # the share of the pool that is of this value or lower
    cdef float[LANES] share  # of the pool
    cdef float[LANES] my_dice  # expected
    cdef float[LANES] their_dice
    cdef uint64_t empty = cells[0]
    cdef uint64_t within_reach = 0  # the cells of lines that are not full
    cdef uint64_t word, other
    cdef float inverse = 0
    cdef float left
    cdef int spread = 0
    cdef int i, j, value, count, open_cells
    memset(captures, 0, sizeof(captures))
    memset(tops, 0, sizeof(tops))
    memset(best, 0, sizeof(best))
    memset(sums, 0, sizeof(sums))
    memset(squares, 0, sizeof(squares))
    memset(lines, 0, sizeof(lines))
    for i in range(SIDE):
        sum_line(cells, <uint64_t>COLUMN << i, columns + i * LANES)
        count = popcount(empty & <uint64_t>COLUMN << i)
        lines[count] += 1
        spread += count * count
        within_reach |= (<uint64_t>COLUMN << i) * (count > 0)
        for value in range(LANES):
            sums[value] += count * columns[i * LANES + value]
    for i in range(SIDE):
        open_cells = empty >> (i * SIDE) & ROW
        count = popcount(open_cells)
        lines[count] += 1
        spread += count * count
        if count == 0:
            continue
        within_reach |= <uint64_t>ROW << (i * SIDE)
        sum_line(cells, <uint64_t>ROW << (i * SIDE), row)
        for value in range(LANES):
            sums[value] += count * row[value]
        # Eight bytes at a time: no sum exceeds 12 * 6, so none runs over.
        memcpy(&word, row, LANES)
        for j in range(SIDE):
            memcpy(&other, columns + j * LANES, LANES)
            other = (word + other) & (<uint64_t>0 - <uint64_t>(open_cells >> j & 1))
            memcpy(captures[i] + j * LANES, &other, LANES)
        for j in range(SIDE * LANES):
            keep_best(&tops[0][j], &tops[1][j], &tops[2][j], captures[i][j])
        for j in range(SIDE):
            for value in range(LANES):
                squares[value] += captures[i][j * LANES + value] * captures[i][j * LANES + value]
    for i in range(SIDE):
        for j in range(BEST):
            for value in range(LANES):
                keep_best(
                    &best[0][value], &best[1][value], &best[2][value], tops[j][i * LANES + value]
                )
    find_apart(captures, tops[0], best[0], apart)
    if pool[0]:
        inverse = (<float>1.0) / pool[0]
    up_to[0] = 0
    share[0] = 0
    my_dice[0] = 0
    their_dice[0] = 0
    for value in range(1, VALUES + 1):
        share[value] = pool[value] * inverse
        up_to[value] = up_to[value - 1] + share[value]
        my_dice[value] = mine.dice[value] + mine.unseen * share[value]
        their_dice[value] = theirs.dice[value] + theirs.unseen * share[value]
    for i in range(BEST):
        for value in range(2, VALUES + 1):
            features[0] = best[i][value] * (<float>1.0 / 20)
            features += 1
    for value in range(2, VALUES + 1):
        features[0] = sums[value] * (<float>1.0 / 400)
        features[6] = squares[value] * (<float>1.0 / 3000)
        features[12] = apart[value] * (<float>1.0 / 20)
        features[18] = popcount(cells[value - 1] & within_reach) * (<float>1.0 / 7)
        features += 1
    features += 18
    left = (1 - (mine.unseen + theirs.unseen) * inverse) * (<float>1.0 / 3)
    for value in range(1, VALUES + 1):
        features[0] = popcount(cells[value]) * (<float>1.0 / 7)
        features[7] = my_dice[value]
        features[14] = their_dice[value]
        features[21] = pool[value] * left
        features += 1
    features += 21
    features[0] = popcount(empty) * (<float>1.0 / 24) - 1
    features[1] = popcount(empty) & 1
    features[2] = best_capture(best[0], mine, up_to) * (<float>1.0 / 20)
    features[3] = best_capture(best[0], theirs, up_to) * (<float>1.0 / 20)
    features[4] = spread * (<float>1.0 / 300)
    features[5] = mine.unseen * (<float>1.0 / 3)
    features[6] = theirs.unseen * (<float>1.0 / 3)
    features[7] = weigh(best[0], my_dice) * (<float>1.0 / 40)
    features[8] = weigh(best[1], my_dice) * (<float>1.0 / 40)
    features[9] = weigh(sums, my_dice) * (<float>1.0 / 800)
    features[10] = weigh(best[0], their_dice) * (<float>1.0 / 40)
    features[11] = weigh(best[1], their_dice) * (<float>1.0 / 40)
    features[12] = weigh(sums, their_dice) * (<float>1.0 / 800)
    features[13] = weigh(best[0], share) * (<float>1.0 / 20)
    features[14] = weigh(sums, share) * (<float>1.0 / 400)
    for i in range(1, 4):
        features[14 + i] = lines[i] * (<float>1.0 / 4)


cdef void predict(const float* features, float* gains) noexcept nogil:
    """The points still to be made by the seat to act, and by the other."""
    cdef float[HIDDEN] hidden
    cdef float x
    cdef int i, j
    apply_layer(features, &NETWORK.inner[0][0], NETWORK.inner_bias, hidden)
    for i in range(2):
        x = NETWORK.outer_bias[i]
        for j in range(HIDDEN):
            x += NETWORK.outer[i][j] * hidden[j]
        gains[i] = x * UNIT


cdef void describe_board(const Board* board, int viewer, float* features) noexcept nogil:
    """The features of a full state of two seats, as one of them sees it, or NO_SEAT all.

    A draw that is pending is left open.
    """
    cdef Hand[2] hands
    cdef uint8_t[LANES] pool
    cdef int seat, value
    cdef int acting = board.seat ^ (board.pending == DRAW)
    memcpy(pool, board.bag, sizeof(pool))
    for seat in range(2):
        memcpy(hands[seat].dice, board.hands[seat], LANES)
        hands[seat].unseen = 0
        # Once the bag is empty, the other hand can be worked out.
        if viewer != NO_SEAT and viewer != seat and board.bag[0]:
            for value in range(VALUES + 1):
                pool[value] += hands[seat].dice[value]
                hands[seat].dice[value] = 0
            hands[seat].unseen = board.hands[seat][0]
    if board.pending == DRAW:
        hands[board.seat].unseen += 1
    describe(board.cells, &hands[acting], &hands[acting ^ 1], pool, features)


cdef inline float logistic(float x) noexcept nogil:
    return 1 / (1 + expf(-x))


cdef inline float prior_factor(int empty_cells) noexcept nogil:
    """Shares of the win that a point is worth where the game is close, in priors."""
    return <float>0.25 / max(STEEPEST, NETWORK.scales[empty_cells])


cdef void rate_closely(
    const Board* board, int seat, const uint32_t* moves, int count, float* values
) noexcept nogil:
    """Rate moves of two seats by the network's view of what they lead to."""
    cdef Board after
    cdef float[FEATURES] features
    cdef float[2] gains
    cdef int empty_cells = popcount(board.cells[0]) - 1
    cdef float factor = prior_factor(empty_cells)
    cdef int i, value
    for i in range(count):
        memcpy(&after, board, sizeof(Board))
        value = moves[i] // CELLS
        values[i] = place(after.cells, value, moves[i] % CELLS)
        if empty_cells:
            after.hands[seat][value] -= 1
            after.hands[seat][0] -= 1
            if after.bag[0]:
                after.pending = DRAW
            else:
                after.seat = seat ^ 1
            describe_board(&after, seat, features)
            predict(features, gains)
            values[i] += gains[1] - gains[0]
        values[i] *= factor


cdef void rate_quickly(
    const Board* board, int seat, int seats, const uint32_t* moves, int count, float* values
) noexcept nogil:
    """Rate moves by their points less the price of the die."""
    cdef uint8_t[SIDE][LANES] rows
    cdef uint8_t[SIDE][LANES] columns
    cdef float factor = <float>0.25 / SOFTNESS
    cdef int i, value, cell
    if seats == 2:
        factor = prior_factor(popcount(board.cells[0]) - 1)
    for i in range(SIDE):
        sum_line(board.cells, <uint64_t>ROW << (i * SIDE), rows[i])
        sum_line(board.cells, <uint64_t>COLUMN << i, columns[i])
    for i in range(count):
        value = moves[i] // CELLS
        cell = moves[i] % CELLS
        values[i] = factor * (
            rows[cell // SIDE][value] + columns[cell % SIDE][value] - PRICE * value
        )


cdef struct Ending:
    int mine  # points still to be made by the seat to act
    int theirs


cdef Ending solve(
    const uint64_t* cells, const uint8_t* mine, const uint8_t* theirs
) noexcept nogil:
    """How the game of two seats ends if both play the rest as well as possible."""
    cdef uint64_t[VALUES + 1] after
    cdef uint8_t[LANES] hand
    cdef uint64_t empty
    cdef Ending best, rest
    cdef int value, points
    cdef bint first = True
    best.mine = 0
    best.theirs = 0
    if cells[0] == 0:
        return best
    for value in range(1, VALUES + 1):
        if mine[value] == 0:
            continue
        memcpy(hand, mine, LANES)
        hand[value] -= 1
        empty = cells[0]
        while empty:
            memcpy(after, cells, sizeof(after))
            points = place(after, value, lowest_bit(empty))
            rest = solve(after, theirs, hand)
            if first or points + rest.theirs - rest.mine > best.mine - best.theirs:
                best.mine = points + rest.theirs
                best.theirs = rest.mine
                first = False
            empty &= empty - 1
    return best


cdef void estimate(const Board* board, float* win_shares, float* scores) noexcept nogil:
    """The shares of the win and the final scores of a full state of two seats."""
    cdef float[FEATURES] features
    cdef float[2] gains
    cdef Ending ending
    cdef int seat = board.seat
    cdef int empty_cells = popcount(board.cells[0])
    cdef float margin
    if empty_cells <= EXACT_PLAYS:
        ending = solve(board.cells, board.hands[seat], board.hands[seat ^ 1])
        gains[0] = ending.mine
        gains[1] = ending.theirs
    else:
        describe_board(board, NO_SEAT, features)
        predict(features, gains)
    scores[seat] = board.scores[seat] + gains[0]
    scores[seat ^ 1] = board.scores[seat ^ 1] + gains[1]
    margin = scores[seat] - scores[seat ^ 1]
    if empty_cells > EXACT_PLAYS:
        win_shares[seat] = logistic(margin / NETWORK.scales[empty_cells])
    elif margin == 0:
        win_shares[seat] = 0.5
    else:
        win_shares[seat] = margin > 0
    win_shares[seat] += SHADE * (logistic(margin / FLAT) - win_shares[seat])
    win_shares[seat ^ 1] = 1 - win_shares[seat]


cdef inline float uniform(Random* random) noexcept nogil:
    """Above 0 and below 1."""
    return <float>(((next64(random) >> 41) + 0.5) * (1.0 / (1 << 23)))


cdef double keeping_likelihood(const Board* board, int seat) noexcept nogil:
    """How likely a seat that is not to act holds its dice, in proportion, in a full state.

    It drew any one of them after its last play, and kept the others.
    """
    cdef const float* keeping = NETWORK.keeping[popcount(board.cells[0])]
    cdef double product = 1
    cdef double drawn = 0
    cdef int value, _
    for value in range(1, LANES):
        for _ in range(board.hands[seat][value]):
            product *= keeping[value]
            drawn += 1 / <double>keeping[value]
    return product * drawn


cdef void guided_playout(Board* board, int seats, Random* random) noexcept nogil:
    """Play to the end; each play is the best of a few drawn ones by points less price."""
    cdef uint8_t[CELLS] empty
    cdef uint8_t[HAND] dice
    cdef uint64_t mask = board.cells[0]
    cdef uint64_t bits
    cdef int count = 0
    cdef int _, value, die, cell, best_die, best_cell, hand_size
    cdef float rating, best
    while mask:
        empty[count] = lowest_bit(mask)
        count += 1
        mask &= mask - 1
    while count:
        hand_size = 0
        for value in range(1, VALUES + 1):
            for _ in range(board.hands[board.seat][value]):
                dice[hand_size] = value
                hand_size += 1
        best = -1000
        best_die = 0
        best_cell = 0
        for _ in range(TRIES):
            bits = next64(random)
            die = dice[scaled(<uint32_t>bits, hand_size)]
            cell = scaled(bits >> 32, count)
            rating = points_of(board.cells, die, empty[cell]) - PRICE * die
            if rating > best:
                best = rating
                best_die = die
                best_cell = cell
        board.scores[board.seat] += place(board.cells, best_die, empty[best_cell])
        count -= 1
        empty[best_cell] = empty[count]
        board.hands[board.seat][best_die] -= 1
        if board.bag[0]:
            board.hands[board.seat][pick(board.bag, random)] += 1
        board.seat = 0 if board.seat + 1 == seats else board.seat + 1
    board.pending = NOTHING


cdef void soften(const float* scores, int seats, float* win_shares) noexcept nogil:
    """Shares of the win that grow smoothly with the final scores."""
    cdef float most = scores[0]
    cdef float total = 0
    cdef int seat
    for seat in range(1, seats):
        most = max(most, scores[seat])
    for seat in range(seats):
        win_shares[seat] = expf((scores[seat] - most) / SOFTNESS)
        total += win_shares[seat]
    for seat in range(seats):
        win_shares[seat] /= total


def features(State state not None, viewer=None):
    """What the network sees of a full state of two seats.

    Parameters
    ----------
    state : State
        Of `Roygbiv`; a draw may be pending, and is then left open.
    viewer : int, optional
        A seat, to whose knowledge the features are limited.
    """
    cdef float[FEATURES] values
    cdef int i
    if state.game.seats != 2:
        raise ValueError("features are for two seats")
    describe_board(<const Board*>state.data, NO_SEAT if viewer is None else viewer, values)
    return [values[i] for i in range(FEATURES)]


def point_prior(int empty_cells):
    """What a point more makes of a difference between priors, that many cells being empty."""
    return prior_factor(empty_cells)


def self_play(
    State start not None,
    uint64_t seed,
    *,
    float noise,
    float random_moves,
    float trace,
    float[:, ::1] features,
    float[:, ::1] gains,
    float[::1] margins,
    int[::1] empty,
    int[::1] forms,
):
    """Play a game of two seats by the look one ply ahead, and note its positions to learn from.

    The arrays get a row for each play: the features in one of three forms, drawn at random;
    the points that the seat to act and the other still made, in part as far as predictions
    later in the game tell them; what the former was ahead by; the number of empty cells; and
    the form. Form 0 is the position before the play, full;
    1 the same as the seat to act sees it; 2 the position after the play and before the
    draw, as the seat that played sees it.

    Parameters
    ----------
    start : State
        Full, of a game that has just begun.
    noise : float
        Points, the scale of the Gumbel noise that is added to the value of each move.
    random_moves : float
        The share of the plays that are drawn uniformly.
    trace : float
        What counts as the final score is a mixture of the prediction after one more play,
        after two, and so on to the true end, each this factor of the one before: TD(trace).
        1 for the true end alone.
    """
    cdef Board board
    cdef Random random
    cdef uint32_t[MAX_MOVES] moves
    cdef float[MAX_MOVES] values
    cdef float[CELLS][2] predicted  # final scores by seat, before each play
    cdef float[2] ends
    cdef float[2] shares
    cdef float[2] scores
    cdef uint64_t mask
    cdef int row = 0
    cdef int count, i, best, value, seat, acting, cells
    if start.game.seats != 2:
        raise ValueError("self-play is for two seats")
    memcpy(&board, start.data, sizeof(Board))
    cells = popcount(board.cells[0])
    if min(
        features.shape[0], gains.shape[0], margins.shape[0], empty.shape[0], forms.shape[0]
    ) < cells or features.shape[1] < FEATURES or gains.shape[1] < 2:
        raise ValueError("the arrays are too small")
    seed_random(&random, seed, 0)
    with nogil:
        while board.cells[0]:
            seat = board.seat
            if trace < 1:
                estimate(&board, shares, scores)
                predicted[row][0] = scores[0]
                predicted[row][1] = scores[1]
            count = 0
            for value in range(1, VALUES + 1):
                mask = board.cells[0] if board.hands[seat][value] else 0
                while mask:
                    moves[count] = value * CELLS + lowest_bit(mask)
                    count += 1
                    mask &= mask - 1
            best = below(&random, count)
            if uniform(&random) >= random_moves:
                rate_closely(&board, seat, moves, count, values)
                for i in range(count):
                    values[i] -= (
                        noise * prior_factor(cells - 1) * logf(-logf(uniform(&random)))
                    )
                    if values[i] > values[best]:
                        best = i
            # Nobody is to act on a full board, so that the last play has no third form.
            forms[row] = below(&random, 3 if cells > 1 else 2)
            if forms[row] < 2:
                describe_board(&board, seat if forms[row] else NO_SEAT, &features[row, 0])
                margins[row] = board.scores[seat] - board.scores[seat ^ 1]
                gains[row, 0] = -<float>board.scores[seat]
                gains[row, 1] = -<float>board.scores[seat ^ 1]
                empty[row] = cells
            value = moves[best] // CELLS
            board.scores[seat] += place(board.cells, value, moves[best] % CELLS)
            board.hands[seat][value] -= 1
            board.hands[seat][0] -= 1
            cells -= 1
            if board.bag[0]:
                board.pending = DRAW
            else:
                board.seat = seat ^ 1
            if forms[row] == 2:
                describe_board(&board, seat, &features[row, 0])
                margins[row] = board.scores[seat ^ 1] - board.scores[seat]
                gains[row, 0] = -<float>board.scores[seat ^ 1]
                gains[row, 1] = -<float>board.scores[seat]
                empty[row] = cells
            if board.pending == DRAW:
                board.hands[seat][pick(board.bag, &random)] += 1
                board.hands[seat][0] += 1
                board.pending = NOTHING
                board.seat = seat ^ 1
            row += 1
        ends[0] = board.scores[0]
        ends[1] = board.scores[1]
        # Whose gains come first: with the last play seat `seat` was to act, and before in turn.
        for i in range(row - 1, -1, -1):
            acting = seat ^ ((row - 1 - i) & 1) ^ (forms[i] == 2)
            gains[i, 0] += ends[acting]
            gains[i, 1] += ends[acting ^ 1]
            if trace < 1:
                ends[0] = trace * ends[0] + (1 - trace) * predicted[i][0]
                ends[1] = trace * ends[1] + (1 - trace) * predicted[i][1]
