"""Records of games, and what their moves cost."""

import json
from math import hypot

import pytest

from aleator.search import Engine, Limits, Position
from aleator.search.errors import AleatorError, InvalidInput
from aleator.search.match import play_match
from aleator.search.record import GameRecord, Ply, read_games
from aleator.search.review import GRADES, MoveReview, review_game, sum_up

LIMITS = Limits(simulations=400)


@pytest.fixture
def games(tmp_path):
    file = tmp_path / "games.jsonl"
    play_match("roygbiv", "random", "greedy", pairs=1, seed=1, record=file)
    play_match("riviera", "random", "random", pairs=1, seed=1, record=file)
    return file


def test_a_match_is_written_down(games):
    records = read_games(games)
    assert [record.game for record in records] == ["roygbiv", "roygbiv", "riviera", "riviera"]
    assert {record.players for record in records[:2]} == {
        ("random", "greedy"),
        ("greedy", "random"),
    }
    result = play_match("roygbiv", "random", "greedy", pairs=1, seed=1)
    scores = [record.scores[record.players.index("greedy")] for record in records[:2]]
    assert sum(scores) / 2 == result.bots[1].score
    for record in records:
        assert sum(record.win_shares) == pytest.approx(1)
        for ply, after in zip(record.plies, record.plies[1:], strict=False):
            position = Position.parse(ply.position)
            assert set(ply.moves) == set(position.seats_to_act)
            moves = {seat: position.find_move(move, seat) for seat, move in ply.moves.items()}
            if record.game == "roygbiv":  # luck decides about hands only
                reached, _ = position.apply(moves, seed=0)
                assert reached.scores == Position.parse(after.position).scores


def test_a_record_is_the_same_by_any_number_of_processes(games, tmp_path):
    shared = tmp_path / "shared.jsonl"
    play_match("roygbiv", "random", "greedy", pairs=1, seed=1, record=shared, workers=2)
    assert shared.read_text().splitlines() == games.read_text().splitlines()[:2]


@pytest.mark.parametrize("number", [0, 2])
def test_a_review_judges_every_move(games, number):
    record = read_games(games)[number]
    moves = list(review_game(record, Engine(), LIMITS, seed=1))
    assert [(move.ply, move.seat, move.played) for move in moves] == [
        (index, seat, move)
        for index, ply in enumerate(record.plies)
        for seat, move in ply.moves.items()
    ]
    for move in moves:
        known = Position.parse(move.position)
        assert known == known.observe(move.seat)
        assert move.choices == len(known.moves(move.seat))
        if move.choices == 1 or move.played == move.best:
            assert move.loss == move.error == 0
        if move.error == 0:
            assert not move.grade or move.loss > 0
    summary = sum_up(record, moves)
    assert [seat.player for seat in summary] == list(record.players)
    chosen = [move for move in moves if move.seat == 0 and move.choices > 1]
    assert summary[0].moves == len(chosen)
    assert summary[0].mean_loss == pytest.approx(sum(m.loss for m in chosen) / len(chosen))
    assert summary[0].error == pytest.approx(hypot(*(m.error for m in chosen)) / len(chosen))


def test_what_the_seat_did_not_know_changes_nothing(games):
    record = read_games(games)[0]
    index = 20
    position = Position.parse(record.plies[index].position)
    (seat,) = position.seats_to_act
    other = Position(
        position.codec, position.codec.rules.determinization(position.observe(seat).state, seat, 5)
    )
    assert other != position
    move = position.moves()[0]
    first, second = (
        next(
            review_game(
                record.model_copy(update={"plies": (Ply.of(where, {seat: move}),)}),
                Engine(),
                LIMITS,
                seed=1,
            )
        )
        for where in (position, other)
    )
    assert first == second


def test_a_blunder_is_seen():
    """Near the end of a game: of all plays, the worst by far and the best."""
    position = Position.create("roygbiv", seed=3)
    while sum(position.record["played"]) < 46:
        best = Engine().suggest(position, limits=LIMITS, seed=1).best_move
        position, _ = position.apply({best.seat: best}, seed=1)
    found = Engine().suggest(position, limits=Limits(simulations=4000), seed=1)
    tried = [candidate for candidate in found.candidates if candidate.estimate]
    seat = found.seat
    worst = min(tried, key=lambda candidate: candidate.estimate.win_share[seat])
    gap = found.candidates[0].estimate.win_share[seat] - worst.estimate.win_share[seat]
    record = GameRecord(
        game="roygbiv",
        options=position.options,
        players=("a", "b"),
        plies=(Ply.of(position, {seat: worst.move}), Ply.of(position, {seat: found.best_move})),
    )
    bad, good = review_game(record, Engine(), Limits(simulations=4000), seed=2)
    assert bad.loss == pytest.approx(gap, abs=0.1)
    assert good.loss < 0.05


@pytest.mark.parametrize(
    ("loss", "error", "grade"),
    [
        (0.3, 0.01, "blunder"),
        (0.3, 0.2, ""),
        (0.07, 0.01, "mistake"),
        (0.03, 0.01, "inaccuracy"),
        (0.01, 0.001, ""),
        (-0.2, 0.01, ""),
        (1.0, 0.0, "blunder"),
    ],
)
def test_grades(loss, error, grade):
    move = MoveReview(0, 0, "", "a", "b", 2, 0.5, loss, error)
    assert move.grade == grade
    assert grade in {"", *(word for word, _ in GRADES)}


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"game": "chess"}, "unknown game"),
        ({"plies": [{"position": "roygbiv", "moves": {"0": "1@a1"}}]}, "plies[0].notation: "),
        ({"plies": [{"position": "OPENING", "moves": {"0": "9@a1"}}]}, "plies[0].moves[0]: "),
        ({"plies": [{"position": "OPENING", "moves": {"1": "1@a1"}}]}, "plies[0].moves[1]: "),
    ],
)
def test_a_record_that_cannot_be_played_is_refused(change, path):
    opening = Position.create("roygbiv", seed=1, start_seat=0).notation
    record = {"game": "roygbiv", "options": {"players": 2}, "players": ["a", "b"], "plies": []}
    text = json.dumps(record | change).replace("OPENING", opening)
    with pytest.raises(AleatorError) as caught:
        list(review_game(GameRecord.model_validate_json(text), Engine(), LIMITS, seed=1))
    assert str(caught.value).startswith(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "file: holds no game"),
        ("{}\nx\n", "line 1.game: is missing"),
        ("x\n", "line 1: is not JSON"),
        ("[]\n", "line 1"),
    ],
)
def test_what_is_no_file_of_games_is_refused(tmp_path, text, message):
    file = tmp_path / "games.jsonl"
    file.write_text(text)
    with pytest.raises(InvalidInput) as caught:
        read_games(file)
    assert str(caught.value).startswith(message)
    with pytest.raises(InvalidInput, match="file: No such file"):
        read_games(tmp_path / "nothing")
