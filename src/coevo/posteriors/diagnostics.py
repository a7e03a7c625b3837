r"""How far chains agree: differences of arcs, split R-hat and effective sample sizes.

All figures come from the second half of a run. Each chain is split into two halves, so that a
chain that still moves to another region disagrees with itself.

**Arcs.** An arc is there or not, so its variance within a half with the mean p is p (1 - p). Let W
be the mean of these variances and B the variance of the means of the halves. Split R-hat is
sqrt((W + B) / W): the usual one, for long halves [1]_. The means are those of the exact
probabilities given each layering, which are less noisy than the arcs of drawn DAGs. The effective
sample size is the number of independent DAGs that would give the mean with the same variance:
p (1 - p) over the variance of the mean. That variance is estimated from the means of batches (two
to the number of batches in each chain) about the mean of all chains [2]_. So chains that disagree
have a small effective size, however smooth each of them is.

**Trace.** For the log weight of the layering or the order there are the rank-normalised split
R-hat and the bulk effective sample size of Vehtari et al. [1]_, with the autocorrelations of the
trace.

.. [1] A. Vehtari, A. Gelman, D. Simpson, B. Carpenter and P.-C. Bürkner, Rank-normalization,
   folding, and localization: an improved R-hat for assessing convergence of MCMC, Bayesian
   Analysis 16, 2021.
.. [2] J. M. Flegal and G. L. Jones, Batch means and spectral variance estimators in Markov chain
   Monte Carlo, Annals of Statistics 38, 2010.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from coevo.posteriors.chain_state import ChainState

__all__ = [
    "ChainDiagnostics",
    "compute_trace_r_hat",
    "compute_trace_size",
    "diagnose_chains",
    "measure_difference",
]

DISAGREEMENT = 0.1  # two chains disagree about an arc if its probabilities differ by more
LEAST_BATCHES = 4  # after the burn-in; with fewer there is no judgement
ROUND_OFF = 1e-18  # a variance of probabilities that is below it is none
Draws = NDArray[np.float64]  # (n_chains, n_draws)


@dataclass(frozen=True, eq=False)
class ChainDiagnostics:
    """How far chains agree.

    Attributes
    ----------
    arcs : array of float, (n, n)
        The probability of each arc, ``[parent, child]``, over all chains.
    largest_difference : float
        The largest difference of the probability of an arc between two chains, or between the
        two halves of a single chain; 1 while there is too little to compare.
    n_disagreements : int
        The number of arcs on which two chains (or halves) differ by more than 0.1.
    r_hat, effective_size : array of float, (n, n)
        Split R-hat and the effective sample size of each arc. An arc that is in all DAGs or in
        none has the R-hat 1 and the size inf.
    standard_error : array of float, (n, n)
        The standard error of each probability.
    edge_error : array of float, (n, n)
        The standard error of the probability of each edge, in either direction; symmetric.
    trace_r_hat, trace_size : float
        Rank-normalised split R-hat and the bulk effective size of the log weight.
    n_rounds : int
        Rounds of each chain after the burn-in.
    """

    arcs: NDArray[np.float64]
    largest_difference: float
    n_disagreements: int
    r_hat: NDArray[np.float64]
    effective_size: NDArray[np.float64]
    standard_error: NDArray[np.float64]
    edge_error: NDArray[np.float64]
    trace_r_hat: float
    trace_size: float
    n_rounds: int

    def is_converged(self, tolerance: float = 0.05) -> bool:
        """Return whether no arc differs between two chains by more than the tolerance."""
        return self.largest_difference <= tolerance


def diagnose_chains(state: ChainState) -> ChainDiagnostics:
    """Return how far the chains agree so far."""
    means = state.kept_means
    m = means.shape[1]
    if m < LEAST_BATCHES:
        return _make_empty(state)
    halves, spread = _split_means(means), _measure_spread(means)
    p = means.mean(axis=(0, 1)).clip(0, 1)
    error = np.sqrt(_estimate_variance(means))
    return ChainDiagnostics(
        arcs=_spread_pairs(state, p, 0.0),
        largest_difference=float(spread.max(initial=0.0)),
        n_disagreements=int((spread > DISAGREEMENT).sum()),
        r_hat=_spread_pairs(state, _compute_r_hat(halves.mean(axis=1)), 1.0),
        effective_size=_spread_pairs(state, _divide(p * (1 - p), error**2), np.inf),
        standard_error=_spread_pairs(state, error, 0.0),
        edge_error=_estimate_edge_error(state, means),
        trace_r_hat=compute_trace_r_hat(state.kept_trace),
        trace_size=compute_trace_size(state.kept_trace),
        n_rounds=m * int(state.batch_steps * state.rounds),
    )


def measure_difference(state: ChainState) -> float:
    """Return the largest difference of the chains alone; see `ChainDiagnostics`."""
    means = state.kept_means
    return 1.0 if means.shape[1] < LEAST_BATCHES else float(_measure_spread(means).max(initial=0.0))


def _split_means(means: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return both halves of each chain as chains of their own, (2 n_chains, m // 2, n_pairs)."""
    n_half = means.shape[1] // 2
    return np.concatenate([means[:, :n_half], means[:, means.shape[1] - n_half :]])


