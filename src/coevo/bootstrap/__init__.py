"""How sure: the networks of resampled rows, and in how many of them each arc is."""

from coevo.bootstrap.api import strength
from coevo.bootstrap.consensus import ArcStrength, significance_threshold
from coevo.bootstrap.result import BootstrapResult
from coevo.bootstrap.runs import BootstrapRun, Plan, whole_run
from coevo.bootstrap.work import Work
from coevo.bootstrap.write_files import write_strength

__all__ = [
    "ArcStrength",
    "BootstrapResult",
    "BootstrapRun",
    "Plan",
    "Work",
    "significance_threshold",
    "strength",
    "whole_run",
    "write_strength",
]
