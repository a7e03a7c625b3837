"""Cuts on a few variables that no cluster implies.

Take a few variables and give each a number of points that depends on which of the others are its
parents: a *table*. If every network on these variables receives at least r points, the cut says
that every network of all variables does. r is found by dynamic programming, and the checker of
certificates finds it again, so nothing rests on how a table was made. On four variables these are
the facets that Cussens, Järvisalo, Korhonen and Bartlett (2017) list; on more they are too many to
list, so each is made for the solution that it cuts off (local cuts, as Applegate, Bixby, Chvátal
and Cook have for tours).

The shares of a solution give each set of parents among the variables a share. A linear programme
finds the points, from 0 to 1, with the largest difference between r and the points of the shares.
Its rows are networks, which are added where they receive fewer than r points. A vertex has points
with a small common denominator. Sets of parents without a share begin with the most points, and
these are then lowered as far as r allows (lifting), first those with the best scores.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from coevo.exact.families import Families
from coevo.exact.local_kernels import (
    find_best_networks,
    lift_points,
    make_networks,
    make_scratch,
)
from coevo.exact.relaxation import INFINITE, load_highs
from coevo.exact.tables import MOST_POINTS, Table, count_least_points

__all__ = ["find_table", "list_sets"]

LEAST_VIOLATION = 0.05  # of points from 0 to 1
MOST_ROUNDS = 400
TOLERANCE = 1e-7

Values = NDArray[np.float64]
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
    if right - values @ np.rint(scaled) < LEAST_VIOLATION * denominator / 2:
        return None
    others = np.argwhere((projected <= TOLERANCE) & (scores > -np.inf))
    order = np.argsort(-scores[others[:, 0], others[:, 1]], kind="stable")
    places = np.ascontiguousarray(others[order])
    lift_points(table, float(right), places, make_scratch(len(members)))
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
        local, scratch = make_networks(points), make_scratch(self.size)
        for _ in range(MOST_ROUNDS):
            self._model.run()
            if self._model.getModelStatus() != self._optimal:
                return None
            solution = np.asarray(self._model.getSolution().col_value)
            own, right = solution[:-1], float(solution[-1])
            if right - own @ self.shares < LEAST_VIOLATION:
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
                grown = _grow(own, start, size, measure)
                key = tuple(sorted(grown))
                if len(grown) >= min(size, 4) and key not in known:
                    known.add(key)
                    yield np.array(key, dtype=np.int64)


def _grow(arcs: Values, start: list[int], size: int, measure: int) -> list[int]:
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
