"""One question about a network: what it reads, its cost, and its exact answer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from coevo.network.bayesian_network import BayesianNetwork
from coevo.network.clique_tree import MarginalCalculation, MarginalTree
from coevo.network.elimination_kernels import BUCKET_FIELDS, plan_question
from coevo.network.factor_kernels import Plan
from coevo.network.planning import Calculation

__all__ = ["JointQuestion", "MarginalQuestion"]

Table = NDArray[np.float64]


class _Question:
    """Some variables of a network, and evidence.

    Parameters
    ----------
    network : BayesianNetwork
        The network.
    codes : mapping of str to int
        The number of the state of each observed variable.
    findings : mapping of str to sequence of float
        The weights of soft findings.
    names : sequence of str
        The variables that are asked about; none of them is observed.
    is_total : bool
        Whether the probability of the evidence is asked for, too. Else only evidence is read that
        has an effect on the variables, and that which might be impossible.
    """

    def __init__(
        self,
        network: BayesianNetwork,
        codes: Mapping[str, int],
        findings: Mapping[str, Sequence[float]],
        names: Sequence[str],
        is_total: bool = False,
    ) -> None:
        self._network = numbered = network.numbered
        self._names, self._is_total = names, is_total
        self._evidence = numbered.encode(codes, findings)
        numbers = [numbered.number[name] for name in names]
        asked = [number for number in numbers if numbered.arity[number] > 1]
        self._asked = np.array(asked, dtype=np.int64)


class JointQuestion(_Question):
    """A question for the joint distribution of some variables, perhaps of none."""

    @cached_property
    def calculation(self) -> Calculation:
        """The plan of the answer."""
        network, evidence = self._network, self._evidence
        families, order = network.find_order(evidence, self._asked, self._is_total, are_last=True)
        axes = self._asked[::-1].copy()
        buckets = np.empty((len(network.names), BUCKET_FIELDS), dtype=np.int64)
        self._table = np.empty(1, dtype=np.int64)

        def make(plan: Plan) -> int:
            return plan_question(
                network.tables, order, families, axes, evidence, plan, buckets, self._table
            )

        return Calculation(network, evidence, order, make)

    def answer(self) -> tuple[Table, float]:
        """Return the distribution, an axis for each variable with several states, and log P(e).

        That is the probability of the evidence that was read. Impossible evidence has log P(e) =
        -inf, and no distribution. `FloatingPointError` is raised if a product falls below the
        smallest float.
        """
        log_probability = self.calculation.run()
        if not len(self._asked):
            return np.ones(()), log_probability
        joint, exponent = self.calculation.read(int(self._table[0]))
        total = float(joint.sum())
        if total == 0.0 or log_probability == -math.inf:
            return joint, -math.inf
        return joint / total, log_probability + math.log(total) + exponent * math.log(2)


class MarginalQuestion(_Question):
    """A question for the marginal distribution of each of some variables."""

    @cached_property
    def calculation(self) -> MarginalCalculation:
        """The plan of the answer."""
        families, order = self._network.find_order(self._evidence, self._asked, self._is_total)
        tree = MarginalTree(self._network, order, families, self._asked)
        return tree.plan(self._evidence)

    def answer(self) -> tuple[dict[str, Table], float]:
        """Return the marginal distributions, and log P(e); see `MarginalCalculation.answer`."""
        return self.calculation.answer(self._names)
