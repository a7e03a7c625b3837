"""How far a structure that was found is from the true one.

The structural Hamming distance (SHD) counts the pairs of variables on which two graphs
disagree: an arc too many, an arc too few, or an arc the wrong way round, one each. Since no
data can tell equivalent DAGs apart, the distance between their CPDAGs is the fairer one
[1]_: it is zero for equivalent DAGs. It can also be the larger one of the two, where one
arc that is turned makes or breaks a v-structure and with it changes what others must be.

.. [1] I. Tsamardinos, L. E. Brown and C. F. Aliferis, The max-min hill-climbing Bayesian
   network structure learning algorithm, Machine Learning 65, 2006.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

from coevo.errors import GraphError, suggestion
from coevo.graph.cpdag import CPDAG
from coevo.graph.dag import DAG, Arc

__all__ = ["Comparison", "compare"]


@dataclass(frozen=True)
class Comparison:
    """What a structure has right and wrong, as `compare` finds it.

    The four kinds of arcs are sorted by name, and no pair of variables is in two of them.
    A share of nothing is 1: if no arc was found, none of those found is wrong.
    """

    correct: tuple[Arc, ...]  # in both
    reversed: tuple[Arc, ...]  # as found; the true arc points the other way
    added: tuple[Arc, ...]  # found between variables that truly have no arc
    missing: tuple[Arc, ...]  # true, between variables for which no arc was found
    shd_cpdag: int  # pairs of variables on which the CPDAGs differ: none, ->, <- or an edge

    @property
    def shd(self) -> int:
        """Pairs of variables on which the DAGs differ."""
        return len(self.added) + len(self.missing) + len(self.reversed)

    @property
    def arc_precision(self) -> float:
        """The share of the arcs found that are true, direction included."""
        return _share(len(self.correct), self._n_found)

    @property
    def arc_recall(self) -> float:
        """The share of the true arcs that were found, direction included."""
        return _share(len(self.correct), self._n_true)

    @property
    def arc_f1(self) -> float:
        """The harmonic mean of precision and recall of arcs; 1 if neither DAG has any."""
        return _share(2 * len(self.correct), self._n_found + self._n_true)

    @property
    def skeleton_precision(self) -> float:
        """The share of the arcs found that are true in one direction or the other."""
        return _share(self._n_shared, self._n_found)

    @property
    def skeleton_recall(self) -> float:
        """The share of the true arcs that were found in one direction or the other."""
        return _share(self._n_shared, self._n_true)

    @property
    def skeleton_f1(self) -> float:
        """The harmonic mean of precision and recall of edges; 1 if neither DAG has any."""
        return _share(2 * self._n_shared, self._n_found + self._n_true)

    @property
    def _n_shared(self) -> int:
        return len(self.correct) + len(self.reversed)

    @property
    def _n_found(self) -> int:
        return self._n_shared + len(self.added)

    @property
    def _n_true(self) -> int:
        return self._n_shared + len(self.missing)


def compare(found: DAG, true: DAG) -> Comparison:
    """Compare a structure with the true one.

    Parameters
    ----------
    found, true : DAG
        Two structures over the same variables, whose order does not matter.

    Returns
    -------
    Comparison
        The arcs in which they differ, and the usual measures of how much they do.

    Examples
    --------
    >>> true = DAG(["cloudy", "rain", "wet"], [("cloudy", "rain"), ("rain", "wet")])
    >>> found = DAG(["cloudy", "rain", "wet"], [("rain", "cloudy"), ("cloudy", "wet")])
    >>> result = compare(found, true)
    >>> result.reversed, result.added, result.missing
    ((('rain', 'cloudy'),), (('cloudy', 'wet'),), (('rain', 'wet'),))
    >>> result.shd, result.shd_cpdag
    (3, 2)
    >>> result.skeleton_f1, result.arc_f1
    (0.5, 0.0)
    """
    _check_same_variables(found, true)
    ours, theirs = set(found.arcs), set(true.arcs)
    return Comparison(
        correct=tuple(arc for arc in found.arcs if arc in theirs),
        reversed=tuple(arc for arc in found.arcs if arc[::-1] in theirs),
        added=tuple(a for a in found.arcs if a not in theirs and a[::-1] not in theirs),
        missing=tuple(a for a in true.arcs if a not in ours and a[::-1] not in ours),
        shd_cpdag=_n_differing_pairs(CPDAG(found).directions, CPDAG(true).directions),
    )


def _n_differing_pairs(one: Set[Arc], two: Set[Arc]) -> int:
    """Return how many pairs of variables are joined otherwise by one than by the other."""
    return len({(min(arc), max(arc)) for arc in one ^ two})


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


def _check_same_variables(found: DAG, true: DAG) -> None:
    """Raise `GraphError` with the first variable by name that only one of them has."""
    ours, theirs = set(found.nodes), set(true.nodes)
    for has, lacks, sentence in (
        (theirs, ours, "The found structure has no variable {!r} of the true one"),
        (ours, theirs, "The true structure has no variable {!r} of the found one"),
    ):
        if has - lacks:
            name = min(has - lacks)
            raise GraphError(
                f"{sentence.format(name)}; both must have the same variables."
                f"{suggestion(name, sorted(lacks - has))}"
            )
