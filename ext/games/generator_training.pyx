"""Games of Generator's one-ply play against itself, from which its network learns.

Temporal differences: after each game every position is drawn toward what came of it, a
mixture of the values of the positions after it, of later ones with geometrically
falling weight, and of the end (lambda returns). What the next position is worth is the
mean over its rolls of the best reply. The gradients are those of the cross-entropy;
the steps are Adam's.

With every roll that is to come, a value falls back toward an even share. So the network
learns to prefer a win that is near, and that standing still wins nothing.

For `tools/fit_generator.py`. Sources: R. Sutton, "Learning to predict by the methods of
temporal differences", Machine Learning 3 (1988); G. Tesauro, "Temporal difference
learning and TD-Gammon", CACM 38 (1995); D. Kingma, J. Ba, "Adam", ICLR (2015).
"""

from libc.math cimport sqrtf
from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from aleator.ext.core.game cimport MAX_MOVES, Game, State
from aleator.ext.core.random cimport Random, below, next64, seed_random
from aleator.ext.games.generator_board cimport COLOURS, DRAWN, GOING_ON, PLAYERS, Board
from aleator.ext.games.generator_evaluation cimport Terms, lead, set_terms
from aleator.ext.games.generator_network cimport (
    BIAS,
    HIDDEN,
    NETWORK,
    NUMBERS,
    OTHERS,
    OTHER_STACKS,
    OWN,
    OWN_STACKS,
    ROWS,
    Description,
    Network,
    add,
    describe,
    kind_of,
    look,
    rate,
    win_chances,
)


cdef enum:
    MAX_ROLLS = 4096
    JUDGED = 20  # positions of a game
    WEIGHTS = (ROWS + 1) * HIDDEN

cdef float MEAN_KEPT = 0.9
cdef float SQUARE_KEPT = 0.999
cdef float TINY = 1e-8


# A position before a roll.
cdef struct Moment:
    Description seen
    float[PLAYERS] expected  # what the next one is worth, the mean over the rolls
    bint cut  # the move after it was a random one


