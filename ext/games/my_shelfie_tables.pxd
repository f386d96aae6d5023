"""Sheets, dice and what can be done with them: for My Shelfie's rules and evaluation alike.

A sheet is two 25-bit sets, its circles and its crosses. Dice are numbers into tables
made at import by `my_shelfie_tables.pyx`.
"""

from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t

from aleator.ext.core.bits cimport popcount
from aleator.ext.core.random cimport Random, below


cdef enum:
    SEATS = 4
    SIDE = 5  # rows and columns of a sheet
    SPACES = 25  # space 5 * row + column; that of column c needs c + 1 dice
    FACES = 6  # the items of the five rows, then the joker
    JOKER = 5
    DICE = 6
    SCORING_CIRCLES = 3  # that a row or column needs to score
    REROLLS = 2
    MAX_VALUE = 100_000  # 50 times this is still exact as a float

    ALL_SPACES = (1 << SPACES) - 1
    FIRST_COLUMN = 0x108421  # also: a row's bits to the column sets, by multiplication
    FIRST_ROW = 0x1F

    # Multisets of up to six dice are numbered by size, so that those of all six come last.
    HANDS = 924
    ROLLS = 462  # hands of six dice
    FIRST_ROLL = HANDS - ROLLS
    NO_DICE = 0
    JOKERS_ONLY = FIRST_ROLL
    KEYS = 16807  # 7^5, see HAND_KEY

    SETS = 2625  # sets of one to three spaces
    MAX_KEEPS = 64  # of one roll
    MAX_SETS = 80  # that one roll can pay

    # Moves: keeping a hand, circling a set of spaces, crossing a row.
    FIRST_CIRCLE = HANDS
    FIRST_CROSS = FIRST_CIRCLE + SETS
    MOVES = FIRST_CROSS + SIDE

    # What comes next.
    DECISION = 0
    SET_UP = 1  # drawing who starts
    ROLL = 2
    OVER = 3


# 40 bytes, no padding. A finished game has zeros in `dice`, `seat` and `rerolls`.
cdef struct Shelves:
    uint32_t[SEATS] circles  # by seat: bit s set if space s is circled
    uint32_t[SEATS] crosses  # by seat: bit s set if space s is crossed
    uint16_t dice  # the hand shown, or, while a roll is pending, the hand kept
    uint8_t seat  # whose turn it is
    uint8_t start  # the seat that started the game
    uint8_t rerolls  # how often dice may be rolled again after what comes next, 0-2
    uint8_t phase  # DECISION, SET_UP, ROLL or OVER
    uint8_t[2] unused


# The options, as play needs them.
cdef struct Terms:
    int seats
    bint immediate_end
    # Points of each row and column by the set of its circles.
    int32_t[SIDE][1 << SIDE] row_points
    int32_t[SIDE][1 << SIDE] column_points


cdef Terms make_terms(int players, values, bint immediate_end) except *


cdef uint8_t[HANDS][FACES] HAND_COUNTS
cdef uint8_t[HANDS] HAND_SIZE
# Sum of counts[colour] * 7^colour: names a hand of known size, and adds up with hands.
cdef uint16_t[HANDS] HAND_KEY
cdef uint16_t[KEYS] ROLL_OF_KEY
cdef uint16_t[FACES] FACE_KEY
cdef uint32_t[DICE + 1] OUTCOMES  # of rolling k dice: 6^k

cdef uint32_t[SETS] SET_SPACES
cdef uint8_t[SETS] SET_DICE  # that the spaces of the set need, jokers among them
# By roll: the moves to choose from, were the sheet blank. Sets are given without FIRST_CIRCLE.
cdef uint16_t[ROLLS][MAX_KEEPS] KEEPS
cdef uint8_t[ROLLS] KEEP_COUNT
cdef uint16_t[ROLLS][MAX_SETS] PAYABLE
cdef uint8_t[ROLLS] PAYABLE_COUNT


cdef inline uint32_t whole_rows(uint32_t spaces) noexcept nogil:
    """The spaces of the rows that are all in a set of spaces."""
    return (
        spaces & spaces >> 1 & spaces >> 2 & spaces >> 3 & spaces >> 4 & FIRST_COLUMN
    ) * FIRST_ROW


cdef inline uint32_t whole_columns(uint32_t spaces) noexcept nogil:
    """The spaces of the columns that are all in a set of spaces."""
    return (
        spaces & spaces >> 5 & spaces >> 10 & spaces >> 15 & spaces >> 20 & FIRST_ROW
    ) * FIRST_COLUMN


