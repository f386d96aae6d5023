"""Bots, and matches between them."""

import random
from collections import Counter, defaultdict
from dataclasses import asdict
from math import comb
from pkgutil import iter_modules

import pytest

from aleator.search import Position, StopFlag, players
from aleator.search.bots import Bot, RandomBot, make_bot
from aleator.search.errors import InvalidInput, UnknownGame
from aleator.search.games import game_ids
from aleator.search.match import MatchStopped, mean_interval, play_match
from aleator.search.match.games import make_lineups
from aleator.search.ratings import Rating


class Spy(Bot):
    """Plays the first move and keeps what it was shown."""

    spec = "spy"

    def __init__(self, pick=0):
        self.seen = []
        self.pick = pick

    def choose(self, position, seat, seed):  # noqa: ARG002 - the interface of bots
        self.seen.append((seat, position))
        return position.moves(seat)[self.pick]


def test_bots_see_only_what_their_seat_knows():
    spies = (Spy(), Spy())
    play_match("roygbiv", *spies, pairs=1, seed=1)
    for spy in spies:
        assert len(spy.seen) == 48  # half of the plays of two games
        assert all(position == position.observe(seat) for seat, position in spy.seen)


@pytest.mark.parametrize("players", [2, 3])
def test_the_games_of_a_set_have_the_same_luck(players):
    """Whatever is played, the same dice leave the bag at the same play, for the same seat."""
    spies = (Spy(0), Spy(-1))
    play_match("roygbiv", *spies, options={"players": players, "open_hands": True}, pairs=1, seed=2)
    boards, dealt = defaultdict(set), defaultdict(set)
    for seat, position in spies[0].seen + spies[1].seen:
        record = position.record
        plays = sum(record["played"])
        boards[plays].add(tuple(record["cells"]))
        hands = Counter(die for hand in record["hands"] for die in hand["dice"])
        dealt[plays].add(
            (seat, *(hands[value] + record["played"][value - 1] for value in range(1, 8)))
        )
    assert len(dealt) == 48
    assert all(len(dice) == 1 for dice in dealt.values())
    assert len(boards[40]) == players


def test_matches_repeat():
    results = [
        asdict(play_match("roygbiv", "greedy", "engine:sims=5", pairs=2, seed=3)) for _ in range(2)
    ]
    assert results[0] == results[1]
    for bot in results[0]["bots"]:
        assert bot["games"] == bot["wins"] + bot["ties"] + bot["losses"] == 4


def test_a_bot_is_even_with_itself():
    result = play_match("roygbiv", Spy(), Spy(), pairs=3, seed=4)
    assert result.bots[0].set_shares == (0.5, 0.5, 0.5)
    assert result.bots[0].score == result.bots[1].score
    assert result.bots[0].elo.elo == pytest.approx(0)


def test_greedy_beats_random():
    reports = []
    result = play_match("roygbiv", "greedy", "random", pairs=10, seed=5, progress=reports.append)
    assert reports[0] == (0, 0, 20)
    assert reports[-1] == (20, 20 * 48, 20)
    assert reports == sorted(reports)
    assert not result.partial
    assert result.win_share > 0.8
    assert result.interval[0] > 0.6
    mirrored = play_match("roygbiv", "random", "greedy", pairs=10, seed=5)
    assert mirrored.win_share < 0.2


@pytest.mark.parametrize("games", [2, 3])
def test_a_stopped_match_counts_whole_sets(games):
    stop = StopFlag()

    def watch(progress):
        if progress.games == games:
            stop.set()

    stopped = play_match("roygbiv", "greedy", "random", pairs=9, seed=5, progress=watch, stop=stop)
    whole = play_match("roygbiv", "greedy", "random", pairs=1, seed=5)
    assert stopped.partial
    assert asdict(stopped) | {"partial": False} == asdict(whole)


def test_a_match_stopped_in_its_first_set_has_no_result():
    stop = StopFlag()
    stop.set()
    with pytest.raises(MatchStopped):
        play_match("roygbiv", "greedy", "random", pairs=9, stop=stop)


def test_one_seat_among_three():
    result = play_match("roygbiv", "greedy", "random", options={"players": 3}, pairs=8, seed=6)
    assert result.games == 24
    assert result.even_share == pytest.approx(1 / 3)
    assert result.win_share > 0.5


