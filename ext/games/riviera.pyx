"""Riviera: rules, knowledge, determinization and playouts on sets of cards.

Sets of cards are bit masks, so the valid cards of a hand are one `and` away from
the dice. The table, laid out in `riviera.pxd` beside what the evaluation uses too, holds
the truth, and what happened in the round that tells of hidden cards: swaps and
redraws, which cards were on the table at each of them, and the dice for which seats
had no valid card. What a seat knows follows from that, and is worked out where it is
asked for; an observation leaves out the cards of exchanges among others.

Cards that a seat gave away lie in a known place until that hand takes part in an
exchange that the seat sees from outside. Then two cards went each way. All courses
that the known cards can have taken are followed, through what was played, drawn back
and shown by Last Chances since, and each one counts as many times as the other cards
can have moved: as if cards to give were chosen at random, as those drawn are. A round
has at most five exchanges, so that there are few courses (mostly 4 or 16; below 4096
whatever happens). So where known cards lie, each by itself and all together, is exact.

From a seat that had no valid card follows how many of the cards valid for those dice
each hand can still hold at most: 0 at first, and an exchange takes that along, for
those who saw the cards exactly, for others with two cards at most each way. These limits
do not tell all where a swap was not seen: which cards moved then matters too. There a deal
is made complete, with the cards that moved, and refused if a seat would have held a valid
card at its Last Chance. After `HISTORIES` of them the last one is taken as it is; that is
next to never needed.

Where one hand is all that is hidden, and every exchange was seen, the ways to fill it are listed.
Otherwise determinizations deal the unknown cards uniformly among the ways that respect
those limits, for each course. They are exact while one hand is limited; where several
are, an exact rejection sampler is tried a bounded number of times, and what it could
not settle is drawn by a Markov chain (steps to proposals by their weight, for the course,
then steps that deal the cards of two hands anew) from a feasible deal, which is uniform
only in the limit. A feasible deal is found by augmenting paths for one course after the
other, so `determinize` says no only if nothing agrees. One exception: where a hand has
several limits other than 0 at once, a deal that satisfies all of them is looked for by a
bounded search. What the repeated deals and first rolls tell is not used, nor what choices
reveal.

The rules are on the game's page of the documentation. Limits: 2-6 seats, hands
of at most 24 cards.
"""

cimport cython
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from aleator.ext.core.bits cimport lowest_bit, popcount
from aleator.ext.core.check cimport check
from aleator.ext.core.game cimport (
    CHANCE,
    FINISHED,
    MAX_MOVES,
    MAX_SEATS,
    MAX_WORLDS,
    Game,
    State,
    hash_bytes,
    share_highest,
)
from aleator.ext.core.random cimport Random, below, mix64, next64, scaled, seed_random
from aleator.ext.games.riviera_evaluation cimport (
    Knowledge,
    MOST_TERMS,
    Outlook,
    choose,
    look_ahead,
    settle_round,
    tell_luck,
    terms_of,
    weigh,
)

from aleator.ext.games.riviera_weights import POLICIES, TUNING


cdef enum:
    REROLLS = 2
    DEAL_TRIES = 10_000

    # Determinization.
    MAX_KNOWN = 2 * MAX_EXCHANGES  # cards whose place a seat has learned
    TRIES = 24  # of the exact sampler, before the Markov chain
    HISTORIES = 200  # tried where cards moved unseen after a Last Chance
    SWEEPS = 6  # of the chain over all pairs of holders
    REPAIRS = 20_000  # steps to satisfy several limits of one hand
    MAX_SUBSETS = 1 + MAX_KNOWN + MAX_KNOWN * (MAX_KNOWN - 1) // 2

    # What all courses are gone through for.
    FIND_SURE = 0
    DRAW = 1
    SEEK = 2


# A holder of cards as `determinize` sees it.
cdef struct Holder:
    uint64_t allowed  # unknown cards that it can hold at all
    uint64_t cards  # those dealt to it
    uint64_t limited  # of the cards allowed, at most `limit` of these
    uint64_t[MAX_SEATS] masks  # all limits other than 0; the first one is `limited`
    int[MAX_SEATS] most
    int limits
    int limit
    int slots  # unknown cards that it holds
    int index  # seat, or HEAP
    double bound  # no fewer than the ways to choose its cards

# A deal of the unknown cards, or what there is to deal.
cdef struct Deal:
    Holder[HOLDERS + 1] holders  # those that are limited, and room for the rest
    int count
    int[HOLDERS] free_slots  # of the other holders
    uint64_t unknown

# A course that the cards that a seat knew in other hands, or on the heap, may have taken since
# in the swaps and redraws that it saw from outside.
cdef struct Course:
    uint64_t[HOLDERS] places  # where they lie now
    uint64_t[MAX_EXCHANGES] out  # which of them went from who asked
    uint64_t[MAX_EXCHANGES] back  # and which to it
    uint64_t[MAX_EXCHANGES] asker_has  # which of them who asked held then
    uint64_t[MAX_EXCHANGES] partner_has

# What a seat can tell, and courses gone through.
cdef struct Inquiry:
    int viewer
    int purpose
    int count  # of the courses that are possible
    double total  # of their weights
    Random* random
    uint64_t[MAX_SEATS] shown  # cards valid at the seat's Last Chance
    int[MAX_SEATS][HOLDERS] most  # of those, how many each holder can hold at most
    uint64_t[HOLDERS] sure  # cards that lie there by all courses
    Course course  # the one followed, and in the end the one chosen
    Course chosen
    Deal deal  # by the course followed


cdef double[CARDS + 1][MAX_HAND + 1] BINOMIALS
cdef uint64_t[PAIRS] PAIR_CARDS  # by number of the pair: the two cards

