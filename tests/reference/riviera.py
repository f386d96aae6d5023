"""Riviera again, slowly and plainly, from its rules page; for tests to compare with.

States and moves are the typed records of the wire. What chance brings is asked of a function, so
that tests can follow another implementation or go through all that is possible.
"""

import math
from copy import deepcopy
from fractions import Fraction
from itertools import combinations, product

CASES = [
    ("riviera", {}),
    ("riviera", {"players": 2, "hand_size": 2, "target": 10}),
    (
        "riviera",
        {
            "players": 3,
            "mode": "sequential",
            "preroll_powers": "after_stop",
            "hand_size": 2,
            "target": 10,
            "removed_colour": "green",
        },
    ),
    ("riviera", {"players": 4, "powers": False, "max_rounds": 3}),
    ("riviera", {"players": 6, "max_same_colour_in_hand": None}),
]

COLOURS = "rgpbo"
NAMES = ["red", "green", "purple", "blue", "orange"]
CARDS = [f"{colour}{value}" for colour in COLOURS for value in range(1, 13)]
NINES, PLAY, EXTRA, POWERS, STOP, OVER = range(1, 7)
IN, STOPPED, CRASHED = 1, 2, 3
MOST_DEALS = 20_000  # ways to deal hidden cards that are looked at


class Undecided(Exception):
    """Chance has to bring something: one of some results, all alike likely, or None: too many."""

    def __init__(self, results):
        super().__init__()
        self.results = results


def value(card):
    return int(card[1:])


def ordered(cards):
    return sorted(cards, key=CARDS.index)


def seats_of(state):
    return range(len(state["seats"]))


def inside(state):
    return [seat for seat in seats_of(state) if state["seats"][seat]["status"] == IN]


def clockwise(state, seats):
    """Seats in order from the Start token."""
    count = len(state["seats"])
    return sorted(seats, key=lambda seat: (seat - state["token"]) % count)


def sequential(options):
    return options["mode"] == "sequential"


def all_cards(state):
    return [card for card in CARDS if card[0] in [die["colour"] for die in state["dice"]]]


def is_valid(card, dice):
    """Whether a card is valid for dice, a dict from colours to what they show."""
    if card[0] not in dice:
        return False
    shown = dice[card[0]]
    if shown == value(card):
        return True
    return any(shown + dice[other] == value(card) for other in dice if other != card[0])


def usable(state, seat):
    reserved_by_others = [
        state["seats"][other].get("reserved") for other in seats_of(state) if other != seat
    ]
    return {
        die["colour"]: die["value"]
        for die in state["dice"]
        if die["colour"] not in reserved_by_others
    }


def valid_in_hand(state, seat):
    dice = usable(state, seat)
    return [card for card in state["hands"][seat]["cards"] if is_valid(card, dice)]


def hand_size(state, seat, options):
    return options["hand_size"] - len(state["seats"][seat]["played"])


def actors(state, options):
    if state["phase"] == OVER:
        return []
    if state["phase"] == EXTRA:
        return state["extra_plays"]
    if sequential(options) or state["phase"] in (NINES, POWERS):
        return clockwise(state, state["waiting"])[:1]
    return state["waiting"]


def legal_moves(state, seat, options):
    if seat not in actors(state, options):
        return []
    match state["phase"]:
        case 2:
            plays = typed_plays(state, seat)
            chance = [{"last_chance": {}}] * (not state["seats"][seat]["last_chance_used"])
            return plays or [{"crash": {}}, *chance]
        case 3:
            return [{"pass_on": {}}, *typed_plays(state, seat)]
        case 5:
            return [{"stop": {}}, {"more": {}}]
        case 1:
            dice = [die["colour"] for die in state["dice"] if not die.get("turned")]
            turns = [{"die": die} for die in dice] + [{"die": die, "down": True} for die in dice]
            return [{"pass_on": {}}, *({"turn": turn} for turn in turns)]
    swaps = value(state["seats"][seat]["power_card"]) == 10
    uses = exchanges(state, seat, options) if swaps else [{"use": {}}]
    return [{"pass_on": {}}, *uses]


