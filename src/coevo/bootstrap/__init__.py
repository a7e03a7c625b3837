"""Bootstrap confidence: networks learned from resampled rows, and the strength of each arc."""

from coevo.bootstrap.api import bootstrap_strength
from coevo.bootstrap.consensus import ArcStrength, find_threshold
from coevo.bootstrap.journal import open_journal
from coevo.bootstrap.quick import count_quick_samples, run_quick_bootstrap
from coevo.bootstrap.result import BootstrapResult
from coevo.bootstrap.run import run_bootstraps
from coevo.bootstrap.samples import BootstrapRun, record_original
from coevo.bootstrap.write_files import write_strength

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
