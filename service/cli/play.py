"""A game of people and the engine, at one terminal.

The referee's full state stays in here: each person is shown observations of the
person's own seat, and the engine looks only at what its seat may know. Where
people must not see what others see or type, they change places in front of an
empty screen. On a terminal every picture replaces the one before; through a
pipe they follow one another, so a program can play a game too.
"""

import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rich.columns import Columns
from rich.console import Console, RenderableType
from rich.markdown import Markdown
from rich.table import Table
from rich.text import Text

from aleator.search import Analysis, Engine, Limits, Move, Position, StopReason, Strength
from aleator.search.errors import InvalidInput
from aleator.search.games import GameEvent
from aleator.search.record import GameRecord, Ply
from aleator.service.cli.report import percent
from aleator.service.cli.think import think
from aleator.service.drawing import Drawing, Scene

HINTS_SHOWN = 3
ERASE_SCROLLED = "\x1b[3J"  # what `Console.clear` leaves
DESCRIBED_MOVES = 20  # a longer list has the notations only
COMMANDS = (
    "moves: all legal moves    hint: what the engine would play\n"
    "position: what you know, for `aleator suggest`    rules: how the game goes    quit: leave it"
)


class PersonLeft(Exception):
    """The person ended the game early."""


@dataclass(frozen=True)
class Opponent:
    """How the engine plays all seats but those of people.

    Attributes
    ----------
    engine, limits, strength
        As `Engine.suggest` takes them.
    pace
        Seconds that a move takes at least where a person must not learn whether it was forced.
    """

    engine: Engine
    limits: Limits
    strength: Strength | None = None
    pace: float = 0.0


class News(NamedTuple):
    """What happened, and where the game stood before, as the person who is told saw it."""

    event: GameEvent
    before: Position


