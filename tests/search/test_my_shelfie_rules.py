"""The compiled rules of My Shelfie: the cases of the rules page, and against the reference."""

from collections import Counter
from itertools import product
from math import prod, sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aleator.search import Position
from aleator.search.games import codec
from tests.reference import my_shelfie as reference

EMPTY = "...../...../...../...../....."
LETTERS = "pgbtcj"


def lay_out(sheets, dice, *, rerolls=0, seat=0, start=0, **options):
    """A position, whatever may have led to it."""
    bound = codec("my_shelfie", {"players": len(sheets), **options})
    spaces = [[".ox".index(mark) for mark in sheet.replace("/", "")] for sheet in sheets]
    counts = [dice.count(letter) for letter in LETTERS]
    return Position(bound, bound.rules.pack(spaces, counts, rerolls, seat, start))


def play(position, notation, seed=0):
    move = position.find_move(notation)
    return position.apply({move.seat: move}, seed=seed)[0]


def finish_turn(position):
    """Stop rolling, and make the first of the moves that follow."""
    if position.record["rerolls"]:
        position = play(position, position.moves()[-1].notation)
    return play(position, position.moves()[0].notation)


def sheets_of(position):
    return position.notation.split(" ")[1].split(",")


def listed(position):
    return {move.notation for move in position.moves()}


@pytest.mark.parametrize(
    ("dice", "possible", "impossible"),
    [
        pytest.param("pppccc", {"p3", "p1+p2", "p1", "p2"}, {"p4", "p1+p3"}, id="3 pink"),
        pytest.param("jjppgg", {"p3+g3", "p3", "g3"}, {"p4", "p4+g2"}, id="2 jokers"),
        pytest.param("jjcccc", {"c5", "c4"}, {"p1", "p2", "c1+c5"}, id="2 jokers, no pink"),
        pytest.param("pppjjc", {"p2+p3"}, {"p5", "p1+p2+p3"}, id="3 pink, 2 jokers"),
        pytest.param("pjcccc", {"p2", "p1"}, {"p1+p2"}, id="1 pink, 1 joker"),
        pytest.param("ppggbb", {"p1+g1+b1", "p2+g2+b2"}, {"p1+p2"}, id="three spaces"),
        pytest.param("pgbtcj", {"p1+g1+b1", "p2", "p2+g1+c1"}, {"p2+g2"}, id="one joker"),
    ],
)
def test_circles(dice, possible, impossible):
    moves = listed(lay_out([EMPTY, EMPTY], dice))
    assert {f"circle:{spaces}" for spaces in possible} <= moves
    assert not {f"circle:{spaces}" for spaces in impossible} & moves
    assert all(move.count("+") <= 2 for move in moves)


def test_three_pink_dice_circle_nothing_else_in_that_row():
    moves = listed(lay_out([EMPTY, EMPTY], "pppccc"))
    assert {move for move in moves if "p" in move and "c" not in move[len("circle:") :]} == {
        "circle:p3", "circle:p1+p2", "circle:p1", "circle:p2",
    }  # fmt: skip


def test_six_jokers_circle_exactly_one_space_of_any_kind():
    moves = listed(lay_out([EMPTY, EMPTY], "jjjjjj"))
    assert moves == {f"circle:{row}{n}" for row in "pgbtc" for n in range(1, 6)}
    assert len(listed(lay_out(["ox" + EMPTY[2:], EMPTY], "jjjjjj"))) == 23


def test_keeps():
    position = lay_out([EMPTY, EMPTY], "ppgjjj", rerolls=2)
    assert len(listed(position)) == 3 * 2 * 4
    assert {"keep:-", "keep:pj", "keep:ppgjjj"} <= listed(position)
    position = play(position, "keep:pj")
    assert position.record["rerolls"] == 1
    assert position.record["dice"]["plants"] >= 1
    assert position.record["dice"]["jokers"] >= 1
    # Dice kept earlier may be rolled again.
    position = play(position, "keep:-")
    assert position.record["rerolls"] == 0
    assert all(move.startswith("circle:") for move in listed(position))


def test_keeping_all_dice_ends_the_rolling():
    position = play(lay_out([EMPTY, EMPTY], "pppppp", rerolls=2), "keep:pppppp")
    assert position.seats_to_act == (0,)
    assert "circle:p1+p5" in listed(position)


