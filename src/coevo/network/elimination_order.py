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

import heapq
import math
import random
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias, TypeVar

__all__ = ["EliminationStep", "count_cells", "find_steps", "iterate_bits"]

SMALL = 1 << 16  # cells; below, searching a second order costs more than it can save
CELLS_PER_OPERATION = 512  # an operation takes as long as about 12 cells: restarts get 2 %
MAX_OPERATIONS = 1 << 21  # of all restarts; about half a second
MAX_RESTARTS = 64  # of small graphs with large tables; more of them find the same orders
PERTURBATION = 0.3  # width of the random factor of a cost; on andes and munin, better than 0.1

T = TypeVar("T", int, float)
Eliminated: TypeAlias = tuple[
    int, int
]  # a variable, and the bit set of its neighbours at that time


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
    graph = _InteractionGraph(scopes, arity, last)
    best = _find_order(graph, topological)
    position = {variable: i for i, (variable, _) in enumerate(best.eliminated)}
    names = graph.names
    return tuple(
        EliminationStep(
            names[variable],
            tuple(names[i] for i in sorted(iterate_bits(near), key=lambda i: -position[i])),
        )
        for variable, near in best.eliminated
    )


def count_cells(steps: Iterable[EliminationStep], arity: Mapping[str, int]) -> int:
    """Return the total number of cells in the tables of all cliques."""
    return sum(math.prod(arity[name] for name in step.clique) for step in steps)


class _Order(NamedTuple):
    eliminated: Sequence[Eliminated]
    n_cells: float  # in the tables of all cliques


def _find_order(graph: _InteractionGraph, topological: Iterable[str]) -> _Order:
    """Return the order with the fewest cells; of equal ones, the one that is tried first."""
    n = len(graph.names)
    none = _Order((), math.inf)
    best = graph.take_smaller(none, graph.eliminate_greedily(graph.log_arity))
    if best.n_cells <= SMALL:
        return best
    n_operations = graph.n_operations  # of one run of weighted fill

    for pair_weights in ([0.0] * n, [1.0] * n):  # weight, and fill
        best = graph.take_smaller(best, graph.eliminate_greedily(pair_weights))
    known = [graph.number[name] for name in topological if name in graph.number]
    for sweep in (graph.list_cuthill_mckee(), known):
        for order in (sweep, sweep[::-1]) if sweep else ():
            best = graph.take_smaller(best, graph.eliminate_in_order(order))

    for seed in range(MAX_RESTARTS):
        # What a complete run costs; one that is abandoned costs less.
        if (seed + 1) * n_operations > min(MAX_OPERATIONS, best.n_cells / CELLS_PER_OPERATION):
            break
        rng = random.Random(seed)
        factors = [1 + PERTURBATION * (rng.random() - 0.5) for _ in range(n)]
        best = graph.take_smaller(best, graph.eliminate_greedily(graph.log_arity, factors))
    return best


