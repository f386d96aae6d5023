"""OpponentService.AnalyzeBatch over the wire: one answer for each item, and who waits for whom."""

import asyncio
import queue
import signal
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import grpc
import pytest

from aleator.search import Analysis, Engine, Limits, Position
from aleator.search.games import game_ids
from aleator.service.batch import Batch
from aleator.service.errors import Faults
from aleator.service.exchange import NAME_LIMIT, WINDOW
from aleator.service.question import Question, read_question
from aleator.service.settings import Settings
from aleator.v1 import analysis_pb2
from aleator.v1.opponent_service_pb2 import (
    AnalyzeBatchRequest,
    AnalyzeBatchResponse,
    AnalyzePositionRequest,
    SuggestMoveRequest,
)
from aleator.v1.opponent_service_pb2_grpc import OpponentServiceStub
from tests.service.process import ServerProcess, details, details_of

OPENING = Position.create("roygbiv", seed=5)
STATE = {"notation": OPENING.notation}
FEW = {"simulations": 100}
LONG = {"time": {"seconds": 50}}


def item(name: str, **fields: Any) -> AnalyzeBatchRequest:
    return AnalyzeBatchRequest(**({"id": name, "state": STATE, "limits": FEW} | fields))


class Sender:
    """Items that are sent one by one, in the thread of the test."""

    def __init__(self, *items: AnalyzeBatchRequest) -> None:
        self._items: queue.Queue[AnalyzeBatchRequest | None] = queue.Queue()
        for one in items:
            self.send(one)

    def send(self, one: AnalyzeBatchRequest) -> None:
        self._items.put(one)

    def end(self) -> None:
        self._items.put(None)

    def __iter__(self) -> Iterator[AnalyzeBatchRequest]:
        return iter(self._items.get, None)


def test_every_item_gets_the_answer_of_a_call_of_its_own(server: ServerProcess) -> None:
    states = []
    for game in game_ids():
        position = Position.create(game, seed=3)
        states.append((position.notation, position.seats_to_act[0]))
    fields = [
        {"state": {"notation": notation}, "seat": seat, "limits": FEW, "seed": seed}
        for seed in range(30)
        for notation, seat in states
    ]
    items = [item(f"item {index}", **one) for index, one in enumerate(fields)]
    answers = list(server.opponent.AnalyzeBatch(iter(items)))
    assert sorted(answer.index for answer in answers) == list(range(len(items)))
    for answer in answers:
        assert answer.id == items[answer.index].id
        if answer.index % 10 == 0:
            request = SuggestMoveRequest(**fields[answer.index])
            expected = server.opponent.SuggestMove(request).analysis
            for analysis in (answer.analysis, expected):
                analysis.statistics.ClearField("elapsed")
            assert answer.analysis == expected


def test_no_items_no_answers(server: ServerProcess) -> None:
    assert list(server.opponent.AnalyzeBatch(iter([]))) == []


def test_answers_come_as_they_are_found(server: ServerProcess) -> None:
    sender = Sender()
    answers = server.opponent.AnalyzeBatch(iter(sender))
    for name in ("first", "second"):
        sender.send(item(name))
        assert next(answers).id == name
    sender.end()
    assert list(answers) == []


