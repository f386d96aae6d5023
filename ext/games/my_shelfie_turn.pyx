"""My Shelfie's dice turn solved exactly, by backward induction over multisets of dice.

What can be circled with a roll depends on the roll alone, so a turn has few different
ends: some hundreds of sets of spaces. Once each is valued, the rest is going through
the 924 multisets of up to six dice three times over:

- the best end of a roll is the best among the multisets that it contains of those that
  just pay for a set of spaces;
- the value of keeping some dice is the mean, over the six faces of one die more, of the
  value of keeping that too, down from all six dice: no outcome is weighed twice;
- the best keep of a roll is the best among the multisets that it contains.

Both "the best among those it contains" pass from a multiset to those with a die more.
The method is that of T. Verhoeff, "Optimal solitaire Yahtzee strategies" (1999), where
it solves the turns of a whole game.
"""

from libc.stdint cimport uint16_t, uint32_t
from libc.string cimport memcpy

from aleator.ext.core.bits cimport popcount
from aleator.ext.core.check cimport check
from aleator.ext.core.game cimport MAX_MOVES, State
from aleator.ext.core.random cimport Random
from aleator.ext.games.my_shelfie_tables cimport (
    DECISION,
    DICE,
    FACES,
    FACE_KEY,
    FIRST_CIRCLE,
    FIRST_CROSS,
    FIRST_ROLL,
    HANDS,
    HAND_KEY,
    HAND_SIZE,
    JOKERS_ONLY,
    KEEPS,
    KEEP_COUNT,
    MAX_SETS,
    NO_DICE,
    REROLLS,
    ROLL,
    ROLLS,
    SETS,
    SET_SPACES,
    SIDE,
    SPACES,
    Shelves,
    begin_turn,
    blanks,
    circle_spaces,
    column_of,
    cross_row,
    end_turn,
    keep_hand,
    list_sets,
    make_terms,
    roll_dice,
    row_of,
)


cdef enum:
    MAX_PAYMENTS = 8  # of a set: with or without a joker for each of three spaces

NONE = -1e30

cdef uint16_t[FIRST_ROLL][FACES] ONE_MORE  # the hand with a die more
cdef uint16_t[HANDS][FACES] ONE_LESS  # the hand with a die less, or itself if it has none such
# The hands that just pay for the sets of USEFUL: those of the i-th from PAYMENT_START[i] on.
cdef uint16_t[SETS + 1] PAYMENT_START
cdef uint16_t[MAX_PAYMENTS * SETS] PAYMENTS


cdef int find_hand(int size, int key) noexcept:
    cdef int hand
    for hand in range(HANDS):
        if HAND_SIZE[hand] == size and HAND_KEY[hand] == key:
            return hand
    check(False)
    return -1


cdef void fill_steps() noexcept:
    cdef int hand, face
    for hand in range(HANDS):
        for face in range(FACES):
            ONE_LESS[hand][face] = hand
    for hand in range(FIRST_ROLL):
        for face in range(FACES):
            ONE_MORE[hand][face] = find_hand(
                HAND_SIZE[hand] + 1, HAND_KEY[hand] + FACE_KEY[face]
            )
            ONE_LESS[ONE_MORE[hand][face]][face] = hand