def typed_plays(state, seat):
    return [{"play": {"card": card}} for card in valid_in_hand(state, seat)]


def exchanges(state, seat, options):
    pairs = [list(pair) for pair in combinations(state["hands"][seat]["cards"], 2)]
    others = [other for other in inside(state) if other != seat]
    if others:
        return [
            {"swap": {"opponent": other, "cards": pair}}
            for other in others
            if hand_size(state, other, options) >= 2
            for pair in pairs
        ]
    return [{"redraw": {"cards": pair}} for pair in pairs if state["pile_size"] >= 2]


def step(state, moves, options, chance):
    """The state after moves by seat; `chance(kind, state)` says what comes up."""
    state = deepcopy(state)
    phase = state["phase"]
    if phase in (PLAY, EXTRA, STOP) and not sequential(options):
        undecided = state["extra_plays" if phase == EXTRA else "waiting"]
        for seat, move in moves.items():
            undecided.remove(seat)
            state["seats"][seat]["choice"] = move
        if undecided:
            return state
        chosen = [seat for seat in seats_of(state) if "choice" in state["seats"][seat]]
        moves = {seat: state["seats"][seat].pop("choice") for seat in chosen}
    else:
        ((seat, move),) = moves.items()
        state["extra_plays" if phase == EXTRA else "waiting"].remove(seat)
    table = Table(state, options, chance)
    if phase == NINES:
        table.turn_die(seat, move)
    elif phase == POWERS:
        table.use_power(seat, move)
    elif phase == STOP:
        table.stop_or_go(moves)
    else:
        table.play(moves)
    return table.state


