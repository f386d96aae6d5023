"""What Riviera's hands, moves and scores are worth; explained in the `.pyx`."""

from libc.stdint cimport uint32_t, uint64_t

from aleator.ext.games.riviera cimport Table


cdef enum:
    # The numbers of terms of each kind of choice, see `terms_of`.
    MORE_TERMS = 42
    SAVE_TERMS = 5
    PLAY_TERMS = MORE_TERMS + 8
    TURN_TERMS = 9
    EXCHANGE_TERMS = 19
    GOLDEN_TERMS = 2
    MOST_TERMS = PLAY_TERMS
    UNITS = 32  # units of a network
    REACH = 40  # stars to the target, at most, in the table of win shares

# A small neural network over terms: a weighted sum, and one of units, weighted sums above 0. The
# first term is 1.
cdef struct Network:
    float[MOST_TERMS][UNITS] inner  # of each unit; by term, of which there may be fewer
    float[UNITS] outer
    float[MOST_TERMS] direct

# How strong a score is, where there are more than two seats.
cdef struct Strength:
    # By its distance to the target, in tens of stars: linear, squared, and for each star of the
    # last ten; and of an unused Last Chance, alike.
    float distance
    float distance_squared
    float last_ten
    float chance
    float chance_distance
    # By how much the leader's distance, less two, and its square sharpen them.
    float leader
    float leader_squared

# How the policy of playouts weighs things, in win shares.
cdef struct Weights:
    float others_keep  # how likely seats still in are to bank their stars on the table
    float others_gain  # stars that they will add
    # Of what a roll brings by luck: of each star that the best valid card has more than expected,
    # by what two stars are worth; and of a failure, by what is lost then, and by two stars' worth.
    float luck_stars
    float luck_fail
    float luck_slope
    # Of the terms of going on rather than stopping, of a play, of the Last Chance rather than a
    # crash, of turning a die, of a swap or redraw, and of adding the golden die.
    Network more
    Network play
    float[SAVE_TERMS] save
    float[TURN_TERMS] turn
    float[EXCHANGE_TERMS] exchange
    float[GOLDEN_TERMS] golden

# What the evaluation needs of the options.
cdef struct Knowledge:
    Weights weights
    Strength strength  # with more than two seats
    # With two seats, the first one's win share between rounds: by unused Last Chances, a bit for
    # each seat, and by the stars, less one, that each still needs.
    float[4][REACH][REACH] shares
    int seats
    int hand_size
    int max_rounds  # 0: no end
    bint after_stop
    bint by_rules  # weighs as the rule-based player does
    float unit  # scores and stars of the game times this are those used here
    float target
    float[12] stars  # by value, less one
    int levels  # different numbers of stars, most first
    float[12] level_stars
    uint64_t[12] level_cards
    uint64_t extra_cards
    uint64_t nines
    uint64_t swap_cards
    uint64_t reserve_cards
    uint64_t golden_cards

# What the next roll does to a hand.
cdef struct Outlook:
    float fail  # the chance that no card is valid
    float stars  # the expected stars of the valid card with most, 0 if there is none


cdef void look_ahead(
    const Knowledge* knowledge, uint64_t hand, int colours, bint golden, bint nine, Outlook* outlook
) noexcept nogil
cdef void settle_round(
    const Knowledge* knowledge, const Table* table, float* win_shares
) noexcept nogil
cdef void tell_luck(
    const Knowledge* knowledge, const Table* table, float* win_shares
) noexcept nogil
cdef int terms_of(
    const Knowledge* knowledge,
    const Table* table,
    int seat,
    const uint32_t* moves,
    int count,
    float[MOST_TERMS]* terms,
) noexcept nogil
cdef void weigh(
    const Knowledge* knowledge,
    const Table* table,
    int seat,
    const uint32_t* moves,
    int count,
    float* values,
) noexcept nogil
cdef uint32_t choose(
    const Knowledge* knowledge,
    const Table* table,
    int seat,
    const uint32_t* moves,
    int count,
    int first,
) noexcept nogil
