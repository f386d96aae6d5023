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
                if state["exchanges"]:
                    me["last_chance"]["exchanges"] = len(state["exchanges"])
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
        before = state["exchanges"][-1]["played"][seat] if state["exchanges"] else 0
        me["played"][before:] = ordered([*me["played"][before:], card])
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
        state = self.state
        record = {
            "seat": seat,
            "given": ordered(given),
            "drawn": ordered(drawn),
            "played": [len(belongings["played"]) for belongings in state["seats"]],
        }
        if other == "heap":
            state["pile_size"] -= 2
        else:
            record["opponent"] = other
        state["exchanges"].append(record)
        holds = with_moved(holdings(state), transfers(record))
        for place, hand in enumerate(state["hands"]):
            hand["cards"] = ordered(holds[place])
        state["discard"]["cards"] = ordered(holds["heap"])

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
        state["exchanges"] = []
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


def holdings(state):
    """The cards in each hand and on the discard heap, as sets."""
    holds = {seat: {*hand["cards"]} for seat, hand in enumerate(state["hands"])}
    return {**holds, "heap": {*state["discard"]["cards"]}, "pile": {*pile(state)}}


def sides(exchange):
    """Who asked and who gave, and where the cards given went."""
    if "opponent" in exchange:
        return exchange["seat"], exchange["opponent"], exchange["opponent"]
    return exchange["seat"], "pile", "heap"


def transfers(exchange):
    """What went from where to where."""
    seat, giver, taker = sides(exchange)
    return [(exchange["given"], seat, taker), (exchange["drawn"], giver, seat)]


def with_moved(holds, moves):
    """Holdings after cards were moved; None if they were not there."""
    holds = {**holds}
    if not all(holds[source] >= {*cards} for cards, source, _ in moves):
        return None
    for cards, source, target in moves:
        holds[source] = holds[source] - {*cards}
        holds[target] = holds[target] | {*cards}
    return holds


def played_between(state, step):
    """By seat, the cards played after `step` exchanges and before the next one."""
    counts = [[0 for _ in seats_of(state)]]
    counts += [exchange["played"] for exchange in state["exchanges"]]
    counts.append([len(seat["played"]) for seat in state["seats"]])
    return {
        seat: {*state["seats"][seat]["played"][counts[step][seat] : counts[step + 1][seat]]}
        for seat in seats_of(state)
    }


def size_before(state, holder, step):
    """The cards that somebody held just before an exchange."""
    if holder == "heap":
        return 2 * sum("opponent" not in earlier for earlier in state["exchanges"][:step])
    later = state["seats"][holder]["played"][state["exchanges"][step]["played"][holder] :]
    hand = state["hands"][holder]
    return len(hand["cards"]) + hand.get("hidden_count", 0) + len(later)


def known_cards(viewer, exchanges):
    """The cards whose place a seat has learned: those that it gave away and did not get back."""
    known = set()
    for exchange in exchanges:
        seat, giver, _ = sides(exchange)
        if viewer == seat:
            known = (known | {*exchange["given"]}) - {*exchange["drawn"]}
        elif viewer == giver:
            known = (known | {*exchange["drawn"]}) - {*exchange["given"]}
    return known


def sure_places(state, viewer):
    """The cards in other places of which a seat can be sure, by place.

    All is followed that can have become of the cards that it gave away.
    """
    worlds = [{}]  # where those cards may be, card by card
    for step in range(len(state["exchanges"]) + 1):
        for seat, cards in played_between(state, step).items():
            worlds = [w for w in worlds if all(w.get(card, seat) == seat for card in cards)]
            worlds = [{c: place for c, place in w.items() if c not in cards} for w in worlds]
        worlds = [w for w in worlds if fits_last_chances(state, step, w)]
        if step < len(state["exchanges"]):
            exchange = state["exchanges"][step]
            worlds = [after for w in worlds for after in moved(state, step, w, viewer, exchange)]
    worlds = [w for w in worlds if fits_crashes(state, w)]
    first, *others = worlds
    sure = {c: place for c, place in first.items() if all(w[c] == place for w in others)}
    return {p: {c for c in sure if sure[c] == p} for p in [*seats_of(state), "heap"]}


def moved(state, step, world, viewer, exchange):
    seat, giver, taker = sides(exchange)
    if viewer in (seat, giver):
        own, other = exchange["given"], exchange["drawn"]
        other_side, place = giver, taker
        if viewer == giver:
            own, other = other, own
            other_side, place = seat, seat
        if any(world.get(card, other_side) != other_side for card in other):
            return
        kept = {card: where for card, where in world.items() if card not in other}
        yield {**kept, **dict.fromkeys(own, place)}
        return
    at = {side: [c for c, where in world.items() if where == side] for side in (seat, giver)}
    for out in at_most_two(at[seat]):
        for back in at_most_two(at[giver]):
            staying = ((seat, out), (giver, back))
            if all(
                side == "pile" or len(at[side]) - len(gone) <= size_before(state, side, step) - 2
                for side, gone in staying
            ):
                yield {**world, **dict.fromkeys(out, taker), **dict.fromkeys(back, seat)}


