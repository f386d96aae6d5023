"""The rules of Generator: what its rules page says, and the compiled code against the reference."""

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aleator.search import Position
from aleator.search.games import codec
from tests.reference import generator as reference

OPTIONS = st.fixed_dictionaries(
    {
        "players": st.sampled_from([2, 3, 4]),
        "horizontal": st.sampled_from(["any_corner", "adjacent"]),
        "forced_move": st.booleans(),
        "sub_towers": st.booleans(),
        "enter_stacks": st.booleans(),
        "max_rolls": st.sampled_from([60, 2000]),
    }
)


def moves_of(board, rolled="R", seat=0, **options):
    """The notation of all moves but passing."""
    extra = "".join(f" {name}={str(value).lower()}" for name, value in options.items())
    position = Position.parse(f"generator {board} {seat} {rolled} 50{extra}")
    return {move.notation for move in position.moves()} - {"pass"}


def play(notation, *moves, rolled="B"):
    """The notation after moves, each followed by the same roll."""
    position = Position.parse(f"generator {notation}")
    for move in moves:
        (seat,) = position.seats_to_act
        found = {seat: position.find_move(move)}
        position, _ = position.apply(found, outcome={"rolled": rolled})
    return position.notation.removeprefix("generator ")


def test_board():
    rules = codec("generator").rules
    rods = set()
    for origin in range(340):
        for target in range(340):
            try:
                assert rules.step_parts(rules.step(origin, target, 1)) == (origin, target, 1)
            except ValueError:
                continue
            rods.add(frozenset((origin, target)))
    levels = [range(4), range(4, 20), range(20, 84), range(84, 340)]

    def level(node):
        return next(number for number, nodes in enumerate(levels, 1) if node in nodes)

    vertical = [rod for rod in rods if len({*map(level, rod)}) == 2]
    # A quadrangle is drawn as a cycle of four rods; any corner can be reached in one move, so
    # that two diagonals are added to each cycle.
    assert len(vertical) == 336
    assert len(rods) - len(vertical) == 340 + 2 * 85


@pytest.mark.parametrize(
    ("rolled", "expected"),
    [
        ("G", {"G-GG"}),
        ("R", {"G-R", "G-GR"}),
        ("Y", {"G-GY"}),  # a medium cannot capture the medium on Y
        ("B", {"G-B", "G-GB"}),
    ],
)
def test_opening(rolled, expected):
    position = Position.create("generator", seed=1, start_seat=0)
    board = position.notation.split(" ")[1]
    assert board == "G:M/Y:M"
    opening = Position.parse(f"generator {board} 0 {rolled} 1")
    assert {move.notation for move in opening.moves()} == expected | {"pass"}


