"""My Shelfie, the dice game: rules and playouts on bit boards and tables.

A sheet is two 25-bit sets, its circles and its crosses, so that lines are found
with shifts and ands. Dice are numbers into tables made at import: every way to
keep some of a roll and every set of spaces that a roll can pay are listed
beforehand, so listing moves is going through a list.

In uniformly random play the dice that a turn ends with do not depend on the
sheets. Their exact distribution is computed at import too (roll, keep a
uniformly drawn part, roll the rest, twice), and a playout draws the dice of a
whole turn from it at once: the same distribution of games as move by move.

The rules are on the game's page of the documentation. Sources: A. Walker, "An
efficient method for generating discrete random variables with general
distributions", ACM TOMS 3 (1977) for drawing the dice of a turn.

Limits: 2 to 4 seats; 25 whole values small enough that scores are exact as
floats; the probabilities of a playout's dice are rounded to 32 bits.
"""

from cython cimport final
from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memset

from aleator.ext.core.bits cimport popcount
from aleator.ext.core.check cimport check
from aleator.ext.core.game cimport (
    CHANCE,
    FINISHED,
    Game,
    State,
    hash_bytes,
    share_highest,
)
from aleator.ext.core.random cimport Random, below, next64, scaled


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

# Walker's alias tables for the dice that a random turn ends with.
cdef uint32_t[ROLLS] ALIAS_LIMIT
cdef uint16_t[ROLLS] ALIAS


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


cdef double chance_of(int hand) noexcept:
    """The chance that rolling as many dice as the hand has gives this hand."""
    cdef int[DICE + 1] factorials = [1, 1, 2, 6, 24, 120, 720]
    cdef int orders = factorials[HAND_SIZE[hand]]
    cdef int face
    for face in range(FACES):
        orders //= factorials[HAND_COUNTS[hand][face]]
    return <double>orders / OUTCOMES[HAND_SIZE[hand]]


cdef void roll_rest(const double* kept, double* rolls) noexcept:
    """Set the chances of rolls, given those of the hands kept before the other dice are rolled."""
    cdef int hand, rolled
    cdef double chance
    memset(rolls, 0, ROLLS * sizeof(double))
    for rolled in range(HANDS):
        chance = chance_of(rolled)
        for hand in range(HANDS):
            if HAND_SIZE[hand] + HAND_SIZE[rolled] == DICE:
                rolls[ROLL_OF_KEY[HAND_KEY[hand] + HAND_KEY[rolled]] - FIRST_ROLL] += (
                    kept[hand] * chance
                )


cdef void find_final_dice(double* last) noexcept:
    """Set the chances of the dice that a turn ends with, every keep being as likely."""
    cdef double[HANDS] kept
    cdef double[ROLLS] rolls
    cdef double share
    cdef int _reroll, roll, i, hand
    memset(last, 0, ROLLS * sizeof(double))
    memset(kept, 0, sizeof(kept))
    kept[NO_DICE] = 1
    roll_rest(kept, rolls)
    for _reroll in range(REROLLS):
        memset(kept, 0, sizeof(kept))
        for roll in range(ROLLS):
            share = rolls[roll] / KEEP_COUNT[roll]
            for i in range(KEEP_COUNT[roll]):
                hand = KEEPS[roll][i]
                if hand >= FIRST_ROLL:
                    last[roll] += share
                else:
                    kept[hand] += share
        roll_rest(kept, rolls)
    for roll in range(ROLLS):
        last[roll] += rolls[roll]


cdef void fill_alias() noexcept:
    cdef double[ROLLS] excess  # chance * ROLLS, less what was given away
    cdef int[ROLLS] poor
    cdef int poor_count = 0
    cdef int roll, giver
    find_final_dice(excess)
    for roll in range(ROLLS):
        excess[roll] *= ROLLS
        ALIAS_LIMIT[roll] = 0xFFFFFFFF
        ALIAS[roll] = FIRST_ROLL + roll
        if excess[roll] < 1:
            poor[poor_count] = roll
            poor_count += 1
    # A rich roll fills up poor ones until it is poor itself.
    for giver in range(ROLLS):
        while excess[giver] > 1 and poor_count:
            poor_count -= 1
            roll = poor[poor_count]
            ALIAS_LIMIT[roll] = <uint32_t>(excess[roll] * 0xFFFFFFFF)
            ALIAS[roll] = FIRST_ROLL + giver
            excess[giver] -= 1 - excess[roll]
            if excess[giver] < 1:
                poor[poor_count] = giver
                poor_count += 1


