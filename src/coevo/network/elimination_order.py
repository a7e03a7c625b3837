"""Find an elimination order, and the sizes of the tables that it needs.

Summing a variable out multiplies all factors that contain it. The *clique* of that step is
the variable and its *separator*: the variables that share a factor with it at that time. The
step produces a factor of the separator. The order with the smallest cliques is hard to find [2]_.
Several rules propose one, and the order with the fewest cells in all tables is used:

- Greedy rules remove the cheapest variable next [1]_. *Fill* is the number of pairs of neighbours
  that must be connected; *weighted fill* weights each pair by the numbers of states of both;
  *weight* is the size of the clique. Weighted fill is nearly always best, and it is tried first.
- Sweeps cross the graph from one side to the other: the order of Cuthill and McKee [3]_, the
  topological order, and both backwards. On a grid of 20 times 20 variables of two states,
  weighted fill needs 2**34 cells in total, and the sweep of Cuthill and McKee 2**27.
- Restarts repeat weighted fill with costs that are perturbed at random, from a fixed seed.

The other rules are tried only if the tables of the first order are large, and restarts only while
they cost a small part of the work that they may save. This is counted in operations, not in
seconds, so the same input gives the same order. No rule proves that there is no smaller order.

Why not a tensor contraction library? The order of opt_einsum (3.4, greedy) for summing out
all variables takes 2**49 multiplications on munin, 2**33 on link and 2**24 on pigs. The
cliques of the order found here have 2**24, 2**25 and 2**20 cells in total. Moreover,
opt_einsum can neither keep conditional tables nor maximise. Sampling given evidence and most
probable explanations need both.

.. [1] U. B. Kjaerulff, Triangulation of graphs: algorithms giving small total state space,
   Aalborg University, 1990.
.. [2] S. Arnborg, D. G. Corneil and A. Proskurowski, Complexity of finding embeddings in a k-tree,
   SIAM Journal on Algebraic and Discrete Methods 8, 1987.
.. [3] E. Cuthill and J. McKee, Reducing the bandwidth of sparse symmetric matrices, Proceedings of
   the 24th National Conference of the ACM, 1969.
"""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coevo.network.kernels import (
    FILL,
    N_CELLS,
    N_OPERATIONS,
    WEIGHT,
    WEIGHTED_FILL,
    EliminationOrder,
    InteractionGraph,
    eliminate_greedily,
    eliminate_in_order,
    list_cliques,
    list_cuthill_mckee,
    make_interaction_graph,
)
from coevo.runtime.memory import check_memory

__all__ = [
    "EliminationStep",
    "count_cells",
    "find_order",
    "find_steps",
    "iterate_bits",
]

SMALL = 1 << 16  # cells; below, searching a second order costs more than it can save
CELLS_PER_OPERATION = 512  # an operation takes less time than a cell: restarts cost next to nothing
MAX_OPERATIONS = 1 << 21  # of all restarts; a few milliseconds
MAX_RESTARTS = 64  # of small graphs with large tables; more of them find the same orders
PERTURBATION = 0.3  # width of the random factor of a cost; on andes and munin, better than 0.1
MANY = 1 << 12  # variables; below, the bit sets fit into every memory

NO_FACTORS = np.empty(0)


class EliminationStep(NamedTuple):
    """One variable is summed out of the product of all factors that contain it."""

    variable: str
    separator: tuple[
        str, ...
    ]  # the rest of its clique; the variable that is summed out last comes first

    @property
    def clique(self) -> tuple[str, ...]:
        """All variables of the product, in the order of its axes."""
        return (*self.separator, self.variable)