def test_greedy_takes_most_points():
    position = Position.parse(
        "roygbiv ......./......./......./...3.../......./...2.../....... 0110000 ???,246 0,0 1"
    )
    for seed in range(20):
        move = make_bot("greedy", "roygbiv").choose(position, 1, seed)
        assert move.description.endswith("for 5 points.")
    chosen = {
        make_bot("greedy", "roygbiv").choose(position, 1, seed).notation for seed in range(80)
    }
    assert len(chosen) == 10  # a 4 or a 6 on any empty cell of column d


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        ("", ""),
        ("strong", ""),
        ("random:sims=1", ""),
        ("engine:", None),
        ("engine:sims=0", "simulations"),
        ("engine:sims=many", "sims"),
        ("engine:sims", "sims"),
        ("engine:speed=1", "speed"),
        ("engine:time=soon", "time"),
        ("engine:time=-1s", "time"),
        ("engine:threads=0", "threads"),
        ("engine:level=11", "level"),
        ("engine:sims=1,sims=2", ""),
        ("engine:sims=1,time=50ms,threads=2,level=3", None),
    ],
)
def test_bot_specifications(spec, path):
    if path is None:
        assert make_bot(spec, "roygbiv").spec == spec
        return
    with pytest.raises(InvalidInput) as caught:
        make_bot(spec, "roygbiv")
    assert [violation.path for violation in caught.value.violations] == [path]


def test_reference_players_belong_to_their_game():
    with pytest.raises(InvalidInput, match="must, for generator, be random"):
        make_bot("strongest", "generator")
    for module in iter_modules(players.__path__):
        assert module.name in game_ids()
        assert players.players_of(module.name)


def test_match_errors_name_what_is_wrong():
    for arguments, path in (
        ({"b": "clever"}, "bots[1]"),
        ({"a": "engine:level=0"}, "bots[0].level"),
        ({"workers": 0}, "workers"),
        ({"workers": 2}, "workers"),  # a bot without a specification
        ({"elo0": 0}, "elo1"),
        ({"elo1": 0}, "elo0"),
        ({"elo0": 5, "elo1": 5}, "elo1"),
        ({"pairs": 0}, "pairs"),
        ({"seed": -1}, "seed"),
        ({"options": {"players": 9}}, "options.players"),
    ):
        match = {"a": RandomBot(), "b": "random", "pairs": 1} | arguments
        bots = match.pop("a"), match.pop("b")
        with pytest.raises(InvalidInput) as caught:
            play_match("roygbiv", *bots, **match)
        assert caught.value.violations[0].path == path
    with pytest.raises(UnknownGame):
        play_match("chess", "random", "random", pairs=1)


def test_one_bot_is_no_match():
    with pytest.raises(InvalidInput, match="bots: must be at least two"):
        play_match("roygbiv", "random", pairs=1)


@pytest.mark.parametrize(
    ("bots", "seats"), [(2, 2), (2, 4), (3, 2), (3, 4), (4, 3), (5, 5), (6, 2)]
)
def test_every_bot_is_once_in_each_seat(bots, seats):
    lineups = list(make_lineups(bots, seats, random.Random(1)))
    assert all(len(lineup) == seats for lineup in lineups)
    together = Counter(frozenset(lineup) for lineup in lineups)
    assert len(together) == comb(bots, min(bots, seats))
    for bot in range(bots - (bots < seats)):
        counts = [sum(lineup[seat] == bot for lineup in lineups) for seat in range(seats)]
        assert set(counts) == {comb(bots - 1, min(bots, seats) - 1)}


def test_three_bots_at_a_table_of_two():
    result = play_match("roygbiv", "greedy", "random", "engine:sims=2", pairs=6, seed=7)
    assert result.games == 6 * 3 * 2
    greedy, blind, hasty = result.bots
    assert [bot.games for bot in result.bots] == [24, 24, 24]
    assert greedy.elo.elo > blind.elo.elo
    assert greedy.win_share + blind.win_share + hasty.win_share == pytest.approx(1.5)
    assert hasty.elo == Rating(0, (0, 0))


