"""Experiments: the tables and figures of the 2011 paper, and the comparison with peers."""

from coevo.experiments.bench import Bench, BenchResult, BenchTable, run_bench
from coevo.experiments.paper import Paper, PaperResult, run_paper

__all__ = [
    "Bench",
    "BenchResult",
    "BenchTable",
    "Paper",
    "PaperResult",
    "run_bench",
    "run_paper",
]
