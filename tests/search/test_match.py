"""Bots, and matches between them."""

from collections import Counter, defaultdict
from dataclasses import asdict
from pkgutil import iter_modules

import pytest

from aleator.search import Position, StopFlag, players
from aleator.search.bots import Bot, RandomBot, make_bot
from aleator.search.errors import InvalidInput, UnknownGame
from aleator.search.games import game_ids
from aleator.search.match import MatchStopped, mean_interval, play_match


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
    assert results[0]["games"] == results[0]["wins"] + results[0]["ties"] + results[0]["losses"]


def test_a_bot_is_even_with_itself():
    result = play_match("roygbiv", Spy(), Spy(), pairs=3, seed=4)
    assert result.pair_shares == (0.5, 0.5, 0.5)
    assert result.score == result.opponents_score


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
        ({"b": "clever"}, "b"),
        ({"a": "engine:level=0"}, "a.level"),
        ({"pairs": 0}, "pairs"),
        ({"seed": -1}, "seed"),
        ({"options": {"players": 9}}, "options.players"),
    ):
        match = {"game": "roygbiv", "a": RandomBot(), "b": "random", "pairs": 1} | arguments
        with pytest.raises(InvalidInput) as caught:
            play_match(**match)
        assert caught.value.violations[0].path == path
    with pytest.raises(UnknownGame):
        play_match("chess", "random", "random", pairs=1)


def test_intervals():
    assert mean_interval((1.0,) * 10) == pytest.approx((0.6915, 1.0), abs=1e-4)
    assert mean_interval((0.0,) * 10) == pytest.approx((0.0, 0.3085), abs=1e-4)
    assert mean_interval((0.5,)) == pytest.approx((0.0125, 0.9875))
    assert mean_interval((0.5, 1.0, 0.5, 1.0)) == pytest.approx((0.2907, 1.0), abs=1e-4)
