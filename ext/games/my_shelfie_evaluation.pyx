"""What positions of My Shelfie are worth.

`WinShare` is a small network for two seats, fitted by `tools/fit_my_shelfie.py` to the
exact values of the turns that follow and to how games ended. Its inputs are patterns:
each line of each sheet, each line on both sheets together (who can still complete it
and block), and how near the sheets are to ending the game, by whose turn comes first.
What a pattern adds to the hidden units is linear in the values of its spaces, so the
same weights do for any values. All inputs are tables, and a choice of spaces changes
at most six lines: a turn's ends are valued by adding a few rows of numbers. With more
than two seats each pair is judged, and a seat's share is in proportion to the product
of its chances against the others.

A search looks a turn further than its leaves and takes the luck of the dice out of what it
finds: the roll that came is exchanged for the exact mean of all that might have. What
remains is the network's error, and that is small.

Sources: G. Tesauro, "Temporal difference learning and TD-Gammon", CACM 38 (1995); J.
Veness, M. Lanctot, M. Bowling, "Variance reduction in Monte-Carlo tree search", NIPS
(2011), for taking out luck.

Limits: fitted for two seats and for values that are not negative.
"""

from libc.math cimport exp
from libc.stdint cimport uint8_t, uint32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

from array import array
from importlib.resources import files
from struct import unpack

from aleator.ext.core.bits cimport popcount
from aleator.ext.core.game cimport State, share_highest
from aleator.ext.core.random cimport Random
from aleator.ext.games.my_shelfie_tables cimport (
    DECISION,
    OVER,
    ROLL,
    SCORING_CIRCLES,
    SEATS,
    SET_SPACES,
    SIDE,
    SPACES,
    Shelves,
    begin_turn,
    blanks,
    circle_spaces,
    column_of,
    row_of,
    sheet_points,
    whole_columns,
    whole_rows,
)
from aleator.ext.games.my_shelfie_turn cimport (
    LINES,
    MASKS,
    NONE,
    SET_LINES,
    SET_SIZE,
    USEFUL,
    USEFUL_COUNT,
    Turn,
    TurnSolver,
)


cdef enum:
    BLANK = 0
    CIRCLED = 1
    CROSSED = 2
    MARKS = 3
    COUNTS = 21  # pairs of counts, of circles and crosses in a line

    # The features, in the order of the weights. Those of a line pattern are followed by what
    # they are multiplied with: the values of its spaces; in a column, whose spaces all need the
    # same dice, the values of its blank and of its circled spaces.
    ROW_FEATURES = PATTERNS * (1 + SIDE)
    COLUMN_FEATURES = SIDE * COUNTS * 3
    FIRST_ROWS = 0
    FIRST_COLUMNS = FIRST_ROWS + 2 * ROW_FEATURES
    ROW_CONDITIONS = FIRST_COLUMNS + 2 * COLUMN_FEATURES
    COLUMN_CONDITIONS = ROW_CONDITIONS + CONDITION_PAIRS
    FIRST_NEARNESS = COLUMN_CONDITIONS + SIDE * CONDITION_PAIRS
    FEATURES = FIRST_NEARNESS + NEARNESS * NEARNESS * TURN_ORDERS

    # Whose turn comes first, of two seats.
    SAME_ROUND = 0  # both have their turn in the same round
    ROUND_BETWEEN = 1  # the first in this round, the second in the next
    NO_ROUNDS = 2  # the game ends at once, and not with the round

    SIGMOID_RANGE = 12
    SIGMOID_STEPS = 64  # by unit

cdef uint8_t[MASKS] TERNARY  # by set of spaces in a line: the pattern that has circles there
cdef uint8_t[PATTERNS][SIDE] PATTERN_MARKS
cdef uint8_t[PATTERNS][MARKS] PATTERN_COUNTS
cdef uint8_t[PATTERNS] CONDITION
cdef float[2 * SIGMOID_RANGE * SIGMOID_STEPS + 2] SIGMOID


