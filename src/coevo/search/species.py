"""A summary of the two species: how far they have converged, and what each did for the other.

The studio and the report show it. It reads the state of a search and changes nothing. Its cost is
linear in the sizes of the populations.

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

**Work** (CCMA only). For each mask its credit, the families that it has scored, and the nats that
the orders gained by them (the mean over all orders). The same for the children that earned most,
and for the few on which most families were spent. And the pairs of the highest value: what the
parent last added to a parent set of the child, and whether the best structure has the arc (1), its
reverse (-1) or neither (0).

**One row.** One row of one mask as an example: the candidates that it holds for one child.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count, takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "MaskRow",
    "MaskWork",
    "Populations",
    "count_pairs",
    "list_credit",
    "name_credit",
    "summarise_species",
]

MAX_PAIRS = 250  # that are listed
MAX_CHILDREN = MAX_PAID = 30  # that are listed
N_BUSIEST = 3  # children with most families, besides those that earned most
DIGITS = 6  # significant ones, of credit and nats


@dataclass(frozen=True, eq=False)
class MaskRow:
    """A row of a mask: the candidate parents of a child, and their values if they have any."""

    mask: str  # its name, as part of a sentence
    child: int
    candidates: NDArray[np.int64]
    values: NDArray[np.float64] | None = None


@dataclass(frozen=True, eq=False)
class MaskWork:
    """What masks did for the orders. There may be several masks of one name, on islands."""

    names: Sequence[tuple[str, str]]  # of each mask, and what a turn of it does
    credit: NDArray[np.float64]  # (n_names,)
    spent: NDArray[np.int64]  # (n_names, n), the families that were scored
    earned: NDArray[np.float64]  # (n_names, n), what the orders gained by them, on average
    candidates: NDArray[np.int32]  # (n_masks, n, k)
    values: NDArray[np.float64]  # (n_masks, n, k), of the candidates
    adjacency: NDArray[np.bool_]  # (n, n), of the best structure


@dataclass(frozen=True, eq=False)
class Populations:
    """The two species of a state, with the best order first. A method may lack one of them."""

    orders: NDArray[np.int64]  # (n_orders, n)
    n_masks: int = 0
    pairs: NDArray[np.int64] | None = None  # (n_pairs, 3): parent, child, masks that contain it
    credit: NDArray[np.float64] | None = None  # of masks, or of their parent sets
    work: MaskWork | None = None
    row: MaskRow | None = None


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
    if populations.work is not None:
        summary["work"] = _summarise_work(populations.work)
    if populations.row is not None:
        summary["row"] = _summarise_row(populations.row)
    return summary


def name_credit(credit: NDArray[np.float64]) -> dict[str, float]:
    """Return the credit of each mask by a name for the history: ``credit_0`` and so on.

    >>> name_credit(np.array([0.5, 0.0]))
    {'credit_0': 0.5, 'credit_1': 0.0}
    """
    return {f"credit_{mask}": value for mask, value in enumerate(credit.tolist())}


def list_credit(details: Mapping[str, Any]) -> list[float]:
    """Return the credit of each mask from a row of a history; empty if it has none.

    >>> list_credit({"n_families": 9.0, "credit_0": 0.5, "credit_1": 0.0})
    [0.5, 0.0]
    """
    names = takewhile(details.__contains__, (f"credit_{mask}" for mask in count()))
    return [float(details[name]) for name in names]


def _summarise_work(work: MaskWork) -> dict[str, Any]:
    spent, earned = work.spent.sum(axis=0), work.earned.sum(axis=0)
    most = np.lexsort((-spent, -earned))[:MAX_CHILDREN].tolist()
    busiest = np.argsort(-spent, kind="stable")[:N_BUSIEST].tolist()
    is_earning = earned > 0
    of_masks = zip(
        work.names, work.credit, work.spent.sum(axis=1), work.earned.sum(axis=1), strict=True
    )
    return {
        "families": int(spent.sum()),
        "nats": _round(earned.sum()),
        "n_children": int((spent > 0).sum()),
        "n_earning": int(is_earning.sum()),
        "families_of_earning": int(spent[is_earning].sum()),
        "masks": [
            {
                "name": name,
                "meaning": meaning,
                "credit": _round(credit),
                "families": int(families),
                "nats": _round(nats),
            }
            for (name, meaning), credit, families, nats in of_masks
        ],
        "children": [[i, int(spent[i]), _round(earned[i])] for i in most if spent[i] > 0],
        "busiest": [[i, int(spent[i]), _round(earned[i])] for i in busiest if spent[i] > 0],
        "paid": _list_paid(work),
    }


def _list_paid(work: MaskWork) -> list[list[Any]]:
    """Return the pairs of the highest values: parent, child, value, and its arc (1, -1 or 0).

    Masks share pairs. So the highest values of all masks, `MAX_PAID` times their number, have
    enough pairs; a sort of all values would cost more than the rest of the summary.
    """
    n_masks, n, k = work.values.shape
    values = work.values.ravel()
    n_listed = min(values.size, MAX_PAID * n_masks)
    if not n_listed:
        return []
    highest = np.argpartition(-values, n_listed - 1)[:n_listed]
    child = highest // k % n
    parent, value = work.candidates.ravel()[highest].astype(np.int64), values[highest]
    is_paying = (value > 0) & np.isfinite(value)
    pairs, number = np.unique((parent * n + child)[is_paying], return_inverse=True)
    best = np.zeros(len(pairs))
    np.maximum.at(best, number, value[is_paying])
    ranked = np.argsort(-best, kind="stable")[:MAX_PAID]
    return [
        [int(a), int(b), _round(gain), int(work.adjacency[a, b]) - int(work.adjacency[b, a])]
        for (a, b), gain in zip(
            np.column_stack(np.divmod(pairs[ranked], n)), best[ranked], strict=True
        )
    ]


def _summarise_row(row: MaskRow) -> dict[str, Any]:
    listed = row.candidates != row.child  # a short row is filled with the child itself
    values = None if row.values is None else [_round(value) for value in row.values[listed]]
    return {
        "mask": row.mask,
        "child": row.child,
        "candidates": row.candidates[listed].tolist(),
        "values": values,
    }


def _round(value: float) -> float:
    """Return a finite number with few digits, for JSON; 0 for one that is not finite."""
    return float(f"{value:.{DIGITS}g}") if np.isfinite(value) else 0.0


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
