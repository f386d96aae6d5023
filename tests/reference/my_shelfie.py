"""My Shelfie again, slowly and plainly, from its rules page; for tests to compare with.

States and moves are the typed records of the wire. Probabilities are exact fractions.
"""

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import combinations, product

CASES = [
    ("my_shelfie", {}),
    ("my_shelfie", {"players": 3, "end": "immediate", "values": [n * n % 23 for n in range(25)]}),
    ("my_shelfie", {"players": 4}),
]

ITEMS = ("plants", "games", "books", "trophies", "cats")
FACES = (*ITEMS, "jokers")
BLANK, CIRCLED, CROSSED = 0, 1, 2
ROWS = [[5 * row + column for column in range(5)] for row in range(5)]
COLUMNS = [[5 * row + column for row in range(5)] for column in range(5)]
LINES = ROWS + COLUMNS


def blanks(sheet):
    return [space for space in range(25) if sheet["spaces"][space] == BLANK]


def can_pay(dice, spaces):
    """Whether dice pay for a set of spaces, by trying where jokers stand in."""
    if dice["jokers"] == 6:
        return len(spaces) == 1
    for jokers in product((0, 1), repeat=len(spaces)):
        used = Counter(jokers=sum(jokers))
        allowed = True
        for space, joker in zip(spaces, jokers, strict=True):
            row, column = divmod(space, 5)
            used[ITEMS[row]] += column + 1 - joker
            allowed = allowed and not (joker and column == 0)
        if allowed and all(used[face] <= dice[face] for face in FACES):
            return True
    return False


def circle_sets(sheet, dice):
    single = [space for space in blanks(sheet) if can_pay(dice, [space])]
    return [
        spaces
        for count in (1, 2, 3)
        for spaces in combinations(single, count)
        if can_pay(dice, spaces)
    ]


def rows_to_cross(sheet):
    return [row for row in range(5) if any(sheet["spaces"][s] == BLANK for s in ROWS[row])]


