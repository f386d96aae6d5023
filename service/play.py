"""The games of one call of Play: what the bots know of them, and when they are to act.

Everything is checked against the last position of its game before it takes its place. The messages
about one game are answered in order; while one bot thinks, others answer.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b
from math import inf
from time import monotonic
from typing import Any, Protocol, TypeAlias

import grpc

from aleator.search import Analysis, Position, Trees
from aleator.search.clock import Clock
from aleator.search.errors import HandHidden, InvalidInput
from aleator.service.convert import (
    locate,
    read_duration,
    read_events,
    read_state,
    write_analysis,
    write_duration,
)
from aleator.service.errors import Faults, Refusal
from aleator.service.exchange import Exchange, check_name, error_status, name_to_tell
from aleator.service.question import Effort, Question, make_question, read_effort
from aleator.service.settings import Settings
from aleator.service.shelf import Shelf
from aleator.v1 import play_pb2, state_pb2

GAMES_LIMIT = 1000
"""Games of one call at once."""
LONGEST_CLOCK = 31_536_000.0
"""Seconds that a clock or its increment may have: a year. What sums of them make is a duration."""
QUICK = 0.002
"""Seconds of a search below which a bot that is short of time makes none."""

Answer: TypeAlias = Callable[..., play_pb2.PlayResponse]
"""Makes the answer to a message of a field of it."""
Result: TypeAlias = dict[str, Any]
"""Such a field by its name."""


class Search(Protocol):
    """How the bots search."""

    def __call__(
        self, question: Question, until: float, *, quick: bool = False
    ) -> Awaitable[Analysis]:
        """Search in its turn and end by a time of the monotonic clock.

        A quick search is a single simulation, and waits for nothing.
        """


@dataclass(eq=False, slots=True)
class _Game:
    """A seat in a game, and what it knows."""

    position: Position  # what the seat may know of it
    seat: int
    effort: Effort
    clock: Clock | None
    seed: int | None
    trees: Trees | None  # of its last search; none where its seed is to tell all its moves
    answer: Analysis | None = None  # for this position, or another of the same decision
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)  # keeps the messages in order
    tasks: set[asyncio.Task[None]] = field(default_factory=set)  # that answer them
    earlier: set[asyncio.Task[None]] = field(default_factory=set)  # that must have ended before

    def see(self, position: Position) -> Position:
        """Make of the next position what the seat knows; raise what cannot be about it."""
        answered = None if self.answer is None else self.answer.best_move
        return position.following(self.position, self.seat, answered)

    def go_on(self, position: Position) -> None:
        """Take a position that was seen; the answer stays if the decision does."""
        if not position.same_decision(self.position, self.seat):
            self.answer = None
        self.position = position

    def question(self, settings: Settings, time: float | None) -> Question:
        """Ask for the move, with at most so many seconds, if any: what is left of them is kept."""
        effort = self.effort
        if time is not None:
            limits = effort.limits
            time = time if limits.time is None else min(time, limits.time)
            effort = replace(effort, limits=replace(limits, time=time))
        return make_question(
            self.position,
            self.seat,
            effort,
            settings,
            seed=self._seed(),
            until_decided=time is not None,
            trees=self.trees,
        )

    def _seed(self) -> int | None:
        """A seed of its own for each position, as draws of mixed strategies must not be alike."""
        if self.seed is None:
            return None
        key = self.seed.to_bytes(8, "big")
        return int.from_bytes(
            blake2b(self.position.notation.encode(), key=key, digest_size=8).digest(), "big"
        )


class Play(Exchange[play_pb2.PlayRequest, play_pb2.PlayResponse]):
    """The games of one call; make it on the event loop.

    Parameters
    ----------
    search : Search
    settings : Settings
    until : float
        When searches must have ended for their answers to arrive in time.
    shelf : Shelf
        For the trees of the bots between their moves.
    """

    def __init__(self, search: Search, settings: Settings, until: float, shelf: Shelf) -> None:
        super().__init__()
        self._shelf = shelf
        self._search = search
        self._settings = settings
        self._until = until
        self._games: dict[str, _Game] = {}
        self._tasks: set[asyncio.Task[None]] = set()  # of all games, also of those ended

    def stop(self) -> None:
        """End all searches."""
        for task in self._tasks:
            task.cancel()

    def take(self, index: int, request: play_pb2.PlayRequest) -> None:
        """Answer what can be answered at once, and have the rest done in its turn."""
        answer = partial(play_pb2.PlayResponse, game_id=name_to_tell(request.game_id), index=index)
        try:
            self._begin(request, answer)
        except Exception as error:  # noqa: BLE001 - the other games go on
            self._refuse(answer, error)

    def _refuse(self, answer: Answer, error: Exception) -> None:
        self.put(answer(error=error_status(error, "Play")))

    def _begin(self, request: play_pb2.PlayRequest, answer: Answer) -> None:
        match request.WhichOneof("action"):
            case "start":
                game = self._read_start(request)
                if request.game_id in self._games:
                    game.earlier = self._end(request.game_id)
                self._games[request.game_id] = game
                self._run(game, answer, self._see(request.game_id, game, None))
            case "update":
                game = self._find(request.game_id)
                self._run(game, answer, self._see(request.game_id, game, request.update))
            case "end":
                game = self._find(request.game_id)
                self._run(game, answer, _leave(self._end(request.game_id)))
            case _:
                raise InvalidInput.at("", "holds no action: set `start`, `update` or `end`")

    def _read_start(self, request: play_pb2.PlayRequest) -> _Game:
        faults = Faults()
        faults.read("game_id", self._check_new, request.game_id)
        start = request.start
        position = faults.read("start.state", read_state, start.state)
        effort = read_effort(start, "start.", faults, self._settings)
        clock = _read_clock(start, faults)
        seen = None
        if position is not None:
            seen = faults.read("start", _observe, position, start)
        faults.check()
        assert effort is not None
        assert seen is not None
        seed = start.seed if start.HasField("seed") else None
        trees = Trees() if seed is None else None
        return _Game(seen, start.seat, effort, clock, seed, trees)

    def _check_new(self, name: str) -> None:
        check_name(name)
        if name not in self._games and len(self._games) >= GAMES_LIMIT:
            raise InvalidInput.at("", f"is one too many: a call has at most {GAMES_LIMIT} games")

    def _find(self, name: str) -> _Game:
        game = self._games.get(name)
        if game is None:
            faults = Faults()
            faults.read("game_id", check_name, name)
            faults.check()
            raise Refusal(
                grpc.StatusCode.NOT_FOUND,
                "GAME_NOT_STARTED",
                "there is no game of this name in the call: start it",
                {"game_id": name},
            )
        return game

    def _end(self, name: str) -> set[asyncio.Task[None]]:
        """Forget a game, and tell what is still to end; its messages are answered soon."""
        game = self._games.pop(name)
        for task in game.tasks:
            task.cancel()
        return game.tasks | game.earlier

    def _run(self, game: _Game, answer: Answer, reaction: Coroutine[Any, Any, Result]) -> None:
        """Have a message answered by what a reaction returns."""
        task = asyncio.create_task(self._answer_by(answer, reaction))
        self._tasks.add(task)
        game.tasks.add(task)
        task.add_done_callback(partial(self._ended, game, answer, reaction))

    def _ended(
        self,
        game: _Game,
        answer: Answer,
        reaction: Coroutine[Any, Any, Result],
        task: "asyncio.Task[None]",
    ) -> None:
        """See that a message has its answer, also one whose game was ended meanwhile."""
        reaction.close()  # it may not have begun
        self._tasks.discard(task)
        game.tasks.discard(task)
        if task.cancelled():
            refusal = Refusal(
                grpc.StatusCode.CANCELLED, "GAME_ENDED", "the game was ended before the answer"
            )
            self._refuse(answer, refusal)

    async def _answer_by(self, answer: Answer, reaction: Coroutine[Any, Any, Result]) -> None:
        try:
            result = await reaction
        except Exception as error:  # noqa: BLE001 - the other games go on
            self._refuse(answer, error)
        else:
            self.put(answer(**result))

    async def _see(self, name: str, game: _Game, update: play_pb2.PlayUpdate | None) -> Result:
        """Go on with a game in its turn, at its start or with an update."""
        async with game.turn:
            if game.earlier:
                await asyncio.wait(game.earlier)
                game.earlier = set()
            if update is not None:
                _read_update(game, update)
            result = await self._react(game)
            if game.position.finished and self._games.get(name) is game:
                del self._games[name]
            return result

    async def _react(self, game: _Game) -> Result:
        """Say what the bot does in its position, as a field of a response."""
        position = game.position
        if position.finished:
            return {
                "finished": play_pb2.PlayFinished(
                    returns=position.win_shares, scores=position.scores
                )
            }
        if game.seat not in position.seats_to_act:
            return {"waiting": play_pb2.PlayWaiting(seats_to_act=position.seats_to_act)}
        if game.answer is None:
            game.answer = await self._think(game, game.clock)
            if game.trees is not None:
                self._shelf.put(game.trees)
        move = play_pb2.PlayMove(analysis=write_analysis(game.answer))
        if game.clock is not None:
            move.time_left.CopyFrom(write_duration(game.clock.left))
        return {"move": move}

    async def _think(self, game: _Game, clock: Clock | None) -> Analysis:
        """Search for as long as there is time; rather than lose on the clock, not at all."""
        if clock is None:
            return await self._search(game.question(self._settings, None), self._until)
        begin = monotonic()
        usable = clock.usable
        budget = clock.budget(game.position, game.seat)
        question = game.question(self._settings, max(budget, QUICK))
        try:
            if budget < QUICK:
                analysis = await self._search(question, inf, quick=True)
            else:
                analysis = await self._search_by(question, min(self._until, begin + usable))
        finally:
            clock.spend(monotonic() - begin)
        clock.left += clock.increment
        return analysis

    async def _search_by(self, question: Question, until: float) -> Analysis:
        """Search until a time at most, for which a server may be too busy."""
        try:
            return await self._search(question, until)
        except Refusal as refusal:
            if monotonic() + (refusal.retry_after or 0.0) < until - QUICK:
                raise  # there is time to try again
            return await self._search(question, inf, quick=True)


async def _leave(earlier: set[asyncio.Task[None]]) -> Result:
    """Leave a seat once what it was asked is answered."""
    if earlier:
        await asyncio.wait(earlier)
    return {"ended": play_pb2.PlayEnded()}


def _read_clock(start: play_pb2.PlayStart, faults: Faults) -> Clock | None:
    if not start.HasField("clock"):
        return None
    time_left = faults.read("start.clock", _read_time, start.clock, "time_left")
    increment: float | None = 0.0
    if start.clock.HasField("increment"):
        increment = faults.read("start.clock", _read_time, start.clock, "increment")
    if time_left is None or increment is None:
        return None
    return Clock(time_left, increment)


def _read_time(message: Any, name: str) -> float:
    """Read a duration of a clock, which may be 0."""
    if not message.HasField(name):
        raise InvalidInput.at(name, "is required")
    seconds = read_duration(getattr(message, name))
    if not 0 <= seconds <= LONGEST_CLOCK:
        wanted = f"must be a duration of 0..{LONGEST_CLOCK:.0f} seconds"
        raise InvalidInput.at(name, wanted)
    return seconds


def _observe(position: Position, start: play_pb2.PlayStart) -> Position:
    """Keep what the seat may know, which is its own hand at least."""
    if not start.HasField("seat"):
        raise InvalidInput.at("seat", "is required")
    seen = position.observe(start.seat)
    if not seen.hand_known(start.seat):
        raise HandHidden(start.seat)
    return seen


def _read_update(game: _Game, update: play_pb2.PlayUpdate) -> None:
    faults = Faults()
    time_left = None
    if update.HasField("time_left"):
        time_left = faults.read("update", _read_time, update, "time_left")
        if game.clock is None:
            faults.read("update.time_left", _refuse, "the bot was given no clock")
    position = None
    if update.events:
        if update.HasField("state"):
            faults.read("update.events", _refuse, "the state tells all")
        position = faults.read("update.events", _follow, game, update.events)
    elif update.HasField("state"):
        position = faults.read("update.state", read_state, update.state)
        if position is not None:
            position = faults.read("update", _see, game, position, update.state)
    else:
        faults.read("update", _ask_for_news)
    faults.check()
    assert position is not None
    game.go_on(position)
    if game.clock is not None and time_left is not None:
        game.clock.left = time_left


def _follow(game: _Game, events: Sequence[state_pb2.GameEvent]) -> Position:
    records = read_events(events, game.position.game)
    position = game.position.after_events(game.seat, records)
    try:
        return game.see(position)
    except InvalidInput as error:
        raise error.without_paths() from None


def _refuse(why: str) -> None:
    raise InvalidInput.at("", f"must be left out: {why}")


def _ask_for_news() -> None:
    raise InvalidInput.at("", "tells nothing new: set `state`, or `events`")


def _see(game: _Game, position: Position, state: state_pb2.GameState) -> Position:
    try:
        return game.see(position)
    except InvalidInput as error:
        raise locate(error, state).under("state") from None