fill_hands()
fill_sets()
fill_moves()
fill_alias()


# In functions: at module level Cython's comprehensions would release None too often.
cdef tuple list_hands():
    cdef int hand, face
    return tuple([
        tuple([HAND_COUNTS[hand][face] for face in range(FACES)]) for hand in range(HANDS)
    ])


cdef tuple list_circle_sets():
    cdef int chosen, space
    return tuple([
        tuple([space for space in range(SPACES) if SET_SPACES[chosen] >> space & 1])
        for chosen in range(SETS)
    ])


HAND_DICE = list_hands()  # by number: how many dice show each face
CIRCLE_SETS = list_circle_sets()  # by number: the spaces
CIRCLE_MOVES = FIRST_CIRCLE  # moves below keep the hand of that number
CROSS_MOVES = FIRST_CROSS  # moves below circle the set numbered from CIRCLE_MOVES
LARGEST_VALUE = MAX_VALUE


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


cdef inline int final_dice(Random* random) noexcept nogil:
    """Draw the dice that a turn of random keeps ends with."""
    cdef uint64_t bits = next64(random)
    cdef int roll = scaled(<uint32_t>bits, ROLLS)
    return FIRST_ROLL + roll if bits >> 32 < ALIAS_LIMIT[roll] else ALIAS[roll]


cdef inline void begin_turn(Shelves* shelves, int seat) noexcept nogil:
    shelves.seat = seat
    shelves.dice = NO_DICE
    shelves.rerolls = REROLLS
    shelves.phase = ROLL


