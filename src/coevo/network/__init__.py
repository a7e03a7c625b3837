"""Bayesian networks: a DAG with tables; fitting them, sampling from them, asking them."""

from coevo.network.bayesian_network import CPT, BayesianNetwork, Evidence
from coevo.network.distribution import Distribution
from coevo.network.fit import fit
from coevo.network.inference import Explanation
from coevo.network.rows import Agreement, Prediction, RowLikelihood, rows_for
from coevo.network.sample import sample

__all__ = [
    "CPT",
    "Agreement",
    "BayesianNetwork",
    "Distribution",
    "Evidence",
    "Explanation",
    "Prediction",
    "RowLikelihood",
    "fit",
    "rows_for",
    "sample",
]
