"""The exact posterior of small problems: the evidence, the arcs, and independent draws of DAGs.

Two priors over structures are kept apart. Under ``'uniform'`` each DAG counts once
(`coevo.posteriors.exact_dags`). Under ``'order'`` a DAG counts once for each of its orders
(`coevo.posteriors.exact_orders`). The arc probabilities of the two can differ by 0.1.

The work grows as n^2 2^n for orders, and as 4^n for DAGs; the memory as n 2^n and as 3^n.
`estimate_exact_cost` says what a number of variables needs. `MAX_EXACT` has the largest number
that is accepted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.checks import is_choice, is_int
from coevo.errors import ParameterError, bad_choice, bad_parameter
from coevo.memory import check_memory
from coevo.posteriors.exact_dags import DagSampler
from coevo.posteriors.exact_orders import OrderSampler
from coevo.posteriors.exact_tables import CompleteTables, make_complete_tables
from coevo.posteriors.family_weights import FamilyWeights, count_family_sets

__all__ = [
    "MAX_EXACT",
    "STRUCTURE_PRIORS",
    "ExactCost",
    "ExactPosterior",
    "ExactSampler",
    "compute_exact_posterior",
    "estimate_exact_cost",
]

STRUCTURE_PRIORS = ("uniform", "order")
SAMPLERS: dict[str, type[OrderSampler] | type[DagSampler]] = {
    "uniform": DagSampler,
    "order": OrderSampler,
}
MAX_EXACT = {"uniform": 16, "order": 22}  # variables
# nanoseconds on one core, measured: benchmarks/exact_posterior.py
COST_PER_SET = 9.0  # and pair of variables, for orders
COST_PER_TRIPLE = 2.5  # for DAGs: layers so far, the last one, the next one
COST_PER_SHARE = 15.0  # for DAGs: layers so far, the last one, and a child


class ExactCost(NamedTuple):
    """What the exact posterior of a problem needs."""

    operations: float  # of the sums; about 1e9 a second
    n_bytes: int  # peak memory, with the tables of the weights, and with the draws of DAGs
    n_families: int  # families to score before

    @property
    def seconds(self) -> float:
        """An estimate of the seconds for the sums, on one core."""
        return self.operations * 1e-9


@dataclass(frozen=True, eq=False)
class ExactPosterior:
    """The exact posterior over structures.

    Attributes
    ----------
    log_evidence : float
        The log of the sum of the weights of all DAGs; for the prior over orders, of all pairs of a
        DAG and one of its orders.
    arcs : array, (n, n)
        The posterior probability of each arc, ``[parent, child]``.
    """

    log_evidence: float
    arcs: NDArray[np.float64]


def estimate_exact_cost(n_variables: int, max_parents: int, prior: str) -> ExactCost:
    """Return what the exact posterior needs: time, memory, and the families to score.

    The time to score the families depends on the rows and is not included.

    >>> cost = estimate_exact_cost(12, 11, "uniform")
    >>> cost.seconds < 10, cost.n_bytes < 1e9, cost.n_families
    (True, True, 24576)
    """
    _check_prior(prior, "estimate_exact_cost")
    n, n_sets = n_variables, 1 << n_variables
    n_families = n * count_family_sets(n - 1, max_parents)
    n_bytes = 3 * 4 * n * n_sets + 32 * n_families + 64 * n_sets
    if prior == "order":
        return ExactCost(COST_PER_SET * n**2 * n_sets, n_bytes, n_families)
    steps = COST_PER_TRIPLE * 4.0**n + COST_PER_SHARE * n * 3.0**n
    n_bytes += 3 * 2 * n * (n - 1) * n_sets + 128 * n_sets + 16 * 3**n
    return ExactCost(steps, n_bytes, n_families)


def compute_exact_posterior(weights: FamilyWeights, prior: str = "uniform") -> ExactPosterior:
    """Return the log evidence and the probabilities of all arcs.

    Parameters
    ----------
    weights : FamilyWeights
        The weights of the families. Families outside it have the weight zero.
    prior : {'uniform', 'order'}
        The prior over structures: each DAG counts once, or once for each of its orders.

    Raises
    ------
    ParameterError
        If there are too many variables, or if the weights exclude every DAG.

    Examples
    --------
    >>> from coevo.posteriors.family_weights import OutsideFamilies, FamilyWeights
    >>> none = OutsideFamilies(*(np.zeros(k, dtype=t) for k, t in ((3, int), (0, float), (1, int),
    ...     (0, np.int32))))
    >>> candidates = np.array([1]), np.array([0])
    >>> equal = np.zeros(2), np.zeros(2)  # each of the three DAGs has the weight 1
    >>> posterior = compute_exact_posterior(FamilyWeights(candidates, equal, none, 4))
    >>> round(float(np.exp(posterior.log_evidence)), 9), posterior.arcs.round(6).tolist()
    (3.0, [[0.0, 0.333333], [0.333333, 0.0]])
    """
    tables = _prepare(weights, prior, "compute_exact_posterior")
    return _compute_posterior(SAMPLERS[prior](tables))


class ExactSampler:
    """Independent draws of DAGs from the exact posterior.

    Parameters
    ----------
    weights : FamilyWeights
        The weights of the families. Families outside it have the weight zero.
    prior : {'uniform', 'order'}
        The prior over structures: each DAG counts once, or once for each of its orders.

    Raises
    ------
    ParameterError
        If there are too many variables, or if the weights exclude every DAG.
    """

    def __init__(self, weights: FamilyWeights, prior: str = "uniform") -> None:
        tables = _prepare(weights, prior, "ExactSampler")
        self._sampler = SAMPLERS[prior](tables)

    def compute_posterior(self) -> ExactPosterior:
        """Return the log evidence and the probabilities of all arcs, from the same sums."""
        return _compute_posterior(self._sampler)

    @property
    def log_evidence(self) -> float:
        """The log of the sum of all weights, as in `ExactPosterior`."""
        return self._sampler.log_evidence

    def draw_dags(self, number: int, rng: Generator) -> NDArray[np.bool_]:
        """Return independent draws, (number, n, n), ``[parent, child]``.

        Two calls give the same DAGs as one call for both numbers.
        """
        if not is_int(number, 0):
            raise bad_parameter("number", "draw_dags", "an int >= 0", number)
        return self._sampler.draw_dags(number, rng)


def _compute_posterior(sampler: OrderSampler | DagSampler) -> ExactPosterior:
    return ExactPosterior(sampler.log_evidence, sampler.compute_arcs())


def _check_prior(prior: str, owner: str) -> None:
    if not is_choice(prior, STRUCTURE_PRIORS):
        raise bad_choice("prior", owner, STRUCTURE_PRIORS, prior)


def _prepare(weights: FamilyWeights, prior: str, owner: str) -> CompleteTables:
    """Check the prior and the number of variables; return the tables."""
    _check_prior(prior, owner)
    n, largest = weights.n_variables, MAX_EXACT[prior]
    if n > largest:
        raise ParameterError(
            f"The exact posterior under the prior {prior!r} is limited to {largest} variables; "
            f"these are {n}. Sample from the posterior instead."
        )
    needed = estimate_exact_cost(n, n - 1, prior).n_bytes
    check_memory(needed, f"The exact posterior of {n} variables", "Sample from it instead.")
    return make_complete_tables(weights)
