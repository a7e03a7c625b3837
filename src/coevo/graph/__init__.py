"""Graphs over named variables: DAGs, CPDAGs, constraints, distances. No scores, no files."""

from coevo.graph.arc_directions import DirectedBy, find_directions
from coevo.graph.compare import Comparison, compare
from coevo.graph.constraints import ArcRules, Constraints, read_constraints
from coevo.graph.cpdag import CPDAG, Edge
from coevo.graph.dag import DAG, Arc, VStructure

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
