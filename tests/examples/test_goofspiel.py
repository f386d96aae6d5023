"""The example of a game of one's own works as docs/adding-a-game.md says, and the page quotes it.

The game is built in a temporary folder with the page's own command, against the Aleator that these
tests run on, bounds-checked if that is.
"""

import importlib
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.json_format import ParseDict
from scipy.optimize import linprog

from aleator.ext.core import game
from aleator.search import Engine, Limits, Position, games
from aleator.search.errors import InvalidInput

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "goofspiel"
PAGE = (ROOT / "docs" / "adding-a-game.md").read_text()
EXACT = 1e-6


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


INSTALL, CONFORM = (shlex.split(block) for block in blocks("sh"))


def run(command, **settings):
    done = subprocess.run(
        [sys.executable, "-m", *command],
        **settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder in which the example is installed."""
    folder = tmp_path_factory.mktemp("goofspiel")
    ignored = shutil.ignore_patterns("build", "__pycache__", "*.egg-info", "*.so")
    shutil.copytree(ROOT / INSTALL[-1], folder / INSTALL[-1], ignore=ignored)
    environment = dict(os.environ)
    if b"__ubsan_handle" in Path(game.__file__).read_bytes():
        checks = "-fsanitize=undefined -fno-sanitize-recover=all -UNDEBUG"
        environment |= {"CFLAGS": checks, "LDFLAGS": checks}
    run([*INSTALL, "--no-deps", "--target", "site"], cwd=folder, env=environment)
    return folder / "site"


@pytest.fixture(scope="module")
def reference(site):
    """The example's plain rules; the game is registered while they are in use."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(games, "_classes", dict(games._classes))
        patch.syspath_prepend(site)
        yield importlib.import_module("goofspiel.reference")


def test_conformance(site):
    output = run(
        [*CONFORM, "--quiet", "-p", "no:cacheprovider", "-n", "0"],  # other cores have other tests
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(site)},
    )
    assert re.search(r"\d\d passed", output)


def test_suggestion(site):
    (session,) = blocks("console")
    command, told = session.split("\n", 1)
    program, *arguments = shlex.split(command.removeprefix("$ "))
    assert program == "python"
    assert run(arguments[1:], env=os.environ | {"PYTHONPATH": str(site)}) == told


def test_page_quotes_the_example():
    files = [path.read_text() for path in EXAMPLE.iterdir() if path.is_file()]
    quotes = [quote for language in ("cython", "python", "proto") for quote in blocks(language)]
    assert len(quotes) > 5
    for quote in quotes:
        assert any(quote in text for text in files), f"not in the example:\n{quote}"


def test_no_other_game_is_registered():
    assert "goofspiel" not in games.game_ids()


def test_records_are_messages(reference, tmp_path):
    buf = Path(sys.executable).parent / "buf"
    image = tmp_path / "image.binpb"
    subprocess.run([buf, "build", EXAMPLE, "--as-file-descriptor-set", "-o", image], check=True)
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(image.read_bytes()).file:
        pool.Add(file)

    def parse(record, kind):
        descriptor = pool.FindMessageTypeByName(f"aleator.v1.Goofspiel{kind}")
        message_class = message_factory.GetMessageClass(descriptor)
        return ParseDict(record, message_class())

    position = Position.create("goofspiel", {"cards": 3}, 1)
    kinds = []
    while not position.finished:
        assert len(parse(position.record, "State").hands) == 2
        moves = {seat: position.moves(seat)[seat - 1] for seat in position.seats_to_act}
        assert parse(moves[0].record, "Move").card
        position, events = position.apply(moves, seed=1)
        kinds += [parse(event.record, "Event").WhichOneof("event") for event in events]
    assert kinds == ["revealed", "turned", "revealed", "turned", "revealed", "finished"]


@pytest.mark.parametrize(
    ("notation", "message"),
    [
        ("goofspiel A23,A23 33 ? 0,0 cards=3", "prizes[1]: is a second 3; there is one of each"),
        ("goofspiel A23,A2 3 ?? 0,0 cards=3", "hands[1].cards: must be 3, not 2, at prize 1"),
        ("goofspiel A2,A2 32 A 4,0 cards=3", "scores: must be 0 or more and add up to at most 3"),
        ("goofspiel A23,A23 3 ??? 0,0 cards=3", "DECK must be of the 2 prizes not in PRIZES"),
        ("goofspiel A23 3 ?? 0,0 cards=3", "HANDS must hold 2 or 3 hands, not 1"),
        ("goofspiel A23,A24 3 A4 0,0 cards=3", "hands[1].cards[2]: must be 1..3, not 4"),
        ("goofspiel A3:2,A3 3A 2 0,0 cards=3", "hands[0].bid: must be a card of the hand, not 2"),
        ("goofspiel A3:A,A3:? 3A 2 0,0 cards=3", "hands: must not all have a bid"),
        ("goofspiel -:?,- A 2 0,0 cards=2", "HANDS must be cards such as A34 or A34:3"),
    ],
)
def test_bad_positions(reference, notation, message):
    with pytest.raises(InvalidInput) as caught:
        Position.parse(notation)
    assert message in str(caught.value)


