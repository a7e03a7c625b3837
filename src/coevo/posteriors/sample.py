"""Sampled DAGs in a compact form, and what can be counted in them.

A sample keeps the arcs of each DAG, not its matrix, so that a thousand DAGs of a thousand variables
fit into a few megabytes. Every feature of a DAG has a probability: the share of the sampled DAGs
that have it. Draws of chains are correlated, so the number of DAGs is not the number of independent
draws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coevo.graph import DAG

__all__ = ["DagSample", "find_descendants"]

Matrix = NDArray[np.float64]  # (n, n)


@dataclass(frozen=True, eq=False)
class DagSample(Sequence[DAG]):
    """DAGs that were drawn from the posterior, in the order of the draws.

    Attributes
    ----------
    names : tuple of str
        The variables.
    start : array of int64, (m + 1,)
        DAG i has the arcs ``start[i]`` to ``start[i + 1]``.
    arcs : array of int32, (n_arcs, 2)
        Parent and child of each arc, as numbers of variables.

    Examples
    --------
    >>> sample = DagSample.from_matrices(("a", "b"), [np.array([[0, 1], [0, 0]], dtype=bool)])
    >>> len(sample), sample[0].arcs
    (1, (('a', 'b'),))
    >>> sample.measure(lambda dag: "b" in dag.children("a"))
    1.0
    """

    names: tuple[str, ...]
    start: NDArray[np.int64]
    arcs: NDArray[np.int32]

    @classmethod
    def from_matrices(
        cls, names: tuple[str, ...], matrices: Iterable[NDArray[np.bool_]]
    ) -> DagSample:
        """Make a sample from adjacency matrices, ``[parent, child]``, which it needs one by one."""
        listed = [np.argwhere(matrix) for matrix in matrices]
        start = np.concatenate([[0], np.cumsum([len(arcs) for arcs in listed])]).astype(np.int64)
        arcs = np.concatenate([*listed, np.empty((0, 2), dtype=np.int64)])
        return cls(names, start, arcs.astype(np.int32))

    def __len__(self) -> int:
        return len(self.start) - 1

    def __getitem__(self, number: int) -> DAG:  # type: ignore[override]
        """Return a DAG."""
        if not -len(self) <= number < len(self):
            raise IndexError(f"The sample has {len(self)} DAGs.")
        place = number % len(self)
        arcs = self.arcs[self.start[place] : self.start[place + 1]].tolist()
        return DAG(self.names, [(self.names[parent], self.names[child]) for parent, child in arcs])

    def iter_matrices(self) -> Iterator[NDArray[np.bool_]]:
        """Return the adjacency matrix of each DAG in turn, ``[parent, child]``."""
        n = len(self.names)
        for first, last in zip(self.start[:-1].tolist(), self.start[1:].tolist(), strict=True):
            matrix = np.zeros((n, n), dtype=np.bool_)
            matrix[self.arcs[first:last, 0], self.arcs[first:last, 1]] = True
            yield matrix

    def measure(self, feature: Callable[[DAG], float]) -> float:
        """Return the mean of a feature: its probability, if it is True or False."""
        return float(np.mean([float(feature(dag)) for dag in self]))

    def measure_ancestors(self) -> Matrix:
        """Return the share of DAGs in which a directed path leads from i to j, ``[i, j]``."""
        return self._average(find_descendants)

    def measure_blankets(self) -> Matrix:
        """Return the share of DAGs in which i is in the Markov blanket of j; symmetric."""
        return self._average(_find_blankets)

    def _average(self, find: Callable[[NDArray[np.bool_]], NDArray[np.bool_]]) -> Matrix:
        total = np.zeros((len(self.names), len(self.names)))
        for matrix in self.iter_matrices():
            total += find(matrix)
        return total / max(1, len(self))

    def count_networks(self) -> list[tuple[int, int]]:
        """Return each distinct DAG by the number of its first draw, with how often it was drawn.

        The most frequent comes first; ties stand in the order of their first draw.
        """
        first: dict[bytes, int] = {}
        counts: dict[bytes, int] = {}
        for number in range(len(self)):
            key = self.arcs[self.start[number] : self.start[number + 1]].tobytes()
            first.setdefault(key, number)
            counts[key] = counts.get(key, 0) + 1
        ranked = sorted(first, key=lambda key: (-counts[key], first[key]))
        return [(first[key], counts[key]) for key in ranked]

    def thin(self, number: int) -> DagSample:
        """Return at most this many DAGs, evenly spread over the draws."""
        if number >= len(self):
            return self
        chosen = np.linspace(0, len(self) - 1, number).round().astype(np.int64)
        sizes = np.diff(self.start)[chosen]
        start = np.concatenate([[0], np.cumsum(sizes)])
        at = np.repeat(self.start[chosen] - start[:-1], sizes) + np.arange(int(start[-1]))
        return DagSample(self.names, start, self.arcs[at])


def find_descendants(adjacency: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return whether a directed path leads from i to j in a DAG, ``[i, j]``."""
    reached = adjacency.copy()
    n_left = adjacency.sum(axis=1)
    ready = np.flatnonzero(n_left == 0).tolist()  # all children of these are done
    while ready:
        v = ready.pop()
        parents = np.flatnonzero(adjacency[:, v])
        reached[parents] |= reached[v]
        n_left[parents] -= 1
        ready += parents[n_left[parents] == 0].tolist()
    return reached


def _find_blankets(adjacency: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return whether two variables are neighbours or parents of the same child."""
    numbers = adjacency.astype(np.float32)
    blanket: NDArray[np.bool_] = adjacency | adjacency.T | ((numbers @ numbers.T) > 0)
    np.fill_diagonal(blanket, False)
    return blanket
