"""Where a policy stands that searches several times, in a form that can be kept.

Such a policy is a row of stages: completions, and a search on them. A checkpoint of that search
holds the stage beside it, as arrays, so that whoever goes on has the same cells and draws the
same numbers as if nothing had happened. All stages have one clock, that of the history.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from coevo.errors import ParameterError
from coevo.search import Checkpoint

__all__ = ["Cells", "Clock", "Stage"]

Cells = NDArray[np.integer[Any]]  # (n_tables, n_holes): the states of missing cells, as codes


@dataclass(frozen=True)
class Stage:
    """What a stage begins with.

    Attributes
    ----------
    number : int
        Stages before it.
    n_drawn : int
        How often completions were drawn.
    cells : Cells
        All completions.
    """

    policy: ClassVar[str]  # whose stage it is

    number: int
    n_drawn: int
    cells: Cells

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all fields by name, and the policy."""
        own = {field.name: np.asarray(getattr(self, field.name)) for field in fields(self)}
        return own | {"policy": np.asarray(self.policy)}

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the stage of some fields, or refuse those of something else."""
        if arrays.get("policy") != cls.policy:
            raise ParameterError("The state is not one of this policy, so it cannot go on.")
        values: dict[str, Any] = {}
        for field in fields(cls):
            array = arrays[field.name]
            values[field.name] = array.item() if array.ndim == 0 else array
        return cls(**values)


class Clock:
    """How long a policy has taken; one that goes on from a checkpoint counts what came before."""

    def __init__(self, reached: Checkpoint | None) -> None:
        self._began = time.perf_counter() - (0.0 if reached is None else reached.seconds)

    def seconds(self) -> float:
        """Return the time since the start."""
        return time.perf_counter() - self._began
