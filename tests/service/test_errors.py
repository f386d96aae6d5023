"""What a client can send wrongly: the code, the reason, and the path of the field, every time."""

from typing import Any

import grpc
import pytest
from google.protobuf.struct_pb2 import Struct

from aleator.search import Position
from aleator.v1 import game_service_pb2 as games
from aleator.v1.opponent_service_pb2 import SuggestMoveRequest
from tests.service.process import ServerProcess, details

OPENING = Position.create("roygbiv", seed=5, start_seat=0)
NOTATION = OPENING.notation
BOARD, PLAYED, HANDS, SCORES = NOTATION.split()[1:5]


def typed(**changes: Any) -> dict[str, Any]:
    """The opening as a typed state, with some fields changed."""
    return {"game": "roygbiv", "roygbiv": OPENING.record | changes}


def finished() -> Position:
    position = OPENING
    while not position.finished:
        position, _ = position.apply({position.acting_seat(): position.moves()[0]}, seed=1)
    return position


def cells(*, length: int = 49, **at: int) -> list[int]:
    board = (OPENING.record["cells"] + [0] * 10)[:length]
    for cell, value in at.items():
        board[int(cell.removeprefix("c"))] = value
    return board


def hands(first: list[int]) -> list[dict[str, Any]]:
    return [{"dice": first}, {"hidden_count": 3}]


INVALID_STATES = {
    "unset": ({}, "state"),
    "over-long board": (typed(cells=cells(length=50)), "state.roygbiv.cells"),
    "a die of 8 on the board": (typed(cells=cells(c3=8)), "state.roygbiv.cells[3]"),
    "a die of 8 in a hand": (typed(hands=hands([1, 8, 2])), "state.roygbiv.hands[0].dice[1]"),
    "eight 3s": (
        typed(played=[0, 0, 7, 0, 0, 0, 0], hands=hands([3, 1, 1])),
        "state.roygbiv.hands[0].dice[0]",
    ),
    "a hand that disagrees with the ply": (typed(hands=hands([1])), "state.roygbiv.hands[0].dice"),
    "no such seat to act": (typed(seat_to_act=2**32 - 1), "state.roygbiv.seat_to_act"),
    "another game than said": (typed() | {"game": "generator"}, "state.game"),
    "unknown option": (typed() | {"options": {"colour": "red"}}, "state.options.colour"),
    "option of a wrong type": (typed() | {"options": {"players": "two"}}, "state.options.players"),
    "option that is no number": (
        typed() | {"options": {"players": float("nan")}},
        "state.options.players",
    ),
    "option out of range": (typed() | {"options": {"players": 5.0}}, "state.options.players"),
    "null option": (typed() | {"options": {"open_hands": None}}, "state.options.open_hands"),
    "empty notation": ({"notation": ""}, "state.notation"),
    "broken notation": ({"notation": "roygbiv 1/2/3"}, "state.notation"),
    "notation with quotes": ({"notation": f'"{NOTATION}"'}, "state.notation"),
    "notation with a control character": ({"notation": f"{NOTATION}\n\x00"}, "state.notation"),
    "notation with other letters": ({"notation": f"{NOTATION} \N{GAME DIE}"}, "state.notation"),
    "long notation": ({"notation": "roygbiv " + "." * 100_000}, "state.notation"),
    "long row": ({"notation": f"roygbiv {BOARD}. {PLAYED} {HANDS} {SCORES} 0"}, "state.notation"),
    "notation of an option twice": (
        {"notation": f"{NOTATION} open_hands=true open_hands=true"},
        "state.notation",
    ),
}


@pytest.mark.parametrize("method", ["ConvertState", "ListMoves", "SuggestMove"])
@pytest.mark.parametrize("case", INVALID_STATES)
def test_bad_states(server: ServerProcess, method: str, case: str) -> None:
    state, path = INVALID_STATES[case]
    assert path in faults(refused(server, method, state=state))


LINE = {"notation": NOTATION}
MOVE = {"notation": OPENING.moves()[0].notation}
REQUESTS: dict[str, tuple[str, dict[str, Any], dict[str, str]]] = {
    "no such seat": (
        "SuggestMove",
        {"state": LINE, "seat": 2},
        {"seat": "INVALID_INPUT"},
    ),
    "the largest seat": (
        "ListMoves",
        {"state": LINE, "seat": 2**32 - 1},
        {"seat": "INVALID_INPUT"},
    ),
    "no seat to observe": ("ObserveState", {"state": LINE}, {"seat": "INVALID_INPUT"}),
    "no such start seat": (
        "CreateGame",
        {"game": "roygbiv", "start_seat": 2},
        {"start_seat": "INVALID_INPUT"},
    ),
    "unknown option of a new game": (
        "CreateGame",
        {"game": "roygbiv", "options": {"colour": [1, {"a": None}]}},
        {"options.colour": "INVALID_INPUT"},
    ),
    "negative time": (
        "SuggestMove",
        {"state": LINE, "limits": {"time": {"seconds": -1}}},
        {"limits.time": "INVALID_INPUT"},
    ),
    "no time": (
        "SuggestMove",
        {"state": LINE, "limits": {"time": {}}},
        {"limits.time": "INVALID_INPUT"},
    ),
    "mixed signs of a time": (
        "SuggestMove",
        {"state": LINE, "limits": {"time": {"seconds": 1, "nanos": -1}}},
        {"limits.time": "INVALID_INPUT"},
    ),
    "everything wrong at once": (
        "SuggestMove",
        {
            "state": typed(scores=[1], played=[9, 0, 0, 0, 0, 0, 0]),
            "limits": {"time": {"nanos": -1}, "simulations": 0, "threads": 0},
            "strength": {"level": 11},
        },
        {
            "state.roygbiv.scores": "INVALID_INPUT",
            "state.roygbiv.played[0]": "INVALID_INPUT",
            "limits.time": "INVALID_INPUT",
            "limits.simulations": "INVALID_INPUT",
            "limits.threads": "INVALID_INPUT",
            "strength.level": "INVALID_INPUT",
        },
    ),
    "more threads than the server has": (
        "SuggestMove",
        {"state": LINE, "limits": {"threads": 200}},
        {"limits.threads": "INVALID_INPUT"},
    ),
    "level 0": (
        "SuggestMove",
        {"state": LINE, "strength": {"level": 0}},
        {"strength.level": "INVALID_INPUT"},
    ),
    "an Elo that no level has": (
        "SuggestMove",
        {"state": LINE, "strength": {"elo": -99999}},
        {"strength.elo": "INVALID_INPUT"},
    ),
    "such an Elo beside a typed state that is wrong": (
        "SuggestMove",
        {"state": typed(scores=[1]), "strength": {"elo": -99999}},
        {"state.roygbiv.scores": "INVALID_INPUT", "strength.elo": "INVALID_INPUT"},
    ),
    "such an Elo beside a notation that is wrong": (
        "SuggestMove",
        {"state": {"notation": "roygbiv 1/2/3"}, "strength": {"elo": -99999}},
        {"state.notation": "INVALID_INPUT", "strength.elo": "INVALID_INPUT"},
    ),
    "such an Elo beside a notation that begins with blanks": (
        "SuggestMove",
        {"state": {"notation": f"  {NOTATION}"}, "strength": {"elo": -99999}},
        {"strength.elo": "INVALID_INPUT"},
    ),
    "such an Elo beside a state said to be of two games": (
        "SuggestMove",
        {"state": typed() | {"game": "riviera"}, "strength": {"elo": -99999}},
        {"state.game": "INVALID_INPUT"},
    ),
    "such an Elo beside a notation of another game than is said": (
        "SuggestMove",
        {"state": {"game": "riviera", "notation": NOTATION}, "strength": {"elo": -99999}},
        {"state.notation": "INVALID_INPUT"},
    ),
    "such an Elo beside a notation of no game": (
        "SuggestMove",
        {"state": {"notation": ""}, "strength": {"elo": -99999}},
        {"state.notation": "INVALID_INPUT"},
    ),
    "a hidden hand": (
        "SuggestMove",
        {"state": {"notation": OPENING.observe(1).notation}},
        {"state": "HAND_HIDDEN"},
    ),
    "an occupied cell": (
        "SuggestMove",
        {"state": LINE, "allowed_moves": [MOVE, {"notation": MOVE["notation"][:2] + "d4"}]},
        {"allowed_moves[1].notation": "ILLEGAL_MOVE"},
    ),
    "moves that are none": (
        "SuggestMove",
        {"state": LINE, "avoided_moves": [{}, {"roygbiv": {"value": 8, "row": 0}}]},
        {
            "avoided_moves[0]": "INVALID_INPUT",
            "avoided_moves[1].roygbiv.value": "INVALID_INPUT",
            "avoided_moves[1].roygbiv.column": "INVALID_INPUT",
        },
    ),
    "a move of another game": (
        "SuggestMove",
        {"state": LINE, "avoided_moves": [{"generator": {}}]},
        {"avoided_moves[0].generator": "INVALID_INPUT"},
    ),
    "every move avoided": (
        "SuggestMove",
        {"state": LINE, "allowed_moves": [MOVE], "avoided_moves": [MOVE]},
        {"avoided_moves": "INVALID_INPUT"},
    ),
    "very many moves": (
        "SuggestMove",
        {"state": LINE, "allowed_moves": [{"notation": "x"}] * 5000},
        {"allowed_moves": "INVALID_INPUT"},
    ),
    "no move": ("ApplyMove", {"state": LINE}, {"moves": "INVALID_INPUT"}),
    "a broken move": (
        "ApplyMove",
        {"state": LINE, "moves": [{"move": {"notation": "'5'@d9\n"}}]},
        {"moves[0].move.notation": "INVALID_INPUT"},
    ),
    "two moves of a seat": (
        "ApplyMove",
        {"state": LINE, "moves": [{"move": MOVE}, {"move": MOVE}]},
        {"moves[1].seat": "INVALID_INPUT"},
    ),
    "an outcome that is none": (
        "ApplyMove",
        {"state": LINE, "moves": [{"move": MOVE}], "outcome": {}},
        {"outcome": "INVALID_INPUT"},
    ),
    "an impossible draw": (
        "ApplyMove",
        {"state": LINE, "moves": [{"move": MOVE}], "outcome": {"roygbiv": {"drawn": 8}}},
        {"outcome.roygbiv.drawn": "INVALID_INPUT"},
    ),
    "a move in an observation": (
        "ApplyMove",
        {"state": {"notation": OPENING.observe(0).notation}, "moves": [{"move": MOVE}]},
        {"state": "FULL_STATE_REQUIRED"},
    ),
    "a page of nowhere": (
        "ListGames",
        {"page_token": "'; drop table games"},
        {"page_token": "INVALID_INPUT"},
    ),
}


