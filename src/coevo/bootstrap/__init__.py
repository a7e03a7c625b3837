"""How sure: the networks of resampled rows, and in how many of them each arc is."""

from coevo.bootstrap.consensus import ArcStrength, significance_threshold
from coevo.bootstrap.files import write_strength
from coevo.bootstrap.runs import BootstrapRun
from coevo.bootstrap.strengths import StrengthResult, strength

__all__ = [
    "ArcStrength",
    "BootstrapRun",
    "StrengthResult",
    "significance_threshold",
    "strength",
    "write_strength",
]