cdef inline uint32_t blanks(const Shelves* shelves, int seat) noexcept nogil:
    """The blank spaces of a seat's sheet."""
    return ALL_SPACES ^ (shelves.circles[seat] | shelves.crosses[seat])


cdef inline int list_sets(int roll, uint32_t blank, uint16_t* sets) noexcept nogil:
    """List the sets of blank spaces that a roll pays; at most MAX_SETS."""
    cdef const uint16_t* listed = PAYABLE[roll - FIRST_ROLL]
    cdef int total = PAYABLE_COUNT[roll - FIRST_ROLL]
    cdef int count = 0
    cdef int i
    for i in range(total):
        sets[count] = listed[i]
        count += (SET_SPACES[listed[i]] & ~blank) == 0
    return count


cdef inline int list_rows(uint32_t blank, uint8_t* rows) noexcept nogil:
    """List the rows with a blank space."""
    cdef int count = 0
    cdef int row
    for row in range(SIDE):
        rows[count] = row
        count += (blank >> (SIDE * row) & FIRST_ROW) != 0
    return count


cdef inline int roll_dice(int kept, Random* random) noexcept nogil:
    """Roll the dice that are not kept; returns the roll of all six."""
    cdef int left = DICE - HAND_SIZE[kept]
    cdef int key = HAND_KEY[kept]
    cdef uint32_t outcome = below(random, OUTCOMES[left])
    while left:
        key += FACE_KEY[outcome % FACES]
        outcome //= FACES
        left -= 1
    return ROLL_OF_KEY[key]


cdef inline void keep_hand(Shelves* shelves, int hand) noexcept nogil:
    """Keep some of the dice, and roll the others next; all six: stop rolling."""
    if hand >= FIRST_ROLL:
        shelves.rerolls = 0
    else:
        shelves.dice = hand
        shelves.rerolls -= 1
        shelves.phase = ROLL


cdef inline void begin_turn(Shelves* shelves, int seat) noexcept nogil:
    shelves.seat = seat
    shelves.dice = NO_DICE
    shelves.rerolls = REROLLS
    shelves.phase = ROLL


cdef inline void end_turn(const Terms* terms, Shelves* shelves) noexcept nogil:
    cdef int next_seat = shelves.seat + 1
    cdef int seat
    if next_seat == terms.seats:
        next_seat = 0
    if terms.immediate_end or next_seat == shelves.start:
        for seat in range(terms.seats):
            if popcount(whole_rows(ALL_SPACES ^ blanks(shelves, seat))) >= 2 * SIDE:
                shelves.phase = OVER
                shelves.dice = NO_DICE
                shelves.seat = 0
                shelves.rerolls = 0
                return
    begin_turn(shelves, next_seat)


cdef inline void circle_spaces(
    const Terms* terms, Shelves* shelves, uint32_t spaces
) noexcept nogil:
    """Circle blank spaces, block, and end the turn."""
    cdef uint32_t before = shelves.circles[shelves.seat]
    cdef uint32_t after = before | spaces
    cdef uint32_t lines = (
        (whole_rows(after) & ~whole_rows(before))
        | (whole_columns(after) & ~whole_columns(before))
    )
    cdef int seat
    shelves.circles[shelves.seat] = after
    if lines:
        # Of the seat's own spaces there, none is left to cross: all are circled.
        for seat in range(terms.seats):
            shelves.crosses[seat] |= lines & ~shelves.circles[seat]
    end_turn(terms, shelves)


cdef inline void cross_row(const Terms* terms, Shelves* shelves, int row) noexcept nogil:
    """Cross the blank spaces of a row and end the turn."""
    cdef uint32_t blank = blanks(shelves, shelves.seat)
    shelves.crosses[shelves.seat] |= blank & <uint32_t>FIRST_ROW << (SIDE * row)
    end_turn(terms, shelves)


cdef inline uint32_t row_of(uint32_t spaces, int row) noexcept nogil:
    """The spaces of a row, as five bits."""
    return spaces >> (SIDE * row) & FIRST_ROW


cdef inline uint32_t column_of(uint32_t spaces, int column) noexcept nogil:
    """The spaces of a column, as five bits."""
    # The product puts the five bits of a column side by side, from bit 20 on.
    return (spaces >> column & FIRST_COLUMN) * 0x111110 >> 20 & FIRST_ROW


cdef inline int sheet_points(const Terms* terms, uint32_t circles) noexcept nogil:
    """The points of a sheet as it is."""
    cdef int total = 0
    cdef int line
    for line in range(SIDE):
        total += terms.row_points[line][row_of(circles, line)]
        total += terms.column_points[line][column_of(circles, line)]
    return total
