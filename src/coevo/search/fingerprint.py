"""What makes a search the same search: all that its answer depends on but its budget.

Whoever goes on with work that lies in a folder first compares these facts with those that
lie beside it, and refuses the work of another search.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from coevo import __version__
from coevo.graph import Constraints
from coevo.score import Scorer
from coevo.search.base import Method

__all__ = ["first_difference", "search_fingerprint"]


def search_fingerprint(
    scorer: Scorer, method: Method, constraints: Constraints, seed: int
) -> dict[str, Any]:
    """Return the facts, as plain values that JSON gives back as they are."""
    weights = sorted(scorer.weights.items())
    facts = {
        "version": __version__,
        "data_hash": scorer.dataset.content_hash,
        "seed": seed,
        "method": method.name,
        "settings": method.settings(),
        "score": scorer.scoring.name,
        "ess": getattr(scorer.scoring, "ess", None),
        "constraints": constraints.as_dict(),
        "weights": [[*arc, float(weight)] for arc, weight in weights],
        "parent_penalty": scorer.parent_penalty,
    }
    plain: dict[str, Any] = json.loads(json.dumps(facts))
    return plain


def first_difference(held: Mapping[str, Any], asked: Mapping[str, Any]) -> str | None:
    """Return what is held and what is asked for where they first differ, in words.

    >>> first_difference({"seed": 3, "ess": 1.0}, {"seed": 4, "ess": 1.0})
    'seed 3; this is 4'
    """
    for name, value in asked.items():
        if held.get(name) != value:
            label = "other data: hash" if name == "data_hash" else name
            return f"{label} {held.get(name)}; this is {value}"
    return None
