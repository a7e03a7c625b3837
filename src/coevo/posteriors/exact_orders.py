"""Exact sums over orders: the modular prior, for which a DAG counts once for each of its orders.

Let A_v(S) be the sum of the weights of all parent sets of v within S. The sum over all pairs of
an order and a DAG that fits it is a recursion over sets of variables [1]_:

    F(S) = sum over v in S of F(S - v) A_v(S - v),  F(none) = 1,

and F(all) is the evidence. B(S) is the same sum over the variables that follow S. The
probability of a family follows for all families at once [2]_:

    P(v, parents) = W_v(parents) * sum over S that contain the parents of F(S) B(S + v) / F(all).

For each child, one transform computes the subset sums A_v, and another one the sums over supersets.
Both take n 2^n steps. All terms are positive, so logs lose no digits.

An order is drawn from the last variable to the first, by the terms of F. Then each child draws its
parents among the variables before it. The DAG is an exact draw from the posterior.

.. [1] M. Koivisto and K. Sood, Exact Bayesian structure discovery in Bayesian networks, JMLR 5,
   2004.
.. [2] M. Koivisto, Advances in exact Bayesian structure discovery in Bayesian networks, UAI 2006.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.posteriors.exact_kernels import (
    SortedFamilies,
    add_member_weights,
    draw_families,
    sum_supersets,
)
from coevo.posteriors.exact_order_kernels import (
    draw_orders,
    sum_orders_after,
    sum_orders_before,
    weigh_places,
)
from coevo.posteriors.exact_tables import (
    CompleteTables,
    make_impossible_error,
    sort_families,
    sum_all_subsets,
)

__all__ = ["OrderSampler"]


class OrderSampler:
    """Exact draws of DAGs under the prior over orders, and the probabilities of arcs."""

    def __init__(self, tables: CompleteTables) -> None:
        self._complete = tables
        self._sums = sum_all_subsets(tables)
        self._before = np.empty(1 << tables.n_variables)
        sum_orders_before(self._sums, self._before)
        if self._before[-1] == -np.inf:
            raise make_impossible_error()
        self.log_evidence = tables.log_scale + float(self._before[-1])

    @cached_property
    def _families(self) -> SortedFamilies:
        return sort_families(self._complete)

    def compute_arcs(self) -> NDArray[np.float64]:
        """Return the probability of each arc, ``[parent, child]``."""
        n = self._complete.n_variables
        after, places = np.empty(1 << n), np.empty(1 << (n - 1))
        sum_orders_after(self._sums, after)
        arcs = np.zeros((n, n))
        for child in range(n):
            weigh_places(self._before, after, child, places)
            sum_supersets(places)
            totals = np.zeros(n - 1)
            add_member_weights(self._complete.log_weight[child], places, totals)
            arcs[:, child] = np.insert(totals, child, 0.0)
        return np.minimum(arcs, 1.0)

    def draw_dags(self, number: int, rng: Generator) -> NDArray[np.bool_]:
        """Return independent draws, (number, n, n), ``[parent, child]``."""
        n = len(self._sums)
        random = rng.random((number, 2, n))
        orders = np.empty((number, n), dtype=np.int64)
        draw_orders(self._sums, self._before, np.ascontiguousarray(random[:, 0]), orders)
        bounds = np.full((number, n, 2), -1, dtype=np.int64)
        lots = np.empty((number, n, 2))
        lots[:, :, 0] = random[:, 1]
        rows, earlier = np.arange(number), np.zeros(number, dtype=np.int64)
        for place in range(n):
            child = orders[:, place]
            bounds[rows, child, 0] = earlier
            low = earlier & ((1 << child) - 1)
            lots[rows, child, 1] = self._sums[child, low | (earlier - low) >> 1]
            earlier = earlier | (1 << child)
        adjacency = np.empty((number, n, n), dtype=np.bool_)
        draw_families(self._families, bounds, lots, adjacency)
        return adjacency
