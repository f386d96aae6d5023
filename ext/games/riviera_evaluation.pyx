"""What Riviera's hands, moves and scores are worth: exact chances, a policy, win shares.

The chance that the next roll leaves a hand without a valid card is exact. For each
number of usable dice, with and without the golden die, a table tells of each card the
rolls for which it is valid, a bit for each; a hand's rolls are the union of its cards'.
A second table counts the rolls for which one turn of a die makes the card valid, for
hands whose 9 is still to be used.

A round is valued by win shares: the softmax of scores, an unused Last Chance counted as
stars, and sharper the fewer rounds are to come. `weigh` says what the moves of a seat are
worth, from its own hand and what is public; the best of them is the policy of playouts.
Small neural networks weigh Stop or More and plays, sums of terms the rest. `tell_luck` says
what dice changed by luck, so that it can be taken out of an estimate.

The weights are fitted by `tools/fit_riviera.py`, with stars in units in which the mean card has
two; those of the rule-based player for matches, which reckons in stars rather than win shares,
are set by hand.

Limits: chances take the dice of the next roll as they are known now. What others may
reserve or turn is not foreseen.
"""

from libc.math cimport expf, powf, sqrtf
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from aleator.ext.core cimport clones  # no-cython-lint: for ALEATOR_CLONES
from aleator.ext.core.bits cimport lowest_bit, popcount
from aleator.ext.core.game cimport MAX_SEATS
from aleator.ext.games.riviera cimport (
    CARDS,
    COLOURS,
    CRASH,
    DICE,
    EXTRA,
    GOLDEN,
    MAX_HAND,
    NINES,
    PAIRS,
    PASS,
    PLAY,
    STOP,
    SWAP,
    TURN,
    VALUES,
    Table,
    bit,
    turned_value,
    usable_dice,
    valid_cards,
)


cdef enum:
    RULE_CHANCE = 4  # stars that a Last Chance is worth to the rule-based player
    FAR = 4  # tens of stars; distances beyond are weighed linearly
    KINDS = 4  # of tables: + 1 with the golden die, + 2 with a die to turn
    MOST_ROLLS = 46_656
    WORDS = MOST_ROLLS // 64
    KEPT_STAKES = 4  # of one choice: plays of cards with different stars
    FOUR_DICE = 21  # words of their 1296 rolls
    # Bits of all tables: 12 * k cards, 64 rolls to a word, for k dice and the golden one.
    ALL_WORDS = 2 * 12 * (
        (1 + 2 * 1 + 3 * 4 + 4 * 21 + 5 * 122) + (1 + 2 * 4 + 3 * 21 + 4 * 122 + 5 * 729)
    )


cdef extern from *:
    """
    #define ALEATOR_UNITS 32
    /* Its units stay in registers. Terms are often 0. */
    ALEATOR_CLONES static float aleator_ask_network(
        const float *restrict terms, int count, const float *restrict inner,
        const float *restrict outer, const float *restrict direct)
    {
        float units[ALEATOR_UNITS] = {0};
        float result = 0;
        for (int i = 0; i < count; i++) {
            if (terms[i] == 0)
                continue;
            /* Not inner[i * ALEATOR_UNITS + j], which could wrap around for the compiler. */
            const float *row = inner + i * ALEATOR_UNITS;
            for (int j = 0; j < ALEATOR_UNITS; j++)
                units[j] += terms[i] * row[j];
            result += terms[i] * direct[i];
        }
        for (int j = 0; j < ALEATOR_UNITS; j++)
            result += outer[j] * (units[j] > 0 ? units[j] : 0);
        return result;
    }
    """
    float ask_network "aleator_ask_network"(
        const float* terms, int count, const float* inner, const float* outer, const float* direct
    ) noexcept nogil


cdef float UNSEEN_FAIL = 0.72  # the chance that a card is not valid, about
cdef float STARS_A_PLAY = 2.2

cdef uint64_t[ALL_WORDS] ROLLS
cdef int[COLOURS + 1][KINDS] STARTS  # by number of coloured dice and kind: the first word in ROLLS
cdef int[DICE + 1] ROLL_COUNTS  # by number of dice


cdef inline int words(int dice) noexcept nogil:
    return (ROLL_COUNTS[dice] + 63) // 64


cdef void fill_table(int colours, bint golden) noexcept:
    """Fill the tables of so many coloured dice, the first roll of which shows only ones."""
    cdef uint64_t[MOST_ROLLS] valid
    cdef uint8_t[DICE] dice
    cdef int count = colours + golden
    cdef int row = words(count)
    cdef int roll, die, rest, step, face, _
    cdef uint64_t turned
    for roll in range(ROLL_COUNTS[count]):
        memset(dice, 0, DICE)
        rest = roll
        for die in range(count):
            dice[die if die < colours else GOLDEN] = 1 + rest % 6
            rest //= 6
        valid[roll] = valid_cards(dice)
    for roll in range(ROLL_COUNTS[count]):
        turned = valid[roll]
        step = 1
        for _ in range(count):
            face = roll // step % 6
            turned |= valid[roll + step * ((face + 1) % 6 - face)]
            turned |= valid[roll + step * ((face + 5) % 6 - face)]
            step *= 6
        enter_roll(STARTS[colours][golden], row, roll, valid[roll])
        enter_roll(STARTS[colours][golden + 2], row, roll, turned)