@final
cdef class MyShelfie(Game):
    """Rules of My Shelfie, the dice game.

    Parameters
    ----------
    players : int
        2, 3 or 4.
    values : sequence of 25 int
        The points of the spaces, row by row.
    immediate_end : bool
        Whether the game ends with the turn after which a sheet has two rows without a blank
        space, and not with the round.

    Raises
    ------
    ValueError
        For another number of players or of values, or a value beyond +-LARGEST_VALUE.
    """

    cdef readonly bint immediate_end
    # Points of each row and column by the set of its circles.
    cdef int32_t[SIDE][1 << SIDE] row_points
    cdef int32_t[SIDE][1 << SIDE] column_points

    def __init__(self, int players=2, values=(1, 2, 3, 5, 8) * SIDE, bint immediate_end=False):
        cdef int line, circles, i
        if not 2 <= players <= SEATS:
            raise ValueError(f"players must be 2..{SEATS}, not {players}")
        if len(values) != SPACES or any([abs(value) > MAX_VALUE for value in values]):
            raise ValueError(f"values must be {SPACES} numbers of at most +-{MAX_VALUE}")
        self.seats = players
        self.immediate_end = immediate_end
        self.move_space = MOVES
        self.state_size = sizeof(Shelves)
        memset(self.row_points, 0, sizeof(self.row_points))
        memset(self.column_points, 0, sizeof(self.column_points))
        for line in range(SIDE):
            for circles in range(1 << SIDE):
                if popcount(circles) >= SCORING_CIRCLES:
                    for i in range(SIDE):
                        if circles >> i & 1:
                            self.row_points[line][circles] += values[SIDE * line + i]
                            self.column_points[line][circles] += values[SIDE * i + line]

    cdef void start(self, void* state, int start_seat) noexcept nogil:
        cdef Shelves* shelves = <Shelves*>state
        if start_seat < 0:
            shelves.phase = SET_UP
        else:
            shelves.start = start_seat
            begin_turn(shelves, start_seat)

    cdef int actors(self, const void* state) noexcept nogil:
        cdef const Shelves* shelves = <const Shelves*>state
        if shelves.phase == DECISION:
            return 1 << shelves.seat
        return FINISHED if shelves.phase == OVER else CHANCE

    cdef int legal(self, const void* state, int seat, uint32_t* moves) noexcept nogil:
        cdef const Shelves* shelves = <const Shelves*>state
        cdef uint16_t[MAX_SETS] sets
        cdef uint8_t[SIDE] rows
        cdef uint32_t blank = blanks(shelves, seat)
        cdef int count, i
        if shelves.rerolls:
            count = KEEP_COUNT[shelves.dice - FIRST_ROLL]
            for i in range(count):
                moves[i] = KEEPS[shelves.dice - FIRST_ROLL][i]
            return count
        count = list_sets(shelves.dice, blank, sets)
        for i in range(count):
            moves[i] = FIRST_CIRCLE + sets[i]
        if count == 0:
            count = list_rows(blank, rows)
            for i in range(count):
                moves[i] = FIRST_CROSS + rows[i]
        return count

    cdef void apply(self, void* state, int seat, uint32_t move) noexcept nogil:
        cdef Shelves* shelves = <Shelves*>state
        if move >= FIRST_CROSS:
            self.cross(shelves, move - FIRST_CROSS)
        elif move >= FIRST_CIRCLE:
            self.circle(shelves, SET_SPACES[move - FIRST_CIRCLE])
        elif move >= FIRST_ROLL:
            shelves.rerolls = 0
        else:
            shelves.dice = move
            shelves.rerolls -= 1
            shelves.phase = ROLL

    cdef void circle(self, Shelves* shelves, uint32_t spaces) noexcept nogil:
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
            for seat in range(self.seats):
                shelves.crosses[seat] |= lines & ~shelves.circles[seat]
        self.end_turn(shelves)

    cdef void cross(self, Shelves* shelves, int row) noexcept nogil:
        """Cross the blank spaces of a row and end the turn."""
        cdef uint32_t blank = blanks(shelves, shelves.seat)
        shelves.crosses[shelves.seat] |= blank & <uint32_t>FIRST_ROW << (SIDE * row)
        self.end_turn(shelves)

    cdef void end_turn(self, Shelves* shelves) noexcept nogil:
        cdef int next_seat = shelves.seat + 1
        cdef int seat
        if next_seat == self.seats:
            next_seat = 0
        if self.immediate_end or next_seat == shelves.start:
            for seat in range(self.seats):
                if popcount(whole_rows(ALL_SPACES ^ blanks(shelves, seat))) >= 2 * SIDE:
                    shelves.phase = OVER
                    shelves.dice = NO_DICE
                    shelves.seat = 0
                    shelves.rerolls = 0
                    return
        begin_turn(shelves, next_seat)

    cdef uint64_t chance(self, void* state, Random* random) noexcept nogil:
        cdef Shelves* shelves = <Shelves*>state
        cdef uint32_t outcome
        cdef int key, left
        if shelves.phase == SET_UP:
            shelves.start = below(random, self.seats)
            begin_turn(shelves, shelves.start)
            return shelves.start
        left = DICE - HAND_SIZE[shelves.dice]
        outcome = below(random, OUTCOMES[left])
        key = HAND_KEY[shelves.dice]
        while left:
            key += FACE_KEY[outcome % FACES]
            outcome //= FACES
            left -= 1
        return self.show(shelves, ROLL_OF_KEY[key])

    cdef int show(self, Shelves* shelves, int roll) noexcept nogil:
        """Let the pending roll come out; returns `roll`, the code of this event."""
        shelves.dice = roll
        shelves.phase = DECISION
        # On a sheet without a blank space there is nothing to decide.
        if blanks(shelves, shelves.seat) == 0:
            self.end_turn(shelves)
        return roll

    cdef uint32_t observed(self, const void* state, uint64_t event, int viewer) noexcept nogil:
        return event + 1  # codes of rolls are far above seats; seat 0 must not be 0

    cdef void returns(self, const void* state, float* win_shares) noexcept nogil:
        cdef float[SEATS] scores
        self.points(state, scores)
        share_highest(scores, self.seats, win_shares)

    cdef void points(self, const void* state, float* scores) noexcept nogil:
        cdef uint32_t circles, column
        cdef int seat, line, total
        for seat in range(self.seats):
            circles = (<const Shelves*>state).circles[seat]
            total = 0
            for line in range(SIDE):
                # The product puts the five bits of a column side by side, from bit 20 on.
                column = circles >> line & FIRST_COLUMN
                total += self.row_points[line][circles >> (SIDE * line) & FIRST_ROW]
                total += self.column_points[line][column * 0x111110 >> 20 & FIRST_ROW]
            scores[seat] = total

    cdef uint64_t information_hash(self, const void* state, int seat) noexcept nogil:
        return hash_bytes(state, sizeof(Shelves), seat)

    cdef void playout(self, void* state, Random* random) noexcept nogil:
        cdef Shelves* shelves = <Shelves*>state
        cdef int roll
        while shelves.phase != OVER:
            if shelves.phase == DECISION:
                if shelves.rerolls:
                    roll = shelves.dice - FIRST_ROLL
                    self.apply(state, shelves.seat, KEEPS[roll][below(random, KEEP_COUNT[roll])])
                else:
                    self.mark(shelves, random)
            elif shelves.phase == ROLL and shelves.rerolls == REROLLS:
                shelves.rerolls = 0
                self.show(shelves, final_dice(random))
            else:
                self.chance(state, random)

    cdef void mark(self, Shelves* shelves, Random* random) noexcept nogil:
        """Play a random circle move, or a random cross move if there is none."""
        cdef uint16_t[MAX_SETS] sets
        cdef uint8_t[SIDE] rows
        cdef uint32_t blank = blanks(shelves, shelves.seat)
        cdef int count = list_sets(shelves.dice, blank, sets)
        cdef uint32_t bits = next64(random) >> 32
        if count:
            self.circle(shelves, SET_SPACES[sets[scaled(bits, count)]])
        else:
            count = list_rows(blank, rows)
            self.cross(shelves, rows[scaled(bits, count)])

    def pack(self, sheets, dice, rerolls, seat_to_act, start_seat):
        """Build a state from fields that were checked to agree with each other.

        Parameters
        ----------
        sheets : sequence
            By seat: 25 spaces, row by row, 0 blank, 1 circled, 2 crossed.
        dice : sequence of 6 int
            How many dice show each face; in a finished game all 0.
        rerolls : int
            How often some dice may still be rolled again, 0-2.
        seat_to_act : int or None
            None in a finished game.
        start_seat : int
        """
        cdef State state = self.new_state()
        cdef Shelves* shelves = <Shelves*>state.data
        cdef int seat, space
        if len(sheets) != self.seats:
            raise ValueError(f"need {self.seats} sheets")
        for seat in range(self.seats):
            if len(sheets[seat]) != SPACES:
                raise ValueError(f"sheets have {SPACES} spaces")
            for space in range(SPACES):
                if sheets[seat][space] == 1:
                    shelves.circles[seat] |= <uint32_t>1 << space
                elif sheets[seat][space] == 2:
                    shelves.crosses[seat] |= <uint32_t>1 << space
        self.check_seat(start_seat)
        shelves.start = start_seat
        shelves.dice = find_hand(dice)
        if not 0 <= rerolls <= REROLLS:
            raise ValueError(f"rerolls must be 0..{REROLLS}")
        shelves.rerolls = rerolls
        if seat_to_act is None:
            shelves.phase = OVER
        else:
            self.check_seat(seat_to_act)
            shelves.seat = seat_to_act
        if (shelves.dice < FIRST_ROLL) != (seat_to_act is None):
            raise ValueError("six dice lie there unless the game is over")
        return state

    def unpack(self, State state not None):
        """The fields that `pack` takes, as a dict; of a state without pending chance."""
        cdef const Shelves* shelves = <const Shelves*>self.read(state)
        cdef int seat, space
        return {
            "sheets": [
                [
                    (shelves.circles[seat] >> space & 1) + 2 * (shelves.crosses[seat] >> space & 1)
                    for space in range(SPACES)
                ]
                for seat in range(self.seats)
            ],
            "dice": list(HAND_DICE[shelves.dice]),
            "rerolls": shelves.rerolls,
            "seat_to_act": None if shelves.phase == OVER else shelves.seat,
            "start_seat": shelves.start,
        }

    def dice_to_roll(self, State state not None):
        """How many dice the pending roll has; 0 if none is pending."""
        cdef const Shelves* shelves = <const Shelves*>self.read(state)
        return DICE - HAND_SIZE[shelves.dice] if shelves.phase == ROLL else 0

    def roll(self, State state not None, dice):
        """The state after the pending roll came out as `dice`.

        Parameters
        ----------
        state : State
        dice : sequence of 6 int
            How many of the dice that were rolled show each face.

        Raises
        ------
        ValueError
            If no roll of so many dice is pending.
        """
        cdef State copy = self.copy_state(state)
        cdef Shelves* shelves = <Shelves*>copy.data
        cdef int rolled = find_hand(dice)
        if shelves.phase != ROLL or HAND_SIZE[shelves.dice] + HAND_SIZE[rolled] != DICE:
            raise ValueError(f"no roll of {HAND_SIZE[rolled]} dice is pending")
        self.show(shelves, ROLL_OF_KEY[HAND_KEY[shelves.dice] + HAND_KEY[rolled]])
        return copy


cdef int find_hand(dice) except -1:
    """The number of the hand that has so many dice of each face."""
    try:
        return HAND_DICE.index(tuple(dice))
    except ValueError:
        raise ValueError("dice are six counts with a sum of at most 6") from None
