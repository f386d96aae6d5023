"""Generator again, slowly and plainly, from its rules page; for tests to compare with.

States and moves are the typed records of the wire. Inside, a board is a dict from the names of
the occupied nodes to (seat, pieces), the pieces as text with the top one first.
"""

from fractions import Fraction
from functools import partial
from itertools import permutations, product

CASES = [
    ("generator", {"max_rolls": 100}),
    ("generator", {"players": 3, "horizontal": "adjacent", "forced_move": True, "max_rolls": 50}),
    ("generator", {"players": 4, "sub_towers": True, "enter_stacks": True, "max_rolls": 50}),
]

COLOURS = "GRYB"
SIZES = "SML"  # ascending
SEATS = {2: "GY", 3: "GRY", 4: "GRYB"}
DEEPEST = {"L": 2, "M": 3, "S": 4}
NODES = ["".join(path) for level in range(1, 5) for path in product(COLOURS, repeat=level)]
WHOLE, TOP, UPPER_TWO = 1, 2, 3

DEFAULTS = {
    "players": 2,
    "horizontal": "any_corner",
    "forced_move": False,
    "sub_towers": False,
    "enter_stacks": False,
    "max_rolls": 2000,
}


def smaller(a, b):
    return SIZES.index(a) < SIZES.index(b)


def board_of(state):
    return {
        stack["node"]: (seat, stack["pieces"])
        for seat, side in enumerate(state["seats"])
        for stack in side.get("stacks", [])
    }


def stash_of(board, seat):
    """The pieces of a seat that are not on the board, by size."""
    placed = "".join(pieces for owner, pieces in board.values() if owner == seat)
    return {size: 5 - placed.count(size) for size in SIZES}


def destinations(node, colour, options):
    found = []
    here = node[-1]
    if here != colour:
        steps = (COLOURS.index(colour) - COLOURS.index(here)) % 4
        if options["horizontal"] == "any_corner" or steps in (1, 3):
            found.append(node[:-1] + colour)
    if len(node) < 4:
        found.append(node + colour)
    if len(node) > 1 and node[-2] == colour:
        found.append(node[:-1])
    return found


def units(pieces, options):
    found = [(WHOLE, pieces)]
    if len(pieces) > 1:
        found.append((TOP, pieces[0]))
    if len(pieces) == 3 and options["sub_towers"]:
        found.append((UPPER_TWO, pieces[:2]))
    return found


def may_land(board, seat, unit, node):
    """What the landing table of the rules page says."""
    if len(node) > DEEPEST[unit[-1]]:
        return False
    if node not in board:
        return True
    owner, standing = board[node]
    bottom, top = unit[-1], standing[0]
    if owner == seat:
        return smaller(bottom, top)
    if len(standing) == 1:
        return smaller(bottom, top) or (bottom == "S" and top == "S")
    if top == "S":
        return False
    assert standing == "ML"
    return bottom == "S"


def entries(board, seat, own, options):
    if own in board and board[own][0] == seat and not options["enter_stacks"]:
        return []
    return [
        {"enter": {"size": size}}
        for size, left in stash_of(board, seat).items()
        if left > 0 and may_land(board, seat, size, own)
    ]


def steps(board, seat, rolled, options):
    return [
        {"step": {"from_node": node, "to_node": target, "unit": unit}}
        for node, (owner, pieces) in board.items()
        if owner == seat
        for unit, moving in units(pieces, options)
        for target in destinations(node, rolled, options)
        if may_land(board, seat, moving, target)
    ]


def legal_moves(state, options):
    if "seat_to_act" not in state:
        return []
    seat, rolled = state["seat_to_act"], state["rolled"]
    board = board_of(state)
    own = SEATS[options["players"]][seat]
    found = steps(board, seat, rolled, options)
    if rolled == own:
        found += entries(board, seat, own, options)
    if not options["forced_move"] or not found:
        found.append({"pass_turn": {}})
    return found


