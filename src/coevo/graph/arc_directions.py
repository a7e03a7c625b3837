"""What directs each arc of a learned structure: the data, prior knowledge, or nothing.

Data direct an arc if all members of the equivalence class have it (`coevo.graph.cpdag`). Prior
knowledge directs more: a required arc, and an arc whose reverse is forbidden by a forbidden arc, by
tiers, by a root or by a leaf. Meek's rules [1]_ add the directions that follow from both without a
new v-structure or a cycle. What is left is an edge: some member of the class that satisfies the
constraints has the arc, and another has its reverse.

An arc whose reverse the constraints exclude counts as directed by knowledge even if the class
compels it: the search never compared the two directions.

.. [1] C. Meek, Causal inference and causal explanation with background knowledge, UAI 1995.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from coevo.graph.constraints import Constraints
from coevo.graph.cpdag import CPDAG
from coevo.graph.dag import DAG, Arc
from coevo.graph.pdag import close_under_meek

__all__ = ["DirectedBy", "find_directions"]

DirectedBy = Literal["data", "knowledge"]


def find_directions(
    dag: DAG, constraints: Constraints | None = None
) -> dict[Arc, DirectedBy | None]:
    """Return what directs each arc of a DAG; None if its direction is unknown.

    Parameters
    ----------
    dag : DAG
        A structure that satisfies the constraints.
    constraints : Constraints, optional
        The prior knowledge of the search (default: none).

    Examples
    --------
    >>> chain = DAG("abc", [("a", "b"), ("b", "c")])
    >>> find_directions(chain)
    {('a', 'b'): None, ('b', 'c'): None}
    >>> find_directions(chain, Constraints(roots=["a"]))  # b -> c follows: no new v-structure
    {('a', 'b'): 'knowledge', ('b', 'c'): 'knowledge'}
    >>> find_directions(DAG("abc", [("a", "b"), ("c", "b")]))
    {('a', 'b'): 'data', ('c', 'b'): 'data'}
    """
    compelled = set(CPDAG(dag).arcs)
    found: dict[Arc, DirectedBy | None] = {
        arc: "data" if arc in compelled else None for arc in dag.arcs
    }
    rules = (constraints or Constraints()).to_rules(dag.nodes)
    if not rules.has_arc_constraints:
        return found
    number = {name: i for i, name in enumerate(dag.nodes)}
    directions = np.zeros_like(rules.allowed)
    for (parent, child), by in found.items():
        here, there = number[parent], number[child]
        if rules.required[here, there] or not rules.allowed[there, here]:
            found[parent, child] = by = "knowledge"
        directions[here, there] = True
        directions[there, here] = by is None
    closed = close_under_meek(directions)
    for (parent, child), by in found.items():
        if by is None and not closed[number[child], number[parent]]:
            found[parent, child] = "knowledge"
    return found
