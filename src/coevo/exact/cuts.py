"""Cuts that a solution of the linear programme violates, and the arc on which a node is split.

Clusters are searched first (engine/cut.h). Local cuts are cuts on a few variables that no cluster
implies.

**Local cuts.** Take a few variables and give each a number of points that depends on which of the
others are its parents: a *table*. If every network on these variables receives at least r points,
the cut says that every network of all variables does. r is found by dynamic programming, and the
checker of certificates finds it again, so nothing rests on how a table was made. On four variables
these are the facets that Cussens, Järvisalo, Korhonen and Bartlett (2017) list; on more they are
too many to list, so each is made for the solution that it cuts off (local cuts, as Applegate,
Bixby, Chvátal and Cook have for tours).

The shares of a solution give each set of parents among the variables a share. A linear programme
finds the points, from 0 to 1, with the largest difference between r and the points of the shares.
Its rows are networks, which are added where they receive fewer than r points. A vertex has points
with a small common denominator. Sets of parents without a share begin with the most points, and
these are then lowered as far as r allows (lifting), first those with the best scores.

**The decision of a node** is an arc that its networks have, or do not have: an arc in doubt, of a
variable whose families in use differ much in score.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from coevo.exact.bounds import MOST_POINTS, Clusters, Table, count_least_points
from coevo.exact.families import Families
from coevo.exact.proof_kernels import (
    UsedFamilies,
    find_best_networks,
    grow_clusters,
    lift_points,
    make_cluster_scratch,
    make_local_scratch,
    make_networks,
)
from coevo.exact.relaxation import INFINITE, load_highs
from coevo.runtime.deadline import check_deadline

__all__ = ["choose_arc", "find_components", "find_table", "find_violated_clusters"]


LEAST_SHARE = 1e-7
LEAST_CLUSTER_VIOLATION = 1e-5
FEW_CUTS = 10
LOCAL_SIZES = (5, 6, 8)  # variables of local cuts; the next size where few are found
FEW_LOCAL_CUTS, MOST_LOCAL_CUTS = 15, 40
MOST_CUTS = 100  # of one k, in one round
ORDERS = (1, 2, 3)  # the k of clusters

Flags = NDArray[np.bool_]
Values = NDArray[np.float64]


def find_arc_shares(families: Families, shares: Values) -> Values:
    """Return the share of each arc, ``[parent, child]``: the sum over the families that have it."""
    n = families.n_variables
    arcs = np.zeros((n + 1, n))
    used = np.flatnonzero(shares > LEAST_SHARE)
    children = np.repeat(families.children[used], families.parents.shape[1])
    weights = np.repeat(shares[used], families.parents.shape[1])
    np.add.at(arcs, (families.parents[used].ravel(), children), weights)
    return arcs[:n]


def find_components(arcs: Flags) -> list[list[int]]:
    """Return the strongly connected components of more than one variable, each ascending."""
    reach = arcs | np.eye(len(arcs), dtype=np.bool_)
    for middle in range(len(arcs)):
        reach |= reach[:, middle, None] & reach[None, middle]
    mutual = reach & reach.T
    found = {tuple(np.flatnonzero(row).tolist()) for row in mutual}
    return sorted(list(members) for members in found if len(members) > 1)


def find_violated_clusters(families: Families, shares: Values, has_tables: bool = True) -> Clusters:
    """Return violated clusters, of each k the most violated first.

    If the shares are those of a graph with a cycle, there is at least one.
    """
    found = Clusters.make_empty(families.n_variables)
    arcs = find_arc_shares(families, shares)
    starts = np.ascontiguousarray(np.argwhere(arcs.T > LEAST_SHARE))
    if not len(starts):
        return found
    orders = [k for k in ORDERS if k < min(families.n_variables, families.parents.shape[1] + 1)]
    for k in orders:
        found = found.join(_grow(families, shares, starts, k))
    if len(found) < FEW_CUTS:  # start with all pairs, which takes longer
        doubtful = np.flatnonzero(
            (arcs > LEAST_SHARE).any(axis=0) | (arcs > LEAST_SHARE).any(axis=1)
        )
        pairs = np.array(list(itertools.permutations(doubtful.tolist(), 2)), dtype=np.int64)
        for k in orders:
            found = found.join(_grow(families, shares, pairs, k))
        if has_tables and len(found) < FEW_CUTS:
            found = found.join(_find_local(families, shares, arcs))
    components = find_components(arcs > 1.0 - LEAST_CLUSTER_VIOLATION)
    members = np.zeros((len(components), families.n_variables + 1), dtype=np.bool_)
    for row, component in enumerate(components):
        members[row, component] = True
    return found.join(Clusters.make(members, 1))


def _find_local(families: Families, shares: Values, arcs: Values) -> Clusters:
    """Return violated cuts with tables."""
    arcs = np.where(arcs > LEAST_SHARE, arcs, 0.0)
    components, n = find_components(arcs > 0.0), families.n_variables
    rows: list[NDArray[np.int64]] = []
    tables: list[Table] = []
    for size in LOCAL_SIZES:
        if len(tables) >= FEW_LOCAL_CUTS:
            break
        for members in list_sets(arcs, components, size):
            check_deadline()
            table = find_table(families, shares, members)
            if table is not None:
                rows.append(members)
                tables.append(table)
                if len(tables) == MOST_LOCAL_CUTS:
                    break
    flags = np.zeros((len(rows), n + 1), dtype=np.bool_)
    for row, members in enumerate(rows):
        flags[row, members] = True
    return Clusters.from_tables(flags, tables)


def _grow(families: Families, shares: Values, starts: NDArray[np.int64], k: int) -> Clusters:
    """Return violated clusters of one k, the most violated first."""
    used = np.flatnonzero(shares > LEAST_SHARE)
    members = np.zeros((len(starts), families.n_variables + 1), dtype=np.bool_)
    values = np.empty(len(starts))
    some = UsedFamilies(
        families.children[used].astype(np.int32),
        families.parents[used].T.astype(np.int32, order="C"),
        shares[used],
    )
    scratch = make_cluster_scratch(families.n_variables, len(used))
    grow_clusters(some, k, starts, scratch, members, values)
    violated = np.flatnonzero(values < k - LEAST_CLUSTER_VIOLATION)
    violated = violated[np.argsort(values[violated], kind="stable")]
    if not len(violated):
        return Clusters.make_empty(families.n_variables)
    _, first = np.unique(members[violated], axis=0, return_index=True)
    chosen = violated[np.sort(first)][:MOST_CUTS]
    return Clusters.make(members[chosen], k)


LEAST_TABLE_VIOLATION = 0.05  # of points from 0 to 1
MOST_ROUNDS = 400
TOLERANCE = 1e-7

Numbers = NDArray[np.int64]


def find_table(families: Families, shares: Values, members: Numbers) -> Table | None:
    """Return a table for these variables that the shares violate, or None."""
    projected, scores = _project(families, shares, members)
    used = np.argwhere(projected > TOLERANCE)
    values = projected[used[:, 0], used[:, 1]]
    points = _Separation(len(members), used, values).solve()
    if points is None:
        return None
    for denominator in range(1, MOST_POINTS + 1):
        scaled = points * denominator
        if np.abs(scaled - np.rint(scaled)).max() < 1e-6:
            break
    else:
        return None
    table = np.full(projected.shape, float(denominator))
    table[used[:, 0], used[:, 1]] = np.rint(scaled)
    right = count_least_points(table.astype(np.int64))
    if right - values @ np.rint(scaled) < LEAST_TABLE_VIOLATION * denominator / 2:
        return None
    others = np.argwhere((projected <= TOLERANCE) & (scores > -np.inf))
    order = np.argsort(-scores[others[:, 0], others[:, 1]], kind="stable")
    places = np.ascontiguousarray(others[order])
    lift_points(table, float(right), places, make_local_scratch(len(members)))
    return Table(right, table.astype(np.int64))


def _project(families: Families, shares: Values, members: Numbers) -> tuple[Values, Values]:
    """Return the share of each set of parents among the members, and the best score.

    The score is relative to the best family of the variable.
    """
    size = len(members)
    bits = np.zeros(families.n_variables + 1, dtype=np.int64)
    bits[members] = 1 << np.arange(size)
    projected, scores = np.zeros((size, 1 << size)), np.full((size, 1 << size), -np.inf)
    for row, child in enumerate(members.tolist()):
        own = slice(families.begin[child], families.begin[child + 1])
        sets = bits[families.parents[own]].sum(axis=1)
        projected[row] = np.bincount(sets, weights=shares[own], minlength=1 << size)
        np.maximum.at(scores[row], sets, families.scores[own] - families.scores[own.start])
    return projected, scores


class _Separation:
    """The linear programme that finds the points of one table.

    Its columns are the points of the sets of parents with a share, and r; its rows are networks.
    """

    def __init__(self, size: int, used: Numbers, shares: Values) -> None:
        self.size, self.used, self.shares = size, used, shares
        self.column = np.full((size, 1 << size), -1, dtype=np.int64)
        self.column[used[:, 0], used[:, 1]] = np.arange(len(used))
        highspy = load_highs()
        self._optimal = highspy.HighsModelStatus.kOptimal
        self._model = model = highspy.Highs()
        for option, value in (("output_flag", False), ("threads", 1), ("presolve", "off")):
            model.setOptionValue(option, value)
        n_used = len(used)
        programme = highspy.HighsLp()
        programme.num_col_, programme.num_row_ = n_used + 1, 0
        programme.sense_ = highspy.ObjSense.kMaximize
        programme.col_cost_ = np.append(-shares, 1.0)
        programme.col_lower_ = np.zeros(n_used + 1)
        programme.col_upper_ = np.append(np.ones(n_used), size)
        programme.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        programme.a_matrix_.start_ = np.zeros(1, dtype=np.int32)
        model.passModel(programme)

    def solve(self) -> Values | None:
        """Return the points of the sets with a share; None if no cut is violated by enough."""
        points = np.ones(self.column.shape)
        local, scratch = make_networks(points), make_local_scratch(self.size)
        for _ in range(MOST_ROUNDS):
            self._model.run()
            if self._model.getModelStatus() != self._optimal:
                return None
            solution = np.asarray(self._model.getSolution().col_value)
            own, right = solution[:-1], float(solution[-1])
            if right - own @ self.shares < LEAST_TABLE_VIOLATION:
                return None
            points[self.used[:, 0], self.used[:, 1]] = own
            find_best_networks(local, scratch)
            is_violated = local.totals < right - TOLERANCE
            if not is_violated.any():
                return own
            self._add_networks(local.networks[is_violated])
        return None

    def _add_networks(self, networks: Numbers) -> None:
        """Add the rows of networks; a set of parents without a share has one point."""
        distinct = list(dict.fromkeys(map(tuple, networks.tolist())))
        columns = self.column[np.arange(self.size), np.array(distinct)]
        lower = -(columns < 0).sum(axis=1).astype(np.float64)
        columns = np.concatenate([columns, np.full((len(columns), 1), len(self.used))], axis=1)
        values = np.where(columns == len(self.used), -1.0, 1.0)
        is_used = columns >= 0
        lengths = is_used.sum(axis=1)
        starts = (np.cumsum(lengths) - lengths).astype(np.int32)
        upper = np.full(len(columns), INFINITE)
        entries = (int(lengths.sum()), starts, columns[is_used].astype(np.int32), values[is_used])
        self._model.addRows(len(columns), lower, upper, *entries)


def list_sets(arcs: Values, components: list[list[int]], size: int) -> Iterator[Numbers]:
    """Yield sets of variables that are grown from each arc of a cycle, each once, ascending.

    ``arcs[u, v]`` is the share of the arc u -> v. The next variable is the one with the largest
    share of arcs to and from the set, by one of three measures.
    """
    known = set()
    for component in components:
        inside = np.zeros(len(arcs), dtype=np.bool_)
        inside[component] = True
        own = np.where(inside[:, None] & inside, arcs, 0.0)
        for measure in range(3):
            for start in np.argwhere(own > 0.0).tolist():
                grown = _grow_members(own, start, size, measure)
                key = tuple(sorted(grown))
                if len(grown) >= min(size, 4) and key not in known:
                    known.add(key)
                    yield np.array(key, dtype=np.int64)


def _grow_members(arcs: Values, start: list[int], size: int, measure: int) -> list[int]:
    """Return a set of at most `size` variables."""
    grown = list(start)
    while len(grown) < size:
        leaving, entering = arcs[grown].sum(axis=0), arcs[:, grown].sum(axis=1)
        if measure == 0:
            value = np.minimum(leaving, 1.0) + np.minimum(entering, 1.0)
        elif measure == 1:
            value = leaving * (entering + 0.01)
        else:
            value = entering * (leaving + 0.3)
        value[grown] = 0.0
        added = int(value.argmax())
        if value[added] <= 0.0:
            break
        grown.append(added)
    return grown


LEAST_DOUBT = 1e-6


def choose_arc(families: Families, shares: NDArray[np.float64]) -> tuple[int, int] | None:
    """Return the arc with the most doubt times spread; None if all shares are 0 or 1."""
    arcs = find_arc_shares(families, shares)
    doubt = np.minimum(arcs, 1.0 - arcs)
    if doubt.max(initial=0.0) <= LEAST_DOUBT:
        return None
    spread = _measure_spread(families, shares)
    value = np.where(doubt > LEAST_DOUBT, doubt * (1.0 + spread), -1.0)
    parent, child = divmod(int(value.argmax()), families.n_variables)
    return parent, child


def _measure_spread(families: Families, shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how much the families in use of each child differ in score."""
    used = np.flatnonzero(shares > LEAST_DOUBT)
    children, weights = families.children[used], shares[used]
    n = families.n_variables
    mean = np.bincount(children, weights=weights * families.scores[used], minlength=n)
    distance = np.abs(families.scores[used] - mean[children])
    spread = np.bincount(children, weights=weights * distance, minlength=n)
    return spread.astype(np.float64)
