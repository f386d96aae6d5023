"""Players for matches: random, the reference players of a game, and the engine.

A bot is handed what its seat knows and a seed, and answers with a move; the same observation and
seed bring the same move, save for an engine that is limited by time or goes on from its last
search.

A short text names a bot: ``random``, ``engine``, or the name of one of the game's reference players
in `aleator.search.players`, such as ``greedy``. Settings of the engine follow a colon, joined by
commas: ``engine:sims=1000``, ``engine:time=50ms,threads=2``, ``engine:level=3``,
``engine:elo=1200``.
"""

import random
from abc import ABC, abstractmethod
from collections import defaultdict
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from aleator.ext.core.game import Game
from aleator.ext.core.search import StopFlag
from aleator.search.engine import Engine
from aleator.search.errors import InvalidInput, shorten
from aleator.search.games.base import read_model
from aleator.search.limits import Limits, parse_duration
from aleator.search.players import Player, players_of
from aleator.search.position import Move, Position
from aleator.search.strength import Strength
from aleator.search.trees import Trees


class Bot(ABC):
    """Something that can play any game.

    Attributes
    ----------
    spec : str
        The text that names it.
    """

    spec: str

    @abstractmethod
    def choose(self, position: Position, seat: int, seed: int) -> Move:
        """Choose a move.

        Parameters
        ----------
        position : Position
            What the seat knows.
        seat : int
            A seat that is to act.
        seed : int
            For all that the bot leaves to luck.
        """


class RandomBot(Bot):
    """Plays any legal move, all equally likely."""

    spec = "random"

    def choose(self, position: Position, seat: int, seed: int) -> Move:
        """Choose a move."""
        return random.Random(seed).choice(position.moves(seat))


class PlayerBot(Bot):
    """Plays as a reference player of a game does."""

    def __init__(self, spec: str, player: Player) -> None:
        self.spec = spec
        self._player = player

    def choose(self, position: Position, seat: int, seed: int) -> Move:
        """Choose a move."""
        return self._player(position, seat, random.Random(seed))


class EngineSettings(BaseModel):
    """What may stand after ``engine:``; left out means no limit, one thread, full strength.

    With `reuse` the search for a move goes on from the seat's last one. The settings from
    `knowledge` on are for measuring what the parts of the search are worth, and left out mean what
    suits the game.
    """

    model_config = ConfigDict(extra="forbid")

    sims: int | None = None
    time: str | None = None
    threads: int = 1
    level: int | None = None
    elo: float | None = None
    reuse: bool = False
    knowledge: bool = True
    exploration: float | None = None
    widening_base: float | None = None
    widening_factor: float | None = None
    prior_visits: float | None = None
    depth: Annotated[int, Field(ge=1, le=256)] | None = None
    paired: bool | None = None
    mixed: bool | None = None
    foreseen: bool | None = None
    averaged: bool | None = None
    own_trees: bool | None = None

    @property
    def tuning(self) -> dict[str, float]:
        """The parameters of the search that are set."""
        return self.model_dump(include=set(Game().tuning_values()), exclude_none=True)


class EngineBot(Bot):
    """Plays what the engine suggests.

    Parameters
    ----------
    spec : str
    settings : EngineSettings
    game : str
    stop : StopFlag, optional
        Ends a search under way with what it has found, once it is set.

    Raises
    ------
    InvalidInput
        For settings out of range.
    """

    def __init__(
        self, spec: str, settings: EngineSettings, game: str, stop: StopFlag | None = None
    ) -> None:
        self.spec = spec
        self._stop = stop
        self._limits = Limits(
            time=None if settings.time is None else parse_duration(settings.time),
            simulations=settings.sims,
            threads=settings.threads,
        )
        self._strength = Strength(settings.level, settings.elo)
        self._strength.settings(game)  # complains if the game has no such Elo
        self._engine = Engine(knowledge=settings.knowledge, tuning=settings.tuning)
        self._trees: defaultdict[int, Trees] | None = defaultdict(Trees) if settings.reuse else None

    def choose(self, position: Position, seat: int, seed: int) -> Move:
        """Choose a move."""
        analysis = self._engine.suggest(
            position,
            seat,
            self._limits,
            seed=seed,
            strength=self._strength,
            stop=self._stop,
            trees=None if self._trees is None else self._trees[seat],
        )
        return analysis.best_move


def make_bot(spec: str, game: str, stop: StopFlag | None = None) -> Bot:
    """Make the bot that a text names.

    Parameters
    ----------
    spec : str
    game : str
        The game that it is to play; only a reference player cannot play any.
    stop : StopFlag, optional
        Ends its searches early, once it is set.

    Raises
    ------
    InvalidInput
        If there is no such bot, or for settings that it does not have or cannot have.
    """
    name, _, rest = spec.partition(":")
    if spec == RandomBot.spec:
        return RandomBot()
    players = players_of(game)
    if spec in players:
        return PlayerBot(spec, players[spec])
    if name == "engine":
        words = rest.split(",") if rest else []
        pairs = [word.partition("=") for word in words]
        settings = {key: value for key, _, value in pairs}
        if len(settings) < len(pairs):
            raise InvalidInput.at("", f"must not set anything twice: {shorten(rest)}")
        return EngineBot(spec, read_model(EngineSettings, settings), game, stop)
    names = ", ".join(["random", *sorted(players)])
    raise InvalidInput.at(
        "", f"must, for {game}, be {names} or engine with settings as in engine:sims=1000,"
        f" not {shorten(spec)}"
    )  # fmt: skip
