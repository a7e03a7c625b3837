"""Compare a learned structure with the true one.

The structural Hamming distance (SHD) counts the pairs of variables on which two graphs
differ. An added arc, a missing arc and a reversed arc count 1 each. Data cannot distinguish
equivalent DAGs, so the distance between the CPDAGs is the fairer one [1]_: it is zero for
equivalent DAGs. It can also be larger than the distance between the DAGs: one reversed arc
can make or break a v-structure, and thereby change which other arcs are compelled.

The structural intervention distance (SID) counts the effects that the learned structure infers
wrongly; see `coevo.graph.intervention`.

.. [1] I. Tsamardinos, L. E. Brown and C. F. Aliferis, The max-min hill-climbing Bayesian
   network structure learning algorithm, Machine Learning 65, 2006.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coevo.errors import GraphError, bad_parameter, suggest_match
from coevo.graph.cpdag import CPDAG
from coevo.graph.dag import DAG, Arc
from coevo.graph.intervention import bound_sid, count_sid

if TYPE_CHECKING:
    from coevo.view.picture import LinkKind, Picture

__all__ = ["Comparison", "compare"]


@dataclass(frozen=True)
class Comparison:
    """The differences between a learned and a true structure, as `compare` returns them.

    Each of the four groups of arcs is sorted by name. A pair of variables is in at most one
    of them. Precision and recall are 1 if their denominator is 0: a structure without arcs
    has no wrong arc. The two bounds are None if a class is too large to find them.
    """

    correct: tuple[Arc, ...]  # in both structures
    reversed: tuple[Arc, ...]  # as learned; the true arc has the other direction
    added: tuple[Arc, ...]  # learned, between variables without an arc in the true structure
    missing: tuple[Arc, ...]  # true, between variables without an arc in the learned structure
    shd_cpdag: int  # pairs on which the CPDAGs differ: no arc, ->, <- or an edge
    nodes: tuple[str, ...]  # all variables, sorted by name
    sid: int  # structural intervention distance: effects of one variable on another that are wrong
    sid_lower: int | None  # the smallest SID of all DAGs equivalent to the learned one
    sid_upper: int | None  # the largest one

    @property
    def shd(self) -> int:
        """Structural Hamming distance: the pairs of variables on which the DAGs differ."""
        return len(self.added) + len(self.missing) + len(self.reversed)

    @property
    def arc_precision(self) -> float:
        """The share of the learned arcs that are true, with the same direction."""
        return _divide(len(self.correct), self._n_learned)

    @property
    def arc_recall(self) -> float:
        """The share of the true arcs that were learned, with the same direction."""
        return _divide(len(self.correct), self._n_true)

    @property
    def arc_f1(self) -> float:
        """The harmonic mean of precision and recall of arcs; 1 if neither DAG has any."""
        return _divide(2 * len(self.correct), self._n_learned + self._n_true)

    @property
    def skeleton_precision(self) -> float:
        """The share of the learned arcs that are true, in either direction."""
        return _divide(self._n_shared, self._n_learned)

    @property
    def skeleton_recall(self) -> float:
        """The share of the true arcs that were learned, in either direction."""
        return _divide(self._n_shared, self._n_true)

    @property
    def skeleton_f1(self) -> float:
        """The harmonic mean of precision and recall of edges; 1 if neither DAG has any."""
        return _divide(2 * self._n_shared, self._n_learned + self._n_true)

    def plot(self) -> Picture:
        """Draw both structures in one graph. A legend explains the four groups of arcs.

        A reversed arc has its learned direction.

        Returns
        -------
        Picture
            It shows itself in a notebook. ``save("graph.svg")`` writes it as SVG, PNG or PDF.
        """
        from coevo.view.picture import Link, draw_graph

        groups: dict[LinkKind, tuple[str, tuple[Arc, ...]]] = {
            "same": ("correct", self.correct),
            "reversed": ("reversed", self.reversed),
            "added": ("added", self.added),
            "missing": ("missing", self.missing),
        }
        links = [
            Link(*arc, kind=kind, note=word)
            for kind, (word, arcs) in groups.items()
            for arc in arcs
        ]
        legend = {kind: f"{len(arcs):,} {word}" for kind, (word, arcs) in groups.items() if arcs}
        return draw_graph(self.nodes, links, legend=legend)

    def _repr_html_(self) -> str:
        from coevo.view.picture.notebook import Table, render_block, render_graph

        groups = {"missing": self.missing, "added": self.added, "reversed": self.reversed}
        arcs = [(*arc, word) for word, group in groups.items() for arc in group]
        caption = (
            f"Comparison: SHD {self.shd}, {self.shd_cpdag} between the CPDAGs; precision and "
            f"recall of arcs {self.arc_precision:.2f} and {self.arc_recall:.2f}, of edges "
            f"{self.skeleton_precision:.2f} and {self.skeleton_recall:.2f}"
        )
        table = Table(["parent", "child", "difference"], arcs)
        return render_block(caption, render_graph(len(self.nodes), self.plot, table))

    @property
    def _n_shared(self) -> int:
        return len(self.correct) + len(self.reversed)

    @property
    def _n_learned(self) -> int:
        return self._n_shared + len(self.added)

    @property
    def _n_true(self) -> int:
        return self._n_shared + len(self.missing)


def compare(found: DAG, true: DAG) -> Comparison:
    """Compare a learned structure with the true one.

    Parameters
    ----------
    found, true : DAG
        The learned and the true structure. Both must have the same variables, in any order.

    Returns
    -------
    Comparison
        The arcs that differ, the structural Hamming and intervention distances, precision and
        recall.

    Examples
    --------
    >>> true = DAG(["cloudy", "rain", "wet"], [("cloudy", "rain"), ("rain", "wet")])
    >>> found = DAG(["cloudy", "rain", "wet"], [("rain", "cloudy"), ("cloudy", "wet")])
    >>> result = compare(found, true)
    >>> result.reversed, result.added, result.missing
    ((('rain', 'cloudy'),), (('cloudy', 'wet'),), (('rain', 'wet'),))
    >>> result.shd, result.shd_cpdag
    (3, 2)
    >>> result.sid, result.sid_lower, result.sid_upper
    (4, 1, 4)
    >>> result.skeleton_f1, result.arc_f1
    (0.5, 0.0)
    """
    for name, dag in (("found", found), ("true", true)):
        if not isinstance(dag, DAG):
            raise bad_parameter(name, "compare", "a DAG", dag)
    _check_same_variables(found, true)
    found_arcs, true_arcs = set(found.arcs), set(true.arcs)
    lower, upper = bound_sid(found, true) or (None, None)
    return Comparison(
        correct=tuple(arc for arc in found.arcs if arc in true_arcs),
        reversed=tuple(arc for arc in found.arcs if arc[::-1] in true_arcs),
        added=tuple(a for a in found.arcs if a not in true_arcs and a[::-1] not in true_arcs),
        missing=tuple(a for a in true.arcs if a not in found_arcs and a[::-1] not in found_arcs),
        shd_cpdag=_count_differing_pairs(CPDAG(found).directions, CPDAG(true).directions),
        nodes=tuple(sorted(found.nodes)),
        sid=count_sid(found, true),
        sid_lower=lower,
        sid_upper=upper,
    )


def _count_differing_pairs(one: Set[Arc], two: Set[Arc]) -> int:
    """Return the number of pairs of variables that the two graphs connect differently."""
    return len({(min(arc), max(arc)) for arc in one ^ two})


def _divide(part: int, total: int) -> float:
    """Return a share; that of an empty total is 1."""
    return part / total if total else 1.0


def _check_same_variables(found: DAG, true: DAG) -> None:
    """Raise `GraphError` for the first variable, by name, that only one structure has."""
    found_nodes, true_nodes = set(found.nodes), set(true.nodes)
    for has, lacks, message in (
        (true_nodes, found_nodes, "The found structure has no variable {!r} of the true one"),
        (found_nodes, true_nodes, "The true structure has no variable {!r} of the found one"),
    ):
        if has - lacks:
            name = min(has - lacks)
            raise GraphError(
                f"{message.format(name)}; both must have the same variables."
                f"{suggest_match(name, sorted(lacks - has))}"
            )
