"""My Shelfie's dice as numbers, and what each roll can pay, listed at import.

Limits: six dice with six faces, on sheets of five by five spaces.
"""

from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memset

from aleator.ext.core.bits cimport popcount
from aleator.ext.core.check cimport check


cdef void fill_hands() noexcept:
    cdef uint8_t[FACES] counts
    cdef int hand = 0
    cdef int size, code, rest, face, total
    FACE_KEY[JOKER] = 0
    FACE_KEY[0] = 1
    OUTCOMES[0] = 1
    for face in range(1, JOKER):
        FACE_KEY[face] = FACE_KEY[face - 1] * 7
    for size in range(DICE):
        OUTCOMES[size + 1] = OUTCOMES[size] * FACES
    for size in range(DICE + 1):
        for code in range(KEYS):
            rest = code
            total = 0
            for face in range(JOKER):
                counts[face] = rest % 7
                rest //= 7
                total += counts[face]
            if total > size:
                continue
            counts[JOKER] = size - total
            for face in range(FACES):
                HAND_COUNTS[hand][face] = counts[face]
            HAND_SIZE[hand] = size
            HAND_KEY[hand] = code
            if size == DICE:
                ROLL_OF_KEY[code] = hand
            hand += 1
    check(hand == HANDS)
    check(ROLL_OF_KEY[0] == JOKERS_ONLY)


cdef int add_sets(int count, int size, uint32_t spaces, int dice, int first) noexcept:
    """List the sets of `size` more spaces from `first` on; returns the new `count`."""
    cdef int space
    if size == 0:
        SET_SPACES[count] = spaces
        SET_DICE[count] = dice
        return count + 1
    for space in range(first, SPACES):
        count = add_sets(
            count, size - 1, spaces | <uint32_t>1 << space, dice + space % SIDE + 1, space + 1
        )
    return count


cdef void fill_sets() noexcept:
    cdef int count = 0
    cdef int size
    for size in range(1, 4):
        count = add_sets(count, size, 0, 0, 0)
    check(count == SETS)


cdef bint payable(const uint8_t* counts, int chosen) noexcept:
    """Whether a roll pays for all spaces of a set at once."""
    cdef uint32_t spaces = SET_SPACES[chosen]
    cdef int jokers = counts[JOKER]
    cdef int row, column, needed, takers
    if jokers == DICE:
        return popcount(spaces) == 1
    if SET_DICE[chosen] > DICE:
        return False
    for row in range(SIDE):
        needed = 0
        takers = 0  # spaces that can take a joker
        for column in range(SIDE):
            if spaces >> (SIDE * row + column) & 1:
                needed += column + 1
                takers += column > 0
        needed = max(0, needed - counts[row])
        if needed > takers:
            return False
        jokers -= needed
    return jokers >= 0


cdef void fill_moves() noexcept:
    cdef int roll, hand, face, chosen, count
    for roll in range(ROLLS):
        count = 0
        for hand in range(HANDS):
            for face in range(FACES):
                if HAND_COUNTS[hand][face] > HAND_COUNTS[FIRST_ROLL + roll][face]:
                    break
            else:
                KEEPS[roll][count] = hand
                count += 1
        KEEP_COUNT[roll] = count
        count = 0
        for chosen in range(SETS):
            if payable(HAND_COUNTS[FIRST_ROLL + roll], chosen):
                PAYABLE[roll][count] = chosen
                count += 1
        PAYABLE_COUNT[roll] = count

fill_hands()
fill_sets()
fill_moves()


cdef Terms make_terms(int players, values, bint immediate_end) except *:
    """The terms of a game with valid options."""
    cdef Terms terms
    cdef int line, circles, i
    memset(&terms, 0, sizeof(terms))
    terms.seats = players
    terms.immediate_end = immediate_end
    for line in range(SIDE):
        for circles in range(1 << SIDE):
            if popcount(circles) >= SCORING_CIRCLES:
                for i in range(SIDE):
                    if circles >> i & 1:
                        terms.row_points[line][circles] += values[SIDE * line + i]
                        terms.column_points[line][circles] += values[SIDE * i + line]
    return terms
