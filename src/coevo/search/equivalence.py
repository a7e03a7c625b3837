"""Equivalence classes over numbered variables, as bit sets, for a search over classes.

`coevo.graph.CPDAG` describes a class by names. A search makes thousands of classes, so here a
class is two lists of Python integers: for each variable its compelled parents, and its
*neighbours*, to which an edge without a direction leads. Bit v of an integer stands for variable
v.

The edges without a direction form the *chain components* of the class. Three facts about them
make the operations short [1]_:

- Each component is chordal, so it can be directed by removing one sink after another. A variable
  can be a sink if its remaining neighbours are all adjacent. Removing a possible sink never
  excludes a solution, so the greedy removal finds a member of the class whenever there is one,
  also if some directions are excluded (Dor and Tarsi [2]_).
- All variables of a component have the same compelled parents.
- Equivalent DAGs have equally many variables with k parents, and the same largest table. So a
  limit on parents or on tables holds for all members or for none.

.. [1] S. A. Andersson, D. Madigan, M. D. Perlman (1997). A characterization of Markov equivalence
   classes for acyclic digraphs. Annals of Statistics 25, 505-541.
.. [2] D. Dor, M. Tarsi (1992). A simple algorithm to construct a consistent extension of a
   partially oriented graph. Technical report R-185, UCLA.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["BitSet", "EquivalenceClass", "iter_bits", "make_adjacency", "make_parent_sets"]

BitSet = int  # bit v is set if variable v is a member


def iter_bits(bits: BitSet) -> Iterator[int]:
    """Yield the members of a bit set, ascending."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def make_parent_sets(adjacency: NDArray[np.bool_]) -> list[BitSet]:
    """Return the parents of each variable; ``adjacency[parent, child]``."""
    columns = np.packbits(adjacency.T, axis=1, bitorder="little")
    return [int.from_bytes(column.tobytes(), "little") for column in columns]


def make_adjacency(parents: Sequence[BitSet]) -> NDArray[np.bool_]:
    """Return the adjacency matrix, ``[parent, child]``, of the parents of each variable."""
    n = len(parents)
    width = (n + 7) // 8
    packed = np.frombuffer(b"".join(p.to_bytes(width, "little") for p in parents), dtype=np.uint8)
    bits = np.unpackbits(packed.reshape(n, width), axis=1, count=n, bitorder="little")
    return np.ascontiguousarray(bits.T).astype(np.bool_)


class EquivalenceClass:
    """A class of equivalent DAGs.

    Attributes
    ----------
    parents, children, neighbours, adjacent : list of bit sets
        For each variable: its compelled parents and children, the variables that an edge without
        a direction joins to it, and all of these together.

    Examples
    --------
    >>> chain = EquivalenceClass([0b000, 0b001, 0b010])  # 0 -> 1 -> 2
    >>> chain.parents, chain.neighbours
    ([0, 0, 0], [2, 5, 2])
    >>> EquivalenceClass([0b000, 0b101, 0b000]).parents  # 0 -> 1 <- 2
    [0, 5, 0]
    """

    __slots__ = ("adjacent", "children", "neighbours", "parents")

    def __init__(self, dag: Sequence[BitSet]) -> None:
        """Make the class of a DAG, given as the parents of each variable."""
        self.parents = _find_compelled_parents(dag)
        n = len(dag)
        self.children, self.neighbours = [0] * n, [0] * n
        for child, compelled in enumerate(self.parents):
            bit = 1 << child
            reversible = dag[child] & ~compelled
            self.neighbours[child] |= reversible
            for parent in iter_bits(reversible):
                self.neighbours[parent] |= bit
            for parent in iter_bits(compelled):
                self.children[parent] |= bit
        self.adjacent = [
            sum(parts) for parts in zip(self.parents, self.children, self.neighbours, strict=True)
        ]

    def find_member(self, barred: Sequence[BitSet]) -> list[BitSet] | None:
        """Return the parents of each variable in a DAG of this class; None if there is none.

        ``barred[v]`` are variables that may not be parents of v. It is read for the edges
        without a direction only. Among several members the same one is always returned.
        """
        parents, left = self.parents.copy(), self.neighbours.copy()
        waiting = [v for v, neighbours in enumerate(left) if neighbours]
        n_edges = sum(neighbours.bit_count() for neighbours in left)
        while waiting:
            sink = waiting.pop()
            rest = left[sink]
            if not rest or rest & barred[sink] or not self.is_clique(rest):
                continue
            parents[sink] |= rest
            left[sink] = 0
            n_edges -= 2 * rest.bit_count()
            for neighbour in iter_bits(rest):
                left[neighbour] &= ~(1 << sink)
                waiting.append(neighbour)
        return None if n_edges else parents

    def is_clique(self, variables: BitSet) -> bool:
        """Return whether edges without a direction join all of these variables to each other."""
        for variable in iter_bits(variables):
            if variables & ~self.neighbours[variable] & ~(1 << variable):
                return False
        return True

    def iter_cliques(self, variable: int) -> Iterator[BitSet]:
        """Yield all sets of neighbours of a variable that are joined to each other."""
        found = [(0, self.neighbours[variable])]
        while found:
            clique, others = found.pop()
            yield clique
            for other in iter_bits(others):
                others ^= 1 << other
                found.append((clique | 1 << other, others & self.neighbours[other]))

    def has_path(self, begin: BitSet, end: int, blocked: BitSet) -> bool:
        """Return whether some path leads from a variable of `begin` to `end`.

        A path follows compelled arcs forwards, and edges without a direction both ways. It does
        not pass through `blocked`.
        """
        seen, new = blocked | begin, begin & ~blocked
        goal = 1 << end
        while new:
            if new & goal:
                return True
            reached = 0
            for variable in iter_bits(new):
                reached |= self.children[variable] | self.neighbours[variable]
            new = reached & ~seen
            seen |= new
        return False


def _find_compelled_parents(dag: Sequence[BitSet]) -> list[BitSet]:
    """Return the parents of each variable that are in every equivalent DAG.

    The rule is that of `coevo.graph.cpdag`: let x be the last parent of y in a topological order.
    All parents of y are compelled if another parent of y is not adjacent to x, or if a compelled
    parent of x is not a parent of y. Otherwise those of x are.
    """
    children: list[list[int]] = [[] for _ in dag]
    last = [-1] * len(dag)  # in topological order, the last parent that was placed
    waiting = [parents.bit_count() for parents in dag]
    for child, parents in enumerate(dag):
        for parent in iter_bits(parents):
            children[parent].append(child)
    compelled = [0] * len(dag)
    placed = [variable for variable, n in enumerate(waiting) if not n]
    for variable in placed:  # grows while it is read
        parents, before = dag[variable], last[variable]
        if before >= 0:
            others = parents & ~(1 << before)
            is_all = others & ~dag[before] or compelled[before] & ~parents
            compelled[variable] = parents if is_all else compelled[before]
        for child in children[variable]:
            last[child] = variable
            waiting[child] -= 1
            if not waiting[child]:
                placed.append(child)
    return compelled
