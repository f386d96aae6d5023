"""GameService over the wire."""

from collections import Counter

import pytest

from aleator.v1 import game_service_pb2 as messages
from aleator.v1 import state_pb2
from tests.service.process import ServerProcess


def created(server: ServerProcess, **request: object) -> messages.CreateGameResponse:
    request = {"game": "roygbiv", "seed": 1} | request
    return server.games.CreateGame(messages.CreateGameRequest(**request))


def opening(server: ServerProcess, **request: object) -> state_pb2.GameState:
    return created(server, **request).state


def test_pages_of_games_make_the_whole_list(server: ServerProcess) -> None:
    everything = server.games.ListGames(messages.ListGamesRequest())
    assert everything.next_page_token == ""
    games, token = [], ""
    while True:
        page = server.games.ListGames(messages.ListGamesRequest(page_size=1, page_token=token))
        assert len(page.games) == 1
        games += page.games
        token = page.next_page_token
        if not token:
            break
    assert games == list(everything.games)


def test_a_game_is_described_with_its_options_and_rules(server: ServerProcess) -> None:
    answer = server.games.GetGame(messages.GetGameRequest(game="roygbiv"))
    assert list(answer.game.seat_counts) == [2, 3, 4, 6]
    options = {option.name: option for option in answer.game.options}
    assert options["players"].type == "integer"
    assert options["players"].default_value.number_value == 2
    assert [choice.number_value for choice in options["players"].choices] == [2, 3, 4, 6]
    assert options["open_hands"].default_value.WhichOneof("kind") == "bool_value"
    assert answer.rules.startswith("#")
    example = state_pb2.GameState(notation=answer.game.example_notation)
    server.games.ConvertState(messages.ConvertStateRequest(state=example))


def test_the_same_seed_makes_the_same_game(server: ServerProcess) -> None:
    assert opening(server, seed=7) == opening(server, seed=7)
    assert opening(server, seed=7) != opening(server, seed=8)
    assert opening(server, start_seat=1).roygbiv.seat_to_act == 1
    four = opening(server, options={"players": 4, "open_hands": True})
    assert len(four.roygbiv.hands) == 4
    assert dict(four.options) == {"players": 4, "open_hands": True}


@pytest.mark.parametrize("game", ["roygbiv", "generator", "my_shelfie", "riviera"])
def test_a_whole_game_can_be_played(server: ServerProcess, game: str) -> None:
    answer = created(server, game=game)
    state, to_act = answer.state, answer.seats_to_act
    for turn in range(3000):
        # Several seats may be to act: then each has to be asked by name.
        listings = [
            server.games.ListMoves(messages.ListMovesRequest(state=state, seat=seat))
            for seat in to_act
        ]
        if not to_act:
            listed = server.games.ListMoves(messages.ListMovesRequest(state=state))
            break
        notation = server.games.ConvertState(messages.ConvertStateRequest(state=state)).notation
        again = state_pb2.GameState(notation=notation)
        assert server.games.ConvertState(messages.ConvertStateRequest(state=again)).state == state
        moves = [
            {"seat": seat, "move": listing.moves[turn % len(listing.moves)].move}
            for seat, listing in zip(to_act, listings, strict=True)
        ]
        applied = server.games.ApplyMove(
            messages.ApplyMoveRequest(state=state, moves=moves, seed=turn)
        )
        assert applied.events
        assert all(event.WhichOneof("event") == game for event in applied.events)
        assert all(event.kind and event.description for event in applied.events)
        state = applied.state
        to_act = applied.seats_to_act
        assert not listings or list(listings[0].seats_to_act) == [move["seat"] for move in moves]
    assert listed.finished
    assert not listed.moves
    assert not listed.seats_to_act
    assert applied.finished
    assert sum(applied.returns) == pytest.approx(1)
    assert applied.scores == listed.scores


def test_moves_by_notation_and_given_draws_do_the_same(server: ServerProcess) -> None:
    state = opening(server)
    move = server.games.ListMoves(messages.ListMovesRequest(state=state)).moves[3]
    typed = server.games.ApplyMove(
        messages.ApplyMoveRequest(
            state=state, moves=[{"seat": state.roygbiv.seat_to_act, "move": move.move}], seed=5
        )
    )
    seat = state.roygbiv.seat_to_act
    drawn = Counter(typed.state.roygbiv.hands[seat].dice)
    drawn -= Counter(state.roygbiv.hands[seat].dice)
    drawn = drawn or Counter([move.move.roygbiv.value])  # drew what it had played
    (die,) = drawn
    spelt = server.games.ApplyMove(
        messages.ApplyMoveRequest(
            state=state,
            moves=[{"move": {"notation": move.notation}}],
            outcome={"roygbiv": {"drawn": die}},
        )
    )
    assert spelt == typed


def test_a_seat_is_shown_its_own_hand_only(server: ServerProcess) -> None:
    state = opening(server)
    for seat in (0, 1):
        request = messages.ObserveStateRequest(state=state, seat=seat)
        seen = server.games.ObserveState(request).state
        assert seen.roygbiv.hands[seat] == state.roygbiv.hands[seat]
        assert not seen.roygbiv.hands[1 - seat].dice
        assert seen.roygbiv.hands[1 - seat].hidden_count == 3
        again = messages.ObserveStateRequest(state=seen, seat=seat)
        assert server.games.ObserveState(again).state == seen


def test_secret_choices_may_come_one_after_another(server: ServerProcess) -> None:
    """As they do to a referee who waits for three apps; in the end it is as if all came at once."""
    state = opening(server, game="riviera", options={"players": 3})
    choices = {
        seat: server.games.ListMoves(messages.ListMovesRequest(state=state, seat=seat)).moves[0]
        for seat in range(3)
    }

    def apply(position: state_pb2.GameState, *seats: int) -> messages.ApplyMoveResponse:
        moves = [{"seat": seat, "move": choices[seat].move} for seat in seats]
        return server.games.ApplyMove(
            messages.ApplyMoveRequest(state=position, moves=moves, seed=3)
        )

    first = apply(state, 2)
    assert list(first.seats_to_act) == [0, 1]
    assert [(event.seat, event.kind) for event in first.events] == [(2, "chose")]
    assert first.state.riviera.seats[2].choice == choices[2].move.riviera
    for seat in (0, 1, 2):
        request = messages.ObserveStateRequest(state=first.state, seat=seat)
        seen = server.games.ObserveState(request).state.riviera.seats[2]
        assert seen.HasField("choice") == (seat == 2)
        assert seen.choice_hidden == (seat != 2)
    notation = server.games.ConvertState(messages.ConvertStateRequest(state=first.state)).notation
    second = apply(state_pb2.GameState(notation=notation), 0)
    assert list(second.seats_to_act) == [1]
    listed = server.games.ListMoves(messages.ListMovesRequest(state=second.state))
    assert listed.moves[0] == choices[1]  # the only seat left need not be named
    assert apply(second.state, 1) == apply(state, 0, 1, 2)
