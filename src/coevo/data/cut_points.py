"""Cut points: they map numbers to states, and name the states.

Bins are half open: a number that equals a cut point belongs to the bin above. The names of the
states are ``below_3.2``, ``from_3.2_to_5`` and ``from_5``. Every BIF reader accepts these plain
words (pyAgrum rejects names such as ``3.2`` or ``<3``). The exact cut points can be parsed from
the names. A network therefore stores its cut points in its states, and new numbers can be put
into the bins of an old model.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coevo.checks import is_number
from coevo.errors import DataError, ParameterError

__all__ = ["CutPoints", "format_number", "name_bins", "round_between"]

ONE_BIN = "any"  # the state of a column without cut points
_NUMBER = r"-?(?:\d++(?:\.\d++)?)(?:e-?\d++)?"
_STATE = re.compile(
    rf"below_(?P<below>{_NUMBER})|from_(?P<low>{_NUMBER})(?:_to_(?P<high>{_NUMBER}))?"
)


@dataclass(frozen=True, slots=True)
class CutPoints:
    """Cut points in ascending order. `n` points make `n + 1` bins.

    Examples
    --------
    >>> cuts = CutPoints((18, 65.5))
    >>> cuts.states
    ('below_18', 'from_18_to_65.5', 'from_65.5')
    >>> cuts.apply([17.9, 18, 40, 99]).tolist()
    [0, 1, 1, 2]
    >>> CutPoints.from_states(cuts.states) == cuts
    True
    """

    points: tuple[float, ...]

    def __post_init__(self) -> None:
        points = tuple(self.points)
        if not all(map(is_number, points)) or any(a >= b for a, b in pairwise(points)):
            raise ParameterError(
                f"Cut points must be finite numbers in ascending order; got {list(points)!r}."
            )
        # Adding 0 turns -0 into 0, so that zero has one name.
        object.__setattr__(self, "points", tuple(float(point) + 0.0 for point in points))

    @property
    def states(self) -> tuple[str, ...]:
        """The names of the bins, from low to high."""
        return name_bins([format_number(point) for point in self.points])

    @classmethod
    def from_states(cls, states: Iterable[str]) -> CutPoints | None:
        """Return the cut points in the names of states, in any order; None if there are none.

        >>> CutPoints.from_states(["from_2", "below_2"])
        CutPoints(points=(2.0,))
        >>> CutPoints.from_states(["below_2", "from_3"]) is None
        True
        """
        listed = list(states)
        if listed == [ONE_BIN]:
            return cls(())
        ends: list[tuple[float, float]] = []
        for state in listed:
            found = _STATE.fullmatch(state)
            if found is None:
                return None
            below, low, high = found.group("below", "low", "high")
            ends.append((-math.inf if low is None else float(low), float(below or high or "inf")))
        ends.sort()
        points = tuple(low for low, _ in ends[1:])
        if len(set(points)) < len(points) or not all(map(math.isfinite, points)):
            return None
        cuts = cls(points)
        return cuts if set(cuts.states) == set(listed) and len(listed) == len(ends) else None

    def apply(self, values: ArrayLike) -> NDArray[np.intp]:
        """Return the bin of each number, counted from 0."""
        numbers = np.asarray(values, dtype=np.float64)
        missing = np.isnan(numbers)
        if missing.any():
            raise DataError(
                f"{int(missing.sum()):,} of the numbers to put into bins are missing. Drop or "
                "impute them."
            )
        return np.searchsorted(np.array(self.points), numbers, side="right")


def name_bins(points: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the bins between cut points that are given as texts.

    >>> name_bins(["18", "65"]), name_bins([])
    (('below_18', 'from_18_to_65', 'from_65'), ('any',))
    """
    if not points:
        return (ONE_BIN,)
    inner = [f"from_{low}_to_{high}" for low, high in pairwise(points)]
    return (f"below_{points[0]}", *inner, f"from_{points[-1]}")


def format_number(number: float) -> str:
    """Return the shortest text of a number, without a plus sign.

    >>> format_number(3.0), format_number(-0.25), format_number(1e20)
    ('3', '-0.25', '1e20')
    """
    return repr(float(number)).removesuffix(".0").replace("e+", "e").replace("e-0", "e-")


def round_between(low: float, high: float, near: float) -> float:
    """Round `near` to as few digits as possible, so that the result is in (low, high].

    >>> round_between(3.1415, 3.2718, 3.2)
    3.2
    >>> round_between(-0.4, 0.9, 0.25), round_between(0.1, 0.30000000000000004, 0.3)
    (0.0, 0.3)
    """
    if low < 0 <= high:
        return 0.0
    for digits in range(1, 18):
        rounded = float(f"{near:.{digits}g}")
        if low < rounded <= high:
            return rounded
    return high