@pytest.mark.parametrize(
    ("board", "rolled", "options", "expected"),
    [
        # Horizontal, down, up; never along a rod to another colour.
        ("RG:S/-", "R", {}, {"RG-RR", "RG-RGR", "RG-R"}),
        ("RG:S/-", "Y", {}, {"RG-RY", "RG-RGY"}),
        ("RG:S/-", "G", {}, {"RG-RGG", "enter:S", "enter:M", "enter:L"}),
        ("RRR:S/-", "R", {}, {"RRR-RR", "RRR-RRRR"}),
        ("RG:S/-", "Y", {"horizontal": "adjacent"}, {"RG-RGY"}),
        ("RG:S/-", "B", {"horizontal": "adjacent"}, {"RG-RB", "RG-RGB"}),
        ("RB:S/-", "G", {"horizontal": "adjacent", "enter_stacks": True},
         {"RB-RG", "RB-RBG", "enter:S", "enter:M", "enter:L"}),
        ("RY:S/-", "B", {"horizontal": "adjacent"}, {"RY-RB", "RY-RYB"}),
        # Pieces in between do not block.
        ("RG:S/RR:L,RB:L", "Y", {}, {"RG-RY", "RG-RGY"}),
        # Branches meet only on level 1.
        ("R:S/-", "B", {}, {"R-B", "R-RB"}),
        # How deep the sizes go, by the largest piece of the unit.
        ("YB:L/-", "R", {}, {"YB-YR"}),
        ("YB:M/-", "R", {}, {"YB-YR", "YB-YBR"}),
        ("YBB:M/-", "R", {}, {"YBB-YBR"}),
        ("YBB:S/-", "R", {}, {"YBB-YBR", "YBB-YBBR"}),
        ("YBBB:S/-", "R", {}, {"YBBB-YBBR"}),
        ("YB:SL/-", "R", {}, {"YB-YR", "YB-YR:top", "YB-YBR:top"}),
        ("YBB:SM/-", "R", {}, {"YBB-YBR", "YBB-YBR:top", "YBB-YBBR:top"}),
        # The whole tower or its top.
        ("YB:SML/-", "R", {}, {"YB-YR", "YB-YR:top", "YB-YBR:top"}),
        ("YB:SML/-", "R", {"sub_towers": True},
         {"YB-YR", "YB-YR:top", "YB-YR:two", "YB-YBR:top", "YB-YBR:two"}),
        ("YB:ML,YR:L/-", "R", {"sub_towers": True}, {"YB-YR:top", "YB-YBR:top"}),
        ("YB:SML,YR:L/-", "R", {"sub_towers": True},
         {"YB-YR:top", "YB-YR:two", "YB-YBR:top", "YB-YBR:two"}),
        # Entering: own colour, own stash, start node.
        ("-/-", "G", {}, {"enter:S", "enter:M", "enter:L"}),
        ("-/-", "Y", {}, set()),
        ("G:L/-", "G", {}, {"G-GG"}),
        ("G:L/-", "G", {"enter_stacks": True}, {"G-GG", "enter:S", "enter:M"}),
        ("G:ML/-", "G", {"enter_stacks": True}, {"G-GG", "G-GG:top", "enter:S"}),
        ("G:S/-", "G", {"enter_stacks": True}, {"G-GG"}),
        ("-/G:S", "G", {}, {"enter:S"}),
        ("-/G:M", "G", {}, {"enter:S"}),
        ("-/G:L", "G", {}, {"enter:S", "enter:M"}),
        ("-/G:ML", "G", {}, {"enter:S"}),
        ("-/G:SL", "G", {}, set()),
        ("-/G:SM", "G", {"enter_stacks": True}, set()),
        ("GR:L,GY:L,GB:L,YY:L,YB:L/-", "G", {},
         {"enter:S", "enter:M", "GR-GG", "GR-G", "GY-GG", "GY-G", "GB-GG", "GB-G", "YY-YG",
          "YB-YG"}),
    ],
)  # fmt: skip
def test_where_pieces_go(board, rolled, options, expected):
    assert moves_of(board, rolled, **options) == expected


@pytest.mark.parametrize(
    ("moving", "whose", "standing", "lands"),
    [
        # One's own: stacks if smaller than the top piece.
        ("S", "own", "M", True), ("S", "own", "L", True), ("M", "own", "L", True),
        ("S", "own", "S", False), ("M", "own", "M", False), ("L", "own", "L", False),
        ("M", "own", "S", False), ("L", "own", "S", False), ("L", "own", "M", False),
        ("S", "own", "ML", True), ("M", "own", "SL", False), ("S", "own", "SL", False),
        ("SM", "own", "L", True), ("SM", "own", "M", False), ("SL", "own", "L", False),
        # A single pyramid of an opponent: captured if larger, or small by small.
        ("S", "other", "S", True), ("S", "other", "M", True), ("S", "other", "L", True),
        ("M", "other", "S", False), ("M", "other", "M", False), ("M", "other", "L", True),
        ("L", "other", "S", False), ("L", "other", "M", False), ("L", "other", "L", False),
        # A tower captures by its bottom piece.
        ("SM", "other", "L", True), ("SM", "other", "M", False), ("SM", "other", "S", False),
        ("SL", "other", "L", False), ("ML", "other", "M", False), ("SML", "other", "M", False),
        # An opponent's tower: only medium on large, and only by a small.
        ("S", "other", "ML", True), ("M", "other", "ML", False), ("SM", "other", "ML", False),
        ("S", "other", "SL", False), ("S", "other", "SM", False), ("S", "other", "SML", False),
        ("M", "other", "SL", False), ("L", "other", "SML", False),
    ],
)  # fmt: skip
def test_landing(moving, whose, standing, lands):
    mine, others = f"YB:{moving}", "-"
    if whose == "own":
        mine += f",YR:{standing}"
    else:
        others = f"YR:{standing}"
    assert ("YB-YR" in moves_of(f"{mine}/{others}")) == lands
    if lands:
        expected = moving + standing if whose == "own" else moving
        board = play(f"{mine}/{others} 0 R 9", "YB-YR").split(" ")[0].split("/")
        assert board == [f"YR:{expected}", "-"]