def test_crosses():
    """Only if nothing can be circled; circles and other rows stay."""
    sheet = "oxxxx/.o.../ooooo/xxxxx/ooooo"
    assert listed(lay_out([sheet, EMPTY], "ppppgj")) == {"circle:g1"}
    sheet = "oo.../xo.../ooooo/xxxxx/ooooo"
    position = lay_out([sheet, EMPTY], "ccccgt")
    assert listed(position) == {"cross:p", "cross:g"}
    assert sheets_of(play(position, "cross:g")) == ["oo.../xoxxx/ooooo/xxxxx/ooooo", EMPTY]


def test_a_row_and_a_column_completed_together_both_block():
    position = lay_out(["o..../o..../o..../o..../.oooo", "...../.o.../..o../...../o...."], "cccccc")
    after = play(position, "circle:c1")
    assert sheets_of(after)[1] == "x..../xo.../x.o../x..../oxxxx"
    assert after.scores[0] == 5 + 19


def test_blocks_reach_every_other_seat():
    sheets = ["ooooo/oooo./...../...../.....", EMPTY, "...../o..../...../...../....."]
    position = play(lay_out(sheets, "gggggc", start=1), "circle:g5")
    assert sheets_of(position) == [
        "ooooo/ooooo/...../...../.....",
        "...../xxxxx/...../...../.....",
        "...../oxxxx/...../...../.....",
    ]


def test_lines_completed_earlier_do_not_block_again():
    sheets = ["ooooo/ooo../...../...../.....", EMPTY]
    position = play(lay_out(sheets, "ggggcc"), "circle:g4")
    assert sheets_of(position) == ["ooooo/oooo./...../...../.....", EMPTY]


def test_crossing_never_completes_a_line():
    sheet = "oooo./ooooo/ooooo/ooooo/ooooo"
    position = play(lay_out([sheet, EMPTY], "cccccc"), "cross:p")
    assert sheets_of(position) == [sheet.replace(".", "x"), EMPTY]
    # Nor do blocked spaces: seat 1 has no blank left in row and column 1.
    sheets = ["oooo./...../...../...../.....", "oooo./o..../o..../o..../o...."]
    position = play(lay_out(sheets, "pppppc", start=1), "circle:p5")
    assert sheets_of(position) == [EMPTY.replace(".", "o", 5), sheets[1].replace(".", "x", 1)]


@pytest.mark.parametrize("start", range(3))
def test_the_round_is_completed(start):
    """Seat 1 fills its second row; those before the start seat still have their turn."""
    position = lay_out(
        [EMPTY, "ooooo/oo.xx/...../...../.....", EMPTY], "gggppp", seat=1, start=start
    )
    position = play(position, "circle:g3")
    seats = []
    while not position.finished:
        seats += position.seats_to_act
        position = finish_turn(position)
    assert seats == {0: [2], 1: [2, 0], 2: []}[start]


def test_two_rows_filled_by_a_block_end_the_game_too():
    sheets = ["oooo./...../...../...../.....", "...../ooooo/...../...../....."]
    assert play(lay_out(sheets, "pppppc", start=1), "circle:p5").finished
    assert not play(lay_out(sheets, "pppppc", start=0), "circle:p5").finished


def test_the_game_may_end_immediately():
    """After the blocks of the turn, even in the middle of a round."""
    sheets = [EMPTY, "ooooo/oooo./...../...../.....", EMPTY]
    position = lay_out(sheets, "gggggp", seat=1, end="immediate")
    after = play(position, "circle:g5")
    assert after.finished
    assert sheets_of(after)[2] == "...../xxxxx/...../...../....."


def test_one_row_without_a_blank_ends_nothing():
    position = lay_out([EMPTY, "oo.xx/...../...../...../....."], "pppggg", seat=1)
    assert play(position, "circle:p3").seats_to_act == (0,)


@pytest.mark.parametrize("start", range(3))
def test_a_turn_without_decision_has_a_roll_all_the_same(start):
    """Seat 0 blocks the last blank spaces of seat 1, whose turn is next."""
    sheets = ["ooooo/o..../o..../o..../.....", "xxxxx/.oooo/.oooo/.oooo/.oooo", EMPTY]
    position = lay_out(sheets, "cccccc", start=start)
    move = position.find_move("circle:c1")
    rolls = {0: [{"plants": 6}, {"cats": 6}], 1: [], 2: [{"plants": 6}]}[start]
    after, _ = position.apply({0: move}, outcome={"rolls": rolls} if rolls else None)
    assert after.finished == (start != 0)
    if start == 0:
        assert after.seats_to_act == (2,)
        assert after.record["dice"]["cats"] == 6


