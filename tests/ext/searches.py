"""Searches as the tests open and grow them."""

from aleator.ext.core.search import StopFlag
from aleator.ext.core.searches import new_search

FAR = 2**62  # a deadline that does not come


def opened(
    game,
    state,
    seat,
    *,
    seed=1,
    stream=0,
    moves=None,
    memory=2**24,
    knowledge=True,
    tuning=(),
):
    """A search of what the seat knows of a state, among all its moves or some."""
    observation = game.observe_state(state, seat)
    return new_search(
        game,
        observation,
        seat,
        game.legal_moves(observation, seat) if moves is None else moves,
        seed=seed,
        stream=stream,
        knowledge=knowledge,
        tuning=dict(tuning),
        memory=memory,
    )


def grown(game, state, seat, simulations, **settings):
    """The same after so many simulations."""
    search = opened(game, state, seat, **settings)
    search.run(simulations, FAR, StopFlag())
    return search
