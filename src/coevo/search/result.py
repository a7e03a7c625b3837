"""The result, the history and the checkpoint of a search."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from coevo.checks import have_equal_fields
from coevo.graph import DAG
from coevo.runtime.deadline import check_deadline
from coevo.score import CacheStatistics
from coevo.search.base import Info, SearchState
from coevo.search.loop import StopReason

if TYPE_CHECKING:
    from coevo.view.picture import Picture

__all__ = ["Checkpoint", "HistoryRow", "SearchResult", "Support", "arc_support"]


# The support of an arc: the share of the last population that joins its two variables.
#
# A method with a population ends with many structures. The best one is the result. The *support*
# of an arc is the share of these structures that join its two variables, in either direction. The
# direction does not count: where the data cannot direct an edge, its direction is random. Every
# structure counts once, whatever its score.
#
# Support shows how far the survivors agree. It is not a probability and not a confidence: the
# structures were bred from each other and selected on the same rows. Use the bootstrap for the
# confidence of an arc (`coevo.posteriors.bootstrap`).


Support = NDArray[np.float64]  # (n, n), symmetric: share of structures that join two variables


def arc_support(structures: Iterable[NDArray[np.bool_]]) -> Support | None:
    """Return the share of structures that join each two variables; None without structures.

    >>> arc_support(np.array([[[0, 1], [0, 0]], [[0, 0], [0, 0]]], dtype=bool))
    array([[0. , 0.5],
           [0.5, 0. ]])
    """
    counts: NDArray[np.int64] | None = None
    n_structures = 0
    for adjacency in structures:
        check_deadline()
        edges = adjacency | adjacency.T
        counts = edges.astype(np.int64) if counts is None else counts + edges
        n_structures += 1
    return None if counts is None else counts / n_structures


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """One row of the history: the search after one generation. Generation 0 is the start.

    `score` and `n_arcs` belong to the best structure so far, which generation `improved`
    found. `details` are figures of the method.
    """

    generation: int
    evaluations: int
    seconds: float
    improved: int
    score: float
    n_arcs: int
    details: Info

    def as_dict(self) -> dict[str, Any]:
        """Return one flat record."""
        return {
            "generation": self.generation,
            "evaluations": self.evaluations,
            "seconds": round(self.seconds, 6),
            "improved": self.improved,
            "score": self.score,
            "n_arcs": self.n_arcs,
            **self.details,
        }


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """The state and the history of a search: all that is needed to resume it.

    A resumed search gives the same result as one that was never stopped. Its clock continues:
    the seconds already spent count against the time limit. `extra_arrays` belong to a caller
    that runs several searches in a row: they identify this search. `families_scored` is the number
    of families that were counted so far; files of 0.2.0 do not have it (None).
    """

    state: SearchState
    history: Sequence[HistoryRow]  # may grow while the search runs
    extra_arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    families_scored: int | None = 0

    @property
    def seconds(self) -> float:
        """The time that the search has taken so far."""
        return self.history[-1].seconds if self.history else 0.0


@dataclass(frozen=True, eq=False)
class SearchResult:
    """The best structure of a search, with its score and its history.

    Attributes
    ----------
    dag : DAG
        The structure; its variables are those of the data in canonical order.
    score : float
        Its score, a natural logarithm; higher is better.
    per_variable : dict of str to float
        The local scores, which add up to it.
    history : tuple of HistoryRow
        One row for each generation. The score never falls.
    generations, evaluations : int
        Number of steps, and number of local scores requested.
    seconds : float
        Wall-clock time.
    stop_reason : str
        ``'target'``, ``'generations'``, ``'evaluations'``, ``'patience'``, ``'time'``,
        ``'finished'`` (the method has ended), ``'callback'`` or ``'interrupt'``.
    method : str
        The name of the method.
    settings : dict
        The settings of the method.
    seed : int
        The same seed with the same data, settings and limits gives the same structure.
    cache : CacheStatistics
        How many local scores were computed, and how many came from the cache, since the search
        was started or resumed.
    families_scored : int or None
        How many local scores were computed, also before the search was resumed. None if that is
        not known: a checkpoint of 0.2.0 does not say it. The cache is not part of a checkpoint, so
        a resumed search computes some scores again.
    state : SearchState or None
        The last state, to resume from; None if the search was interrupted before it began.
    support : array of float, (n, n), or None
        The share of structures in the last population that join two variables, in
        canonical order; None for a method without a population, or if the time limit left no
        time for it. `arc_support` explains how to read it.
    """

    dag: DAG
    score: float
    per_variable: dict[str, float]
    history: tuple[HistoryRow, ...]
    generations: int
    evaluations: int
    seconds: float
    stop_reason: StopReason
    method: str
    settings: dict[str, Any]
    seed: int
    cache: CacheStatistics
    families_scored: int | None
    state: SearchState | None
    support: Support | None

    def __eq__(self, other: object) -> bool:
        """Return whether all fields are equal, times included."""
        return isinstance(other, SearchResult) and have_equal_fields(self, other)

    def __hash__(self) -> int:
        return hash((self.dag, self.score))

    @property
    def checkpoint(self) -> Checkpoint | None:
        """The checkpoint to resume from; None if the search never began."""
        if self.state is None:
            return None
        return Checkpoint(self.state, self.history, families_scored=self.families_scored)

    def plot(self) -> Picture:
        """Draw the structure, as `DAG.plot` does."""
        return self.dag.plot()

    def _repr_html_(self) -> str:
        from coevo.view.picture.notebook import Table, render_block, render_graph

        graph = render_graph(
            len(self.dag.nodes), self.plot, Table(["parent", "child"], self.dag.arcs)
        )
        return render_block(repr(self)[1:-1], graph)

    def __repr__(self) -> str:
        return (
            f"<SearchResult: {self.method}, score {self.score:z.4f}, {len(self.dag.arcs)} arcs, "
            f"stopped by {self.stop_reason} in generation {self.generations}>"
        )
