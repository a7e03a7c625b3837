"""Beliefs of a network that is too large for a junction tree.

`BeliefEstimator` answers the questions of `JunctionTree`, each by itself. Evidence can make a large
network small, so an answer is exact where `marginals` finds a way, and else estimated by likelihood
weighting. The numbers are those of `BayesianNetwork.marginals` and `measure_evidence`.

What a variable would tell about a target comes from one weighted sample, which has the joint
distribution of the target with each variable. A sample of independent variables shows some
information by chance: with the effective sample size n and d degrees of freedom, 2 n times the
information has about the chi-squared distribution with d degrees of freedom [1]_. The mean of this
is subtracted, and variables whose information may be chance are left out.

.. [1] S. S. Wilks, The likelihood test of independence in contingency tables, Annals of
   Mathematical Statistics 6, 1935.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coevo.network.bayesian_network import BayesianNetwork, Evidence
from coevo.network.distribution import Distribution
from coevo.network.elimination import Elimination, find_relevant, make_point
from coevo.network.evidence import encode_evidence, enter_evidence
from coevo.network.inference import compute_marginals, draw_checked_sample, measure_evidence
from coevo.network.junction_tree import Beliefs

__all__ = ["BeliefEstimator", "EstimatedInformation"]

CHANCE = 4.0  # standard deviations of chance above its mean: far fewer than 1 in 1,000 reach it


@dataclass(frozen=True)
class EstimatedInformation:
    """What unobserved variables would tell about a target, in nats.

    Attributes
    ----------
    entropy : float
        The entropy of the target.
    information, standard_errors : dict of str to float
        The mutual information of each variable and its standard error, the largest first.
        Variables whose information may be chance are left out.
    """

    entropy: float
    information: dict[str, float]
    standard_errors: dict[str, float]


class BeliefEstimator:
    """What a network says about each variable, given evidence, without a junction tree.

    Parameters
    ----------
    network : BayesianNetwork
        The network.

    Examples
    --------
    >>> from coevo.bundled import load_network
    >>> estimator = BeliefEstimator(load_network("earthquake"))
    >>> beliefs = estimator.compute_beliefs({"JohnCalls": "True"})
    >>> round(beliefs.marginals["Burglary"]["True"], 4), beliefs.log_probability_error
    (0.1333, 0.0)
    """

    def __init__(self, network: BayesianNetwork) -> None:
        self.network = network

    def compute_beliefs(self, given: Evidence | None = None) -> Beliefs:
        """Return the marginals of all variables and the probability of the evidence."""
        codes, _ = encode_evidence(self.network, given, "compute_beliefs")
        found = compute_marginals(self.network, None, given)
        for variable in self.network.variables:
            if variable.name in codes:
                point = make_point(variable.arity, codes[variable.name])
                found[variable.name] = Distribution((variable,), point)
        ordered = {variable.name: found[variable.name] for variable in self.network.variables}
        measured = measure_evidence(self.network, given)
        return Beliefs(ordered, measured.log_probability, measured.standard_error)

    def measure_information(
        self, target: str, given: Evidence | None = None
    ) -> EstimatedInformation:
        """Estimate what each unobserved variable would tell about a target, given the evidence."""
        network, evidence = enter_evidence(self.network, given, "measure_information")
        if self.network.variable(target).name in evidence:
            return EstimatedInformation(0.0, {}, {})
        known = {*evidence, target}
        names = sorted(v.name for v in self.network.variables if v.name not in known)
        cost = Elimination(network, evidence, find_relevant(network, known)).measure_cost()
        groups = [[target], *([target, name] for name in names)]
        sample = draw_checked_sample(network, evidence, groups, cost)

        entropy = _measure_information(np.diag(sample.probabilities[0]))[0]
        found: dict[str, tuple[float, float]] = {}
        for name, joint in zip(names, sample.probabilities[1:], strict=True):
            nats, variance = _measure_information(joint)
            # States without a sample have no degrees of freedom.
            n_rows, n_columns = (joint.any(axis=axis).sum() for axis in (1, 0))
            n_free = int((n_rows - 1) * (n_columns - 1))
            n = sample.effective_size
            if 2 * n * nats > n_free + CHANCE * math.sqrt(2 * n_free):
                found[name] = nats - n_free / (2 * n), math.sqrt(variance / n)
        ranked = sorted(found, key=lambda name: (-found[name][0], name))
        return EstimatedInformation(
            entropy,
            {name: found[name][0] for name in ranked},
            {name: found[name][1] for name in ranked},
        )


def _measure_information(joint: NDArray[np.float64]) -> tuple[float, float]:
    """Return the mutual information of two variables, and the variance of log P(a, b) / P(a) P(b).

    >>> nats, variance = _measure_information(np.diag([0.5, 0.5]))
    >>> round(nats, 3), round(variance, 3)
    (0.693, 0.0)
    """
    expected = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
    logs = np.log(np.divide(joint, expected, out=np.ones_like(joint), where=joint > 0))
    nats = float((joint * logs).sum())
    return max(0.0, nats), max(0.0, float((joint * logs**2).sum()) - nats**2)