cdef int payment(int chosen, int jokers) noexcept:
    """The hand that just pays for a set, with jokers in the spaces of a bit set; or -1."""
    cdef int size = 0
    cdef int key = 0
    cdef int space, dice
    for space in range(SPACES):
        if SET_SPACES[chosen] >> space & 1:
            dice = space % SIDE + 1
            size += dice
            if jokers & 1:
                if dice == 1:
                    return -1
                dice -= 1
            jokers >>= 1
            key += dice * FACE_KEY[space // SIDE]
    return -1 if jokers or size > DICE else find_hand(size, key)


cdef void fill_payments() noexcept:
    global USEFUL_COUNT
    cdef int count = 0
    cdef int chosen, jokers, hand, i
    for chosen in range(SETS):
        for jokers in range(MAX_PAYMENTS):
            hand = payment(chosen, jokers)
            for i in range(PAYMENT_START[USEFUL_COUNT], count):
                if PAYMENTS[i] == hand:
                    hand = -1
            if hand >= 0:
                PAYMENTS[count] = hand
                count += 1
        if count > PAYMENT_START[USEFUL_COUNT]:
            USEFUL[USEFUL_COUNT] = chosen
            USEFUL_COUNT += 1
            PAYMENT_START[USEFUL_COUNT] = count


cdef void fill_lines() noexcept:
    cdef int chosen, line, mask, count
    for chosen in range(SETS):
        SET_SIZE[chosen] = popcount(SET_SPACES[chosen])
        count = 0
        for line in range(LINES):
            if line < SIDE:
                mask = row_of(SET_SPACES[chosen], line)
            else:
                mask = column_of(SET_SPACES[chosen], line - SIDE)
            if mask:
                SET_LINES[chosen][count] = line * MASKS + mask
                count += 1


fill_steps()
fill_payments()
fill_lines()


cdef void take_best_part(float* values) noexcept nogil:
    """Let every hand have the best value among the hands that it contains."""
    cdef const uint16_t* less
    cdef float best
    cdef int hand, face
    for hand in range(1, HANDS):
        less = ONE_LESS[hand]
        best = values[hand]
        for face in range(FACES):
            best = max(best, values[less[face]])
        values[hand] = best


cdef void take_means(float* values) noexcept nogil:
    """From the values of rolls, set those of smaller hands whose other dice are rolled."""
    cdef const uint16_t* more
    cdef int hand
    for hand in range(FIRST_ROLL - 1, -1, -1):
        more = ONE_MORE[hand]
        values[hand] = (
            (values[more[0]] + values[more[1]])
            + (values[more[2]] + values[more[3]])
            + (values[more[4]] + values[more[5]])
        ) * <float>(1.0 / FACES)


cdef float move_value(const Shelves* shelves, const Turn* turn, uint32_t move) noexcept nogil:
    """What a legal move is worth, by a turn solved from this state."""
    if move >= FIRST_CROSS:
        return turn.crossed[move - FIRST_CROSS]
    if move >= FIRST_CIRCLE:
        return turn.circled[move - FIRST_CIRCLE]
    return turn.first[move] if shelves.rerolls == REROLLS else turn.last[move]


cdef class TurnSolver:
    """Solves turns for the value that a subclass gives to their ends.

    Parameters
    ----------
    players : int
    values : sequence of 25 int
    immediate_end : bool
        As of the game that states given to the solver belong to.
    """

    def __init__(self, int players, values, bint immediate_end=False):
        self.terms = make_terms(players, values, immediate_end)

    cdef float value_after(self, const Shelves* after, int seat) noexcept nogil:
        """What a state in which a turn begins, or the game is over, is worth to a seat."""
        return 0

    cdef void value_circles(self, const Shelves* shelves, Turn* turn) noexcept nogil:
        """Set `turn.circled` for all useful sets: `value_after` of each, but quicker."""

    cdef void solve(self, const Shelves* shelves, Turn* turn) noexcept nogil:
        """Value the choices of the seat whose turn it is.

        From a state with a decision or a roll pending; what lies before it is not set.
        """
        cdef float[HANDS] values
        cdef int rolls = shelves.rerolls + (shelves.phase == ROLL)  # that may still come
        cdef uint32_t blank = blanks(shelves, shelves.seat)
        cdef Shelves after
        cdef int hand, i, k
        cdef float value, cross
        if blank == 0:
            after = shelves[0]
            end_turn(&self.terms, &after)
            turn.before = self.value_after(&after, shelves.seat)
            return
        cross = self.value_crosses(shelves, turn)
        if rolls == 0:
            self.value_payable(shelves, turn)
            return
        self.value_circles(shelves, turn)
        for hand in range(HANDS):
            values[hand] = NONE
        for i in range(USEFUL_COUNT):
            value = turn.circled[USEFUL[i]]
            for k in range(PAYMENT_START[i], PAYMENT_START[i + 1]):
                if value > values[PAYMENTS[k]]:
                    values[PAYMENTS[k]] = value
        take_best_part(values)
        for hand in range(FIRST_ROLL, HANDS):
            turn.last[hand] = values[hand] if values[hand] > NONE else cross
        value = NONE
        for i in range(SPACES):  # the sets of one space come first
            value = max(value, turn.circled[i])
        turn.last[JOKERS_ONLY] = value
        take_means(turn.last)
        if rolls == 1:
            return
        memcpy(values, turn.last, sizeof(values))
        take_best_part(values)
        memcpy(turn.first + FIRST_ROLL, values + FIRST_ROLL, ROLLS * sizeof(float))
        take_means(turn.first)
        # Keeping all six ends the rolling, whatever rerolls are left.
        memcpy(turn.first + FIRST_ROLL, turn.last + FIRST_ROLL, ROLLS * sizeof(float))
        if rolls == 2:
            return
        memcpy(values, turn.first, sizeof(values))
        take_best_part(values)
        take_means(values)
        turn.before = values[NO_DICE]

    cdef float value_crosses(self, const Shelves* shelves, Turn* turn) noexcept nogil:
        """Set `turn.crossed`; returns the best."""
        cdef uint32_t blank = blanks(shelves, shelves.seat)
        cdef Shelves after
        cdef float best = NONE
        cdef int row
        for row in range(SIDE):
            turn.crossed[row] = NONE
            if row_of(blank, row):
                after = shelves[0]
                cross_row(&self.terms, &after, row)
                turn.crossed[row] = self.value_after(&after, shelves.seat)
                best = max(best, turn.crossed[row])
        return best

    cdef void value_payable(self, const Shelves* shelves, Turn* turn) noexcept nogil:
        """Set `turn.circled` for the sets that the roll pays for."""
        cdef uint16_t[MAX_SETS] sets
        cdef Shelves after
        cdef int i
        for i in range(list_sets(shelves.dice, blanks(shelves, shelves.seat), sets)):
            after = shelves[0]
            circle_spaces(&self.terms, &after, SET_SPACES[sets[i]])
            turn.circled[sets[i]] = self.value_after(&after, shelves.seat)

    cdef uint32_t best_move(self, const Shelves* shelves, const Turn* turn) noexcept nogil:
        """The best move of a state with a decision pending, by its solved turn."""
        cdef uint16_t[MAX_SETS] sets
        cdef const uint16_t* keeps = KEEPS[shelves.dice - FIRST_ROLL]
        cdef uint32_t best = 0
        cdef float most = 2 * NONE
        cdef float value
        cdef int i, count
        if shelves.rerolls:
            for i in range(KEEP_COUNT[shelves.dice - FIRST_ROLL]):
                value = move_value(shelves, turn, keeps[i])
                if value > most:
                    most = value
                    best = keeps[i]
            return best
        count = list_sets(shelves.dice, blanks(shelves, shelves.seat), sets)
        for i in range(count):
            if turn.circled[sets[i]] > most:
                most = turn.circled[sets[i]]
                best = FIRST_CIRCLE + sets[i]
        if count == 0:
            for i in range(SIDE):
                if turn.crossed[i] > most:
                    most = turn.crossed[i]
                    best = FIRST_CROSS + i
        return best

    cdef float value(self, const Shelves* shelves, const Turn* turn) noexcept nogil:
        """What a state is worth to the seat whose turn it is, by its solved turn."""
        if shelves.phase == DECISION:
            return move_value(shelves, turn, self.best_move(shelves, turn))
        if shelves.rerolls == REROLLS or blanks(shelves, shelves.seat) == 0:
            return turn.before
        return turn.first[shelves.dice] if shelves.rerolls else turn.last[shelves.dice]

    cdef void finish_turn(
        self, Shelves* shelves, const Turn* turn, Random* random
    ) noexcept nogil:
        """Play a solved turn to its end, as well as possible."""
        cdef int seat = shelves.seat
        cdef uint32_t move
        if blanks(shelves, seat) == 0:
            end_turn(&self.terms, shelves)
            return
        while True:
            if shelves.phase == ROLL:
                shelves.dice = roll_dice(shelves.dice, random)
                shelves.phase = DECISION
            move = self.best_move(shelves, turn)
            if move >= FIRST_CROSS:
                cross_row(&self.terms, shelves, move - FIRST_CROSS)
                return
            if move >= FIRST_CIRCLE:
                circle_spaces(&self.terms, shelves, SET_SPACES[move - FIRST_CIRCLE])
                return
            keep_hand(shelves, move)

    def move_values(self, State state not None):
        """What each legal move is worth to the seat to act, by move."""
        cdef const Shelves* shelves = <const Shelves*>state.data
        cdef uint32_t[MAX_MOVES] moves
        cdef Turn turn
        cdef int count = state.game.legal(shelves, shelves.seat, moves)
        if shelves.phase != DECISION:
            raise ValueError("no seat is to act")
        self.solve(shelves, &turn)
        return {moves[i]: move_value(shelves, &turn, moves[i]) for i in range(count)}

    def best(self, State state not None):
        """The best move of the seat to act."""
        cdef const Shelves* shelves = <const Shelves*>state.data
        cdef Turn turn
        if shelves.phase != DECISION:
            raise ValueError("no seat is to act")
        self.solve(shelves, &turn)
        return self.best_move(shelves, &turn)

    def solve_turns(self, State state not None, uint32_t count):
        """Solve the turn of the seat to act, from before its first roll, `count` times.

        Returns
        -------
        float
            What it is worth then.
        """
        cdef Shelves shelves = (<const Shelves*>state.data)[0]
        cdef Turn turn
        cdef uint32_t _
        begin_turn(&shelves, shelves.seat)
        with nogil:
            for _ in range(count):
                self.solve(&shelves, &turn)
        return turn.before