@pytest.mark.parametrize(
    ("before", "move", "after"),
    [
        ("YB:SML/Y:M 0 R 9", "YB-YR:top", "YR:S,YB:ML/Y:M 1 B 10"),
        ("YB:SL/Y:M 0 R 9", "YB-YR:top", "YR:S,YB:L/Y:M 1 B 10"),
        ("YB:SML/Y:M 0 R 9 sub_towers=true", "YB-YR:two", "YR:SM,YB:L/Y:M 1 B 10 sub_towers=true"),
        ("YB:SML/Y:M 0 R 9", "YB-YR", "YR:SML/Y:M 1 B 10"),
        ("YB:SM,YR:L/Y:M 0 R 9", "YB-YR", "YR:SML/Y:M 1 B 10"),
        ("G:M/Y:M 0 R 9", "pass", "G:M/Y:M 1 B 10"),
        ("R:M/Y:M 0 G 9", "enter:S", "G:S,R:M/Y:M 1 B 10"),
        ("R:M/Y:M 1 R 9", "pass", "R:M/Y:M 0 B 10"),
        # A capture keeps the turn, with a new roll, also by entering.
        ("YB:S/YR:ML 0 R 9", "YB-YR", "YR:S/- 0 B 10"),
        ("YB:S/G:ML 0 G 9", "enter:S", "G:S,YB:S/- 0 B 10"),
        ("G:M/R:S/Y:M 1 Y 9", "R-Y", "G:M/Y:S/- 1 B 10"),
        ("G:M/R:S/Y:M 2 G 9", "pass", "G:M/R:S/Y:M 0 B 10"),
    ],
)
def test_what_moves_do(before, move, after):
    # `R-Y` is a small red pyramid that captures the medium one on Y.
    assert play(before, move) == after


def test_captures_chain_without_limit():
    notation = play("YB:S/YR:S,YY:S,YYG:M 0 R 9", "YB-YR", rolled="Y")
    notation = play(notation, "YR-YY", rolled="G")
    assert notation == "YY:S/YYG:M 0 G 11"
    assert play(notation, "YY-YYG", rolled="G") == "YYG:S/- 0 G 12"


def test_captives_return_to_their_owners_stash():
    position = Position.parse("generator YB:S/YR:ML 0 R 9")
    assert position.record["seats"][1]["stash"] == {"small": 5, "medium": 4, "large": 4}
    position, _ = position.apply({0: position.find_move("YB-YR")}, seed=1)
    assert position.record["seats"][0]["stash"] == {"small": 4, "medium": 5, "large": 5}
    assert position.record["seats"][1]["stash"] == {"small": 5, "medium": 5, "large": 5}


@pytest.mark.parametrize(
    ("board", "moves"), [("G:M/Y:M", {"G-R", "G-GR"}), ("GG:L/Y:M", {"GG-GR"}), ("-/Y:M", set())]
)
def test_passing(board, moves):
    """With forced_move only for want of another move."""
    for forced in (False, True):
        options = f" forced_move={str(forced).lower()}"
        position = Position.parse(f"generator {board} 0 R 50{options}")
        listed = {move.notation for move in position.moves()}
        assert listed == (moves if forced and moves else moves | {"pass"})


@pytest.mark.parametrize(
    ("board", "move", "wins"),
    [
        ("R:L,YRG:M,BRYG:S/Y:M", "R-RG", True),
        ("RG:L,YR:M,BRYG:S/Y:M", "YR-YRG", True),
        ("RG:L,YRG:M,BRY:S/Y:M", "BRY-BRYG", True),
        ("RB:SML,YRG:M,BRYG:S/Y:M", "RB-RG", True),  # inside a tower
        ("RB:ML,YRG:M,BRYG:S/Y:M", "RB-RG:top", False),  # the medium alone
        ("R:L,YRG:SM,BRYG:S/Y:M", "R-RG", True),
        ("R:L,YR:SM,BRYG:S/Y:M", "R-RG", False),  # the medium on a red node
        ("RG:L,YRG:M,BRY:S/Y:M", "enter:S", False),
        # Two of the three in the same branch.
        ("R:L,RRG:M,BRYG:S/Y:M", "R-RG", False),
        ("R:L,YRG:M,RBYG:S/Y:M", "R-RG", False),
        ("R:L,YRG:M,YBYG:S/Y:M", "R-RG", False),
        ("R:L,YRG:M,YBYG:S,YBG:M,BBBG:S/Y:M", "R-RG", True),
        ("R:L,YRG:M,RBYG:S,RBG:M,YBBG:S/Y:M", "R-RG", False),
        # The own branch.
        ("G:L,YRG:M,BRYG:S/Y:M", "G-GG", False),
        ("R:L,GRG:M,BRYG:S/Y:M", "R-RG", False),
        ("R:L,YRG:M,GRYG:S/Y:M", "R-RG", False),
        # The right colours on the wrong levels.
        ("R:L,YG:M,BRYG:S/Y:M", "R-RG", False),
        ("R:M,YRG:M,BRYG:S/Y:M", "R-RG", False),
        ("R:L,YRG:M,BRG:S/Y:M", "R-RG", False),
        ("Y:L,YRG:M,BRYG:S/RG:M", "Y-G", False),
    ],
)
def test_winning(board, move, wins):
    position = Position.parse(f"generator {board} 0 G 50")
    after, _ = position.apply({0: position.find_move(move)}, seed=1)
    assert after.finished == wins
    if wins:
        assert after.win_shares == (1, 0)
        assert after.scores[0] == 3
        assert after.notation.split(" ")[2:] == ["-", "-", "50"]


