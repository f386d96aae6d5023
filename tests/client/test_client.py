"""The client library, in both its kinds, against the server as anybody starts it."""

import inspect
import re
import subprocess
import sys
import time
from datetime import timedelta

import grpc
import pytest

import aleator.client
from aleator.client import batch_item, play
from aleator.client.connection import Connection
from aleator.v1 import analysis_pb2, state_pb2
from tests.service.process import ServerProcess

OPENING = "roygbiv ......./......./......./...7.../......./......./....... 0000001 467,??? 0,0 0"


def test_a_round_trip(connect, server):
    client = connect(server.address)
    games = {game.game for game in client.call("list_games").games}
    assert {"roygbiv", "riviera", "generator", "my_shelfie"} <= games
    assert client.call("get_game", "riviera").game.title == "Riviera"
    created = client.call("create_game", "riviera", {"players": 3, "powers": False}, seed=1)
    assert list(created.seats_to_act) == [0, 1, 2]
    moves = {}
    for seat in created.seats_to_act:
        view = client.call("observe_state", created.state, seat)
        notation = client.call("convert_state", view).notation
        analysis = client.call("suggest_move", notation, seat, simulations=100, seed=1)
        legal = client.call("list_moves", notation, seat).moves
        assert analysis.best_move in [move.move for move in legal]
        moves[seat] = analysis.best_move_notation if seat else analysis.best_move
    applied = client.call("apply_move", created.state, moves, seed=2)
    assert applied.events
    picture = client.call("render_state", applied.state, "svg")
    assert picture.startswith("<svg")


def test_a_move_of_the_seat_to_act_and_its_outcome(connect, server):
    client = connect(server.address)
    state = client.call("create_game", "roygbiv", seed=1, start_seat=1).state
    move = client.call("list_moves", state).moves[0].notation
    assert client.call("render_state", state, highlight=move)
    hand = state.roygbiv.hands[1].dice[0]
    drawn = state_pb2.Outcome(roygbiv={"drawn": 7 if hand != 7 else 6})
    applied = client.call("apply_move", state, move, outcome=drawn)
    assert drawn.roygbiv.drawn in applied.state.roygbiv.hands[1].dice


def test_what_is_said_of_a_search(connect, server):
    client = connect(server.address)
    moves = ["4@a1", "6@d5", "7@a1"]
    analysis = client.call(
        "suggest_move",
        OPENING,
        time=timedelta(seconds=5),
        simulations=50,
        level=9,
        seed=3,
        allowed_moves=moves,
        avoided_moves=["7@a1"],
        max_candidates=1,
    )
    assert analysis.best_move_notation in moves[:2]
    assert len(analysis.candidates) == 1
    assert analysis.statistics.seed == 3
    assert analysis.statistics.simulations == 50
    assert analysis.statistics.stop_reason == analysis_pb2.STOP_REASON_SIMULATIONS
    timed = client.call("suggest_move", OPENING, time=0.05)
    assert timed.statistics.stop_reason == analysis_pb2.STOP_REASON_TIME


def test_reports_until_the_final_one(connect, server):
    client = connect(server.address)
    *earlier, last = client.stream("analyze_position", OPENING, time=0.5, report_interval=0.1)
    assert earlier
    assert last.final
    assert not any(report.final for report in earlier)


def test_a_slow_reader_gets_the_newest_report(connect, server):
    reports = connect(server.address).stream(
        "analyze_position", OPENING, time=4, report_interval=0.05
    )
    elapsed = [next(reports).analysis.statistics.elapsed.ToMilliseconds()]
    time.sleep(3)
    for report in reports:
        elapsed.append(report.analysis.statistics.elapsed.ToMilliseconds())
    # One had come meanwhile and one was on its way; by a window of 64 KiB it would be forty.
    assert elapsed[3] > elapsed[0] + 2000
    assert len(elapsed) > 5
    assert report.final


def test_a_closed_stream_ends_its_search(connect):
    with ServerProcess('{"listen": "127.0.0.1:0", "workers": 1}') as small:
        client = connect(small.address)
        reports = client.stream("analyze_position", OPENING, time=30, report_interval=0.05)
        next(reports)
        reports.close()
        analysis = client.call("suggest_move", OPENING, simulations=10, timeout=5)
        assert analysis.statistics.simulations == 10  # it had not to wait for the other


def test_a_batch(connect, server):
    client = connect(server.address)
    items = [
        batch_item("good", OPENING, simulations=20, priority=3),
        batch_item("bad", "roygbiv 8", seat=0, simulations=20),
    ]
    answers = {answer.id: answer for answer in client.stream("analyze_batch", items)}
    assert answers["good"].unwrap().statistics.simulations == 20
    assert answers["bad"].index == 1
    with pytest.raises(aleator.client.InvalidArgument, match=r"state\.notation"):
        answers["bad"].unwrap()


