"""Weights of Riviera's policy by number of seats, and the tuning of its search.

The weights are in `riviera_weights.json`, written by `tools/fit_riviera.py`; what they mean is in
`riviera_evaluation.pxd`.
"""

import json
from importlib.resources import files

POLICIES = {
    int(seats): policy
    for seats, policy in json.loads(
        files(__package__).joinpath("riviera_weights.json").read_text()
    ).items()
}

TUNING = {
    "exploration": 0.3,
    "widening_base": 3,
    "widening_factor": 0.1,
    "prior_visits": 2000,
    "depth": 1,
    "paired": True,
    "foreseen": True,
}
