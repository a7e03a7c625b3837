"""What other structures say: the posterior over structures, and the bootstrap.

A search returns one network. The posterior weighs all of them: the weight of a DAG is the
exponential of its score, times its prior. This room computes it exactly where that is feasible,
and samples from it elsewhere. The bootstrap learns networks from resampled rows instead, and
measures the strength of each arc over them.

The name is a plural because `coevo.posterior` is a function.
"""

from typing import TYPE_CHECKING

from coevo.lazy_names import import_lazily

if TYPE_CHECKING:
    from coevo.posteriors.bootstrap import (
        BootstrapResult,
        BootstrapRun,
        bootstrap_strength,
        open_journal,
        record_original,
        run_bootstraps,
    )
    from coevo.posteriors.consensus import ArcStrength, EdgeProbability, find_threshold
    from coevo.posteriors.edge_files import write_posterior, write_strength
    from coevo.posteriors.quick_bootstrap import count_quick_samples, run_quick_bootstrap
    from coevo.posteriors.result import Posterior
    from coevo.posteriors.run import compute_posterior
    from coevo.posteriors.sample import DagSample
    from coevo.posteriors.settings import PosteriorSettings
else:
    __getattr__, __dir__ = import_lazily(
        __name__,
        bootstrap=(
            "BootstrapResult BootstrapRun bootstrap_strength open_journal record_original "
            "run_bootstraps"
        ),
        consensus="ArcStrength EdgeProbability find_threshold",
        edge_files="write_posterior write_strength",
        quick_bootstrap="count_quick_samples run_quick_bootstrap",
        result="Posterior",
        run="compute_posterior",
        sample="DagSample",
        settings="PosteriorSettings",
    )

__all__ = [
    "ArcStrength",
    "BootstrapResult",
    "BootstrapRun",
    "DagSample",
    "EdgeProbability",
    "Posterior",
    "PosteriorSettings",
    "bootstrap_strength",
    "compute_posterior",
    "count_quick_samples",
    "find_threshold",
    "open_journal",
    "record_original",
    "run_bootstraps",
    "run_quick_bootstrap",
    "write_posterior",
    "write_strength",
]