cdef void fill_patterns() noexcept:
    cdef int pattern, rest, i, mask, power
    for mask in range(MASKS):
        power = 1
        for i in range(SIDE):
            TERNARY[mask] += power * (mask >> i & 1)
            power *= MARKS
    for pattern in range(PATTERNS):
        rest = pattern
        for i in range(SIDE):
            PATTERN_MARKS[pattern][i] = rest % MARKS
            PATTERN_COUNTS[pattern][rest % MARKS] += 1
            rest //= MARKS
        CONDITION[pattern] = PATTERN_COUNTS[pattern][BLANK]
        if PATTERN_COUNTS[pattern][CROSSED]:
            CONDITION[pattern] = CONDITIONS - 1


cdef void fill_sigmoid() noexcept:
    cdef int i
    for i in range(2 * SIGMOID_RANGE * SIGMOID_STEPS + 2):
        SIGMOID[i] = 1 / (1 + exp(SIGMOID_RANGE - <double>i / SIGMOID_STEPS))


fill_patterns()
fill_sigmoid()


cdef inline float sigmoid(float x) noexcept nogil:
    """1 / (1 + e^-x), off by less than 0.00001."""
    cdef int i
    x = (x + SIGMOID_RANGE) * SIGMOID_STEPS
    x = max(<float>0, min(x, <float>(2 * SIGMOID_RANGE * SIGMOID_STEPS)))
    i = <int>x
    return SIGMOID[i] + (x - i) * (SIGMOID[i + 1] - SIGMOID[i])


cdef extern from *:
    """
    typedef float aleator_floats __attribute__((vector_size(16), aligned(4)));
    typedef int aleator_ints __attribute__((vector_size(16), aligned(4)));

    /* The output of `hidden` units that get the sums of `base` and `count` rows: the positive
       ones of the first half less those of the second. Vectors of GCC and Clang. */
    static inline __attribute__((always_inline)) float aleator_hidden_units(
        int hidden, const float *base, const float *const *rows, int count
    ) {
        aleator_floats up = {0}, down = {0}, x;
        for (int i = 0; i < hidden; i += 4) {
            x = *(const aleator_floats *)(base + i);
            for (int k = 0; k < count; k++)
                x += *(const aleator_floats *)(rows[k] + i);
            x = (aleator_floats)((aleator_ints)x & (x > 0));
            if (i < hidden / 2)
                up += x;
            else
                down += x;
        }
        up -= down;
        return (up[0] + up[1]) + (up[2] + up[3]);
    }
    """
    float hidden_units "aleator_hidden_units"(
        int hidden, const float* base, const float* const* rows, int count
    ) noexcept nogil


cdef inline void add(float* sums, const float* row, int width) noexcept nogil:
    cdef int i
    for i in range(width):
        sums[i] += row[i]


cdef inline uint32_t line_of(uint32_t spaces, int line) noexcept nogil:
    """The spaces of a line, as five bits."""
    return row_of(spaces, line) if line < SIDE else column_of(spaces, line - SIDE)


cdef inline int line_pattern(const Shelves* shelves, int seat, int line) noexcept nogil:
    return (
        TERNARY[line_of(shelves.circles[seat], line)]
        + 2 * TERNARY[line_of(shelves.crosses[seat], line)]
    )


cdef inline int space_of(int line, int i) noexcept nogil:
    """The i-th space of a line."""
    return SIDE * line + i if line < SIDE else SIDE * i + line - SIDE


cdef inline int nearness(uint32_t blank) noexcept nogil:
    """How many blanks the two fullest rows have; 6 if more."""
    cdef int least = SIDE
    cdef int second = SIDE
    cdef int row, count
    for row in range(SIDE):
        count = popcount(row_of(blank, row))
        second = min(second, max(least, count))
        least = min(least, count)
    return min(least + second, NEARNESS - 1)


cdef inline void shift(float* shares, int seats, int seat, float change) noexcept nogil:
    """Change a seat's share, and the others in proportion to theirs."""
    cdef float old = shares[seat]
    cdef float new = max(<float>0, min(old + change, <float>1))
    cdef float factor = (1 - new) / (1 - old) if old < 1 else 0
    cdef int other
    for other in range(seats):
        shares[other] *= factor
        if old == 1:
            shares[other] = (1 - new) / (seats - 1)
    shares[seat] = new