def test_what_is_wrong_with_an_item_is_its_own_matter(server: ServerProcess) -> None:
    items = [
        item("good"),
        item("good"),  # the id was used
        item(""),
        item("x" * (NAME_LIMIT + 1), limits={"threads": 1000}),
        item("no state", state={}),
        item("bad state", state={"notation": "roygbiv 8"}),
        item("bad state"),  # though the one before was refused
        item("unknown game", state={"notation": "chess x"}),
        item("seat", seat=1 - OPENING.acting_seat()),
        item("moves", allowed_moves=[{"notation": "zz"}]),
        item("x" * NAME_LIMIT),
    ]
    answers = {one.index: one for one in server.opponent.AnalyzeBatch(iter(items))}
    assert sorted(answers) == list(range(len(items)))
    names = ["good", "good", "", "", *(one.id for one in items[4:])]
    assert [answers[index].id for index in range(len(items))] == names
    assert answers[0].HasField("analysis")
    assert answers[10].HasField("analysis")
    found = {
        index: details_of(answer.error)
        for index, answer in answers.items()
        if answer.HasField("error")
    }
    fields = {
        index: [violation.field for violation in one["BadRequest"].field_violations]
        for index, one in found.items()
        if one["code"] == "INVALID_ARGUMENT"
    }
    assert fields == {
        1: ["id"],
        2: ["id"],
        3: ["id", "limits.threads"],
        4: ["state"],
        5: ["state.notation"],
        6: ["id"],
        9: ["allowed_moves[0].notation"],
    }
    assert found[7]["code"] == "NOT_FOUND"
    assert found[7]["ErrorInfo"].reason == "UNKNOWN_GAME"
    assert found[8]["code"] == "FAILED_PRECONDITION"
    assert found[8]["ErrorInfo"].reason == "SEAT_NOT_TO_ACT"


def test_higher_priorities_go_first() -> None:
    with ServerProcess('{"listen": "127.0.0.1:0", "workers": 1}') as small:
        first = item("first", limits={"time": {"seconds": 2}})
        priorities = [0, 5, -1, 5, 2**31 - 1, -(2**31)]
        items = [item(str(n), priority=priority) for n, priority in enumerate(priorities)]
        answers = list(small.opponent.AnalyzeBatch(iter([first, *items])))
        assert [answer.id for answer in answers] == ["first", "4", "1", "3", "0", "2", "5"]


def test_items_wait_while_the_server_is_busy() -> None:
    with ServerProcess('{"listen": "127.0.0.1:0", "workers": 1, "queue": 0}') as small:
        limits = {"time": {"seconds": 2}}
        request = AnalyzePositionRequest(
            state=STATE, limits=limits, report_interval={"nanos": 50_000_000}
        )
        running = small.opponent.AnalyzePosition(request)
        next(running)
        items = [item(str(n), limits={"simulations": 1000}) for n in range(3)]
        answers = list(small.opponent.AnalyzeBatch(iter(items)))
        assert [answer.analysis.statistics.simulations for answer in answers] == [1000] * 3
        assert list(running)[-1].final


def test_every_item_is_answered_before_the_deadline(server: ServerProcess) -> None:
    items = [item(str(n), limits=LONG) for n in range(40)]
    answers = list(server.opponent.AnalyzeBatch(iter(items), timeout=5))
    assert sorted(answer.index for answer in answers) == list(range(40))
    kinds = [answer.WhichOneof("result") for answer in answers]
    assert {"analysis", "error"} == set(kinds)
    for answer in answers:
        if answer.HasField("error"):
            found = details_of(answer.error)
            assert found["ErrorInfo"].reason in {"DEADLINE_UNREACHABLE", "SERVER_BUSY"}


def test_cancelling_leaves_no_thread_searching(server: ServerProcess) -> None:
    items = [item("short"), *(item(str(n), limits=LONG | {"threads": 2}) for n in range(20))]
    answers = server.opponent.AnalyzeBatch(iter(items))
    assert next(answers).id == "short"
    time.sleep(0.2)
    answers.cancel()
    with pytest.raises(grpc.RpcError) as cancelled:
        next(answers)
    assert cancelled.value.code() is grpc.StatusCode.CANCELLED
    request = SuggestMoveRequest(state=STATE, limits={"simulations": 1000, "threads": 2})
    answer = server.opponent.SuggestMove(request, timeout=40)
    assert answer.analysis.statistics.simulations == 1000