cdef void enter_roll(int start, int row, int roll, uint64_t cards) noexcept:
    while cards:
        ROLLS[start + lowest_bit(cards) * row + roll // 64] |= <uint64_t>1 << (roll % 64)
        cards &= cards - 1


cdef void fill_tables() noexcept:
    cdef int colours, kind
    cdef int start = 0
    cdef int rolls = 1
    for colours in range(DICE + 1):
        ROLL_COUNTS[colours] = rolls
        rolls *= 6
    for colours in range(1, COLOURS + 1):
        for kind in range(KINDS):
            STARTS[colours][kind] = start
            start += colours * VALUES * words(colours + (kind & 1))
        fill_table(colours, False)
        fill_table(colours, True)

fill_tables()


cdef inline void unite(uint64_t* met, const uint64_t* rolls, int row) noexcept nogil:
    cdef int i
    if row == FOUR_DICE:  # the usual case; of known length, so that it is unrolled
        for i in range(FOUR_DICE):
            met[i] |= rolls[i]
    else:
        for i in range(row):
            met[i] |= rolls[i]


cdef inline int count_bits(const uint64_t* met, int row) noexcept nogil:
    cdef int result = 0
    cdef int i
    if row == FOUR_DICE:
        for i in range(FOUR_DICE):
            result += popcount(met[i])
    else:
        for i in range(row):
            result += popcount(met[i])
    return result


cdef void look_ahead(
    const Knowledge* knowledge, uint64_t hand, int colours, bint golden, bint nine, Outlook* outlook
) noexcept nogil:
    """What a roll of the dice of these colours, a bit mask, does to a hand.

    Parameters
    ----------
    golden : bool
        Whether the golden die is rolled too.
    nine : bool
        Whether the hand's owner may turn one die.
    """
    cdef uint64_t[WORDS] met  # rolls for which a card so far is valid
    cdef uint64_t cards
    cdef int dice = popcount(colours)
    cdef int row = words(dice + golden)
    cdef int before = 0
    cdef int level, card, colour, count
    cdef const uint64_t* table
    cdef float expected = 0
    cdef float all_rolls = ROLL_COUNTS[dice + golden]
    if dice == 0:
        outlook.fail = 1
        outlook.stars = 0
        return
    table = ROLLS + STARTS[dice][golden + 2 * nine]
    memset(met, 0, row * sizeof(uint64_t))
    for level in range(knowledge.levels):
        cards = hand & knowledge.level_cards[level]
        if not cards:
            continue
        while cards:
            card = lowest_bit(cards)
            cards &= cards - 1
            colour = card // VALUES
            if not colours >> colour & 1:
                continue
            # The dice of the roll are numbered without those that are not usable.
            card += (popcount(colours & ((1 << colour) - 1)) - colour) * VALUES
            unite(met, table + card * row, row)
        count = count_bits(met, row)
        expected += knowledge.level_stars[level] * (count - before)
        before = count
    outlook.fail = 1 - before / all_rolls
    outlook.stars = expected / all_rolls


cdef float stars_of_roll(
    const Knowledge* knowledge, uint64_t hand, int colours, bint nine, const uint8_t* dice
) noexcept nogil:
    """What a roll brought of what `look_ahead` expects: stars, or -1 if no card is valid."""
    cdef const uint64_t* table
    cdef uint64_t cards
    cdef bint golden = dice[GOLDEN] != 0
    cdef int count = popcount(colours)
    cdef int row = words(count + golden)
    cdef int roll = 0
    cdef int step = 1
    cdef int level, card, colour
    if count == 0:
        return -1
    for colour in range(DICE):
        if colours >> colour & 1 or (colour == GOLDEN and golden):
            roll += step * (dice[colour] - 1)
            step *= 6
    table = ROLLS + STARTS[count][golden + 2 * nine] + roll // 64
    for level in range(knowledge.levels):
        cards = hand & knowledge.level_cards[level]
        while cards:
            card = lowest_bit(cards)
            cards &= cards - 1
            colour = card // VALUES
            if colours >> colour & 1:
                card += (popcount(colours & ((1 << colour) - 1)) - colour) * VALUES
                if table[card * row] >> (roll % 64) & 1:
                    return knowledge.level_stars[level]
    return -1


# Win shares of scores.

cdef inline float stars_of(const Knowledge* knowledge, uint64_t cards) noexcept nogil:
    cdef float result = 0
    cdef int level
    for level in range(knowledge.levels):
        result += knowledge.level_stars[level] * popcount(cards & knowledge.level_cards[level])
    return result


cdef float look_up(const Knowledge* knowledge, const float* totals, int chances) noexcept nogil:
    """The first of two seats' win share by the table, between whose entries it is straight."""
    cdef const float* table = &knowledge.shares[chances & 3][0][0]
    cdef float first = knowledge.target - totals[0]
    cdef float second = knowledge.target - totals[1]
    cdef float most = max(first, second)
    cdef int low_first, low_second
    if most > REACH:  # a longer game: by what part of the way is left
        first *= REACH / most
        second *= REACH / most
    first = max(<float>0, first - 1)
    second = max(<float>0, second - 1)
    low_first = min(REACH - 2, <int>first)
    low_second = min(REACH - 2, <int>second)
    first -= low_first
    second -= low_second
    table += low_first * REACH + low_second
    return (1 - first) * ((1 - second) * table[0] + second * table[1]) + first * (
        (1 - second) * table[REACH] + second * table[REACH + 1]
    )


cdef void share_win(
    const Knowledge* knowledge, const float* totals, int chances, int round_number, float* shares
) noexcept nogil:
    """The win shares of totals at the end of a round; `chances` are the unused Last Chances."""
    cdef const Strength* strength = &knowledge.strength
    cdef float most = totals[0]
    cdef float best = -1e9
    cdef float distance, sharp
    cdef float total = 0
    cdef int seat, winners
    for seat in range(1, knowledge.seats):
        most = max(most, totals[seat])
    if most > knowledge.target - <float>0.01 or round_number == knowledge.max_rounds:
        winners = 0
        for seat in range(knowledge.seats):
            winners += totals[seat] > most - <float>0.01
        for seat in range(knowledge.seats):
            shares[seat] = (<float>1.0) / winners if totals[seat] > most - <float>0.01 else 0
        return
    if knowledge.seats == 2:
        shares[0] = look_up(knowledge, totals, chances)
        shares[1] = 1 - shares[0]
        return
    distance = min(<float>FAR, <float>0.1 * (knowledge.target - most)) - 2
    sharp = 1 + strength.leader * distance + strength.leader_squared * distance * distance
    for seat in range(knowledge.seats):
        distance = <float>0.1 * (knowledge.target - totals[seat])
        shares[seat] = (
            strength.distance * distance
            + strength.distance_squared * distance * min(<float>FAR, distance)
            + strength.last_ten * max(<float>0, 1 - distance)
        )
        if chances >> seat & 1:
            shares[seat] += max(<float>0, strength.chance + strength.chance_distance * distance)
        shares[seat] *= sharp
        best = max(best, shares[seat])
    for seat in range(knowledge.seats):
        shares[seat] = expf(shares[seat] - best)
        total += shares[seat]
    for seat in range(knowledge.seats):
        shares[seat] /= total


cdef void settle_round(
    const Knowledge* knowledge, const Table* table, float* win_shares
) noexcept nogil:
    """The win shares between two rounds."""
    cdef float[MAX_SEATS] totals
    cdef int seat
    for seat in range(knowledge.seats):
        totals[seat] = knowledge.unit * table.scores[seat]
    # The number is that of the round to come.
    share_win(knowledge, totals, ~table.used, table.round_number - 1, win_shares)


# What a seat can expect of the round.

# How likely a hand unseen is to play so many cards on end: with a Last Chance or not, by its cards
# and by their number. As if each card were valid for itself, with the same chance.
cdef float[2][MAX_HAND + 1][MAX_HAND + 1] CHAINS

cdef void fill_chains() noexcept:
    cdef int cards, plays
    cdef float fail
    memset(CHAINS, 0, sizeof(CHAINS))
    for cards in range(MAX_HAND + 1):
        CHAINS[0][cards][0] = 1
        CHAINS[1][cards][0] = 1
        fail = powf(UNSEEN_FAIL, cards)
        for plays in range(1, cards + 1):
            CHAINS[0][cards][plays] = (1 - fail) * CHAINS[0][cards - 1][plays - 1]
            CHAINS[1][cards][plays] = (1 - fail) * CHAINS[1][cards - 1][plays - 1] + (
                fail * CHAINS[0][cards][plays]
            )

fill_chains()


cdef struct Stakes:
    float at_stake  # stars on the table
    float banked  # the win share if they are banked
    float slope  # what two more would add to that, and six
    float six_more
    float lost  # what a crash, or the use of the Last Chance, takes from it: 0 or less
    float alone  # the win share if they are banked and all others crash

cdef struct Prospects:
    # Expected at the end of the round; that of the seat without its stars on the table. And if all
    # others that are in the round crash.
    float[MAX_SEATS] totals
    float[MAX_SEATS] least
    int inside  # bit mask of the seats in the round
    int[MAX_SEATS] cards  # in their hands
    float[MAX_SEATS] stakes  # the stars of those in the round
    float at_stake  # the seat's stars on the table
    float crashed  # its win share if it loses them
    float others_at_stake  # most stars on the table, and fewest cards, of the others in the round
    float others_cards
    int others  # how many are in the round
    int chances  # unused Last Chances
    int colours  # of the dice that the seat can use on the next roll
    int seat
    int round_number
    int known  # how many stakes were found so far, of which the last few are kept
    Stakes[KEPT_STAKES] stakes_known


cdef struct Exchange:
    Stakes stakes
    Outlook outlook  # with all cards
    # By card of the hand: how much likelier a failure is without it, and the expected stars.
    float[CARDS] fail
    float[CARDS] stars


cdef float share_among(
    const Knowledge* knowledge,
    const Prospects* prospects,
    const float* others,
    float stars,
    bint chance,
) noexcept nogil:
    """The seat's win share among such totals of others; see `share_of`."""
    cdef float[MAX_SEATS] totals
    cdef float[MAX_SEATS] shares
    cdef int seat = prospects.seat
    memcpy(totals, others, sizeof(totals))
    totals[seat] += stars
    share_win(
        knowledge,
        totals,
        prospects.chances & ~(1 << seat) | chance << seat,
        prospects.round_number,
        shares,
    )
    return shares[seat]


cdef float share_of_target(
    const Knowledge* knowledge, const Prospects* prospects, float total
) noexcept nogil:
    """The win share of a seat that banks what reaches the target, while others go on.

    They know then what they need, and lose nothing by trying.
    """
    cdef float share = 1
    cdef float ahead
    cdef int other
    for other in range(knowledge.seats):
        if other == prospects.seat:
            continue
        ahead = total - prospects.least[other]
        if prospects.inside >> other & 1:
            ahead -= prospects.stakes[other]
            share *= 1 - CHAINS[prospects.chances >> other & 1][prospects.cards[other]][
                0 if ahead < 0 else min(prospects.cards[other], 1 + <int>(ahead / STARS_A_PLAY))
            ]
        elif ahead < <float>-0.01:
            return 0
        elif ahead < <float>0.01:
            share *= <float>0.5
    return share


cdef float share_of(
    const Knowledge* knowledge, const Prospects* prospects, float stars, bint chance
) noexcept nogil:
    """The seat's win share if it banks these stars, and has its Last Chance or not."""
    cdef float keep = knowledge.weights.others_keep
    cdef float share
    if prospects.others and prospects.least[prospects.seat] + stars > (
        knowledge.target - <float>0.01
    ):
        return share_of_target(knowledge, prospects, prospects.least[prospects.seat] + stars)
    share = share_among(knowledge, prospects, prospects.totals, stars, chance)
    if not prospects.others:
        return share
    return keep * share + (1 - keep) * share_among(
        knowledge, prospects, prospects.least, stars, chance
    )


cdef void see_stakes(
    const Knowledge* knowledge, Prospects* prospects, float at_stake, Stakes* stakes
) noexcept nogil:
    """What is banked, gained by two stars more, and lost; the rest is left to `stakes_of`."""
    cdef bint chance = prospects.chances >> prospects.seat & 1
    stakes.at_stake = at_stake
    stakes.banked = share_of(knowledge, prospects, at_stake, chance)
    stakes.slope = share_of(knowledge, prospects, at_stake + 2, chance) - stakes.banked
    stakes.lost = prospects.crashed
    if chance:
        stakes.lost = max(stakes.lost, share_of(knowledge, prospects, at_stake, False))
    stakes.lost -= stakes.banked


cdef void stakes_of(
    const Knowledge* knowledge, Prospects* prospects, float at_stake, Stakes* stakes
) noexcept nogil:
    """The win shares that so many stars on the table mean; of the last few, as they were found."""
    cdef bint chance = prospects.chances >> prospects.seat & 1
    cdef int i
    for i in range(min(prospects.known, KEPT_STAKES)):
        if prospects.stakes_known[i].at_stake == at_stake:
            stakes[0] = prospects.stakes_known[i]
            return
    see_stakes(knowledge, prospects, at_stake, stakes)
    stakes.six_more = share_of(knowledge, prospects, at_stake + 6, chance) - stakes.banked
    stakes.alone = share_among(knowledge, prospects, prospects.least, at_stake, chance)
    prospects.stakes_known[prospects.known % KEPT_STAKES] = stakes[0]
    prospects.known += 1


cdef void see_prospects(
    const Knowledge* knowledge, const Table* table, int seat, Prospects* prospects
) noexcept nogil:
    cdef const Weights* weights = &knowledge.weights
    cdef int other
    cdef float total, stars
    prospects.seat = seat
    prospects.known = 0
    prospects.round_number = table.round_number
    prospects.chances = ~table.used
    prospects.at_stake = stars_of(knowledge, table.played[seat])
    prospects.colours = ((1 << COLOURS) - 1) & ~(1 << table.removed)
    prospects.others_at_stake = 0
    prospects.others_cards = knowledge.hand_size
    prospects.others = popcount(table.inside & ~(1 << seat))
    prospects.inside = table.inside
    for other in range(knowledge.seats):
        total = knowledge.unit * table.scores[other]
        prospects.least[other] = total
        if other != seat:
            if table.stopped >> other & 1:
                total += stars_of(knowledge, table.played[other])
                prospects.least[other] = total
            elif table.inside >> other & 1:
                stars = stars_of(knowledge, table.played[other])
                prospects.stakes[other] = stars
                prospects.cards[other] = knowledge.hand_size - popcount(table.played[other])
                if knowledge.by_rules:
                    total += weights.others_keep * stars + weights.others_gain
                else:
                    total += stars + weights.others_gain
                prospects.others_at_stake = max(prospects.others_at_stake, stars)
                prospects.others_cards = min(prospects.others_cards, prospects.cards[other])
            # Before the stops a reservation waits; afterwards it is that of the coming roll.
            if table.reserving[other]:
                prospects.colours &= ~(1 << (table.reserving[other] - 1))
            if table.reserved[other] and (table.phase >= STOP or knowledge.after_stop):
                prospects.colours &= ~(1 << (table.reserved[other] - 1))
        prospects.totals[other] = total
    prospects.crashed = share_of(knowledge, prospects, 0, prospects.chances >> seat & 1)


cdef void tell_luck(
    const Knowledge* knowledge, const Table* table, float* win_shares
) noexcept nogil:
    """By how much the dice just rolled are about better for each seat than dice are on average.

    Its mean over all rolls is 0, whatever play comes after. Dice are good for a seat that
    they let play a card rather than none, and one with many stars; others share the harm.
    """
    cdef const Weights* weights = &knowledge.weights
    cdef Prospects prospects
    cdef Outlook outlook
    cdef Stakes stakes
    cdef float stars, luck
    cdef int seat, other, colours
    cdef bint nine
    memset(win_shares, 0, knowledge.seats * sizeof(float))
    for seat in range(knowledge.seats):
        if not table.inside >> seat & 1:
            continue
        see_prospects(knowledge, table, seat, &prospects)
        colours = ((1 << COLOURS) - 1) & ~(1 << table.removed)
        for other in range(knowledge.seats):
            if other != seat and table.reserved[other]:
                colours &= ~(1 << (table.reserved[other] - 1))
        nine = table.powers[seat] and knowledge.nines >> (table.powers[seat] - 1) & 1
        look_ahead(knowledge, table.hands[seat], colours, table.dice[GOLDEN] != 0, nine, &outlook)
        stars = stars_of_roll(knowledge, table.hands[seat], colours, nine, table.dice)
        see_stakes(knowledge, &prospects, prospects.at_stake, &stakes)
        luck = weights.luck_stars * stakes.slope * (max(<float>0, stars) - outlook.stars) + (
            weights.luck_fail * stakes.lost - weights.luck_slope * stakes.slope
        ) * ((stars < 0) - outlook.fail)
        for other in range(knowledge.seats):
            win_shares[other] += luck if other == seat else -luck / (knowledge.seats - 1)


cdef inline float slam_chance(float fail, int cards) noexcept nogil:
    """About how likely a hand is to be played to the last card.

    As if each card were valid for itself, and as often as the others.
    """
    cdef float result = 1
    cdef float each = powf(min(fail, <float>0.999), <float>1.0 / max(cards, 1))
    cdef float none = 1
    cdef int _
    for _ in range(cards):
        none *= each
        result *= 1 - none
    return result


# Terms: what the policy looks at. Those of a move times their weights are what it is worth.

cdef void outlook_terms(
    const Knowledge* knowledge,
    const Table* table,
    Prospects* prospects,
    uint64_t hand,
    float at_stake,
    bint golden,
    bint nine,
    float* terms,
) noexcept nogil:
    """Of going on with a hand and stars on the table, which may be those after a play."""
    cdef int seat = prospects.seat
    cdef float cards = popcount(hand)
    cdef bint chance = prospects.chances >> seat & 1
    cdef float others = prospects.others
    cdef float fail
    cdef float highest = -1e9
    cdef int other
    cdef Outlook outlook
    cdef Stakes stakes
    look_ahead(knowledge, hand, prospects.colours, golden, nine, &outlook)
    stakes_of(knowledge, prospects, at_stake, &stakes)
    fail = outlook.fail
    terms[0] = 1
    terms[1] = chance
    terms[2] = cards
    terms[3] = fail
    terms[4] = fail * chance
    terms[5] = fail * stakes.lost
    terms[6] = fail * stakes.lost * chance
    terms[7] = slam_chance(fail, <int>cards) * (1 - stakes.banked)
    terms[8] = stakes.slope
    terms[9] = stakes.slope * cards
    terms[10] = others
    terms[11] = stakes.slope * others
    terms[12] = fail * cards
    terms[13] = stakes.banked
    terms[14] = stakes.banked * stakes.banked
    terms[15] = outlook.stars
    terms[16] = outlook.stars * stakes.slope
    terms[17] = at_stake
    terms[18] = knowledge.target - prospects.totals[seat] - at_stake
    terms[19] = golden
    terms[20] = nine
    terms[21] = stars_of(knowledge, hand)
    terms[22] = popcount(hand & knowledge.extra_cards)
    terms[23] = prospects.others_at_stake
    terms[24] = prospects.others_cards
    terms[25] = popcount(table.inside & prospects.chances & ~(1 << seat))
    for other in range(knowledge.seats):
        if other != seat:
            highest = max(highest, prospects.totals[other])
    terms[26] = knowledge.target - highest
    terms[27] = prospects.crashed
    terms[28] = stakes.six_more
    terms[29] = stakes.alone
    memset(terms + 30, 0, VALUES * sizeof(float))
    while hand:
        terms[30 + lowest_bit(hand) % VALUES] += 1
        hand &= hand - 1


cdef void more_terms(
    const Knowledge* knowledge, const Table* table, Prospects* prospects, bint golden, float* terms
) noexcept nogil:
    """Of going on; to stop has none."""
    cdef int power = table.powers[prospects.seat]
    outlook_terms(
        knowledge,
        table,
        prospects,
        table.hands[prospects.seat],
        prospects.at_stake,
        golden,
        power and knowledge.nines >> (power - 1) & 1,
        terms,
    )


cdef void save_terms(
    const Knowledge* knowledge, const Table* table, Prospects* prospects, float* terms
) noexcept nogil:
    """Of the Last Chance; a crash has none."""
    cdef int cards = popcount(table.hands[prospects.seat])
    terms[0] = 1
    terms[1] = share_of(knowledge, prospects, prospects.at_stake, False) - share_of(
        knowledge, prospects, 0, True
    )
    terms[2] = cards
    terms[3] = cards * cards
    terms[4] = prospects.others


cdef inline float best_stars(const Knowledge* knowledge, uint64_t cards) noexcept nogil:
    """The most stars that one of these cards has; 0 if there is none."""
    cdef int level
    for level in range(knowledge.levels):
        if cards & knowledge.level_cards[level]:
            return knowledge.level_stars[level]
    return 0


cdef inline uint64_t cards_of(const uint32_t* moves, int count) noexcept nogil:
    """The cards of plays, among which may be passing."""
    cdef uint64_t result = 0
    cdef int i
    for i in range(count):
        if moves[i] != PASS:
            result |= bit(moves[i])
    return result


cdef void play_terms(
    const Knowledge* knowledge,
    const Table* table,
    Prospects* prospects,
    const uint32_t* moves,
    int count,
    float[MOST_TERMS]* all_terms,
) noexcept nogil:
    """Of plays, and of passing an extra play: what comes after it, and what the card is.

    An extra play may bring the most stars that another one has.
    """
    cdef uint64_t plays = cards_of(moves, count)
    cdef uint64_t card
    cdef float stars
    cdef float* terms
    cdef int i
    for i in range(count):
        card = 0 if moves[i] == PASS else bit(moves[i])
        stars = 0 if moves[i] == PASS else knowledge.stars[moves[i] % VALUES]
        outlook_terms(
            knowledge,
            table,
            prospects,
            table.hands[prospects.seat] & ~card,
            prospects.at_stake + stars,
            table.golden or (card & knowledge.golden_cards) != 0,
            (card & knowledge.nines) != 0,
            all_terms[i],
        )
        terms = all_terms[i] + MORE_TERMS
        memset(terms, 0, (PLAY_TERMS - MORE_TERMS) * sizeof(float))
        terms[0] = moves[i] == PASS
        terms[1] = stars
        if card & knowledge.extra_cards:
            terms[2] = 1
            terms[3] = best_stars(knowledge, plays & ~card)
        elif card & knowledge.reserve_cards:
            terms[4] = 1
        elif card & knowledge.nines:
            terms[5] = 1
        elif card & knowledge.swap_cards:
            terms[6] = 1
        elif card & knowledge.golden_cards:
            terms[7] = 1


cdef inline uint64_t unseen_cards(
    const Knowledge* knowledge, const Table* table, int seat
) noexcept nogil:
    """The cards in use that are neither in this seat's hand nor played in this round."""
    cdef uint64_t result = (bit(CARDS) - 1) & ~table.hands[seat]
    cdef int other
    if table.removed < COLOURS:
        result &= ~((bit(VALUES) - 1) << (VALUES * table.removed))
    for other in range(knowledge.seats):
        result &= ~table.played[other]
    return result


cdef uint64_t turn_terms(
    const Knowledge* knowledge,
    const Table* table,
    Prospects* prospects,
    uint32_t move,
    float* terms,
) noexcept nogil:
    """Of turning a die: what it lets the seat play. Returns all cards that are valid then."""
    cdef uint8_t[DICE] dice
    cdef uint64_t valid, cards
    cdef int die
    usable_dice(table, prospects.seat, dice)
    if move != PASS:
        die = (move - TURN) // 2
        if dice[die]:
            dice[die] = turned_value(dice[die], (move - TURN) % 2)
    valid = valid_cards(dice)
    cards = table.hands[prospects.seat] & valid
    terms[0] = cards == 0
    terms[1] = best_stars(knowledge, cards)
    terms[2] = popcount(cards)
    terms[4] = move == PASS
    return valid


cdef void turns_terms(
    const Knowledge* knowledge,
    const Table* table,
    Prospects* prospects,
    const uint32_t* moves,
    int count,
    float[MOST_TERMS]* all_terms,
) noexcept nogil:
    """Of turning dice: the above, the worth of the best play, and what others can do.

    For each of the others' cards any unseen one is as likely.
    """
    cdef uint32_t[MAX_HAND] cards
    cdef float[MAX_HAND] worth
    cdef float[MAX_HAND][MOST_TERMS] plays
    cdef uint64_t hand = table.hands[prospects.seat]
    cdef uint64_t valid
    cdef uint64_t unseen = unseen_cards(knowledge, table, prospects.seat)
    cdef int hidden = popcount(unseen)
    cdef int size = popcount(hand)
    cdef int seat, i, j
    cdef float mean = 0
    cdef Stakes stakes
    cdef float best, fail, with_chance, without
    cdef float* terms
    stakes_of(knowledge, prospects, prospects.at_stake, &stakes)
    for i in range(size):
        cards[i] = lowest_bit(hand)
        hand &= hand - 1
        play_terms(knowledge, table, prospects, cards + i, 1, plays + i)
        worth[i] = ask(&knowledge.weights.play, plays[i], PLAY_TERMS)
        mean += worth[i] / size
    for i in range(count):
        terms = all_terms[i]
        valid = turn_terms(knowledge, table, prospects, moves[i], terms)
        terms[3] = popcount(unseen & valid) if prospects.others else 0
        valid &= table.hands[prospects.seat]
        best = -1e9
        for j in range(size):
            if valid & bit(cards[j]):
                if valid & ~bit(cards[j]) and knowledge.extra_cards & bit(cards[j]):
                    # An extra play, if it is played first.
                    plays[j][MORE_TERMS + 3] = best_stars(knowledge, valid & ~bit(cards[j]))
                    best = max(best, ask(&knowledge.weights.play, plays[j], PLAY_TERMS))
                else:
                    best = max(best, worth[j])
        if size == 1:  # the last card wins
            best = 1 - stakes.banked
            mean = 0
        terms[5] = best - mean if valid else 0
        terms[6] = 0 if valid else stakes.lost
        with_chance = 0
        without = 0
        for seat in range(knowledge.seats):
            if seat == prospects.seat or not table.inside >> seat & 1:
                continue
            fail = 1
            for j in range(prospects.cards[seat]):
                fail *= max(<float>0, 1 - terms[3] / max(1, hidden - j))
            if prospects.chances >> seat & 1:
                with_chance += fail
            else:
                without += fail
        terms[7] = (stakes.alone - stakes.banked) * with_chance / max(1, prospects.others)
        terms[8] = (stakes.alone - stakes.banked) * without / max(1, prospects.others)


cdef void give_terms(uint32_t move, float* terms) noexcept nogil:
    """Of a swap or redraw: the values of the two cards given; to pass has none."""
    cdef int low, high
    memset(terms, 0, EXCHANGE_TERMS * sizeof(float))
    if move != PASS:
        pair_of(move, &low, &high)
        terms[VALUES] = 1
        terms[low % VALUES] += 1
        terms[high % VALUES] += 1


cdef inline void pair_of(uint32_t move, int* low, int* high) noexcept nogil:
    """The two cards given in a swap or redraw."""
    cdef int pair = (move - SWAP) % PAIRS
    high[0] = <int>((1 + sqrtf(1 + 8 * pair)) / 2)
    low[0] = pair - high[0] * (high[0] - 1) // 2


cdef void see_exchange(
    const Knowledge* knowledge, const Table* table, Prospects* prospects, Exchange* exchange
) noexcept nogil:
    """What a swap or redraw is judged by, whichever cards are given."""
    cdef uint64_t hand = table.hands[prospects.seat]
    cdef uint64_t rest = hand
    cdef int card
    cdef Outlook kept
    stakes_of(knowledge, prospects, prospects.at_stake, &exchange.stakes)
    look_ahead(knowledge, hand, prospects.colours, table.golden, False, &exchange.outlook)
    while rest:
        card = lowest_bit(rest)
        rest &= rest - 1
        look_ahead(knowledge, hand & ~bit(card), prospects.colours, table.golden, False, &kept)
        exchange.fail[card] = kept.fail - exchange.outlook.fail
        exchange.stars[card] = kept.stars - exchange.outlook.stars


cdef void exchange_terms(const Exchange* exchange, uint32_t move, float* terms) noexcept nogil:
    """Of a swap or redraw: the cards given, and what each of them is for the next roll."""
    cdef int low, high
    cdef float fail, stars
    give_terms(move, terms)
    memset(terms + VALUES + 1, 0, (EXCHANGE_TERMS - VALUES - 1) * sizeof(float))
    if move == PASS:
        return
    pair_of(move, &low, &high)
    fail = exchange.fail[low] + exchange.fail[high]
    stars = exchange.stars[low] + exchange.stars[high]
    terms[VALUES + 1] = fail
    terms[VALUES + 2] = fail * exchange.stakes.lost
    terms[VALUES + 3] = stars * exchange.stakes.slope
    terms[VALUES + 4] = exchange.outlook.fail
    terms[VALUES + 5] = exchange.stakes.lost
    terms[VALUES + 6] = exchange.stakes.slope


cdef inline float sum_up(const float* terms, const float* weights, int count) noexcept nogil:
    cdef float result = 0
    cdef int i
    for i in range(count):
        result += terms[i] * weights[i]
    return result


cdef inline float ask(const Network* network, const float* terms, int count) noexcept nogil:
    """What a network makes of so many terms."""
    return ask_network(
        terms, count, &network.inner[0][0], network.outer, network.direct
    )


cdef float gain_of_more(
    const Knowledge* knowledge, const Table* table, Prospects* prospects, bint golden
) noexcept nogil:
    """What going on is worth more than to stop."""
    cdef float[MOST_TERMS] terms
    more_terms(knowledge, table, prospects, golden, terms)
    if terms[13] > <float>0.98 and terms[10] == 0:  # to stop wins: the sum is not that exact
        return -1
    if terms[13] < <float>0.001 and terms[10] == 0:  # to stop loses for sure
        return 1
    return ask(&knowledge.weights.more, terms, MORE_TERMS)


cdef int terms_of(
    const Knowledge* knowledge,
    const Table* table,
    int seat,
    const uint32_t* moves,
    int count,
    float[MOST_TERMS]* terms,
) noexcept nogil:
    """The terms of each move; returns how many. For the script that fits their weights."""
    cdef Prospects prospects
    cdef Exchange exchange
    cdef int i
    see_prospects(knowledge, table, seat, &prospects)
    memset(terms, 0, count * sizeof(terms[0]))
    if table.phase == PLAY or table.phase == EXTRA:
        if moves[0] == CRASH:
            save_terms(knowledge, table, &prospects, terms[1])
            return SAVE_TERMS
        play_terms(knowledge, table, &prospects, moves, count, terms)
        return PLAY_TERMS
    if table.phase == STOP:
        more_terms(knowledge, table, &prospects, table.golden, terms[1])
        return MORE_TERMS
    if table.phase == NINES:
        turns_terms(knowledge, table, &prospects, moves, count, terms)
        return TURN_TERMS
    if moves[count - 1] >= SWAP:
        see_exchange(knowledge, table, &prospects, &exchange)
        for i in range(count):
            exchange_terms(&exchange, moves[i], terms[i])
        return EXCHANGE_TERMS
    if knowledge.golden_cards >> (table.powers[seat] - 1) & 1:
        golden_terms(knowledge, table, &prospects, terms[1])
        return GOLDEN_TERMS
    return 0


cdef void golden_terms(
    const Knowledge* knowledge, const Table* table, Prospects* prospects, float* terms
) noexcept nogil:
    """Of adding the golden die: it helps who goes on."""
    terms[0] = 1
    terms[1] = max(<float>-0.1, gain_of_more(knowledge, table, prospects, True))


# The rule-based player, in stars. Its weights are set by hand.

cdef float[COLOURS + 1][VALUES] SINGLE  # by number of dice and value: how often a card is valid

cdef void fill_single() noexcept:
    cdef int dice, index, i
    cdef int count
    memset(SINGLE, 0, sizeof(SINGLE))
    for dice in range(1, COLOURS + 1):
        for index in range(VALUES):
            count = 0
            for i in range(words(dice)):
                count += popcount(ROLLS[STARTS[dice][0] + index * words(dice) + i])
            SINGLE[dice][index] = count / <float>ROLL_COUNTS[dice]

fill_single()


cdef float rule_of_more(
    const Knowledge* knowledge, const Table* table, Prospects* prospects, bint golden
) noexcept nogil:
    """What going on is worth more than to stop: stars to gain against those at risk."""
    cdef int seat = prospects.seat
    cdef bint nine = table.powers[seat] and knowledge.nines >> (table.powers[seat] - 1) & 1
    cdef Outlook outlook
    cdef float at_risk = prospects.at_stake
    cdef float own = prospects.totals[seat] + prospects.at_stake
    cdef float ahead = -1e9
    cdef float banked = -1e9
    cdef int other
    look_ahead(knowledge, table.hands[seat], prospects.colours, golden, nine, &outlook)
    if popcount(table.hands[seat]) == 1 and outlook.fail < <float>0.5:
        return 1
    for other in range(knowledge.seats):
        if other != seat:
            ahead = max(ahead, prospects.totals[other])
            if not table.inside >> other & 1:
                banked = max(banked, prospects.totals[other])
    if banked > knowledge.target - <float>0.01 and own < banked:
        return 1  # to stop is to lose
    if own > knowledge.target - <float>0.01 and own > ahead:
        return -1  # and here to win
    if prospects.chances >> seat & 1:
        at_risk = min(at_risk, <float>RULE_CHANCE)
    # Races when behind: the more so the nearer the end is.
    if ahead > own:
        at_risk *= max(
            <float>0.5, 1 - (ahead - own) / (1 + max(<float>9, knowledge.target - ahead))
        )
    return outlook.stars - outlook.fail * at_risk


cdef void weigh_plays_by_rules(
    const Knowledge* knowledge,
    const Table* table,
    Prospects* prospects,
    const uint32_t* moves,
    int count,
    float* values,
) noexcept nogil:
    """Weigh plays in stars: a card's own, and what the rest of the hand can expect and risks."""
    cdef int cards = popcount(table.hands[prospects.seat])
    cdef uint64_t plays = cards_of(moves, count)
    cdef uint64_t card
    cdef float stars, risk
    cdef int i
    cdef Outlook outlook
    if moves[0] == CRASH:
        values[0] = RULE_CHANCE
        values[1] = prospects.at_stake + <float>0.5 * max(0, cards - 4)
        return
    for i in range(count):
        card = 0 if moves[i] == PASS else bit(moves[i])
        stars = 0 if moves[i] == PASS else knowledge.stars[moves[i] % VALUES]
        look_ahead(
            knowledge,
            table.hands[prospects.seat] & ~card,
            prospects.colours,
            table.golden or (card & knowledge.golden_cards) != 0,
            (card & knowledge.nines) != 0,
            &outlook,
        )
        risk = outlook.fail * (prospects.at_stake + stars + 3)
        if prospects.chances >> prospects.seat & 1:
            risk *= <float>0.7
        values[i] = stars + <float>0.5 * outlook.stars - risk
        if card and cards == 1:
            values[i] = 100  # wins
        elif card & knowledge.extra_cards:
            values[i] += <float>0.8 * best_stars(knowledge, plays & ~card)
        elif card & knowledge.reserve_cards:
            values[i] += 1
        elif card & knowledge.nines:
            values[i] += <float>0.5
        elif card & knowledge.swap_cards:
            values[i] += <float>0.3
        elif card & knowledge.golden_cards:
            values[i] += <float>0.5


cdef float rule_of_turn(
    const Knowledge* knowledge, const Table* table, Prospects* prospects, uint32_t move
) noexcept nogil:
    """The stars of the best card that a turned die lets the seat play."""
    cdef float[MOST_TERMS] terms
    turn_terms(knowledge, table, prospects, move, terms)
    if terms[0]:
        return -prospects.at_stake - 3
    return terms[1] + <float>0.1 * terms[2]


cdef float rule_of_exchange(
    const Knowledge* knowledge, Prospects* prospects, uint32_t move
) noexcept nogil:
    """What the cards given in a swap or redraw are worth in hand, against mean cards."""
    cdef float[MOST_TERMS] terms
    cdef float result = 0
    cdef int index
    cdef int dice = popcount(prospects.colours)
    give_terms(move, terms)
    for index in range(VALUES):
        result += (terms[VALUES] * 2 / VALUES - terms[index]) * SINGLE[dice][index] * (
            knowledge.stars[index] + 3
        )
    return result


cdef void weigh_by_rules(
    const Knowledge* knowledge,
    const Table* table,
    Prospects* prospects,
    const uint32_t* moves,
    int count,
    float* values,
) noexcept nogil:
    cdef int i
    if table.phase == PLAY or table.phase == EXTRA:
        weigh_plays_by_rules(knowledge, table, prospects, moves, count, values)
        return
    values[0] = 0
    if table.phase == STOP:
        values[1] = rule_of_more(knowledge, table, prospects, table.golden)
    elif table.phase == NINES:
        for i in range(count):
            values[i] = rule_of_turn(knowledge, table, prospects, moves[i])
    elif moves[count - 1] >= SWAP:
        for i in range(count):
            values[i] = rule_of_exchange(knowledge, prospects, moves[i])
    elif knowledge.golden_cards >> (table.powers[prospects.seat] - 1) & 1:
        values[1] = rule_of_more(knowledge, table, prospects, True)
    else:
        values[1] = 1  # a reservation never harms


# Moves.

cdef void weigh(
    const Knowledge* knowledge,
    const Table* table,
    int seat,
    const uint32_t* moves,
    int count,
    float* values,
) noexcept nogil:
    """Say what the moves of a seat are worth, in win shares on any offset.

    Only the seat's own hand and what is public is looked at.
    """
    cdef const Weights* weights = &knowledge.weights
    cdef Prospects prospects
    cdef float[MOST_TERMS] terms
    cdef float[2 * DICE + 1][MOST_TERMS] turns
    cdef Exchange exchange
    cdef int i
    if count == 1:
        values[0] = 0
        return
    see_prospects(knowledge, table, seat, &prospects)
    if knowledge.by_rules:
        weigh_by_rules(knowledge, table, &prospects, moves, count, values)
    elif table.phase == PLAY or table.phase == EXTRA:
        if moves[0] == CRASH:
            values[0] = 0
            save_terms(knowledge, table, &prospects, terms)
            values[1] = sum_up(terms, weights.save, SAVE_TERMS)
        else:
            weigh_plays(knowledge, table, &prospects, moves, count, values)
    elif table.phase == STOP:
        values[0] = 0
        values[1] = gain_of_more(knowledge, table, &prospects, table.golden)
    elif table.phase == NINES:
        turns_terms(knowledge, table, &prospects, moves, count, turns)
        for i in range(count):
            values[i] = sum_up(turns[i], weights.turn, TURN_TERMS)
    elif moves[count - 1] >= SWAP:
        see_exchange(knowledge, table, &prospects, &exchange)
        for i in range(count):
            exchange_terms(&exchange, moves[i], terms)
            values[i] = sum_up(terms, weights.exchange, EXCHANGE_TERMS)
    elif knowledge.golden_cards >> (table.powers[seat] - 1) & 1:
        values[0] = 0
        golden_terms(knowledge, table, &prospects, terms)
        values[1] = sum_up(terms, weights.golden, GOLDEN_TERMS)
    else:
        values[0] = 0
        values[1] = <float>0.01  # a reservation never harms


cdef void weigh_plays(
    const Knowledge* knowledge,
    const Table* table,
    Prospects* prospects,
    const uint32_t* moves,
    int count,
    float* values,
) noexcept nogil:
    cdef float[MAX_HAND + 1][MOST_TERMS] terms
    cdef int i
    if popcount(table.hands[prospects.seat]) == 1:
        for i in range(count):
            values[i] = moves[i] != PASS  # wins
        return
    play_terms(knowledge, table, prospects, moves, count, terms)
    for i in range(count):
        values[i] = ask(&knowledge.weights.play, terms[i], PLAY_TERMS)


cdef uint32_t choose(
    const Knowledge* knowledge,
    const Table* table,
    int seat,
    const uint32_t* moves,
    int count,
    int first,
) noexcept nogil:
    """The move that is worth most; of equal ones, as swaps with one seat or another, the next
    in the list from the `first` on, so that a random `first` prefers none of them.
    """
    cdef float[512] values
    cdef int best = first
    cdef int i, step
    if count == 1:
        return moves[0]
    weigh(knowledge, table, seat, moves, count, values)
    for step in range(1, count):
        i = first + step if first + step < count else first + step - count
        if values[i] > values[best]:
            best = i
    return moves[best]
