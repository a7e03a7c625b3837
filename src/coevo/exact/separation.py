"""Find violated cluster cuts of a solution of the linear programme."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from coevo.exact.bounds import Clusters
from coevo.exact.cut_kernels import UsedFamilies, grow_clusters, make_scratch
from coevo.exact.families import Families
from coevo.exact.local_cuts import find_table, list_sets
from coevo.exact.tables import Table
from coevo.work_time import check_deadline

__all__ = ["find_arc_shares", "find_components", "find_violated_clusters"]

LEAST_SHARE = 1e-7
LEAST_VIOLATION = 1e-5
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
    components = find_components(arcs > 1.0 - LEAST_VIOLATION)
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
    scratch = make_scratch(families.n_variables, len(used))
    grow_clusters(some, k, starts, scratch, members, values)
    violated = np.flatnonzero(values < k - LEAST_VIOLATION)
    violated = violated[np.argsort(values[violated], kind="stable")]
    if not len(violated):
        return Clusters.make_empty(families.n_variables)
    _, first = np.unique(members[violated], axis=0, return_index=True)
    chosen = violated[np.sort(first)][:MOST_CUTS]
    return Clusters.make(members[chosen], k)