cdef float[FEATURES][WIDTH] WEIGHTS


cdef int load_weights() except -1:
    """Read half floats, row by row."""
    data = (files("aleator.ext.games") / "my_shelfie.weights").read_bytes()
    cdef const float[::1] numbers = array("f", unpack(f"<{FEATURES * WIDTH}e", data))
    memcpy(WEIGHTS, &numbers[0], sizeof(WEIGHTS))
    return 0

load_weights()

SHAPE = (FEATURES, WIDTH)


cdef class WinShare(TurnSolver):
    """Judges positions by the chance to win them.

    Parameters
    ----------
    players : int
    values : sequence of 25 int
    immediate_end : bool
    weights : buffer of float, optional
        Weights by feature and column; by default the fitted ones.
    """

    def __cinit__(self, *args, **settings):
        self.net = <Net*>calloc(1, sizeof(Net))
        if self.net == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.net)

    def __init__(self, int players, values, bint immediate_end=False, weights=None):
        super().__init__(players, values, immediate_end)
        cdef const float[:, ::1] given
        if weights is None:
            self.fill_net(&WEIGHTS[0][0], values)
        else:
            given = weights
            if given.shape[0] != FEATURES or given.shape[1] != WIDTH:
                raise ValueError(f"weights must be {FEATURES} rows of {WIDTH}")
            self.fill_net(&given[0, 0], values)

    cdef int fill_net(self, const float* weights, values) except -1:
        cdef double total = sum([abs(value) for value in values])
        cdef float scale = SPACES / total if total else 0
        self.unit = total / SPACES
        cdef float[SPACES] scaled
        cdef int side, line, pattern, i, mark, row
        for i in range(SPACES):
            scaled[i] = values[i] * scale
        for side in range(2):
            for line in range(LINES):
                for pattern in range(PATTERNS):
                    if line < SIDE:
                        row = FIRST_ROWS + side * ROW_FEATURES + pattern * (1 + SIDE)
                    else:
                        row = FIRST_COLUMNS + side * COLUMN_FEATURES + 3 * (
                            (line - SIDE) * COUNTS + count_number(pattern)
                        )
                    add(self.net.lines[side][line][pattern], weights + WIDTH * row, WIDTH)
                    for i in range(SIDE):
                        mark = PATTERN_MARKS[pattern][i]
                        if mark != CROSSED:
                            add_scaled(
                                self.net.lines[side][line][pattern],
                                weights + WIDTH * (row + 1 + (i if line < SIDE else mark)),
                                scaled[space_of(line, i)],
                            )
        for line in range(LINES):
            row = ROW_CONDITIONS
            if line >= SIDE:
                row = COLUMN_CONDITIONS + (line - SIDE) * CONDITION_PAIRS
            memcpy(
                self.net.conditions[line], weights + WIDTH * row, sizeof(self.net.conditions[line])
            )
        memcpy(
            self.net.nearness, weights + WIDTH * FIRST_NEARNESS, sizeof(self.net.nearness)
        )
        return 0

    cdef int turn_order(self, const Shelves* shelves, int first, int second) noexcept nogil:
        """How the turns of two seats follow, the first of which comes first."""
        cdef int seats = self.terms.seats
        cdef int in_round = (shelves.start - shelves.seat + seats) % seats  # 0 means all
        if self.terms.immediate_end:
            return NO_ROUNDS
        if (
            (first - shelves.seat + seats) % seats < in_round
            and (second - shelves.seat + seats) % seats >= in_round
        ):
            return ROUND_BETWEEN
        return SAME_ROUND

    cdef void sum_pair(
        self, const Shelves* shelves, int first, int second, float* sums
    ) noexcept nogil:
        """Set the sums of two seats, where a turn begins."""
        cdef int line, one, two
        memcpy(
            sums,
            self.net.nearness[nearness(blanks(shelves, first))][
                nearness(blanks(shelves, second))
            ][self.turn_order(shelves, first, second)],
            WIDTH * sizeof(float),
        )
        for line in range(LINES):
            one = line_pattern(shelves, first, line)
            two = line_pattern(shelves, second, line)
            add(sums, self.net.lines[0][line][one], WIDTH)
            add(sums, self.net.lines[1][line][two], WIDTH)
            add(
                sums,
                self.net.conditions[line][CONDITION[one] * CONDITIONS + CONDITION[two]],
                WIDTH,
            )

    cdef void judge(self, const Shelves* shelves, float* win_shares, float* scores) noexcept nogil:
        """Set win shares and final scores, as they look where a turn begins, or as they are."""
        cdef float[WIDTH] sums
        cdef int seats = self.terms.seats
        cdef int i, k, first, second
        cdef float chance
        cdef float total = 0
        if shelves.phase == OVER:
            for i in range(seats):
                scores[i] = sheet_points(&self.terms, shelves.circles[i])
            share_highest(scores, seats, win_shares)
            return
        for i in range(seats):
            win_shares[i] = 1
            scores[i] = 0
        for i in range(seats):
            first = (shelves.seat + i) % seats
            for k in range(i + 1, seats):
                second = (shelves.seat + k) % seats
                self.sum_pair(shelves, first, second, sums)
                chance = sigmoid(hidden_units(HIDDEN, sums, NULL, 0))
                win_shares[first] *= chance
                win_shares[second] *= 1 - chance
                scores[first] += sums[HIDDEN] * self.unit / (seats - 1)
                scores[second] += sums[HIDDEN + 1] * self.unit / (seats - 1)
        for i in range(seats):
            total += win_shares[i]
        for i in range(seats):
            win_shares[i] /= total

    cdef float value_after(self, const Shelves* after, int seat) noexcept nogil:
        cdef float[SEATS] win_shares
        cdef float[SEATS] scores
        self.judge(after, win_shares, scores)
        return win_shares[seat]

    cdef void value_circles(self, const Shelves* shelves, Turn* turn) noexcept nogil:
        cdef int seat = shelves.seat
        cdef int opponents = self.terms.seats - 1
        cdef uint32_t blank = blanks(shelves, seat)
        cdef uint32_t circles = shelves.circles[seat]
        cdef uint32_t whole = whole_rows(circles) | whole_columns(circles)
        # By opponent: the sums as they are, by how near the end the turn leaves the own sheet,
        # and what circling spaces of a line adds to them.
        cdef float[SEATS - 1][NEARNESS][HIDDEN] base
        cdef float[SEATS - 1][LINES * MASKS][HIDDEN] gain
        cdef float[SEATS - 1] apart  # by opponent: the product of its chances against the others
        cdef float[WIDTH] sums
        cdef const float* rows[6]
        cdef Shelves after = shelves[0]
        cdef Shelves done
        cdef int other, opponent, i, k, chosen, near
        cdef uint32_t circled
        cdef bint may_end, ended
        cdef float own, total, chance
        begin_turn(&after, (seat + 1) % self.terms.seats)
        may_end = self.terms.immediate_end or after.seat == shelves.start
        ended = False
        for other in range(opponents):
            opponent = (after.seat + other) % self.terms.seats
            ended = ended or nearness(blanks(shelves, opponent)) == 0
            self.list_gains(&after, opponent, seat, base[other], gain[other])
            apart[other] = 1
        for other in range(opponents):
            for k in range(other + 1, opponents):
                self.sum_pair(
                    &after,
                    (after.seat + other) % self.terms.seats,
                    (after.seat + k) % self.terms.seats,
                    sums,
                )
                chance = sigmoid(hidden_units(HIDDEN, sums, NULL, 0))
                apart[other] *= chance
                apart[k] *= 1 - chance
        for i in range(USEFUL_COUNT):
            chosen = USEFUL[i]
            if SET_SPACES[chosen] & ~blank:
                turn.circled[chosen] = NONE
                continue
            circled = circles | SET_SPACES[chosen]
            near = nearness(blank ^ SET_SPACES[chosen])
            if (
                (whole_rows(circled) | whole_columns(circled)) != whole
                or may_end and (ended or near == 0)
            ):
                # Blocks change other sheets as well, and the end is not a matter of judgement.
                done = shelves[0]
                circle_spaces(&self.terms, &done, SET_SPACES[chosen])
                turn.circled[chosen] = self.value_after(&done, seat)
                continue
            own = 1
            total = 0
            for other in range(opponents):
                for k in range(2 * SET_SIZE[chosen]):
                    rows[k] = gain[other][SET_LINES[chosen][k]]
                # The same loop for each number of rows, so that it is unrolled.
                if SET_SIZE[chosen] == 1:
                    chance = sigmoid(hidden_units(HIDDEN, base[other][near], rows, 2))
                elif SET_SIZE[chosen] == 2:
                    chance = sigmoid(hidden_units(HIDDEN, base[other][near], rows, 4))
                else:
                    chance = sigmoid(hidden_units(HIDDEN, base[other][near], rows, 6))
                own *= 1 - chance
                total += chance * apart[other]
            turn.circled[chosen] = own / (own + total)

    cdef void list_gains(
        self, const Shelves* after, int first, int second, float[HIDDEN]* base, float[HIDDEN]* gain
    ) noexcept nogil:
        """Set what circles of the second seat change."""
        cdef uint32_t blank = blanks(after, second)
        cdef float[WIDTH] sums
        cdef const float* old
        cdef const float* new
        cdef const float* old_condition
        cdef const float* new_condition
        cdef int near_first = nearness(blanks(after, first))
        cdef int order = self.turn_order(after, first, second)
        cdef int line, mask, near, one, two, k
        cdef uint32_t open_spaces
        self.sum_pair(after, first, second, sums)
        old = self.net.nearness[near_first][nearness(blank)][order]
        for near in range(NEARNESS):
            new = self.net.nearness[near_first][near][order]
            for k in range(HIDDEN):
                base[near][k] = sums[k] - old[k] + new[k]
        for line in range(LINES):
            one = line_pattern(after, first, line)
            two = line_pattern(after, second, line)
            open_spaces = line_of(blank, line)
            old = self.net.lines[1][line][two]
            old_condition = self.net.conditions[line][CONDITION[one] * CONDITIONS + CONDITION[two]]
            for mask in range(MASKS):
                if mask & ~open_spaces:
                    continue
                new = self.net.lines[1][line][two + TERNARY[mask]]
                new_condition = self.net.conditions[line][
                    CONDITION[one] * CONDITIONS + CONDITION[two + TERNARY[mask]]
                ]
                for k in range(HIDDEN):
                    gain[line * MASKS + mask][k] = (
                        new[k] - old[k] + new_condition[k] - old_condition[k]
                    )

    cdef void evaluate(
        self, Shelves* shelves, Random* random, float* win_shares, float* scores
    ) noexcept nogil:
        """Value a state by the rest of its turn and the next one; the state is used up.

        The rest of the turn is played, the turn after it solved. What the dice brought more
        than the exact expectation is taken away again. So what is left is that expectation,
        corrected by what the next turn's solution tells of this turn's end.
        """
        cdef Turn turn
        cdef int seats = self.terms.seats
        cdef int seat = shelves.seat
        cdef float expected, luck
        if shelves.phase == OVER:
            self.judge(shelves, win_shares, scores)
            return
        self.solve(shelves, &turn)
        expected = self.value(shelves, &turn)
        self.finish_turn(shelves, &turn, random)
        self.judge(shelves, win_shares, scores)
        luck = win_shares[seat] - expected
        if shelves.phase != OVER:
            self.solve(shelves, &turn)
            shift(
                win_shares, seats, shelves.seat, turn.before - win_shares[shelves.seat]
            )
        shift(win_shares, seats, seat, -luck)

    cdef void luck(
        self, const Shelves* before, const Shelves* after, float* win_shares
    ) noexcept nogil:
        """What a roll changed for each seat, as `Game.luck` says it."""
        cdef float[SEATS] shares
        cdef float[SEATS] scores
        cdef Turn turn
        cdef int seats = self.terms.seats
        cdef int seat = before.seat
        cdef int i
        cdef float gain
        for i in range(seats):
            win_shares[i] = 0
        if before.phase != ROLL or after.phase != DECISION:
            return  # there was nothing to decide
        self.solve(before, &turn)
        gain = self.value(after, &turn) - self.value(before, &turn)
        self.judge(before, shares, scores)
        for i in range(seats):
            win_shares[i] = -gain / (seats - 1)
            if shares[seat] < 1:
                win_shares[i] = -gain * shares[i] / (1 - shares[seat])
        win_shares[seat] = gain

    def win_shares(self, State state not None):
        """Win shares by seat, as they look where a turn begins, without looking ahead."""
        cdef float[SEATS] shares
        cdef float[SEATS] scores
        self.judge(<const Shelves*>state.data, shares, scores)
        return tuple([shares[i] for i in range(self.terms.seats)])


