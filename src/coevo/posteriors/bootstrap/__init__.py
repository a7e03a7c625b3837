"""Bootstrap confidence: networks learned from resampled rows, and the strength of each arc."""

from coevo.posteriors import bootstrap_strength

__all__ = ["bootstrap_strength"]
