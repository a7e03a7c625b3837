"""Draw rows from a network, and estimate its beliefs from them.

Forward sampling: draw rows from a network, with the streams of `ForwardSampler`.

With evidence, rows are drawn in the same way from the conditional network
(`coevo.network.inference.condition`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.checks import is_int
from coevo.data import Dataset
from coevo.errors import bad_parameter
from coevo.network.bayesian_network import BayesianNetwork, Evidence
from coevo.network.distribution import Distribution
from coevo.network.elimination import Elimination, find_relevant, make_point
from coevo.network.inference import (
    compute_marginals,
    condition,
    draw_checked_sample,
    measure_evidence,
)
from coevo.network.junction_tree import Beliefs
from coevo.network.node_distribution import ForwardSampler
from coevo.network.question import encode_evidence, enter_evidence
from coevo.network.work_limit import check_exact
from coevo.runtime.memory import check_memory
from coevo.runtime.randomness import RandomState, resolve_seed
from coevo.signatures import check_keywords

__all__ = ["BeliefEstimator", "EstimatedInformation", "sample"]

ROWS_PER_BLOCK = 1 << 16


@check_keywords()
def sample(
    network: BayesianNetwork,
    rows: int,
    random_state: RandomState = 0,
    given: Evidence | None = None,
    exact: bool = False,
) -> Dataset:
    """Draw independent rows from a network.

    Parameters
    ----------
    network : BayesianNetwork
        The network to draw from.
    rows : int
        Number of rows.
    random_state : int, numpy Generator or None
        The same int gives the same rows (default: 0). None gives different rows each time.
    given : mapping, optional
        Evidence as for `BayesianNetwork.query`: the states of some variables in every row. The
        other variables follow their exact conditional distribution; no row is rejected.
    exact : bool, default: False
        Compute this distribution however long it takes. By default more than about a minute of work
        raises `ParameterError`.

    Returns
    -------
    Dataset
        It declares all states of the network, including states that occur in no row.

    Examples
    --------
    >>> from coevo.bundled import load_network
    >>> sample(load_network("asia"), 1000, random_state=1)
    <Dataset: 1,000 rows, 8 variables>
    >>> rows = sample(load_network("asia"), 1000, random_state=1, given={"xray": "yes"})
    >>> [variable.states for variable in rows.variables if variable.name == "xray"]
    [('no', 'yes')]
    """
    if not isinstance(network, BayesianNetwork):
        raise bad_parameter("network", "sample", "a BayesianNetwork", network)
    check_exact(exact, "sample")
    if not is_int(rows, 1):
        raise bad_parameter("rows", "sample", "an int >= 1", rows)
    # Twice: the rows as they are drawn, and in the order of the Dataset.
    width = 1 if all(variable.arity <= 256 for variable in network.variables) else 2
    n_bytes = 2 * int(rows) * width * len(network.variables)
    check_memory(n_bytes, f"A sample of {rows:,} rows", "Ask for fewer rows.")
    network = condition(network, given, "sample", exact)
    sampler = ForwardSampler(network, resolve_seed(random_state, "sample"))
    codes: dict[str, NDArray[Any]] = {
        variable.name: np.empty(rows, dtype=np.uint8 if variable.arity <= 256 else np.uint16)
        for variable in network.variables
    }
    for start in range(0, rows, ROWS_PER_BLOCK):
        block = slice(start, min(start + ROWS_PER_BLOCK, rows))
        for name in network.dag.topological_order:
            column = codes[name][block]
            parent_codes = {parent: codes[parent][block] for parent in network.parents(name)}
            column[:] = sampler.draw(name, parent_codes, len(column))
    return Dataset(network.variables, [codes[v.name] for v in network.variables])


# Beliefs of a network that is too large for a junction tree.
#
# `BeliefEstimator` answers the questions of `JunctionTree`, each by itself. Evidence can make a
# large network small, so an answer is exact where `marginals` finds a way, and else estimated by
# likelihood weighting. The numbers are those of `BayesianNetwork.marginals` and
# `measure_evidence`.
#
# What a variable would tell about a target comes from one weighted sample, which has the joint
# distribution of the target with each variable. A sample of independent variables shows some
# information by chance: with the effective sample size n and d degrees of freedom, 2 n times the
# information has about the chi-squared distribution with d degrees of freedom [1]_. The mean of
# this is subtracted, and variables whose information may be chance are left out.
#
# .. [1] S. S. Wilks, The likelihood test of independence in contingency tables, Annals of
#    Mathematical Statistics 6, 1935.


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
