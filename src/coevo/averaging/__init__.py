"""The posterior over structures: how probable each arc, path and answer is, given the rows.

A search returns one network. The posterior weighs all of them: the weight of a DAG is the
exponential of its score, times its prior. This room computes it exactly where that is feasible,
and samples from it elsewhere.
"""

from typing import TYPE_CHECKING

from coevo.lazy_names import import_lazily

if TYPE_CHECKING:
    from coevo.averaging.edges import EdgeProbability
    from coevo.averaging.result import Posterior
    from coevo.averaging.run import compute_posterior
    from coevo.averaging.sample import DagSample
    from coevo.averaging.settings import PosteriorSettings
    from coevo.averaging.write_files import write_posterior
else:
    __getattr__, __dir__ = import_lazily(
        __name__,
        edges="EdgeProbability",
        result="Posterior",
        run="compute_posterior",
        sample="DagSample",
        settings="PosteriorSettings",
        write_files="write_posterior",
    )

__all__ = [
    "DagSample",
    "EdgeProbability",
    "Posterior",
    "PosteriorSettings",
    "compute_posterior",
    "write_posterior",
]
