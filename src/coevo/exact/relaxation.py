"""The linear programme: a share of each family, under cluster cuts; solved by HiGHS.

Each child has families with shares x that sum to 1. A network has shares 0 and 1. For each cluster
(C, k) that was added, the shares of the families whose child is in C, with fewer than k parents
there, sum to at least k. The largest sum of scores is an upper bound, and the dual value of each
cut is the weight of its cluster. Nothing that HiGHS returns is believed: `compute_bound` takes only
the weights, and any weights prove a bound.

The right side of a cut may be missed at a price that is larger than any useful weight, so that the
programme always has a solution.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.errors import import_optional
from coevo.exact.bounds import Bound, Clusters, Hits, bound_networks
from coevo.exact.families import UNITS_PER_NAT, Families, Units

__all__ = ["Basis", "Relaxation", "Solution", "load_highs"]

TOLERANCE = 1e-9  # of HiGHS
LOOSE_TOLERANCE = 1e-7  # where it fails
INFINITE = float("inf")

Flags = NDArray[np.bool_]
Values = NDArray[np.float64]


def load_highs() -> Any:
    """Return the module of HiGHS; raise `DependencyError` if it is not installed."""
    return import_optional("highspy", "HiGHS", "prove")


@dataclass(frozen=True, slots=True)
class Basis:
    """Where the simplex method stopped: the status of each column and row."""

    columns: NDArray[np.uint8]
    rows: NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Solution:
    """A solution: the share of each family, and the weight of each cluster in units."""

    shares: Values
    weights: Units
    objective: float  # nats; only a guide


class Relaxation:
    """The programme of a list of families; clusters are added one after another."""

    def __init__(self, families: Families, price: float) -> None:
        self.families, self.price = families, price
        self.hits: list[Hits] = []
        self.rights = np.empty(0, dtype=np.int64)
        self._highspy = highspy = load_highs()
        self._model = model = highspy.Highs()
        for option, value in (
            ("output_flag", False),
            ("threads", 1),
            ("solver", "simplex"),
        ):
            model.setOptionValue(option, value)
        best = families.scores[families.begin[:-1]]
        self._constant = float(best.sum())
        self._costs = families.scores - best[families.children]
        model.passModel(self._make_programme(highspy))

    def _make_programme(self, highspy: Any) -> Any:
        families, n = self.families, self.families.n_variables
        m = len(families)
        programme = highspy.HighsLp()
        programme.num_col_, programme.num_row_ = m, n
        programme.sense_ = highspy.ObjSense.kMaximize
        programme.col_cost_ = self._costs
        programme.col_lower_, programme.col_upper_ = np.zeros(m), np.full(m, INFINITE)
        programme.row_lower_ = programme.row_upper_ = np.ones(n)
        programme.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        programme.a_matrix_.start_ = np.arange(m + 1)
        programme.a_matrix_.index_ = families.children
        programme.a_matrix_.value_ = np.ones(m)
        return programme

    @property
    def n_clusters(self) -> int:
        """The number of clusters."""
        return len(self.hits)

    def add_clusters(self, clusters: Clusters) -> None:
        """Add the cut of each cluster."""
        m, none = len(self.families), np.empty(0, np.int32)
        all_hits = clusters.find_hits(self.families)
        for (hits, points), right in zip(all_hits, clusters.rights, strict=True):
            column = m + self.n_clusters
            self._model.addCol(-self.price, 0.0, INFINITE, 0, none, np.empty(0))
            members = np.append(hits, column).astype(np.int32)
            values = np.append(points, 1).astype(np.float64)
            self._model.addRow(float(right), INFINITE, len(members), members, values)
            self.hits.append((hits, points))
        self.rights = np.append(self.rights, clusters.rights)

    def restrict(self, is_allowed: Flags) -> None:
        """Allow only some families."""
        m = len(self.families)
        upper = np.where(is_allowed, INFINITE, 0.0)
        self._model.changeColsBounds(m, np.arange(m, dtype=np.int32), np.zeros(m), upper)

    def set_basis(self, basis: Basis | None) -> None:
        """Forget all earlier work, and begin at a basis. Further columns and rows are added to it.

        The next solution then depends on nothing else than the programme and the basis.
        """
        self._model.clearSolver()
        if basis is None:
            return
        kinds = self._highspy.HighsBasisStatus
        n_columns, n_rows = self._model.getNumCol(), self._model.getNumRow()
        status = {int(kind): kind for kind in kinds.__members__.values()}
        columns = [status[code] for code in basis.columns.tolist()]
        rows = [status[code] for code in basis.rows.tolist()]
        made = self._highspy.HighsBasis()
        made.col_status = columns + [kinds.kLower] * (n_columns - len(columns))
        made.row_status = rows + [kinds.kBasic] * (n_rows - len(rows))
        self._model.setBasis(made)

    def get_basis(self) -> Basis:
        """Return the basis of the last solution."""
        basis = self._model.getBasis()
        columns = np.array([int(kind) for kind in basis.col_status], dtype=np.uint8)
        return Basis(columns, np.array([int(kind) for kind in basis.row_status], dtype=np.uint8))

    def solve(self, max_seconds: float = INFINITE) -> Solution | None:
        """Return a solution; None if HiGHS found none in time.

        Where the simplex method fails at the basis that it began with, it begins anew, and then
        with a larger tolerance. The bound does not depend on the tolerance.
        """
        limit = self._model.getRunTime() + max_seconds  # its clock adds up all solutions
        self._model.setOptionValue("time_limit", limit)
        optimal = self._highspy.HighsModelStatus.kOptimal
        for tolerance in (TOLERANCE, TOLERANCE, LOOSE_TOLERANCE):
            for kind in ("primal", "dual"):
                self._model.setOptionValue(f"{kind}_feasibility_tolerance", tolerance)
            self._model.run()
            if self._model.getModelStatus() == optimal:
                break
            self._model.clearSolver()
        else:
            return None
        found = self._model.getSolution()
        m, n = len(self.families), self.families.n_variables
        dual = -np.asarray(found.row_dual)[n:]
        weights = np.rint(np.clip(dual, 0.0, self.price) * UNITS_PER_NAT).astype(np.int64)
        objective = self._constant + float(self._model.getInfo().objective_function_value)
        return Solution(np.asarray(found.col_value)[:m], weights, objective)

    def compute_bound(self, weights: Units, is_allowed: Flags) -> Bound:
        """Return the upper bound that weights of the clusters prove, for the allowed families."""
        return bound_networks(self.families, self.hits, self.rights, weights, is_allowed)