def at_most_two(cards):
    return [subset for count in range(3) for subset in combinations(cards, count)]


def told(state, seat, key):
    return {die["colour"]: die["value"] for die in state["seats"][seat][key]["dice"]}


def fits_last_chances(state, step, world):
    """Whether no seat that used its Last Chance then held a valid card."""
    return not any(
        is_valid(card, told(state, seat, "last_chance"))
        for card, seat in world.items()
        if seat != "heap"
        and "last_chance" in state["seats"][seat]
        and state["seats"][seat]["last_chance"].get("exchanges", 0) == step
    )


def fits_crashes(state, world):
    return not any(
        seat != "heap"
        and "crash" in state["seats"][seat]
        and is_valid(card, told(state, seat, "crash"))
        for card, seat in world.items()
    )


def pile(state):
    elsewhere = {card for hand in state["hands"] for card in hand["cards"]}
    elsewhere |= {card for seat in state["seats"] for card in seat["played"]}
    elsewhere |= set(state["discard"]["cards"])
    return [card for card in all_cards(state) if card not in elsewhere]


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
    for exchange in state["exchanges"]:
        if viewer not in sides(exchange):
            exchange.pop("given", None)
            exchange.pop("drawn", None)
    sure = sure_places(state, viewer)
    own = [exchange for exchange in state["exchanges"] if exchange["seat"] == viewer]
    sure["heap"] = {card for redraw in own if "opponent" not in redraw for card in redraw["given"]}
    for place, hand in [*enumerate(state["hands"]), ("heap", state["discard"])]:
        if place != viewer:
            shown = [card for card in hand["cards"] if card in sure[place]]
            if len(shown) < len(hand["cards"]):
                hand["hidden_count"] = len(hand["cards"]) - len(shown)
            hand["cards"] = shown
    for number, seat in enumerate(state["seats"]):
        if number != viewer and seat.pop("choice", None):
            seat["choice_hidden"] = True
    return state


def determinizations(observation, options):
    """All full states that a seat which sees this must think possible, with probabilities.

    All deals are alike likely, and so are all cards that a swap or redraw can have moved.
    """
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
    worlds = [
        {**deal, "exchanges": exchanges}
        for deal in deals
        if fits_crashes(deal, {c: seat for seat in seats_of(deal) for c in holdings(deal)[seat]})
        for exchanges in histories(deal, len(deal["exchanges"]), holdings(deal), viewer)
    ]
    return [
        (Fraction(1, len(worlds)) * probability, state)
        for world in worlds
        for probability, state in with_choices(world, options)
    ]


def histories(state, steps, holds, viewer):
    """What can have been exchanged in the first steps, if `holds` says who held what then."""
    hands = {card: seat for seat in seats_of(state) for card in holds[seat]}
    if not fits_last_chances(state, steps, hands):
        return
    holds = {**holds}
    for seat, cards in played_between(state, steps).items():
        holds[seat] = holds[seat] | cards
    if steps == 0:
        yield []
        return
    exchange = state["exchanges"][steps - 1]
    seat, _, taker = sides(exchange)
    seen = "given" in exchange
    for given in [exchange["given"]] if seen else combinations(ordered(holds[taker]), 2):
        for drawn in [exchange["drawn"]] if seen else combinations(ordered(holds[seat]), 2):
            filled = {**exchange, "given": [*given], "drawn": [*drawn]}
            undone = [(cards, to, source) for cards, source, to in transfers(filled)]
            before = with_moved(holds, undone)
            earlier = known_cards(viewer, state["exchanges"][: steps - 1])
            # Cards that the viewer knew were with others then, and not in the pile.
            if before and not earlier & before["pile"]:
                for first in histories(state, steps - 1, before, viewer):
                    yield [*first, filled]


def with_cards(state, place, cards):
    places = [*state["hands"], state["discard"]]
    places[place] = {"cards": ordered([*places[place]["cards"], *cards])}
    return {**state, "hands": places[:-1], "discard": places[-1]}


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


SEAT_KEYS = ("token", "seat", "opponent", "waiting", "extra_plays")
SEAT_LISTS = ("hands", "seats")
IN_TIME = ("exchanges", "played")


def image(record, places, colours, key=""):
    """A state or move with its seats moved and its colours exchanged."""
    if isinstance(record, dict):
        return {name: image(part, places, colours, name) for name, part in record.items()}
    if isinstance(record, list):
        parts = [image(part, places, colours, key) for part in record]
        if key in SEAT_LISTS or (key == "played" and parts and isinstance(parts[0], int)):
            return [parts[places.index(seat)] for seat in range(len(parts))]
        return parts if key in IN_TIME else sorted(parts, key=in_order)
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
