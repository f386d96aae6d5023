"""What Riviera's hands, moves and scores are worth; explained in the `.pyx`."""

from libc.stdint cimport uint32_t, uint64_t

from aleator.ext.games.riviera cimport Table


cdef enum:
    # The numbers of terms of each kind of choice, see `terms_of`.
    MORE_TERMS = 28
    SAVE_TERMS = 5
    PLAY_TERMS = MORE_TERMS + 8
    TURN_TERMS = 5
    EXCHANGE_TERMS = 13
    GOLDEN_TERMS = 2
    MOST_TERMS = PLAY_TERMS
    UNITS = 16  # units of a network

# A small neural network over terms: a weighted sum, and one of units, weighted sums above 0. The
# first term is 1.
cdef struct Network:
    float[MOST_TERMS][UNITS] inner  # of each unit; by term, of which there may be fewer
    float[UNITS] outer
    float[MOST_TERMS] direct

# How the policy of playouts weighs things, in win shares.
cdef struct Weights:
    # The strength of a score by its distance to the target, in tens of stars: linear, squared,
    # and for each star of the last ten; and of an unused Last Chance, alike.
    float distance
    float distance_squared
    float last_ten
    float chance
    float chance_distance
    # By how much the leader's distance, less two, and its square sharpen them.
    float leader
    float leader_squared
    float others_keep  # the part of their stars on the table that seats still in will bank
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
