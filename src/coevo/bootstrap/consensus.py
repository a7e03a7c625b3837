"""From the networks of many bootstrap samples to the strength of each arc, and to a consensus.

The strength of an arc is the share of samples whose network joins its two variables, in either
direction [1]_. Its direction is the share of these in which the arc leads from the first to the
second. Directions come from the CPDAG of each network: data cannot direct an edge of the
CPDAG, and a search directs it by chance. So such an edge counts half for each direction, and
fully for one direction where the constraints allow only that one.

The threshold is that of [2]_. If every arc were found either always or never, the distribution
function of the strengths would be flat on [0, 1), at some height p. The method takes the p
with the smallest area between that flat function and the observed one, F; arcs above the
p-quantile are significant. F never falls, so the p that halves the interval is the median of its
heights, p = F(1/2). The threshold is therefore the largest strength that is not above 1/2, and an
arc is significant if it was found in more than half of the samples. If a strength is exactly 1/2,
a range of heights is equally near; the highest is taken.

.. [1] N. Friedman, M. Goldszmidt and A. Wyner, Data analysis with Bayesian networks: a
   bootstrap approach, UAI 1999.
.. [2] M. Scutari and R. Nagarajan, Identifying significant edges in graphical models of
   molecular networks, Artificial Intelligence in Medicine 57, 2013.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.graph import CPDAG, DAG, Arc, ArcRules

__all__ = [
    "ArcStrength",
    "HalfCounts",
    "build_consensus",
    "count_arcs",
    "find_threshold",
    "has_path",
    "measure_strengths",
]

# (n, n), [i, j]: twice the networks with i -> j, plus those with i - j
HalfCounts = NDArray[np.int64]


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
        The share of these that lead from parent to child.
    gain : float or None
        The loss of score if the arc is removed from the network of the original table; None if
        that network does not join the two.
    in_consensus : bool
        Whether it is an arc of the consensus.
    support : float or None
        The share of the last population of the search on the original table that joins the two,
        in either direction (see `coevo.search.support`); None where the method has no population.
    """

    parent: str
    child: str
    strength: float
    direction: float
    gain: float | None
    in_consensus: bool = False
    support: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the values by name."""
        return {
            "from": self.parent,
            "to": self.child,
            "strength": self.strength,
            "direction": self.direction,
            "gain": self.gain,
            "in_consensus": self.in_consensus,
            **({} if self.support is None else {"support": self.support}),
        }


def count_arcs(dags: Iterable[DAG], names: Sequence[str], rules: ArcRules) -> HalfCounts:
    """Count the directions of all arcs in the CPDAGs of the networks."""
    place = {name: i for i, name in enumerate(names)}
    halves = np.zeros((len(names), len(names)), dtype=np.int64)
    for dag in dags:
        compelled = set(CPDAG(dag).arcs)
        for arc in dag.arcs:
            i, j = place[arc[0]], place[arc[1]]
            if arc in compelled or rules.required[i, j] or not rules.allowed[j, i]:
                halves[i, j] += 2
            else:
                halves[i, j] += 1
                halves[j, i] += 1
    return halves


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
    halves: HalfCounts, n_networks: int, original: DAG, gains: Mapping[Arc, float]
) -> tuple[ArcStrength, ...]:
    """Return the arcs of all networks, by falling strength, then by falling direction.

    `original` is the network of the original table, its variables in the order of `halves`.
    """
    names, learned = original.nodes, original.adjacency()
    joined = (halves > 0) | learned
    arcs = []
    for i, j in np.argwhere(np.triu(joined | joined.T)).tolist():
        if halves[j, i] > halves[i, j] or (halves[j, i] == halves[i, j] and learned[j, i]):
            i, j = j, i
        arc, total = (names[i], names[j]), int(halves[i, j] + halves[j, i])
        strength = total / (2 * n_networks)
        direction = int(halves[i, j]) / total if total else 0.5
        gain = gains.get(arc, gains.get((arc[1], arc[0])))
        arcs.append(ArcStrength(*arc, strength, direction, gain))
    return tuple(sorted(arcs, key=lambda a: (-a.strength, -a.direction, a.parent, a.child)))


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
        directions = [arc, reverse] if arc.direction == 0.5 else [arc]
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
