"""A game of a person against the engine, at a terminal.

The referee's full state stays in here: the person is shown observations of the
person's own seat, and the engine looks only at what its seat may know. On a
terminal every picture replaces the one before; through a pipe they follow one
another, so a program can play a game too.
"""

import random
from dataclasses import dataclass

from rich.console import Console
from rich.markdown import Markdown
from rich.text import Text

from aleator.search import Analysis, Engine, Limits, Move, Position, StopReason
from aleator.search.errors import InvalidInput
from aleator.search.games import GameEvent
from aleator.service.cli.report import percent
from aleator.service.cli.think import think
from aleator.service.drawing import Drawing, Scene

HINTS_SHOWN = 3
COMMANDS = "hint: what the engine would play    rules: how the game goes    quit: leave it"


class PersonLeft(Exception):
    """The person ended the game early."""


@dataclass(frozen=True)
class Opponent:
    """How the engine plays all seats but the person's."""

    engine: Engine
    limits: Limits
    level: int | None = None


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
    seat
        The person's seat.
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
        seat: int,
        opponent: Opponent,
        chance: random.Random,
    ) -> None:
        self.console = console
        self.drawing = drawing
        self.position = position
        self.seat = seat
        self.opponent = opponent
        self.chance = chance
        # A stream of its own, so that a hint does not change the dice to come.
        self._thinking = random.Random(chance.getrandbits(64))
        self.names = [
            "You" if other == seat else "Bot" if position.seats == 2 else f"Bot {other}"
            for other in range(position.seats)
        ]
        # What to point out: all that happened since the person's last move.
        self._events: list[GameEvent] = []
        self._thoughts: dict[int, Text] = {}

    def run(self) -> None:
        """Play to the end; raises PersonLeft if the person leaves before."""
        person_moved = False
        while not self.position.finished:
            self._show()
            moves = {seat: self._choose(seat) for seat in self.position.seats_to_act}
            if person_moved or self.seat in moves:
                self._events.clear()
            person_moved = self.seat in moves
            self.position, events = self.position.apply(moves, seed=self.chance.getrandbits(64))
            self._events += events
        self._show()
        self.console.print(self._result())

    def _show(self) -> None:
        scene = Scene(
            state=self.position.observe(self.seat).record,
            options=self.position.options,
            names=self.names,
            events=[event.record for event in self._events],
        )
        self.console.clear()
        self.console.print(self.drawing.draw(scene))
        for seat, thought in sorted(self._thoughts.items()):
            self.console.print(Text(f"{self.names[seat]} ").append(thought))

    def _choose(self, seat: int) -> Move:
        return self._ask() if seat == self.seat else self._think(seat)

    def _think(self, seat: int) -> Move:
        opponent = self.opponent
        analysis = self._analyse(f"{self.names[seat]} is thinking", seat, opponent.level)
        self._thoughts[seat] = _thought(analysis)
        return analysis.best_move

    def _analyse(self, message: str, seat: int, level: int | None = None) -> Analysis:
        analysis = think(
            self.console,
            message,
            self.opponent.engine,
            self.position,
            seat,
            self.opponent.limits,
            seed=self._thinking.getrandbits(64),
            level=level,
        )
        if analysis.statistics.stop_reason is StopReason.STOPPED:
            raise PersonLeft
        return analysis

    def _ask(self) -> Move:
        """Ask until the answer is a legal move, with help and hints on the way."""
        while True:
            answer = self._read()
            match answer.lower():
                case "":
                    continue
                case "q" | "quit" | "exit":
                    raise PersonLeft
                case "?" | "h" | "help":
                    self.console.print(Text(f"{self.drawing.move_help}\n{COMMANDS}"))
                case "rules":
                    self.console.print(Markdown(self.position.codec.rules_markdown()))
                case "hint":
                    self.console.print(_hint(self._analyse("Looking for a hint", self.seat)))
                case _:
                    try:
                        return self.position.find_move(self.drawing.read_move(answer), self.seat)
                    except InvalidInput as error:
                        for _, message in error.violations:
                            self.console.print(Text(message, style="red"))

    def _read(self) -> str:
        try:
            return self.console.input(Text("Your move (or help): ", style="bold")).strip()
        except (EOFError, KeyboardInterrupt):
            raise PersonLeft from None

    def _result(self) -> Text:
        shares = self.position.win_shares
        assert shares is not None
        scores = " : ".join(f"{score:g}" for score in self.position.scores)
        if shares[self.seat] == 1:
            return Text(f"You win, {scores}!", style="bold green")
        if shares[self.seat]:
            return Text(f"You share the win, {scores}.", style="bold yellow")
        winners = " and ".join(self.names[seat] for seat, share in enumerate(shares) if share)
        return Text(f"{winners} won, {scores}.", style="bold red")


def _thought(analysis: Analysis) -> Text:
    """What an opponent made of its position, in a line."""
    if analysis.estimate is None:
        return Text("had only one move.", style="dim")
    return Text.assemble(
        "expects to win ",
        (percent(analysis.estimate.win_share[analysis.seat]), "bold"),
        f" of the time, {analysis.estimate.score[analysis.seat]:.0f} points"
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
