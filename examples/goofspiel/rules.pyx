"""Goofspiel: rules and determinization.

All seats bid at once for the prize on the table, so `apply` only lays a card
face down. When the last seat has done so, a chance event without luck follows:
the reveal, which gives the prize away and turns the next one over. The order of
the deck is drawn when the game is set up and known to nobody; it is all that
determinizations draw between rounds.

Limits: three seats, 13 cards a seat. What bids say of the bidder's plans is not
used.
"""

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from aleator.ext.core.bits cimport lowest_bit, popcount
from aleator.ext.core.check cimport check
from aleator.ext.core.game cimport CHANCE, FINISHED, Game, State, hash_bytes, share_highest
from aleator.ext.core.random cimport Random, below


cdef enum:
    MAX_PLAYERS = 3
    MAX_CARDS = 13
    HIDDEN = 255  # a bid that is laid down, but not known


# All bytes 0: a game before its deck is shuffled.
cdef struct Table:
    uint16_t[MAX_PLAYERS] hands  # bit v: card v, those laid down included until the reveal
    uint8_t[MAX_PLAYERS] bids  # the card laid down in this round, 0 for none yet, or HIDDEN
    uint8_t[MAX_PLAYERS] scores
    uint8_t[MAX_CARDS] prizes  # in the order of the deck; 0 if not known
    uint8_t turned  # how many of them are face up; the last of these is bid for


cdef inline uint32_t take_lowest(uint32_t* cards) noexcept nogil:
    """Take the lowest card out of a set."""
    cdef uint32_t card = lowest_bit(cards[0])
    cards[0] &= cards[0] - 1
    return card