def test_a_message_that_cannot_be_read_ends_the_call_after_what_came_before(
    server: ServerProcess,
) -> None:
    call = server.channel.stream_stream(
        "/aleator.v1.OpponentService/AnalyzeBatch",
        response_deserializer=AnalyzeBatchResponse.FromString,
    )
    answers = call(iter([item("good").SerializeToString(), b"\xff"]))
    assert next(answers).id == "good"
    with pytest.raises(grpc.RpcError) as refused:
        next(answers)
    found = details(refused.value)
    assert found["code"] == "INVALID_ARGUMENT"
    assert found["ErrorInfo"].reason == "MALFORMED_REQUEST"


def test_a_server_that_stops_answers_what_it_has_read() -> None:
    settings = '{"listen": "127.0.0.1:0", "workers": 1, "grace": 2.0}'
    with ServerProcess(settings) as stopping:
        sender = Sender(item("short"), *(item(str(n), limits=LONG) for n in range(5)))
        answers = stopping.opponent.AnalyzeBatch(iter(sender))
        assert next(answers).id == "short"
        time.sleep(0.2)
        stopping.process.send_signal(signal.SIGTERM)
        rest = [next(answers) for _ in range(5)]
        analysis, *errors = rest
        reason = analysis.analysis.statistics.stop_reason
        assert reason == analysis_pb2.STOP_REASON_STOPPED
        for answer in errors:
            assert details_of(answer.error)["ErrorInfo"].reason == "SHUTTING_DOWN"
        with pytest.raises(grpc.RpcError) as ended:
            next(answers)
        found = details(ended.value)
        assert found["code"] == "UNAVAILABLE"
        assert found["ErrorInfo"].reason == "SHUTTING_DOWN"
        sender.end()
        assert stopping.wait() == ""


def test_a_server_that_stops_does_not_wait_for_idle_clients() -> None:
    with ServerProcess('{"listen": "127.0.0.1:0", "grace": 30}') as stopping:
        sender = Sender(item("one"))
        answers = stopping.opponent.AnalyzeBatch(iter(sender))
        assert next(answers).id == "one"
        start = time.monotonic()
        stopping.stop()
        assert time.monotonic() - start < 10
        sender.end()


def test_a_client_that_reads_nothing_is_held_up(server: ServerProcess) -> None:
    count = 500
    sent = 0
    # An unknown field, which is skipped, makes items larger than what networks hold.
    padding = b"\xc2\x3e\xd0\x86\x03" + bytes(50_000)

    def items() -> Iterator[AnalyzeBatchRequest]:
        nonlocal sent
        for n in range(count):
            sent += 1
            one = item(str(n), max_candidates=0)
            one.MergeFromString(padding)
            yield one

    # The client's window of HTTP/2 would grow with what it receives; so it has room for 64 KiB.
    options = [("grpc.http2.bdp_probe", 0)]
    with grpc.insecure_channel(server.address, options) as channel:
        answers = OpponentServiceStub(channel).AnalyzeBatch(items())
        time.sleep(3)
        assert WINDOW < sent < count
        assert {answer.id for answer in answers} == {str(n) for n in range(count)}


ANALYSIS = Engine().suggest(OPENING, limits=Limits(simulations=10))


async def test_no_more_items_are_read_than_the_window_has_room_for() -> None:
    taken = 0

    async def items() -> AsyncIterator[AnalyzeBatchRequest]:
        nonlocal taken
        for n in range(1000):
            taken += 1
            yield item(str(n)) if n % 2 else item("")

    async def search(_question: Question, _priority: int) -> Analysis:
        await asyncio.sleep(0)
        return ANALYSIS

    def read(request: AnalyzeBatchRequest, faults: Faults) -> Question:
        return read_question(request, faults, Settings(workers=1))

    answers = Batch(read, search, 2, "Test").answer(items())
    seen = 0
    async for answer in answers:
        seen += 1
        assert answer.HasField("analysis") == bool(answer.index % 2)
        if seen % 100 == 0:
            await asyncio.sleep(0.05)
            assert taken == min(1000, seen - 1 + WINDOW)
    assert seen == taken == 1000
