"""Cut points: how a number becomes a state, and how a state is called.

Bins are half open: a number that equals a cut point belongs to the bin above. The states
are called ``below_3.2``, ``from_3.2_to_5`` and ``from_5``: plain words that every reader of
BIF takes (pyAgrum refuses names such as ``3.2`` or ``<3``), and from which the cut points
can be read back to the last bit. A network therefore carries its cut points wherever its
states go, and new numbers can be put into the bins of an old model.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coevo.checks import is_number
from coevo.errors import DataError, ParameterError

__all__ = ["CutPoints", "number_text", "readable_between"]

ONE_BIN = "any"  # the state of a column that is not cut
_NUMBER = r"-?(?:\d+(?:\.\d+)?)(?:e-?\d+)?"
_STATE = re.compile(
    rf"below_(?P<below>{_NUMBER})|from_(?P<low>{_NUMBER})(?:_to_(?P<high>{_NUMBER}))?"
)


@dataclass(frozen=True, slots=True)
class CutPoints:
    """Cut points in ascending order; there is one bin more than there are points.

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
        # Adding 0 turns -0 into 0, which has one name only.
        object.__setattr__(self, "points", tuple(float(point) + 0.0 for point in points))

    @property
    def states(self) -> tuple[str, ...]:
        """The names of the bins, from low to high."""
        texts = [number_text(point) for point in self.points]
        if not texts:
            return (ONE_BIN,)
        inner = [f"from_{low}_to_{high}" for low, high in pairwise(texts)]
        return (f"below_{texts[0]}", *inner, f"from_{texts[-1]}")

    @classmethod
    def from_states(cls, states: Iterable[str]) -> CutPoints | None:
        """Return the cut points that states name, in any order, or None if they name none.

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
                "fill them."
            )
        return np.searchsorted(np.array(self.points), numbers, side="right")


def number_text(number: float) -> str:
    """Return the shortest text of a number, without a plus sign.

    >>> number_text(3.0), number_text(-0.25), number_text(1e20)
    ('3', '-0.25', '1e20')
    """
    return repr(float(number)).removesuffix(".0").replace("e+", "e").replace("e-0", "e-")


def readable_between(low: float, high: float, near: float) -> float:
    """Return a number with few digits in (low, high], as near to `near` as its digits allow.

    >>> readable_between(3.1415, 3.2718, 3.2)
    3.2
    >>> readable_between(-0.4, 0.9, 0.25), readable_between(0.1, 0.30000000000000004, 0.3)
    (0.0, 0.3)
    """
    if low < 0 <= high:
        return 0.0
    for digits in range(1, 18):
        rounded = float(f"{near:.{digits}g}")
        if low < rounded <= high:
            return rounded
    return high
