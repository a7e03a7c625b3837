"""Graphs over named variables: DAGs, CPDAGs, constraints, distances. No scores, no files."""

from typing import TYPE_CHECKING

from coevo.lazy_names import import_lazily

if TYPE_CHECKING:
    from coevo.graph.arc_directions import DirectedBy, find_directions
    from coevo.graph.comparison import Comparison, compare
    from coevo.graph.constraints import ArcRules, Constraints, read_constraints
    from coevo.graph.cpdag import CPDAG, Edge
    from coevo.graph.dag import DAG, Arc, VStructure
else:
    __getattr__, __dir__ = import_lazily(
        __name__,
        arc_directions="DirectedBy find_directions",
        comparison="Comparison compare",
        constraints="ArcRules Constraints read_constraints",
        cpdag="CPDAG Edge",
        dag="DAG Arc VStructure",
    )

__all__ = [
    "CPDAG",
    "DAG",
    "Arc",
    "ArcRules",
    "Comparison",
    "Constraints",
    "DirectedBy",
    "Edge",
    "VStructure",
    "compare",
    "find_directions",
    "read_constraints",
]
