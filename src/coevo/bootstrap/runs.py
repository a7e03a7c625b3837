"""One bootstrap: rows drawn with replacement, and the network that a search finds in them.

A bootstrap belongs to (seed, number) and to nothing else: neither to the process that does
it, nor to how many there are, nor to the order of rows. Number 0 is the table itself, with
the seed itself, so that its network is the one that `run_search` finds.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from coevo.data import Dataset, Rows
from coevo.graph import Arc, Constraints
from coevo.missing import PolicyInput, search_incomplete
from coevo.randomness import stream
from coevo.score import FamilyScorer, Score, arc_gains
from coevo.search import Budget, Method, SearchResult, run_search

__all__ = ["WHOLE", "BootstrapRun", "Plan", "run_bootstrap", "whole_run"]

WHOLE = 0  # the number of the run on the table itself
ROWS, SEARCH = 0, 1  # what a bootstrap draws for


@dataclass(frozen=True)
class Plan:
    """What all bootstraps share; `missing` is what becomes of missing cells, if there are some."""

    method: Method
    score: Score
    weights: Mapping[Arc, float] | None
    parent_penalty: float
    constraints: Constraints
    budget: Budget
    seed: int
    missing: str | None = None

    def scorer(self, rows: Dataset, n_jobs: int = 1) -> FamilyScorer:
        """Return what scores structures on some rows."""
        return FamilyScorer(
            rows,
            self.score,
            n_jobs=n_jobs,
            weights=self.weights,
            parent_penalty=self.parent_penalty,
        )

    def search(self, rows: Rows, seed: int, n_jobs: int) -> tuple[SearchResult, FamilyScorer]:
        """Return what the search finds in some rows, and what judged it."""
        if isinstance(rows, Dataset):
            scorer = self.scorer(rows, n_jobs)
            result = run_search(
                self.method,
                scorer,
                constraints=self.constraints,
                budget=self.budget,
                random_state=seed,
            )
            return result, scorer
        question = PolicyInput(
            table=rows,
            method=self.method,
            score=self.score,
            constraints=self.constraints,
            weights={} if self.weights is None else self.weights,
            parent_penalty=self.parent_penalty,
            start=None,
            budget=self.budget,
            seed=seed,
            n_jobs=n_jobs,
        )
        found = search_incomplete(str(self.missing), question)
        return found.result, found.scorer


@dataclass(frozen=True)
class BootstrapRun:
    """What is kept of a bootstrap: the network that was found, and how long that took.

    Of the whole table's it is also what each arc is worth, and the share of the last
    population that joined two variables, for each two that any of it did; None where the
    method has no population.
    """

    bootstrap: int
    score: float
    arcs: tuple[Arc, ...]
    generations: int
    seconds: float
    support: tuple[tuple[str, str, float], ...] | None = None
    worth: tuple[tuple[str, str, float], ...] | None = None

    @property
    def gains(self) -> dict[Arc, float]:
        """What each arc of the whole table's is worth."""
        if self.worth is None:
            raise ValueError(f"bootstrap {self.bootstrap} is not the whole table's")
        return {(parent, child): gain for parent, child, gain in self.worth}

    @property
    def shares(self) -> dict[frozenset[str], float] | None:
        """The support by the two variables."""
        if self.support is None:
            return None
        return {frozenset((one, two)): share for one, two, share in self.support}

    @property
    def key(self) -> tuple[int]:
        """What tells it from the others."""
        return (self.bootstrap,)


def run_bootstrap(table: Rows, plan: Plan, n_jobs: int, number: int) -> BootstrapRun:
    """Draw the rows of a bootstrap and search for their network, on so many threads."""
    began = time.perf_counter()
    rows, seed = table, plan.seed
    if number != WHOLE:
        rows = table.resampled(stream(plan.seed, number, ROWS))
        seed = int(stream(plan.seed, number, SEARCH).integers(2**32))
    result, scorer = plan.search(rows, seed, n_jobs)
    if result.stop_reason == "interrupt":  # half a search is none
        raise KeyboardInterrupt
    seconds = round(time.perf_counter() - began, 4)
    if number == WHOLE:
        return whole_run(result, seconds, arc_gains(scorer, result.dag))
    return BootstrapRun(number, result.score, result.dag.arcs, result.generations, seconds)


def whole_run(result: SearchResult, seconds: float, gains: Mapping[Arc, float]) -> BootstrapRun:
    """Return what is kept of the search on the table itself, whose arcs are worth so much."""
    names, support, shares = result.dag.nodes, None, result.support
    if shares is not None:
        pairs = np.argwhere(np.triu(shares)).tolist()
        support = tuple((names[i], names[j], float(shares[i, j])) for i, j in pairs)
    worth = tuple((*arc, gains[arc]) for arc in result.dag.arcs)
    return BootstrapRun(
        WHOLE, result.score, result.dag.arcs, result.generations, seconds, support, worth
    )
