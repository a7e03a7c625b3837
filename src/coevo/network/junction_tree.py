"""A junction tree: marginals of all variables, for one set of findings after the other.

One query is best answered by elimination (`coevo.network.inference`). A person who explores a
network asks for all marginals again and again, and changes one finding at a time. The junction
tree finds the cliques once, and then answers for any evidence (`coevo.network.clique_tree`).
Nothing else is kept between two questions, so an answer does not depend, to the last bit, on
earlier ones.

If a product falls below the smallest float, the answer comes from elimination with logarithms.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coevo.network.bayesian_network import BayesianNetwork, Evidence
from coevo.network.clique_tree import MarginalTree
from coevo.network.distribution import Distribution
from coevo.network.elimination import Cost, count_bytes, make_point
from coevo.network.inference import compute_by_logarithms, limit_logarithms
from coevo.network.question import encode_evidence, make_impossible_evidence_error
from coevo.network.work_limit import WorkLimit, check_exact
from coevo.runtime.memory import check_memory

__all__ = ["Beliefs", "JunctionTree"]


@dataclass(frozen=True)
class Beliefs:
    """What a network says about each variable, given evidence.

    Parameters
    ----------
    marginals : mapping of str to Distribution
        The distribution of each variable, in the order of the network. An observed variable has
        probability 1 for its state.
    log_probability : float
        The natural logarithm of the probability of the evidence. A soft finding counts with its
        weights, divided by their sum.
    log_probability_error : float
        The standard error of `log_probability`; 0 if it is exact.
    """

    marginals: Mapping[str, Distribution]
    log_probability: float
    log_probability_error: float = 0.0


class JunctionTree:
    """The cliques of a network and the messages between them, kept for the next question.

    Threads may share a tree; they take turns.

    Parameters
    ----------
    network : BayesianNetwork
        The network. A network whose cliques do not fit into memory raises `ParameterError`.
    exact : bool, default: False
        Make the tree however long its answers take. By default it raises `ParameterError` also if
        an answer may take more than about a minute of work.

    Examples
    --------
    >>> from coevo.bundled import load_network
    >>> tree = JunctionTree(load_network("earthquake"))
    >>> beliefs = tree.compute_beliefs({"JohnCalls": "True"})
    >>> round(beliefs.marginals["Burglary"]["True"], 4), round(beliefs.log_probability, 4)
    (0.1333, -2.7536)
    >>> both = tree.compute_beliefs({"JohnCalls": "True", "MaryCalls": "True"})
    >>> round(both.marginals["Burglary"]["True"], 4)
    0.5565
    """

    def __init__(self, network: BayesianNetwork, exact: bool = False) -> None:
        check_exact(exact, "JunctionTree")
        self.network, self._exact = network, exact
        self._variables = {variable.name: variable for variable in network.variables}
        numbered = network.numbered
        everything = np.flatnonzero(numbered.tables.arity > 1)
        families, order = numbered.find_order(numbered.encode({}, {}), everything, is_total=True)
        self._tree = MarginalTree(numbered, order, families, everything)
        # No more than the cells of all cliques are computed, in several steps each.
        cost = Cost(count_bytes(self.n_cells), self.n_cells)
        what, way_out = (
            "The junction tree of the best elimination order found",
            "Use query or marginals of the network",
        )
        check_memory(cost.n_bytes, what, f"{way_out}.")
        WorkLimit("A junction tree", exact, way_out).add(cost, is_all=True)

    @property
    def n_cliques(self) -> int:
        """Number of cliques."""
        return self._tree.n_cliques

    @property
    def n_cells(self) -> int:
        """Number of cells of all cliques; none of them is ever a table as a whole."""
        return self._tree.n_cells

    def compute_beliefs(self, given: Evidence | None = None) -> Beliefs:
        """Return the marginals of all variables and the probability of the evidence.

        Evidence is hard or soft, as for `BayesianNetwork.query`. Impossible evidence raises
        `NetworkError`.
        """
        codes, findings = encode_evidence(self.network, given, "compute_beliefs")
        calculation = self._tree.plan(self.network.numbered.encode(codes, findings))
        try:
            shares, log_total = calculation.answer(self._variables)
        except FloatingPointError:
            shares, log_total = self._eliminate(given, codes)
        if log_total == -math.inf:
            raise make_impossible_evidence_error(self.network, codes)
        return Beliefs(
            {
                name: Distribution((variable,), shares[name])
                for name, variable in self._variables.items()
            },
            log_total,
        )

    def measure_information(self, target: str, given: Evidence | None = None) -> dict[str, float]:
        """Return what each unobserved variable would tell about a target, given the evidence.

        That is the mutual information in nats: the expected loss of entropy of the target. The
        target itself would tell its entropy. The largest numbers come first.

        >>> from coevo.bundled import load_network
        >>> told = JunctionTree(load_network("asia")).measure_information("lung", {"smoke": "yes"})
        >>> [(name, round(nats, 3)) for name, nats in told.items()][:3]
        [('lung', 0.325), ('either', 0.293), ('xray', 0.212)]
        """
        variable = self.network.variable(target)
        now = self.compute_beliefs(given).marginals
        shares = now[target].probabilities
        told = {name: 0.0 for name in now if not given or name not in given or name == target}
        for state, share in zip(variable.states, shares.tolist(), strict=True):
            if share == 0:
                continue
            then = self.compute_beliefs({**(given or {}), target: state}).marginals
            for name in told:
                told[name] += share * _measure_divergence(then[name], now[name])
        rounded = {name: max(0.0, nats) for name, nats in told.items()}
        return dict(sorted(rounded.items(), key=lambda pair: (-round(pair[1], 9), pair[0])))

    def _eliminate(
        self, given: Evidence | None, codes: Mapping[str, int]
    ) -> tuple[dict[str, NDArray[np.float64]], float]:
        """Answer by elimination with logarithms."""
        free = [name for name in self._variables if name not in codes]
        shares, log_total = compute_by_logarithms(
            self.network, given, free, limit_logarithms(self._exact)
        )
        for name, code in codes.items():
            shares[name] = make_point(self._variables[name].arity, code)
        return shares, log_total


def _measure_divergence(one: Distribution, two: Distribution) -> float:
    """Return the Kullback-Leibler divergence of two distributions of a variable, in nats."""
    p, q = one.probabilities, two.probabilities
    occurs = p > 0
    return float((p[occurs] * np.log(p[occurs] / q[occurs])).sum())