def typed_circles(spaces):
    return {"circle": {"spaces": [{"row": space // 5, "column": space % 5} for space in spaces]}}


def legal_moves(state):
    if "seat_to_act" not in state:
        return []
    sheet = state["sheets"][state["seat_to_act"]]
    dice = state["dice"]
    if state["rerolls"] > 0:
        choices = product(*(range(dice[face] + 1) for face in FACES))
        return [{"keep": dict(zip(FACES, counts, strict=True))} for counts in choices]
    circles = [typed_circles(spaces) for spaces in circle_sets(sheet, dice)]
    return circles or [{"cross": {"row": row}} for row in rows_to_cross(sheet)]


@cache
def rolls(count):
    """All outcomes of rolling so many dice: pairs of probability and counts by face."""
    found = Counter(
        tuple(roll.count(face) for face in range(6)) for roll in product(range(6), repeat=count)
    )
    return [(Fraction(ways, 6**count), counts) for counts, ways in sorted(found.items())]


def circled_lines(sheet):
    return [line for line in LINES if all(sheet["spaces"][space] == CIRCLED for space in line)]


def changed(sheet, spaces, mark):
    result = list(sheet["spaces"])
    for space in spaces:
        assert result[space] == BLANK
        result[space] = mark
    return {"spaces": result}


def mark(sheets, seat, move):
    """All sheets after a circle or cross move and the blocks that follow."""
    sheets = list(sheets)
    old = sheets[seat]
    if "cross" in move:
        row = ROWS[move["cross"]["row"]]
        sheets[seat] = changed(old, [s for s in row if s in blanks(old)], CROSSED)
        return sheets
    spaces = [5 * space["row"] + space["column"] for space in move["circle"]["spaces"]]
    sheets[seat] = changed(old, spaces, CIRCLED)
    for line in circled_lines(sheets[seat]):
        if line not in circled_lines(old):
            for other in range(len(sheets)):
                if other != seat:
                    blocked = [space for space in line if space in blanks(sheets[other])]
                    sheets[other] = changed(sheets[other], blocked, CROSSED)
    return sheets


def rows_without_blank(sheet):
    return sum(all(sheet["spaces"][space] != BLANK for space in row) for row in ROWS)


def next_turn(sheets, seat, start, options):
    """What follows a turn of `seat`: pairs of probability and state."""
    triggered = any(rows_without_blank(sheet) >= 2 for sheet in sheets)
    following = (seat + 1) % len(sheets)
    if triggered and (options["end"] == "immediate" or following == start):
        return [(Fraction(1), {"sheets": sheets, "rerolls": 0, "start_seat": start})]
    if not blanks(sheets[following]):
        return next_turn(sheets, following, start, options)
    return [
        (probability, decision(sheets, following, start, counts, 2))
        for probability, counts in rolls(6)
    ]


def decision(sheets, seat, start, counts, rerolls):
    return {
        "sheets": sheets,
        "dice": dict(zip(FACES, counts, strict=True)),
        "rerolls": rerolls,
        "seat_to_act": seat,
        "start_seat": start,
    }


def successors(state, move, options):
    """What a state can become: pairs of probability and state."""
    seat, start = state["seat_to_act"], state["start_seat"]
    if "keep" not in move:
        return next_turn(mark(state["sheets"], seat, move), seat, start, options)
    kept = [move["keep"].get(face, 0) for face in FACES]
    if sum(kept) == 6:
        return [(Fraction(1), {**state, "rerolls": 0})]
    return [
        (
            probability,
            decision(
                state["sheets"],
                seat,
                start,
                [a + b for a, b in zip(kept, rolled, strict=True)],
                state["rerolls"] - 1,
            ),
        )
        for probability, rolled in rolls(6 - sum(kept))
    ]


def determinizations(observation, options):
    """Nothing is hidden."""
    return [(Fraction(1), observation)]


def symmetries(state, options):
    """Seats one on; plants and games exchanged, where their spaces have the same values."""
    count = len(state["sheets"])
    one_on = {
        **state,
        "sheets": [*state["sheets"][-1:], *state["sheets"][:-1]],
        "start_seat": (state["start_seat"] + 1) % count,
    }
    if "seat_to_act" in state:
        one_on["seat_to_act"] = (state["seat_to_act"] + 1) % count
    same = tuple(range(count))
    found = [(one_on, tuple((seat + 1) % count for seat in same), lambda move: move)]
    if options["values"][:5] == options["values"][5:10]:
        sheets = [
            {"spaces": [*spaces[5:10], *spaces[:5], *spaces[10:]]}
            for spaces in (sheet["spaces"] for sheet in state["sheets"])
        ]
        exchanged = {**state, "sheets": sheets}
        if "dice" in state:
            exchanged["dice"] = exchange_faces(state["dice"])
        found.append((exchanged, same, exchange_items))
    return found


def exchange_faces(dice):
    return {{"plants": "games", "games": "plants"}.get(face, face): dice[face] for face in dice}


def exchange_items(move):
    if "keep" in move:
        return {"keep": exchange_faces(move["keep"])}
    rows = {0: 1, 1: 0}
    if "cross" in move:
        return {"cross": {"row": rows.get(move["cross"]["row"], move["cross"]["row"])}}
    spaces = [
        {**space, "row": rows.get(space["row"], space["row"])} for space in move["circle"]["spaces"]
    ]
    return typed_circles(sorted(5 * space["row"] + space["column"] for space in spaces))


def score(sheet, options):
    total = 0
    for line in LINES:
        circled = [space for space in line if sheet["spaces"][space] == CIRCLED]
        if len(circled) >= 3:
            total += sum(options["values"][space] for space in circled)
    return total


def win_shares(state, options):
    scores = [score(sheet, options) for sheet in state["sheets"]]
    best = max(scores)
    return [1 / scores.count(best) if points == best else 0.0 for points in scores]
