from collections.abc import Mapping

NAMES: tuple[str, ...]

def set_weights(weights: Mapping[str, float]) -> None: ...