def test_a_win_by_a_capture_ends_the_game():
    position = Position.parse("generator RG:L,YRG:M,BRY:S/BRYG:S 0 G 50")
    after, _ = position.apply({0: position.find_move("BRY-BRYG")}, seed=1)
    assert after.win_shares == (1, 0)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_last_roll(players):
    others = "/".join(["RB:M", "YB:M", "B:M"][: players - 1])

    def last(pieces, move):
        position = Position.parse(f"generator {pieces}/{others} 0 B 50 max_rolls=50")
        return position.apply({0: position.find_move(move)}, seed=1)[0]

    drawn = last("G:M", "pass")
    assert drawn.win_shares == pytest.approx([1 / players] * players)
    assert drawn.notation == f"generator G:M/{others} - - 50 max_rolls=50"
    assert last("RG:S", "RG-RB").finished  # a capture gives no extra turn any more


def test_a_win_on_the_last_roll_counts():
    position = Position.parse("generator R:L,YRG:M,BRYG:S/Y:M 0 G 50 max_rolls=50")
    after, _ = position.apply({0: position.find_move("R-RG")})
    assert after.win_shares == (1, 0)


@pytest.mark.parametrize(
    ("options", "large"),
    [("", "G-Y Y-YG"), (" horizontal=adjacent", "G-B B-Y Y-YG")],
)
def test_shortest_win(options, large):
    """11 rolls of the winner, or 12 with `adjacent`, as the rules page says."""
    way = f"G-R R-RG RG-RGG enter:L {large} enter:S G-B B-BG BG-BGG BGG-BGGG".split(" ")
    rolls = ["G" if move.startswith("enter") else move[-1] for move in way]
    position = Position.parse(f"generator G:M/YBB:M 0 {rolls[0]} 1{options}")
    for move, rolled in zip(way, [*rolls[1:], None], strict=True):
        assert not position.finished
        position, _ = position.apply({0: position.find_move(move)}, seed=1)
        if rolled is not None:
            position, _ = position.apply(
                {1: position.find_move("pass")}, outcome={"rolled": rolled}
            )
    assert position.win_shares == (1, 0)
    assert len(way) == (12 if options else 11)


def crowded(rng, options):
    """A record with many pieces close to each other, whether or not play can lead there."""
    pool = set()
    for _ in range(rng.randint(1, 4)):
        node = rng.choice(reference.NODES)
        pool |= {node[:-1] + colour for colour in "GRYB"}
        pool |= {node[:level] for level in range(1, len(node))}
        pool |= {node + colour for colour in "GRYB" if len(node) < 4}
        pool |= {rng.choice("GRYB")}
    board = {}
    left = [Counter({"S": 5, "M": 5, "L": 5}) for _ in range(options["players"])]
    for node in sorted(pool):
        seat = rng.randrange(options["players"])
        pieces = "".join(
            size
            for size in "SML"
            if rng.random() < 0.5 and len(node) <= reference.DEEPEST[size] and left[seat][size]
        )
        if pieces:
            left[seat].subtract(pieces)
            board[node] = (seat, pieces)
    rolls = rng.choice([rng.randint(60, options["max_rolls"]), options["max_rolls"]])
    return reference.write(
        board, options, rolls, rng.randrange(options["players"]), rng.choice("GRYB")
    )


