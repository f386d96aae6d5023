"""ROYGBIV: rules, determinization and playouts on bit boards.

One 64-bit word per value holds the cells that show it, so a play captures with
six ands, population counts and exclusive ors, whatever lies on the board. A
playout keeps the hands and the bag as short lists, removes by swapping with
the last entry, and allocates nothing.

The rules are on the game's page of the documentation. Limits: 2, 3, 4 or 6
seats. Determinizations are uniform over the ways to deal what the seat has not
seen; of what others' choices reveal, no more than which dice players keep is used, with
two seats.
"""

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from aleator.ext.core.bits cimport lowest_bit, popcount
from aleator.ext.core.game cimport (
    CHANCE,
    FINISHED,
    MAX_SEATS,
    MAX_WORLDS,
    Game,
    State,
    hash_bytes,
    share_highest,
)
from aleator.ext.core.random cimport Random, below, next64, scaled
from aleator.ext.games.roygbiv_evaluation cimport (
    estimate,
    guided_playout,
    keeping_likelihood,
    rate_closely,
    rate_quickly,
    soften,
)


cdef enum:
    MOST_MULTISETS = 84  # of three values of seven


cdef inline uint8_t* list_dice(const uint8_t* counts, uint8_t* dice) noexcept nogil:
    """Write every die of `counts`; may write seven bytes beyond; returns the end."""
    cdef int value
    for value in range(1, VALUES + 1):
        memset(dice, value, 8)
        dice += counts[value]
    return dice


# The multisets of so many dice, as numbers of values from 0, those without high ones first; and
# how many there are of the first so many values.
cdef uint8_t[HAND + 1][MOST_MULTISETS][HAND] MULTISETS
cdef int[HAND + 1][VALUES + 1] MULTISET_COUNTS

cdef void fill_multisets() noexcept:
    cdef int size, kinds, count, high, i, number
    for kinds in range(VALUES + 1):
        MULTISET_COUNTS[0][kinds] = 1
    for size in range(1, HAND + 1):
        count = 0
        for high in range(VALUES):
            MULTISET_COUNTS[size][high] = count
            for number in range(MULTISET_COUNTS[size - 1][high + 1]):
                for i in range(size - 1):
                    MULTISETS[size][count][i] = MULTISETS[size - 1][number][i]
                MULTISETS[size][count][size - 1] = high
                count += 1
        MULTISET_COUNTS[size][VALUES] = count

fill_multisets()


cdef inline int list_values(const uint8_t* counts, uint8_t* values) noexcept nogil:
    """Write the values of which there are dice; returns how many."""
    cdef int value
    cdef int count = 0
    for value in range(1, VALUES + 1):
        if counts[value]:
            values[count] = value
            count += 1
    return count


