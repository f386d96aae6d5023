"""Riviera: rules, knowledge, determinization and playouts on sets of cards.

Sets of cards are bit masks, so the valid cards of a hand are one `and` away from
the dice. The table, laid out in `riviera.pxd` beside what the evaluation uses too, holds
the truth and, beside it, what each seat knows: which cards lie elsewhere, and
from a seat that had no valid card, how many cards valid for those dice a hand
can still hold at most (0 at first; cards that move in a swap take that
knowledge with them). Of another seat's knowledge, a seat is shown only which of its
own cards it has seen that seat give away.

Determinizations deal the unknown cards uniformly among the ways that respect
those limits. They are exact while one hand is limited; where several are, an
exact rejection sampler is tried a bounded number of times, and what it could
not settle is drawn by a Markov chain (Metropolis steps that deal the cards of
two hands anew) from a feasible deal, which is uniform only in the limit. A
feasible deal is found by augmenting paths, so `determinize` says no only if
nothing agrees. One exception: where a hand has several limits other than 0 at
once, a deal that satisfies all of them is looked for by a bounded search. What
the repeated deals and first rolls tell is not used, nor what choices reveal.

Of a card, a seat knows either the one place where it lies or nothing. If a hand of
more than two cards takes part in a swap or redraw, the seats that only see it take
place forget the cards that they knew in it, although each of those must still lie
with one of the two seats (after a redraw: in the hand or on the heap), with two at
most moved each way. So determinizations for these seats may put such a card
anywhere that is out of their sight, until it is played or its place is learned anew.

The rules are on the game's page of the documentation. Limits: 2-6 seats, hands
of at most 24 cards.
"""

cimport cython
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from aleator.ext.core.bits cimport lowest_bit, popcount
from aleator.ext.core.game cimport (
    CHANCE,
    FINISHED,
    MAX_SEATS,
    Game,
    State,
    hash_bytes,
    share_highest,
)
from aleator.ext.core.random cimport Random, below, mix64, next64, scaled, seed_random


cdef enum:
    REROLLS = 2
    DEAL_TRIES = 10_000

    # Determinization.
    TRIES = 24  # of the exact sampler, before the Markov chain
    SWEEPS = 6  # of the chain over all pairs of holders
    REPAIRS = 20_000  # steps to satisfy several limits of one hand
    # What may become of a proposed deal.
    DEAD_END = 0
    REFUSED = 1
    ACCEPTED = 2


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


cdef inline uint8_t as_limit(int most, int size) noexcept nogil:
    """A limit that says nothing of so many cards is none."""
    return NO_LIMIT if most >= size else most


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


cdef int propose_deal(
    Holder* holders, int count, uint64_t unknown, Random* random
) noexcept nogil:
    """Deal to one holder after the other, and accept so that all deals are alike likely.

    A deal comes up with probability 1 / (product of the numbers of choices met), and is
    accepted with that product over its bound.
    """
    cdef double weight = 1
    cdef double ways
    cdef int i
    for i in range(count):
        ways = count_choices(holders + i, unknown)
        if ways == 0:
            return DEAD_END
        holders[i].cards = choose_cards(holders + i, unknown, ways, random)
        if not keeps_limits(holders + i, holders[i].cards):
            return DEAD_END
        unknown &= ~holders[i].cards
        weight *= ways / holders[i].bound
    return ACCEPTED if unit(random) < weight else REFUSED


