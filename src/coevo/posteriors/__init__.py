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
    from coevo.posteriors.bootstrap.api import bootstrap_strength
    from coevo.posteriors.bootstrap.consensus import ArcStrength, find_threshold
    from coevo.posteriors.bootstrap.journal import open_journal
    from coevo.posteriors.bootstrap.quick import count_quick_samples, run_quick_bootstrap
    from coevo.posteriors.bootstrap.result import BootstrapResult
    from coevo.posteriors.bootstrap.run import run_bootstraps
    from coevo.posteriors.bootstrap.samples import BootstrapRun, record_original
    from coevo.posteriors.bootstrap.write_files import write_strength
    from coevo.posteriors.edges import EdgeProbability
    from coevo.posteriors.result import Posterior
    from coevo.posteriors.run import compute_posterior
    from coevo.posteriors.sample import DagSample
    from coevo.posteriors.settings import PosteriorSettings
    from coevo.posteriors.write_files import write_posterior
else:
    __getattr__, __dir__ = import_lazily(
        __name__,
        **{
            "bootstrap.api": "bootstrap_strength",
            "bootstrap.consensus": "ArcStrength find_threshold",
            "bootstrap.journal": "open_journal",
            "bootstrap.quick": "count_quick_samples run_quick_bootstrap",
            "bootstrap.result": "BootstrapResult",
            "bootstrap.run": "run_bootstraps",
            "bootstrap.samples": "BootstrapRun record_original",
            "bootstrap.write_files": "write_strength",
        },
        edges="EdgeProbability",
        result="Posterior",
        run="compute_posterior",
        sample="DagSample",
        settings="PosteriorSettings",
        write_files="write_posterior",
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
