"""How sure: the networks of resampled rows, and in how many of them each arc is."""

from coevo.bootstrap.consensus import ArcStrength, significance_threshold
from coevo.bootstrap.files import write_strength
from coevo.bootstrap.result import StrengthResult
from coevo.bootstrap.runs import BootstrapRun, Plan, whole_run
from coevo.bootstrap.strengths import strength
from coevo.bootstrap.work import Work

__all__ = [
    "ArcStrength",
    "BootstrapRun",
    "Plan",
    "StrengthResult",
    "Work",
    "significance_threshold",
    "strength",
    "whole_run",
    "write_strength",
]
