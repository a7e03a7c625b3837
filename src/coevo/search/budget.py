"""When a search stops.

A search holds its best structure at every moment, so that a budget only says how long to
look for a better one. All limits are checked between generations: a generation is never
left half done. Whichever is reached first ends the search. A budget without a limit in
seconds makes a run repeatable to the last bit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from coevo.checks import is_int, is_number
from coevo.errors import bad_parameter

__all__ = ["Budget", "StopReason"]

StopReason = Literal[
    "target", "generations", "evaluations", "patience", "time", "finished", "callback", "interrupt"
]


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of a search; None is no limit.

    Parameters
    ----------
    max_time : float, optional
        Seconds on the clock.
    max_generations : int, optional
        Generations (of a method that has none: its steps).
    max_evaluations : int, optional
        Local scores asked for, whether they were known already or not.
    patience : int, optional
        Generations in a row that bring no better structure.
    target : float, optional
        A score that is good enough.

    Examples
    --------
    >>> Budget(max_time=60, patience=200)
    Budget(max_time=60, max_generations=None, max_evaluations=None, patience=200, target=None)
    >>> Budget(max_time=-1)
    Traceback (most recent call last):
    coevo.errors.ParameterError: 'max_time' of Budget must be a number >= 0 or None; got -1.
    """

    max_time: float | None = None
    max_generations: int | None = None
    max_evaluations: int | None = None
    patience: int | None = None
    target: float | None = None

    def __post_init__(self) -> None:
        if self.max_time is not None and not (is_number(self.max_time) and self.max_time >= 0):
            raise bad_parameter("max_time", "Budget", "a number >= 0 or None", self.max_time)
        if self.target is not None and not is_number(self.target):
            raise bad_parameter("target", "Budget", "a number or None", self.target)
        for name, least in (("max_generations", 0), ("max_evaluations", 0), ("patience", 1)):
            value = getattr(self, name)
            if value is not None and not is_int(value, least):
                raise bad_parameter(name, "Budget", f"an int >= {least} or None", value)

    @property
    def ends(self) -> bool:
        """Whether every search comes to an end under these limits; a target may be too high."""
        limits = (self.max_time, self.max_generations, self.max_evaluations, self.patience)
        return any(limit is not None for limit in limits)

    def or_usual(self, usual: Budget) -> Budget:
        """Return these limits, or the usual ones where these have no end; the target stays.

        >>> Budget(target=-100).or_usual(Budget(patience=25))
        Budget(max_time=None, max_generations=None, max_evaluations=None, patience=25, target=-100)
        """
        return self if self.ends else replace(usual, target=self.target)

    def reached(
        self, *, seconds: float, generation: int, improved: int, evaluations: int, score: float
    ) -> StopReason | None:
        """Return which limit is reached, if any; those that do not depend on the clock first.

        `improved` is the generation that found the best structure so far.
        """
        if self.target is not None and score >= self.target:
            return "target"
        if self.max_generations is not None and generation >= self.max_generations:
            return "generations"
        if self.max_evaluations is not None and evaluations >= self.max_evaluations:
            return "evaluations"
        if self.patience is not None and generation - improved >= self.patience:
            return "patience"
        if self.max_time is not None and seconds >= self.max_time:
            return "time"
        return None
