"""Experiments: the tables and figures of the 2011 paper."""

from coevo.experiments.paper import Paper, PaperResult, run_paper

__all__ = ["Paper", "PaperResult", "run_paper"]