cdef void fill_tables() noexcept:
    cdef int n, k, low, high
    memset(BINOMIALS, 0, sizeof(BINOMIALS))
    for n in range(CARDS + 1):
        BINOMIALS[n][0] = 1
        for k in range(1, MAX_HAND + 1):
            if n:
                BINOMIALS[n][k] = BINOMIALS[n - 1][k] + BINOMIALS[n - 1][k - 1]
    for high in range(CARDS):
        for low in range(high):
            PAIR_CARDS[high * (high - 1) // 2 + low] = <uint64_t>1 << high | <uint64_t>1 << low

fill_tables()


cdef uint64_t shown_cards(uint32_t packed) noexcept nogil:
    """The cards that are valid for packed dice."""
    cdef uint8_t[DICE] dice
    unpack_dice(packed, dice)
    return valid_cards(dice)


cdef inline uint64_t draw_cards(uint64_t cards, int count, Random* random) noexcept nogil:
    """Draw `count` different cards of a set uniformly."""
    cdef uint64_t drawn = 0
    cdef int left = popcount(cards)
    cdef uint64_t card
    while count:
        card = bit(nth_card(cards & ~drawn, below(random, left)))
        drawn |= card
        left -= 1
        count -= 1
    return drawn


cdef inline double unit(Random* random) noexcept nogil:
    """Uniform in [0, 1)."""
    return <double>(next64(random) >> 11) * (1.0 / <double>(<uint64_t>1 << 53))


cdef inline int at_most(int limit, int size) noexcept nogil:
    """What a limit says of so many cards."""
    return limit if limit < size else size


cdef inline double combinations(int cards, int count) noexcept nogil:
    """Ways to choose so many of the cards; 0 if there are too few."""
    return BINOMIALS[cards][count] if 0 <= count <= cards else 0


cdef int list_subsets(uint64_t cards, uint64_t* subsets) noexcept nogil:
    """The sets of none, one or two of some cards."""
    cdef uint64_t card, others
    cdef int count = 1
    subsets[0] = 0
    while cards:
        card = cards & (<uint64_t>0 - cards)
        cards ^= card
        others = cards
        subsets[count] = card
        count += 1
        while others:
            subsets[count] = card | (others & (<uint64_t>0 - others))
            count += 1
            others &= others - 1
    return count


cdef inline bint keeps_limits(const Holder* holder, uint64_t cards) noexcept nogil:
    cdef int i
    for i in range(holder.limits):
        if popcount(cards & holder.masks[i]) > holder.most[i]:
            return False
    return True


cdef inline int excess(const Holder* holder, uint64_t cards) noexcept nogil:
    """By how many cards limits are exceeded."""
    cdef int result = 0
    cdef int i
    for i in range(holder.limits):
        result += max(0, popcount(cards & holder.masks[i]) - holder.most[i])
    return result


cdef double count_choices(const Holder* holder, uint64_t pool) noexcept nogil:
    """In how many ways the holder can take its cards from a pool, by the first limit."""
    cdef int limited = popcount(pool & holder.limited)
    cdef int others = popcount(pool & holder.allowed & ~holder.limited)
    cdef int taken
    cdef double ways = 0
    for taken in range(at_most(holder.limit, holder.slots) + 1):
        ways += BINOMIALS[limited][taken] * BINOMIALS[others][holder.slots - taken]
    return ways


cdef uint64_t choose_cards(
    const Holder* holder, uint64_t pool, double ways, Random* random
) noexcept nogil:
    """Take one of the `ways` of `count_choices`, all alike likely."""
    cdef uint64_t limited = pool & holder.limited
    cdef uint64_t others = pool & holder.allowed & ~holder.limited
    cdef int limited_count = popcount(limited)
    cdef int others_count = popcount(others)
    cdef double rank = unit(random) * ways
    cdef double step
    cdef int chosen = -1
    cdef int taken
    for taken in range(at_most(holder.limit, holder.slots) + 1):
        step = BINOMIALS[limited_count][taken] * BINOMIALS[others_count][holder.slots - taken]
        if step > 0:
            chosen = taken  # the last possible one, should rounding leave a rest
            if rank < step:
                break
            rank -= step
    return draw_cards(limited, chosen, random) | draw_cards(
        others, holder.slots - chosen, random
    )


cdef inline int slack(const Holder* holder) noexcept nogil:
    """Cards that it can hold beyond those that it holds."""
    return popcount(holder.allowed) - holder.slots


cdef bint fits(const Holder* holder, uint64_t card) noexcept nogil:
    """Whether the holder's first limit has room for one more card."""
    return not card & holder.limited or (
        popcount(holder.cards & holder.limited) < holder.limit
    )


cdef bint place_card(Holder* holders, int count, uint64_t card, uint32_t* tried) noexcept nogil:
    """Give a card to a holder, moving other cards along an augmenting path if needed.

    `tried` has two bits for each holder: no path starts at one of its limited
    cards; no path starts at any of its cards.
    """
    cdef Holder* holder
    cdef uint64_t movable, other
    cdef int i, kind
    for i in range(count):
        holder = holders + i
        if not card & holder.allowed:
            continue
        kind = 2 if fits(holder, card) else 1
        if kind == 2 and popcount(holder.cards) < holder.slots:
            holder.cards |= card
            return True
        if tried[0] >> (2 * i) & 3 & (3 if kind == 1 else 2):
            continue
        movable = holder.cards if kind == 2 else holder.cards & holder.limited
        if tried[0] >> (2 * i) & 1:
            movable &= ~holder.limited
        tried[0] |= <uint32_t>kind << (2 * i)
        while movable:
            other = movable & (<uint64_t>0 - movable)
            movable ^= other
            # It still fills its place meanwhile, so that nothing else is put there.
            if place_card(holders, count, other, tried):
                holder.cards = (holder.cards ^ other) | card
                return True
    return False


cdef void order_holders(Holder* holders, int count, uint64_t unknown) noexcept nogil:
    """Sort holders by how little choice they have, and bound their numbers of choices."""
    cdef Holder moved
    cdef int i, j, forced, slots
    for i in range(1, count):
        moved = holders[i]
        j = i
        while j and slack(holders + j - 1) > slack(&moved):
            holders[j] = holders[j - 1]
            j -= 1
        holders[j] = moved
    for i in range(count):
        if holders[i].limits:
            holders[i].bound = count_choices(holders + i, unknown)
            continue
        # Cards allowed here that the holders before are bound to take.
        forced = 0
        slots = 0
        for j in range(i):
            forced += max(
                0, holders[j].slots - popcount(holders[j].allowed & ~holders[i].allowed)
            )
            slots += holders[j].slots
        forced = max(forced, slots - popcount(unknown & ~holders[i].allowed))
        holders[i].bound = BINOMIALS[max(0, popcount(holders[i].allowed) - forced)][
            holders[i].slots
        ]


cdef double propose_deal(Deal* deal, Random* random) noexcept nogil:
    """Deal to one limited holder after the other; 0 if that came to a dead end.

    A deal comes up with probability 1 / (product of the numbers of choices met). Accepted
    with what is returned, that product over its bound, all deals are alike likely.
    """
    cdef Holder* holders = deal.holders
    cdef uint64_t unknown = deal.unknown
    cdef double weight = 1
    cdef double ways
    cdef int i
    for i in range(deal.count):
        ways = count_choices(holders + i, unknown)
        if ways == 0:
            return 0
        holders[i].cards = choose_cards(holders + i, unknown, ways, random)
        if not keeps_limits(holders + i, holders[i].cards):
            return 0
        unknown &= ~holders[i].cards
        weight *= ways / holders[i].bound
    return weight


cdef void add_rest(Deal* deal) noexcept nogil:
    """Make a holder of what the limited holders do not get; it may be any cards."""
    cdef Holder* rest = deal.holders + deal.count
    cdef int i
    memset(rest, 0, sizeof(Holder))
    rest.allowed = deal.unknown
    rest.slots = popcount(deal.unknown)
    rest.cards = deal.unknown
    for i in range(deal.count):
        rest.slots -= deal.holders[i].slots
        rest.cards &= ~deal.holders[i].cards


cdef bint find_deal(Deal* deal, Random* random) noexcept nogil:
    """Find some deal to the limited holders."""
    cdef Holder* holders = deal.holders
    cdef uint64_t unknown = deal.unknown
    cdef uint32_t tried
    cdef int count = deal.count + 1
    cdef int i, j, wrong, _
    for i in range(deal.count):
        holders[i].cards = 0
    add_rest(deal)
    holders[deal.count].cards = 0
    while unknown:
        tried = 0
        if not place_card(holders, count, unknown & (<uint64_t>0 - unknown), &tried):
            return False
        unknown &= unknown - 1
    for _ in range(REPAIRS):
        wrong = 0
        for i in range(count):
            wrong += excess(holders + i, holders[i].cards)
        if wrong == 0:
            return True
        i = below(random, count)
        j = below(random, count - 1)
        mix_pair(holders + i, holders + j + (j >= i), True, random)
    return False


cdef void mix_deal(Deal* deal, Random* random) noexcept nogil:
    """Change a deal to the limited holders by a Markov chain."""
    cdef int i, j, _
    add_rest(deal)
    for _ in range(SWEEPS):
        for i in range(1, deal.count + 1):
            for j in range(i):
                mix_pair(deal.holders + i, deal.holders + j, False, random)


cdef inline void mix_pair(
    Holder* a, Holder* b, bint repair, Random* random
) noexcept nogil:
    """Deal the cards of two holders anew, if their limits allow the new deal.

    While repairing, a deal that exceeds the limits by no more than the old one is
    taken too.
    """
    cdef uint64_t free = (a.cards | b.cards) & a.allowed & b.allowed
    cdef uint64_t taken = draw_cards(free, popcount(a.cards & free), random)
    cdef uint64_t new_a = (a.cards & ~free) | taken
    cdef uint64_t new_b = (b.cards & ~free) | (free & ~taken)
    if (keeps_limits(a, new_a) and keeps_limits(b, new_b)) or (
        repair and excess(a, new_a) + excess(b, new_b) <= excess(a, a.cards) + excess(b, b.cards)
    ):
        a.cards = new_a
        b.cards = new_b


@cython.final
cdef class Riviera(Game):
    """Rules of Riviera.

    Parameters
    ----------
    players : int
        2..6.
    mode : str
        ``simultaneous`` or ``sequential``.
    powers : bool
        Whether cards have powers.
    stars : sequence of 12 int
        What a card of each value is worth, 0..100.
    hand_size : int
        Cards dealt to each seat.
    target : int
        The score that ends the game.
    removed_colour : str
        With 2-4 seats the colour out of the game, or ``random``.
    max_same_colour_in_hand : int or None
        Deals with a hand of more cards of one colour are repeated. Where none or next to
        none is left, see `can_deal`, a game never starts.
    reroll_first_roll : bool
        Whether a round's first roll that leaves a seat without a valid card is repeated,
        at most twice.
    preroll_powers : str
        ``before_stop`` or ``after_stop``.
    max_rounds : int or None
        After so many rounds the game ends.

    Raises
    ------
    ValueError
        For values out of range.
    """

    cdef readonly bint sequential
    cdef readonly bint after_stop
    cdef readonly int hand_size
    cdef int target
    cdef int named_colour  # or -1 to draw it
    cdef int most_of_colour
    cdef bint reroll
    cdef int max_rounds  # 0: no end
    cdef int[VALUES] stars
    cdef uint64_t extra_cards  # cards whose power is an extra play, and so on; none without powers
    cdef uint64_t nines
    cdef uint64_t swap_cards
    cdef uint64_t late_cards  # whose powers are used after the plays
    cdef uint8_t[COLOURS + 1][CARDS] decks  # the cards in use by colour removed
    cdef int[COLOURS + 1] deck_sizes
    cdef Knowledge knowledge  # for playouts and priors
    cdef Knowledge by_rules  # for the rule-based player

    def __init__(
        self,
        int players=2,
        str mode="simultaneous",
        bint powers=True,
        stars=(2, 2, 2, 1, 1, 1, 1, 2, 2, 2, 3, 5),
        int hand_size=10,
        int target=40,
        str removed_colour="random",
        max_same_colour_in_hand=6,
        bint reroll_first_roll=True,
        str preroll_powers="before_stop",
        max_rounds=None,
    ):
        cdef int removed, card, value
        if not 2 <= players <= MAX_SEATS:
            raise ValueError(f"players must be 2..6, not {players}")
        if mode not in ("simultaneous", "sequential"):
            raise ValueError("mode must be simultaneous or sequential")
        if preroll_powers not in ("before_stop", "after_stop"):
            raise ValueError("preroll_powers must be before_stop or after_stop")
        if len(stars) != VALUES or not all(0 <= star <= 100 for star in stars):
            raise ValueError("stars must be 12 numbers 0..100")
        colours = ("red", "green", "purple", "blue", "orange")
        if removed_colour != "random" and (removed_colour not in colours or players > 4):
            raise ValueError("removed_colour must be random or, with 2-4 players, a colour")
        if not 1 <= hand_size <= (CARDS - VALUES if players <= 4 else CARDS) // players:
            raise ValueError("hand_size must leave enough cards for all")
        self.seats = players
        self.move_space = MOVES
        self.state_size = sizeof(Table)
        self.sequential = mode == "sequential"
        self.after_stop = preroll_powers == "after_stop"
        self.hand_size = hand_size
        self.target = target
        self.reroll = reroll_first_roll
        self.max_rounds = 0 if max_rounds is None else max_rounds
        self.most_of_colour = (
            VALUES if max_same_colour_in_hand is None else min(VALUES, max_same_colour_in_hand)
        )
        if players > 4:
            self.named_colour = COLOURS
        else:
            self.named_colour = -1 if removed_colour == "random" else colours.index(removed_colour)
        for value in range(VALUES):
            self.stars[value] = stars[value]
        if powers:
            self.extra_cards = value_cards(1)
            self.nines = value_cards(9)
            self.swap_cards = value_cards(10)
            self.late_cards = value_cards(2) | self.swap_cards | value_cards(11)
        for removed in range(COLOURS + 1):
            for card in range(CARDS):
                if card // VALUES != removed:
                    self.decks[removed][self.deck_sizes[removed]] = card
                    self.deck_sizes[removed] += 1

        self.tuning = {**self.tuning_values(), **TUNING}
        policy = POLICIES[2 if players == 2 else 4]
        self.fill_knowledge(&self.knowledge, policy)
        self.fill_knowledge(&self.by_rules, policy)
        self.by_rules.by_rules = True

    cdef int fill_knowledge(self, Knowledge* knowledge, weights) except -1:
        """Tell the evaluation what it needs of the options."""
        cdef int value, level
        cdef int total = 0
        memset(knowledge, 0, sizeof(Knowledge))
        knowledge.weights = weights
        if self.seats == 2:
            knowledge.shares = weights["shares"]
        else:
            knowledge.strength = weights["strength"]
        knowledge.seats = self.seats
        knowledge.hand_size = self.hand_size
        knowledge.max_rounds = self.max_rounds
        knowledge.after_stop = self.after_stop
        for value in range(VALUES):
            total += self.stars[value]
        # Weights are for cards with two stars on average.
        knowledge.unit = <float>2 * VALUES / max(total, 1)
        knowledge.target = knowledge.unit * self.target
        for value in range(VALUES):
            knowledge.stars[value] = knowledge.unit * self.stars[value]
        for stars in sorted(set(self.stars), reverse=True):
            level = knowledge.levels
            knowledge.level_stars[level] = knowledge.unit * stars
            for value in range(VALUES):
                if self.stars[value] == stars:
                    knowledge.level_cards[level] |= value_cards(value + 1)
            knowledge.levels += 1
        knowledge.extra_cards = self.extra_cards
        knowledge.nines = self.nines
        knowledge.swap_cards = self.swap_cards
        knowledge.reserve_cards = self.late_cards & value_cards(2)
        knowledge.golden_cards = self.late_cards & value_cards(11)
        return 0

    # Parts of the rules that several methods share.

    cdef inline int size(self, const Table* table, int seat) noexcept nogil:
        """Cards in a hand: every card that leaves it is played or replaced."""
        return self.hand_size - popcount(table.played[seat])

    cdef inline int pile_size(self, const Table* table) noexcept nogil:
        return (
            self.deck_sizes[table.removed] - self.seats * self.hand_size - table.heap_size
        )

    cdef inline uint64_t on_table(self, const Table* table) noexcept nogil:
        """The cards played this round."""
        cdef uint64_t result = 0
        cdef int seat
        for seat in range(self.seats):
            result |= table.played[seat]
        return result

    cdef inline bint is_rolled(self, const Table* table, int die) noexcept nogil:
        """Whether the next roll has that die."""
        return table.golden if die == GOLDEN else die != table.removed

    cdef inline int first(self, const Table* table, int seats) noexcept nogil:
        """The first of some seats, clockwise from the Start token."""
        cdef int seat = table.token + lowest_bit((seats | seats << self.seats) >> table.token)
        return seat - self.seats if seat >= self.seats else seat

    cdef int next_partner(self, const Table* table, int seat, int after) noexcept nogil:
        """The next seat above `after` that `seat` can swap with, or -1."""
        cdef int other
        for other in range(after + 1, self.seats):
            if other != seat and table.inside >> other & 1 and self.size(table, other) >= 2:
                return other
        return -1

    cdef inline int pending_powers(self, const Table* table, uint64_t cards) noexcept nogil:
        """The seats with an unused power of one of these cards."""
        cdef int result = 0
        cdef int seat
        for seat in range(self.seats):
            if table.powers[seat] and cards & bit(table.powers[seat] - 1):
                result |= 1 << seat
        return result

    cdef int round_stars(self, const Table* table, int seat) noexcept nogil:
        """The stars of the cards that a seat has played this round."""
        cdef uint64_t cards = table.played[seat]
        cdef int result = 0
        while cards:
            result += self.stars[lowest_bit(cards) % VALUES]
            cards &= cards - 1
        return result

    # The course of a turn.

    cdef void begin_plays(self, Table* table) noexcept nogil:
        table.waiting = table.inside
        table.phase = PLAY

    cdef void act(self, Table* table, int seat, int move) noexcept nogil:
        """Carry out a play, Last Chance, crash or pass, once it is public."""
        cdef uint64_t card
        cdef uint8_t[DICE] dice
        if move < CARDS:
            card = bit(move)
            table.hands[seat] ^= card
            table.played[seat] |= card
            if card & self.extra_cards:
                table.extra |= 1 << seat
            elif card & (self.nines | self.late_cards):
                table.powers[seat] = move + 1
        elif move != PASS:
            usable_dice(table, seat, dice)
            if move == LAST_CHANCE:
                table.used |= 1 << seat
                table.chance_dice[seat] = pack_dice(dice)
                table.chance_after[seat] = table.exchanges
            else:
                table.inside &= ~(1 << seat)
                table.crash_dice[seat] = pack_dice(dice)

    cdef void after_acts(self, Table* table, int seats) noexcept nogil:
        """Go on after the plays of some seats: Grand Slam, extra plays, powers."""
        cdef int seat
        for seat in range(self.seats):
            if seats >> seat & 1 and self.size(table, seat) == 0:
                self.finish(table)
                return
        if table.extra:
            table.phase = EXTRA
        elif table.waiting:
            table.phase = PLAY
        elif self.after_stop:
            self.clean_up(table)
        else:
            self.begin_powers(table)

    cdef void begin_powers(self, Table* table) noexcept nogil:
        table.waiting = self.pending_powers(table, self.late_cards)
        if table.waiting:
            table.phase = POWERS
        else:
            self.after_powers(table)

    cdef void end_power(self, Table* table, int seat) noexcept nogil:
        table.powers[seat] = 0
        table.waiting &= ~(1 << seat)
        if table.waiting:
            table.phase = POWERS
        else:
            self.after_powers(table)

    cdef void after_powers(self, Table* table) noexcept nogil:
        if self.after_stop:
            table.turn += 1
            table.phase = ROLL
        else:
            self.clean_up(table)

    cdef void clean_up(self, Table* table) noexcept nogil:
        memset(table.dice, 0, DICE)
        memcpy(table.reserved, table.reserving, MAX_SEATS)
        memset(table.reserving, 0, MAX_SEATS)
        table.turned = 0
        table.token = 0 if table.token + 1 == self.seats else table.token + 1
        table.waiting = table.inside
        if table.inside:
            table.phase = STOP
        else:
            self.end_round(table)

    cdef void decide(self, Table* table, int seat, int move) noexcept nogil:
        """Carry out a Stop or More, once it is public."""
        if move == STOPS:
            table.inside &= ~(1 << seat)
            table.stopped |= 1 << seat
            table.powers[seat] = 0
            table.reserved[seat] = 0

    cdef void after_stops(self, Table* table) noexcept nogil:
        if not table.inside:
            self.end_round(table)
        elif self.after_stop:
            self.begin_powers(table)
        else:
            table.turn += 1
            table.phase = ROLL

    cdef void end_round(self, Table* table) noexcept nogil:
        cdef bint over = table.round_number == self.max_rounds
        cdef int seat
        for seat in range(self.seats):
            if table.stopped >> seat & 1:
                table.scores[seat] += self.round_stars(table, seat)
                over = over or table.scores[seat] >= self.target
        if over:
            self.finish(table)
        else:
            table.round_number += 1
            table.phase = DEAL

    cdef void finish(self, Table* table) noexcept nogil:
        """End the game; of the turn nothing stays on the table but the cards."""
        memset(table.dice, 0, DICE)
        memset(table.powers, 0, MAX_SEATS)
        memset(table.reserved, 0, MAX_SEATS)
        memset(table.reserving, 0, MAX_SEATS)
        table.turned = 0
        table.golden = 0
        table.waiting = 0
        table.extra = 0
        table.phase = OVER

    # Chance events, once it is known how they come out.

    cdef void settle_deal(self, Table* table, const uint64_t* hands) noexcept nogil:
        cdef int seat
        cdef uint64_t dealt = 0
        memset(table.played, 0, sizeof(table.played))
        memset(table.given, 0, sizeof(table.given))
        memset(table.drawn, 0, sizeof(table.drawn))
        memset(table.before, 0, sizeof(table.before))
        memset(table.askers, 0, MAX_EXCHANGES)
        memset(table.partners, 0, MAX_EXCHANGES)
        table.exchanges = 0
        memset(table.chance_dice, 0, sizeof(table.chance_dice))
        memset(table.chance_after, 0, MAX_SEATS)
        memset(table.crash_dice, 0, sizeof(table.crash_dice))
        memset(table.powers, 0, MAX_SEATS)
        memset(table.reserved, 0, MAX_SEATS)
        table.golden = 0
        table.heap = 0
        table.heap_size = 0
        for seat in range(self.seats):
            table.hands[seat] = hands[seat]
            dealt |= hands[seat]
        table.pile = self.in_use(table) & ~dealt
        table.inside = (1 << self.seats) - 1
        table.stopped = 0
        table.turn = 1
        table.phase = ROLL

    cdef inline uint64_t in_use(self, const Table* table) noexcept nogil:
        if table.removed == COLOURS:
            return bit(CARDS) - 1
        return (bit(CARDS) - 1) & ~(<uint64_t>COLOUR_CARDS << (table.removed * VALUES))

    cdef void settle_roll(self, Table* table) noexcept nogil:
        """Go on once the dice lie on the table."""
        table.golden = 0
        table.waiting = self.pending_powers(table, self.nines)
        if table.waiting:
            table.phase = NINES
        else:
            self.begin_plays(table)

    cdef void settle_exchange(self, Table* table, uint64_t drawn) noexcept nogil:
        """Carry out the swap or redraw that was asked for, with the cards drawn."""
        cdef int seat = self.first(table, table.waiting)
        cdef uint64_t given = PAIR_CARDS[(table.asked - SWAP) % PAIRS]
        cdef int other = (table.asked - SWAP) // PAIRS  # HEAP for a redraw
        cdef int number = table.exchanges
        check(number < MAX_EXCHANGES)
        table.given[number] = given
        table.drawn[number] = drawn
        table.before[number] = self.on_table(table)
        table.askers[number] = seat
        table.partners[number] = other
        table.exchanges += 1
        table.hands[seat] ^= given | drawn
        if other == HEAP:
            table.pile ^= drawn
            table.heap |= given
            table.heap_size += 2
        else:
            table.hands[other] ^= given | drawn
        table.asked = 0
        self.end_power(table, seat)

    cdef uint64_t settle_reveal(self, Table* table) noexcept nogil:
        """Carry out all choices; returns them by seat, a byte each."""
        cdef uint64_t revealed = 0
        cdef int seats = 0
        cdef int phase = table.phase
        cdef int seat
        for seat in range(self.seats):
            revealed |= <uint64_t>table.choices[seat] << (8 * seat)
        memset(table.choices, 0, MAX_SEATS)
        for seat in range(self.seats):
            if revealed >> (8 * seat) & 255:
                seats |= 1 << seat
                if phase == REVEAL_STOPS:
                    self.decide(table, seat, <int>(revealed >> (8 * seat) & 255) - 1)
                else:
                    self.act(table, seat, <int>(revealed >> (8 * seat) & 255) - 1)
        if phase == REVEAL_STOPS:
            self.after_stops(table)
        else:
            self.after_acts(table, seats)
        return revealed

    # The interface of a game.

    cdef void start(self, void* state, int start_seat) noexcept nogil:
        cdef Table* table = <Table*>state
        table.token = NO_SEAT if start_seat < 0 else start_seat
        table.round_number = 1

    cdef int actors(self, const void* state) noexcept nogil:
        cdef const Table* table = <const Table*>state
        if <int>CHANCE_PHASES >> table.phase & 1:
            return CHANCE
        if table.phase == EXTRA:
            return table.extra
        if table.phase == OVER:
            return FINISHED
        if self.sequential or table.phase == NINES or table.phase == POWERS:
            return 1 << self.first(table, table.waiting)
        return table.waiting

    cdef int legal(self, const void* state, int seat, uint32_t* moves) noexcept nogil:
        cdef const Table* table = <const Table*>state
        cdef uint64_t cards
        cdef int count = 0
        cdef int phase = table.phase
        if phase == PLAY or phase == EXTRA:
            cards = table.hands[seat] & valid_for(table, seat)
            if phase == EXTRA:
                moves[0] = PASS
                count = 1
            elif not cards:
                moves[0] = CRASH
                moves[1] = LAST_CHANCE
                return 1 if table.used >> seat & 1 else 2
            while cards:
                moves[count] = lowest_bit(cards)
                count += 1
                cards &= cards - 1
            return count
        if phase == STOP:
            moves[0] = STOPS
            moves[1] = MORE
            return 2
        moves[0] = PASS
        if phase == NINES:
            return 1 + self.list_turns(table, moves + 1)
        if self.swap_cards & bit(table.powers[seat] - 1):
            return 1 + self.list_exchanges(table, seat, moves + 1)
        moves[1] = USE
        return 2

    cdef int list_turns(self, const Table* table, uint32_t* moves) noexcept nogil:
        cdef int count = 0
        cdef int die
        for die in range(DICE):
            if table.dice[die] and not table.turned >> die & 1:
                moves[count] = TURN + 2 * die
                moves[count + 1] = TURN + 2 * die + 1
                count += 2
        return count

    cdef int list_exchanges(self, const Table* table, int seat, uint32_t* moves) noexcept nogil:
        cdef int other
        cdef int count = 0
        if self.size(table, seat) < 2:
            return 0
        if table.inside == 1 << seat:
            if self.pile_size(table) >= 2:
                return self.list_pairs(table.hands[seat], REDRAW, moves)
            return 0
        other = self.next_partner(table, seat, -1)
        while other >= 0:
            count += self.list_pairs(table.hands[seat], SWAP + other * PAIRS, moves + count)
            other = self.next_partner(table, seat, other)
        return count

    cdef int list_pairs(self, uint64_t hand, int first_move, uint32_t* moves) noexcept nogil:
        cdef uint64_t lower
        cdef int count = 0
        cdef int high
        cdef uint64_t rest = hand
        while rest:
            high = lowest_bit(rest)
            rest &= rest - 1
            lower = hand & (bit(high) - 1)
            while lower:
                moves[count] = first_move + pair_number(lowest_bit(lower), high)
                count += 1
                lower &= lower - 1
        return count

    cdef void apply(self, void* state, int seat, uint32_t move) noexcept nogil:
        cdef Table* table = <Table*>state
        cdef int phase = table.phase
        if phase == NINES:
            self.turn_die(table, seat, move)
        elif phase == POWERS:
            self.use_power(table, seat, move)
        elif self.sequential:
            if phase == EXTRA:
                table.extra = 0
            else:
                table.waiting &= ~(1 << seat)
            if phase == STOP:
                self.decide(table, seat, move)
                if not table.waiting:
                    self.after_stops(table)
            else:
                self.act(table, seat, move)
                self.after_acts(table, 1 << seat)
        else:
            table.choices[seat] = move + 1
            if phase == EXTRA:
                table.extra &= ~(1 << seat)
                if not table.extra:
                    table.phase = REVEAL_EXTRAS
            else:
                table.waiting &= ~(1 << seat)
                if not table.waiting:
                    table.phase = REVEAL_PLAYS if phase == PLAY else REVEAL_STOPS

    cdef void turn_die(self, Table* table, int seat, int move) noexcept nogil:
        cdef int die
        if move != PASS:
            die = (move - TURN) // 2
            table.turned |= 1 << die
            table.dice[die] = turned_value(table.dice[die], (move - TURN) % 2)
        table.powers[seat] = 0
        table.waiting &= ~(1 << seat)
        if not table.waiting:
            self.begin_plays(table)

    cdef void use_power(self, Table* table, int seat, int move) noexcept nogil:
        cdef int card = table.powers[seat] - 1
        if move >= SWAP:
            table.asked = move
            table.phase = EXCHANGE
            return
        if move == USE:
            if card % VALUES + 1 == 11:
                table.golden = 1
            elif self.after_stop:
                table.reserved[seat] = card // VALUES + 1
            else:
                table.reserving[seat] = card // VALUES + 1
        self.end_power(table, seat)

    cdef uint64_t chance(self, void* state, Random* random) noexcept nogil:
        cdef Table* table = <Table*>state
        cdef uint64_t kind = <uint64_t>table.phase << 56
        cdef int seat, other
        cdef uint64_t drawn, given
        if table.phase == ROLL:
            self.draw_roll(table, random)
            return kind | pack_dice(table.dice)
        if table.phase == DEAL:
            self.draw_deal(table, random)
            return kind
        if table.phase == EXCHANGE:
            seat = self.first(table, table.waiting)
            other = (table.asked - SWAP) // PAIRS
            given = PAIR_CARDS[(table.asked - SWAP) % PAIRS]
            drawn = draw_cards(table.pile if other == HEAP else table.hands[other], 2, random)
            self.settle_exchange(table, drawn)
            return kind | seat << 6 | other << 9 | mix64(given ^ mix64(drawn)) << 24 >> 8
        if table.phase == SET_UP:
            table.removed = (
                below(random, COLOURS) if self.named_colour < 0 else self.named_colour
            )
            if table.token == NO_SEAT:
                table.token = below(random, self.seats)
            table.phase = DEAL
            return kind | table.removed << 3 | table.token
        return kind | self.settle_reveal(table)

    cdef void draw_deal(self, Table* table, Random* random) noexcept nogil:
        cdef uint8_t[CARDS] deck
        cdef uint64_t[MAX_SEATS] hands
        memcpy(deck, self.decks[table.removed], CARDS)
        while not self.try_deal(deck, self.deck_sizes[table.removed], hands, random):
            pass
        self.settle_deal(table, hands)

    cdef bint try_deal(
        self, uint8_t* deck, int size, uint64_t* hands, Random* random
    ) noexcept nogil:
        """Deal from a deck in any order; whether all hands are acceptable."""
        cdef int place = 0
        cdef int seat, chosen, _
        cdef uint64_t bits = 0
        cdef uint64_t hand
        for seat in range(self.seats):
            hand = 0
            for _ in range(self.hand_size):
                if place & 1 == 0:
                    bits = next64(random)  # for two cards
                chosen = place + scaled(<uint32_t>bits, size - place)
                bits >>= 32
                hand |= bit(deck[chosen])
                deck[chosen], deck[place] = deck[place], deck[chosen]
                place += 1
            hands[seat] = hand
            if self.most_of_colour < VALUES and not self.acceptable(hand):
                return False
        return True

    cdef inline bint acceptable(self, uint64_t hand) noexcept nogil:
        """Whether a hand is within the limit of cards of one colour."""
        cdef int colour
        cdef int most = 0
        for colour in range(COLOURS):
            most = max(most, popcount(hand >> (colour * VALUES) & COLOUR_CARDS))
        return most <= self.most_of_colour

    cdef void draw_roll(self, Table* table, Random* random) noexcept nogil:
        cdef int rerolls = REROLLS if self.reroll and table.turn == 1 else 0
        cdef int die, seat
        cdef uint64_t bits = 0
        cdef uint64_t valid
        while True:
            for die in range(DICE):
                if die & 1 == 0:
                    bits = next64(random)
                if self.is_rolled(table, die):
                    table.dice[die] = 1 + scaled(<uint32_t>bits, 6)
                bits >>= 32
            if not rerolls:
                break
            rerolls -= 1
            valid = valid_cards(table.dice)  # nothing is reserved in a round's first turn
            for seat in range(self.seats):
                if not table.hands[seat] & valid:
                    break
            else:
                break
        self.settle_roll(table)

    cdef void returns(self, const void* state, float* win_shares) noexcept nogil:
        cdef const Table* table = <const Table*>state
        cdef float[MAX_SEATS] result
        cdef bint slam = False
        cdef int seat
        for seat in range(self.seats):
            result[seat] = self.size(table, seat) == 0
            slam = slam or result[seat] > 0
        if not slam:
            self.points(state, result)
        share_highest(result, self.seats, win_shares)

    cdef void points(self, const void* state, float* scores) noexcept nogil:
        cdef int seat
        for seat in range(self.seats):
            scores[seat] = (<const Table*>state).scores[seat]

    cdef bint visible(self, const void* state, int seat, uint32_t move, int viewer) noexcept nogil:
        cdef int phase = (<const Table*>state).phase
        if phase == POWERS:
            return move < SWAP or viewer == seat
        return self.sequential or phase == NINES

    cdef uint32_t observed(self, const void* state, uint64_t event, int viewer) noexcept nogil:
        cdef int kind = event >> 56
        cdef uint64_t seen = event
        if kind == DEAL:
            seen ^= mix64((<const Table*>state).hands[viewer])
        elif kind == EXCHANGE and viewer != <int>(event >> 6 & 7) and viewer != <int>(
            event >> 9 & 7
        ):
            seen = kind << 12 | (event & 0xFFF)
        return <uint32_t>(mix64(seen) >> 32) | 1

    cdef void observe(self, void* state, int seat) noexcept nogil:
        cdef Table* table = <Table*>state
        cdef Inquiry inquiry
        cdef uint64_t discards = 0
        cdef int other, step
        for step in range(table.exchanges):
            if table.askers[step] != seat and table.partners[step] != seat:
                table.given[step] = 0
                table.drawn[step] = 0
            elif table.partners[step] == HEAP:
                discards |= table.given[step]
        self.begin_inquiry(table, seat, &inquiry)
        self.go_through(table, FIND_SURE, &inquiry)
        for other in range(MAX_SEATS):
            if other != seat:
                table.hands[other] &= inquiry.sure[other]
                if table.choices[other]:
                    table.choices[other] = HIDDEN
        table.heap &= discards
        if not self.cards_known(table):
            table.pile = 0

    cdef bint cards_known(self, const Table* table) noexcept nogil:
        cdef int seat
        for seat in range(self.seats):
            if popcount(table.hands[seat]) != self.size(table, seat):
                return False
        return popcount(table.heap) == table.heap_size

    cdef bint full(self, const void* state) noexcept nogil:
        cdef const Table* table = <const Table*>state
        cdef int seat, step
        for seat in range(self.seats):
            if table.choices[seat] == HIDDEN:
                return False
        for step in range(table.exchanges):
            if not table.given[step]:
                return False
        # Before the first deal there are no cards to know.
        return table.turn == 0 or self.cards_known(table)

    cdef bint determinize(self, void* state, int seat, Random* random) noexcept nogil:
        cdef Table* table = <Table*>state
        cdef Inquiry inquiry
        cdef Table observed
        cdef int tries = HISTORIES if self.swapped_after_chance(table) else 1
        if table.turn == 0:
            return True
        inquiry.random = random
        self.begin_inquiry(table, seat, &inquiry)
        memcpy(&observed, table, sizeof(Table))
        while True:
            if not self.deal_hidden(table, &inquiry):
                return False
            tries -= 1
            if self.draw_exchanges(table, &inquiry) or not tries:
                break
            memcpy(table, &observed, sizeof(Table))
        self.draw_choices(table, random)
        return True

    cdef int worlds(self, const void* state, int seat) noexcept nogil:
        cdef Inquiry inquiry
        cdef uint64_t cards
        cdef int slots
        cdef double ways
        if self.full(state):
            return 1
        if not self.find_hidden_hand(<const Table*>state, seat, &inquiry, &cards, &slots):
            return 0
        ways = BINOMIALS[popcount(cards)][slots]
        return <int>ways if ways <= MAX_WORLDS else 0

    cdef double world(self, void* state, int seat, int number) noexcept nogil:
        cdef Table* table = <Table*>state
        cdef Inquiry inquiry
        cdef uint64_t cards
        cdef uint64_t hand = 0
        cdef int slots, rank, left
        cdef double probability
        if self.full(state):
            return 1
        self.find_hidden_hand(table, seat, &inquiry, &cards, &slots)
        probability = 1 / BINOMIALS[popcount(cards)][slots]
        # The combinatorial number system: the highest card first.
        for left in range(slots, 0, -1):
            rank = left - 1
            while BINOMIALS[rank + 1][left] <= number:
                rank += 1
            number -= <int>BINOMIALS[rank][left]
            hand |= bit(nth_card(cards, rank))
        self.give(table, inquiry.deal.holders[0].index, hand)
        for rank in range(HOLDERS):
            self.give(table, rank, inquiry.course.places[rank])
        table.pile = inquiry.deal.unknown & ~hand
        return probability

    cdef bint find_hidden_hand(
        self, const Table* table, int viewer, Inquiry* inquiry, uint64_t* cards, int* slots
    ) noexcept nogil:
        """Whether one hand is all that is hidden, and so the pile, and every exchange was seen.

        If so, that hand becomes the first holder of the deal; also tells how many cards of it are
        not known, and of which cards each choice of so many is as likely.
        """
        cdef Deal* deal = &inquiry.deal
        cdef int seat, step
        cdef int hidden = 0
        for step in range(table.exchanges):
            if not table.given[step]:
                return False
        for seat in range(self.seats):
            if table.choices[seat] == HIDDEN:
                return False
        self.begin_inquiry(table, viewer, inquiry)
        if not self.draw_course(table, inquiry):
            return False
        cards[0] = deal.holders[0].allowed
        slots[0] = deal.holders[0].slots
        for seat in range(self.seats):
            if deal.free_slots[seat]:
                hidden += 1
                deal.holders[0].index = seat
                cards[0] = deal.unknown
                slots[0] = deal.free_slots[seat]
        return hidden + deal.count == 1 and not deal.free_slots[HEAP] and not deal.holders[0].limits

    cdef bint swapped_after_chance(self, const Table* table) noexcept nogil:
        """Whether cards moved unseen after a Last Chance."""
        cdef int seat, step
        for seat in range(self.seats):
            if table.chance_dice[seat]:
                for step in range(table.chance_after[seat], table.exchanges):
                    if not table.given[step]:
                        return True
        return False

    cdef bint deal_hidden(self, Table* table, Inquiry* inquiry) noexcept nogil:
        """Deal what is hidden within the limits of each hand; False if there is no way to."""
        cdef Deal* deal = &inquiry.deal
        cdef uint64_t unknown, cards
        cdef int holder, i
        if not self.draw_course(table, inquiry) or (
            deal.count and not self.deal_limited(table, inquiry)
        ):
            return False
        for holder in range(HOLDERS):
            self.give(table, holder, inquiry.course.places[holder])
        unknown = deal.unknown
        for i in range(deal.count):
            self.give(table, deal.holders[i].index, deal.holders[i].cards)
            unknown &= ~deal.holders[i].cards
        for holder in range(HOLDERS):
            if deal.free_slots[holder]:
                cards = draw_cards(unknown, deal.free_slots[holder], inquiry.random)
                self.give(table, holder, cards)
                unknown &= ~cards
        table.pile = unknown
        return True

    cdef inline void give(self, Table* table, int holder, uint64_t cards) noexcept nogil:
        if holder == HEAP:
            table.heap |= cards
        else:
            table.hands[holder] |= cards

    # What a seat can tell of the cards in other places.

    cdef void begin_inquiry(
        self, const Table* table, int viewer, Inquiry* inquiry
    ) noexcept nogil:
        cdef int source
        inquiry.viewer = viewer
        for source in range(self.seats):
            inquiry.shown[source] = 0
            if table.chance_dice[source]:
                inquiry.shown[source] = shown_cards(table.chance_dice[source])
                self.limit_cards(table, source, inquiry.shown[source], inquiry.most[source])

    cdef inline int size_then(self, const Table* table, int holder, int step) noexcept nogil:
        """The cards that somebody held just before a swap or redraw."""
        cdef int size = 0
        cdef int earlier
        if holder != HEAP:
            return self.hand_size - popcount(table.played[holder] & table.before[step])
        for earlier in range(step):
            size += 2 * (table.partners[earlier] == HEAP)
        return size

    cdef inline uint64_t played_until(self, const Table* table, int step) noexcept nogil:
        """The cards played after one swap or redraw and before that one, if it took place."""
        cdef uint64_t cards = table.before[step] if step < table.exchanges else ~<uint64_t>0
        return cards & ~table.before[step - 1] if step else cards

    cdef void limit_cards(
        self, const Table* table, int source, uint64_t shown, int* most
    ) noexcept nogil:
        """Say how many of the cards shown each holder can hold at most.

        They were valid at a seat's Last Chance. Of swaps and redraws since, the moves that
        the table tells are reckoned with, and in others two cards at most each way.
        """
        cdef int holder, step, a, b, size_a, kept_b, most_a, most_b, out, back
        cdef uint64_t played
        for holder in range(HOLDERS):
            most[holder] = MAX_HAND  # no limit
        most[source] = 0
        for step in range(table.chance_after[source], table.exchanges):
            a = table.askers[step]
            b = table.partners[step]
            size_a = self.size_then(table, a, step)
            kept_b = self.size_then(table, b, step)
            most_a = at_most(most[a], size_a)
            most_b = at_most(most[b], kept_b)
            if b != HEAP:
                kept_b -= 2
            if table.given[step]:
                out = popcount(table.given[step] & shown)
                back = popcount(table.drawn[step] & shown)
                most_a -= out
                if b != HEAP:
                    most_b -= back
            else:
                out = at_most(most_a, 2)
                back = 2 if b == HEAP else at_most(most_b, 2)
            most[a] = at_most(most_a, size_a - 2) + back
            most[b] = at_most(most_b, kept_b) + out
            played = self.played_until(table, step + 1) & shown
            for holder in range(self.seats):
                most[holder] -= popcount(table.played[holder] & played)

    cdef void go_through(self, const Table* table, int purpose, Inquiry* inquiry) noexcept nogil:
        """Follow all courses that known cards may have taken."""
        cdef uint64_t[HOLDERS] nothing
        inquiry.purpose = purpose
        inquiry.count = 0
        inquiry.total = 0
        memset(nothing, 0, sizeof(nothing))
        memset(inquiry.sure, 0, sizeof(inquiry.sure))
        self.follow(table, 0, nothing, 1, inquiry)

    cdef void follow(
        self, const Table* table, int step, const uint64_t* known, double ways, Inquiry* inquiry
    ) noexcept nogil:
        """Follow known cards through the swaps and redraws from `step` on.

        `ways` is in how many ways the cards that are not known can have moved in those before,
        for each deal of what is unknown now: looking back, which of the cards that a hand holds
        came to it just then.
        """
        cdef uint64_t[HOLDERS] places
        cdef uint64_t played = self.played_until(table, step)
        cdef uint64_t all_known = 0
        cdef uint64_t cards, given_up
        cdef int holder, a, b
        memcpy(places, known, sizeof(places))
        for holder in range(HOLDERS):
            all_known |= places[holder]
        for holder in range(self.seats):
            cards = table.played[holder] & played & all_known
            if cards & ~places[holder]:
                return
            places[holder] ^= cards
        for holder in range(self.seats):
            if inquiry.shown[holder] & places[holder] and table.chance_after[holder] == step:
                return
        if step == table.exchanges:
            self.end_course(table, places, ways, inquiry)
            return
        a = table.askers[step]
        b = table.partners[step]
        if not table.given[step]:
            self.branch(table, step, places, ways, inquiry)
            return
        if a == inquiry.viewer:
            cards = table.drawn[step]
            holder = b
            given_up = table.given[step]
        else:
            cards = table.given[step]
            holder = a
            given_up = table.drawn[step]
        # Nothing is known of the pile, so that what comes from it was not known either.
        if cards & all_known & ~(0 if holder == HEAP else places[holder]):
            return
        places[holder] = (places[holder] & ~cards) | given_up
        self.follow(table, step + 1, places, ways, inquiry)

    cdef void branch(
        self, const Table* table, int step, uint64_t* places, double ways, Inquiry* inquiry
    ) noexcept nogil:
        """Follow all that can have become of known cards in an exchange that was not seen."""
        cdef Course* course = &inquiry.course
        cdef int a = table.askers[step]
        cdef int b = table.partners[step]
        cdef int size_a = self.size_then(table, a, step)
        cdef int size_b = self.size_then(table, b, step) + 2 * (b == HEAP)
        cdef uint64_t[MAX_SUBSETS] out
        cdef uint64_t[MAX_SUBSETS] back
        cdef uint64_t known_a = places[a]
        cdef uint64_t known_b = places[b]
        cdef int outs = list_subsets(known_a, out)
        cdef int backs = 1
        cdef int i, j
        cdef double others
        back[0] = 0
        if b != HEAP:
            backs = list_subsets(known_b, back)
        for i in range(outs):
            for j in range(backs):
                places[a] = (known_a ^ out[i]) | back[j]
                places[b] = (known_b ^ back[j]) | out[i]
                others = combinations(
                    size_b - popcount(places[b]), 2 - popcount(out[i])
                ) * combinations(size_a - popcount(places[a]), 2 - popcount(back[j]))
                if others > 0:
                    course.out[step] = out[i]
                    course.back[step] = back[j]
                    course.asker_has[step] = places[a]
                    course.partner_has[step] = places[b]
                    self.follow(table, step + 1, places, ways * others, inquiry)

    cdef void end_course(
        self, const Table* table, const uint64_t* places, double ways, Inquiry* inquiry
    ) noexcept nogil:
        """Take note of a course, if it leads to places where the cards can be."""
        cdef int holder
        cdef double weight
        if inquiry.purpose == SEEK and inquiry.count:
            return
        memcpy(inquiry.course.places, places, sizeof(inquiry.course.places))
        if inquiry.purpose == FIND_SURE:
            for holder in range(self.seats):
                if table.crash_dice[holder] and (
                    places[holder] & shown_cards(table.crash_dice[holder])
                ):
                    return
            for holder in range(HOLDERS):
                if inquiry.count:
                    inquiry.sure[holder] &= places[holder]
                else:
                    inquiry.sure[holder] = places[holder]
            inquiry.count += 1
            return
        weight = ways * self.prepare_deal(table, inquiry)
        if weight == 0 or (
            inquiry.purpose == SEEK and not find_deal(&inquiry.deal, inquiry.random)
        ):
            return
        inquiry.count += 1
        inquiry.total += weight
        if inquiry.count == 1 or unit(inquiry.random) * inquiry.total < weight:
            inquiry.chosen = inquiry.course

    cdef bint draw_course(self, const Table* table, Inquiry* inquiry) noexcept nogil:
        """Draw a course and prepare to deal; False if there is none.

        Its probability is as the bound of the number of deals that it leaves, times that of
        ways in which the other cards can have moved.
        """
        if not table.exchanges:
            memset(inquiry.course.places, 0, sizeof(inquiry.course.places))
            inquiry.count = 1
        else:
            self.go_through(table, DRAW, inquiry)
            if not inquiry.count:
                return False
            inquiry.course = inquiry.chosen
        return self.prepare_deal(table, inquiry) > 0

    cdef double prepare_deal(self, const Table* table, Inquiry* inquiry) noexcept nogil:
        """See what each holder can get by the course followed.

        Returns a bound of the number of deals, 0 if there can be none. Where no holder is
        limited, that is their number.
        """
        cdef Deal* deal = &inquiry.deal
        cdef const uint64_t* places = inquiry.course.places
        cdef uint64_t unknown = self.in_use(table) & ~(table.heap | places[HEAP])
        cdef uint64_t known
        cdef int holder, slots, left, i
        cdef double bound = 1
        deal.count = 0
        for holder in range(self.seats):
            unknown &= ~(table.hands[holder] | table.played[holder] | places[holder])
        deal.unknown = unknown
        left = popcount(unknown)
        for holder in range(HOLDERS):
            deal.free_slots[holder] = 0
            if self.seats <= holder < HEAP:
                continue
            if holder == HEAP:
                known = table.heap | places[HEAP]
                slots = table.heap_size - popcount(known)
            else:
                known = table.hands[holder] | places[holder]
                slots = self.size(table, holder) - popcount(known)
            if slots < 0 or not self.limit_holder(
                table, inquiry, holder, known, slots, deal.holders + deal.count
            ):
                return 0
            if deal.holders[deal.count].allowed == unknown and (
                not deal.holders[deal.count].limits
            ):
                deal.free_slots[holder] = slots
            elif slots:
                deal.count += 1
        order_holders(deal.holders, deal.count, unknown)
        for i in range(deal.count):
            bound *= deal.holders[i].bound
            left -= deal.holders[i].slots
        for holder in range(HOLDERS):
            if deal.free_slots[holder]:
                bound *= combinations(left, deal.free_slots[holder])
                left -= deal.free_slots[holder]
        return bound if left >= 0 else 0

    cdef bint limit_holder(
        self,
        const Table* table,
        const Inquiry* inquiry,
        int index,
        uint64_t known,
        int slots,
        Holder* holder,
    ) noexcept nogil:
        """Say what a holder's unknown cards can be; False if its known ones cannot be."""
        cdef uint64_t shown
        cdef int source, most, i
        memset(holder, 0, sizeof(Holder))
        holder.index = index
        holder.slots = slots
        holder.allowed = inquiry.deal.unknown
        if index != HEAP and table.crash_dice[index]:
            shown = shown_cards(table.crash_dice[index])
            if known & shown:
                return False
            holder.allowed &= ~shown
        for source in range(self.seats):
            shown = inquiry.shown[source]
            if not shown:
                continue
            most = inquiry.most[source][index] - popcount(known & shown)
            if most < 0:
                return False
            if most == 0:
                holder.allowed &= ~shown
            elif most < slots:
                # The tightest limit first.
                i = holder.limits
                while i and holder.most[i - 1] > most:
                    holder.most[i] = holder.most[i - 1]
                    holder.masks[i] = holder.masks[i - 1]
                    i -= 1
                holder.most[i] = most
                holder.masks[i] = shown
                holder.limits += 1
        if holder.limits:
            holder.limited = holder.allowed & holder.masks[0]
            holder.limit = holder.most[0]
        return True

    cdef bint deal_limited(self, const Table* table, Inquiry* inquiry) noexcept nogil:
        """Deal to the limited holders; False if there is no way to.

        If no deal is accepted, a Markov chain begins with those refused: first it goes from one
        to the next by their weights, for the sake of the courses, then it changes the last one.
        """
        cdef Deal* deal = &inquiry.deal
        cdef Deal current
        cdef Course course
        cdef double current_weight = 0
        cdef double weight
        cdef bint several = inquiry.count > 1
        cdef int attempt
        for attempt in range(2 * TRIES if several else TRIES):
            if attempt and several:
                self.draw_course(table, inquiry)
            weight = propose_deal(deal, inquiry.random)
            if attempt < TRIES and unit(inquiry.random) < weight:
                return True
            if weight > 0 and unit(inquiry.random) * current_weight < weight:
                current_weight = weight
                current = deal[0]
                course = inquiry.course
        if current_weight > 0:
            deal[0] = current
            inquiry.course = course
        else:
            self.go_through(table, SEEK, inquiry)
            if not inquiry.count:
                return False
            inquiry.course = inquiry.chosen
        mix_deal(deal, inquiry.random)
        return True

    cdef bint draw_exchanges(self, Table* table, const Inquiry* inquiry) noexcept nogil:
        """Say which cards moved where that was not seen, looking back from where they are.

        Returns whether then all seats that used their Last Chances held no valid card.
        """
        cdef const Course* course = &inquiry.course
        cdef uint64_t[HOLDERS] holds
        cdef int step, seat, a, b
        for seat in range(self.seats):
            holds[seat] = table.hands[seat]
        holds[HEAP] = table.heap
        for step in range(table.exchanges - 1, -1, -1):
            for seat in range(self.seats):
                holds[seat] |= table.played[seat] & self.played_until(table, step + 1)
            a = table.askers[step]
            b = table.partners[step]
            if not table.given[step]:
                table.given[step] = course.out[step] | draw_cards(
                    holds[b] & ~course.partner_has[step],
                    2 - popcount(course.out[step]),
                    inquiry.random,
                )
                table.drawn[step] = course.back[step] | draw_cards(
                    holds[a] & ~course.asker_has[step],
                    2 - popcount(course.back[step]),
                    inquiry.random,
                )
            holds[a] = (holds[a] & ~table.drawn[step]) | table.given[step]
            holds[b] &= ~table.given[step]
            if b != HEAP:
                holds[b] |= table.drawn[step]
            for seat in range(self.seats):
                if table.chance_after[seat] == step and holds[seat] & inquiry.shown[seat]:
                    return False
        return True

    cdef void draw_choices(self, Table* table, Random* random) noexcept nogil:
        """Replace choices that are hidden by legal moves, drawn uniformly."""
        cdef uint32_t[MAX_HAND + 1] moves
        cdef int phase = table.phase
        cdef int seat
        # The choices are those of the phase before the reveal.
        if phase == REVEAL_PLAYS or phase == REVEAL_EXTRAS or phase == REVEAL_STOPS:
            table.phase = phase - 1
        for seat in range(self.seats):
            if table.choices[seat] == HIDDEN:
                table.choices[seat] = 1 + moves[below(random, self.legal(table, seat, moves))]
        table.phase = phase

    # What play is worth.

    cdef bint priors(
        self, const void* state, int seat, const uint32_t* moves, int count, float* values
    ) noexcept nogil:
        weigh(&self.knowledge, <const Table*>state, seat, moves, count, values)
        return True

    cdef void evaluate(
        self, void* state, Random* random, float* win_shares, float* scores
    ) noexcept nogil:
        """Play on by the policy to the end of the round, and value the scores.

        The luck of the dice on the way is taken out of the win shares. The scores given are
        guessed: all seats gain what takes the first one to the target.
        """
        cdef Table* table = <Table*>state
        cdef float[MAX_SEATS] luck
        cdef float rest = 0
        cdef int seat
        if table.phase == SET_UP or table.phase == DEAL:
            while table.phase != ROLL:
                self.chance(table, random)
        memset(luck, 0, sizeof(luck))
        self.play_round(table, &self.knowledge, NULL, random, luck)
        self.points(state, scores)
        if table.phase == OVER:
            self.returns(state, win_shares)
        else:
            settle_round(&self.knowledge, table, win_shares)
            rest = self.target
            for seat in range(self.seats):
                rest = min(rest, self.target - scores[seat])
        for seat in range(self.seats):
            scores[seat] += rest
            win_shares[seat] -= luck[seat]

    cdef void luck(self, const void* before, const void* after, float* win_shares) noexcept nogil:
        """What the dice of a roll, other than the first of a round, changed."""
        cdef const Table* table = <const Table*>before
        if table.phase == ROLL and table.turn > 1:
            tell_luck(&self.knowledge, <const Table*>after, win_shares)
        else:
            memset(win_shares, 0, self.seats * sizeof(float))

    cdef void play_round(
        self,
        Table* table,
        const Knowledge* all_alike,
        const Knowledge* by_seat,
        Random* random,
        float* luck,
    ) noexcept nogil:
        """Have policies, the same for all seats or one for each, play to the end of the round.

        Adds up what the dice change by luck, unless `luck` is NULL.
        """
        cdef uint32_t[MAX_MOVES] moves
        cdef float[MAX_SEATS] change
        cdef bint foreseen
        cdef int seat, count
        cdef int actors = self.actors(table)
        while actors != FINISHED and table.phase != DEAL:
            if actors == CHANCE:
                foreseen = luck != NULL and table.phase == ROLL and table.turn > 1
                self.chance(table, random)
                if foreseen:
                    tell_luck(&self.knowledge, table, change)
                    for seat in range(self.seats):
                        luck[seat] += change[seat]
            else:
                seat = lowest_bit(actors)
                count = self.legal(table, seat, moves)
                self.apply(
                    table,
                    seat,
                    choose(
                        all_alike if by_seat == NULL else by_seat + seat,
                        table,
                        seat,
                        moves,
                        count,
                        below(random, count),
                    ),
                )
            actors = self.actors(table)

    cdef uint64_t information_hash(self, const void* state, int seat) noexcept nogil:
        cdef Table copy
        memcpy(&copy, state, sizeof(Table))
        self.observe(&copy, seat)
        return hash_bytes(&copy, sizeof(Table), seat)

    # For Python callers.

    def pack(self, fields):
        """Build a state from fields that were checked to agree with each other.

        Parameters
        ----------
        fields : dict
            As `unpack` returns them.
        """
        cdef State state = self.new_state()
        cdef Table* table = <Table*>state.data
        cdef int seat, die
        for seat in range(self.seats):
            table.hands[seat] = fields["hands"][seat]
            table.played[seat] = fields["played"][seat]
            table.chance_dice[seat] = pack_given(fields["chance_dice"][seat])
            table.chance_after[seat] = fields["chance_after"][seat]
            table.crash_dice[seat] = pack_given(fields["crash_dice"][seat])
            table.scores[seat] = fields["scores"][seat]
            table.choices[seat] = fields["choices"][seat]
            table.powers[seat] = fields["powers"][seat]
            table.reserved[seat] = fields["reserved"][seat]
            table.reserving[seat] = fields["reserving"][seat]
        for exchange in fields["exchanges"]:
            check(table.exchanges < MAX_EXCHANGES)
            (
                table.askers[table.exchanges],
                table.partners[table.exchanges],
                table.given[table.exchanges],
                table.drawn[table.exchanges],
                table.before[table.exchanges],
            ) = exchange
            table.exchanges += 1
        for die in range(DICE):
            table.dice[die] = fields["dice"][die]
        table.heap = fields["heap"]
        table.heap_size = fields["heap_size"]
        table.round_number = fields["round"]
        table.turn = fields["turn"]
        table.phase = PHASE_NAMES.index(fields["phase"])
        table.token = fields["token"]
        table.removed = fields["removed"]
        table.inside = fields["inside"]
        table.stopped = fields["stopped"]
        table.used = fields["used"]
        table.waiting = fields["waiting"]
        table.extra = fields["extra"]
        table.turned = fields["turned"]
        table.golden = fields["golden"]
        if self.cards_known(table):
            table.pile = self.in_use(table) & ~table.heap
            for seat in range(self.seats):
                table.pile &= ~(table.hands[seat] | table.played[seat])
        return state

    def unpack(self, State state not None):
        """What the state holds, as a dict of plain numbers.

        Sets of cards and of seats are bit masks; `choices` and `powers` hold the move or card
        + 1, 255 for a hidden choice and 0 for none; reservations the die + 1. Of a swap or redraw:
        who asked, the partner (6 for the heap), the cards given and drawn, 0 if they are not known,
        and all cards played before.
        """
        cdef const Table* table = <const Table*>self.read(state)
        cdef int seat, die, step
        return {
            "hands": [table.hands[seat] for seat in range(self.seats)],
            "played": [table.played[seat] for seat in range(self.seats)],
            "chance_dice": [unpack_given(table.chance_dice[seat]) for seat in range(self.seats)],
            "chance_after": [table.chance_after[seat] for seat in range(self.seats)],
            "crash_dice": [unpack_given(table.crash_dice[seat]) for seat in range(self.seats)],
            "scores": [table.scores[seat] for seat in range(self.seats)],
            "choices": [table.choices[seat] for seat in range(self.seats)],
            "powers": [table.powers[seat] for seat in range(self.seats)],
            "reserved": [table.reserved[seat] for seat in range(self.seats)],
            "reserving": [table.reserving[seat] for seat in range(self.seats)],
            "exchanges": [
                (
                    table.askers[step],
                    table.partners[step],
                    table.given[step],
                    table.drawn[step],
                    table.before[step],
                )
                for step in range(table.exchanges)
            ],
            "dice": [table.dice[die] for die in range(DICE)],
            "heap": table.heap,
            "heap_size": table.heap_size,
            "pile_size": self.pile_size(table),
            "round": table.round_number,
            "turn": table.turn,
            "phase": PHASE_NAMES[table.phase],
            "token": table.token,
            "removed": table.removed,
            "inside": table.inside,
            "stopped": table.stopped,
            "used": table.used,
            "waiting": table.waiting,
            "extra": table.extra,
            "turned": table.turned,
            "golden": table.golden,
        }

    def choose_by_rules(self, State state not None, int seat):
        """The move of the rule-based player for a seat that is to act, as a code."""
        cdef const void* data = self.read(state)
        cdef uint32_t[MAX_MOVES] moves
        self.check_seat(seat)
        if not max(0, self.actors(data)) >> seat & 1:
            raise ValueError("the seat is not to act")
        cdef int count = self.legal(data, seat, moves)
        return choose(&self.by_rules, <const Table*>data, seat, moves, count, 0)

    def policy_terms(self, State state not None, int seat):
        """What the policy looks at in each legal move of a seat; a list of terms for each."""
        cdef const void* data = self.read(state)
        cdef uint32_t[MAX_MOVES] moves
        cdef float[MAX_MOVES][MOST_TERMS] terms
        self.check_seat(seat)
        if not max(0, self.actors(data)) >> seat & 1:
            raise ValueError("the seat is not to act")
        cdef int count = self.legal(data, seat, moves)
        cdef int size = terms_of(&self.knowledge, <const Table*>data, seat, moves, count, terms)
        return [[terms[i][j] for j in range(size)] for i in range(count)]

    def luck_of_roll(self, State state not None):
        """What `luck` makes of the dice on the table of a full state, by seat; for tests."""
        cdef float[MAX_SEATS] shares
        cdef const Table* table = <const Table*>self.read(state)
        if not self.full(table) or not (table.phase == NINES or table.phase == PLAY):
            raise ValueError("dice must have been rolled, and nothing be hidden")
        tell_luck(&self.knowledge, table, shares)
        return [shares[seat] for seat in range(self.seats)]

    def outlook(self, uint64_t hand, int colours, bint golden=False, bint nine=False):
        """The chance that the next roll makes no card of a hand valid, and what it brings.

        Parameters
        ----------
        hand : int
            Cards, as a bit mask.
        colours : int
            The usable dice, as a bit mask of their colours.
        golden : bool
            Whether the golden die is rolled too.
        nine : bool
            Whether one die may then be turned.

        Returns
        -------
        fail : float
        stars : float
            Expected of the valid card with most, on the scale of the evaluation; 0 without one.
        """
        cdef Outlook outlook
        look_ahead(&self.knowledge, hand, colours, golden, nine, &outlook)
        return outlook.fail, outlook.stars

    def run_policies(self, weights, int count, uint64_t seed, State first=None):
        """Have policies play games against each other, without the GIL.

        Parameters
        ----------
        weights : sequence of (dict or None)
            By seat; as in `riviera_weights`, or None for the rule-based player.
        count : int
            Games, at least 1. The n-th one has the same deals for the same seed.
        seed : int
        first : State, optional
            The full state in which all games begin; by default that before the first deal.

        Returns
        -------
        list of tuple
            Of each game the win shares, and of each round's beginning but the first one's the
            scores by seat and the bit mask of used Last Chances.
        """
        cdef Knowledge[MAX_SEATS] by_seat
        cdef float[MAX_SEATS] shares
        cdef State state
        cdef Table* table
        cdef Random random
        cdef int game, seat
        for seat in range(self.seats):
            if weights[seat] is None:
                by_seat[seat] = self.by_rules
            else:
                self.fill_knowledge(by_seat + seat, weights[seat])
        result = []
        if first is not None and not self.full(self.read(first)):
            raise ValueError("games need a full state to begin in, this is an observation")
        for game in range(count):
            if first is None:
                state = self.new_state()
                self.start(state.data, -1)
            else:
                state = self.copy_state(first)
            table = <Table*>state.data
            rounds = []
            while table.phase != OVER:
                with nogil:
                    # Each round has its own luck, whatever was played in those before.
                    seed_random(&random, seed, game << 10 | table.round_number)
                    while table.phase == SET_UP or table.phase == DEAL:
                        self.chance(table, &random)
                    self.play_round(table, NULL, by_seat, &random, NULL)
                if table.phase != OVER:
                    rounds.append((
                        [table.scores[seat] for seat in range(self.seats)], table.used
                    ))
            self.returns(table, shares)
            result.append(([shares[seat] for seat in range(self.seats)], rounds))
        return result

    def play_rounds(self, weights, scores, int used, int count, uint64_t seed):
        """Have a policy play one round, again and again, from the same scores.

        Parameters
        ----------
        weights : dict
            As in `riviera_weights`.
        scores : sequence of int
            By seat, below the target.
        used : int
            Bit mask of the seats whose Last Chance is used.
        count : int
            Rounds.
        seed : int

        Returns
        -------
        dict
            How often each end came about: by (win shares, None) if the game was over, else by
            (scores, used Last Chances).
        """
        cdef Knowledge knowledge
        cdef float[MAX_SEATS] shares
        cdef State state
        cdef Table* table
        cdef Random random
        cdef int number, seat
        self.fill_knowledge(&knowledge, weights)
        result = {}
        for number in range(count):
            state = self.new_state()
            table = <Table*>state.data
            self.start(table, -1)
            for seat in range(self.seats):
                table.scores[seat] = scores[seat]
            table.used = used
            with nogil:
                seed_random(&random, seed, number)
                while table.phase != ROLL:
                    self.chance(table, &random)
                self.play_round(table, &knowledge, NULL, &random, NULL)
            if table.phase == OVER:
                self.returns(table, shares)
                end = tuple([shares[seat] for seat in range(self.seats)]), None
            else:
                end = tuple([table.scores[seat] for seat in range(self.seats)]), table.used
            result[end] = result.get(end, 0) + 1
        return result

    def can_deal(self):
        """Whether acceptable deals are common enough: one in the first thousands of tries."""
        cdef uint8_t[CARDS] deck
        cdef uint64_t[MAX_SEATS] hands
        cdef int removed = COLOURS if self.seats > 4 else 0
        cdef Random random
        cdef int _
        seed_random(&random, 0, 0)
        memcpy(deck, self.decks[removed], CARDS)
        for _ in range(DEAL_TRIES):
            if self.try_deal(deck, self.deck_sizes[removed], hands, &random):
                return True
        return False

    def pending_chance(self, State state not None):
        """The pending chance event: deal, roll, reveal, swap, redraw, set_up, or None."""
        cdef const Table* table = <const Table*>self.read(state)
        if self.actors(table) != CHANCE:
            return None
        if table.phase == EXCHANGE:
            return "redraw" if table.asked >= REDRAW else "swap"
        return {SET_UP: "set_up", DEAL: "deal", ROLL: "roll"}.get(table.phase, "reveal")

    def asked_seats(self, State state not None):
        """The seats of a pending swap or redraw: who asked, and whose cards are drawn or None."""
        cdef const Table* table = <const Table*>self.read(state)
        cdef int other = (table.asked - SWAP) // PAIRS
        return self.first(table, table.waiting), None if other == HEAP else other

    def settle(self, State state not None, result=None):
        """The state after the pending chance event came out as given.

        Parameters
        ----------
        state : State
        result
            Of a deal: the hands, as bit masks by seat. Of a roll: six dice, the golden one
            last, 0 for those not rolled. Of a swap or redraw: the cards drawn, a bit mask.
            Nothing for a reveal.

        Raises
        ------
        ValueError
            If that cannot be, or nothing is pending.
        """
        cdef State copy = self.copy_state(state)
        cdef Table* table = <Table*>copy.data
        cdef uint64_t[MAX_SEATS] hands
        cdef uint64_t cards, source
        cdef int seat, die, other
        pending = self.pending_chance(state)
        if pending == "reveal":
            self.settle_reveal(table)
        elif pending == "roll":
            for die in range(DICE):
                rolled = self.is_rolled(table, die)
                if not (1 if rolled else 0) <= result[die] <= (6 if rolled else 0):
                    raise ValueError("the dice do not fit those that are rolled")
                table.dice[die] = result[die]
            self.settle_roll(table)
        elif pending == "deal":
            cards = 0
            for seat in range(self.seats):
                hands[seat] = result[seat]
                if (
                    popcount(hands[seat]) != self.hand_size
                    or hands[seat] & (cards | ~self.in_use(table))
                    or not self.acceptable(hands[seat])
                ):
                    raise ValueError("the hands cannot be dealt so")
                cards |= hands[seat]
            self.settle_deal(table, hands)
        elif pending in ("swap", "redraw"):
            cards = result
            other = (table.asked - SWAP) // PAIRS
            source = table.pile if other == HEAP else table.hands[other]
            if popcount(cards) != 2 or cards & ~source:
                raise ValueError("the cards drawn must be two of those drawn from")
            self.settle_exchange(table, cards)
        else:
            raise ValueError("no such chance event is pending")
        return copy


PHASE_NAMES = (
    "set_up",
    "deal",
    "roll",
    "nines",
    "play",
    "reveal_plays",
    "extra",
    "reveal_extras",
    "powers",
    "exchange",
    "stop",
    "reveal_stops",
    "over",
)


cdef uint32_t pack_given(dice) except? 0:
    """Pack six dice that a Python caller gave; 0 for None."""
    cdef uint8_t[DICE] values
    cdef int die
    if dice is None:
        return 0
    for die in range(DICE):
        values[die] = dice[die]
    return pack_dice(values)


cdef unpack_given(uint32_t packed):
    """Packed dice as a list, or None for 0."""
    cdef uint8_t[DICE] dice
    cdef int die
    if packed == 0:
        return None
    unpack_dice(packed, dice)
    return [dice[die] for die in range(DICE)]


def valid_mask(dice):
    """The cards, as a bit mask, that six dice allow; dice that are not usable are 0."""
    return shown_cards(pack_given(dice))


def pair_mask(int number):
    """The two cards, as a bit mask, of the pair of that number in swaps and redraws."""
    if not 0 <= number < PAIRS:
        raise ValueError(f"pairs are numbered 0..{PAIRS - 1}")
    return PAIR_CARDS[number]
