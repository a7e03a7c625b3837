"""What a search returns, and where it stands in between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from coevo.graph import DAG
from coevo.score import CacheStatistics
from coevo.search.base import Info, SearchState
from coevo.search.budget import StopReason
from coevo.search.support import Support

__all__ = ["Checkpoint", "HistoryRow", "SearchResult"]


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """The search after one generation; generation 0 is its start.

    `score` and `n_arcs` are those of the best structure so far, found in generation
    `improved`. `details` are the method's own numbers.
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


@dataclass(frozen=True)
class Checkpoint:
    """Where a search stands and how it came there: enough to go on as if it had not stopped.

    Its clock goes on too: seconds that were spent are counted against a budget. `beside` is for
    whoever runs several searches, and must know where among them this one is.
    """

    state: SearchState
    history: Sequence[HistoryRow]  # may grow while the search goes on
    beside: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        """Time on the clock of the search."""
        return self.history[-1].seconds if self.history else 0.0


@dataclass(frozen=True)
class SearchResult:
    """The best structure that a search found.

    Attributes
    ----------
    dag : DAG
        The structure; its variables are those of the data in canonical order.
    score : float
        Its score, a natural logarithm; higher is better.
    per_variable : dict of str to float
        The local scores, which add up to it.
    history : tuple of HistoryRow
        One row a generation; the score never falls.
    generations, evaluations : int
        Steps made, and local scores asked for.
    seconds : float
        Time on the clock.
    stop_reason : str
        ``'target'``, ``'generations'``, ``'evaluations'``, ``'patience'``, ``'time'``,
        ``'finished'`` (nothing is left to do), ``'callback'`` or ``'interrupt'``.
    method : str
        The name of the method.
    settings : dict
        Its settings.
    seed : int
        With the same data, settings and limit it gives the same structure again.
    cache : CacheStatistics
        How many of the local scores had to be computed for this search.
    state : SearchState or None
        Where the search stood, to go on from; None if it was interrupted before it began.
    support : array of float, (n, n), or None
        The share of the structures of the last population that join two variables, in
        canonical order; None where there is no population. What that means, and what it does
        not, stands in `coevo.search.support`.
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
    state: SearchState | None
    support: Support | None

    @property
    def checkpoint(self) -> Checkpoint | None:
        """Where the search stood and how it came there; None if it never began."""
        return None if self.state is None else Checkpoint(self.state, self.history)

    def __repr__(self) -> str:
        return (
            f"<SearchResult: {self.method}, score {self.score:.4f}, {len(self.dag.arcs)} arcs, "
            f"stopped by {self.stop_reason} in generation {self.generations}>"
        )
