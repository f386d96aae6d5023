"""The win shares of a position of Generator, by a fitted network.

Each seat has a strength, the output of a network with one hidden layer that sees
the position from that seat; the shares are the softmax of the strengths. It sees
of its own and of the others' (their mean): every stack, by what stands where, with
colours counted from the seat's own; and some numbers, such as the race to couple and
the danger (`generator_evaluation`). It was fitted to games of two seats and serves all.

The weights are those of `tools/fit_generator.py`.

It does not see the number of rolls; `generator_draws` tells what draws leave of its shares.

Limits: a level 4 node is known by its branch, its colour and its parent's only.
"""

from array import array
from importlib.resources import files
from struct import unpack

from libc.math cimport expf
from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memcpy, memset

from aleator.ext.core.game cimport Game
from aleator.ext.games.generator_board cimport (
    COLOURS,
    GOING_ON,
    LEAVES,
    NODES,
    NOTHING,
    OWNER_SHIFT,
    PLAYERS,
    SIZES,
    SMALL,
    Board,
    parent,
)
from aleator.ext.games.generator_draws cimport allow_for_draws
from aleator.ext.games.generator_evaluation cimport (
    BRANCH,
    HOPELESS,
    IN_PLACE,
    PLACE,
    Stacks,
    Standing,
    Terms,
    assess,
    race_of,
)


cdef enum:
    # The kinds of stack begin with those on levels 1 and 2, level 3, and level 4.
    ANY = 7  # sets of sizes that can stand on level 1 or 2
    FIRST_THIRD = 20
    THIRD = 20 * ANY
    NO_LARGE = 3  # on level 3
    FOURTH = THIRD + 64 * NO_LARGE


cdef int turned(int node, int colour, bint mirrored) noexcept nogil:
    """The node whose path has colours counted from another."""
    cdef int own = (colour - node if mirrored else node - colour) & 3
    return own if node < COLOURS else 4 * (turned(parent(node), colour, mirrored) + 1) + own


cdef void fill_kinds() noexcept nogil:
    cdef int mirrored, colour, node, other, kind
    for mirrored in range(2):
        for colour in range(COLOURS):
            for node in range(NODES):
                other = turned(node, colour, mirrored)
                if node < FIRST_THIRD:
                    kind = ANY * other
                elif node < LEAVES:
                    kind = THIRD + NO_LARGE * (other - FIRST_THIRD)
                else:
                    kind = FOURTH + 16 * BRANCH[other] + 4 * (parent(other) & 3) + (other & 3)
                KIND[mirrored][colour][node] = kind

fill_kinds()


SHAPE = (ROWS + 1, HIDDEN)


def set_weights(const float[:, ::1] weights not None):
    """Use these weights for all games.

    Parameters
    ----------
    weights : buffer of float
        Of shape `SHAPE`: the rows of the first layer, then the output's.

    Raises
    ------
    ValueError
        For another shape.
    """
    if (weights.shape[0], weights.shape[1]) != SHAPE:
        raise ValueError(f"weights must be of shape {SHAPE}")
    memcpy(&NETWORK, &weights[0, 0], sizeof(NETWORK))


def get_weights():
    """The weights, row after row, as bytes of floats."""
    return (<char*>&NETWORK)[:sizeof(NETWORK)]


cdef int load_weights() except -1:
    """Read half floats, row after row."""
    data = (files("aleator.ext.games") / "generator.weights").read_bytes()
    cdef const float[::1] numbers = array("f", unpack(f"<{SHAPE[0] * SHAPE[1]}e", data))
    memcpy(&NETWORK, &numbers[0], sizeof(NETWORK))
    return 0

load_weights()


