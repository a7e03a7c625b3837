"""The gains that all operators of greedy equivalence search are made of.

An operator changes the parents of one variable y in some DAG of the class: it adds or removes one
parent (Chickering 2002), or it reverses an arc, which does both at two variables. In the DAGs of
a class, the parents of y are its compelled parents and a *clique* of its neighbours, that is a set
of neighbours that are joined to each other. So one row of gains for each variable and each of its
cliques is enough for all operators: the gain of adding or removing each other variable.

A row depends on the parents only. It stays as it is while the class changes elsewhere. The rows
that a new class needs are requested from the scorer as one batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from coevo.score import FamilyBatch, toggle_families
from coevo.search.base import Problem
from coevo.search.climb_kernels import NEVER
from coevo.search.equivalence import BitSet, iter_bits

__all__ = ["GainTable"]

FAMILIES_PER_BATCH = 1 << 15  # between two checks of the deadline
Row = NDArray[np.float64]  # (n,), `NEVER` where the change is not allowed


class GainTable:
    """The gain of adding or removing one parent, for the parent sets in use."""

    def __init__(self, problem: Problem) -> None:
        rules = problem.rules
        self._problem = problem
        self._rows: list[dict[BitSet, Row]] = [{} for _ in range(problem.n_variables)]
        self._may_join = rules.allowed | rules.allowed.T  # in one direction at least
        self._may_part = ~(rules.required | rules.required.T)
        self._arities = problem.scorer.dataset.arities.astype(np.float64)

    def get_row(self, variable: int, parents: BitSet) -> Row:
        """Return the gains of a variable that has these parents; `keep` has made the row."""
        return self._rows[variable][parents]

    def keep(self, needed: Iterable[tuple[int, Sequence[BitSet]]]) -> int:
        """Make the rows of these parent sets of each variable, and forget its other rows.

        Return the number of local scores requested.
        """
        new: list[tuple[int, BitSet]] = []
        for variable, parent_sets in needed:
            old = self._rows[variable]
            self._rows[variable] = {p: old[p] for p in parent_sets if p in old}
            new.extend((variable, p) for p in parent_sets if p not in old)
        return self._add_rows(new) if new else 0

    def _add_rows(self, new: Sequence[tuple[int, BitSet]]) -> int:
        """Score all changes of these parent sets, in batches."""
        step = max(1, FAMILIES_PER_BATCH // self._problem.n_variables)
        parts = [new[first : first + step] for first in range(0, len(new), step)]
        return sum(map(self._add_part, parts))

    def iter_rows(self) -> Iterator[tuple[int, Row]]:
        """Yield each variable that has rows with the first of them."""
        for variable, rows in enumerate(self._rows):
            for row in rows.values():
                yield variable, row
                break

    def _add_part(self, new: Sequence[tuple[int, BitSet]]) -> int:
        """Score all changes of some parent sets as one batch."""
        parts, toggled = [], []
        for child, parents in new:
            members = np.array(list(iter_bits(parents)), dtype=np.int64)
            others = self._find_changes(child, members)
            toggled.append(others)
            family = np.concatenate([[child], members]).astype(np.int32)
            parts.append((family, np.array([len(family)])))
            parts.append(toggle_families(child, members, others))
        batch = FamilyBatch.from_parts(parts)
        scores = self._problem.scorer.local_scores(batch)
        at = 0
        for (child, parents), others in zip(new, toggled, strict=True):
            row = np.full(self._problem.n_variables, NEVER)
            row[others] = scores[at + 1 : at + 1 + len(others)] - scores[at]
            self._rows[child][parents] = row
            at += 1 + len(others)
        return len(batch)

    def _find_changes(self, child: int, parents: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the variables that may be added to these parents or removed from them."""
        rules = self._problem.rules
        may_change = self._may_join[:, child] & (len(parents) < rules.max_parents)
        if rules.arities is not None:
            n_cells = self._arities[child] * self._arities[parents].prod()
            may_change &= n_cells * self._arities <= rules.max_table
        may_change[parents] = self._may_part[parents, child]
        return np.flatnonzero(may_change)