@pytest.mark.parametrize(
    ("sheet", "score"),
    [
        pytest.param("oooxx/...../...../...../.....", 6, id="a row of 3 circles and 2 crosses"),
        pytest.param("oo.../...../...../...../.....", 0, id="a row of 2 circles"),
        pytest.param("....o/....o/....o/...../.....", 24, id="a column of 3 circles"),
        pytest.param("ooo../o..../o..../...../.....", 9, id="a space scores twice"),
        pytest.param("/".join(["ooooo"] * 5), 190, id="a full sheet"),
    ],
)
def test_scores(sheet, score):
    assert lay_out([EMPTY, sheet], "pppppp").scores == (0, score)


def test_every_value_counts_where_it_stands():
    values = [3**n % 1009 - 500 for n in range(25)]  # all different
    position = lay_out([EMPTY, "oo.o./oxoo./o.oo./.o.../oooo."], "pppppp", values=values)
    score = reference.score(position.record["sheets"][1], position.options)
    assert position.scores == (0, score)


def test_set_up():
    starts = Counter()
    faces = Counter()
    for seed in range(1200):
        state = Position.create("my_shelfie", {"players": 3}, seed).record
        assert state["sheets"] == [{"spaces": [0] * 25}] * 3
        assert state["start_seat"] == state["seat_to_act"]
        assert state["rerolls"] == 2
        starts[state["start_seat"]] += 1
        faces.update(state["dice"])
    # Five standard deviations.
    assert all(abs(starts[seat] - 400) < 5 * 16.4 for seat in range(3))
    assert all(abs(faces[face] - 1200) < 5 * 31.7 for face in reference.FACES)


def test_the_caller_names_the_start():
    for seat in range(4):
        position = Position.create("my_shelfie", {"players": 4}, seed=7, start_seat=seat)
        assert position.seats_to_act == (seat,)


def keeps(dice):
    return product(*(range(count + 1) for count in dice))


def together(kept, rolled):
    return tuple(a + b for a, b in zip(kept, rolled, strict=True))


def roll_rest(kept_chances):
    """The chances of the dice shown, given those of the dice kept."""
    shown = Counter()
    for kept, chance in kept_chances.items():
        for probability, rolled in reference.rolls(6 - sum(kept)):
            shown[together(kept, rolled)] += chance * float(probability)
    return shown


def random_turn(shown, rerolls):
    """The chances of the dice that a turn ends with, every keep being as likely."""
    final = Counter()
    for _ in range(rerolls):
        kept_chances = Counter()
        for dice, chance in shown.items():
            share = chance / prod(count + 1 for count in dice)
            for kept in keeps(dice):
                (final if sum(kept) == 6 else kept_chances)[kept] += share
        shown = roll_rest(kept_chances)
    return final + shown


@pytest.mark.parametrize(
    ("row", "chance"),
    [(".oooo", 0.962), ("o.ooo", 0.945), ("oo.oo", 0.738), ("ooo.o", 0.407), ("oooo.", 0.134)],
)
def test_chances_of_the_rules_page(row, chance):
    """Of being able to circle one space, rolling as well as possible for it."""
    sheet = "/".join([row, *["ooooo"] * 4])
    values = {
        dice: any("circle" in move for move in listed(lay_out([sheet, sheet], letters(dice))))
        for _, dice in reference.rolls(6)
    }
    for _ in range(2):
        kept_values = {
            kept: sum(p * values[together(kept, rest)] for p, rest in reference.rolls(6 - size))
            for size in range(7)
            for _, kept in reference.rolls(size)
        }
        values = {dice: max(kept_values[kept] for kept in keeps(dice)) for dice in values}
    best = sum(probability * values[dice] for probability, dice in reference.rolls(6))
    assert round(float(best), 3) == chance


def letters(dice):
    return "".join(letter * count for letter, count in zip(LETTERS, dice, strict=True))


