"""The problems: tours through cities, and orderings of items, each as a checked matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from coevo.errors import DataError

__all__ = ["OrderingProblem", "Problem", "TourProblem"]

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class TourProblem:
    """Cities and their distances; a tour visits each city once and returns (TSP).

    Attributes
    ----------
    name : str
        The name of the instance.
    distances : array, (n, n)
        Symmetric; the diagonal is not used.
    coordinates : array, (n, 2), or None
        Where a picture draws the cities.
    optimum : float or None
        The length of the shortest tour, where it is known.

    Examples
    --------
    >>> TourProblem.from_matrix([[0, 2, 9], [2, 0, 4], [9, 4, 0]]).measure([0, 1, 2])
    15.0
    """

    name: str
    distances: Matrix
    coordinates: Matrix | None = None
    optimum: float | None = None

    @classmethod
    def from_matrix(
        cls, distances: Any, name: str = "matrix", coordinates: Matrix | None = None
    ) -> TourProblem:
        """Check a matrix of distances; raise `DataError` if it is not square and symmetric."""
        matrix = _read_matrix(distances, name, "city")
        differs = np.argwhere(np.triu(matrix != matrix.T, k=1))
        if len(differs):
            one, two = differs[0]
            raise DataError(
                f"The distance of {name!r} from city {one + 1} to city {two + 1} is "
                f"{matrix[one, two]:g}, and back it is {matrix[two, one]:g}. Give symmetric "
                "distances."
            )
        return cls(name, matrix, coordinates)

    kind: ClassVar[str] = "tsp"

    @property
    def matrix(self) -> Matrix:
        """The distances."""
        return self.distances

    @property
    def n_places(self) -> int:
        """The number of cities."""
        return len(self.distances)

    def measure(self, order: Any) -> float:
        """Return the length of a tour."""
        cities = np.asarray(order)
        return float(self.distances[cities, np.roll(cities, -1)].sum()) if len(cities) > 1 else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class OrderingProblem:
    """Items and the weight of each pair; the pairs in the order of an ordering count (LOP).

    This is the heaviest acyclic subgraph of a complete directed graph: all forward arcs of the
    best order.

    Attributes
    ----------
    name : str
        The name of the instance.
    weights : array, (n, n)
        ``[i, j]`` counts if i is before j; the diagonal is not used.
    optimum : float or None
        The weight of the heaviest ordering, where it is known.

    Examples
    --------
    >>> OrderingProblem.from_matrix([[0, 5, 1], [2, 0, 4], [3, 1, 0]]).measure([0, 1, 2])
    10.0
    """

    name: str
    weights: Matrix
    optimum: float | None = None

    @classmethod
    def from_matrix(cls, weights: Any, name: str = "matrix") -> OrderingProblem:
        """Check a matrix of weights; raise `DataError` if it is not square."""
        return cls(name, _read_matrix(weights, name, "item"))

    kind: ClassVar[str] = "lop"

    @property
    def matrix(self) -> Matrix:
        """The weights."""
        return self.weights

    @property
    def n_places(self) -> int:
        """The number of items."""
        return len(self.weights)

    def measure(self, order: Any) -> float:
        """Return the weight of an ordering."""
        items = np.asarray(order)
        return float(np.triu(self.weights[np.ix_(items, items)], k=1).sum())


Problem = TourProblem | OrderingProblem


def _read_matrix(values: Any, name: str, place: str) -> Matrix:
    """Return a read-only copy of a square matrix of finite numbers, with a zero diagonal."""
    try:
        matrix = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"The matrix {name!r} must hold numbers only.") from None
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not len(matrix):
        shape = " x ".join(map(str, matrix.shape))
        raise DataError(
            f"The matrix {name!r} has the shape {shape}. Give one row and one column for each "
            f"{place}."
        )
    if not np.isfinite(matrix).all():
        row, column = np.argwhere(~np.isfinite(matrix))[0] + 1
        raise DataError(
            f"The matrix {name!r} has no finite number in row {row}, column {column}. Replace it."
        )
    with np.errstate(over="ignore"):
        is_too_large = not np.isfinite(np.abs(matrix).sum())
    if is_too_large:
        raise DataError(f"The numbers of the matrix {name!r} are too large to add. Scale them.")
    np.fill_diagonal(matrix, 0.0)
    matrix.flags.writeable = False
    return matrix