class Play:
    """One game at one terminal.

    Parameters
    ----------
    console
        Where to draw and ask.
    drawing
        How the game looks.
    position
        The full position to start from.
    people
        The seats that people play; without any the game is watched with open hands.
    opponent
        Who plays the other seats.
    chance
        Where the seeds of the game and of the engine come from.
    """

    def __init__(
        self,
        console: Console,
        drawing: Drawing,
        position: Position,
        people: Collection[int],
        opponent: Opponent,
        chance: random.Random,
    ) -> None:
        self.console = console
        self.drawing = drawing
        self.position = position
        self.people = tuple(sorted(set(people)))
        self.opponent = opponent
        self.chance = chance
        # A stream of its own, so that a hint does not change the dice to come.
        self._thinking = random.Random(chance.getrandbits(64))
        self.names = [self._name(seat) for seat in range(position.seats)]
        # Whose view is on the screen; None if it is nobody's.
        self._viewer = self.people[0] if len(self.people) == 1 else None
        # What to point out to each person, or to who watches: all that happened since the person's
        # last move.
        self._news: dict[int | None, list[News]] = {person: [] for person in self.people or (None,)}
        self._thoughts: dict[int, Text] = {}
        self._plies: list[Ply] = []
        # What every move takes where some are hidden: as long as the longest search so far.
        self._pace = opponent.pace

    def _name(self, seat: int) -> str:
        if seat in self.people:
            return "You" if len(self.people) == 1 else f"Player {seat}"
        return "Bot" if self.people and self.position.seats == 2 else f"Bot {seat}"

    def run(self) -> None:
        """Play to the end; raises PersonLeft if a person leaves before."""
        moved: Collection[int] = ()
        while not self.position.finished:
            moves = self._choose()
            for person, news in self._news.items():
                seen = person is None or (person in moved and person == self._viewer)
                if seen or person in moves:
                    news.clear()
            moved = moves
            before = self.position
            self._plies.append(Ply.of(before, moves))
            self.position, events = before.apply(moves, seed=self.chance.getrandbits(64))
            for person, news in self._news.items():
                view = before if person is None else before.observe(person)
                news.extend(News(event, view) for event in events)
        self._show_end()
        self.console.print(self._result())

    @property
    def record(self) -> GameRecord:
        """What was played so far."""
        return GameRecord(
            game=self.position.game,
            options=self.position.options,
            players=tuple(self.names),
            plies=tuple(self._plies),
            scores=self.position.scores if self.position.finished else None,
            win_shares=self.position.win_shares,
        )

    def _choose(self) -> dict[int, Move]:
        """The moves of all seats to act; people are asked one after another."""
        to_act = self.position.seats_to_act
        asked = [seat for seat in to_act if seat in self.people]
        asked.sort(key=lambda seat: seat != self._viewer)  # who sits there goes first
        private = self._is_private(len(asked))
        moves = {}
        for seat in asked:
            if private and seat != self._viewer:
                self._hand_over(seat)
            self._viewer = seat
            self._show(self.position.observe(seat), self._news[seat])
            moves[seat] = self._ask(seat)
        if not asked:
            self._show_between(private=private)
        return moves | {seat: self._think(seat) for seat in to_act if seat not in moves}

    def _is_private(self, asked: int) -> bool:
        """Whether some people must not see what others see or type."""
        views = {self.position.observe(person).state for person in self.people}
        return len(views) > 1 or asked > 1

    def _hand_over(self, seat: int) -> None:
        """Let people change places in front of an empty screen."""
        self._wipe()
        self._read(f"It is up to {self.names[seat]}. With nobody else looking, press Enter: ")

    def _wipe(self) -> None:
        """Clear the screen, and what could be scrolled back to."""
        self._viewer = None
        self.console.clear()
        if self.console.is_terminal:
            self.console.file.write(ERASE_SCROLLED)

    def _show_between(self, *, private: bool) -> None:
        """Show where the game stands while no person is to act."""
        if not self.people:
            self._show(self.position, self._news[None])
        elif private:
            self._wipe()
        elif self._viewer is not None:
            self._show(self.position.observe(self._viewer), self._news[self._viewer])

    def _show_end(self) -> None:
        """Show the end of the game, with what all people may see."""
        view = self.position
        for person in self.people:
            view = view.observe(person)
        if len(self.people) > 1:
            self._wipe()
        self._show(view, min(self._news.values(), key=len))

    def _show(self, view: Position, news: Sequence[News]) -> None:
        scene = Scene(
            state=view.record,
            options=view.options,
            names=self.names,
            events=[told.event.record for told in news],
            before=[] if self._viewer is None else [told.before.record for told in news],
            seat=self._viewer,
        )
        self.console.clear()
        self.console.print(self.drawing.draw(scene))
        for seat, thought in sorted(self._thoughts.items()):
            self.console.print(Text(f"{self.names[seat]} ").append(thought))

    def _think(self, seat: int) -> Move:
        # From how a bot sees its chances people could tell what it holds, and from how much or how
        # long it searched whether it had a choice.
        is_open = all(self.position.observe(person).is_full for person in self.people)
        analysis = self._analyse(
            f"{self.names[seat]} is thinking",
            seat,
            self.opponent.strength,
            at_least=0.0 if is_open else self._pace,
        )
        self._pace = max(self._pace, analysis.statistics.elapsed)
        self._thoughts.pop(seat, None)
        if is_open:
            self._thoughts[seat] = _thought(analysis, self.position.codec.score_unit)
        return analysis.best_move

    def _analyse(
        self, message: str, seat: int, strength: Strength | None = None, at_least: float = 0.0
    ) -> Analysis:
        analysis = think(
            self.console,
            message,
            self.opponent.engine,
            self.position,
            seat,
            self.opponent.limits,
            seed=self._thinking.getrandbits(64),
            strength=strength,
            at_least=at_least,
        )
        if analysis.statistics.stop_reason is StopReason.STOPPED:
            raise PersonLeft
        return analysis

    def _ask(self, seat: int) -> Move:
        """Ask until the answer is a legal move, with help and hints on the way."""
        whose = "Your" if len(self.people) == 1 else f"{self.names[seat]}, your"
        while True:
            answer = self._read(f"{whose} move (or help): ")
            if not answer or self._obey(answer.lower(), seat):
                continue
            try:
                return self.position.find_move(self.drawing.read_move(answer), seat)
            except InvalidInput as error:
                for _, message in error.violations:
                    self.console.print(Text(message, style="red"))

    def _obey(self, command: str, seat: int) -> bool:
        """Do what a person asked for instead of a move; tell whether it was a command."""
        match command:
            case "q" | "quit" | "exit":
                raise PersonLeft
            case "?" | "h" | "help":
                example = self.position.moves(seat)[-1].notation
                self.console.print(
                    Text(f"{self.drawing.move_help}\nor as the engine writes it: {example}")
                )
                self.console.print(Text(COMMANDS))
            case "moves":
                self.console.print(_move_list(self.position.moves(seat)))
            case "position":
                notation = self.position.observe(seat).notation
                self.console.print(Text(f"'{notation}'"), soft_wrap=True)
            case "rules":
                self.console.print(Markdown(self.position.codec.rules_markdown()))
            case "hint":
                self.console.print(_hint(self._analyse("Looking for a hint", seat)))
            case _:
                return False
        return True

    def _read(self, prompt: str) -> str:
        try:
            return self.console.input(Text(prompt, style="bold")).strip()
        except (EOFError, KeyboardInterrupt):
            raise PersonLeft from None

    def _result(self) -> Text:
        shares = self.position.win_shares
        assert shares is not None
        scores = " : ".join(f"{score:g}" for score in self.position.scores)
        winners = " and ".join(self.names[seat] for seat, share in enumerate(shares) if share)
        if len(self.people) != 1:
            return Text(f"{winners} won, {scores}.", style="bold")
        (person,) = self.people
        if shares[person] == 1:
            return Text(f"You win, {scores}!", style="bold green")
        if shares[person]:
            return Text(f"You share the win, {scores}.", style="bold yellow")
        return Text(f"{winners} won, {scores}.", style="bold red")


def _move_list(moves: Sequence[Move]) -> RenderableType:
    """All moves, and what they do if they are few."""
    if len(moves) > DESCRIBED_MOVES:
        return Columns([Text(move.notation) for move in moves], padding=(0, 3))
    described = Table.grid(padding=(0, 3))
    for move in moves:
        described.add_row(Text(move.notation, style="bold"), Text(move.description))
    return described


def _thought(analysis: Analysis, unit: str) -> Text:
    """What an opponent made of its position, in a line; `unit` is what its game counts."""
    if analysis.estimate is None:
        return Text("had only one move.", style="dim")
    return Text.assemble(
        "expects to win ",
        (percent(analysis.estimate.win_share[analysis.seat]), "bold"),
        f" of the time, {analysis.estimate.score[analysis.seat]:.1f} {unit}"
        f" ({analysis.statistics.simulations:,} games tried).",
        style="dim",
    )


def _hint(analysis: Analysis) -> Text:
    """The best few moves, in a line."""
    return Text("Hint: ").append(
        "   ".join(
            candidate.move.notation
            + (
                f" (win {percent(candidate.estimate.win_share[analysis.seat])})"
                if candidate.estimate
                else ""
            )
            for candidate in analysis.candidates[:HINTS_SHOWN]
        ),
        style="cyan",
    )
