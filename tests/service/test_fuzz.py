"""Requests with something changed at random never find the server at a loss.

`tools/fuzz.py` tries a million of them.
"""

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.message import Message
from google.rpc import code_pb2

from aleator.search.games import game_ids
from tests.service import mutants
from tests.service.process import ServerProcess, details
from tools import fuzz

MUTANTS = 300
FAIR = {"OK", "INVALID_ARGUMENT", "FAILED_PRECONDITION", "NOT_FOUND"}


@pytest.mark.parametrize("game", game_ids())
def test_changed_requests(server: ServerProcess, game: str) -> None:
    rng = random.Random(1)
    positions = list(mutants.random_positions(game, rng))
    stubs = {"GameService": server.games, "OpponentService": server.opponent}
    for _ in range(MUTANTS):
        method = rng.choice(list(mutants.METHODS))
        request = mutants.valid_request(method, rng.choice(positions), rng)
        mutants.mutate_often(request, rng)
        service, _, name = method.partition("/")
        assert outcome(getattr(stubs[service], name), request) in FAIR, request


def test_changed_items_of_a_batch(server: ServerProcess) -> None:
    rng = random.Random(2)
    items = []
    for game in game_ids():
        positions = list(mutants.random_positions(game, rng))
        for index in range(MUTANTS // 4):
            item = mutants.batch_item(rng.choice(positions), f"{game}{index}")
            mutants.mutate_often(item, rng)
            items.append(item)
    answers = {answer.index: answer for answer in server.opponent.AnalyzeBatch(iter(items))}
    assert sorted(answers) == list(range(len(items)))
    for index, item in enumerate(items):
        if answers[index].HasField("error"):
            assert code_pb2.Code.Name(answers[index].error.code) in FAIR, item
        assert answers[index].id == (item.id if len(item.id) <= 100 else "")


def test_changed_games_of_bots(server: ServerProcess) -> None:
    rng = random.Random(3)
    requests = []
    for game in game_ids():
        positions = list(mutants.random_positions(game, rng))
        for seat in range(positions[0].seats):
            told = mutants.game_of_play(positions, seat, f"{game}{seat}")
            told += mutants.game_of_events(rng.choice(positions), rng, f"{game} events {seat}")
            for request in told:
                if rng.random() < 0.5:
                    mutants.mutate_often(request, rng)
                requests.append(request)
    answers = {answer.index: answer for answer in server.opponent.Play(iter(requests))}
    assert sorted(answers) == list(range(len(requests)))
    for index, request in enumerate(requests):
        if answers[index].HasField("error"):
            code = code_pb2.Code.Name(answers[index].error.code)
            assert code in FAIR | {"CANCELLED"}, request


async def test_the_tool_sends_to_all_methods(tmp_path: Path) -> None:
    counts: Counter[tuple[str, str]] = Counter()
    record = fuzz.Record(tmp_path / "last")
    await fuzz.fuzz(400, 1, counts, record)
    record.close()
    assert {method for method, _ in counts} > set(mutants.METHODS)
    assert sum(counts[method, "OK"] for method in mutants.METHODS) > 50


def outcome(call: Callable[..., Any], request: Message) -> str:
    """The code that a call ends with, after a look at the details of an error."""
    try:
        answer = call(request, timeout=5)
        if isinstance(answer, grpc.Call):  # of a method that streams
            assert [report.final for report in answer][-1]
    except grpc.RpcError as error:
        return details(error)["code"]
    return "OK"