def find_steps(
    scopes: Iterable[Collection[str]],
    arity: Mapping[str, int],
    last: Collection[str] = (),
    topological: Iterable[str] = (),
) -> tuple[EliminationStep, ...]:
    """Return the steps that sum out all variables of some factors; those in `last` come last.

    `topological` is an order of at least these variables that is tried too. The result depends on
    names, scopes, arities and this order, never on the order of the other arguments.

    >>> steps = find_steps([["a"], ["a", "b"], ["b", "c"]], dict(a=2, b=2, c=2), last=["b"])
    >>> [(step.variable, step.separator) for step in steps]
    [('a', ('b',)), ('c', ('b',)), ('b', ())]
    """
    scope_list = list(scopes)
    names = sorted(set().union(*scope_list))
    number = {name: i for i, name in enumerate(names)}
    members: list[int] = []
    start = [0]
    for scope in scope_list:
        members += [number[name] for name in scope]
        start.append(len(members))
    order, clique_start, clique_members = find_order(
        np.array(start, dtype=np.int64),
        np.array(members, dtype=np.int64),
        np.array([arity[name] for name in names], dtype=np.int64),
        np.array([name in last for name in names], dtype=np.bool_),
        (number[name] for name in topological if name in number),
    )
    listed = [names[i] for i in clique_members.tolist()]
    ends = clique_start.tolist()
    return tuple(
        EliminationStep(names[variable], tuple(listed[begin : end - 1]))
        for variable, begin, end in zip(order.tolist(), ends, ends[1:], strict=False)
    )


def count_cells(steps: Iterable[EliminationStep], arity: Mapping[str, int]) -> int:
    """Return the total number of cells in the tables of all cliques."""
    return sum(math.prod(arity[name] for name in step.clique) for step in steps)


def find_order(
    start: NDArray[np.int64],
    members: NDArray[np.int64],
    arities: NDArray[np.int64],
    is_last: NDArray[np.bool_],
    sweep: Iterable[int] = (),
) -> EliminationOrder:
    """Return what `find_steps` returns, for variables that are numbered by name.

    Parameters
    ----------
    start, members : array of int64
        The scope of factor k is ``members[start[k] : start[k + 1]]``; the last one ends at
        ``start[-1]``. A variable without a factor is a step of its own.
    arities : array of int64
        The number of states of each variable.
    is_last : array of bool
        Whether a variable comes after all others.
    sweep : iterable of int
        An order of all variables that is tried too. It is read only if the tables are large.

    >>> found = find_order(
    ...     np.array([0, 1, 3, 5]), np.array([0, 0, 1, 1, 2]), np.array([2, 2, 2]),
    ...     np.array([False, True, False]),
    ... )
    >>> found.order.tolist(), found.clique_start.tolist(), found.members.tolist()
    ([0, 2, 1], [0, 2, 4, 5], [1, 0, 1, 2, 1])
    """
    n = len(arities)
    if n > MANY:
        check_memory(
            2 * n * n // 8,
            f"An elimination order of {n:,} variables",
            "Give more evidence, or use a machine with more memory.",
        )
    graph = make_interaction_graph(start, members, arities, is_last)
    n_members = eliminate_greedily(graph, WEIGHTED_FILL, NO_FACTORS)
    if graph.totals[N_CELLS] > SMALL:
        n_members = _try_other_rules(graph, sweep)
    clique_start = np.empty(n + 1, dtype=np.int64)
    cliques = np.empty(n_members, dtype=np.int64)
    list_cliques(graph, clique_start, cliques)
    return EliminationOrder(graph.order, clique_start, cliques)


def _try_other_rules(graph: InteractionGraph, sweep: Iterable[int]) -> int:
    """Find the order with the fewest cells; of equal ones, the one that is tried first.

    Return the number of members of all its cliques.
    """
    n = len(graph.arities)
    n_operations = graph.totals[N_OPERATIONS]  # of one run of weighted fill
    for rule in (WEIGHT, FILL):
        eliminate_greedily(graph, rule, NO_FACTORS)
    cuthill_mckee = np.empty(n, dtype=np.int64)
    list_cuthill_mckee(graph, cuthill_mckee)
    known = np.fromiter(sweep, dtype=np.int64)
    for order in (cuthill_mckee, known):
        for sequence in (order, order[::-1].copy()) if len(order) == n else ():
            n_members = eliminate_in_order(graph, sequence)

    for seed in range(MAX_RESTARTS):
        # What a complete run costs; one that is abandoned costs less.
        limit = min(MAX_OPERATIONS, graph.totals[N_CELLS] / CELLS_PER_OPERATION)
        if (seed + 1) * n_operations > limit:
            break
        rng = random.Random(seed)
        factors = np.array([1 + PERTURBATION * (rng.random() - 0.5) for _ in range(n)])
        n_members = eliminate_greedily(graph, WEIGHTED_FILL, factors)
    return n_members


def iterate_bits(bits: int) -> Iterator[int]:
    """Yield the numbers in a bit set, in ascending order."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest
