"""Bayesian networks: a DAG with tables. Fitting, sampling, inference, prediction."""

from typing import TYPE_CHECKING

from coevo.lazy_names import import_lazily

if TYPE_CHECKING:
    from coevo.network.bayesian_network import CPT, BayesianNetwork, Evidence
    from coevo.network.distribution import Approximation, Distribution
    from coevo.network.editing import kl_divergence, random_network
    from coevo.network.explanation import FindingEffect, NextObservation, Outcome, TargetExplanation
    from coevo.network.fit import fit_network
    from coevo.network.inference import EvidenceProbability, Explanation
    from coevo.network.junction_tree import Beliefs, JunctionTree
    from coevo.network.metrics import CalibrationBin, PredictionMetrics, StateMetrics
    from coevo.network.node_distribution import NodeDistribution, TableDistribution
    from coevo.network.rows import Prediction, RowLikelihood, read_rows
    from coevo.network.sampling import sample
else:
    __getattr__, __dir__ = import_lazily(
        __name__,
        bayesian_network="CPT BayesianNetwork Evidence",
        distribution="Approximation Distribution",
        editing="kl_divergence random_network",
        explanation="FindingEffect NextObservation Outcome TargetExplanation",
        fit="fit_network",
        inference="EvidenceProbability Explanation",
        junction_tree="Beliefs JunctionTree",
        metrics="CalibrationBin PredictionMetrics StateMetrics",
        node_distribution="NodeDistribution TableDistribution",
        rows="Prediction RowLikelihood read_rows",
        sampling="sample",
    )

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
    "NodeDistribution",
    "Outcome",
    "Prediction",
    "PredictionMetrics",
    "RowLikelihood",
    "StateMetrics",
    "TableDistribution",
    "TargetExplanation",
    "fit_network",
    "kl_divergence",
    "random_network",
    "read_rows",
    "sample",
]