cdef int count_number(int pattern) noexcept nogil:
    """The number of the pair of counts, of circles and crosses, 0-20."""
    cdef int circles = PATTERN_COUNTS[pattern][CIRCLED]
    return circles * 6 - circles * (circles - 1) // 2 + PATTERN_COUNTS[pattern][CROSSED]


cdef void add_scaled(float* sums, const float* row, float factor) noexcept nogil:
    cdef int i
    for i in range(WIDTH):
        sums[i] += row[i] * factor


cdef class LineBonus(TurnSolver):
    """Counts points, and part of the values in lines that do not score yet.

    Parameters
    ----------
    players : int
    values : sequence of 25 int
    immediate_end : bool
    share : float
        What circled spaces count in a line of one or two circles that can still get three.
    bonus : float
        What a line of five circles counts more, in mean values of a space.
    """

    def __init__(
        self,
        int players,
        values,
        bint immediate_end=False,
        *,
        float share=0.9,
        float bonus=0.8,
    ):
        super().__init__(players, values, immediate_end)
        cdef double mean = sum([abs(value) for value in values]) / SPACES
        cdef int line, pattern, i
        cdef float total
        for line in range(LINES):
            for pattern in range(PATTERNS):
                total = 0
                for i in range(SIDE):
                    if PATTERN_MARKS[pattern][i] == CIRCLED:
                        total += values[space_of(line, i)]
                if PATTERN_COUNTS[pattern][CROSSED] > SIDE - SCORING_CIRCLES:
                    total = 0
                elif PATTERN_COUNTS[pattern][CIRCLED] < SCORING_CIRCLES:
                    total *= share
                elif PATTERN_COUNTS[pattern][CIRCLED] == SIDE:
                    total += bonus * mean
                self.worth[line][pattern] = total

    cdef float value_after(self, const Shelves* after, int seat) noexcept nogil:
        cdef float total = 0
        cdef int line
        for line in range(LINES):
            total += self.worth[line][line_pattern(after, seat, line)]
        return total

    cdef void value_circles(self, const Shelves* shelves, Turn* turn) noexcept nogil:
        cdef uint32_t blank = blanks(shelves, shelves.seat)
        cdef float[LINES * MASKS] gain
        cdef float base = self.value_after(shelves, shelves.seat)
        cdef float value
        cdef int line, mask, pattern, i, k, chosen
        for line in range(LINES):
            pattern = line_pattern(shelves, shelves.seat, line)
            for mask in range(MASKS):
                if mask & ~line_of(blank, line) == 0:
                    gain[line * MASKS + mask] = (
                        self.worth[line][pattern + TERNARY[mask]] - self.worth[line][pattern]
                    )
        for i in range(USEFUL_COUNT):
            chosen = USEFUL[i]
            if SET_SPACES[chosen] & ~blank:
                turn.circled[chosen] = NONE
                continue
            value = base
            for k in range(2 * SET_SIZE[chosen]):
                value += gain[SET_LINES[chosen][k]]
            turn.circled[chosen] = value