def test_real_deck(reference):
    """A caller with real cards says which prize was turned over."""
    position = Position.parse("goofspiel A23,A23 3 A2 0,0 cards=3")
    moves = {0: position.find_move("A", 0), 1: position.find_move("3", 1)}
    after, events = position.apply(moves, outcome={"prize": 2})
    assert after.notation == "goofspiel 23,A2 32 A 0,3 cards=3"
    assert [event.description for event in events] == [
        "The bids are 1, 3: seat 1 gets the prize of 3.",
        "The next prize is 2.",
    ]
    with pytest.raises(InvalidInput, match="the deck does not hold 3"):
        position.apply(moves, outcome={"prize": 3})


def test_bids_one_after_another(reference):
    position = Position.parse("goofspiel A23,A23,A23 3 A2 0,0,0 cards=3")
    between, events = position.apply({1: position.find_move("3", 1)})
    assert between.notation == "goofspiel A23,A23:3,A23 3 A2 0,0,0 cards=3"
    assert between.observe(1).notation == "goofspiel A23,A23:3,A23 3 ?? 0,0,0 cards=3"
    assert between.observe(2).notation == "goofspiel A23,A23:?,A23 3 ?? 0,0,0 cards=3"
    assert [event.description for event in events] == ["Seat 1 has bid."]
    moves = {seat: between.find_move("A", seat) for seat in between.seats_to_act}
    assert sorted(moves) == [0, 2]
    after, events = between.apply(moves, outcome={"prize": 2})
    assert after.scores == (0, 3, 0)
    assert events[0].record["revealed"] == {"bids": [1, 3, 1], "prize": 3, "winner": 1}


class Solver:
    """The exact solution of a small game of two seats, by linear programs over its plain rules."""

    def __init__(self, reference, options):
        self.reference = reference
        self.options = options

    def matrix(self, state):
        """What seat 0 may expect of each of its bids, against each of the other's."""
        rows, columns = (hand["cards"] for hand in state["hands"])
        orders = self.reference.determinizations(state, self.options)
        return [
            [
                sum(
                    float(probability) * self.value_after(full, {0: {"card": a}, 1: {"card": b}})
                    for probability, full in orders
                )
                for b in columns
            ]
            for a in rows
        ]

    def value_after(self, full, move):
        ((_, after),) = self.reference.successors(full, move, self.options)
        if not after["hands"][0]["cards"]:
            return self.reference.win_shares(after, self.options)[0]
        hands = tuple(tuple(hand["cards"]) for hand in after["hands"])
        return self.value(hands, tuple(after["prizes"]), tuple(after["scores"]))

    @cache  # noqa: B019 - lives as long as its test
    def value(self, hands, prizes, scores):
        cards = [{"cards": list(hand)} for hand in hands]
        state = {"hands": cards, "prizes": list(prizes), "deck": [], "scores": list(scores)}
        return self.solve(self.matrix(state))[-1]

    def solve(self, matrix):
        """The optimal probabilities of the rows, and the value of the game."""
        count = len(matrix)
        found = linprog(
            [0] * count + [-1],
            A_ub=[[*(-share for share in column), 1] for column in zip(*matrix, strict=True)],
            b_ub=[0] * len(matrix[0]),
            A_eq=[[1] * count + [0]],
            b_eq=[1],
            bounds=[(0, 1)] * (count + 1),
        )
        return found.x

    def optimal(self, position):
        """The bids that the solution makes at times."""
        matrix = self.matrix(position.record)
        *mixture, value = self.solve(matrix)
        cards = position.record["hands"][0]["cards"]
        assert value == pytest.approx(0.5)
        return {card for card, share in zip(cards, mixture, strict=True) if share > EXACT}


@pytest.mark.parametrize(
    ("cards", "prize", "bids"),
    [(3, "A", {1}), (3, "2", {2}), (3, "3", {3}), (4, "3", {1, 3, 4}), (4, "4", {4})],
)
def test_search_finds_the_solution(reference, cards, prize, bids):
    """Whoever knows the mixed strategy gains little by it; any single bid would lose much."""
    hand = "A234"[:cards]
    unknown = "?" * (cards - 1)
    position = Position.parse(f"goofspiel {hand},{hand} {prize} {unknown} 0,0 cards={cards}")
    solver = Solver(reference, position.options)
    assert solver.optimal(position) == bids
    matrix = np.array(solver.matrix(position.record))
    exploitability = []
    for seed in range(4):
        analysis = Engine().suggest(position, 0, Limits(simulations=10_000), seed=seed)
        strategy = np.zeros(cards)
        for candidate in analysis.candidates:
            strategy[candidate.move.code - 1] = candidate.probability
        assert strategy.sum() == pytest.approx(1)
        assert strategy[analysis.best_move.code - 1] > 0
        assert analysis.estimate.win_share[0] == pytest.approx(0.5, abs=0.1)
        exploitability.append(0.5 - (strategy @ matrix).min())
    assert np.mean(exploitability) < 0.1
    if len(bids) > 1:
        assert 0.5 - matrix.min(axis=1).max() > 0.2  # of the best single bid


def test_moves_are_drawn_from_the_mixed_strategy(reference):
    """Over many seeds each bid is made about as often as its probability says."""
    position = Position.parse("goofspiel A234,A234 3 ??? 0,0 cards=4")
    analyses = [
        Engine().suggest(position, 0, Limits(simulations=400), seed=seed) for seed in range(300)
    ]
    expected = Counter()
    for analysis in analyses:
        for candidate in analysis.candidates:
            expected[candidate.move.code] += candidate.probability
    made = Counter(analysis.best_move.code for analysis in analyses)
    for bid, count in expected.items():
        assert made[bid] == pytest.approx(count, abs=5 * count**0.5 + 1)
