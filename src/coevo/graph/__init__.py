"""Graphs over named variables: DAGs, CPDAGs, constraints, distances. No scores, no files."""

from coevo.graph.compare import Comparison, compare
from coevo.graph.constraints import ArcRules, Constraints
from coevo.graph.cpdag import CPDAG, Edge
from coevo.graph.dag import DAG, Arc, VStructure

__all__ = [
    "CPDAG",
    "DAG",
    "Arc",
    "ArcRules",
    "Comparison",
    "Constraints",
    "Edge",
    "VStructure",
    "compare",
]
