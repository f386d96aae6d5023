"""My Shelfie's solver of the dice turn, what it says positions are worth, and who plays by it."""

import random
from functools import cache
from itertools import product
from statistics import fmean

import pytest

from aleator.ext.games.my_shelfie import HAND_DICE
from aleator.ext.games.my_shelfie_evaluation import LineBonus, WinShare
from aleator.ext.games.my_shelfie_training import TwoTurns, duel, self_play
from aleator.search import Engine, Limits, Position
from aleator.search.games import codec
from aleator.search.players import players_of
from tests.reference import my_shelfie as reference

VALUES = (1, 2, 3, 5, 8) * 5
ODD_VALUES = [n * n % 23 for n in range(25)]
EMPTY = "...../...../...../...../....."
MIDDLE = "ooo../oo.o./o..../oooxx/oo..."
LATE = "ooo.o/ooxxo/xxxxx/ooo.x/oooo."
LETTERS = "pgbtcj"


def lay_out(sheets, dice, *, rerolls=0, seat=0, start=0, **options):
    """A position, whatever may have led to it."""
    bound = codec("my_shelfie", {"players": len(sheets), **options})
    spaces = [[".ox".index(mark) for mark in sheet.replace("/", "")] for sheet in sheets]
    counts = [dice.count(letter) for letter in LETTERS]
    return Position(bound, bound.rules.pack(spaces, counts, rerolls, seat, start))


def random_positions(count, **options):
    """Positions with a choice, from random games."""
    luck = random.Random(1)
    while count:
        position = Position.create("my_shelfie", options, luck.getrandbits(64))
        for _ in range(luck.randrange(60)):
            if not position.finished:
                (seat,) = position.seats_to_act
                move = luck.choice(position.moves(seat))
                position, _ = position.apply({seat: move}, seed=luck.getrandbits(64))
        if not position.finished:
            yield position
            count -= 1


def line_bonus(sheet, values, *, share=0.9, bonus=0.8):
    """What `LineBonus` counts, said plainly."""
    total = 0
    for line in reference.LINES:
        marks = [sheet[space] for space in line]
        circled = marks.count(reference.CIRCLED)
        points = sum(values[s] for s in line if sheet[s] == reference.CIRCLED)
        if marks.count(reference.CROSSED) > 2:
            points = 0
        elif circled < 3:
            points *= share
        elif circled == 5:
            points += bonus * sum(map(abs, values)) / 25
        total += points
    return total


def brute_force(position, worth):
    """Value every keep and the turn, by trying all there is; `worth` is of a turn's end."""
    rules = position.codec.rules
    fields = rules.unpack(position.state)
    seat = fields["seat_to_act"]
    rolls = [dice for dice in HAND_DICE if sum(dice) == 6]

    def end(dice):
        state = rules.pack(fields["sheets"], dice, 0, seat, fields["start_seat"])
        moves = rules.legal_moves(state, seat)
        return max(worth(rules.apply_move(state, seat, move)) for move in moves)

    def keeps(dice):
        return product(*(range(count + 1) for count in dice))

    ends = {dice: end(dice) for dice in rolls}

    @cache
    def value(dice, rerolls):
        if rerolls == 0:
            return ends[dice]
        return max(keep_value(kept, rerolls) for kept in keeps(dice))

    @cache
    def keep_value(kept, rerolls):
        if sum(kept) == 6:
            return ends[kept]
        return sum(
            float(chance) * value(tuple(map(sum, zip(kept, rolled, strict=True))), rerolls - 1)
            for chance, rolled in reference.rolls(6 - sum(kept))
        )

    shown = tuple(fields["dice"])
    moves = {HAND_DICE.index(kept): keep_value(kept, fields["rerolls"]) for kept in keeps(shown)}
    return moves, keep_value((0,) * 6, 3)


POSITIONS = [
    pytest.param(lay_out([EMPTY, EMPTY], "ppgbtj", rerolls=2), id="opening"),
    pytest.param(lay_out([MIDDLE, EMPTY], "pggbtj", rerolls=1), id="middle"),
    pytest.param(lay_out([LATE, MIDDLE], "pggcjj", rerolls=2), id="late"),
    pytest.param(lay_out([LATE, MIDDLE], "pggcjj", rerolls=2, start=1), id="last turn"),
    pytest.param(lay_out([MIDDLE, LATE, EMPTY], "ppgbtj", rerolls=2, start=2), id="three seats"),
    pytest.param(lay_out([EMPTY, LATE, MIDDLE, LATE], "ppgbtj", rerolls=2), id="four seats"),
    pytest.param(
        lay_out([MIDDLE, LATE], "ppgbtj", rerolls=2, values=ODD_VALUES, end="immediate"),
        id="options",
    ),
]


@pytest.mark.parametrize("position", POSITIONS)
def test_turns_are_solved_exactly(position):
    judge = position.codec.rules.judge
    expected, turn = brute_force(position, lambda state: judge.win_shares(state)[0])
    assert judge.move_values(position.state) == pytest.approx(expected, abs=1e-5)
    assert judge.solve_turns(position.state, 1) == pytest.approx(turn, abs=1e-5)
    assert position.codec.rules.move_priors(position.state, 0) == pytest.approx(
        [expected[move] for move in position.codec.rules.legal_moves(position.state, 0)], abs=1e-5
    )


