"""Games of My Shelfie for fitting its evaluation, played turn by turn by exact solvers.

For `tools/fit_my_shelfie.py` and `tools/my_shelfie_gain.py`. Limits: two seats.
"""

from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memset

from aleator.ext.core.check cimport check
from aleator.ext.core.game cimport share_highest
from aleator.ext.core.random cimport Random, below, seed_random
from aleator.ext.games.my_shelfie_evaluation cimport WinShare
from aleator.ext.games.my_shelfie_tables cimport (
    OVER,
    SET_SPACES,
    Shelves,
    begin_turn,
    blanks,
    circle_spaces,
    sheet_points,
)
from aleator.ext.games.my_shelfie_turn cimport NONE, USEFUL, USEFUL_COUNT, Turn, TurnSolver


cdef enum:
    SEATS = 2
    MAX_TURNS = 64
    TRIES = 100


# A position before a turn. 40 bytes, no padding.
cdef struct Sample:
    # By seat, that whose turn it is first.
    uint32_t[SEATS] circles
    uint32_t[SEATS] crosses
    float solved  # its win share, by the exact solution of its turn
    float outcome  # its share in the end
    float[SEATS] points  # in the end
    uint32_t new_round  # 1 if the round begins with this turn
    uint32_t game


cdef class TwoTurns(TurnSolver):
    """Values a turn's ends by the exact solution of the turn after it.

    Parameters
    ----------
    judge : WinShare
        Values the ends of that, for two seats.
    """

    cdef WinShare judge

    def __init__(self, WinShare judge not None):
        self.judge = judge
        self.terms = judge.terms

    cdef float value_after(self, const Shelves* after, int seat) noexcept nogil:
        cdef Turn turn
        if after.phase == OVER:
            return self.judge.value_after(after, seat)
        self.judge.solve(after, &turn)
        return 1 - turn.before

    cdef void value_circles(self, const Shelves* shelves, Turn* turn) noexcept nogil:
        cdef uint32_t blank = blanks(shelves, shelves.seat)
        cdef Shelves after
        cdef int i, chosen
        for i in range(USEFUL_COUNT):
            chosen = USEFUL[i]
            turn.circled[chosen] = NONE
            if SET_SPACES[chosen] & ~blank == 0:
                after = shelves[0]
                circle_spaces(&self.terms, &after, SET_SPACES[chosen])
                turn.circled[chosen] = self.value_after(&after, shelves.seat)


cdef void start(Shelves* shelves, int seat) noexcept nogil:
    memset(shelves, 0, sizeof(Shelves))
    shelves.start = seat
    begin_turn(shelves, seat)


cdef uint32_t random_spaces(const Shelves* shelves, Random* random) noexcept nogil:
    """A random set of blank spaces that some roll pays, or none."""
    cdef uint32_t spaces
    cdef int _
    for _ in range(TRIES):
        spaces = SET_SPACES[USEFUL[below(random, USEFUL_COUNT)]]
        if spaces & ~blanks(shelves, shelves.seat) == 0:
            return spaces
    return 0


def self_play(
    TurnSolver solver not None, int games, uint64_t seed, int random_turns, double random_share
):
    """Play games and list the positions before each turn.

    Parameters
    ----------
    solver : TurnSolver
        Plays both seats.
    games : int
    seed : int
    random_turns : int
        A game begins with 0 to so many turns that circle random spaces.
    random_share : float
        The share of later turns that do so.

    Returns
    -------
    bytes
        `Sample` structs, game after game, in the order of play.
    """
    cdef Sample[MAX_TURNS] samples
    cdef int[MAX_TURNS] seats
    cdef float[SEATS] points
    cdef float[SEATS] shares
    cdef Shelves shelves
    cdef Turn turn
    cdef Random random
    cdef uint32_t spaces
    cdef int game, count, opening, i, seat
    cdef list parts = []
    seed_random(&random, seed, 0)
    memset(samples, 0, sizeof(samples))
    for game in range(games):
        start(&shelves, below(&random, SEATS))
        opening = below(&random, random_turns + 1)
        count = 0
        while shelves.phase != OVER:
            check(count < MAX_TURNS)
            solver.solve(&shelves, &turn)
            seats[count] = shelves.seat
            for i in range(SEATS):
                seat = (shelves.seat + i) % SEATS
                samples[count].circles[i] = shelves.circles[seat]
                samples[count].crosses[i] = shelves.crosses[seat]
            samples[count].solved = turn.before
            samples[count].new_round = shelves.start == shelves.seat
            samples[count].game = game
            spaces = 0
            if count < opening or below(&random, 1 << 20) < random_share * (1 << 20):
                spaces = random_spaces(&shelves, &random)
            if spaces:
                circle_spaces(&solver.terms, &shelves, spaces)
            else:
                solver.finish_turn(&shelves, &turn, &random)
            count += 1
        for seat in range(SEATS):
            points[seat] = sheet_points(&solver.terms, shelves.circles[seat])
        share_highest(points, SEATS, shares)
        for i in range(count):
            samples[i].outcome = shares[seats[i]]
            samples[i].points[0] = points[seats[i]]
            samples[i].points[1] = points[1 - seats[i]]
        parts.append((<const char*>samples)[: count * sizeof(Sample)])
    return b"".join(parts)


def duel(TurnSolver one not None, TurnSolver two not None, int pairs, uint64_t seed):
    """Play pairs of games with swapped seats, the luck of the n-th turn being the same in both.

    Returns
    -------
    list of tuple
        By pair: the mean share of the win and margin of `one`.
    """
    cdef float[SEATS] points
    cdef float[SEATS] shares
    cdef Shelves shelves
    cdef Turn turn
    cdef Random random
    cdef TurnSolver solver
    cdef int pair, seat, count
    cdef double share, margin
    cdef list result = []
    for pair in range(pairs):
        share = 0
        margin = 0
        for seat in range(SEATS):
            start(&shelves, 0)
            count = 0
            while shelves.phase != OVER:
                seed_random(&random, seed, pair * MAX_TURNS + count)
                solver = one if shelves.seat == seat else two
                solver.solve(&shelves, &turn)
                solver.finish_turn(&shelves, &turn, &random)
                count += 1
            for count in range(SEATS):
                points[count] = sheet_points(&one.terms, shelves.circles[count])
            share_highest(points, SEATS, shares)
            share += shares[seat]
            margin += points[seat] - points[1 - seat]
        result.append((share / SEATS, margin / SEATS))
    return result
