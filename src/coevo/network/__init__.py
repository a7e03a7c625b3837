"""Bayesian networks: a DAG with tables. Fitting, sampling, inference, prediction."""

from coevo.network.bayesian_network import CPT, BayesianNetwork, Evidence
from coevo.network.distribution import Approximation, Distribution
from coevo.network.explanation import FindingEffect, NextObservation, Outcome, TargetExplanation
from coevo.network.fit import fit_network
from coevo.network.inference import EvidenceProbability, Explanation
from coevo.network.junction_tree import Beliefs, JunctionTree
from coevo.network.metrics import CalibrationBin, PredictionMetrics, StateMetrics
from coevo.network.rows import Prediction, RowLikelihood, read_rows
from coevo.network.sample import sample

__all__ = [
    "CPT",
    "Approximation",
    "BayesianNetwork",
    "Beliefs",
    "CalibrationBin",
    "Distribution",
    "Evidence",
    "EvidenceProbability",
    "Explanation",
    "FindingEffect",
    "JunctionTree",
    "NextObservation",
    "Outcome",
    "Prediction",
    "PredictionMetrics",
    "RowLikelihood",
    "StateMetrics",
    "TargetExplanation",
    "fit_network",
    "read_rows",
    "sample",
]
