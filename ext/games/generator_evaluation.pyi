from collections.abc import Mapping
from typing import Any

def set_weights(weights: Mapping[str, Any]) -> None: ...
