"""A summary of the two species while a search runs: how far orders and masks have converged.

A live view shows it. It reads the state of a search and changes nothing. Its cost is linear in the
sizes of the populations.

**Orders.** For each variable, the positions that it takes over the population: the lowest, the
mean and the highest, and the one in the best order. The *agreement* is the mean rank correlation
(Spearman's) over all pairs of orders, from Kendall's coefficient of concordance W:
``(k W - 1) / (k - 1)`` for k orders (Kendall and Babington Smith 1939). 1 means that all orders
are the same; random orders have about 0.

**Masks.** For each pair (parent, child), the share of masks that contain it; pairs of the highest
share are listed. (Of CCMA, only pairs that raise a score: its rows hold every variable if there are
few.) The *agreement* is the mean number of pairs that two masks share, over the mean
number that at least one of them has. 1 means that all masks are the same. The highest *credit* is
given too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Populations", "count_pairs", "summarise_species"]

MAX_PAIRS = 250  # that are listed


@dataclass(frozen=True, eq=False)
class Populations:
    """The two species of a state, with the best order first. A method may lack one of them."""

    orders: NDArray[np.int64]  # (n_orders, n)
    n_masks: int = 0
    pairs: NDArray[np.int64] | None = None  # (n_pairs, 3): parent, child, masks that contain it
    credit: NDArray[np.float64] | None = None  # of masks, or of their parent sets


def count_pairs(order: NDArray[np.int64], masks: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return how many masks over positions contain each pair of variables, under one order.

    >>> count_pairs(np.array([1, 0]), np.array([[True], [True]])).tolist()
    [[1, 0, 2]]
    """
    first, second = np.triu_indices(len(order), k=1)
    counts = np.column_stack([order[first], order[second], masks.sum(axis=0)])
    counts = counts[counts[:, 2] > 0]
    return counts[np.lexsort((counts[:, 1], counts[:, 0]))]


def summarise_species(populations: Populations) -> dict[str, Any]:
    """Return the summary as plain numbers and lists.

    Examples
    --------
    >>> same = Populations(np.array([[2, 0, 1], [2, 0, 1]]))
    >>> summarise_species(same)["orders"]["agreement"]
    1.0
    """
    summary: dict[str, Any] = {"orders": _summarise_orders(populations.orders)}
    if populations.pairs is not None:
        summary["masks"] = _summarise_masks(populations.pairs, populations.n_masks)
        if populations.credit is not None:
            finite = populations.credit[np.isfinite(populations.credit)]
            summary["masks"]["credit"] = float(finite.max()) if finite.size else None
    return summary


def _summarise_orders(orders: NDArray[np.int64]) -> dict[str, Any]:
    places = np.argsort(orders, axis=1)
    return {
        "n": len(orders),
        "agreement": _measure_concordance(places),
        "best": places[0].tolist(),
        "mean": places.mean(axis=0).round(2).tolist(),
        "low": places.min(axis=0).tolist(),
        "high": places.max(axis=0).tolist(),
    }


def _measure_concordance(places: NDArray[np.int64]) -> float:
    """Return the mean rank correlation over all pairs of orders."""
    k, n = places.shape
    if k < 2 or n < 2:
        return 1.0
    sums = places.sum(axis=0, dtype=np.float64)
    spread = float(((sums - sums.mean()) ** 2).sum())
    w = 12.0 * spread / (k * k * (n**3 - n))
    return round(float((k * w - 1.0) / (k - 1.0)), 6)


def _summarise_masks(counts: NDArray[np.int64], k: int) -> dict[str, Any]:
    listed, times = counts[:, :2], counts[:, 2]
    ranked = np.argsort(-times, kind="stable")[:MAX_PAIRS]
    return {
        "n": k,
        "agreement": _measure_overlap(times, k),
        "n_pairs": len(listed),
        "n_common": int((times == k).sum()),
        "pairs": [
            [int(parent), int(child), round(float(share), 4)]
            for (parent, child), share in zip(listed[ranked], times[ranked] / k, strict=True)
        ],
    }


def _measure_overlap(times: NDArray[np.int64], k: int) -> float:
    """Return the mean number of pairs that two masks share, over that of either."""
    total = float(times.sum())
    if k < 2 or not total:
        return 1.0
    shared = float((times * (times - 1)).sum()) / (k * (k - 1))
    return round(shared / (2.0 * total / k - shared), 6)
