"""The operators of greedy equivalence search: which are valid, and what each one gains.

An operator (x, y, C) chooses a DAG of the class in which the parents of y are its compelled
parents and the clique C of its neighbours. It then changes one arc of that DAG:

- *insert* adds x -> y. It is valid if C holds every neighbour of y that is adjacent to x, and if
  every path from y to x passes through C (Chickering 2002, theorem 15; C is NaYX and T).
- *delete* removes x -> y. It is valid if C holds x, or if x is a compelled parent of y (theorem
  17; C without x is NaYX without H).
- *turn* reverses y -> x to x -> y (Hauser and Bühlmann 2012). If y -> x is compelled, it is valid
  if C holds every neighbour of y that is adjacent to x, and if every other path from y to x passes
  through C or a neighbour of x. If the edge has no direction, it is valid if some DAG of the class
  has y -> x, and if the other parents of x among its neighbours are exactly those in C. C must
  hold a variable that is not adjacent to x. Otherwise the class stays the same.

A path follows compelled arcs forwards and edges without a direction both ways.

The operators with a gain wait in a priority queue for each kind. After a change, only the
operators of variables whose parents or neighbours have changed are made again. What depends on the
complete class is tested when an operator comes to the front of its queue. An operator that fails
then waits until the next change.

References
----------
D. M. Chickering (2002). Optimal structure identification with greedy search. Journal of Machine
Learning Research 3, 507-554.

A. Hauser, P. Bühlmann (2012). Characterization and greedy learning of interventional Markov
equivalence classes of directed acyclic graphs. Journal of Machine Learning Research 13, 2409-2464.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np

from coevo.search.base import LEAST_GAIN, Problem
from coevo.search.best_parents import add_best_parents
from coevo.search.equivalence import BitSet, EquivalenceClass, iter_bits
from coevo.search.ges_gains import GainTable
from coevo.work_time import OutOfTime, check_deadline

__all__ = ["DELETE", "INSERT", "TURN", "Operator", "OperatorQueue", "apply_operator"]

INSERT, DELETE, TURN = range(3)


class Operator(NamedTuple):
    """An operator; operators sort by falling gain, then by the variables."""

    loss: float  # minus the gain
    y: int
    x: int
    clique: BitSet
    kind: int


class OperatorQueue:
    """The operators with a gain on a class, by kind. `update` moves it to another class."""

    def __init__(self, problem: Problem, graph: EquivalenceClass) -> None:
        n = problem.n_variables
        self.graph = graph
        self._gains = GainTable(problem)
        self._cliques: list[list[BitSet]] = [[] for _ in range(n)]
        self._queues: tuple[list[tuple[Operator, int, int]], ...] = ([], [], [])
        self._version = [0] * n  # of the operators of each variable
        try:
            self.n_scored = self._renew(range(n))
        except OutOfTime as late:
            late.offered = add_best_parents(problem, self._gains.iter_rows())
            raise

    def update(self, graph: EquivalenceClass) -> int:
        """Move to another class; return the number of local scores requested."""
        old, self.graph = self.graph, graph
        changed, parted = _find_changes(old, graph)
        n_scored = self._renew(changed)
        self.n_scored += n_scored
        renewed = set(changed)
        for x, other in parted:  # x may now join `other`, and variables that have it as a neighbour
            for y in iter_bits(graph.neighbours[other] | 1 << other):
                if y not in renewed:
                    self._push_inserts_of(y, x, other)
        return n_scored

    def pop_best(self, kind: int, seen: set[Operator]) -> list[Operator]:
        """Take the operators with the highest gain out of a queue, and add them to `seen`.

        Equally good ones come together, sorted by their variables. The list is empty if the
        queue is.
        """
        queue, best = self._queues[kind], list[Operator]()
        while queue and not (best and queue[0][0].loss > best[0].loss + LEAST_GAIN):
            operator, of_y, of_x = heappop(queue)
            _, y, x, clique, _ = operator
            if of_y != self._version[y] or (kind == TURN and of_x != self._version[x]):
                continue
            is_valid = kind != INSERT or self._may_insert(y, x, clique)
            if is_valid and operator not in seen:
                seen.add(operator)
                best.append(operator)
        return sorted(best, key=lambda operator: operator[1:])

    def _may_insert(self, y: int, x: int, clique: BitSet) -> bool:
        """Return whether x and y are not adjacent and the clique holds all that it must hold."""
        graph = self.graph
        if graph.adjacent[y] >> x & 1:
            return False
        return not graph.neighbours[y] & graph.adjacent[x] & ~clique

    def put_back(self, operators: Iterable[Operator]) -> None:
        """Return operators to their queues, before the class changes."""
        for operator in operators:
            self._push(*operator)

    def _push(self, loss: float, y: int, x: int, clique: BitSet, kind: int) -> None:
        entry = (Operator(loss, y, x, clique, kind), self._version[y], self._version[x])
        heappush(self._queues[kind], entry)

    def _renew(self, variables: Iterable[int]) -> int:
        """Make the operators of these variables again."""
        graph, chosen = self.graph, list(variables)
        needed = []
        for y in chosen:
            self._cliques[y] = list(graph.iter_cliques(y))
            self._version[y] += 1
            needed.append((y, [graph.parents[y] | clique for clique in self._cliques[y]]))
        n_scored = self._gains.keep(needed)
        for y in chosen:
            check_deadline()
            self._push_operators(y)
        pairs = {(y, x) for y in chosen for x in iter_bits(graph.children[y] | graph.neighbours[y])}
        pairs |= {(y, x) for x in chosen for y in iter_bits(graph.parents[x] | graph.neighbours[x])}
        for y, x in sorted(pairs):
            self._push_turns(y, x)
        return n_scored

    def _push_operators(self, y: int) -> None:
        """Add the insertions and deletions of a variable."""
        graph = self.graph
        for clique in self._cliques[y]:
            parents = graph.parents[y] | clique
            row = self._gains.get_row(y, parents)
            gaining = np.flatnonzero(row > LEAST_GAIN)
            for x, gain in zip(gaining.tolist(), row[gaining].tolist(), strict=True):
                if parents >> x & 1:
                    self._push(-gain, y, x, clique, DELETE)
                elif self._may_insert(y, x, clique):
                    self._push(-gain, y, x, clique, INSERT)

    def _push_inserts_of(self, y: int, x: int, other: int) -> None:
        """Add the insertions of x -> y that were not valid while x was adjacent to `other`.

        `other` is y, or one of its neighbours.
        """
        graph = self.graph
        for clique in self._cliques[y]:
            if x == y or clique >> other & 1 or not self._may_insert(y, x, clique):
                continue
            gain = float(self._gains.get_row(y, graph.parents[y] | clique)[x])
            if gain > LEAST_GAIN:
                self._push(-gain, y, x, clique, INSERT)

    def _push_turns(self, y: int, x: int) -> None:
        """Add the operators that turn y -> x, or y - x, to x -> y."""
        graph = self.graph
        shared = graph.neighbours[y] & graph.adjacent[x]
        is_compelled = graph.children[y] >> x & 1
        for clique in self._cliques[y]:
            if is_compelled:
                if shared & ~clique:
                    continue
                parents_of_x = graph.parents[x]
            else:
                if clique >> x & 1 or not clique & ~shared:
                    continue
                parents_of_x = graph.parents[x] | clique & shared | 1 << y
            gain = self._gains.get_row(y, graph.parents[y] | clique)[x]
            gain = float(gain + self._gains.get_row(x, parents_of_x)[y])
            if gain > LEAST_GAIN:
                self._push(-gain, y, x, clique, TURN)


def _find_changes(
    old: EquivalenceClass, new: EquivalenceClass
) -> tuple[list[int], list[tuple[int, int]]]:
    """Return the variables to renew, and the ordered pairs that are no longer adjacent.

    A variable is renewed if its parents or neighbours changed, or the edges between these.
    """
    changed: list[int] = []
    parted: list[tuple[int, int]] = []
    joined: list[tuple[int, int]] = []
    for v in range(len(new.parents)):
        if old.parents[v] != new.parents[v] or old.neighbours[v] != new.neighbours[v]:
            changed.append(v)
        if old.adjacent[v] != new.adjacent[v]:
            parted.extend((v, u) for u in iter_bits(old.adjacent[v] & ~new.adjacent[v]))
            joined.extend((v, u) for u in iter_bits(new.adjacent[v] & ~old.adjacent[v]))
    for v, u in parted + joined:
        around = new.neighbours[v] & new.neighbours[u]
        changed.extend(w for w in iter_bits(around) if w not in changed)
    return sorted(changed), parted


def apply_operator(graph: EquivalenceClass, operator: Operator) -> EquivalenceClass | None:
    """Return the class that an operator makes; None if the operator is not valid."""
    _, y, x, clique, kind = operator
    bit_x, bit_y = 1 << x, 1 << y
    barred = [0] * len(graph.parents)
    _bar_all_but(graph, barred, y, clique)
    if kind == INSERT:
        shared = graph.neighbours[y] & graph.adjacent[x]
        if graph.adjacent[y] & bit_x or shared & ~clique or graph.has_path(bit_y, x, clique):
            return None
    elif kind == TURN and graph.children[y] & bit_x:
        blocked = clique | graph.neighbours[x]
        begin = (graph.children[y] | graph.neighbours[y]) & ~bit_x
        if graph.has_path(begin, x, blocked | bit_y):
            return None
        _bar_all_but(graph, barred, x, 0)
    elif kind == TURN:
        _bar_all_but(graph, barred, x, clique & graph.neighbours[x] | bit_y)
    dag = graph.find_member(barred)
    if dag is None:
        return None
    dag[y] = dag[y] & ~bit_x if kind == DELETE else dag[y] | bit_x
    if kind == TURN:
        dag[x] &= ~bit_y
    return EquivalenceClass(dag)


def _bar_all_but(
    graph: EquivalenceClass, barred: list[BitSet], variable: int, clique: BitSet
) -> None:
    """Demand that a variable has exactly these of its neighbours as parents."""
    barred[variable] |= graph.neighbours[variable] & ~clique
    for neighbour in iter_bits(clique):
        barred[neighbour] |= 1 << variable
