"""Bayesian networks from data, by cooperative coevolution."""

__version__ = "0.1.0"
