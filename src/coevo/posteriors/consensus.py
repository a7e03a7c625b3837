"""Edges with a number each: the strength over bootstrap samples, or the posterior probability.

The strong or probable ones form one graph: the consensus of the bootstrap, and the median
probability graph of the posterior.

**Strengths.** The strength of an arc is the share of samples whose network joins its two variables,
in either direction [1]_. Its direction is the share of these that direct it from the first to the
second, and its reverse the share that direct it the other way. Directions come from the CPDAG of
each network: data cannot direct an edge of the CPDAG, and a search directs it by chance. So such an
edge counts for neither, unless the constraints allow only one direction. The rest, 1 - direction -
reverse, is the share of samples that leave the edge undirected.

A strength from few samples is uncertain itself: its interval is that of Wilson [3]_, which holds
the strength of infinitely many samples with a probability of 95 %.

The threshold is that of [2]_. If every arc were found either always or never, the distribution
function of the strengths would be flat on [0, 1), at some height p. The method takes the p
with the smallest area between that flat function and the observed one, F; arcs above the
p-quantile are significant. F never falls, so the p that halves the interval is the median of its
heights, p = F(1/2). The threshold is therefore the largest strength that is not above 1/2, and an
arc is significant if it was found in more than half of the samples. If a strength is exactly 1/2,
a range of heights is equally near; the highest is taken.

**Probabilities.** An edge joins two variables in either direction, so its probability is the sum of
the probabilities of its two arcs. Its direction is the share of the more probable arc. The graph of
all edges with a probability above one half is the median probability graph [4]_. An edge of it is
an arc if that arc alone has a probability above one half; otherwise it stays undirected. Should
such arcs form a cycle, the least probable of them lose their direction until there is none.

.. [1] N. Friedman, M. Goldszmidt and A. Wyner, Data analysis with Bayesian networks: a
   bootstrap approach, UAI 1999.
.. [2] M. Scutari and R. Nagarajan, Identifying significant edges in graphical models of
   molecular networks, Artificial Intelligence in Medicine 57, 2013.
.. [3] E. B. Wilson, Probable inference, the law of succession, and statistical inference, Journal
   of the American Statistical Association 22, 1927.
.. [4] M. M. Barbieri and J. O. Berger, Optimal predictive model selection, Annals of Statistics 32,
   2004.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.checks import finite_or_none
from coevo.graph import CPDAG, DAG, Arc, ArcRules

__all__ = [
    "ArcStrength",
    "EdgeProbability",
    "build_consensus",
    "count_arcs",
    "find_interval",
    "find_median_graph",
    "find_threshold",
    "has_path",
    "list_edges",
    "measure_strengths",
]


NORMAL_QUANTILE = 1.959964  # of an interval of 95 %


@dataclass(frozen=True, eq=False)
class ArcCounts:
    """How many networks join two variables, and direct the edge between them."""

    joined: NDArray[np.int64]  # (n, n), [i, j] and [j, i]: networks with an edge of the two
    directed: NDArray[np.int64]  # (n, n), [i, j]: networks whose CPDAG has i -> j


@dataclass(frozen=True)
class ArcStrength:
    """The strength of an arc, in the direction that most bootstrap samples give it.

    Attributes
    ----------
    parent, child : str
        The arc. If both directions are equally frequent, the direction is that of the network of
        the original table, or else alphabetical; the consensus may reverse it to avoid a cycle.
    strength : float
        The share of samples that join the two, in either direction.
    direction : float
        The share of these that direct the edge from parent to child in their CPDAG; 0 if no sample
        joins the two.
    gain : float or None
        The loss of score if the arc is removed from the network of the original table; None if
        that network does not join the two.
    in_consensus : bool
        Whether it is an arc of the consensus.
    support : float or None
        The share of the last population of the search on the original table that joins the two,
        in either direction (see `coevo.search.result`); None where the method has no population.
    reverse : float
        The share of the samples that join the two that direct the edge from child to parent.
    interval : (float, float)
        The 95 % interval of the strength, by `find_interval`.
    """

    parent: str
    child: str
    strength: float
    direction: float
    gain: float | None
    in_consensus: bool = False
    support: float | None = None
    reverse: float = 0.0
    interval: tuple[float, float] = (0.0, 1.0)

    def as_dict(self) -> dict[str, Any]:
        """Return the values by name."""
        return {
            "from": self.parent,
            "to": self.child,
            "strength": self.strength,
            "interval": list(self.interval),
            "direction": self.direction,
            "reverse": self.reverse,
            "gain": self.gain,
            "in_consensus": self.in_consensus,
            **({} if self.support is None else {"support": self.support}),
        }


def count_arcs(dags: Iterable[DAG], names: Sequence[str], rules: ArcRules) -> ArcCounts:
    """Count the edges and the directions in the CPDAGs of the networks."""
    place = {name: i for i, name in enumerate(names)}
    joined = np.zeros((len(names), len(names)), dtype=np.int64)
    directed = np.zeros_like(joined)
    for dag in dags:
        compelled = set(CPDAG(dag).arcs)
        for arc in dag.arcs:
            i, j = place[arc[0]], place[arc[1]]
            joined[i, j] += 1
            joined[j, i] += 1
            if arc in compelled or rules.required[i, j] or not rules.allowed[j, i]:
                directed[i, j] += 1
    return ArcCounts(joined, directed)


def find_interval(n_found: int, n_samples: int) -> tuple[float, float]:
    """Return the 95 % interval of Wilson for a share.

    >>> low, high = find_interval(10, 12)
    >>> round(low, 2), round(high, 2)
    (0.55, 0.95)
    """
    share, spread = n_found / n_samples, NORMAL_QUANTILE**2 / n_samples
    centre = share + spread / 2
    half = math.sqrt(spread * (share * (1 - share) + spread / 4))
    # at the ends the formula gives 0 and 1 up to rounding
    low = 0.0 if n_found == 0 else (centre - half) / (1 + spread)
    high = 1.0 if n_found == n_samples else (centre + half) / (1 + spread)
    return low, high


def find_threshold(strengths: Iterable[float]) -> float:
    """Return the strength above which an arc is significant.

    Examples
    --------
    The example of Scutari and Nagarajan (2013), section 3:

    >>> find_threshold([0.0460, 0.2242, 0.3921, 0.7689, 0.8935, 0.9439])
    0.3921
    """
    return max((strength for strength in strengths if strength <= 0.5), default=0.0)


def measure_strengths(
    counts: ArcCounts, n_networks: int, original: DAG, gains: Mapping[Arc, float]
) -> tuple[ArcStrength, ...]:
    """Return the arcs of all networks, by falling strength, then by falling direction.

    `original` is the network of the original table, its variables in the order of `counts`.
    """
    names, learned = original.nodes, original.adjacency()
    joined, directed = counts.joined, counts.directed
    arcs = []
    for i, j in np.argwhere(np.triu((joined > 0) | learned | learned.T)).tolist():
        if directed[j, i] > directed[i, j] or (directed[j, i] == directed[i, j] and learned[j, i]):
            i, j = j, i
        arc, n_found = (names[i], names[j]), int(joined[i, j])
        arcs.append(
            ArcStrength(
                *arc,
                strength=n_found / n_networks,
                direction=int(directed[i, j]) / max(1, n_found),
                gain=gains.get(arc, gains.get((arc[1], arc[0]))),
                reverse=int(directed[j, i]) / max(1, n_found),
                interval=find_interval(n_found, n_networks),
            )
        )
    return tuple(
        sorted(arcs, key=lambda a: (-a.strength, a.reverse - a.direction, a.parent, a.child))
    )


def build_consensus(
    arcs: Sequence[ArcStrength], threshold: float, names: Sequence[str], rules: ArcRules
) -> tuple[ArcStrength, ...]:
    """Set `in_consensus` of the arcs above the threshold, taken in their order.

    An arc that would close a cycle, or exceed a limit on parents or tables, is left out; if both
    of its directions are equally frequent, the reverse arc may take its place.
    """
    number = {name: i for i, name in enumerate(names)}

    def has_room(child: str, others: set[str]) -> bool:
        fits = rules.fits(number[child], [number[other] for other in others])
        return len(others) <= rules.max_parents and fits

    parents: dict[str, set[str]] = {}
    results = []
    for arc in arcs:
        reverse = replace(arc, parent=arc.child, child=arc.parent)
        directions = [arc, reverse] if arc.direction == arc.reverse else [arc]
        legal = (
            one
            for one in directions
            if has_room(one.child, {*parents.get(one.child, ()), one.parent})
            and not has_path(parents, one.child, one.parent)
        )
        chosen = next(legal, None) if arc.strength > threshold else None
        if chosen is not None:
            parents.setdefault(chosen.child, set()).add(chosen.parent)
            chosen = replace(chosen, in_consensus=True)
        results.append(chosen or arc)
    return tuple(results)


def has_path(parents: Mapping[str, set[str]], start: str, end: str) -> bool:
    """Return whether a directed path leads from `start` to `end`."""
    seen, waiting = {end}, [end]
    while waiting:
        new = parents.get(waiting.pop(), set()) - seen
        seen |= new
        waiting.extend(new)
    return start in seen


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
