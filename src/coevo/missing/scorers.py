"""Scores of families on rows with missing values: on available cases, and expected.

Available cases: each family is scored on the rows that observe all its variables.

Families are then scored on different numbers of rows, and their sum is meaningless. So the scorer
takes the score per row (the node-average likelihood of Balov 2013, and Bodewes and Scutari 2021)
and multiplies it by the number N of all rows. That alone is not enough: two families are also
scored on different *rows*. The difference between the rows is larger than the gain of a parent, so
a search finds far too many arcs (10 % missing, 1,000 rows of Alarm: an SHD of 78 to the true
network). Therefore two families are compared only on rows that are complete for both. Let R(P) be
the n(P) rows that observe a child and its parents P. Then

    score of no parents   N / n * s(no parents), on the rows that observe the child
    score of P            the minimum, over parents p, of
                          score of P - p  +  N / n(P) * (s(P) - s(P - p)), both on R(P)

so the gain of a parent is never larger than on the rows that observe all variables of the family.
For scores with a penalty on parameters, s is the log-likelihood, and the penalty is that of N rows.
For marginal likelihoods (K2, BDeu, BDs), s is the score. Without missing values the result is the
score itself. The method assumes that values are missing completely at random.

References
----------
N. Balov (2013). Consistent model selection of discrete Bayesian networks from incomplete data.
Electronic Journal of Statistics 7, 1047-1077.

T. Bodewes, M. Scutari (2021). Learning Bayesian networks from incomplete data with the
node-average likelihood. International Journal of Approximate Reasoning 138, 145-160.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from coevo.data import Dataset, IncompleteDataset
from coevo.engine import INT, Structure, array, kernel, read_array
from coevo.options import ScorerOptions
from coevo.runtime.deadline import check_deadline
from coevo.score import FamilyBatch, FamilyScorer, Score, Scorer, TripleBatch
from coevo.score.counting import make_count_index
from coevo.score.independence import CountedTriples, Numbers
from coevo.score.kernels import LIKELIHOOD, QUOTIENT, ScoreSpec, Scratch, TableSums

__all__ = ["AvailableScorer", "ExpectedScorer", "IncompleteRows", "evaluate_available"]


# Families on their available cases: the rows that observe all their variables.


class IncompleteRows(Structure):
    """Rows with missing values; the code of a missing value can be any state of its variable."""

    codes: NDArray[np.uint16] = read_array(np.uint16, 2)  # (n_vars, n_rows)
    missing: NDArray[np.bool_] = read_array(np.bool_, 2)  # (n_vars, n_rows)
    arity: NDArray[np.int64] = read_array(np.int64)  # (n_vars,)


@kernel(
    IncompleteRows,
    ScoreSpec,
    read_array(np.int32),
    read_array(np.int64),
    INT,
    INT,
    Scratch,
    array(np.uint32),
    array(np.float64),
    array(np.int64),
)
def evaluate_available(
    rows: IncompleteRows,
    spec: ScoreSpec,
    members: NDArray[np.int32],
    start: NDArray[np.int64],
    first: int,
    last: int,
    scratch: Scratch,
    reduced: NDArray[np.uint32],
    scores: NDArray[np.float64],
    n_complete: NDArray[np.int64],
) -> None:
    """Overwrite the scores of families ``first:last``, and their numbers of complete rows.

    The position of the child in `members` gets the score of the family. The position of a parent
    gets the score of the family without this parent, on the same rows. A family whose table does
    not fit into ``scratch.counts`` gets 0 complete rows and no score. `reduced` has as much room.
    """


MIN_FAMILIES_PER_THREAD = 64
PENALISED = (LIKELIHOOD, QUOTIENT)  # kinds whose penalty depends on the size of the table only
MAX_STORED = 1 << 20  # scores that are stored for the scores of larger families

Family = tuple[int, ...]  # a child, then its parents in ascending order


class AvailableScorer(FamilyScorer):
    """Local scores of families on their available cases, scaled to all N rows.

    A family is impossible (its score is minus infinity) if no row observes all its variables, or
    if its table of counts has more than 4,096 cells and more than four times as many cells as
    there are rows. A variable without parents and without observed values scores 0.

    Parameters
    ----------
    table : IncompleteDataset
        The observations.
    score, **options
        As for `FamilyScorer`.
    """

    def __init__(
        self,
        table: IncompleteDataset,
        score: str | Score = "bdeu",
        **options: Unpack[ScorerOptions],
    ) -> None:
        codes, missing = table.dataset.codes.astype(np.uint16), np.ascontiguousarray(table.missing)
        self._rows = IncompleteRows(codes, missing, table.dataset.arities)
        super().__init__(table.dataset, score, **options)

    def _start_over(self) -> None:
        super()._start_over()
        self._stored: dict[Family, float] = {}  # without the weights of arcs
        self._reduced = [np.empty_like(scratch.counts) for scratch in self._scratch]

    def measure_pairs(self, children: Sequence[int]) -> Iterator[NDArray[np.float64]]:
        """Return for each child the log likelihood that each variable alone adds to it."""
        return Scorer.measure_pairs(self, children)  # the bit sets hold missing values, too

    def _compute(self, families: FamilyBatch) -> NDArray[np.float64]:
        """Score families, after all families with fewer parents that their scores depend on."""
        requested = _list_families(families)
        if len(self._stored) > MAX_STORED:
            self._stored = {}
        for same_size in self._find_unscored(requested):
            self._stored |= self._score_same_size(same_size)
        return np.array([self._stored[family] for family in requested])

    def _count_triples(self, triples: TripleBatch) -> Iterator[CountedTriples]:
        """Return, for each triple, the rows that observe all its variables."""
        facts, rows = self._index.facts, {}
        for number, (begin, end) in enumerate(itertools.pairwise(triples.start.tolist())):
            members = triples.members[begin:end]
            complete = ~self._rows.missing[members].any(axis=0)
            codes = self._rows.codes[members][:, complete]
            index = make_count_index(facts[members], codes)
            rows[number] = (index, np.arange(len(members), dtype=np.int32))
        begin = np.zeros(len(triples) + 1, dtype=np.int64)
        none = TableSums(begin, np.empty(0, dtype=np.uint32))
        yield CountedTriples(facts, triples, none, rows)

    def _find_unscored(self, requested: list[Family]) -> list[list[Family]]:
        """Return the families that are still to score, grouped by size, the smallest first."""
        unscored: set[Family] = set()
        waiting = [family for family in requested if family not in self._stored]
        while waiting:
            family = waiting.pop()
            if family not in unscored:
                unscored.add(family)
                waiting += [
                    less for less in _remove_each_parent(family) if less not in self._stored
                ]
        by_size: dict[int, list[Family]] = {}
        for family in sorted(unscored, key=lambda family: (len(family), family)):
            by_size.setdefault(len(family), []).append(family)
        return list(by_size.values())

    def _score_same_size(self, families: list[Family]) -> dict[Family, float]:
        """Score families of one size, given the scores of those with one parent less."""
        check_deadline()
        n_rows, n_members = self._dataset.n_rows, len(families[0])
        all_scores, n_complete = self._evaluate_families(families)
        scored: dict[Family, float] = {}
        for family, scores, n in zip(
            families, all_scores.tolist(), n_complete.tolist(), strict=True
        ):
            full, *reduced = scores
            penalty = self._compute_penalty(family)
            if n == 0:
                scored[family] = -penalty if n_members == 1 else -math.inf
            elif n_members == 1:
                scored[family] = n_rows / n * full - penalty
            else:
                scored[family] = min(
                    self._stored[less]
                    + n_rows / n * (full - part)
                    - (penalty - self._compute_penalty(less))
                    for less, part in zip(_remove_each_parent(family), reduced, strict=True)
                )
        return scored

    def _evaluate_families(
        self, families: list[Family]
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return the score of each family and without each parent, and its complete rows."""
        batch = FamilyBatch.from_pairs((child, parents) for child, *parents in families)
        spec = self._spec
        if spec.kind in PENALISED:
            spec = ScoreSpec(LIKELIHOOD, spec.ess, 0.0, spec.n_rows, spec.table, spec.regret)
        scores, n_complete = np.empty(len(batch.members)), np.empty(len(families), dtype=np.int64)

        def evaluate_part(begin: int, end: int, number: int) -> None:
            scratch = self._scratch[number]
            evaluate_available(
                self._rows,
                spec,
                batch.members,
                batch.start,
                begin,
                end,
                scratch,
                self._reduced[number],
                scores,
                n_complete,
            )

        self.threads.run_in_parts(evaluate_part, len(families), MIN_FAMILIES_PER_THREAD)
        return scores.reshape(len(families), -1), n_complete

    def _compute_penalty(self, family: Family) -> float:
        """Return the penalty on the parameters of a family; 0 for a score without a penalty."""
        if self._spec.kind not in PENALISED:
            return 0.0
        arity, *others = (float(self._dataset.arities[v]) for v in family)
        q, r = np.array([math.prod(others)]), np.array([arity])
        return -float(self.scoring.compute_upper_bound(self._dataset.n_rows, q, r)[0])