cdef void describe_seat(
    const Terms* terms, const Board* board, int seat, Description* seen
) noexcept nogil:
    """What the network sees of one seat, in a position before a roll."""
    cdef Standing standing
    cdef Stacks* stacks = &standing.stacks
    cdef const uint8_t* place = &PLACE[terms.adjacent][terms.colour[seat]][0]
    cdef float* numbers = &seen.numbers[seat][0]
    cdef bint rolls = board.seat == seat
    cdef int own = seat << OWNER_SHIFT
    cdef int start = board.nodes[terms.colour[seat]]
    cdef bint start_is_own = (start ^ own) < 1 << OWNER_SHIFT
    cdef int[SIZES] pieces
    cdef int immune = 0, high = 0, high_immune = 0, foreign = 0
    cdef int in_place = 0, secured = 0  # sets of sizes
    cdef int i, node, sizes, size, content
    cdef bint is_immune
    cdef float guarded = HOPELESS
    assess(terms, board, seat, &standing)
    for size in range(SIZES):
        pieces[size] = 0
    seen.counts[seat] = stacks.count
    for i in range(stacks.count):
        node = stacks.nodes[i]
        sizes = stacks.sizes[i]
        seen.nodes[seat][i] = node
        seen.sizes[seat][i] = sizes
        is_immune = sizes & SMALL != 0 and sizes != SMALL
        immune += is_immune
        high += node < COLOURS
        high_immune += is_immune and node < COLOURS
        for size in range(SIZES):
            if sizes >> size & 1:
                pieces[size] += 1
                if IN_PLACE[size] >> place[4 * node + size] & 1:
                    in_place |= 1 << size
                    secured |= is_immune << size
        if is_immune and node < COLOURS:
            # The race if this one stays, to keep others out of the branch.
            guarded = min(guarded, race_of(terms, stacks, seat, -1, i))
    for node in range(COLOURS):
        content = board.nodes[node]
        foreign += content != 0 and (content ^ own) >= 1 << OWNER_SHIFT
    numbers[0] = standing.race / 20
    numbers[1] = 10 / (standing.race + 4)
    # Captures are nearer if others roll next.
    numbers[2] = 0 if rolls else standing.danger / 5
    numbers[3] = standing.danger / 5 if rolls else 0
    numbers[4] = 0 if rolls else standing.hit
    numbers[5] = standing.hit if rolls else 0
    numbers[6] = rolls
    numbers[7] = start != 0 and start_is_own
    numbers[8] = start != 0 and not start_is_own
    numbers[9] = stacks.closed & 1
    numbers[10] = (stacks.closed >> 1 & 1) + (stacks.closed >> 2 & 1) + (stacks.closed >> 3 & 1)
    numbers[11] = high_immune != 0
    numbers[12] = <float>pieces[0] / 4
    numbers[13] = <float>pieces[1] / 4
    numbers[14] = <float>pieces[2] / 4
    numbers[15] = <float>immune / 3
    numbers[16] = <float>((secured & 1) + (secured >> 1 & 1) + (secured >> 2 & 1)) / 2
    numbers[17] = <float>((in_place & 1) + (in_place >> 1 & 1) + (in_place >> 2 & 1)) / 2
    numbers[18] = <float>high / 2
    numbers[19] = <float>high_immune / 2
    numbers[20] = guarded / 20
    # And if nothing comes from the stash.
    for size in range(SIZES):
        stacks.stash[size] = 0
    numbers[21] = race_of(terms, stacks, seat, -1, -1) / 50
    numbers[22] = <float>foreign / 2


cdef void describe(const Terms* terms, const Board* board, Description* seen) noexcept nogil:
    cdef int seat
    for seat in range(terms.seats):
        describe_seat(terms, board, seat, seen)


cdef void look(
    const Terms* terms, const Description* seen, bint mirrored, float[HIDDEN]* hidden, float* shares
) noexcept nogil:
    """The hidden units by seat, before they are cut off at 0, and the shares."""
    cdef int seats = terms.seats
    cdef float part = (<float>1.0) / (seats - 1)
    cdef float[PLAYERS][HIDDEN] others
    cdef float strength
    cdef float total = 0
    cdef float most = -1e30
    cdef int seat, other, i, colour
    for seat in range(seats):
        memset(others[seat], 0, sizeof(others[seat]))
        for i in range(NUMBERS):
            add(others[seat], NETWORK.rows[OTHERS + i], part * seen.numbers[seat][i])
    for seat in range(seats):
        colour = terms.colour[seat]
        memcpy(hidden[seat], NETWORK.rows[BIAS], sizeof(hidden[seat]))
        for i in range(NUMBERS):
            add(hidden[seat], NETWORK.rows[OWN + i], seen.numbers[seat][i])
        for other in range(seats):
            if other != seat:
                add(hidden[seat], others[other], 1)
            for i in range(seen.counts[other]):
                add(
                    hidden[seat],
                    NETWORK.rows[
                        (OWN_STACKS if other == seat else OTHER_STACKS)
                        + kind_of(colour, seen.nodes[other][i], seen.sizes[other][i], mirrored)
                    ],
                    1 if other == seat else part,
                )
        strength = 0
        for i in range(HIDDEN):
            strength += NETWORK.output[i] * max(<float>0, hidden[seat][i])
        shares[seat] = strength
        most = max(most, strength)
    for seat in range(seats):
        shares[seat] = expf(shares[seat] - most)
        total += shares[seat]
    for seat in range(seats):
        shares[seat] /= total


cdef void win_chances(const Terms* terms, const Board* board, float* shares) noexcept nogil:
    """The win share by seat that a position before a roll is worth, as the network has it."""
    cdef Description seen
    cdef float[PLAYERS][HIDDEN] hidden
    describe(terms, board, &seen)
    look(terms, &seen, False, hidden, shares)


cdef void forecast(const Terms* terms, const Board* board, float* shares) noexcept nogil:
    """The same with the draws that are likely after so many rolls, and with so few left."""
    # The estimate is that before the roll, also where it was made.
    cdef int rolls = board.rolls - (board.pending == NOTHING)
    win_chances(terms, board, shares)
    allow_for_draws(shares, terms.seats, rolls, terms.max_rolls - rolls)


cdef void rate(
    Game game, const Terms* terms, const void* board, int seat, const uint32_t* moves, int count,
    float* values,
) noexcept nogil:
    """The win share of the seat to act after each move."""
    cdef Board after
    cdef float[PLAYERS] shares
    cdef int i
    for i in range(count):
        memcpy(&after, board, sizeof(Board))
        game.apply(&after, seat, moves[i])
        if after.result == GOING_ON:
            forecast(terms, &after, shares)
        else:
            game.returns(&after, shares)
        values[i] = shares[seat]