cdef bint find_deal(Holder* holders, int count, uint64_t unknown, Random* random) noexcept nogil:
    """Find some deal to the holders; the last one is the rest, without limits."""
    cdef uint32_t tried
    cdef int i, j, wrong, _
    for i in range(count):
        holders[i].cards = 0
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
            VALUES if max_same_colour_in_hand is None else max_same_colour_in_hand
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

    # Parts of the rules that several methods share.

    cdef inline int size(self, const Table* table, int seat) noexcept nogil:
        """Cards in a hand: every card that leaves it is played or replaced."""
        return self.hand_size - popcount(table.played[seat])

    cdef inline int pile_size(self, const Table* table) noexcept nogil:
        return (
            self.deck_sizes[table.removed] - self.seats * self.hand_size - table.heap_size
        )

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
        cdef int viewer
        cdef uint64_t card
        cdef uint8_t[DICE] dice
        if move < CARDS:
            card = bit(move)
            table.hands[seat] ^= card
            table.played[seat] |= card
            for viewer in range(MAX_SEATS):
                table.known[viewer] &= ~card
                table.unnoticed[viewer] &= ~card
            self.note_play(table, seat, card)
            if card & self.extra_cards:
                table.extra |= 1 << seat
            elif card & (self.nines | self.late_cards):
                table.powers[seat] = move + 1
        elif move != PASS:
            usable_dice(table, seat, dice)
            if move == LAST_CHANCE:
                table.used |= 1 << seat
                table.chance_dice[seat] = pack_dice(dice)
                for viewer in range(self.seats):
                    self.clear_limits(table, viewer, seat)
                    table.limits[viewer][seat][seat] = 0
            else:
                table.inside &= ~(1 << seat)
                table.crash_dice[seat] = pack_dice(dice)

    cdef void clear_limits(self, Table* table, int viewer, int source) noexcept nogil:
        cdef int holder
        for holder in range(HOLDERS):
            table.limits[viewer][holder][source] = NO_LIMIT

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

    # Knowledge.

    cdef void note_play(self, Table* table, int seat, uint64_t card) noexcept nogil:
        """A card was played in the open: what is left holds one less."""
        cdef int source, viewer, size
        cdef bint counts
        for source in range(self.seats):
            if table.chance_dice[source]:
                counts = (shown_cards(table.chance_dice[source]) & card) != 0
                size = self.size(table, seat)
                for viewer in range(self.seats):
                    if table.limits[viewer][seat][source] != NO_LIMIT:
                        table.limits[viewer][seat][source] = as_limit(
                            table.limits[viewer][seat][source] - counts, size
                        )
                self.forget_idle(table, source)

    cdef void note_exchange(
        self, Table* table, int a, int b, uint64_t from_a, uint64_t from_b
    ) noexcept nogil:
        """Two cards went from seat `a` to `b`, and two to `a`; asked before they move.

        `b` is a seat whose two cards came from its hand, or HEAP, and the cards to
        `a` came from the pile.
        """
        cdef int viewer, source, size_a, size_b, kept_b, most_a, most_b, out, back
        cdef uint64_t shown
        cdef bint informed
        size_a = self.size(table, a)
        size_b = table.heap_size if b == HEAP else self.size(table, b)
        kept_b = size_b if b == HEAP else size_b - 2
        for viewer in range(self.seats):
            if viewer == a:
                table.known[viewer] = (table.known[viewer] & ~from_b) | from_a
                table.unnoticed[viewer] &= ~(from_a | from_b)
            elif viewer == b:
                table.known[viewer] = (table.known[viewer] & ~from_a) | from_b
                table.unnoticed[viewer] &= ~(from_a | from_b)
            else:
                # Where all cards of a hand move, who knew them knows them still, but whoever
                # holds them now does not learn of that.
                if size_a > 2:
                    table.known[viewer] &= ~table.hands[a]
                if b != HEAP and size_b > 2:
                    table.known[viewer] &= ~table.hands[b]
                if b == HEAP:
                    table.unnoticed[viewer] &= ~from_a
                else:
                    table.unnoticed[viewer] |= from_a | from_b
                table.unnoticed[viewer] &= table.known[viewer]
        for source in range(self.seats):
            if not table.chance_dice[source]:
                continue
            shown = shown_cards(table.chance_dice[source])
            out = popcount(from_a & shown)
            back = popcount(from_b & shown)
            for viewer in range(self.seats):
                informed = viewer == a or viewer == b
                most_a = at_most(table.limits[viewer][a][source], size_a)
                most_b = at_most(table.limits[viewer][b][source], size_b)
                table.limits[viewer][a][source] = as_limit(
                    at_most(most_a - (out if informed else 0), size_a - 2)
                    + (back if informed else 2 if b == HEAP else at_most(most_b, 2)),
                    size_a,
                )
                table.limits[viewer][b][source] = as_limit(
                    at_most(most_b - (back if informed and b != HEAP else 0), kept_b)
                    + (out if informed else at_most(most_a, 2)),
                    kept_b + 2,
                )
            self.forget_idle(table, source)

    cdef void forget_idle(self, Table* table, int source) noexcept nogil:
        """Drop a Last Chance that tells nobody anything any more."""
        cdef int viewer, holder
        for viewer in range(self.seats):
            for holder in range(HOLDERS):
                if table.limits[viewer][holder][source] != NO_LIMIT:
                    return
        table.chance_dice[source] = 0
        for viewer in range(self.seats):
            for holder in range(HOLDERS):
                table.limits[viewer][holder][source] = 0

    # Chance events, once it is known how they come out.

    cdef void settle_deal(self, Table* table, const uint64_t* hands) noexcept nogil:
        cdef int seat
        cdef uint64_t dealt = 0
        memset(table.played, 0, sizeof(table.played))
        memset(table.known, 0, sizeof(table.known))
        memset(table.unnoticed, 0, sizeof(table.unnoticed))
        memset(table.chance_dice, 0, sizeof(table.chance_dice))
        memset(table.crash_dice, 0, sizeof(table.crash_dice))
        memset(table.limits, 0, sizeof(table.limits))
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
        self.note_exchange(table, seat, other, given, drawn)
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
            if (move - TURN) % 2:
                table.dice[die] = 6 if table.dice[die] == 1 else table.dice[die] - 1
            else:
                table.dice[die] = 1 if table.dice[die] == 6 else table.dice[die] + 1
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
        cdef uint8_t[HOLDERS][MAX_SEATS] limits
        cdef int other, source
        for other in range(MAX_SEATS):
            if other != seat:
                table.hands[other] &= table.known[seat]
                # Only what the seat can tell of others' knowledge.
                table.known[other] &= table.hands[seat] & ~table.unnoticed[other]
                table.unnoticed[other] = 0
                if table.choices[other]:
                    table.choices[other] = HIDDEN
        table.heap &= table.known[seat]
        if not self.cards_known(table):
            table.pile = 0
        # The seat needs no limits on its own hand, and only its own view of the others'.
        memcpy(limits, table.limits[seat], sizeof(limits))
        for source in range(self.seats):
            if table.chance_dice[source]:
                limits[seat][source] = NO_LIMIT
        for other in range(self.seats):
            memcpy(table.limits[other], limits, sizeof(limits))
        for source in range(self.seats):
            if table.chance_dice[source]:
                self.forget_idle(table, source)

    cdef bint cards_known(self, const Table* table) noexcept nogil:
        cdef int seat
        for seat in range(self.seats):
            if popcount(table.hands[seat]) != self.size(table, seat):
                return False
        return popcount(table.heap) == table.heap_size

    cdef bint full(self, const void* state) noexcept nogil:
        cdef const Table* table = <const Table*>state
        cdef int seat
        for seat in range(self.seats):
            if table.choices[seat] == HIDDEN:
                return False
        # Before the first deal there are no cards to know.
        return table.turn == 0 or self.cards_known(table)

    cdef bint determinize(self, void* state, int seat, Random* random) noexcept nogil:
        cdef Table* table = <Table*>state
        cdef Holder[HOLDERS + 1] holders
        cdef int[HOLDERS] free_slots
        cdef uint64_t unknown = self.in_use(table) & ~table.heap
        cdef uint64_t cards
        cdef int count = 0
        cdef int holder, slots, i
        if table.turn == 0:
            return True
        for holder in range(self.seats):
            unknown &= ~(table.hands[holder] | table.played[holder])
        for holder in range(HOLDERS):
            free_slots[holder] = 0
            if self.seats <= holder < HEAP:
                continue
            if holder == HEAP:
                slots = table.heap_size - popcount(table.heap)
            else:
                slots = self.size(table, holder) - popcount(table.hands[holder])
            if not self.limit_holder(table, seat, holder, slots, unknown, holders + count):
                return False
            if holders[count].allowed == unknown and not holders[count].limits:
                free_slots[holder] = slots
            elif slots:
                count += 1
        if count and not self.deal_limited(holders, count, unknown, random):
            return False
        for i in range(count):
            self.give(table, holders[i].index, holders[i].cards)
            unknown &= ~holders[i].cards
        for holder in range(HOLDERS):
            if free_slots[holder]:
                cards = draw_cards(unknown, free_slots[holder], random)
                self.give(table, holder, cards)
                unknown &= ~cards
        table.pile = unknown
        self.draw_choices(table, random)
        return True

    cdef void give(self, Table* table, int holder, uint64_t cards) noexcept nogil:
        if holder == HEAP:
            table.heap |= cards
        else:
            table.hands[holder] |= cards

    cdef bint limit_holder(
        self,
        const Table* table,
        int viewer,
        int index,
        int slots,
        uint64_t unknown,
        Holder* holder,
    ) noexcept nogil:
        """Say what a holder's unknown cards can be; False if its known ones cannot be."""
        cdef uint64_t known = table.heap if index == HEAP else table.hands[index]
        cdef uint64_t shown
        cdef int source, most, i
        memset(holder, 0, sizeof(Holder))
        holder.index = index
        holder.slots = slots
        holder.allowed = unknown
        if index != HEAP and table.crash_dice[index]:
            shown = shown_cards(table.crash_dice[index])
            if known & shown:
                return False
            holder.allowed &= ~shown
        for source in range(self.seats):
            if not table.chance_dice[source] or (
                table.limits[viewer][index][source] == NO_LIMIT
            ):
                continue
            shown = shown_cards(table.chance_dice[source])
            most = table.limits[viewer][index][source] - popcount(known & shown)
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

    cdef bint deal_limited(
        self, Holder* holders, int count, uint64_t unknown, Random* random
    ) noexcept nogil:
        """Deal to the limited holders; False if there is no way to.

        `holders` has room for one more: the rest, that takes any card.
        """
        cdef Holder* rest = holders + count
        cdef int i, j, _
        cdef bint found = False
        cdef uint64_t[HOLDERS] last
        order_holders(holders, count, unknown)
        memset(rest, 0, sizeof(Holder))
        rest.allowed = unknown
        rest.slots = popcount(unknown)
        for i in range(count):
            rest.slots -= holders[i].slots
        if rest.slots < 0:
            return False
        for _ in range(TRIES):
            i = propose_deal(holders, count, unknown, random)
            if i == ACCEPTED:
                return True
            if i == REFUSED:
                found = True
                for j in range(count):
                    last[j] = holders[j].cards
        if found:
            for j in range(count):
                holders[j].cards = last[j]
        elif not find_deal(holders, count, unknown, random):
            return False
        rest.cards = unknown
        for i in range(count):
            rest.cards &= ~holders[i].cards
        for _ in range(SWEEPS):
            for i in range(1, count + 1):
                for j in range(i):
                    mix_pair(holders + i, holders + j, False, random)
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
        cdef int seat, viewer, holder, source, die
        for seat in range(self.seats):
            table.hands[seat] = fields["hands"][seat]
            table.played[seat] = fields["played"][seat]
            table.known[seat] = fields["known"][seat]
            table.unnoticed[seat] = fields["unnoticed"][seat]
            table.chance_dice[seat] = pack_given(fields["chance_dice"][seat])
            table.crash_dice[seat] = pack_given(fields["crash_dice"][seat])
            table.scores[seat] = fields["scores"][seat]
            table.choices[seat] = fields["choices"][seat]
            table.powers[seat] = fields["powers"][seat]
            table.reserved[seat] = fields["reserved"][seat]
            table.reserving[seat] = fields["reserving"][seat]
        for viewer in range(self.seats):
            for holder in range(HOLDERS):
                for source in range(self.seats):
                    table.limits[viewer][holder][source] = fields["limits"][viewer][holder][source]
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
        # What says nothing is no limit.
        for source in range(self.seats):
            if table.chance_dice[source]:
                for viewer in range(self.seats):
                    for holder in range(HOLDERS):
                        if self.seats <= holder < HEAP:
                            table.limits[viewer][holder][source] = NO_LIMIT
                            continue
                        table.limits[viewer][holder][source] = as_limit(
                            table.limits[viewer][holder][source],
                            table.heap_size if holder == HEAP else self.size(table, holder),
                        )
                self.forget_idle(table, source)
        if self.cards_known(table):
            table.pile = self.in_use(table) & ~table.heap
            for seat in range(self.seats):
                table.pile &= ~(table.hands[seat] | table.played[seat])
        return state

    def unpack(self, State state not None):
        """What the state holds, as a dict of plain numbers.

        Sets of cards and of seats are bit masks; `choices` and `powers` hold the move or card
        + 1, 255 for a hidden choice and 0 for none; reservations the die + 1.
        """
        cdef const Table* table = <const Table*>self.read(state)
        cdef int seat, viewer, holder, source, die
        return {
            "hands": [table.hands[seat] for seat in range(self.seats)],
            "played": [table.played[seat] for seat in range(self.seats)],
            "known": [table.known[seat] for seat in range(self.seats)],
            "unnoticed": [table.unnoticed[seat] for seat in range(self.seats)],
            "chance_dice": [unpack_given(table.chance_dice[seat]) for seat in range(self.seats)],
            "crash_dice": [unpack_given(table.crash_dice[seat]) for seat in range(self.seats)],
            "scores": [table.scores[seat] for seat in range(self.seats)],
            "choices": [table.choices[seat] for seat in range(self.seats)],
            "powers": [table.powers[seat] for seat in range(self.seats)],
            "reserved": [table.reserved[seat] for seat in range(self.seats)],
            "reserving": [table.reserving[seat] for seat in range(self.seats)],
            "limits": [
                [
                    [table.limits[viewer][holder][source] for source in range(self.seats)]
                    for holder in range(HOLDERS)
                ]
                for viewer in range(self.seats)
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