class _InteractionGraph:
    """Variables, numbered by name, and bit sets of those that share a factor with each."""

    def __init__(
        self, scopes: Iterable[Collection[str]], arity: Mapping[str, int], last: Collection[str]
    ) -> None:
        scope_list = list(scopes)
        self.names = sorted({name for scope in scope_list for name in scope})
        self.number = {name: i for i, name in enumerate(self.names)}
        self.log_arity = [math.log(arity[name]) for name in self.names]
        self.n_operations = 0  # pairs of a neighbour and a group of weights, in all greedy runs
        self._is_last = [name in last for name in self.names]
        self._log_groups = _group(self.log_arity)
        self._arity_groups = _group([arity[name] for name in self.names])
        self._near = [0] * len(self.names)
        for scope in scope_list:
            members = sum(1 << self.number[name] for name in scope)
            for i in iterate_bits(members):
                self._near[i] |= members & ~(1 << i)

    def take_smaller(self, best: _Order, eliminated: Iterator[Eliminated]) -> _Order:
        """Return an order if it has fewer cells than the best one, else the best one.

        An order that has as many cells is abandoned.
        """
        taken, n_cells = list[Eliminated](), 0
        for variable, near in eliminated:
            clique = near | 1 << variable
            n_cells += math.prod(
                arity ** (clique & members).bit_count() for arity, members in self._arity_groups
            )
            if n_cells >= best.n_cells:
                return best
            taken.append((variable, near))
        return _Order(taken, n_cells)

    def eliminate_in_order(self, order: Sequence[int]) -> Iterator[Eliminated]:
        """Remove all variables in this order, those in `last` last; yield each."""
        near = list(self._near)
        for variable in sorted(order, key=self._is_last.__getitem__):
            yield variable, near[variable]
            _remove(near, variable)

    def eliminate_greedily(
        self, pair_weights: Sequence[float], factors: Sequence[float] | None = None
    ) -> Iterator[Eliminated]:
        """Remove the variable with the least fill, until none is left; yield each.

        Each pair of neighbours that must be connected counts with the product of its two weights.
        Ties go to the smallest clique, which alone decides if all weights are 0. `factors` multiply
        the fill of each variable.
        """
        near, is_last = list(self._near), self._is_last
        groups, log_groups = _group(pair_weights), self._log_groups

        def compute_cost(i: int) -> tuple[bool, float, float, int]:
            own, fill = near[i], 0.0
            for j in iterate_bits(own) if groups else ():
                unconnected = own & ~near[j] & ~(1 << j)
                if unconnected:
                    fill += pair_weights[j] * _sum_weights(unconnected, groups)
            self.n_operations += own.bit_count() * (1 + len(groups))
            fill *= factors[i] if factors else 1.0
            return is_last[i], fill, _sum_weights(own | 1 << i, log_groups), i

        cost = {i: compute_cost(i) for i in range(len(near))}
        queue = sorted(cost.values())
        while cost:
            cheapest = heapq.heappop(queue)
            variable = cheapest[-1]
            if cost.get(variable) != cheapest:
                continue  # outdated: the variable is in the queue again, at another cost
            del cost[variable]
            yield variable, near[variable]
            touched = _find_touched(near, variable) if groups else near[variable]
            _remove(near, variable)
            for i in iterate_bits(touched):
                cost[i] = compute_cost(i)
                heapq.heappush(queue, cost[i])

    def list_cuthill_mckee(self) -> list[int]:
        """Return all variables in the order of Cuthill and McKee, from a far end of each component.

        After a variable come its neighbours, those with the fewest neighbours first.
        """
        near = self._near

        def by_degree(i: int) -> tuple[int, int]:
            return near[i].bit_count(), i

        order: list[int] = []
        left = (1 << len(near)) - 1
        while left:
            start = min(iterate_bits(left), key=by_degree)
            levels = self._list_levels(start)
            while True:  # the end that is farthest from the other one
                end = min(iterate_bits(levels[-1]), key=by_degree)
                other_levels = self._list_levels(end)
                if len(other_levels) <= len(levels):
                    break
                start, levels = end, other_levels
            queue = [start]
            left &= ~(1 << start)
            for i in queue:  # it grows during the loop
                queue += sorted(iterate_bits(near[i] & left), key=by_degree)
                left &= ~near[i]
            order += queue
        return order

    def _list_levels(self, start: int) -> list[int]:
        """Return the variables at each distance from `start`, as bit sets."""
        levels, seen = [1 << start], 1 << start
        while True:
            reached = 0
            for i in iterate_bits(levels[-1]):
                reached |= self._near[i]
            if not reached & ~seen:
                return levels
            levels.append(reached & ~seen)
            seen |= reached


def _group(weights: Sequence[T]) -> list[tuple[T, int]]:
    """Return the distinct weights that are not 0, each with the bit set of its variables.

    Counting the bits of a group is several times as fast as adding weights one by one, and sums of
    the same numbers of states are then equal to the last bit, so that ties are ties.
    """
    groups: dict[T, int] = {}
    for i, weight in enumerate(weights):
        groups[weight] = groups.get(weight, 0) | 1 << i
    return [(weight, groups[weight]) for weight in sorted(groups) if weight]


def _sum_weights(bits: int, groups: Sequence[tuple[float, int]]) -> float:
    """Return the sum of the weights of the variables in a bit set."""
    total = 0.0
    for weight, members in groups:
        total += weight * (bits & members).bit_count()
    return total


def _find_touched(near: Sequence[int], variable: int) -> int:
    """Return the variables whose fill may change when a variable is removed."""
    touched = own = near[variable]
    for i in iterate_bits(own):
        for j in iterate_bits(own & ~near[i] & -(2 << i)):  # each pair that is not connected, once
            touched |= near[i] & near[j]  # for these, the new edge is one less to add
    return touched & ~(1 << variable)


def _remove(near: list[int], variable: int) -> None:
    """Connect all neighbours of a variable and remove it."""
    own = near[variable]
    for i in iterate_bits(own):
        near[i] = (near[i] | own) & ~(1 << i | 1 << variable)


def iterate_bits(bits: int) -> Iterator[int]:
    """Yield the numbers in a bit set, in ascending order."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest
