"""From the networks of many bootstraps to the strength of each arc, and to one network.

The strength of an arc is the share of bootstraps whose network joins its two variables,
either way [1]_. Its direction is the share of these in which it leads from the first to the
second. Directions are read off the CPDAG of each network: what data cannot direct, a search
directs by chance, so that an edge of the CPDAG counts half for each direction (and whole
where the constraints leave but one).

The threshold is that of [2]_. If every arc were either always found or never, the
distribution function of the strengths would be flat on [0, 1), at some height p. Take the p
for which the area between that and the function found, F, is smallest; what lies above the
p-quantile is significant. Since F never falls, the p that halves the interval is the median
of its heights, p = F(1/2): so the threshold is the largest strength that is not above 1/2,
and an arc is significant when it was found in more than half of the bootstraps. Where a
strength is exactly 1/2, a range of heights is equally near; the highest is taken.

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

__all__ = ["ArcStrength", "Halves", "consensus", "measure", "significance_threshold", "tally"]

Halves = NDArray[np.int64]  # (n, n), [i, j]: twice the networks with i -> j, plus those with i - j


@dataclass(frozen=True)
class ArcStrength:
    """How sure an arc is, in the direction that most bootstraps give it.

    Attributes
    ----------
    parent, child : str
        The arc. Where as many bootstraps say the one as the other, it is that of the
        network of the whole table, or else goes by name; in the consensus it may be turned
        rather than close a cycle.
    strength : float
        The share of bootstraps that join the two, either way.
    direction : float
        The share of these that lead from parent to child.
    gain : float or None
        By how much the score of the network of the whole table would fall without it; None
        if that network does not join the two.
    in_consensus : bool
        Whether it is an arc of the consensus.
    support : float or None
        The share of the last population of the search on the whole table that joins the two,
        either way (see `coevo.search.support`); None where there is no population.
    """

    parent: str
    child: str
    strength: float
    direction: float
    gain: float | None
    in_consensus: bool = False
    support: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "from": self.parent,
            "to": self.child,
            "strength": self.strength,
            "direction": self.direction,
            "gain": self.gain,
            "in_consensus": self.in_consensus,
            **({} if self.support is None else {"support": self.support}),
        }


def tally(dags: Iterable[DAG], names: Sequence[str], rules: ArcRules) -> Halves:
    """Count the directions of all arcs, on the CPDAGs of the networks."""
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


def significance_threshold(strengths: Iterable[float]) -> float:
    """Return the strength above which an arc is significant.

    Examples
    --------
    That of Scutari and Nagarajan (2013), section 3:

    >>> significance_threshold([0.0460, 0.2242, 0.3921, 0.7689, 0.8935, 0.9439])
    0.3921
    """
    return max((strength for strength in strengths if strength <= 0.5), default=0.0)


def measure(
    halves: Halves, n_networks: int, whole: DAG, gains: Mapping[Arc, float]
) -> list[ArcStrength]:
    """Return each arc of any network, strongest first, then most certain direction first.

    `whole` is the network of the whole table, its variables in the order of `halves`.
    """
    names, learned = whole.nodes, whole.adjacency()
    joined = (halves > 0) | learned
    found = []
    for i, j in np.argwhere(np.triu(joined | joined.T)).tolist():
        if halves[j, i] > halves[i, j] or (halves[j, i] == halves[i, j] and learned[j, i]):
            i, j = j, i
        arc, total = (names[i], names[j]), int(halves[i, j] + halves[j, i])
        strength = total / (2 * n_networks)
        direction = int(halves[i, j]) / total if total else 0.5
        gain = gains.get(arc, gains.get((arc[1], arc[0])))
        found.append(ArcStrength(*arc, strength, direction, gain))
    return sorted(found, key=lambda a: (-a.strength, -a.direction, a.parent, a.child))


def consensus(
    arcs: Sequence[ArcStrength], threshold: float, max_parents: int
) -> tuple[ArcStrength, ...]:
    """Mark the arcs of the consensus: those above the threshold, in their order.

    An arc that would close a cycle, or be one parent too many, is left out, unless its
    direction is a draw and the other one will do.
    """
    parents: dict[str, set[str]] = {}
    marked = []
    for arc in arcs:
        turned = replace(arc, parent=arc.child, child=arc.parent)
        ways = [arc, turned] if arc.direction == 0.5 else [arc]
        fits = (
            way
            for way in ways
            if len(parents.get(way.child, ())) < max_parents
            and not _leads(parents, way.child, way.parent)
        )
        chosen = next(fits, None) if arc.strength > threshold else None
        if chosen is not None:
            parents.setdefault(chosen.child, set()).add(chosen.parent)
            chosen = replace(chosen, in_consensus=True)
        marked.append(chosen or arc)
    return tuple(marked)


def _leads(parents: Mapping[str, set[str]], start: str, end: str) -> bool:
    """Return whether arcs lead from `start` to `end`."""
    seen, waiting = {end}, [end]
    while waiting:
        new = parents.get(waiting.pop(), set()) - seen
        seen |= new
        waiting.extend(new)
    return start in seen