cdef class Goofspiel(Game):
    """Rules of Goofspiel.

    Parameters
    ----------
    players : int
        2 or 3.
    cards : int
        2..13: the cards of each seat, and the prizes.

    Raises
    ------
    ValueError
        For other numbers.
    """

    cdef readonly int cards

    def __init__(self, int players=2, int cards=13):
        if players not in (2, 3):
            raise ValueError(f"players must be 2 or 3, not {players}")
        if not 2 <= cards <= MAX_CARDS:
            raise ValueError(f"cards must be 2..{MAX_CARDS}, not {cards}")
        self.seats = players
        self.cards = cards
        self.move_space = cards + 1  # a move is the value of the card
        self.state_size = sizeof(Table)
        self.tuning.mixed = True  # bids are secret, and a bid that is known can be beaten

    cdef uint32_t full_hand(self) noexcept nogil:
        return ((<uint32_t>1 << self.cards) - 1) << 1

    cdef void start(self, void* state, int start_seat) noexcept nogil:
        # Nobody begins: `start_seat` means nothing here.
        cdef Table* table = <Table*>state
        cdef int seat
        for seat in range(self.seats):
            table.hands[seat] = self.full_hand()

    cdef int actors(self, const void* state) noexcept nogil:
        cdef const Table* table = <const Table*>state
        cdef int waiting = 0
        cdef int seat
        for seat in range(self.seats):
            if table.bids[seat] == 0:
                waiting |= 1 << seat
        if table.turned == 0 or waiting == 0:
            return CHANCE
        return waiting if table.hands[0] else FINISHED

    cdef int legal(self, const void* state, int seat, uint32_t* moves) noexcept nogil:
        cdef uint32_t hand = (<const Table*>state).hands[seat]
        cdef int count = 0
        while hand:
            moves[count] = take_lowest(&hand)
            count += 1
        return count

    cdef void apply(self, void* state, int seat, uint32_t move) noexcept nogil:
        (<Table*>state).bids[seat] = move

    cdef bint visible(self, const void* state, int seat, uint32_t move, int viewer) noexcept nogil:
        # The reveal shows all bids at once; that the bidder knows its own gains nothing before.
        return False

    cdef uint64_t chance(self, void* state, Random* random) noexcept nogil:
        cdef Table* table = <Table*>state
        cdef uint64_t event = 0
        cdef int seat
        if table.turned == 0:
            self.shuffle(table, random)
        else:
            for seat in range(self.seats):
                event = event << 4 | table.bids[seat]
            self.reveal(table)
            if table.turned == self.cards:
                return event << 4
        table.turned += 1
        return event << 4 | table.prizes[table.turned - 1]

    cdef uint32_t observed(self, const void* state, uint64_t event, int viewer) noexcept nogil:
        # All bids and the next prize, four bits each: never 0.
        return event

    cdef void shuffle(self, Table* table, Random* random) noexcept nogil:
        """Put the prizes that are not face up in random order (Fisher and Yates)."""
        cdef uint32_t rest = self.full_hand()
        cdef int i, other
        for i in range(table.turned):
            rest ^= <uint32_t>1 << table.prizes[i]
        for i in range(table.turned, self.cards):
            other = table.turned + below(random, i - table.turned + 1)
            table.prizes[i] = table.prizes[other]
            table.prizes[other] = take_lowest(&rest)

    cdef void reveal(self, Table* table) noexcept nogil:
        """Give the prize to the highest bid, if it is the only one, and take the bids away."""
        cdef int winner = 0
        cdef bint tied = False
        cdef int seat
        for seat in range(1, self.seats):
            if table.bids[seat] > table.bids[winner]:
                winner = seat
                tied = False
            elif table.bids[seat] == table.bids[winner]:
                tied = True
        if not tied:
            table.scores[winner] += table.prizes[table.turned - 1]
        for seat in range(self.seats):
            check(table.hands[seat] >> table.bids[seat] & 1)
            table.hands[seat] ^= 1 << table.bids[seat]
            table.bids[seat] = 0

    cdef void returns(self, const void* state, float* win_shares) noexcept nogil:
        cdef float[MAX_PLAYERS] scores
        self.points(state, scores)
        share_highest(scores, self.seats, win_shares)

    cdef void points(self, const void* state, float* scores) noexcept nogil:
        cdef int seat
        for seat in range(self.seats):
            scores[seat] = (<const Table*>state).scores[seat]

    cdef void observe(self, void* state, int seat) noexcept nogil:
        cdef Table* table = <Table*>state
        cdef int other
        memset(table.prizes + table.turned, 0, MAX_CARDS - table.turned)
        for other in range(self.seats):
            if other != seat and table.bids[other]:
                table.bids[other] = HIDDEN

    cdef bint full(self, const void* state) noexcept nogil:
        cdef const Table* table = <const Table*>state
        cdef int seat
        for seat in range(self.seats):
            if table.bids[seat] == HIDDEN:
                return False
        return table.turned == 0 or table.prizes[self.cards - 1] != 0

    cdef bint determinize(self, void* state, int seat, Random* random) noexcept nogil:
        cdef Table* table = <Table*>state
        cdef uint32_t hand
        cdef int other, _
        self.shuffle(table, random)
        for other in range(self.seats):
            if table.bids[other] == HIDDEN:
                hand = table.hands[other]
                for _ in range(below(random, popcount(hand))):
                    take_lowest(&hand)
                table.bids[other] = take_lowest(&hand)
        return True

    cdef uint64_t information_hash(self, const void* state, int seat) noexcept nogil:
        cdef Table copy
        memcpy(&copy, state, sizeof(Table))
        self.observe(&copy, seat)
        return hash_bytes(&copy, sizeof(Table), seat)

    def pack(self, hands, bids, prizes, deck, scores):
        """Build a state from fields that were checked to fit together.

        Parameters
        ----------
        hands : sequence
            By seat: the values of its cards, with the one that is laid down.
        bids : sequence
            By seat: the card that is laid down, 0 for none yet, None if it is not known.
        prizes, deck : sequence of int
            The prizes face up, the one bid for last, and those to come, the next one first;
            no deck if its order is not known.
        scores : sequence of int
        """
        cdef State state = self.new_state()
        cdef Table* table = <Table*>state.data
        cdef int i, seat
        known = [*prizes, *deck]
        if not 1 <= len(prizes) <= len(known) <= self.cards:
            raise ValueError(f"need 1..{self.cards} prizes")
        if not len(hands) == len(bids) == len(scores) == self.seats:
            raise ValueError(f"need {self.seats} hands, bids and scores")
        if not all(1 <= card <= self.cards for cards in (known, *hands) for card in cards):
            raise ValueError(f"cards are 1..{self.cards}")
        for i in range(len(known)):
            table.prizes[i] = known[i]
        table.turned = len(prizes)
        for seat in range(self.seats):
            for card in hands[seat]:
                table.hands[seat] |= 1 << <int>card
            if bids[seat] not in (0, None, *hands[seat]):
                raise ValueError(f"seat {seat} does not hold its bid")
            table.bids[seat] = HIDDEN if bids[seat] is None else bids[seat]
            table.scores[seat] = scores[seat]
        return state

    def unpack(self, State state not None):
        """The fields that `pack` takes, as a dict."""
        cdef const Table* table = <const Table*>self.read(state)
        cdef int card, i, seat
        order = [table.prizes[i] for i in range(self.cards) if table.prizes[i]]
        return {
            "hands": [
                [card for card in range(1, self.cards + 1) if table.hands[seat] >> card & 1]
                for seat in range(self.seats)
            ],
            "bids": [
                None if table.bids[seat] == HIDDEN else table.bids[seat]
                for seat in range(self.seats)
            ],
            "prizes": order[:table.turned],
            "deck": order[table.turned:],
            "scores": [table.scores[seat] for seat in range(self.seats)],
        }

    def turn_over(self, State state not None, int prize):
        """The state after the pending reveal, with `prize` turned over next.

        Raises
        ------
        ValueError
            If no reveal is pending, or the deck does not hold that prize.
        """
        cdef State copy = self.copy_state(state)
        cdef Table* table = <Table*>copy.data
        cdef int i
        if self.actors(table) != CHANCE or table.turned == 0:
            raise ValueError("no reveal is pending")
        for i in range(table.turned, self.cards):
            if table.prizes[i] == prize:
                table.prizes[i] = table.prizes[table.turned]
                table.prizes[table.turned] = prize
                return self.advance(copy, 0)
        raise ValueError(f"the deck does not hold {prize}")
