from typing import Any

from aleator.ext.core.game import State

def weights() -> dict[str, Any]: ...
def use_weights(values: dict[str, Any]) -> None: ...
def features(state: State, viewer: int | None = None) -> list[float]: ...
def point_prior(empty_cells: int) -> float: ...
def self_play(
    start: State,
    seed: int,
    *,
    noise: float,
    random_moves: float,
    trace: float,
    features: Any,
    gains: Any,
    margins: Any,
    empty: Any,
    forms: Any,
) -> None: ...
