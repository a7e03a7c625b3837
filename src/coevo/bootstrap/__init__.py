"""Bootstrap confidence: networks learned from resampled rows, and the strength of each arc."""

from typing import TYPE_CHECKING

from coevo.lazy_names import import_lazily

if TYPE_CHECKING:
    from coevo.bootstrap.api import bootstrap_strength
    from coevo.bootstrap.consensus import ArcStrength, find_threshold
    from coevo.bootstrap.journal import open_journal
    from coevo.bootstrap.quick import count_quick_samples, run_quick_bootstrap
    from coevo.bootstrap.result import BootstrapResult
    from coevo.bootstrap.run import run_bootstraps
    from coevo.bootstrap.samples import BootstrapRun, record_original
    from coevo.bootstrap.write_files import write_strength
else:
    __getattr__, __dir__ = import_lazily(
        __name__,
        api="bootstrap_strength",
        consensus="ArcStrength find_threshold",
        journal="open_journal",
        quick="count_quick_samples run_quick_bootstrap",
        result="BootstrapResult",
        run="run_bootstraps",
        samples="BootstrapRun record_original",
        write_files="write_strength",
    )

__all__ = [
    "ArcStrength",
    "BootstrapResult",
    "BootstrapRun",
    "bootstrap_strength",
    "count_quick_samples",
    "find_threshold",
    "open_journal",
    "record_original",
    "run_bootstraps",
    "run_quick_bootstrap",
    "write_strength",
]