class Table:
    """A state on its way to the next decision."""

    def __init__(self, state, options, chance):
        self.state = state
        self.options = options
        self.chance = chance

    def turn_die(self, seat, move):
        if "turn" in move:
            for die in self.state["dice"]:
                if die["colour"] == move["turn"]["die"]:
                    turned = die["value"] + (-1 if move["turn"].get("down") else 1)
                    die["value"] = {0: 6, 7: 1}.get(turned, turned)
                    die["turned"] = True
        del self.state["seats"][seat]["power_card"]
        if not self.state["waiting"]:
            self.begin_plays()

    def begin_plays(self):
        self.state["phase"] = PLAY
        self.state["waiting"] = inside(self.state)

    def play(self, moves):
        state = self.state
        for seat, move in moves.items():
            me = state["seats"][seat]
            if "play" in move:
                self.play_card(seat, move["play"]["card"])
            elif "last_chance" in move:
                me["last_chance_used"] = True
                me["last_chance"] = {"dice": typed_dice(usable(state, seat))}
                self.tidy(seat)
            elif "crash" in move:
                me["status"] = CRASHED
                me["crash"] = {"dice": typed_dice(usable(state, seat))}
        if any(hand_size(state, seat, self.options) == 0 for seat in moves):
            self.finish()
        elif state["extra_plays"]:
            state["phase"] = EXTRA
        elif state["waiting"]:
            state["phase"] = PLAY
        elif self.options["preroll_powers"] == "before_stop":
            self.powers()
        else:
            self.clean_up()

    def play_card(self, seat, card):
        state = self.state
        me = state["seats"][seat]
        state["hands"][seat]["cards"].remove(card)
        me["played"] = ordered([*me["played"], card])
        for other in state["seats"]:
            forget(other, [card])
        for source in seats_of(state):
            if "last_chance" in state["seats"][source]:
                limits = self.limits(source)
                if is_valid(card, self.told(source)):
                    for viewer, holder in limits:
                        if holder == seat:
                            limits[viewer, holder] -= 1
                self.write_limits(source, limits)
        if self.options["powers"]:
            if value(card) == 1:
                state["extra_plays"] = sorted([*state["extra_plays"], seat])
            elif value(card) in (2, 9, 10, 11):
                me["power_card"] = card

    def powers(self):
        state = self.state
        state["phase"] = POWERS
        state["waiting"] = [
            seat
            for seat in seats_of(state)
            if "power_card" in state["seats"][seat]
            and value(state["seats"][seat]["power_card"]) != 9
        ]
        if not state["waiting"]:
            self.after_powers()

    def use_power(self, seat, move):
        me = self.state["seats"][seat]
        card = me.pop("power_card")
        if "use" in move:
            if value(card) == 11:
                self.state["golden_next"] = True
            elif self.options["preroll_powers"] == "before_stop":
                me["reserves_next"] = card[0]
            else:
                me["reserved"] = card[0]
        if "swap" in move:
            other = move["swap"]["opponent"]
            drawn = self.chance("swap", {"hand": self.state["hands"][other]["cards"]})
            self.exchange(seat, other, move["swap"]["cards"], drawn)
        if "redraw" in move:
            drawn = self.chance("redraw", {"hand": pile(self.state)})
            self.exchange(seat, "heap", move["redraw"]["cards"], drawn)
        if not self.state["waiting"]:
            self.after_powers()

    def exchange(self, seat, other, given, drawn):
        self.note_exchange(seat, other, given, drawn)
        hand = self.state["hands"][seat]
        hand["cards"] = ordered((set(hand["cards"]) - set(given)) | set(drawn))
        if other == "heap":
            heap = self.state["discard"]
            heap["cards"] = ordered([*heap["cards"], *given])
            self.state["pile_size"] -= 2
            self.state["seats"][seat]["knows"] = ordered(
                [*self.state["seats"][seat].get("knows", []), *given]
            )
        else:
            theirs = self.state["hands"][other]
            theirs["cards"] = ordered((set(theirs["cards"]) - set(drawn)) | set(given))
            for one, lost, got in ((seat, given, drawn), (other, drawn, given)):
                forget(self.state["seats"][one], got)
                set_unnoticed(self.state["seats"][one], set(), lost)
                known = self.state["seats"][one].get("knows", [])
                self.state["seats"][one]["knows"] = ordered([*known, *lost])

    def note_exchange(self, seat, other, given, drawn):
        """What all seats know of cards and limits, asked before the cards move."""
        state = self.state
        sizes = {one: self.holder_size(one) for one in (seat, other)}
        for viewer in seats_of(state):
            if viewer not in (seat, other):
                self.note_unseen_exchange(viewer, sizes, {*given, *drawn})
        moved = {seat: given, other: drawn}
        for source in seats_of(state):
            if "last_chance" not in state["seats"][source]:
                continue
            old = self.limits(source)
            dice = self.told(source)
            new = dict(old)
            for viewer in seats_of(state):
                for one, partner in ((seat, other), (other, seat)):
                    most = {a: min(old.get((viewer, a), 99), sizes[a]) for a in (one, partner)}
                    incoming = moved[partner]
                    # The heap only takes, the pile only gives.
                    outgoing = [] if one == "heap" else moved[one]
                    from_pile = partner == "heap"
                    if viewer in (seat, other):
                        left = most[one] - sum(is_valid(card, dice) for card in outgoing)
                        got = sum(is_valid(card, dice) for card in incoming)
                    else:
                        left = most[one]
                        got = 2 if from_pile else min(2, most[partner])
                    kept = sizes[one] - len(outgoing)
                    new[viewer, one] = min(left, kept) + got
            sizes_after = {**sizes, "heap": sizes.get("heap", 0) + 2}
            self.write_limits(source, new, sizes_after if other == "heap" else sizes)

    def note_unseen_exchange(self, viewer, sizes, moved):
        """What somebody who sees only that cards move knows of their places.

        That is no more sure of any card of a hand, unless all of them move; and who gets them
        then does not see that somebody else knows them.
        """
        knower = self.state["seats"][viewer]
        for one, size in sizes.items():
            if one != "heap" and size > 2:
                forget(knower, self.state["hands"][one]["cards"])
        if "heap" in sizes:
            set_unnoticed(knower, set(), moved)
        else:
            set_unnoticed(knower, moved, set())

    def holder_size(self, holder):
        if holder == "heap":
            heap = self.state["discard"]
            return len(heap["cards"]) + heap.get("hidden_count", 0)
        return hand_size(self.state, holder, self.options)

    def told(self, source):
        dice = self.state["seats"][source]["last_chance"]["dice"]
        return {die["colour"]: die["value"] for die in dice}

    def limits(self, source):
        return limits_of(self.state, source)

    def write_limits(self, source, limits, sizes=None):
        sizes = sizes or {}
        kept = {
            (viewer, holder): most
            for (viewer, holder), most in limits.items()
            if most < sizes.get(holder, self.holder_size(holder))
        }
        me = self.state["seats"][source]
        viewers = list(seats_of(self.state))
        if not kept:
            del me["last_chance"]
        elif kept == {(viewer, source): 0 for viewer in viewers}:
            me["last_chance"].pop("limits", None)
        else:
            records = []
            for holder in [*viewers, "heap"]:
                for most in range(self.options["hand_size"] + 1):
                    seeing = [v for v in viewers if kept.get((v, holder)) == most]
                    if seeing:
                        record = {"at_most": most}
                        if holder != "heap":
                            record["seat"] = holder
                        if seeing != viewers:
                            record["viewers"] = seeing
                        records.append(record)
            me["last_chance"]["limits"] = records

    def tidy(self, source):
        self.write_limits(source, self.limits(source))

    def after_powers(self):
        if self.options["preroll_powers"] == "before_stop":
            self.clean_up()
        else:
            self.state["turn"] += 1
            self.roll()

    def clean_up(self):
        state = self.state
        state["dice"] = [{"colour": d["colour"]} for d in state["dice"] if d["colour"] != "*"]
        for seat in state["seats"]:
            seat.pop("reserved", None)
            if "reserves_next" in seat:
                seat["reserved"] = seat.pop("reserves_next")
        state["token"] = (state["token"] + 1) % len(state["seats"])
        state["phase"] = STOP
        state["waiting"] = inside(state)
        if not state["waiting"]:
            self.end_round()

    def stop_or_go(self, moves):
        state = self.state
        for seat, move in moves.items():
            if "stop" in move:
                state["seats"][seat]["status"] = STOPPED
                state["seats"][seat].pop("power_card", None)
                state["seats"][seat].pop("reserved", None)
        if state["waiting"]:
            return
        if not inside(state):
            self.end_round()
        elif self.options["preroll_powers"] == "after_stop":
            self.powers()
        else:
            state["turn"] += 1
            self.roll()

    def end_round(self):
        state = self.state
        for seat in state["seats"]:
            if seat["status"] == STOPPED:
                seat["score"] += sum(self.options["stars"][value(c) - 1] for c in seat["played"])
        best = max(seat["score"] for seat in state["seats"])
        if best >= self.options["target"] or state["round"] == self.options["max_rounds"]:
            self.finish()
            return
        state["round"] += 1
        state["turn"] = 1
        state["golden_next"] = False
        state["discard"] = {"cards": []}
        hands = self.chance("deal", state)
        state["hands"] = [{"cards": ordered(hand)} for hand in hands]
        state["seats"] = [
            {
                "score": seat["score"],
                "status": IN,
                "last_chance_used": seat["last_chance_used"],
                "played": [],
            }
            for seat in state["seats"]
        ]
        state["pile_size"] = len(all_cards(state)) - sum(map(len, hands))
        self.roll()

    def roll(self):
        state = self.state
        colours = [die["colour"] for die in state["dice"]] + ["*"] * state["golden_next"]
        rolled = self.chance("roll", {"colours": colours, "turn": state["turn"]})
        state["dice"] = [{"colour": c, "value": v} for c, v in zip(colours, rolled, strict=True)]
        state["golden_next"] = False
        state["waiting"] = [s for s in seats_of(state) if "power_card" in state["seats"][s]]
        state["phase"] = NINES
        if not state["waiting"]:
            self.begin_plays()

    def finish(self):
        state = self.state
        state["phase"] = OVER
        state["waiting"] = []
        state["extra_plays"] = []
        state["golden_next"] = False
        state["dice"] = [{"colour": d["colour"]} for d in state["dice"] if d["colour"] != "*"]
        for seat in state["seats"]:
            for key in ("power_card", "reserved", "reserves_next"):
                seat.pop(key, None)


