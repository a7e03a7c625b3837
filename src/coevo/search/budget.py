"""The limits of a search: time, generations, evaluations, patience and target.

A search always holds its best structure so far, so a budget only limits how long it looks for
a better one. All limits are checked between generations. The first limit reached ends the search.
A generation that would last much longer than the time limit is dropped; the others are never left
half done. A run without a time limit is reproducible bit by bit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

from coevo.checks import is_int, is_number
from coevo.errors import bad_parameter

__all__ = ["Budget", "StopReason"]

LEAST_GRACE, GRACE_SHARE = 0.5, 0.05  # seconds, and share of the limit

StopReason = Literal[
    "target", "generations", "evaluations", "patience", "time", "finished", "callback", "interrupt"
]


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of a search; None means no limit.

    Parameters
    ----------
    max_time : float, optional
        Wall-clock time in seconds.
    max_generations : int, optional
        Number of generations (steps, for a method without generations).
    max_evaluations : int, optional
        Number of local scores requested, cached ones included.
    patience : int, optional
        Number of generations in a row without a better structure.
    target : float, optional
        Stop when the score reaches this value.

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
    def is_bounded(self) -> bool:
        """Whether every search ends under these limits. A target alone may never be reached."""
        limits = (self.max_time, self.max_generations, self.max_evaluations, self.patience)
        return any(limit is not None for limit in limits)

    @property
    def grace(self) -> float:
        """The seconds that a search with its answer may take beyond the time limit.

        >>> Budget(max_time=2).grace, Budget(max_time=60).grace, Budget().grace
        (0.5, 3.0, inf)
        """
        if self.max_time is None:
            return math.inf
        return max(LEAST_GRACE, GRACE_SHARE * self.max_time)

    def with_default(self, default: Budget) -> Budget:
        """Return these limits; if they are not bounded, the default ones with this target.

        >>> Budget(target=-100).with_default(Budget(patience=25))
        Budget(max_time=None, max_generations=None, max_evaluations=None, patience=25, target=-100)
        """
        return self if self.is_bounded else replace(default, target=self.target)

    def shorten_patience(self, least: int, improved: int) -> Budget:
        """Return these limits with a patience that is in proportion to the search so far.

        A search that found its best structure in generation 5, and nothing in the next ten, has
        less to hope for than one that still improved in generation 60. So it waits twice as long
        as it took to find the best structure, at least `least` generations.

        >>> [Budget(patience=25).shorten_patience(14, g).patience for g in (3, 9, 60)]
        [14, 18, 25]
        """
        if self.patience is None:
            return self
        return replace(self, patience=min(self.patience, max(least, 2 * improved)))

    def find_reached_limit(
        self, *, seconds: float, generation: int, improved: int, evaluations: int, score: float
    ) -> StopReason | None:
        """Return the first limit that is reached, or None. The time limit comes last.

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