@pytest.mark.parametrize("case", REQUESTS)
def test_bad_requests(server: ServerProcess, case: str) -> None:
    method, request, expected = REQUESTS[case]
    found = faults(refused(server, method, **request))
    assert expected == found


@pytest.mark.parametrize("method", ["ListMoves", "SuggestMove", "ApplyMove"])
def test_a_seat_that_is_not_to_act(server: ServerProcess, method: str) -> None:
    asked = {"moves": [{"seat": 1, "move": MOVE}]} if method == "ApplyMove" else {"seat": 1}
    found = refused(server, method, state=LINE, **asked)
    assert (found["code"], found["ErrorInfo"].reason) == ("FAILED_PRECONDITION", "SEAT_NOT_TO_ACT")
    assert dict(found["ErrorInfo"].metadata) == {"seat": "1", "seats_to_act": "0"}


SECRET = {"notation": Position.create("riviera", {"players": 3}, seed=1).notation}
PASS = {"move": {"notation": "pass"}}


@pytest.mark.parametrize(
    ("method", "request_fields", "paths", "metadata"),
    [
        ("ListMoves", {"state": SECRET}, {"seat"}, {"seats_to_act": "0,1,2"}),
        ("SuggestMove", {"state": SECRET}, {"seat"}, {"seats_to_act": "0,1,2"}),
        (
            "ApplyMove",
            {"state": SECRET, "moves": [PASS, PASS]},
            {"moves[0].seat", "moves[1].seat"},
            {"seats_to_act": "0,1,2"},
        ),
        (
            "ApplyMove",
            {"state": SECRET, "moves": [PASS | {"seat": 1}]},
            {"moves[0].move.notation"},
            {"seat": "1", "move": "pass"},
        ),
        (
            "ApplyMove",
            {"state": SECRET, "moves": [PASS | {"seat": 1}, PASS | {"seat": 2}]},
            {"moves[0].move.notation", "moves[1].move.notation"},
            {"move": "pass"},
        ),
        (
            "ListMoves",
            {"state": {"notation": OPENING.observe(1).notation}},
            {"state"},
            {"seat": "0"},
        ),
    ],
)
def test_what_varies_is_told_for_programs(
    server: ServerProcess,
    method: str,
    request_fields: dict[str, Any],
    paths: set[str],
    metadata: dict[str, str],
) -> None:
    found = refused(server, method, **request_fields)
    assert set(faults(found)) == paths
    assert dict(found["ErrorInfo"].metadata) == metadata
    assert set(faults(found).values()) == {found["ErrorInfo"].reason}


@pytest.mark.parametrize("method", ["SuggestMove", "ApplyMove"])
def test_a_finished_game(server: ServerProcess, method: str) -> None:
    asked = {"moves": [{"move": MOVE}]} if method == "ApplyMove" else {}
    found = refused(server, method, state={"notation": finished().notation}, **asked)
    assert (found["code"], found["ErrorInfo"].reason) == ("FAILED_PRECONDITION", "GAME_FINISHED")


