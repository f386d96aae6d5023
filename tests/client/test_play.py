"""Bots that keep their seats, by the client library in both its kinds."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from functools import partial

import pytest

import aleator.client
from aleator.search import Position
from aleator.service.convert import write_event
from tests.client.conftest import Asyncio
from tests.service.process import ServerProcess

SHORT = {"simulations": 20, "seed": 1}


def moves_of(position):
    return {move.notation for move in position.moves()}


@contextmanager
def table(client):
    """A call of Play, as a function that tells a bot something and returns its answer."""
    if isinstance(client, Asyncio):

        async def opened():
            return client.client.play()

        play = client.loop.run_until_complete(opened())

        def tell(action, *args, **kwargs):
            return client.loop.run_until_complete(getattr(play, action)(*args, **kwargs))

        yield tell
        client.loop.run_until_complete(play.close())
    else:
        with client.client.play() as play:
            yield lambda action, *args, **kwargs: getattr(play, action)(*args, **kwargs)


def test_a_whole_game(connect, server):
    position = Position.create("generator", {"players": 3, "max_rolls": 40}, seed=1)
    with table(connect(server.address)) as tell:
        answer = tell("start", "g", position.notation, 1, **SHORT, level=3, max_candidates=1)
        while not position.finished:
            to_act = position.acting_seat()
            if to_act == 1:
                move = position.find_move(answer.move.analysis.best_move_notation)
                assert len(answer.move.analysis.candidates) <= 1
            else:
                assert list(answer.waiting.seats_to_act) == [to_act]
                move = position.moves()[0]
            position, _ = position.apply({to_act: move}, seed=2)
            answer = tell("update", "g", position.notation)
    assert list(answer.finished.returns) == list(position.win_shares)


def test_a_game_told_by_its_events(connect, server):
    position = Position.create("my_shelfie", seed=1, start_seat=1)
    with table(connect(server.address)) as tell:
        answer = tell("start", "g", position.notation, 0, **SHORT)
        while position.seats_to_act == (1,):
            assert list(answer.waiting.seats_to_act) == [1]
            position, events = position.apply({1: position.moves()[0]}, seed=2)
            told = [write_event(event, "my_shelfie") for event in events]
            answer = tell("update", "g", events=told)
    assert answer.move.analysis.best_move_notation in moves_of(position)


def test_a_clock(connect, server):
    position = Position.create("roygbiv", seed=1, start_seat=0)
    with table(connect(server.address)) as tell:
        clock = {"clock": timedelta(seconds=3), "increment": 0.5}
        first = tell("start", "g", position.notation, 0, **clock).move
        assert 0 < first.time_left.ToTimedelta().total_seconds() < 3.5
        answered = position.find_move(first.analysis.best_move_notation)
        position, _ = position.apply({0: answered}, seed=1)
        position, _ = position.apply({1: position.moves()[0]}, seed=1)
        with pytest.raises(aleator.client.NotFound):
            tell("update", "h", position.notation)
        second = tell("update", "g", position.notation, time_left=0.2).move
        assert second.analysis.statistics.elapsed.ToTimedelta() < timedelta(seconds=0.5)
        assert tell("end", "g").WhichOneof("result") == "ended"


def test_an_error_is_of_one_game_and_not_of_the_call(connect, server):
    position = Position.create("roygbiv", seed=1)
    other = Position.create("generator", seed=1)
    seat = position.acting_seat()
    with table(connect(server.address)) as tell:
        before = tell("start", "g", position.notation, seat, **SHORT)
        with pytest.raises(aleator.client.InvalidArgument) as caught:
            tell("update", "g", other.notation)
        assert caught.value.violations[0].field.startswith("update.state")
        again = tell("update", "g", position.notation)
        assert again.move.analysis == before.move.analysis


def test_a_server_that_is_busy_is_asked_again(connect):
    position = Position.create("roygbiv", seed=1)
    seat = position.acting_seat()
    with ServerProcess('{"listen": "127.0.0.1:0", "workers": 1, "queue": 0}') as small:
        client = connect(small.address)
        reports = client.stream("analyze_position", position.notation, time=1, report_interval=0.05)
        next(reports)
        with table(client) as tell:
            answer = tell("start", "g", position.notation, seat, **SHORT)
            assert answer.move.analysis.statistics.simulations == 20
        reports.close()


def test_a_call_that_broke_and_is_opened_again(connect):
    position = Position.create("roygbiv", seed=1)
    seat = position.acting_seat()
    with ServerProcess() as first:
        address = first.address
        client = connect(address)
        with table(client) as tell:
            before = tell("start", "g", position.notation, seat, **SHORT).move
            first.kill()
            for _ in range(2):
                with pytest.raises(aleator.client.Unavailable):
                    tell("update", "g", position.notation)
    with ServerProcess(f'{{"listen": "{address}"}}'), table(client) as tell:
        after = tell("start", "g", position.notation, seat, **SHORT).move
    assert after.analysis.best_move == before.analysis.best_move


def test_many_games_at_once_in_threads(server):
    positions = [Position.create("roygbiv", seed=seed) for seed in range(8)]
    with aleator.client.connect(server.address) as client, client.play() as play:

        def first_move(number):
            position = positions[number]
            answer = play.start(str(number), position.notation, position.acting_seat(), **SHORT)
            return answer.move.analysis.best_move_notation

        with ThreadPoolExecutor(8) as pool:
            moves = list(pool.map(first_move, range(8)))
    for position, move in zip(positions, moves, strict=True):
        assert move in moves_of(position)


async def test_many_games_at_once_in_tasks(server):
    positions = [Position.create("roygbiv", seed=seed) for seed in range(8)]
    async with aleator.client.aio.connect(server.address) as client, client.play() as play:
        answers = await asyncio.gather(
            *(
                play.start(str(number), position.notation, position.acting_seat(), **SHORT)
                for number, position in enumerate(positions)
            )
        )
    for position, answer in zip(positions, answers, strict=True):
        assert answer.game_id == str(positions.index(position))
        assert answer.move.analysis.best_move_notation in moves_of(position)


async def test_closing_ends_what_waits(server):
    position = Position.create("roygbiv", seed=1)
    seat = position.acting_seat()
    async with aleator.client.aio.connect(server.address) as client:
        play = client.play()
        search = asyncio.create_task(play.start("g", position.notation, seat, time=30))
        await asyncio.sleep(0.2)
        await play.close()
        with pytest.raises(aleator.client.Cancelled):
            await search
        reports = client.analyze_position(position.notation, time=30, report_interval=0.05)
        await anext(reports)
        reports.close()
        with pytest.raises(aleator.client.Cancelled):
            await anext(reports)
    with aleator.client.connect(server.address) as client, ThreadPoolExecutor(1) as pool:
        with client.play() as play:
            start = partial(play.start, "g", position.notation, seat, time=30)
            search = asyncio.get_running_loop().run_in_executor(pool, start)
            await asyncio.sleep(0.2)
        with pytest.raises(aleator.client.Cancelled):
            await search