def _list_families(batch: FamilyBatch) -> list[Family]:
    members, start = batch.members.tolist(), batch.start.tolist()
    return [tuple(members[begin:end]) for begin, end in itertools.pairwise(start)]


def _remove_each_parent(family: Family) -> list[Family]:
    """Return the family without each of its parents in turn."""
    return [family[:i] + family[i + 1 :] for i in range(1, len(family))]


# The expected score: the mean of the local score of a family over several imputations.
#
# The score of a structure on the complete table is unknown. Over imputations that are drawn from
# their posterior distribution, the mean score estimates its expectation. All structures are scored
# on the same imputations, so the sampling noise is common to them. A mean of decomposable scores
# is decomposable: every search method works with this scorer as with any other.


class ExpectedScorer(FamilyScorer):
    """Local scores of families: their means over datasets with the same variables.

    Parameters
    ----------
    datasets : sequence of Dataset
        The imputed tables; at least one.
    score : str or Score
        The score.
    **options
        As for `FamilyScorer`.

    Examples
    --------
    >>> import coevo
    >>> datasets = [coevo.sample(coevo.load_network("cancer"), 100, seed) for seed in (1, 2)]
    >>> dag = coevo.load_network("cancer").dag
    >>> scores = [FamilyScorer(dataset, "k2").score(dag) for dataset in datasets]
    >>> round(ExpectedScorer(datasets, "k2").score(dag) - sum(scores) / 2, 9)
    0.0
    """

    def __init__(
        self,
        datasets: Sequence[Dataset],
        score: str | Score = "bdeu",
        **options: Unpack[ScorerOptions],
    ) -> None:
        # The log prior of arcs is added once, and one cache is enough.
        plain: ScorerOptions = {
            **options,
            "weights": None,
            "parent_penalty": 0.0,
            "sparse_penalty": 0.0,
            "cache_bytes": 0,
        }
        self._others: list[FamilyScorer] = []
        super().__init__(datasets[0], score, **options)
        self._others = [FamilyScorer(dataset, score, **plain) for dataset in datasets[1:]]

    def _start_over(self) -> None:
        super()._start_over()
        for other in self._others:
            other._start_over()

    def estimate_memory(self) -> int:
        """Return the largest number of bytes that the scorer holds, including the data."""
        return super().estimate_memory() + sum(other.estimate_memory() for other in self._others)

    def measure_pairs(self, children: Sequence[int]) -> Iterator[NDArray[np.float64]]:
        """Return for each child the log likelihood that each variable alone adds to it."""
        return Scorer.measure_pairs(self, children)  # the bit sets hold missing values, too

    def _compute(self, families: FamilyBatch) -> NDArray[np.float64]:
        """Count and score families in every imputed table; return the means."""
        total = super()._compute(families)
        for other in self._others:
            total += other._compute(families)
        return total / (1 + len(self._others))

    def _measure_triples(self, triples: TripleBatch, kind: int) -> tuple[Numbers, Numbers]:
        """Return the means of the statistics and of their degrees of freedom."""
        statistics, freedoms = super()._measure_triples(triples, kind)
        for other in self._others:
            more, free = other._measure_triples(triples, kind)
            statistics, freedoms = statistics + more, freedoms + free
        n = 1 + len(self._others)
        return statistics / n, freedoms / n