def typed_dice(dice):
    return [{"colour": colour, "value": dice[colour]} for colour in dice]


def forget(seat, cards):
    known = [card for card in seat.get("knows", []) if card not in cards]
    seat.pop("knows", None)
    if known:
        seat["knows"] = known
    set_unnoticed(seat, set(), set())


def set_unnoticed(seat, more, less):
    """Change of which cards that a seat knows in other hands the holders do not see that."""
    cards = {*seat.pop("unnoticed", []), *more} - {*less}
    cards &= {*seat.get("knows", [])}
    if cards:
        seat["unnoticed"] = ordered(cards)


def pile(state):
    elsewhere = {card for hand in state["hands"] for card in hand["cards"]}
    elsewhere |= {card for seat in state["seats"] for card in seat["played"]}
    elsewhere |= set(state["discard"]["cards"])
    return [card for card in all_cards(state) if card not in elsewhere]


def limits_of(state, source):
    """What the Last Chance of a seat tells: by viewer and holder, how many valid cards at most."""
    everybody = list(seats_of(state))
    told = state["seats"][source]["last_chance"]
    return {
        (viewer, limit.get("seat", "heap")): limit["at_most"]
        for limit in told.get("limits", [{"seat": source, "at_most": 0}])
        for viewer in limit.get("viewers", everybody)
    }


