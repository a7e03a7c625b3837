"""Encode a DAG as an order and a mask, and decode it.

An *order* is a permutation of the n variables. A *mask* is a strictly upper triangular matrix
over the **positions** of an order, row by row, as n (n - 1) / 2 bits. Bit (i, j) is set if the
variable at position i is a parent of the variable at position j > i.

Every order with every mask is a DAG, because parents come before their children. There is no
cycle to detect and nothing to repair. Every DAG has at least one such pair: one of its
topological orders and the mask for it. Several pairs can encode the same DAG, because a DAG can
have several topological orders.

This is the representation of the 2011 paper (section 3.2, algorithm 2 and table 1), see
`coevo.search.ccga`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from coevo.errors import ParameterError
from coevo.graph import DAG

__all__ = ["Mask", "Order", "decode", "decode_dag", "encode_dag", "format_solution", "n_bits"]

Order = NDArray[np.int64]  # (n,), a permutation of the variables in canonical order
Mask = NDArray[np.bool_]  # (n_bits(n),), an upper triangle row by row


def n_bits(n_variables: int) -> int:
    """Return the number of bits of a mask, which is the largest possible number of arcs.

    >>> n_bits(37)
    666
    """
    return n_variables * (n_variables - 1) // 2


def decode(order: Order, mask: Mask) -> NDArray[np.bool_]:
    """Return the adjacency matrix of an order and a mask: [u, v] is True if u is a parent of v.

    >>> decode(np.array([2, 0, 1]), np.array([True, False, True])).astype(int)
    array([[0, 1, 0],
           [0, 0, 0],
           [1, 0, 0]])
    """
    n = len(order)
    if mask.shape != (n_bits(n),) or not np.array_equal(np.sort(order), np.arange(n)):
        raise ParameterError(
            f"An order of {n} variables is a permutation of 0 to {n - 1}, and goes with a mask "
            f"of {n_bits(n)} bits."
        )
    parent, child = np.triu_indices(n, k=1)
    adjacency = np.zeros((n, n), dtype=np.bool_)
    adjacency[order[parent[mask]], order[child[mask]]] = True
    return adjacency


def decode_dag(order: Order, mask: Mask, names: Sequence[str]) -> DAG:
    """Return the DAG that an order and a mask encode.

    >>> decode_dag(np.array([1, 0]), np.array([True]), ["a", "b"]).arcs
    (('b', 'a'),)
    """
    arcs = np.argwhere(decode(order, mask))
    return DAG(names, [(names[parent], names[child]) for parent, child in arcs])


def encode_dag(dag: DAG, names: Sequence[str]) -> tuple[Order, Mask]:
    """Return an order and a mask that encode `dag`: its topological order and the mask for it.

    >>> order, mask = encode_dag(DAG(["a", "b", "c"], [("c", "a")]), ["a", "b", "c"])
    >>> order.tolist(), mask.astype(int).tolist()
    ([1, 2, 0], [0, 0, 1])
    """
    number = {name: i for i, name in enumerate(names)}
    place = {name: position for position, name in enumerate(dag.topological_order)}
    order = np.array([number[name] for name in dag.topological_order], dtype=np.int64)
    triangle = np.zeros((len(order), len(order)), dtype=np.bool_)
    for parent, child in dag.arcs:
        triangle[place[parent], place[child]] = True
    return order, triangle[np.triu_indices(len(order), k=1)]


def format_solution(order: Order, mask: Mask, names: Sequence[str]) -> str:
    """Return an order and a mask as one string, in the notation of the paper.

    Each variable is followed by its bits for the later positions.

    >>> format_solution(np.array([1, 2, 0]), np.array([0, 0, 1], dtype=bool), ["A", "B", "C"])
    'B 0 0 C 1 A'
    """
    words: list[str] = []
    begin = 0
    for position, variable in enumerate(order):
        n_after = len(order) - 1 - position
        words.append(names[variable])
        words.extend("1" if bit else "0" for bit in mask[begin : begin + n_after])
        begin += n_after
    return " ".join(words)
