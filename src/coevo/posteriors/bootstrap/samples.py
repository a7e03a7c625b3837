"""One bootstrap sample: rows drawn with replacement, and the network that a search finds in them.

A sample depends on the seed and on its number alone: not on the process that draws it, the number
of samples or the order of rows. Number 0 is the original table with the seed itself, so that its
network is the one that `run_search` finds.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from coevo.data import Dataset, Rows
from coevo.graph import Arc
from coevo.randomness import random_stream
from coevo.score import FamilyScorer, arc_gains
from coevo.search import SearchResult, SearchSpec

__all__ = ["ORIGINAL", "BootstrapRun", "record_original", "run_bootstrap"]

ORIGINAL = 0  # the number of the run on the table itself
ROWS, SEARCH = 0, 1  # keys of the random streams of a sample


@dataclass(frozen=True)
class BootstrapRun:
    """The network of one bootstrap sample, and the time it took.

    The run on the original table also holds the gain of each arc (`worth`, its name in the file)
    and the support of each pair of variables that any individual of the last population joins.
    The support is None if the method has no population.
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
        """The gain of each arc of the original table's network."""
        if self.worth is None:
            raise ValueError(f"bootstrap {self.bootstrap} is not the run on the original table")
        return {(parent, child): gain for parent, child, gain in self.worth}

    @property
    def support_by_pair(self) -> dict[frozenset[str], float] | None:
        """The support by pair of variables."""
        if self.support is None:
            return None
        return {frozenset((one, two)): share for one, two, share in self.support}

    @property
    def key(self) -> tuple[int]:
        """The key of the run in a journal."""
        return (self.bootstrap,)


def run_bootstrap(
    table: Rows, spec: SearchSpec, missing: str | None, n_jobs: int, number: int
) -> BootstrapRun:
    """Draw the rows of a sample and search for their network.

    `missing` is the policy for missing values, and `n_jobs` the number of threads.
    """
    began = time.perf_counter()
    rows = table
    if number != ORIGINAL:
        rows = table.resample(random_stream(spec.seed, number, ROWS))
        seed = int(random_stream(spec.seed, number, SEARCH).integers(2**32))
        spec = replace(spec, seed=seed)
    result, scorer = _search(rows, spec, missing, n_jobs)
    if result.stop_reason == "interrupt":  # the result of an interrupted search is not used
        raise KeyboardInterrupt
    seconds = round(time.perf_counter() - began, 4)
    if number == ORIGINAL:
        return record_original(result, seconds, arc_gains(scorer, result.dag))
    return BootstrapRun(number, result.score, result.dag.arcs, result.generations, seconds)


def _search(
    rows: Rows, spec: SearchSpec, missing: str | None, n_jobs: int
) -> tuple[SearchResult, FamilyScorer]:
    """Return the result of the search on some rows, and its scorer."""
    if isinstance(rows, Dataset):
        scorer = spec.make_scorer(rows, n_jobs)
        return spec.run(scorer), scorer
    from coevo.missing import PolicyInput, search_incomplete

    output = search_incomplete(str(missing), PolicyInput(rows, spec, n_jobs))
    return output.result, output.scorer


def record_original(
    result: SearchResult, seconds: float, gains: Mapping[Arc, float]
) -> BootstrapRun:
    """Return the record of the search on the original table, with the gains of its arcs."""
    names, support, shares = result.dag.nodes, None, result.support
    if shares is not None:
        pairs = np.argwhere(np.triu(shares)).tolist()
        support = tuple((names[i], names[j], float(shares[i, j])) for i, j in pairs)
    worth = tuple((*arc, gains[arc]) for arc in result.dag.arcs)
    return BootstrapRun(
        ORIGINAL, result.score, result.dag.arcs, result.generations, seconds, support, worth
    )
