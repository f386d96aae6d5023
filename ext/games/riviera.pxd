"""Riviera's table and what follows from its dice: for the rules and the evaluation.

Cards are numbered colour * 12 + value - 1, and a set of cards is a 60-bit mask.
"""

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

from aleator.ext.core.bits cimport lowest_bit
from aleator.ext.core.game cimport MAX_SEATS


cdef enum:
    COLOURS = 5
    VALUES = 12
    CARDS = COLOURS * VALUES
    DICE = COLOURS + 1
    GOLDEN = COLOURS  # the index of the golden die
    COLOUR_CARDS = (1 << VALUES) - 1
    DIE_BITS = 3
    MAX_HAND = 24

    HEAP = MAX_SEATS  # the discard heap, where a holder of cards is asked for
    HOLDERS = MAX_SEATS + 1
    MAX_EXCHANGES = COLOURS  # in a round: each takes a 10

    # Phases. SET_UP is that of a zeroed table.
    SET_UP = 0
    DEAL = 1
    ROLL = 2
    NINES = 3
    PLAY = 4
    REVEAL_PLAYS = 5
    EXTRA = 6
    REVEAL_EXTRAS = 7
    POWERS = 8
    EXCHANGE = 9
    STOP = 10
    REVEAL_STOPS = 11
    OVER = 12
    CHANCE_PHASES = (
        1 << SET_UP | 1 << DEAL | 1 << ROLL | 1 << REVEAL_PLAYS
        | 1 << REVEAL_EXTRAS | 1 << EXCHANGE | 1 << REVEAL_STOPS
    )

    # Moves; up to CARDS - 1: to play that card.
    LAST_CHANCE = CARDS
    CRASH = CARDS + 1
    STOPS = CARDS + 2
    MORE = CARDS + 3
    PASS = CARDS + 4
    USE = CARDS + 5
    TURN = CARDS + 6  # + 2 * die, + 1 to turn it down
    PAIRS = CARDS * (CARDS - 1) // 2
    SWAP = TURN + 2 * DICE  # + opponent * PAIRS + number of the pair
    REDRAW = SWAP + MAX_SEATS * PAIRS  # + number of the pair
    MOVES = REDRAW + PAIRS

    HIDDEN = 255  # a choice that was made but is not known
    NO_SEAT = 255


# 60-bit masks by seat come first, bytes last; only the end of the struct is padded.
cdef struct Table:
    uint64_t[MAX_SEATS] hands  # also of seats out of the round; in an observation: the known cards
    uint64_t[MAX_SEATS] played  # this round, also those of crashed seats: public
    # The swaps and redraws of this round in order; 0 where there are no more.
    uint64_t[MAX_EXCHANGES] given  # by who asked: two cards; in an observation 0 if not seen
    uint64_t[MAX_EXCHANGES] drawn  # for them, likewise
    uint64_t[MAX_EXCHANGES] before  # the cards that were on the table by then
    uint64_t pile  # empty in an observation
    uint64_t heap  # discarded by redraws
    uint32_t[MAX_SEATS] chance_dice  # usable by the seat at its Last Chance this round
    uint32_t[MAX_SEATS] crash_dice  # usable by the seat at its crash
    uint16_t[MAX_SEATS] scores
    uint16_t round_number  # from 1
    uint16_t asked  # the swap or redraw whose cards chance is to draw
    uint8_t[MAX_EXCHANGES] askers  # of the swaps and redraws
    uint8_t[MAX_EXCHANGES] partners  # a seat, or HEAP for a redraw
    uint8_t[MAX_SEATS] chance_after  # so many of them was its Last Chance
    uint8_t[MAX_SEATS] choices  # unrevealed: move + 1, HIDDEN, or 0 for none
    uint8_t[MAX_SEATS] powers  # card + 1 of the 2, 9, 10 or 11 whose power is not yet used
    uint8_t[MAX_SEATS] reserved  # die + 1, of the roll on the table, between turns of the next one
    uint8_t[MAX_SEATS] reserving  # die + 1, from the next clean-up on
    uint8_t[DICE] dice  # 0: not on the table
    uint8_t turn  # of the round, from 1
    uint8_t phase
    uint8_t token  # during set-up: the seat to hold it first, or NO_SEAT to draw it
    uint8_t removed  # colour out of the game, or COLOURS
    uint8_t inside  # bit masks of seats from here on: in the round
    uint8_t stopped  # neither inside nor stopped: crashed
    uint8_t used  # Last Chances
    uint8_t waiting  # still to act in this phase
    uint8_t extra  # still to decide on an extra play
    uint8_t turned  # bit mask of the dice turned this turn
    uint8_t golden  # 1: the golden die joins the next roll
    uint8_t exchanges
    uint8_t heap_size


cdef inline uint64_t bit(int card) noexcept nogil:
    return <uint64_t>1 << card


cdef inline uint64_t value_cards(int value) noexcept nogil:
    """The cards of one value."""
    cdef uint64_t result = 0
    cdef int colour
    for colour in range(COLOURS):
        result |= bit(colour * VALUES + value - 1)
    return result


cdef inline uint64_t valid_cards(const uint8_t* dice) noexcept nogil:
    """The cards that the dice allow, where dice that are not usable are 0.

    Bit x of `once` and `twice` tells that x is shown by one die, by two. A zero
    adds nothing to a sum, so that it makes no card valid that is not so anyway.
    """
    cdef uint32_t once = 0
    cdef uint32_t twice = 0
    cdef uint32_t shown, others, sums
    cdef uint64_t result = 0
    cdef int die
    for die in range(DICE):
        shown = 1 << dice[die]
        twice |= once & shown
        once |= shown
    for die in range(COLOURS):
        shown = 1 << dice[die]
        others = (once & ~shown) | (twice & shown)
        sums = (shown | others << dice[die]) >> 1
        sums &= <uint32_t>0 - <uint32_t>(dice[die] != 0)
        result |= <uint64_t>sums << (die * VALUES)
    return result


cdef inline uint32_t pack_dice(const uint8_t* dice) noexcept nogil:
    cdef uint32_t result = 0
    cdef int die
    for die in range(DICE):
        result |= <uint32_t>dice[die] << (die * DIE_BITS)
    return result


cdef inline void unpack_dice(uint32_t packed, uint8_t* dice) noexcept nogil:
    cdef int die
    for die in range(DICE):
        dice[die] = packed >> (die * DIE_BITS) & 7


cdef inline void usable_dice(const Table* table, int seat, uint8_t* dice) noexcept nogil:
    """Copy the dice, without those that other seats have reserved."""
    cdef int other
    memcpy(dice, table.dice, DICE)
    for other in range(MAX_SEATS):
        if table.reserved[other] and other != seat:
            dice[table.reserved[other] - 1] = 0


cdef inline uint64_t valid_for(const Table* table, int seat) noexcept nogil:
    """The cards, in whatever hand, that are valid for a seat."""
    cdef uint8_t[DICE] dice
    usable_dice(table, seat, dice)
    return valid_cards(dice)


cdef inline int nth_card(uint64_t cards, int rank) noexcept nogil:
    """The card of that rank, from 0, in a set."""
    while rank:
        cards &= cards - 1
        rank -= 1
    return lowest_bit(cards)


cdef inline int pair_number(int low, int high) noexcept nogil:
    return high * (high - 1) // 2 + low


cdef inline int turned_value(int value, bint down) noexcept nogil:
    """What a die shows once it is turned by one."""
    if down:
        return 6 if value == 1 else value - 1
    return 1 if value == 6 else value + 1
