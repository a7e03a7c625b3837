"""Likelihood weighting: estimate probabilities where exact inference is out of reach.

Rows are drawn forward, with the observed variables fixed at their states. The weight of a row is
the probability of the evidence given the rest of the row [1]_. The share of the weight in which a
variable has a state estimates the probability of that state given the evidence.

The standard error of a share p is that of a ratio: the root of the sum of (w (x - p))**2, divided
by the sum of the weights w, where x is 1 in rows with the state and else 0. The *effective sample
size* is the number of rows of equal weight that would be worth as much. If the evidence is
improbable, few rows have nearly all the weight, and both the estimate and its error are worthless.

.. [1] R. Fung and K.-C. Chang, Weighing and integrating evidence for stochastic simulation in
   Bayesian networks, Uncertainty in Artificial Intelligence 5, 1990.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coevo.network.bayesian_network import BayesianNetwork
from coevo.network.elimination import find_relevant
from coevo.network.node_distribution import ForwardSampler

__all__ = ["MIN_EFFECTIVE_SIZE", "N_SAMPLES", "WeightedSample", "draw_weighted_sample"]

N_SAMPLES = 100_000  # the standard error of a probability without evidence is at most 0.0016
SEED = 0  # the same query has the same answer
MIN_EFFECTIVE_SIZE = 100  # below, standard errors are above 0.05 and not reliable themselves
ROWS_PER_BLOCK = 1 << 14  # a column of a block stays in the cache

Table = NDArray[np.float64]


@dataclass(frozen=True)
class WeightedSample:
    """What a weighted sample says about some tables of states.

    Parameters
    ----------
    n_samples : int
        Number of rows.
    effective_size : float
        The effective sample size; 0 if all rows are impossible with the evidence.
    log_probability : float
        The natural logarithm of the probability of the evidence, as estimated.
    probabilities, standard_errors : list of array
        For each group of targets, the joint distribution with one axis for each variable, and the
        standard error of each probability. A state without a row is not proved to be impossible, so
        no error is below 1 / effective_size.
    """

    n_samples: int
    effective_size: float
    log_probability: float
    probabilities: Sequence[Table]
    standard_errors: Sequence[Table]

    @property
    def log_probability_error(self) -> float:
        """The standard error of `log_probability`; equal weights do not prove that it is exact."""
        variance = max(0.0, 1 / self.effective_size - 1 / self.n_samples)
        return math.hypot(math.sqrt(variance), 1 / self.effective_size)


def draw_weighted_sample(
    network: BayesianNetwork,
    evidence: Mapping[str, int],
    groups: Sequence[Sequence[str]],
    n_samples: int = N_SAMPLES,
    seed: int = SEED,
) -> WeightedSample:
    """Estimate the joint distribution of each group of targets given evidence.

    >>> from coevo.bundled import load_network
    >>> sample = draw_weighted_sample(load_network("asia"), {"smoke": 0}, [["bronc"]], 10_000)
    >>> sample.effective_size, sample.probabilities[0].round(1).tolist()
    (10000.0, [0.6, 0.4])
    """
    relevant = find_relevant(network, {*evidence, *(name for group in groups for name in group)})
    order = [name for name in network.dag.topological_order if name in relevant]
    sampler = ForwardSampler(network, seed)
    shapes = [tuple(network.variable(name).arity for name in group) for group in groups]

    # Sums of weights and of their squares, in units of the largest weight so far.
    log_unit, total, total_squares = -math.inf, 0.0, 0.0
    sums = [np.zeros(math.prod(shape)) for shape in shapes]
    squares = [np.zeros(math.prod(shape)) for shape in shapes]
    for start in range(0, n_samples, ROWS_PER_BLOCK):
        n_rows = min(ROWS_PER_BLOCK, n_samples - start)
        codes = {name: np.full(n_rows, code) for name, code in evidence.items()}
        for name in order:
            if name not in evidence:
                codes[name] = sampler.draw(name, codes, n_rows)
        logs = np.zeros(n_rows)
        for name in sorted(evidence):
            logs += network.distribution(name).log_density(codes)
        top = float(logs.max())
        if top == -math.inf:
            continue  # no row of the block is possible
        if top > log_unit:
            factor = math.exp(log_unit - top)
            log_unit, total, total_squares = top, total * factor, total_squares * factor**2
            sums = [factor * each for each in sums]
            squares = [factor**2 * each for each in squares]
        weights = np.exp(logs - log_unit)
        total += float(weights.sum())
        total_squares += float((weights**2).sum())
        for i, (group, shape) in enumerate(zip(groups, shapes, strict=True)):
            cells = np.ravel_multi_index([codes[name] for name in group], shape)
            sums[i] += np.bincount(cells, weights, len(sums[i]))
            squares[i] += np.bincount(cells, weights**2, len(squares[i]))

    if total == 0:
        return WeightedSample(n_samples, 0.0, -math.inf, [], [])
    effective_size = total**2 / total_squares
    probabilities, errors = list[Table](), list[Table]()
    for shape, weight, square in zip(shapes, sums, squares, strict=True):
        p = weight / total
        others = np.maximum(0.0, total_squares - square)  # round-off can make it negative
        variance = ((1 - p) ** 2 * square + p**2 * others) / total**2
        probabilities.append(p.reshape(shape))
        errors.append(np.hypot(np.sqrt(variance), 1 / effective_size).reshape(shape))
    log_probability = log_unit + math.log(total / n_samples)
    return WeightedSample(n_samples, effective_size, log_probability, probabilities, errors)