def test_what_fails_in_making_a_batch_is_raised_after_its_answers(connect, server):
    client = connect(server.address)

    def items():
        yield batch_item("good", OPENING, simulations=20)
        raise KeyError("lost")

    answers = client.stream("analyze_batch", items())
    assert next(answers).id == "good"
    with pytest.raises(KeyError, match="lost"):
        next(answers)


async def test_a_batch_from_an_asynchronous_source(server):
    async def items():
        for number in range(3):
            yield batch_item(str(number), OPENING, simulations=20)

    async with aleator.client.aio.connect(server.address) as client:
        ids = {answer.id async for answer in client.analyze_batch(items())}
    assert ids == {"0", "1", "2"}


def test_errors_tell_all_that_is_wrong(connect, server):
    client = connect(server.address)
    with pytest.raises(aleator.client.InvalidArgument) as caught:
        client.call("suggest_move", "roygbiv 8", time=0, level=11)
    error = caught.value
    assert error.code is grpc.StatusCode.INVALID_ARGUMENT
    assert error.reason == "INVALID_INPUT"
    fields = [violation.field for violation in error.violations]
    assert fields == ["state.notation", "limits.time", "strength.level"]
    assert all(violation.description for violation in error.violations)
    with pytest.raises(aleator.client.NotFound) as caught:
        client.call("create_game", "chess")
    assert caught.value.reason == "UNKNOWN_GAME"
    assert caught.value.metadata["game"] == "chess"
    with pytest.raises(aleator.client.FailedPrecondition) as caught:
        client.call("list_moves", OPENING, 1)
    assert caught.value.metadata["seats_to_act"] == "0"
    with pytest.raises(aleator.client.InvalidArgument):
        next(client.stream("analyze_position", "roygbiv 8"))


def test_a_server_that_was_started_again(connect):
    with ServerProcess() as first:
        address = first.address
        client = connect(address)
        client.call("list_games")
    with ServerProcess(f'{{"listen": "{address}"}}'):
        assert client.call("list_games").games


@pytest.mark.parametrize("wrong", ["1s", None, float("nan"), float("inf"), 1e300])
def test_what_is_no_time(connect, server, wrong):
    client = connect(server.address)
    kind = ValueError if isinstance(wrong, float) else TypeError

    def refused(name):
        told = f"{name}: must be seconds or a timedelta, not {wrong!r}"
        return pytest.raises(kind, match=f"^{re.escape(told)}$")

    if wrong is not None:
        with refused("time"):
            client.call("suggest_move", OPENING, time=wrong)
        with refused("report_interval"):
            list(client.stream("analyze_position", OPENING, time=1, report_interval=wrong))
        with refused("clock"):
            play.start("g", OPENING, 0, clock=wrong)
        with refused("time_left"):
            play.update("g", OPENING, time_left=wrong)
        with refused("increment"):
            play.start("g", OPENING, 0, clock=1, increment=wrong)
    if wrong not in (float("inf"), 1e300):
        with refused("timeout"):
            Connection(server.address, timeout=wrong)


def test_what_makes_no_request(connect, server):
    client = connect(server.address)
    with pytest.raises(ValueError, match="level"):
        client.call("suggest_move", OPENING, level=3, elo=1000)
    with pytest.raises(ValueError, match=r"^seed: Value out of range: -1$"):
        client.call("create_game", "roygbiv", seed=-1)
    with pytest.raises(TypeError, match=r"^level: "):
        client.call("suggest_move", OPENING, level=2.5, allowed_moves=["4@a1"])
    with pytest.raises(ValueError, match=r"^increment: must be left out without a clock$"):
        play.start("g", OPENING, 0, increment=1)
    with pytest.raises(ValueError, match="outcome"):
        client.call("apply_move", OPENING, "4@a1", seed=1, outcome=state_pb2.Outcome())


@pytest.mark.parametrize("name", ["Client", "Play"])
def test_both_kinds_have_the_same_methods(name):
    waiting, asynchronous = (
        {
            method: (inspect.signature(value), value.__doc__)
            for method, value in vars(kind).items()
            if not method.startswith("_") and method != "play"
        }
        for kind in (getattr(aleator.client, name), getattr(aleator.client.aio, name))
    )
    assert waiting == asynchronous
    assert len(waiting) >= 4


def test_methods_look_like_what_they_call():
    signature = inspect.signature(aleator.client.Client.suggest_move)
    assert list(signature.parameters)[:3] == ["self", "state", "seat"]
    assert signature.return_annotation is analysis_pb2.Analysis


def test_it_loads_without_the_engine():
    code = "import sys, aleator.client; print(*sys.modules)"
    command = [sys.executable, "-c", code]
    loaded = subprocess.run(command, capture_output=True, check=True, text=True).stdout.split()
    for name in ("aleator.ext", "aleator.search", "aleator.service", "numpy", "scipy", "pydantic"):
        assert name not in loaded
