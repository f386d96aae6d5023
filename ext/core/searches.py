"""Which kind of search there is for a game and its tuning."""

from collections.abc import Mapping, Sequence

from aleator.ext.core.averaged import AveragedSearch
from aleator.ext.core.game import Game, State
from aleator.ext.core.sampled import SampledSearch
from aleator.ext.core.search import Search


def new_search(
    game: Game,
    observation: State,
    seat: int,
    moves: Sequence[int],
    *,
    seed: int,
    stream: int,
    knowledge: bool,
    tuning: Mapping[str, float],
    memory: int,
) -> Search:
    """Make the search that the tuning asks for; `Search` describes the parameters."""
    values = (game if knowledge else Game()).tuning_values() | dict(tuning)
    kind = AveragedSearch if values["averaged"] else SampledSearch
    return kind(
        game,
        observation,
        seat,
        moves,
        seed=seed,
        stream=stream,
        knowledge=knowledge,
        tuning=tuning,
        memory=memory,
    )