cdef class Roygbiv(Game):
    """Rules of ROYGBIV.

    Parameters
    ----------
    players : int
        2, 3, 4 or 6.
    open_hands : bool
        Whether every seat sees every hand and every draw.

    Raises
    ------
    ValueError
        For another number of players.
    """

    cdef readonly bint open_hands

    def __init__(self, int players=2, bint open_hands=False):
        if players not in (2, 3, 4, 6):
            raise ValueError(f"players must be 2, 3, 4 or 6, not {players}")
        self.seats = players
        self.open_hands = open_hands
        self.move_space = (VALUES + 1) * CELLS
        self.state_size = sizeof(Board)
        if players == 2:
            self.tuning.exploration = 0.2
            self.tuning.widening_base = 4
            self.tuning.widening_factor = 0.5
            self.tuning.prior_visits = 100
        else:
            self.tuning.exploration = 0.3
            self.tuning.widening_base = 4
            self.tuning.widening_factor = 1.5
            self.tuning.prior_visits = 0
        self.tuning.paired = True

    cdef void start(self, void* state, int start_seat) noexcept nogil:
        cdef Board* board = <Board*>state
        cdef int value
        board.cells[0] = (<uint64_t>1 << CELLS) - 1
        for value in range(1, VALUES + 1):
            board.bag[value] = COPIES
        board.bag[0] = VALUES * COPIES
        board.known = (1 << self.seats) - 1
        board.pending = SET_UP
        board.start = NO_SEAT if start_seat < 0 else start_seat

    cdef int actors(self, const void* state) noexcept nogil:
        cdef const Board* board = <const Board*>state
        if board.pending != NOTHING:
            return CHANCE
        if board.cells[0] == 0:
            return FINISHED
        return 1 << board.seat

    cdef int legal(self, const void* state, int seat, uint32_t* moves) noexcept nogil:
        cdef const Board* board = <const Board*>state
        cdef uint64_t empty
        cdef int count = 0
        cdef int value
        for value in range(1, VALUES + 1):
            if board.hands[seat][value]:
                empty = board.cells[0]
                while empty:
                    moves[count] = value * CELLS + lowest_bit(empty)
                    count += 1
                    empty &= empty - 1
        return count

    cdef void apply(self, void* state, int seat, uint32_t move) noexcept nogil:
        cdef Board* board = <Board*>state
        cdef int value = move // CELLS
        board.scores[seat] += place(board.cells, value, move % CELLS)
        board.hands[seat][value] -= 1
        board.hands[seat][0] -= 1
        board.played[value] += 1
        board.played[0] += 1
        if board.bag[0]:
            board.pending = DRAW
        else:
            self.pass_turn(board)

    cdef void pass_turn(self, Board* board) noexcept nogil:
        board.pending = NOTHING
        # Nobody is to act on a full board; 0 stands for that, so that equal states are equal bytes.
        if board.seat + 1 == self.seats or board.cells[0] == 0:
            board.seat = 0
        else:
            board.seat += 1

    cdef uint64_t chance(self, void* state, Random* random) noexcept nogil:
        cdef Board* board = <Board*>state
        cdef int value, seat, _
        if board.pending == DRAW:
            value = pick(board.bag, random)
            seat = board.seat
            self.take(board, value)
            return seat * VALUES + value
        value = pick(board.bag, random)
        place(board.cells, value, CENTRE)
        board.played[value] = 1
        board.played[0] = 1
        for seat in range(self.seats):
            for _ in range(HAND):
                board.hands[seat][pick(board.bag, random)] += 1
            board.hands[seat][0] = HAND
        board.seat = below(random, self.seats) if board.start == NO_SEAT else board.start
        board.start = 0
        board.pending = NOTHING
        return 0

    cdef void take(self, Board* board, int value) noexcept nogil:
        """Give the seat that played the die it drew, already out of the bag."""
        board.hands[board.seat][value] += 1
        board.hands[board.seat][0] += 1
        self.pass_turn(board)

    cdef void returns(self, const void* state, float* win_shares) noexcept nogil:
        cdef float[MAX_SEATS] scores
        self.points(state, scores)
        share_highest(scores, self.seats, win_shares)

    cdef void points(self, const void* state, float* scores) noexcept nogil:
        cdef int seat
        for seat in range(self.seats):
            scores[seat] = (<const Board*>state).scores[seat]

    cdef uint32_t observed(self, const void* state, uint64_t event, int viewer) noexcept nogil:
        # The event is drawer * 7 + value, with values from 1.
        if self.open_hands or <int>((event - 1) // VALUES) == viewer:
            return event
        return 0

    cdef void observe(self, void* state, int seat) noexcept nogil:
        cdef Board* board = <Board*>state
        cdef int other
        if not self.open_hands:
            for other in range(self.seats):
                if other != seat and board.hands[other][0]:
                    memset(&board.hands[other][1], 0, VALUES)
                    board.known &= ~(1 << other)
            if not self.full(board):
                memset(&board.bag[1], 0, VALUES)

    cdef bint full(self, const void* state) noexcept nogil:
        return (<const Board*>state).known == (1 << self.seats) - 1

    cdef bint determined(self, const void* state, int seat) noexcept nogil:
        # What is not on the board and in no known hand is in the only other place.
        cdef const Board* board = <const Board*>state
        return board.bag[0] == 0 and popcount(board.known) >= self.seats - 1

    cdef bint determinize(self, void* state, int seat, Random* random) noexcept nogil:
        cdef Board* board = <Board*>state
        cdef int other, _
        self.gather(board)
        for other in range(self.seats):
            if not board.known >> other & 1:
                for _ in range(board.hands[other][0]):
                    board.hands[other][pick(board.bag, random)] += 1
        board.known = (1 << self.seats) - 1
        return True

    cdef void gather(self, Board* board) noexcept nogil:
        """Put all dice that are not seen into the bag."""
        cdef int other, value
        for value in range(1, VALUES + 1):
            board.bag[value] = COPIES - board.played[value]
            for other in range(self.seats):
                board.bag[value] -= board.hands[other][value]
        for other in range(self.seats):
            if not board.known >> other & 1:
                board.bag[0] += board.hands[other][0]

    # Hidden hands are numbered by the digits of a number, one for each hand: which of the
    # multisets of the values that are unseen it is. With dice of too few copies there are
    # some too many, which no deal can bring.

    cdef int worlds(self, const void* state, int seat) noexcept nogil:
        cdef Board board = (<const Board*>state)[0]
        cdef uint8_t[VALUES] values
        cdef int other, kinds
        cdef int count = 1
        self.gather(&board)
        kinds = list_values(board.bag, values)
        for other in range(self.seats):
            if not board.known >> other & 1:
                count *= MULTISET_COUNTS[board.hands[other][0]][kinds]
                if count > MAX_WORLDS:
                    return 0
        return count

    cdef double world(self, void* state, int seat, int number) noexcept nogil:
        cdef Board* board = <Board*>state
        cdef uint8_t[VALUES] values
        cdef uint8_t* hand
        cdef double probability = 1
        cdef int other, kinds, size, value, i, ways
        self.gather(board)
        kinds = list_values(board.bag, values)
        for other in range(self.seats):
            if board.known >> other & 1:
                continue
            hand = board.hands[other]
            size = hand[0]
            ways = MULTISET_COUNTS[size][kinds]
            for i in range(size):
                value = values[MULTISETS[size][number % ways][i]]
                hand[value] += 1
                # In the end binomial(dice of the value, those in the hand), for each value, over
                # binomial(all dice, size of the hand).
                probability *= <double>board.bag[value] * (i + 1) / (hand[value] * board.bag[0])
                if probability == 0:
                    return 0
                board.bag[value] -= 1
                board.bag[0] -= 1
            number //= ways
        board.known = (1 << self.seats) - 1
        return probability

    cdef double likelihood(self, const void* state, int seat) noexcept nogil:
        cdef const Board* board = <const Board*>state
        # Once the bag is empty, the hand is known; before the first play, nothing was chosen.
        if self.seats != 2 or self.open_hands or board.bag[0] == 0 or board.played[0] == 1:
            return 1
        return keeping_likelihood(board, seat ^ 1)

    cdef uint64_t information_hash(self, const void* state, int seat) noexcept nogil:
        cdef Board copy
        memcpy(&copy, state, sizeof(Board))
        self.observe(&copy, seat)
        return hash_bytes(&copy, sizeof(Board), seat)

    cdef void playout(self, void* state, Random* random) noexcept nogil:
        cdef Board* board = <Board*>state
        cdef uint8_t[CELLS] empty
        cdef uint8_t[CELLS + 8] bag
        cdef uint8_t[MAX_SEATS][16] hands
        cdef int[MAX_SEATS] hand_sizes
        cdef int[MAX_SEATS] gained
        cdef int empty_count = 0
        cdef int bag_count = board.bag[0]
        cdef int seat = board.seat
        cdef int seats = self.seats
        cdef uint64_t mask = board.cells[0]
        cdef uint64_t bits
        cdef uint8_t* hand
        cdef int i, value, cell, size
        if board.pending != NOTHING:
            self.chance(state, random)
            bag_count = board.bag[0]
            seat = board.seat
            mask = board.cells[0]
        while mask:
            empty[empty_count] = lowest_bit(mask)
            empty_count += 1
            mask &= mask - 1
        list_dice(board.bag, bag)
        for i in range(seats):
            list_dice(board.hands[i], hands[i])
            hand_sizes[i] = board.hands[i][0]
            gained[i] = 0
        while empty_count:
            hand = hands[seat]
            size = hand_sizes[seat]
            bits = next64(random)
            i = choose_die(hand, size, <uint32_t>bits)
            value = hand[i]
            cell = scaled(bits >> 32, empty_count)
            empty_count -= 1
            gained[seat] += place(board.cells, value, empty[cell])
            empty[cell] = empty[empty_count]
            if bag_count:
                cell = scaled(next64(random) >> 32, bag_count)
                bag_count -= 1
                hand[i] = bag[cell]
                bag[cell] = bag[bag_count]
            else:
                hand[i] = hand[size - 1]
                hand_sizes[seat] = size - 1
            seat = seat + 1
            if seat == seats:
                seat = 0
        # Leave a finished state: nothing but the scores and the board is looked at.
        for i in range(seats):
            board.scores[i] += gained[i]
        board.pending = NOTHING

    cdef bint root_priors(
        self, const void* state, int seat, const uint32_t* moves, int count, float* values
    ) noexcept nogil:
        if self.seats != 2:
            return self.priors(state, seat, moves, count, values)
        rate_closely(<const Board*>state, seat, moves, count, values)
        return True

    cdef bint priors(
        self, const void* state, int seat, const uint32_t* moves, int count, float* values
    ) noexcept nogil:
        rate_quickly(<const Board*>state, seat, self.seats, moves, count, values)
        return True

    cdef void evaluate(
        self, void* state, Random* random, float* win_shares, float* scores
    ) noexcept nogil:
        cdef Board* board = <Board*>state
        if board.pending != NOTHING:
            self.chance(state, random)
        if self.seats == 2:
            estimate(board, win_shares, scores)
            return
        guided_playout(board, self.seats, random)
        self.points(state, scores)
        soften(scores, self.seats, win_shares)

    def pack(self, cells, played, hands, scores, seat_to_act):
        """Build a state from fields that were checked to agree with each other.

        Parameters
        ----------
        cells : sequence of 49 int
            Values shown, row by row, 0 for empty.
        played : sequence of 7 int
            Original values 1..7 placed so far.
        hands : sequence
            By seat: a sequence of dice, or the number of hidden dice.
        scores : sequence of int
        seat_to_act : int or None
            None in a finished game.
        """
        cdef State state = self.new_state()
        cdef Board* board = <Board*>state.data
        cdef int cell, value, seat
        if len(cells) != CELLS or len(played) != VALUES:
            raise ValueError("need 49 cells and 7 played counts")
        if len(hands) != self.seats or len(scores) != self.seats:
            raise ValueError(f"need {self.seats} hands and scores")
        for cell in range(CELLS):
            value = cells[cell]
            if not 0 <= value <= VALUES:
                raise ValueError("cells hold 0..7")
            board.cells[value] |= <uint64_t>1 << cell
        for value in range(1, VALUES + 1):
            board.played[value] = played[value - 1]
            board.bag[value] = COPIES - board.played[value]
        board.played[0] = popcount(((<uint64_t>1 << CELLS) - 1) ^ board.cells[0])
        board.bag[0] = VALUES * COPIES - board.played[0]
        for seat in range(self.seats):
            hand = hands[seat]
            if isinstance(hand, int):
                if not 0 <= hand <= HAND:
                    raise ValueError("hands hold at most 3 dice")
                board.hands[seat][0] = hand
                if hand == 0:
                    board.known |= 1 << seat
            else:
                if len(hand) > HAND or not all(1 <= die <= VALUES for die in hand):
                    raise ValueError("hands hold at most 3 dice of 1..7")
                board.known |= 1 << seat
                board.hands[seat][0] = len(hand)
                for die in hand:
                    board.hands[seat][<int>die] += 1
                    board.bag[<int>die] -= 1
            board.bag[0] -= board.hands[seat][0]
            board.scores[seat] = scores[seat]
        if not self.full(board):
            memset(&board.bag[1], 0, VALUES)
        board.seat = 0 if seat_to_act is None else self.checked(seat_to_act)
        return state

    cdef int checked(self, int seat) except -1:
        self.check_seat(seat)
        return seat

    def unpack(self, State state not None):
        """The fields that `pack` takes, as a dict; hidden hands as their size."""
        cdef const Board* board = <const Board*>self.read(state)
        cdef int cell, value, seat
        cells = [0] * CELLS
        for value in range(1, VALUES + 1):
            for cell in range(CELLS):
                if board.cells[value] >> cell & 1:
                    cells[cell] = value
        hands = []
        for seat in range(self.seats):
            if board.known >> seat & 1:
                hands.append([
                    value
                    for value in range(1, VALUES + 1)
                    for _ in range(board.hands[seat][value])
                ])
            else:
                hands.append(board.hands[seat][0])
        return {
            "cells": cells,
            "played": [board.played[value] for value in range(1, VALUES + 1)],
            "hands": hands,
            "scores": [board.scores[seat] for seat in range(self.seats)],
            "seat_to_act": board.seat if board.cells[0] else None,
        }

    def captured(self, State state not None, int move):
        """The dice that a play would turn, as (cell, value shown), by cell.

        Parameters
        ----------
        state : State
            Its board tells; hands are not looked at.
        move : int
            On an empty cell.

        Raises
        ------
        ValueError
            If there is no such move, or the cell is taken.
        """
        cdef const Board* board = self.board_before(state, move)
        cdef uint64_t caught
        cdef int x
        dice = []
        for x in range(1, move // CELLS):
            caught = board.cells[x] & LINES[move % CELLS]
            while caught:
                dice.append((lowest_bit(caught), x))
                caught &= caught - 1
        dice.sort()
        return dice

    def values_captured(self, State state not None, int move):
        """The values of the dice that a play would turn, ascending; for the rest see `captured`."""
        cdef const Board* board = self.board_before(state, move)
        cdef uint64_t line = LINES[move % CELLS]
        cdef int x
        dice = []
        for x in range(1, move // CELLS):
            for _ in range(popcount(board.cells[x] & line)):
                dice.append(x)
        return tuple(dice)

    cdef const Board* board_before(self, State state, int move) except NULL:
        """The board of a state, on which a play must be possible."""
        cdef const Board* board = <const Board*>self.read(state)
        if not CELLS <= move < self.move_space or not board.cells[0] >> move % CELLS & 1:
            raise ValueError("a play puts a die on an empty cell")
        return board

    def draw(self, State state not None, int value):
        """The state after the pending draw turned out to be `value`.

        Raises
        ------
        ValueError
            If no draw is pending, or the bag holds no such die.
        """
        cdef State copy = self.copy_state(state)
        cdef Board* board = <Board*>copy.data
        if board.pending != DRAW:
            raise ValueError("no draw is pending")
        if not 1 <= value <= VALUES or not board.bag[value]:
            raise ValueError(f"the bag holds no {value}")
        board.bag[value] -= 1
        board.bag[0] -= 1
        self.take(board, value)
        return copy


cdef inline int choose_die(const uint8_t* hand, int size, uint32_t bits) noexcept nogil:
    """The index of a die, every value of the hand (not every die) being as likely."""
    if size < 2:
        return 0
    if size == 2:
        return scaled(bits, 2)
    if hand[0] == hand[1]:
        return 2 * scaled(bits, 2)
    if hand[2] == hand[0] or hand[2] == hand[1]:
        return scaled(bits, 2)
    return scaled(bits, 3)
