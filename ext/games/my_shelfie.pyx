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
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memset

from aleator.ext.core.game cimport (
    CHANCE,
    FINISHED,
    Game,
    State,
    hash_bytes,
    share_highest,
)
from aleator.ext.core.random cimport Random, below, next64, scaled
from aleator.ext.games.my_shelfie_evaluation cimport WinShare
from aleator.ext.games.my_shelfie_tables cimport (
    DECISION,
    DICE,
    FACES,
    FIRST_CIRCLE,
    FIRST_CROSS,
    FIRST_ROLL,
    HANDS,
    HAND_COUNTS,
    HAND_KEY,
    HAND_SIZE,
    KEEPS,
    KEEP_COUNT,
    MAX_SETS,
    MAX_VALUE,
    MOVES,
    NO_DICE,
    OUTCOMES,
    OVER,
    REROLLS,
    ROLL,
    ROLLS,
    ROLL_OF_KEY,
    SEATS,
    SETS,
    SET_SPACES,
    SET_UP,
    SIDE,
    SPACES,
    Shelves,
    Terms,
    begin_turn,
    blanks,
    circle_spaces,
    cross_row,
    end_turn,
    keep_hand,
    list_rows,
    list_sets,
    make_terms,
    roll_dice,
    sheet_points,
)
from aleator.ext.games.my_shelfie_turn cimport Turn, move_value


# Walker's alias tables for the dice that a random turn ends with.
cdef uint32_t[ROLLS] ALIAS_LIMIT
cdef uint16_t[ROLLS] ALIAS


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


cdef inline int final_dice(Random* random) noexcept nogil:
    """Draw the dice that a turn of random keeps ends with."""
    cdef uint64_t bits = next64(random)
    cdef int roll = scaled(<uint32_t>bits, ROLLS)
    return FIRST_ROLL + roll if bits >> 32 < ALIAS_LIMIT[roll] else ALIAS[roll]


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

    cdef Terms terms
    cdef readonly WinShare judge  # what positions are worth

    def __init__(self, int players=2, values=(1, 2, 3, 5, 8) * SIDE, bint immediate_end=False):
        if not 2 <= players <= SEATS:
            raise ValueError(f"players must be 2..{SEATS}, not {players}")
        if len(values) != SPACES or any([abs(value) > MAX_VALUE for value in values]):
            raise ValueError(f"values must be {SPACES} numbers of at most +-{MAX_VALUE}")
        self.seats = players
        self.move_space = MOVES
        self.state_size = sizeof(Shelves)
        self.terms = make_terms(players, values, immediate_end)
        self.judge = WinShare(players, values, immediate_end)
        self.tuning.exploration = 0.08
        self.tuning.widening_base = 2
        self.tuning.widening_factor = 0.5
        self.tuning.prior_visits = 100
        # A deeper tree tries second choices wherever dice come, which takes from the value of moves
        # that leave more to choose; the evaluation plays the rest of the turn as well as possible.
        self.tuning.depth = 1
        self.tuning.paired = True
        self.tuning.foreseen = True

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
            cross_row(&self.terms, shelves, move - FIRST_CROSS)
        elif move >= FIRST_CIRCLE:
            circle_spaces(&self.terms, shelves, SET_SPACES[move - FIRST_CIRCLE])
        else:
            keep_hand(shelves, move)

    cdef uint64_t chance(self, void* state, Random* random) noexcept nogil:
        cdef Shelves* shelves = <Shelves*>state
        if shelves.phase == SET_UP:
            shelves.start = below(random, self.seats)
            begin_turn(shelves, shelves.start)
            return shelves.start
        return self.show(shelves, roll_dice(shelves.dice, random))

    cdef int show(self, Shelves* shelves, int roll) noexcept nogil:
        """Let the pending roll come out; returns `roll`, the code of this event."""
        shelves.dice = roll
        shelves.phase = DECISION
        # On a sheet without a blank space there is nothing to decide.
        if blanks(shelves, shelves.seat) == 0:
            end_turn(&self.terms, shelves)
        return roll

    cdef uint32_t observed(self, const void* state, uint64_t event, int viewer) noexcept nogil:
        return event + 1  # codes of rolls are far above seats; seat 0 must not be 0

    cdef void returns(self, const void* state, float* win_shares) noexcept nogil:
        cdef float[SEATS] scores
        self.points(state, scores)
        share_highest(scores, self.seats, win_shares)

    cdef void points(self, const void* state, float* scores) noexcept nogil:
        cdef int seat
        for seat in range(self.seats):
            scores[seat] = sheet_points(&self.terms, (<const Shelves*>state).circles[seat])

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

    cdef bint priors(
        self, const void* state, int seat, const uint32_t* moves, int count, float* values
    ) noexcept nogil:
        cdef const Shelves* shelves = <const Shelves*>state
        cdef Turn turn
        cdef int i
        self.judge.solve(shelves, &turn)
        for i in range(count):
            values[i] = move_value(shelves, &turn, moves[i])
        return True

    cdef void evaluate(
        self, void* state, Random* random, float* win_shares, float* scores
    ) noexcept nogil:
        self.judge.evaluate(<Shelves*>state, random, win_shares, scores)

    cdef void luck(
        self, const void* before, const void* after, float* win_shares
    ) noexcept nogil:
        self.judge.luck(<const Shelves*>before, <const Shelves*>after, win_shares)

    cdef void mark(self, Shelves* shelves, Random* random) noexcept nogil:
        """Play a random circle move, or a random cross move if there is none."""
        cdef uint16_t[MAX_SETS] sets
        cdef uint8_t[SIDE] rows
        cdef uint32_t blank = blanks(shelves, shelves.seat)
        cdef int count = list_sets(shelves.dice, blank, sets)
        cdef uint32_t bits = next64(random) >> 32
        if count:
            circle_spaces(&self.terms, shelves, SET_SPACES[sets[scaled(bits, count)]])
        else:
            count = list_rows(blank, rows)
            cross_row(&self.terms, shelves, rows[scaled(bits, count)])

    @property
    def immediate_end(self):
        return self.terms.immediate_end

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