@pytest.mark.parametrize(
    ("seat", "dice", "rerolls"),
    [
        pytest.param(0, "pppppp", 0, id="a whole turn is played at random"),
        pytest.param(1, "pgbtcj", 2, id="two rerolls are left"),
        pytest.param(1, "ppgjjc", 1, id="one reroll is left"),
    ],
)
def test_playouts_have_the_exact_mean_of_random_play(seat, dice, rerolls):
    """Where the last turn of the game decides, after at most one forced move."""
    sheets = ["ooooo/xxxxx/ooooo/ooooo/xxxx.", "oo.../oxx../xo.../.xx.o/..oo."]
    position = lay_out(sheets, dice, rerolls=rerolls, seat=seat)
    if seat == 0:
        final = random_turn(roll_rest({(0,) * 6: 1.0}), 2)
    else:
        final = random_turn({tuple(position.record["dice"].values()): 1.0}, rerolls)
    mean = square = 0
    for shown, chance in final.items():
        last = lay_out(sheets, letters(shown), seat=1).record
        moves = reference.legal_moves(last)
        for move in moves:
            after = reference.mark(last["sheets"], 1, move)
            score = reference.score(after[1], position.options)
            mean += chance / len(moves) * score
            square += chance / len(moves) * score**2
    count = 400_000
    _, scores = position.codec.rules.run_playouts(position.state, count, 1)
    assert abs(scores[1] - mean) < 4 * sqrt((square - mean**2) / count)


@settings(max_examples=25)
@given(
    st.sampled_from([2, 3, 4]), st.sampled_from(["complete_round", "immediate"]),
    st.integers(0, 2**64 - 1),
)  # fmt: skip
def test_games_as_in_the_reference(players, end, seed):
    """Play a game move by move in both, and compare everything that can be asked."""
    position = Position.create("my_shelfie", {"players": players, "end": end}, seed)
    state = position.record
    for ply in range(66 * players):
        seat = state["seat_to_act"]
        assert position.seats_to_act == (seat,)
        moves = reference.legal_moves(state)
        assert sorted(move.code for move in position.moves()) == sorted(
            map(position.codec.read_move, moves)
        )
        move = moves[(seed >> ply % 50) % len(moves)]
        position, _ = position.apply({seat: position.find_move(move)}, seed=ply)
        possible = [after for _, after in reference.successors(state, move, position.options)]
        state = position.record
        assert state in possible
        assert position.scores == tuple(
            reference.score(sheet, position.options) for sheet in state["sheets"]
        )
        if position.finished:
            break
    assert position.win_shares == pytest.approx(reference.win_shares(state, position.options))


marks = st.sampled_from("..ooox")
sheets = st.lists(marks, min_size=25, max_size=25).map("".join)


@settings(max_examples=300)
@given(
    st.lists(sheets, min_size=2, max_size=4), st.text("pgbtcj", min_size=6, max_size=6),
    st.integers(0, 3), st.integers(0, 3), st.sampled_from(["complete_round", "immediate"]),
    st.data(),
)  # fmt: skip
def test_marks_as_in_the_reference(sheets, dice, seat, start, end, data):
    """On full sheets, where lines are completed, blocked and crossed."""
    seat, start = seat % len(sheets), start % len(sheets)
    position = lay_out(sheets, dice, seat=seat, start=start, end=end)
    state = position.record
    moves = reference.legal_moves(state)
    if not reference.blanks(state["sheets"][seat]):
        return
    assert sorted(move.code for move in position.moves()) == sorted(
        map(position.codec.read_move, moves)
    )
    move = data.draw(st.sampled_from(moves))
    after, _ = position.apply({seat: position.find_move(move)}, seed=1)
    options = position.options
    assert after.record in [found for _, found in reference.successors(state, move, options)]


@settings(max_examples=40)
@given(st.permutations(range(5)), st.integers(0, 999))
def test_rows_may_be_permuted(order, seed):
    """Items differ in nothing but their names, where rows have the same values."""
    position = Position.create("my_shelfie", seed=seed)
    for ply in range(25):
        moves = position.moves()
        position = play(position, moves[(seed + 37 * ply) % len(moves)].notation, ply)
        if position.finished:
            return
    rules = position.codec.rules

    def image(state):
        fields = rules.unpack(state)
        sheets = [
            [sheet[5 * order[row] + column] for row in range(5) for column in range(5)]
            for sheet in fields["sheets"]
        ]
        dice = [fields["dice"][order[row]] for row in range(5)] + fields["dice"][5:]
        return rules.pack(**{**fields, "sheets": sheets, "dice": dice})

    mirrored = Position(position.codec, image(position.state))
    assert mirrored.scores == position.scores
    assert len(mirrored.moves()) == len(position.moves())
