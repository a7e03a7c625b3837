"""Graphs over named variables: no scores, no files."""

from coevo.graph.constraints import ArcRules, Constraints
from coevo.graph.dag import DAG, Arc

__all__ = ["DAG", "Arc", "ArcRules", "Constraints"]