def _measure_spread(means: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the largest difference of each arc between two chains, or halves of a single one."""
    compared = (means if len(means) > 1 else _split_means(means)).mean(axis=1)
    spread: NDArray[np.float64] = compared.max(axis=0) - compared.min(axis=0)
    return spread


def _make_empty(state: ChainState) -> ChainDiagnostics:
    """Return the diagnostics of chains with too few steps to judge."""
    arcs = state.compute_arcs().mean(axis=0)
    nothing = np.full_like(arcs, np.nan)
    return ChainDiagnostics(
        arcs, 1.0, len(state.pairs), nothing, nothing, nothing, nothing, math.nan, math.nan, 0
    )


def _spread_pairs(
    state: ChainState, values: NDArray[np.float64], elsewhere: float
) -> NDArray[np.float64]:
    """Return a matrix with the values of the possible arcs."""
    n = state.n_variables
    matrix = np.full((n, n), elsewhere)
    matrix[state.pairs[:, 0], state.pairs[:, 1]] = values
    return matrix


def _divide(above: NDArray[np.float64], below: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the ratio; inf where the divisor is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(below > ROUND_OFF, above / below, np.inf)


def _compute_r_hat(halves: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return split R-hat of each arc from the means of the halves, (n_halves, n_pairs)."""
    within = (halves * (1 - halves)).clip(0).mean(axis=0)
    between = halves.var(axis=0, ddof=1)
    return np.where(between > ROUND_OFF, np.sqrt(1 + _divide(between, within)), 1.0)


def _estimate_variance(means: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the variance of the mean of all chains, from batches of doubling size.

    Batches that are too short are correlated and give too small a variance. So the largest
    estimate counts, from single batches to one half of a chain.
    """
    n_chains, m, n_pairs = means.shape
    largest = np.zeros(n_pairs)
    size = 1
    while m // size >= 2:
        n_batches = m // size
        joined = means[:, m - n_batches * size :].reshape(n_chains * n_batches, size, n_pairs)
        estimate = joined.mean(axis=1).var(axis=0, ddof=1) / (n_chains * n_batches)
        largest = np.maximum(largest, estimate)
        size *= 2
    return largest


def _estimate_edge_error(state: ChainState, means: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the standard error of each edge: its two arcs are added before the estimate."""
    low, high = state.pairs.min(axis=1), state.pairs.max(axis=1)
    rank = np.lexsort((high, low))
    matrix = np.zeros((state.n_variables, state.n_variables))
    if not len(rank):
        return matrix
    low, high = low[rank], high[rank]
    is_first = np.append(True, (np.diff(low) != 0) | (np.diff(high) != 0))
    joined = np.add.reduceat(means[:, :, rank], np.flatnonzero(is_first), axis=2)
    error = np.sqrt(_estimate_variance(joined))
    matrix[low[is_first], high[is_first]] = matrix[high[is_first], low[is_first]] = error
    return matrix


def compute_trace_r_hat(draws: Draws) -> float:
    """Return the rank-normalised split R-hat: the larger of those of values and of distances."""
    if draws.shape[1] < 2 * LEAST_BATCHES:
        return math.nan
    halves = _split(draws)
    folded = np.abs(halves - np.median(halves))
    return max(_compute_plain_r_hat(_normalise(halves)), _compute_plain_r_hat(_normalise(folded)))


def compute_trace_size(draws: Draws) -> float:
    """Return the bulk effective sample size of rank-normalised split chains.

    Autocorrelations are added up in pairs, as long as their sums are positive, and so that the
    sums never rise (the initial monotone sequence of Geyer).
    """
    if draws.shape[1] < 2 * LEAST_BATCHES:
        return math.nan
    z = _normalise(_split(draws))
    n_chains, n = z.shape
    centred = z - z.mean(axis=1, keepdims=True)
    spectrum = np.abs(np.fft.rfft(centred, 2 * n, axis=1)) ** 2
    covariance = np.fft.irfft(spectrum, axis=1)[:, :n] / n
    within = covariance[:, 0].mean() * n / (n - 1)
    pooled = covariance[:, 0].mean() + z.mean(axis=1).var(ddof=1)
    if pooled == 0:
        return float(n_chains * n)
    correlation = 1 - (within - covariance.mean(axis=0)) / pooled
    correlation[0] = 1.0
    pairs = correlation[: n // 2 * 2].reshape(-1, 2).sum(axis=1)
    is_negative = np.flatnonzero(pairs < 0)
    pairs = np.minimum.accumulate(pairs[: is_negative[0] if len(is_negative) else None])
    time = max(float(2 * pairs.sum() - 1), 1 / math.log10(n_chains * n))
    return float(n_chains * n / time)


def _split(draws: Draws) -> Draws:
    """Return both halves of each chain as chains of their own."""
    half = draws.shape[1] // 2
    return np.concatenate([draws[:, :half], draws[:, draws.shape[1] - half :]])


def _normalise(draws: Draws) -> Draws:
    """Return the normal quantiles of the ranks of all draws; ties have their mean rank."""
    _, inverse, counts = np.unique(draws, return_inverse=True, return_counts=True)
    rank = (np.cumsum(counts) - (counts - 1) / 2)[inverse.ravel()]
    share = (rank - 0.375) / (draws.size + 0.25)
    quantile = np.vectorize(NormalDist().inv_cdf, otypes=[np.float64])
    values: Draws = quantile(share).reshape(draws.shape)
    return values


def _compute_plain_r_hat(draws: Draws) -> float:
    """Return R-hat of chains that are already split."""
    n = draws.shape[1]
    within = draws.var(axis=1, ddof=1).mean()
    between = draws.mean(axis=1).var(ddof=1)
    if within == 0:
        return 1.0 if between == 0 else math.inf
    return math.sqrt(((n - 1) / n * within + between) / within)
