"""The probability of each edge, and the median probability graph.

An edge joins two variables in either direction, so its probability is the sum of the probabilities
of its two arcs. Its direction is the share of the more probable arc. The graph of all edges
with a probability above one half is the median probability graph [1]_. An edge of it is an arc if
that arc alone has a probability above one half; otherwise it stays undirected. Should such arcs
form a cycle, the least probable of them lose their direction until there is none.

.. [1] M. M. Barbieri and J. O. Berger, Optimal predictive model selection, Annals of Statistics 32,
   2004.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.checks import finite_or_none
from coevo.graph import Arc
from coevo.posteriors.bootstrap.consensus import has_path

__all__ = ["EdgeProbability", "find_median_graph", "list_edges"]

LEAST = 0.001  # an edge with a smaller probability is not listed


@dataclass(frozen=True)
class EdgeProbability:
    """The posterior probability of an edge, and of its direction.

    Attributes
    ----------
    parent, child : str
        The more probable of its two arcs; of equal ones, the first by name.
    probability : float
        The probability that the two variables are joined, in either direction.
    direction : float
        The share of this probability that the arc from parent to child has.
    error : float
        The standard error of the probability; 0 if it is exact, nan after too few steps.
    """

    parent: str
    child: str
    probability: float
    direction: float
    error: float = 0.0

    @property
    def forward(self) -> float:
        """The probability of the arc from parent to child."""
        return self.probability * self.direction

    def as_dict(self) -> dict[str, Any]:
        """Return the values by name."""
        return {
            "from": self.parent,
            "to": self.child,
            "probability": self.probability,
            "direction": self.direction,
            "error": finite_or_none(self.error),
        }


def list_edges(
    names: Sequence[str], arcs: NDArray[np.float64], errors: NDArray[np.float64]
) -> tuple[EdgeProbability, ...]:
    """Return the edges with a probability of at least `LEAST`, the most probable first.

    ``errors[i, j]`` is the standard error of the probability that i and j are joined.
    """
    edges = []
    for i, j in np.argwhere(np.triu(arcs + arcs.T) >= LEAST).tolist():
        first, second = (j, i) if arcs[j, i] > arcs[i, j] else (i, j)
        total = float(arcs[i, j] + arcs[j, i])
        error = float(errors[i, j])
        share = float(arcs[first, second]) / total
        edges.append(EdgeProbability(names[first], names[second], min(total, 1.0), share, error))
    return tuple(sorted(edges, key=lambda e: (-e.probability, -e.direction, e.parent, e.child)))


def find_median_graph(
    edges: Sequence[EdgeProbability],
) -> tuple[tuple[Arc, ...], tuple[Arc, ...]]:
    """Return the arcs and the undirected edges of the median probability graph.

    >>> ab, bc = EdgeProbability("a", "b", 0.9, 0.9), EdgeProbability("b", "c", 0.8, 0.5)
    >>> find_median_graph([ab, bc])
    ((('a', 'b'),), (('b', 'c'),))
    """
    kept = [edge for edge in edges if edge.probability > 0.5]
    parents: dict[str, set[str]] = {}
    arcs, undirected = [], []
    for edge in sorted(kept, key=lambda e: (-e.forward, e.parent, e.child)):
        arc = edge.parent, edge.child
        if edge.forward > 0.5 and not has_path(parents, edge.child, edge.parent):
            parents.setdefault(edge.child, set()).add(edge.parent)
            arcs.append(arc)
        else:
            undirected.append(arc)
    return tuple(sorted(arcs)), tuple(sorted(tuple(sorted(edge)) for edge in undirected))  # type: ignore[misc]
