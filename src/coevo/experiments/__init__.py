"""Experiments: the 2011 paper repeated, the systems that it reviews, the comparison with peers."""

from typing import TYPE_CHECKING

from coevo.lazy_names import import_lazily

if TYPE_CHECKING:
    from coevo.experiments.bench import Bench, BenchResult, BenchTable, run_bench
    from coevo.experiments.paper import Paper, PaperResult, run_paper
    from coevo.experiments.related_methods import Reviewed, ReviewedResult, run_reviewed
else:
    __getattr__, __dir__ = import_lazily(
        __name__,
        bench="Bench BenchResult BenchTable run_bench",
        paper="Paper PaperResult run_paper",
        related_methods="Reviewed ReviewedResult run_reviewed",
    )

__all__ = [
    "Bench",
    "BenchResult",
    "BenchTable",
    "Paper",
    "PaperResult",
    "Reviewed",
    "ReviewedResult",
    "run_bench",
    "run_paper",
    "run_reviewed",
]
