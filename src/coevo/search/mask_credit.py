"""The credit of the parent sets of masks, and which of them survive.

The credit of a parent set comes from its cooperation with orders: the gain of its best family for
a partner. Each child keeps its best parent sets, whichever mask they come from.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.search.archive import ParentSet
from coevo.search.ccma_state import CCMAState
from coevo.search.parent_extension import Extensions
from coevo.search.state_schema import LARGEST_SCORE

__all__ = ["assign_credit", "fade_credit", "select_survivors"]


def assign_credit(
    rng: Generator, state: CCMAState, extensions: Extensions
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Assign credit to the new parent sets; return the masks and credits that survive.

    The credit of a parent set is the gain of its best family, with or without one more
    parent, for the best order or for a random one, whichever is larger.
    """
    parent_sets = extensions.parent_sets
    partners = [0, int(rng.integers(len(state.orders)))]
    credit = np.full(len(parent_sets), -np.inf)
    children = np.array([child for child, _ in parent_sets], dtype=np.int64)
    for partner in partners:
        place = np.argsort(state.orders[partner])
        current = state.archive.score[state.choice[partner]]
        before = place[None, :] < place[children][:, None]
        wider = np.where(before, extensions.wider_scores, -np.inf)
        best = np.maximum(wider.max(axis=1, initial=-np.inf), extensions.scores)
        for s, (child, parents) in enumerate(parent_sets):
            if all(place[parent] < place[child] for parent in parents):
                credit[s] = max(credit[s], best[s] - current[child])
    return select_survivors(state, parent_sets, credit)


def select_survivors(
    state: CCMAState, parent_sets: tuple[ParentSet, ...], new_credit: NDArray[np.float64]
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Return the masks in which better new parent sets have replaced the worst of each child."""
    credit = fade_credit(state.credit)
    masks = state.masks.copy()
    for s in np.argsort(-new_credit, kind="stable"):
        child, parents = parent_sets[s]
        worst = int(credit[:, child].argmin())
        if new_credit[s] > credit[worst, child]:
            masks[worst, :, child] = False
            masks[worst, list(parents), child] = True
            credit[worst, child] = new_credit[s]
    return masks, credit


def fade_credit(credit: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the credit of parent sets that are one generation older.

    A gain halves and a loss doubles, so new parent sets replace old ones in the end. The bound
    keeps the credit valid after any number of generations. It is far below the loss of any new
    parent set: only the order among parent sets that are hundreds of generations old is lost.
    Minus infinity means that there is no parent set yet.

    >>> fade_credit(np.array([3.0, -3.0, -1e300, -np.inf])).tolist()
    [1.5, -6.0, -1e+100, -inf]
    """
    bounded = np.where(credit == -np.inf, credit, np.maximum(credit, -LARGEST_SCORE / 2))
    faded: NDArray[np.float64] = np.where(bounded < 0, bounded * 2, bounded / 2)
    return faded
