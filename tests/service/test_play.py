"""OpponentService.Play over the wire: bots that keep their seats through games."""

import queue
import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from aleator.search import Position
from aleator.search.games import game_ids
from aleator.service.convert import write_state
from aleator.v1.opponent_service_pb2_grpc import OpponentServiceStub
from aleator.v1.play_pb2 import PlayRequest, PlayResponse
from tests.service.process import ServerProcess, details_of

OPENING = Position.create("roygbiv", seed=5)
FEW = {"simulations": 20}
LONG = {"time": {"seconds": 50}}


class Client:
    """A call of Play, in the thread of the test."""

    def __init__(self, stub: OpponentServiceStub, **options: Any) -> None:
        self._requests: queue.Queue[PlayRequest | None] = queue.Queue()
        self.responses = stub.Play(iter(self._requests.get, None), **options)

    def send(self, game_id: str, **action: Any) -> None:
        self._requests.put(PlayRequest(game_id=game_id, **action))

    def receive(self) -> PlayResponse:
        return next(self.responses)

    def ask(self, game_id: str, **action: Any) -> PlayResponse:
        self.send(game_id, **action)
        return self.receive()

    def end(self) -> None:
        self._requests.put(None)


@contextmanager
def play(server: ServerProcess, **options: Any) -> Iterator[Client]:
    client = Client(server.opponent, **options)
    try:
        yield client
    finally:
        client.end()
        client.responses.cancel()


def seen(position: Position, seat: int) -> dict[str, Any]:
    """What a seat may know, as an action has it."""
    return {"state": write_state(position.observe(seat))}


def fields_of(response: PlayResponse) -> list[str]:
    """The fields at fault of an answer that is an error."""
    return [fault.field for fault in details_of(response.error)["BadRequest"].field_violations]


@pytest.mark.parametrize("game", game_ids())
def test_bots_in_all_seats_play_a_whole_game(server: ServerProcess, game: str) -> None:
    position = Position.create(game, {"max_rolls": 60} if game == "generator" else None, seed=3)
    rng = random.Random(3)
    with play(server) as client:
        for seat in range(position.seats):
            start = {"seat": seat, "limits": FEW, "seed": seat} | seen(position, seat)
            client.send(str(seat), start=start)
        while True:
            answers = {}
            for _ in range(position.seats):
                answer = client.receive()
                answers[int(answer.game_id)] = answer
            if position.finished:
                break
            moves = {}
            for seat, answer in answers.items():
                if seat in position.seats_to_act:
                    analysis = answer.move.analysis
                    assert analysis.seat == seat
                    moves[seat] = position.find_move(analysis.best_move_notation, seat)
                else:
                    assert tuple(answer.waiting.seats_to_act) == position.seats_to_act, answer
            position, _ = position.apply(moves, seed=rng.getrandbits(64))
            for seat in range(position.seats):
                client.send(str(seat), update=seen(position, seat))
        assert position.win_shares is not None
        for answer in answers.values():
            assert answer.finished.returns == pytest.approx(position.win_shares)
            assert tuple(answer.finished.scores) == position.scores
        found = details_of(client.ask("0", update=seen(position, 0)).error)
        assert found["code"] == "NOT_FOUND"
        assert found["ErrorInfo"].reason == "GAME_NOT_STARTED"
