"""The mutations of `coevo.search.mdlep`: each changes one arc of a graph, or two.

A graph is a string of bits, one for each free arc (`coevo.search.ga_graphs`). A mutation gets its
random numbers from outside: one draw decides whether it adds or deletes, one which arc leaves, one
which arc enters. It may close a cycle, which the repair opens again. A mutation that finds no arc
to change leaves the graph as it is.

    simple   Add an arc, or delete one, each with the chance 1/2.
    reverse  Turn an arc round.
    move     A variable gets another parent in the place of one that it has.
    guided   As simple, but arcs that gain much by themselves are added often and deleted rarely.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["GUIDED", "KINDS", "MOVE", "REVERSE", "SIMPLE", "Mutations"]

KINDS = SIMPLE, REVERSE, MOVE, GUIDED = 0, 1, 2, 3
NONE = -1  # no arc

Arcs = NDArray[np.int64]  # numbers of bits, ascending


class Mutations:
    """Mutates bit strings.

    Parameters
    ----------
    parents, children : array of int, (n_bits,)
        The arc of each bit.
    gains : array of float, (n_bits,)
        What each arc gains by itself. Only the ranks of these numbers are used.
    """

    def __init__(
        self,
        parents: NDArray[np.int64],
        children: NDArray[np.int64],
        gains: NDArray[np.float64],
    ) -> None:
        self._children = children.tolist()
        last = int(children.max(initial=-1))
        self._begin = np.searchsorted(children, np.arange(last + 2)).tolist()  # of each child
        self._reversed = _find_reversed(parents, children)
        ranks = np.unique(gains, return_inverse=True)[1].reshape(-1).astype(np.float64)
        self._weights_to_add = ranks + 1.0
        self._weights_to_delete = ranks.max(initial=0.0) - ranks + 1.0

    def mutate(self, bits: NDArray[np.bool_], kind: int, draws: Sequence[float]) -> None:
        """Apply one mutation to a string, in its place; `draws` has three numbers in [0, 1)."""
        adds = kind in (SIMPLE, GUIDED) and draws[0] < 0.5
        leaving = NONE if adds else self._choose_leaving(bits, kind, draws[1])
        if leaving == NONE and not adds:
            return
        entering = self._choose_entering(bits, kind, leaving, draws[2])
        if entering == NONE and kind == MOVE:
            return
        if leaving != NONE:
            bits[leaving] = False
        if entering != NONE:
            bits[entering] = True

    def _choose_leaving(self, bits: NDArray[np.bool_], kind: int, draw: float) -> int:
        arcs = bits.nonzero()[0]
        if kind == REVERSE:
            arcs = arcs[self._reversed[arcs] != NONE]
        return _choose(arcs, self._weights_to_delete if kind == GUIDED else None, draw)

    def _choose_entering(
        self, bits: NDArray[np.bool_], kind: int, leaving: int, draw: float
    ) -> int:
        """Return the arc that enters, when it is known which one leaves."""
        if kind == REVERSE:
            return int(self._reversed[leaving])
        if kind == MOVE:
            child = self._children[leaving]
            begin, end = self._begin[child], self._begin[child + 1]
            return _choose(begin + (~bits[begin:end]).nonzero()[0], None, draw)
        if leaving != NONE:
            return NONE
        arcs = (~bits).nonzero()[0]
        return _choose(arcs, self._weights_to_add if kind == GUIDED else None, draw)


def _find_reversed(parents: NDArray[np.int64], children: NDArray[np.int64]) -> Arcs:
    """Return the bit of the turned arc of each bit; `NONE` where that arc is not free."""
    numbers = {
        arc: i for i, arc in enumerate(zip(parents.tolist(), children.tolist(), strict=True))
    }
    return np.array(
        [numbers.get((child, parent), NONE) for parent, child in numbers], dtype=np.int64
    )


def _choose(arcs: Arcs, weights: NDArray[np.float64] | None, draw: float) -> int:
    """Return the arc that a draw from [0, 1) chooses, with equal chances or these weights.

    >>> _choose(np.array([2, 5]), None, 0.6), _choose(np.array([], dtype=np.int64), None, 0.6)
    (5, -1)
    """
    if not len(arcs):
        return NONE
    if weights is None:
        return int(arcs[int(draw * len(arcs))])
    limits = weights[arcs].cumsum()
    place = int(limits.searchsorted(draw * limits[-1], side="right"))
    return int(arcs[min(place, len(arcs) - 1)])