def has_won(board, seat, own):
    """L on level 2, M on 3, S on 4, own colour, three branches, none of them the own one."""
    places = {
        size: [
            node
            for node, (owner, pieces) in board.items()
            if owner == seat
            and size in pieces
            and len(node) == level
            and node[-1] == own
            and node[0] != own
        ]
        for size, level in DEEPEST.items()
    }
    return any(
        len({large[0], medium[0], small[0]}) == 3
        for large, medium, small in product(places["L"], places["M"], places["S"])
    )


def in_place(board, seat, own):
    """The most of the three winning pieces that are in place in different branches."""
    best = 0
    for branches in permutations(set(COLOURS) - {own}):
        best = max(best, sum(
            any(
                owner == seat
                and size in pieces
                and len(node) == DEEPEST[size]
                and node[0] == branch
                and node[-1] == own
                for node, (owner, pieces) in board.items()
            )
            for size, branch in zip("LMS", branches, strict=True)
        ))  # fmt: skip
    return best


def successors(state, move, options):
    """What the state can become: pairs of probability and state."""
    seat = state["seat_to_act"]
    own = SEATS[options["players"]][seat]
    board = board_of(state)
    target = moving = None
    if "enter" in move:
        target, moving = own, move["enter"]["size"]
    elif "step" in move:
        origin, target = move["step"]["from_node"], move["step"]["to_node"]
        _, pieces = board.pop(origin)
        moving = dict(units(pieces, options))[move["step"]["unit"]]
        if moving != pieces:
            board[origin] = (seat, pieces[len(moving) :])
    captured = False
    if target is not None:
        owner, standing = board.get(target, (seat, ""))
        if owner == seat:
            board[target] = (seat, moving + standing)
        else:
            board[target] = (seat, moving)
            captured = True
    if has_won(board, seat, own) or state["rolls"] == options["max_rolls"]:
        return [(Fraction(1), write(board, options, state["rolls"]))]
    following = seat if captured else (seat + 1) % options["players"]
    return [
        (Fraction(1, 4), write(board, options, state["rolls"] + 1, following, colour))
        for colour in COLOURS
    ]


def determinizations(observation, options):
    """The state itself: nothing is hidden."""
    return [(Fraction(1), observation)]


def symmetries(state, options):
    """The colours turned until seats meet seats again, and mirrored with two seats."""
    colours = SEATS[options["players"]]
    images = {2: ["YBGR", "GBYR"], 3: [], 4: ["RYBG"]}[options["players"]]
    found = []
    for image in images:
        new = dict(zip(COLOURS, image, strict=True))
        places = tuple(colours.index(new[colour]) for colour in colours)
        board = {
            recoloured(node, new): (places[seat], pieces)
            for node, (seat, pieces) in board_of(state).items()
        }
        turn = ()
        if "seat_to_act" in state:
            turn = (places[state["seat_to_act"]], new[state["rolled"]])
        found.append(
            (write(board, options, state["rolls"], *turn), places, partial(recolour, new=new))
        )
    return found


def recoloured(node, new):
    return "".join(new[letter] for letter in node)


def recolour(move, new):
    if "step" not in move:
        return move
    nodes = {key: recoloured(move["step"][key], new) for key in ("from_node", "to_node")}
    return {"step": {**move["step"], **nodes}}


def write(board, options, rolls, seat=None, rolled=None):
    colours = SEATS[options["players"]]
    sides = []
    for side, colour in enumerate(colours):
        stash = stash_of(board, side)
        stacks = [
            {"node": node, "pieces": board[node][1]}
            for node in NODES
            if node in board and board[node][0] == side
        ]
        sides.append(
            {
                "colour": colour,
                "stacks": stacks,
                "stash": {"small": stash["S"], "medium": stash["M"], "large": stash["L"]},
            }
        )
    state = {"seats": sides, "rolls": rolls}
    if seat is not None:
        state |= {"seat_to_act": seat, "rolled": rolled}
    return state


def win_shares(state, options):
    board = board_of(state)
    players = len(state["seats"])
    winners = [
        seat for seat, own in enumerate(SEATS[players]) if has_won(board, seat, own)
    ] or range(players)
    return [1 / len(winners) if seat in winners else 0.0 for seat in range(players)]


def scores(state):
    board = board_of(state)
    return [in_place(board, seat, own) for seat, own in enumerate(SEATS[len(state["seats"])])]