def assert_same_rules(position, state, options):
    """Compare moves, and what each of them leads to, with the reference."""
    moves = reference.legal_moves(state, options)
    listed = position.moves()
    assert len(listed) == len(moves)
    assert {move.code for move in listed} == {position.codec.read_move(move) for move in moves}
    assert position.scores == tuple(reference.scores(state))
    for move in moves:
        found = {state["seat_to_act"]: position.find_move(move)}
        for number, (_, expected) in enumerate(reference.successors(state, move, options)):
            finished = "seat_to_act" not in expected
            outcome = None if finished else {"rolled": "GRYB"[number]}
            after, events = position.apply(found, outcome=outcome)
            assert after.record == expected
            assert after.finished == finished == (events[-1].kind == "finished")
            if finished:
                assert after.win_shares == pytest.approx(reference.win_shares(expected, options))


@settings(max_examples=150)
@given(OPTIONS, st.integers(0, 2**32))
def test_crowded_boards_as_in_the_reference(options, seed):
    state = crowded(random.Random(seed), options)
    if 3 in reference.scores(state):
        return
    assert_same_rules(Position.from_record("generator", options, state), state, options)


@settings(max_examples=15)
@given(OPTIONS, st.integers(0, 2**32))
def test_games_as_in_the_reference(options, seed):
    rng = random.Random(seed)
    position = Position.create("generator", options, seed)
    for _ in range(rng.randint(0, 60)):
        if position.finished:
            return
        moves = position.moves()
        # Passing seldom, so that the board fills.
        move = rng.choice(moves[1:] if len(moves) > 1 and rng.random() < 0.9 else moves)
        position, _ = position.apply({move.seat: move}, seed=rng.getrandbits(64))
    if not position.finished:
        assert_same_rules(position, position.record, options)


@settings(max_examples=60)
@given(
    st.permutations("GRYB"), st.booleans(), st.booleans(), st.integers(0, 3), st.integers(0, 2**32)
)  # fmt: skip
def test_colours_may_be_exchanged(colours, enter_stacks, adjacent, turn, seed):
    """No colour is special, nor, with adjacent corners, any turn of the quadrangles."""
    if adjacent:
        colours = "GRYB"[turn:] + "GRYB"[:turn]
    options = reference.DEFAULTS | {
        "players": 4,
        "enter_stacks": enter_stacks,
        "horizontal": "adjacent" if adjacent else "any_corner",
    }
    state = crowded(random.Random(seed), options)
    if 3 in reference.scores(state):
        return
    exchange = str.maketrans("GRYB", "".join(colours))
    board = {
        node.translate(exchange): ("GRYB".index(colours[seat]), pieces)
        for node, (seat, pieces) in reference.board_of(state).items()
    }
    image = reference.write(
        board,
        options,
        state["rolls"],
        "GRYB".index(colours[state["seat_to_act"]]),
        state["rolled"].translate(exchange),
    )
    first, second = (Position.from_record("generator", options, each) for each in (state, image))
    assert {move.notation.translate(exchange) for move in first.moves()} == {
        move.notation for move in second.moves()
    }
    for seat in range(4):
        assert first.scores[seat] == second.scores["GRYB".index(colours[seat])]


@settings(max_examples=20)
@given(OPTIONS, st.integers(0, 2**32))
def test_pieces_are_conserved(options, seed):
    """The stash is counted as pieces come and go; a state read anew counts what is missing."""
    rng = random.Random(seed)
    position = Position.create("generator", options, seed)
    for _ in range(200):
        if position.finished:
            break
        move = rng.choice(position.moves())
        position, _ = position.apply({move.seat: move}, seed=rng.getrandbits(64))
    assert Position.parse(position.notation).state.raw() == position.state.raw()


@pytest.mark.parametrize("players", [2, 3, 4])
def test_set_up(players):
    games = [Position.create("generator", {"players": players}, seed) for seed in range(1200)]
    boards = {position.notation.split(" ")[1] for position in games}
    assert boards == {"/".join(f"{colour}:M" for colour in reference.SEATS[players])}
    assert {position.record["rolls"] for position in games} == {1}
    starts = Counter(position.record["seat_to_act"] for position in games)
    rolls = Counter(position.record["rolled"] for position in games)
    assert set(starts) == set(range(players))
    assert set(rolls) == set("GRYB")
    # Five standard deviations.
    assert all(abs(count - 1200 / players) < 5 * 17.4 for count in starts.values())
    assert all(abs(count - 300) < 5 * 15 for count in rolls.values())
    for seat in range(players):
        position = Position.create("generator", {"players": players}, start_seat=seat)
        assert position.seats_to_act == (seat,)


def test_random_games_end_by_max_rolls():
    for seed in range(5):
        position = Position.create("generator", {"max_rolls": 30}, seed)
        rules = position.codec.rules
        shares, _ = rules.run_playouts(position.state, 50, seed)
        assert sum(shares) == pytest.approx(1)