@pytest.mark.parametrize("position", POSITIONS)
def test_greedy_solves_turns_for_points_and_lines(position):
    options = position.codec.options
    rules = position.codec.rules

    def worth(state):
        sheet = rules.unpack(rules.advance(state, 1))["sheets"][0]
        return line_bonus(sheet, options["values"])

    expected, turn = brute_force(position, worth)
    solver = LineBonus(options["players"], options["values"], options["end"] == "immediate")
    assert solver.move_values(position.state) == pytest.approx(expected, rel=1e-5)
    assert solver.solve_turns(position.state, 1) == pytest.approx(turn, rel=1e-5)
    greedy = players_of("my_shelfie")["greedy"](position, 0, random.Random(1))
    assert expected[greedy.code] == pytest.approx(max(expected.values()), rel=1e-5)


def test_circles_and_crosses_are_valued_too():
    position = lay_out([MIDDLE, EMPTY], "ppgbtj")
    judge = position.codec.rules.judge
    rules = position.codec.rules
    assert judge.move_values(position.state) == pytest.approx(
        {
            move: judge.win_shares(rules.apply_move(position.state, 0, move))[0]
            for move in rules.legal_moves(position.state, 0)
        }
    )
    crosses = lay_out(["ooooo/oo.oo/oo.oo/oo.oo/oo.oo", EMPTY], "pppppp")
    assert len(judge.move_values(crosses.state)) == 4


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("options", [{}, {"values": ODD_VALUES, "end": "immediate"}])
def test_shares_add_up_to_one(players, options):
    for position in random_positions(100, players=players, **options):
        shares, scores = position.codec.rules.evaluate_state(position.state, 1)
        assert sum(shares) == pytest.approx(1, abs=1e-5)
        assert all(0 <= share <= 1 for share in shares)
        assert len(scores) == players
        assert sum(position.codec.rules.judge.win_shares(position.state)) == pytest.approx(1)


def test_rows_are_alike():
    sheets = [MIDDLE, LATE]
    shares = []
    for order in ([0, 1, 2, 3, 4], [4, 2, 0, 1, 3]):
        mixed = ["/".join(sheet.split("/")[row] for row in order) for sheet in sheets]
        position = lay_out(mixed, "ppgbtj", rerolls=2)
        shares.append(position.codec.rules.judge.win_shares(position.state))
    assert shares[0] == pytest.approx(shares[1], abs=1e-5)


def test_who_is_behind_rolls_for_the_space_that_wins():
    """Seat 0 has 20 points, seat 1 has 27 and no turn left: only plants 5 brings more."""
    position = lay_out(
        ["oooo./oo.xx/xxxxx/ooxxx/xxxxx", "ooooo/ooxox/xxxxx/xxxxx/xxxxx"],
        "pppggj",
        rerolls=1,
        start=1,
    )
    values = position.codec.rules.judge.move_values(position.state)
    best = position.move(max(values, key=values.get), 0)
    assert best.notation == "keep:pppj"
    assert values[best.code] == pytest.approx(11 / 36, abs=1e-5)  # a pink die of two
    assert values[position.find_move("keep:pppggj").code] == 0  # games 3: six points, at once
    analysis = Engine().suggest(position, limits=Limits(simulations=300), seed=1)
    assert analysis.best_move.notation == "keep:pppj"


def test_solved_turns_beat_greedy():
    shares = [share for share, _ in duel(WinShare(2, VALUES), LineBonus(2, VALUES), 400, 1)]
    assert fmean(shares) > 0.56


def test_taking_luck_out_leaves_the_estimate_as_it_was():
    position = lay_out([MIDDLE, MIDDLE], "ppggtj", rerolls=1)
    limits = Limits(simulations=6000)
    moves = [position.find_move(f"keep:{dice}") for dice in ("gg", "pp")]
    estimates = [
        Engine(tuning={"foreseen": foreseen, "exploration": 0.2}).suggest(
            position, limits=limits, seed=1, allowed=moves
        )
        for foreseen in (True, False)
    ]
    for move in moves:
        calm, noisy = (
            next(c.estimate for c in analysis.candidates if c.move.code == move.code)
            for analysis in estimates
        )
        # A part of both errors stays: that means still move while the tree learns.
        assert calm.standard_error < noisy.standard_error / 2
        assert calm.win_share[0] == pytest.approx(noisy.win_share[0], abs=4 * noisy.standard_error)


@pytest.mark.parametrize("options", [{"players": 3}, {"values": ODD_VALUES}, {"end": "immediate"}])
def test_engine_finds_a_move_with_any_options(options):
    position = next(random_positions(1, **options))
    analysis = Engine().suggest(position, limits=Limits(simulations=100), seed=1)
    assert analysis.best_move.notation in {move.notation for move in position.moves()}


def test_dice_that_are_kept_are_not_undervalued():
    """They leave more to choose, and second choices in a search could take from their value."""
    two_turns = TwoTurns(WinShare(2, VALUES))
    gaps = []  # to the exact solution of this turn and the next
    for position in random_positions(30):
        (seat,) = position.seats_to_act
        exact = two_turns.move_values(position.state)
        found = Engine().suggest(position, limits=Limits(simulations=600), seed=1)
        gaps += [
            candidate.estimate.win_share[seat] - exact[candidate.move.code]
            for candidate in found.candidates
            if candidate.visits >= 100 and candidate.move.notation.startswith("keep")
        ]
    assert len(gaps) > 15
    assert fmean(gaps) == pytest.approx(0, abs=0.003)


def test_games_for_fitting():
    record = 4 * 10
    games = self_play(WinShare(2, VALUES), 5, 1, 3, 0.1)
    assert len(games) % record == 0
    assert games == self_play(WinShare(2, VALUES), 5, 1, 3, 0.1)
    assert games != self_play(WinShare(2, VALUES), 5, 2, 3, 0.1)