@pytest.mark.parametrize(
    ("method", "request_fields"),
    [
        ("GetGame", {"game": "chess"}),
        ("CreateGame", {"game": "chess"}),
        ("ConvertState", {"state": {"notation": "chess e4"}}),
        ("ConvertState", {"state": {"game": "chess", "notation": "chess e4"}}),
        ("ConvertState", {"state": typed() | {"game": "chess"}}),
    ],
)
def test_an_unknown_game(
    server: ServerProcess, method: str, request_fields: dict[str, Any]
) -> None:
    found = refused(server, method, **request_fields)
    assert (found["code"], found["ErrorInfo"].reason) == ("NOT_FOUND", "UNKNOWN_GAME")
    assert found["ErrorInfo"].metadata["game"] == "chess"


def test_a_deadline_that_cannot_be_met(server: ServerProcess) -> None:
    request = SuggestMoveRequest(state=LINE)
    with pytest.raises(grpc.RpcError) as refusal:
        server.opponent.SuggestMove(request, timeout=0.0005)
    assert refusal.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED


METHODS = ["GameService/CreateGame", "GameService/ApplyMove", "OpponentService/SuggestMove"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (bytes(range(256)) * 40_000, "REQUEST_TOO_LARGE"),
        (b"\n\xff\xff\xff\xff\x0f" * 1000, "MALFORMED_REQUEST"),
        (b"\n\x04\x1a\x02\xff\xfe", "MALFORMED_REQUEST"),  # text that is not UTF-8
    ],
)
def test_garbage(server: ServerProcess, method: str, data: bytes, reason: str) -> None:
    call = server.channel.unary_unary(f"/aleator.v1.{method}")
    with pytest.raises(grpc.RpcError) as refusal:
        call(data)
    found = details(refusal.value)
    assert (found["code"], found["ErrorInfo"].reason) == ("INVALID_ARGUMENT", reason)
    assert faults(found) == {"": reason}


@pytest.mark.parametrize(
    "service",
    [
        "grpc.health.v1.Health/Watch",
        "grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
    ],
)
def test_garbage_for_the_standard_services(server: ServerProcess, service: str) -> None:
    kind = "stream_stream" if "Reflection" in service else "unary_stream"
    call = getattr(server.channel, kind)(f"/{service}")
    request = iter([b"\xff" * 10]) if kind == "stream_stream" else b"\xff" * 10
    with pytest.raises(grpc.RpcError) as refusal:
        list(call(request))
    assert details(refusal.value)["ErrorInfo"].reason == "MALFORMED_REQUEST"


def test_very_many_faults_still_reach_the_client(server: ServerProcess) -> None:
    state = typed(cells=[9] * 49, played=[8] * 7, scores=[10**9] * 2)
    state["options"] = Struct()
    found = refused(server, "SuggestMove", state=state, limits={"threads": 0})
    assert len(found["BadRequest"].field_violations) > 30
    moves = [{"notation": "\N{GAME DIE}" * 50}] * 900
    found = refused(server, "SuggestMove", state=LINE, allowed_moves=moves)
    assert found["BadRequest"].field_violations[-1].description.startswith("and ")


@pytest.mark.parametrize("character", ["\N{GAME DIE}", "\N{LATIN SMALL LETTER E WITH ACUTE}", "%"])
def test_long_names_of_options_still_reach_the_client(
    server: ServerProcess, character: str
) -> None:
    names = [character * 1500, *(f"{number}{character * 100}" for number in range(100))]
    for options in ({names[0]: 1}, dict.fromkeys(names, 1)):
        found = refused(server, "CreateGame", game="roygbiv", options=options)
        violations = found["BadRequest"].field_violations
        assert violations[0].field.startswith("options.")
        assert character * 25 in violations[0].field
        assert len(violations) == 1 or violations[-1].description.startswith("and ")


def refused(server: ServerProcess, method: str, **fields: Any) -> dict[str, Any]:
    """Call a method that must fail; return the code and the details of the error."""
    if method == "SuggestMove":
        call, request = server.opponent.SuggestMove, SuggestMoveRequest(**fields)
    else:
        call = getattr(server.games, method)
        request = getattr(games, f"{method}Request")(**fields)
    with pytest.raises(grpc.RpcError) as refusal:
        call(request)
    return details(refusal.value)


def faults(found: dict[str, Any]) -> dict[str, str]:
    """The paths of the fields at fault, with the reasons; each has a description."""
    assert found["code"] == "INVALID_ARGUMENT"
    violations = found["BadRequest"].field_violations
    assert all(violation.description for violation in violations)
    return {violation.field: violation.reason for violation in violations}
