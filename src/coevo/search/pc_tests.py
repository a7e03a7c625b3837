"""Which tests PC runs, in which order, and what it keeps of the answers.

Both phases test pairs of variables given sets of their neighbours. `LevelTests` has the edges of a
level and the sets of one size. `ColliderTests` has the pairs with a common neighbour and the sets
of all sizes. A step takes a part of either list, so that it has a limited number of tests.
A variable with 25 neighbours has five million sets of 12. So the first size above two of which one
end of a pair has more sets than a limit is left out, with all larger sizes.
`EdgeTests` removes edges, and `TripleVotes` counts which sets separate a pair.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.graph import ArcRules
from coevo.graph.pdag import Directions, close_under_meek, extend_to_dag, is_acyclic
from coevo.runtime.deadline import check_deadline

__all__ = [
    "ColliderTests",
    "EdgeTests",
    "LevelTests",
    "Part",
    "Separators",
    "Triple",
    "TripleVotes",
    "find_triples",
    "make_chunks",
    "orient",
]

Given = tuple[int, ...]
Pair = tuple[int, int]  # the lower number first
Part = tuple[Pair, int, int]  # the sets of a pair, from one number to another
Triple = tuple[int, int, Given]  # a test
Separators = Mapping[Pair, Given]
Edges = NDArray[np.bool_]  # (n, n), symmetric
ALWAYS_TESTED = 2  # sets of up to two variables have no limit
WITHOUT, WITH = 0, 1  # columns of the votes


class _ArrayOfPairs(Sequence[Pair]):
    """Pairs that stay in an array: thousands of variables have millions of them."""

    def __init__(self, array: NDArray[np.int64]) -> None:
        self._array = array

    def __len__(self) -> int:
        return len(self._array)

    def __getitem__(self, place: Any) -> Any:
        x, y = self._array[place].tolist()
        return x, y


class _PairTests:
    """Pairs, and the sets of neighbours that each is tested with."""

    def __init__(
        self, pairs: Sequence[Pair], edges: Edges, sizes: range, max_sets: int | None
    ) -> None:
        self.pairs, self._sizes, self._max_sets = pairs, sizes, max_sets
        self._edges, self._n_near = edges, edges.sum(axis=1).tolist()
        self._near: dict[int, list[int]] = {}  # those that were asked for

    def _get_near(self, x: int) -> list[int]:
        """Return the neighbours of a variable."""
        if x not in self._near:
            self._near[x] = np.flatnonzero(self._edges[x]).tolist()
        return self._near[x]

    def count_sets(self, pair: Pair) -> int:
        """Return the number of sets of a pair. A set of neighbours of both counts once."""
        n_x, n_y = self._count_neighbours(pair)
        n_both = int((self._edges[pair[0]] & self._edges[pair[1]]).sum())
        return sum(
            math.comb(n_x, size) + math.comb(n_y, size) - math.comb(n_both, size)
            for size in self._list_sizes(n_x, n_y)
        )

    def _count_neighbours(self, pair: Pair) -> tuple[int, int]:
        """Return how many neighbours each variable of a pair has beside the other."""
        is_edge = int(self._edges[pair])
        return self._n_near[pair[0]] - is_edge, self._n_near[pair[1]] - is_edge

    def _list_sizes(self, n_x: int, n_y: int) -> Iterator[int]:
        """Yield the sizes of the sets that a pair with so many neighbours is tested with."""
        n = max(n_x, n_y)
        for size in self._sizes:
            # The number of sets grows up to half of the neighbours, and falls again.
            most = math.comb(n, min(size, n // 2))
            if self._max_sets is not None and size > ALWAYS_TESTED and most > self._max_sets:
                return
            yield size

    def iterate_sets(self, pair: Pair) -> Iterator[Given]:
        """Yield the sets of a pair: neighbours of the first variable, then of the second."""
        x, y = pair
        near_x, near_y, known = list[int](), list[int](), set[int]()
        for size in self._list_sizes(*self._count_neighbours(pair)):
            if size == 0:  # without the lists: at level 0 many pairs wait at the same time
                yield ()
                continue
            if not near_x and not near_y:
                near_x = [z for z in self._get_near(x) if z != y]
                near_y = [z for z in self._get_near(y) if z != x]
                known = set(near_x)
            yield from itertools.combinations(near_x, size)
            for given in itertools.combinations(near_y, size):
                if not known.issuperset(given):
                    yield given

    def take_parts(self, next_pair: int, next_set: int, most: int) -> tuple[list[Part], int, int]:
        """Return pairs with their sets from one number to another, and where the next step begins.

        All parts together have at most `most` sets.
        """
        at, begin = next_pair, next_set
        parts: list[Part] = []
        while at < len(self.pairs) and most > 0:
            check_deadline()
            n_sets = self.count_sets(self.pairs[at])
            end = min(n_sets, begin + most)
            if end < n_sets and parts:
                break
            parts.append((self.pairs[at], begin, end))
            most -= end - begin
            at, begin = (at + 1, 0) if end == n_sets else (at, end)
            if begin:
                break
        return parts, at, begin


class LevelTests(_PairTests):
    """The edges of a level, each with the sets of one size."""

    def __init__(
        self, frozen: Edges, required: NDArray[np.bool_], size: int, max_sets: int | None
    ) -> None:
        testable = np.triu(frozen & ~(required | required.T))
        pairs = _ArrayOfPairs(np.argwhere(testable))
        super().__init__(pairs, frozen, range(size, size + 1), max_sets)

    def has_tests(self) -> bool:
        """Return whether some edge has a set."""
        return any(self.count_sets(pair) for pair in self.pairs)


class ColliderTests(_PairTests):
    """The pairs of the triples, each with the sets of all sizes up to `most`.

    The separator of a pair is not among them: it has its vote already.
    """

    def __init__(
        self,
        edges: Edges,
        triples: NDArray[np.int64],
        separators: Separators,
        most: int,
        max_sets: int | None,
    ) -> None:
        pairs = sorted({(a, b) for a, _, b in triples.tolist()})
        super().__init__(pairs, edges, range(most + 1), max_sets)
        self._separators = separators

    def list_tests(self, parts: list[Part]) -> list[Triple]:
        """Return the tests of some parts."""
        return [
            (*pair, given)
            for pair, begin, end in parts
            for given in itertools.islice(self.iterate_sets(pair), begin, end)
            if given != self._separators[pair]
        ]


def make_chunks(level: LevelTests, parts: list[Part], edges: Edges) -> Iterator[list[Triple]]:
    """Yield the next sets of all edges that are left: one of each, then two, four, ...

    Large batches are fast, and sets behind the first that separates are wasted. The caller removes
    `edges` between two chunks.
    """
    waiting = [
        (pair, itertools.islice(level.iterate_sets(pair), begin, end)) for pair, begin, end in parts
    ]
    size = 1
    while waiting:
        chunk = []
        for pair, sets in waiting:
            if edges[pair]:
                check_deadline()
                chunk.append((pair, list(itertools.islice(sets, size))))
        chunk = [(pair, sets) for pair, sets in chunk if sets]
        if chunk:
            yield [(*pair, given) for pair, sets in chunk for given in sets]
        kept = {pair for pair, sets in chunk if len(sets) == size}
        waiting = [(pair, sets) for pair, sets in waiting if pair in kept]
        size *= 2


class EdgeTests:
    """The edges and the separators, while tests change them. The given arrays are copied."""

    def __init__(self, edges: Edges, p_values: NDArray[np.float64], alpha: float) -> None:
        self._alpha = alpha
        self.edges, self.p_values = edges.copy(), p_values.copy()
        self.separators: dict[Pair, Given] = {}

    def note(self, triples: list[Triple], p_values: NDArray[np.float64]) -> None:
        """Remove the edges of which a test is above alpha; its first set is the separator."""
        for (x, y, given), p in zip(triples, p_values.tolist(), strict=True):
            if not self.edges[x, y]:
                continue
            self.p_values[x, y] = self.p_values[y, x] = max(self.p_values[x, y], p)
            if p > self._alpha:
                self.edges[x, y] = self.edges[y, x] = False
                self.separators[x, y] = given


@dataclass(frozen=True, eq=False)
class TripleVotes:
    """What the sets that separate a and b say about each triple a - c - b."""

    triples: NDArray[np.int64]  # (k, 3), a, c and b
    votes: NDArray[np.int64]  # (k, 2), how many sets without c, and with c, separate a and b
    p_values: NDArray[np.float64]  # (k, 2), the largest p of all sets without c, and with c

    @classmethod
    def from_separators(
        cls,
        triples: list[tuple[int, int, int]],
        separators: Separators,
        p_values: NDArray[np.float64],
    ) -> TripleVotes:
        """Return the votes of the separators alone; `p_values` has those of their tests."""
        votes, largest = np.zeros((len(triples), 2), np.int64), np.zeros((len(triples), 2))
        for i, (a, c, b) in enumerate(triples):
            column = WITH if c in separators[a, b] else WITHOUT
            votes[i, column], largest[i, column] = 1, p_values[a, b]
        return cls(np.array(triples, dtype=np.int64).reshape(-1, 3), votes, largest)

    def count(
        self, tests: list[Triple], p_values: NDArray[np.float64], alpha: float
    ) -> TripleVotes:
        """Return the votes with those of more tests."""
        votes, largest = self.votes.copy(), self.p_values.copy()
        of_pair: dict[Pair, list[tuple[int, int]]] = {}
        for i, (a, c, b) in enumerate(self.triples.tolist()):
            of_pair.setdefault((a, b), []).append((i, c))
        for (a, b, given), p in zip(tests, p_values.tolist(), strict=True):
            for i, c in of_pair[a, b]:
                column = WITH if c in given else WITHOUT
                votes[i, column] += p > alpha
                largest[i, column] = max(largest[i, column], p)
        return TripleVotes(self.triples, votes, largest)

    def list_colliders(self) -> list[tuple[int, int, int]]:
        """Return the triples whose majority of sets is without c, the surest first.

        On a tie, the side with the larger p-value decides. The difference of the p-values is
        also the confidence in a collider.
        """
        ahead = self.p_values[:, WITHOUT] - self.p_values[:, WITH]
        lead = self.votes[:, WITHOUT] - self.votes[:, WITH]
        chosen = np.flatnonzero((lead > 0) | (lead == 0) & (ahead > 0)).tolist()
        chosen.sort(key=lambda i: (-ahead[i], *self.triples[i].tolist()))
        return [tuple(self.triples[i].tolist()) for i in chosen]


# The second half of PC: direct the edges that the tests have left, and find a DAG.
#
# Arcs that the constraints demand come first: required ones, and edges of which one direction is
# forbidden. Then come the colliders a -> c <- b, the surest first. In finite data colliders
# contradict each other: one that would turn an arc or close a cycle is left out. Meek's rules
# direct what follows.
#
# The answer of finite data may have no consistent extension: an extension is a DAG with these arcs
# and edges and no other collider. Then the DAG has as few other colliders as the order of
# elimination lets see.
#
# The limits on parents and tables are no part of PC. A variable with too many parents keeps the
# arcs with the smallest p-values.


PValues = NDArray[np.float64]  # (n, n), symmetric: the largest p of all tests of a pair
Collider = tuple[int, int, int]  # (a, c, b): a -> c <- b


def find_triples(edges: Directions, separators: Separators) -> list[Collider]:
    """Return all a - c - b of which a test has separated a and b."""
    return [
        (a, c, b)
        for c in range(len(edges))
        for a, b in combinations(np.flatnonzero(edges[c]).tolist(), 2)
        if not edges[a, b] and (a, b) in separators
    ]


def orient(
    edges: Directions, colliders: list[Collider], p_values: PValues, rules: ArcRules
) -> tuple[Directions, Directions]:
    """Return the partially directed graph, and a DAG that fulfils the rules.

    The colliders come in falling order of confidence.
    """
    graph = close_under_meek(_direct(_apply_rules(edges, rules), colliders))
    dag = extend_to_dag(graph)
    if dag is None:
        dag = extend_to_dag(graph, is_strict=False)
        assert dag is not None  # it is not strict
    return graph, _fit_to_rules(dag, p_values, rules)


def _apply_rules(edges: Directions, rules: ArcRules) -> Directions:
    """Return the edges, directed where the rules leave one direction."""
    known = edges & rules.allowed
    known &= ~rules.required.T
    return known | rules.required


def _direct(known: Directions, colliders: list[Collider]) -> Directions:
    """Return the graph with the colliders that turn no arc and close no cycle.

    Forbidden directions may leave a cycle from the beginning. The DAG then lacks one of its edges.
    """
    graph, may_check = known, is_acyclic(known & ~known.T)
    for a, c, b in colliders:
        if graph[a, c] and graph[b, c]:
            after = graph.copy()
            after[c, a] = after[c, b] = False
            if not may_check or is_acyclic(after & ~after.T):
                graph = after
    return graph


def _fit_to_rules(dag: Directions, p_values: PValues, rules: ArcRules) -> Directions:
    """Return the arcs that can be added one by one: required ones first, then by p-value."""
    arcs = np.argwhere(dag).tolist()
    arcs.sort(key=lambda arc: (not rules.required[*arc], p_values[*arc], arc))
    fitted, reaches = np.zeros_like(dag), np.eye(len(dag), dtype=np.bool_)
    for parent, child in arcs:
        parents = [*np.flatnonzero(fitted[:, child]).tolist(), parent]
        if reaches[child, parent] or len(parents) > rules.max_parents:
            continue
        if rules.fits(child, parents):
            fitted[parent, child] = True
            reaches |= np.outer(reaches[:, parent], reaches[child])
    return fitted
