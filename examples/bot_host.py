"""A host of bots: referees games with GameService and seats Aleator's bots in them.

Runs several games at once. All bots sit in one call of Play, and each is told only what its seat
may see. Where the call breaks, such as when the server is started again, another one is opened and
the bots go on from where their games stand.

    python bot_host.py --game riviera --players 3 --games 5 --level 5 --level 8

Limits: keeps the games in memory, so they end with this program.
"""

import argparse
import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from typing import Any, ParamSpec, TypeVar

import aleator.client
from aleator.client import aio
from aleator.v1.play_pb2 import PlayResponse
from aleator.v1.state_pb2 import GameState

P = ParamSpec("P")
T = TypeVar("T")
PATIENCE = 20
"""How often in a row the server may be away."""


async def patiently(call: Callable[P, Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> T:
    """Make a call, and again as long as the server is away, such as when it is started anew."""
    for _ in range(PATIENCE):
        try:
            return await call(*args, **kwargs)
        except aleator.client.Unavailable as error:
            print(error)
            await asyncio.sleep(1)
    return await call(*args, **kwargs)


class Bots:
    """Bots on one call of Play, which is opened again where it breaks.

    Parameters
    ----------
    client : aio.Client
    levels : list of int
        How strongly the bots play, by seat; the last one is for all further seats.
    clock, increment : float
        Seconds that each bot has for a game, and for each move besides.
    """

    def __init__(
        self, client: aio.Client, levels: list[int], clock: float, increment: float
    ) -> None:
        self._client = client
        self._levels = levels
        self._clock = clock
        self._increment = increment
        self._play = client.play()
        self._seated: set[str] = set()
        self._time_left: dict[str, timedelta] = {}

    async def see(self, game: str, seat: int, view: GameState) -> PlayResponse:
        """Show a bot what its seat sees of a game now, and return its answer."""
        bot = f"{game}, seat {seat}"
        play = self._play
        try:
            if bot in self._seated:
                answer = await play.update(bot, view)
            else:
                self._seated.add(bot)
                level = self._levels[min(seat, len(self._levels) - 1)]
                clock = self._time_left.get(bot, self._clock)
                answer = await play.start(
                    bot, view, seat, level=level, clock=clock, increment=self._increment
                )
        except aleator.client.Unavailable:
            if play is self._play:  # the first one to notice
                self._play = self._client.play()
                self._seated.clear()
                await play.close()
            raise
        if answer.HasField("move"):
            self._time_left[bot] = answer.move.time_left.ToTimedelta()
        return answer

    async def leave(self) -> None:
        """End the call."""
        await self._play.close()


async def referee(
    client: aio.Client, bots: Bots, name: str, game: str, options: Mapping[str, Any]
) -> list[float]:
    """Play a game to its end; return the shares of the win by seat."""
    created = await patiently(client.create_game, game, options)
    state, to_act = created.state, created.seats_to_act
    seats = range(len((await patiently(client.list_moves, state, to_act[0])).scores))
    made = 0

    async def show(seat: int) -> PlayResponse:
        view = await client.observe_state(state, seat)
        return await bots.see(name, seat, view)

    while True:
        answers = await asyncio.gather(*(patiently(show, seat) for seat in seats))
        if not to_act:
            break
        moves = {seat: answers[seat].move.analysis.best_move for seat in to_act}
        applied = await patiently(client.apply_move, state, moves)
        state, to_act = applied.state, applied.seats_to_act
        made += len(moves)
    end = answers[0].finished
    print(f"{name}: {' : '.join(f'{score:g}' for score in end.scores)} after {made} moves")
    return list(end.returns)


async def main() -> None:
    """Play the games that the command line asks for, and sum them up."""
    parser = argparse.ArgumentParser(description="Referees games between Aleator's bots.")
    parser.add_argument("--address", default=os.environ.get("ADDRESS", "localhost:50051"))
    parser.add_argument("--game", default="roygbiv")
    parser.add_argument("--players", type=int, help="seats of each game")
    parser.add_argument("--games", type=int, default=2, help="games at once")
    parser.add_argument(
        "--level", type=int, action="append", help="1-10, by seat; the last one for all others"
    )
    parser.add_argument("--clock", type=float, default=60, help="seconds of a bot for a game")
    parser.add_argument("--increment", type=float, default=1, help="seconds more for each move")
    asked = parser.parse_args()
    levels = asked.level or [5]
    options = {} if asked.players is None else {"players": asked.players}
    async with aio.connect(asked.address) as client:
        await client.get_game(asked.game)  # without patience: the server may not be there at all
        bots = Bots(client, levels, asked.clock, asked.increment)
        returns = await asyncio.gather(
            *(
                referee(client, bots, f"game {number}", asked.game, options)
                for number in range(1, asked.games + 1)
            )
        )
        await bots.leave()
    for seat, shares in enumerate(zip(*returns, strict=True)):
        level = levels[min(seat, len(levels) - 1)]
        print(f"seat {seat}, level {level}, won {sum(shares):g} of {len(shares)}")


if __name__ == "__main__":
    try:
        asyncio.run(main())
    # The server is not there, or knows no such game, or the address is none.
    except (aleator.client.CallError, ValueError) as error:
        raise SystemExit(f"{error}") from None