def test_the_number_of_processes_changes_nothing():
    match = {"options": {"players": 3}, "pairs": 5, "seed": 8}
    reports = []
    alone = play_match("roygbiv", "greedy", "engine:sims=3", **match)
    shared = play_match(
        "roygbiv", "greedy", "engine:sims=3", **match, workers=2, progress=reports.append
    )
    assert asdict(alone) == asdict(shared)
    assert reports == sorted(reports)
    assert reports[0] == (0, 0, 15)


def test_processes_stop():
    stop = StopFlag()

    def watch(progress):
        if progress.moves:
            stop.set()

    with pytest.raises(MatchStopped):
        play_match(
            "roygbiv",
            *("engine:time=60s", "random"),
            pairs=100,
            seed=1,  # the random bot begins, so that a first move is made at once
            workers=2,
            progress=watch,
            stop=stop,
        )


def test_a_test_ends_a_match_early():
    match = {"pairs": 100, "seed": 9, "elo0": 0, "elo1": 100}
    result = play_match("roygbiv", "greedy", "random", **match)
    assert 5 <= result.pairs < 30
    assert not result.partial
    assert result.test.accepted == 100
    assert result.test.ratio >= result.test.bound
    opposite = play_match("roygbiv", "random", "greedy", **match)
    assert opposite.test.accepted == 0
    even = play_match("roygbiv", Spy(), Spy(), **match | {"pairs": 6})
    assert even.test.accepted is None
    shared = play_match("roygbiv", "greedy", "random", **match, workers=2)
    assert asdict(shared) == asdict(result)


def interrupted(file, sets, **match):
    """Play a match that is stopped after so many sets."""
    stop = StopFlag()

    def watch(progress):
        if progress.games == 2 * sets:
            stop.set()

    return play_match("roygbiv", "greedy", "random", **match, file=file, progress=watch, stop=stop)


def test_a_match_goes_on_where_it_was_stopped(tmp_path):
    file = tmp_path / "match.jsonl"
    begun = interrupted(file, 3, pairs=8, seed=5)
    assert begun.partial
    with file.open("a") as stream:
        stream.write('{"set": 7, "gam')  # the program was ended as it wrote
    reports = []
    finished = play_match(
        "roygbiv", "greedy", "random", pairs=8, file=file, progress=reports.append
    )
    assert reports[0].all_games == 2 * (8 - begun.pairs)
    assert asdict(finished) == asdict(play_match("roygbiv", "greedy", "random", pairs=8, seed=5))
    written = file.read_bytes()
    again = play_match("roygbiv", "greedy", "random", pairs=8, file=file)
    assert asdict(again) == asdict(finished)
    assert file.read_bytes() == written


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"bots": ("random", "greedy")}, r"bots \[\"greedy"),
        ({"seed": 6}, "seed 5, not 6"),
        ({"options": {"players": 3}}, "options {"),
    ],
)
def test_the_file_of_another_match_is_refused(tmp_path, change, named):
    file = tmp_path / "match.jsonl"
    play_match("roygbiv", "greedy", "random", pairs=1, seed=5, file=file)
    match = {"bots": ("greedy", "random"), "pairs": 1, "seed": 5} | change
    with pytest.raises(InvalidInput, match=named):
        play_match("roygbiv", *match.pop("bots"), **match, file=file)


@pytest.mark.parametrize("text", ["hello\n", "[1]\n", '{"aleator_match": 1}\n', "7\n"])
def test_what_is_no_file_of_a_match_is_refused_and_left_alone(tmp_path, text):
    file = tmp_path / "notes.txt"
    file.write_text(text)
    with pytest.raises(InvalidInput, match="file: is not the file of a match"):
        play_match("roygbiv", "greedy", "random", pairs=1, file=file)
    assert file.read_text() == text
    with pytest.raises(InvalidInput, match="file: Is a directory"):
        play_match("roygbiv", "greedy", "random", pairs=1, file=tmp_path)


def test_intervals():
    assert mean_interval((1.0,) * 10) == pytest.approx((0.6915, 1.0), abs=1e-4)
    assert mean_interval((0.0,) * 10) == pytest.approx((0.0, 0.3085), abs=1e-4)
    assert mean_interval((0.5,)) == pytest.approx((0.0125, 0.9875))
    assert mean_interval((0.5, 1.0, 0.5, 1.0)) == pytest.approx((0.2907, 1.0), abs=1e-4)
