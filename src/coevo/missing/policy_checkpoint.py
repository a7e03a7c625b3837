"""The progress of a policy that searches several times, in a form that a checkpoint can store.

Such a policy is a sequence of stages. A stage is a set of imputations and a search on them. Each
checkpoint of the search also stores the stage, as arrays. A resumed policy therefore has the same
imputations and draws the same random numbers as a policy that was never stopped. One clock runs
through all stages; the history of the search shows its time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from coevo.errors import ParameterError
from coevo.runtime.deadline import measure_work_time
from coevo.search import Checkpoint
from coevo.search.base import Number, Schema

__all__ = ["Clock", "ImputedCodes", "Stage", "make_damage_error"]

# (n_missing,) or (n_imputations, n_missing): the imputed state of each missing value, as a code
ImputedCodes = NDArray[np.integer[Any]]


@dataclass(frozen=True)
class Stage:
    """The values that a stage starts with.

    Attributes
    ----------
    number : int
        Number of stages before this one.
    n_draws : int
        How often the imputations were drawn so far. It selects the next random stream.
    imputed_codes : ImputedCodes, (n_imputations, n_missing)
        All imputations.
    """

    policy: ClassVar[str]  # the policy that the stage belongs to
    schema: ClassVar[Schema] = {"number": Number(), "n_draws": Number()}

    number: int
    n_draws: int
    imputed_codes: ImputedCodes

    def as_arrays(self) -> dict[str, NDArray[Any]]:
        """Return all fields by name, and the policy."""
        arrays = {field.name: np.asarray(getattr(self, field.name)) for field in fields(self)}
        return arrays | {"policy": np.asarray(self.policy)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the stage with these fields; raise `ParameterError` for another policy."""
        if str(arrays.get("policy")) != cls.policy:
            raise ParameterError(
                "The state is not one of this policy. Resume with the policy that made it."
            )
        values: dict[str, Any] = {}
        for field in fields(cls):
            if field.name not in arrays:
                raise make_damage_error(f"{field.name!r} is missing")
            array = arrays[field.name]
            values[field.name] = array.item() if array.ndim == 0 else np.ascontiguousarray(array)
        sizes: dict[str, int] = {}
        for name, declared in cls.schema.items():
            flaw = declared.find_flaw(values[name], sizes)
            if flaw:
                raise make_damage_error(f"{name!r} {flaw}")
        return cls(**values)


def make_damage_error(flaw: str) -> ParameterError:
    """Return the error for a stage that cannot be used."""
    return ParameterError(f"The state is damaged: {flaw}. Start a new search.")


class Clock:
    """Measures the time of a policy, including the time before the checkpoint it resumes from."""

    def __init__(self, resume_from: Checkpoint | None) -> None:
        seconds_before = 0.0 if resume_from is None else resume_from.seconds
        self._began = measure_work_time() - seconds_before

    def measure_seconds(self) -> float:
        """Return the seconds since the start of the policy."""
        return measure_work_time() - self._began