cdef class Trainer:
    """Plays games of one-ply play and changes the network.

    Parameters
    ----------
    game : Generator
        Of at most 4096 rolls.
    seed : int
    """

    cdef Game game
    cdef Terms terms
    cdef Random random
    cdef uint64_t steps
    cdef Network* gradient
    cdef Network* mean  # of the gradients, and of their squares
    cdef Network* square
    cdef Moment* moments

    def __cinit__(self, Game game not None, uint64_t seed):
        if game.max_rolls > MAX_ROLLS:
            raise ValueError(f"max_rolls must be at most {MAX_ROLLS}")
        self.game = game
        set_terms(
            &self.terms,
            game.colours,
            game.max_rolls,
            game.adjacent,
            game.sub_towers,
            game.enter_stacks,
        )
        seed_random(&self.random, seed, 0)
        self.gradient = <Network*>calloc(1, sizeof(Network))
        self.mean = <Network*>calloc(1, sizeof(Network))
        self.square = <Network*>calloc(1, sizeof(Network))
        self.moments = <Moment*>calloc(MAX_ROLLS, sizeof(Moment))
        if not (self.gradient and self.mean and self.square and self.moments):
            raise MemoryError

    def __dealloc__(self):
        free(self.gradient)
        free(self.mean)
        free(self.square)
        free(self.moments)

    def learn(
        self, int games, float speed, float kept, float discount, float noise, bint by_lead
    ):
        """Play some games, with a step after each.

        Parameters
        ----------
        games : int
        speed : float
            Of learning: Adam's rate.
        kept : float
            By what factor the weight of a later position falls with every roll.
        discount : float
            By what factor the distance to an even share falls with every roll.
        noise : float
            The share of moves that are random.
        by_lead : bool
            Whether the reference player `greedy` chooses the moves, or the network.

        Returns
        -------
        rolls : float
            Of a game, on average.
        drawn : float
            The share of games without a winner.
        error : float
            The mean squared distance of the shares from their targets.
        """
        cdef int count
        cdef long rolls = 0
        cdef int drawn = 0
        cdef double distance = 0
        cdef float[PLAYERS] shares
        cdef State state
        cdef Board* board
        for _ in range(games):
            state = self.game.new_game(next64(&self.random) >> 1, None)
            board = <Board*>state.data
            with nogil:
                count = self.play(board, noise, by_lead)
                self.game.returns(board, shares)
                distance += self.draw_gradient(count, shares, kept, discount)
                self.step(speed)
            rolls += board.rolls
            drawn += board.result == DRAWN
        return rolls / <double>games, drawn / <double>games, distance / games

    def judge(self, int games):
        """What the network says of the positions of some games, and how they ended.

        Parameters
        ----------
        games : int
            Without random moves. Of each, some positions are told.

        Returns
        -------
        shares, ends : list of list of float
            By position and seat.
        rolls, lengths : list of int
            By position: the rolls made, and those of the whole game.
        """
        cdef float[PLAYERS][HIDDEN] hidden
        cdef float[PLAYERS] share
        cdef float[PLAYERS] end
        cdef State state
        cdef int i, count, seat
        cdef int seats = self.terms.seats
        cdef list shares = [], ends = [], rolls = [], lengths = []
        for _ in range(games):
            state = self.game.new_game(next64(&self.random) >> 1, None)
            count = self.play(<Board*>state.data, 0, False)
            self.game.returns(state.data, end)
            for _sample in range(JUDGED):
                i = below(&self.random, count)
                look(&self.terms, &self.moments[i].seen, False, hidden, share)
                shares.append([share[seat] for seat in range(seats)])
                ends.append([end[seat] for seat in range(seats)])
                rolls.append(i + 1)
                lengths.append(count + 1)
        return shares, ends, rolls, lengths

    cdef int play(self, Board* board, float noise, bint by_lead) noexcept nogil:
        """Play a game and note its positions before rolls; how many they are."""
        cdef Board rolled, after
        cdef uint32_t[MAX_MOVES] moves
        cdef float[MAX_MOVES] values
        cdef float[PLAYERS] shares
        cdef Moment* moment = NULL
        cdef int count = 0
        cdef int colour, seat, legal, best, i, other
        cdef int first, last
        cdef uint32_t chosen
        while True:
            # The roll that came is in the state; the others are looked at for the mean only.
            seat = board.seat
            first = board.rolled if moment == NULL else 0
            last = first + 1 if moment == NULL else COLOURS
            if moment != NULL:
                memset(moment.expected, 0, sizeof(moment.expected))
            chosen = 0
            for colour in range(first, last):
                memcpy(&rolled, board, sizeof(Board))
                rolled.rolled = colour
                legal = self.game.legal(&rolled, seat, moves)
                if by_lead:
                    for i in range(legal):
                        memcpy(&after, &rolled, sizeof(Board))
                        self.game.apply(&after, seat, moves[i])
                        values[i] = lead(&self.terms, &after, seat)
                else:
                    rate(self.game, &self.terms, &rolled, seat, moves, legal, values)
                best = 0
                for i in range(legal):
                    if values[i] > values[best]:
                        best = i
                if colour == board.rolled:
                    chosen = moves[best]
                    if moment != NULL:
                        moment.cut = False
                    if (next64(&self.random) >> 40) < noise * (1 << 24):
                        chosen = moves[below(&self.random, legal)]
                        if moment != NULL:
                            moment.cut = chosen != moves[best]
                if moment != NULL:
                    memcpy(&after, &rolled, sizeof(Board))
                    self.game.apply(&after, seat, moves[best])
                    if after.result == GOING_ON:
                        win_chances(&self.terms, &after, shares)
                    else:
                        self.game.returns(&after, shares)
                    for other in range(self.terms.seats):
                        moment.expected[other] += shares[other] / COLOURS
            self.game.apply(board, seat, chosen)
            if board.result != GOING_ON:
                return count
            moment = &self.moments[count]
            count += 1
            describe(&self.terms, board, &moment.seen)
            self.game.chance(board, &self.random)

    cdef double draw_gradient(
        self, int count, const float* end, float kept, float discount
    ) noexcept nogil:
        """Add the gradient of the mean over a game's positions; the mean squared error."""
        cdef float[PLAYERS] target
        cdef float[PLAYERS] shares
        cdef float[PLAYERS][HIDDEN] hidden
        cdef Moment* moment
        cdef int seats = self.terms.seats
        cdef float even = (<float>1.0) / seats
        cdef float weight
        cdef float error
        cdef double distance = 0
        cdef int i, seat
        cdef bint mirrored = seats == 2 and next64(&self.random) >> 63
        memcpy(target, end, sizeof(target))
        for i in range(count - 1, -1, -1):
            moment = &self.moments[i]
            look(&self.terms, &moment.seen, mirrored, hidden, shares)
            weight = 0 if moment.cut else kept
            for seat in range(seats):
                target[seat] = weight * target[seat] + (1 - weight) * moment.expected[seat]
                target[seat] = even + discount * (target[seat] - even)
            for seat in range(seats):
                error = (shares[seat] - target[seat]) / count
                distance += error * error * count
                self.propagate(&moment.seen, seat, mirrored, hidden[seat], error)
        return distance

    cdef void propagate(
        self, const Description* seen, int seat, bint mirrored, const float* hidden, float error
    ) noexcept nogil:
        """Add the gradient for an error of one seat's strength."""
        cdef float[HIDDEN] back
        cdef Network* gradient = self.gradient
        cdef int seats = self.terms.seats
        cdef float part = (<float>1.0) / (seats - 1)
        cdef int colour = self.terms.colour[seat]
        cdef int other, i
        for i in range(HIDDEN):
            gradient.output[i] += error * max(<float>0, hidden[i])
            back[i] = error * NETWORK.output[i] if hidden[i] > 0 else 0
        add(gradient.rows[BIAS], back, 1)
        for other in range(seats):
            for i in range(NUMBERS):
                if other == seat:
                    add(gradient.rows[OWN + i], back, seen.numbers[seat][i])
                else:
                    add(gradient.rows[OTHERS + i], back, part * seen.numbers[other][i])
            for i in range(seen.counts[other]):
                add(
                    gradient.rows[
                        (OWN_STACKS if other == seat else OTHER_STACKS)
                        + kind_of(colour, seen.nodes[other][i], seen.sizes[other][i], mirrored)
                    ],
                    back,
                    1 if other == seat else part,
                )

    cdef void step(self, float speed) noexcept nogil:
        """Adam's, and clear the gradient."""
        cdef float* weights = <float*>&NETWORK
        cdef float* gradient = <float*>self.gradient
        cdef float* mean = <float*>self.mean
        cdef float* square = <float*>self.square
        cdef float mean_scale, square_scale
        cdef int i
        self.steps += 1
        mean_scale = 1 / (1 - <float>(MEAN_KEPT ** <double>self.steps))
        square_scale = 1 / (1 - <float>(SQUARE_KEPT ** <double>self.steps))
        for i in range(WEIGHTS):
            mean[i] += (1 - MEAN_KEPT) * (gradient[i] - mean[i])
            square[i] += (1 - SQUARE_KEPT) * (gradient[i] * gradient[i] - square[i])
            weights[i] -= speed * mean_scale * mean[i] / (sqrtf(square_scale * square[i]) + TINY)
            gradient[i] = 0
