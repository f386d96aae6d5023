"""Between messages and the values of `aleator.search`.

Typed messages are read into and built from records, plain data whose keys are the names of the
message's fields. So nothing here knows the fields of any game: its message lies in the oneof field
that is named like the game.

The paths of errors raised here continue the path of the message read.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

from google.protobuf.duration_pb2 import Duration
from google.protobuf.json_format import ParseDict
from google.protobuf.message import Message
from google.protobuf.struct_pb2 import Struct, Value

from aleator.search import (
    Analysis,
    Candidate,
    Estimate,
    Limits,
    Move,
    Position,
    Report,
    StopReason,
)
from aleator.search.errors import InvalidInput, Violation, shorten
from aleator.search.games import Codec, GameEvent, Record, codec_class, game_ids
from aleator.search.strength import Strength, elo_range
from aleator.v1 import analysis_pb2, game_service_pb2, opponent_service_pb2, state_pb2

MOVES_LIMIT = 1000
"""Moves that a list in a request may have."""
EVENTS_LIMIT = 100
"""Events that one may have: they are followed one by one."""
REPORT_INTERVAL = 0.5
SHORTEST_INTERVAL = 0.05
LONGEST_INTERVAL = 60.0
"""Seconds between the reports of an analysis: the default, and the bounds."""
KEPT_STATES = 1000
KEPT_BYTES = 2000
"""Positions that are kept once they were read, and the most bytes of one: a client often sends the
same position again at once, for its moves, a suggestion, and the move that it then makes."""
KEPT_MOVES = 10_000
"""Moves that are kept once they were written."""
_STOP_REASONS: Final = {
    None: analysis_pb2.STOP_REASON_UNSPECIFIED,
    StopReason.ONLY_MOVE: analysis_pb2.STOP_REASON_ONLY_MOVE,
    StopReason.SIMULATIONS: analysis_pb2.STOP_REASON_SIMULATIONS,
    StopReason.TIME: analysis_pb2.STOP_REASON_TIME,
    StopReason.STOPPED: analysis_pb2.STOP_REASON_STOPPED,
    StopReason.SOLVED: analysis_pb2.STOP_REASON_SOLVED,
    StopReason.DECIDED: analysis_pb2.STOP_REASON_DECIDED,
}


def read_record(message: Message) -> Record:
    """Read the fields that are set into plain data, keyed by their names."""
    record: Record = {}
    for field, value in message.ListFields():
        if field.message_type is None:
            record[field.name] = list(value) if field.is_repeated else value
        elif field.is_repeated:
            record[field.name] = [read_record(item) for item in value]
        else:
            record[field.name] = read_record(value)
    return record


def read_options(options: Struct) -> dict[str, Any]:
    """Read a Struct into plain data."""
    return {name: _read_value(value) for name, value in options.fields.items()}


def _read_value(value: Value) -> Any:
    match value.WhichOneof("kind"):
        case "list_value":
            return [_read_value(item) for item in value.list_value.values]
        case "struct_value":
            return read_options(value.struct_value)
        case "bool_value":
            return value.bool_value
        case "number_value":
            return value.number_value
        case "string_value":
            return value.string_value
    return None


def read_state(state: state_pb2.GameState) -> Position:
    """Read a position."""
    data = state.SerializeToString(deterministic=True)
    return _read_kept_state(data) if len(data) <= KEPT_BYTES else _read_state(state)


@lru_cache(maxsize=KEPT_STATES)
def _read_kept_state(data: bytes) -> Position:
    return _read_state(state_pb2.GameState.FromString(data))


def _read_state(state: state_pb2.GameState) -> Position:
    kind = state.WhichOneof("state")
    options = read_options(state.options)
    if kind == "notation":
        return Position.parse(state.notation, state.game or None, options)
    if kind is None:
        raise InvalidInput.at("", "holds no position: set a typed state or `notation`")
    if state.game and state.game != kind:
        codec_class(state.game)  # an unknown game is an error of its own
        raise InvalidInput.at("game", f"is {shorten(state.game)}, but the typed state is of {kind}")
    return Position.from_record(kind, options, read_record(getattr(state, kind)))


def game_named(state: state_pb2.GameState) -> str | None:
    """Tell which game a position is of, also one that cannot be read; None if that is unclear."""
    kind = state.WhichOneof("state")
    words = [kind] if kind != "notation" else state.notation.split(maxsplit=1)
    named = {state.game, *words[:1]} - {"", None}
    return named.pop() if len(named) == 1 and named <= set(game_ids()) else None


def locate(error: InvalidInput, state: state_pb2.GameState) -> InvalidInput:
    """Continue the paths of an error about the record of a position to where it was sent."""
    kind = state.WhichOneof("state")
    assert kind is not None, "a position was read from it"
    violations = []
    for violation in error.violations:
        path, message = violation
        if path == "game" or path.partition(".")[0] == "options":
            violations.append(violation)
        elif kind == "notation":
            violations.append(Violation(kind, f"{path}: {message}" if path else message))
        else:
            violations.append(violation.under(kind))
    return InvalidInput(violations)


def write_state(position: Position) -> state_pb2.GameState:
    """Write a position as a typed state."""
    typed: dict[str, Any] = {position.game: position.record}
    return state_pb2.GameState(game=position.game, options=position.options, **typed)


def read_move(move: state_pb2.Move, position: Position, seat: int | None) -> Move:
    """Read a legal move of a seat."""
    kind = move.WhichOneof("move")
    if kind == "notation":
        return position.find_move(move.notation, seat)
    if kind is None:
        raise InvalidInput.at("", "holds no move: set a typed move or `notation`")
    if kind != position.game:
        raise InvalidInput.at(kind, f"is a move of {kind}, but the game is {position.game}")
    return position.find_move(read_record(getattr(move, kind)), seat)


def check_count(moves: Sequence[Any]) -> None:
    """Check that a list of moves is not too long to read."""
    if len(moves) > MOVES_LIMIT:
        raise InvalidInput.at("", f"has {len(moves)} moves; at most {MOVES_LIMIT} are read")


def write_move(move: Move) -> tuple[state_pb2.Move, str]:
    """Write a move as a typed move and as notation; the message must not be changed."""
    return write_code(move.codec, move.code)


@lru_cache(maxsize=KEPT_MOVES)
def write_code(codec: Codec, code: int) -> tuple[state_pb2.Move, str]:
    """Write the move of a code; answers are full of the same moves, so they are kept."""
    typed: dict[str, Any] = {codec.id: codec.write_move(code)}
    return state_pb2.Move(**typed), codec.format_move(code)


def read_outcome(outcome: state_pb2.Outcome, game: str) -> Record:
    """Read a chance outcome of a game."""
    kind = outcome.WhichOneof("outcome")
    if kind is None:
        raise InvalidInput.at("", "holds no outcome")
    if kind != game:
        raise InvalidInput.at(kind, f"is an outcome of {kind}, but the game is {game}")
    return read_record(getattr(outcome, kind))


def read_events(events: Sequence[state_pb2.GameEvent], game: str) -> list[Record]:
    """Read events of a game."""
    if len(events) > EVENTS_LIMIT:
        raise InvalidInput.at("", f"are {len(events)}; at most {EVENTS_LIMIT} are read")
    wrong = []
    records = []
    for index, event in enumerate(events):
        kind = event.WhichOneof("event")
        record = {} if kind is None else read_record(getattr(event, kind))
        if kind is not None and kind != game:
            what = f"is an event of {kind}, but the game is {game}"
            wrong.append(Violation(f"[{index}].{kind}", what))
        elif not record:
            wrong.append(Violation(f"[{index}]", "holds no typed event"))
        records.append(record)
    if wrong:
        raise InvalidInput(wrong)
    return records


def write_event(event: GameEvent, game: str) -> state_pb2.GameEvent:
    """Write an event of a game."""
    typed: dict[str, Any] = {game: event.record}
    return state_pb2.GameEvent(
        seat=event.seat, kind=event.kind, description=event.description, **typed
    )


def read_limits(limits: analysis_pb2.Limits) -> Limits:
    """Read what a search may spend, as it was asked for."""
    return Limits(
        time=read_duration(limits.time) if limits.HasField("time") else None,
        simulations=limits.simulations if limits.HasField("simulations") else None,
        threads=limits.threads if limits.HasField("threads") else 1,
    )


def read_report_interval(request: opponent_service_pb2.AnalyzePositionRequest) -> float:
    """Read how many seconds lie between the reports of an analysis."""
    if not request.HasField("report_interval"):
        return REPORT_INTERVAL
    interval = read_duration(request.report_interval)
    if not SHORTEST_INTERVAL <= interval <= LONGEST_INTERVAL:
        raise InvalidInput.at(
            "", f"must be {SHORTEST_INTERVAL}..{LONGEST_INTERVAL} seconds, not {interval}"
        )
    return interval


def read_strength(strength: analysis_pb2.Strength) -> Strength:
    """Read how strongly to play, as it was asked for."""
    return Strength(
        level=strength.level if strength.HasField("level") else None,
        elo=strength.elo if strength.HasField("elo") else None,
    )


def read_duration(duration: Duration) -> float:
    """Seconds of a duration; those of an invalid one are negative."""
    if not 0 <= duration.nanos < 1_000_000_000:
        return -1.0
    return duration.seconds + duration.nanos / 1e9


def write_duration(seconds: float) -> Duration:
    """Write seconds as a duration."""
    nanoseconds = round(seconds * 1e9)
    return Duration(seconds=nanoseconds // 1_000_000_000, nanos=nanoseconds % 1_000_000_000)


def write_analysis(analysis: Analysis) -> analysis_pb2.Analysis:
    """Write what a search found."""
    statistics = analysis.statistics
    best_move, best_move_notation = write_move(analysis.best_move)
    return analysis_pb2.Analysis(
        best_move=best_move,
        best_move_notation=best_move_notation,
        seat=analysis.seat,
        candidates=[_write_candidate(candidate) for candidate in analysis.candidates],
        estimate=_write_estimate(analysis.estimate),
        statistics=analysis_pb2.Statistics(
            simulations=statistics.simulations,
            determinizations=statistics.determinizations,
            nodes=statistics.nodes,
            depth=statistics.depth,
            memory=statistics.memory,
            elapsed=write_duration(statistics.elapsed),
            threads=statistics.threads,
            seed=statistics.seed,
            stop_reason=_STOP_REASONS[statistics.stop_reason],
            exact=statistics.exact,
        ),
        warnings=analysis.warnings,
    )


def write_report(report: Report) -> opponent_service_pb2.AnalyzePositionResponse:
    """Write a report of a search."""
    return opponent_service_pb2.AnalyzePositionResponse(
        analysis=write_analysis(report.analysis), final=report.final
    )


def _write_candidate(candidate: Candidate) -> analysis_pb2.Candidate:
    move, notation = write_move(candidate.move)
    return analysis_pb2.Candidate(
        move=move,
        notation=notation,
        visits=candidate.visits,
        estimate=_write_estimate(candidate.estimate),
        probability=candidate.probability,
        principal_variation=[_write_variation(move) for move in candidate.principal_variation],
    )


def _write_variation(variation_move: Move) -> analysis_pb2.VariationMove:
    move, notation = write_move(variation_move)
    return analysis_pb2.VariationMove(seat=variation_move.seat, move=move, notation=notation)


def _write_estimate(estimate: Estimate | None) -> analysis_pb2.Estimate | None:
    if estimate is None:
        return None
    return analysis_pb2.Estimate(
        win_shares=estimate.win_share,
        scores=estimate.score,
        standard_error=estimate.standard_error,
        lower_bound=estimate.lower_bound,
    )


def write_game(codec: type[Codec]) -> game_service_pb2.Game:
    """Describe a game."""
    game = game_service_pb2.Game(
        game=codec.id,
        title=codec.title,
        seat_counts=codec.seat_counts,
        hidden=codec.hidden,
        example_notation=codec.example,
    )
    if span := elo_range(codec.id):
        game.elo_range.minimum, game.elo_range.maximum = span
    for option in codec.option_list():
        game.options.add(
            name=option.name,
            type=option.type,
            default_value=ParseDict(option.default, Value()),
            choices=[ParseDict(choice, Value()) for choice in option.choices],
            description=option.description,
        )
    return game