def successors(state, moves, options):
    """What a state can become: pairs of probability and state; None if there is too much."""
    if len(actors(state, options)) == 1:
        moves = {actors(state, options)[0]: moves}
    found = []

    def explore(script, probability):
        results = iter(script)

        def chance(kind, known):
            result = next(results, None)
            if result is None:
                raise Undecided(possible_results(kind, known))
            return result

        try:
            found.append((probability, step(state, moves, options, chance)))
        except Undecided as undecided:
            if undecided.results is None:
                raise
            for result in undecided.results:
                explore([*script, result], probability / len(undecided.results))

    try:
        explore([], Fraction(1))
    except Undecided:
        return None
    return found


def possible_results(kind, known):
    if kind == "deal":
        return None
    if kind == "roll":
        colours = known["colours"]
        return list(product(range(1, 7), repeat=len(colours))) if len(colours) < 5 else None
    return list(combinations(known["hand"], 2))


def observe(state, viewer, options):
    """What one seat may know of a full state."""
    state = deepcopy(state)
    seen = state["seats"][viewer].get("knows", [])
    own = state["hands"][viewer]["cards"]
    others = [hand for seat, hand in enumerate(state["hands"]) if seat != viewer]
    for place in [*others, state["discard"]]:
        known = [card for card in place["cards"] if card in seen]
        if len(known) < len(place["cards"]):
            place["hidden_count"] = len(place["cards"]) - len(known)
        place["cards"] = known
    table = Table(state, options, None)
    for number, seat in enumerate(state["seats"]):
        if number != viewer:
            unseen = seat.get("unnoticed", [])
            forget(seat, [c for c in seat.get("knows", []) if c not in own or c in unseen])
            if seat.pop("choice", None):
                seat["choice_hidden"] = True
        if "last_chance" in seat:
            told = {
                (other, holder): most
                for (seeing, holder), most in table.limits(number).items()
                if seeing == viewer and holder != viewer
                for other in seats_of(state)
            }
            table.write_limits(number, told)
    return state


