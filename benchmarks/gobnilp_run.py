"""Learn one network with pygobnilp, in an environment of its own; print the answer as JSON.

pygobnilp 1.0 was written for an older gurobipy, which took the two sides and the sign of a
constraint apart. The models here put them together. Without this it stops, or its cutting planes
fail and its network has a cycle.

    python gobnilp_run.py FILE SCORE MAX_PARENTS
"""

from __future__ import annotations

import json
import operator
import sys
import time
from typing import Any

from gurobipy import Model  # type: ignore[import-not-found]
from pygobnilp import gobnilp  # type: ignore[import-not-found]

SIGNS = {"<": operator.le, ">": operator.ge, "=": operator.eq}


def join_sides(*sides: Any) -> Any:
    """Return a constraint from its two sides and the sign between them."""
    left, *others = sides
    return SIGNS[others[0][0]](left, others[1]) if others else left


def add_constraint(model: Any, *sides: Any, name: str = "") -> Any:
    """Add a constraint to a model, which may have its name last."""
    if isinstance(sides[-1], str) and len(sides) in (2, 4):
        *sides, name = sides  # type: ignore[assignment]
    return Model.addConstr(model, join_sides(*sides), name)


class JoiningModel(Model):  # type: ignore[misc]
    """A model that takes the sides of a constraint apart."""

    addConstr = add_constraint  # noqa: N815


def prepare() -> None:
    """Let pygobnilp use such models."""
    gobnilp.Model = JoiningModel
    gobnilp.Gobnilp.addConstr = add_constraint
    for name in ("cbLazy", "cbCut"):
        original = getattr(Model, name)
        setattr(
            gobnilp.Gobnilp,
            name,
            lambda self, *sides, original=original: original(self, join_sides(*sides)),
        )


def main() -> None:
    """Learn, and print the score and the CPU seconds."""
    path, score, max_parents = sys.argv[1:]
    prepare()
    began = time.process_time()
    model = gobnilp.Gobnilp()
    prior = {"alpha": 1.0} if score == "BDeu" else {}
    files = {"plot": False, "output_stem": None}
    try:
        model.learn(data_source=path, score=score, palim=int(max_parents), **prior, **files)
    except Exception as error:
        print(json.dumps({"error": str(error)}))
        return
    seconds = time.process_time() - began
    sizes = {"variables": model.NumVars, "constraints": model.NumConstrs}
    is_optimal = model.Status == 2
    print(json.dumps({"score": model.ObjVal, "optimal": is_optimal, "seconds": seconds, **sizes}))


if __name__ == "__main__":
    main()
