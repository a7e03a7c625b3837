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

from collections.abc import Iterable, Iterator, Sequence
from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coevo.runtime.deadline import OutOfTime, check_deadline
from coevo.score import FamilyBatch, toggle_families
from coevo.search.base import LEAST_GAIN, Problem
from coevo.search.equivalence import BitSet, EquivalenceClass, iter_bits
from coevo.search.graph_kernels import NEVER
from coevo.search.sparse_climb import add_best_parents

__all__ = ["DELETE", "INSERT", "TURN", "GainTable", "Operator", "OperatorQueue", "apply_operator"]


# The gains that all operators of greedy equivalence search are made of.
#
# An operator changes the parents of one variable y in some DAG of the class: it adds or removes
# one parent (Chickering 2002), or it reverses an arc, which does both at two variables. In the
# DAGs of a class, the parents of y are its compelled parents and a *clique* of its neighbours,
# that is a set of neighbours that are joined to each other. So one row of gains for each variable
# and each of its cliques is enough for all operators: the gain of adding or removing each other
# variable.
#
# A row depends on the parents only. It stays as it is while the class changes elsewhere. The rows
# that a new class needs are requested from the scorer as one batch.


FAMILIES_PER_BATCH = 1 << 15  # between two checks of the deadline
Row = NDArray[np.float64]  # (n,), `NEVER` where the change is not allowed


class GainTable:
    """The gain of adding or removing one parent, for the parent sets in use."""

    def __init__(self, problem: Problem) -> None:
        rules = problem.rules
        self._problem = problem
        self._rows: list[dict[BitSet, Row]] = [{} for _ in range(problem.n_variables)]
        self._may_join = rules.allowed | rules.allowed.T  # in one direction at least
        self._may_part = ~(rules.required | rules.required.T)
        self._arities = problem.scorer.dataset.arities.astype(np.float64)

    def get_row(self, variable: int, parents: BitSet) -> Row:
        """Return the gains of a variable that has these parents; `keep` has made the row."""
        return self._rows[variable][parents]

    def keep(self, needed: Iterable[tuple[int, Sequence[BitSet]]]) -> int:
        """Make the rows of these parent sets of each variable, and forget its other rows.

        Return the number of local scores requested.
        """
        new: list[tuple[int, BitSet]] = []
        for variable, parent_sets in needed:
            old = self._rows[variable]
            self._rows[variable] = {p: old[p] for p in parent_sets if p in old}
            new.extend((variable, p) for p in parent_sets if p not in old)
        return self._add_rows(new) if new else 0

    def _add_rows(self, new: Sequence[tuple[int, BitSet]]) -> int:
        """Score all changes of these parent sets, in batches."""
        step = max(1, FAMILIES_PER_BATCH // self._problem.n_variables)
        parts = [new[first : first + step] for first in range(0, len(new), step)]
        return sum(map(self._add_part, parts))

    def iter_rows(self) -> Iterator[tuple[int, Row]]:
        """Yield each variable that has rows with the first of them."""
        for variable, rows in enumerate(self._rows):
            for row in rows.values():
                yield variable, row
                break

    def _add_part(self, new: Sequence[tuple[int, BitSet]]) -> int:
        """Score all changes of some parent sets as one batch."""
        parts, toggled = [], []
        for child, parents in new:
            members = np.array(list(iter_bits(parents)), dtype=np.int64)
            others = self._find_changes(child, members)
            toggled.append(others)
            family = np.concatenate([[child], members]).astype(np.int32)
            parts.append((family, np.array([len(family)])))
            parts.append(toggle_families(child, members, others))
        batch = FamilyBatch.from_parts(parts)
        scores = self._problem.scorer.local_scores(batch)
        at = 0
        for (child, parents), others in zip(new, toggled, strict=True):
            row = np.full(self._problem.n_variables, NEVER)
            row[others] = scores[at + 1 : at + 1 + len(others)] - scores[at]
            self._rows[child][parents] = row
            at += 1 + len(others)
        return len(batch)

    def _find_changes(self, child: int, parents: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the variables that may be added to these parents or removed from them."""
        rules = self._problem.rules
        may_change = self._may_join[:, child] & (len(parents) < rules.max_parents)
        if rules.arities is not None:
            n_cells = self._arities[child] * self._arities[parents].prod()
            may_change &= n_cells * self._arities <= rules.max_table
        may_change[parents] = self._may_part[parents, child]
        return np.flatnonzero(may_change)


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