def determinizations(observation, options):
    """All full states that a seat which sees this must think possible, with probabilities."""
    viewer = next(
        seat for seat in seats_of(observation) if "hidden_count" not in observation["hands"][seat]
    )
    places = [*observation["hands"], observation["discard"]]
    hidden = [
        (i, place["hidden_count"]) for i, place in enumerate(places) if "hidden_count" in place
    ]
    unseen = pile(observation)
    ways, left = 1, len(unseen)
    for _, count in hidden:
        ways *= math.comb(left, count)
        left -= count
    if ways > MOST_DEALS:
        return None
    deals = [observation]
    for place, count in hidden:
        deals = [
            with_cards(deal, place, cards)
            for deal in deals
            for cards in combinations(pile(deal), count)
        ]
    deals = [deal for deal in deals if agrees(deal, viewer)]
    return [
        (Fraction(1, len(deals)) * probability, state)
        for deal in deals
        for probability, state in with_choices(deal, options)
    ]


def with_cards(state, place, cards):
    places = [*state["hands"], state["discard"]]
    places[place] = {"cards": ordered([*places[place]["cards"], *cards])}
    return {**state, "hands": places[:-1], "discard": places[-1]}


def agrees(state, viewer):
    """Whether no seat holds what it showed not to hold."""
    for source, seat in enumerate(state["seats"]):
        if "crash" in seat:
            dice = {die["colour"]: die["value"] for die in seat["crash"]["dice"]}
            if any(is_valid(card, dice) for card in state["hands"][source]["cards"]):
                return False
        if "last_chance" in seat:
            dice = {die["colour"]: die["value"] for die in seat["last_chance"]["dice"]}
            for (seeing, holder), most in limits_of(state, source).items():
                place = state["discard"] if holder == "heap" else state["hands"][holder]
                held = sum(is_valid(card, dice) for card in place["cards"])
                if seeing == viewer and held > most:
                    return False
    return True


def with_choices(state, options):
    """The state with each hidden choice any of the legal moves."""
    for seat in seats_of(state):
        if state["seats"][seat].get("choice_hidden"):
            before = deepcopy(state)
            del before["seats"][seat]["choice_hidden"]
            before["extra_plays" if state["phase"] == EXTRA else "waiting"].append(seat)
            moves = legal_moves(before, seat, options)
            found = []
            for move in moves:
                after = deepcopy(state)
                del after["seats"][seat]["choice_hidden"]
                after["seats"][seat]["choice"] = move
                found += [(p / len(moves), full) for p, full in with_choices(after, options)]
            return found
    return [(Fraction(1), state)]


def symmetries(state, options):
    """Seats one on; two colours in use exchanged, where none is named by the options."""
    count = len(state["seats"])
    same = tuple(range(count))
    one_on = tuple((seat + 1) % count for seat in same)
    found = [(image(state, one_on, {}), one_on, lambda move: image(move, one_on, {}))]
    if options["removed_colour"] == "random":
        first, second = [die["colour"] for die in state["dice"]][:2]
        swap = {first: second, second: first}
        found.append((image(state, same, swap), same, lambda move: image(move, same, swap)))
    return found


def in_order(part):
    """Where a die, card or seat comes among others of its sort."""
    if isinstance(part, dict):
        return (COLOURS + "*").index(part["colour"])
    return CARDS.index(part) if isinstance(part, str) else part


SEAT_KEYS = ("token", "seat", "opponent", "waiting", "extra_plays", "viewers")
SEAT_LISTS = ("hands", "seats")


def image(record, places, colours, key=""):
    """A state or move with its seats moved and its colours exchanged."""
    if isinstance(record, dict):
        return {name: image(part, places, colours, name) for name, part in record.items()}
    if isinstance(record, list):
        parts = [image(part, places, colours, key) for part in record]
        if key in SEAT_LISTS:
            return [parts[places.index(seat)] for seat in range(len(parts))]
        return parts if key == "limits" else sorted(parts, key=in_order)
    if isinstance(record, str):
        return colours.get(record[0], record[0]) + record[1:]
    return places[record] if key in SEAT_KEYS else record


def win_shares(state, options):
    empty = [hand_size(state, seat, options) == 0 for seat in seats_of(state)]
    if any(empty):
        return [Fraction(slam, sum(empty)) for slam in empty]
    scores = [seat["score"] for seat in state["seats"]]
    best = max(scores)
    return [1 / scores.count(best) if score == best else 0.0 for score in scores]
