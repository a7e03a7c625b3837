"""How good predicted probabilities are: accuracy, log loss, Brier score, AUC, calibration.

All measures count each row with its weight, and only rows whose true state is known.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.checks import finite_or_none
from coevo.data.prepare.spellings import UNKNOWN
from coevo.data.variable import Variable
from coevo.errors import DataError, format_count
from coevo.runtime.memory import check_memory

__all__ = [
    "CalibrationBin",
    "PredictionMetrics",
    "StateMetrics",
    "check_evaluation",
    "compute_metrics",
    "compute_roc",
]

CALIBRATION_BINS = 10

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class StateMetrics:
    """How well one state is told from all others. A measure without rows to measure is None.

    Attributes
    ----------
    n_rows : int
        Number of rows with this state.
    sensitivity : float, optional
        The share of these rows for which the state is predicted (recall).
    specificity : float, optional
        The share of the other rows for which another state is predicted.
    auc : float, optional
        Area under the ROC curve: the probability that a row with the state has a higher
        probability of it than a row without; ties count half.
    """

    n_rows: int
    sensitivity: float | None
    specificity: float | None
    auc: float | None


@dataclass(frozen=True, slots=True)
class CalibrationBin:
    """Predicted probabilities of similar size, and how often the states came true.

    Attributes
    ----------
    low, high : float
        The probabilities of the bin.
    n : int
        Number of predicted probabilities, of all states in all rows.
    predicted : float
        Their mean.
    observed : float
        The share of them whose state is the true one.
    """

    low: float
    high: float
    n: int
    predicted: float
    observed: float


@dataclass(frozen=True, eq=False)
class PredictionMetrics:
    """The quality of a prediction, measured on rows with known states.

    Attributes
    ----------
    n_rows : int
        Number of rows with a known state.
    accuracy : float
        The share of rows whose predicted state is the true one.
    log_loss : float
        Minus the mean log-probability of the true state; lower is better.
    brier : float
        The mean squared error of the probabilities: over two states that of one of them, over
        more states the sum over all of them; lower is better.
    auc : float, optional
        Area under the ROC curve; with more than two states the mean over all states. None if a
        state or all others do not occur.
    calibration_error : float
        The mean distance between predicted probability and observed share, over the calibration
        bins, each with its number of probabilities.
    confusion : array of int
        (true states, predicted states): number of rows.
    per_state : dict of str to StateMetrics
        Each state against all others.
    calibration : tuple of CalibrationBin
        The bins that are not empty, from low to high probability.
    """

    n_rows: int
    accuracy: float
    log_loss: float
    brier: float
    auc: float | None
    calibration_error: float
    confusion: NDArray[np.int64]
    per_state: dict[str, StateMetrics]
    calibration: tuple[CalibrationBin, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the measures as plain values; an infinite log loss is None."""
        return {
            "n_rows": self.n_rows,
            "accuracy": self.accuracy,
            "log_loss": finite_or_none(self.log_loss),
            "brier": self.brier,
            "auc": self.auc,
            "calibration_error": self.calibration_error,
            "confusion": self.confusion.tolist(),
            "per_state": {
                state: {
                    "n_rows": one.n_rows,
                    "sensitivity": one.sensitivity,
                    "specificity": one.specificity,
                    "auc": one.auc,
                }
                for state, one in self.per_state.items()
            },
            "calibration": [
                {
                    "low": one.low,
                    "high": one.high,
                    "n": one.n,
                    "predicted": one.predicted,
                    "observed": one.observed,
                }
                for one in self.calibration
            ],
        }


def check_evaluation(variable: Variable, n_rows: int) -> None:
    """Raise `ParameterError` if the measures of so many predictions do not fit into memory."""
    n_states = variable.arity
    check_memory(
        8 * (2 * n_states * n_states + 6 * n_rows * n_states),  # the confusion matrix; the shares
        f"The evaluation of {variable.name!r} with {n_states:,} states and "
        f"{format_count(n_rows, 'row')}",
        "Group its states, or evaluate fewer rows.",
    )


def compute_metrics(
    variable: Variable,
    probabilities: Numbers,
    true: NDArray[np.integer],
    weights: NDArray[np.int64] | None = None,
) -> PredictionMetrics:
    """Return the quality of predicted probabilities.

    Parameters
    ----------
    variable : Variable
        The target.
    probabilities : array
        (n_rows, states): the predicted probabilities.
    true : array of int
        The number of the true state in each row; -1 is unknown.
    weights : array of int, optional
        Number of occurrences of each row.
    """
    from coevo.network.elimination import argmax_first, logarithm

    if len(true) != len(probabilities):
        raise DataError(
            f"The prediction has {len(probabilities):,} rows, but the dataset has "
            f"{len(true):,}. Pass the rows that were predicted."
        )
    known = np.flatnonzero(np.asarray(true) != UNKNOWN)
    if not len(known):
        raise DataError(
            f"No row has a known state of {variable.name!r}, so the prediction cannot be evaluated."
        )
    codes, shares = np.asarray(true)[known].astype(np.intp), probabilities[known]
    counts = np.ones(len(known), np.int64) if weights is None else weights[known]
    n_rows, arity = int(counts.sum()), variable.arity
    check_evaluation(variable, len(known))
    predicted = argmax_first(logarithm(shares))
    confusion = np.bincount(codes * arity + predicted, counts, minlength=arity * arity)
    confusion = confusion.astype(np.int64).reshape(arity, arity)
    of_true = shares[np.arange(len(codes)), codes]
    per_state = _measure_states(variable, confusion, shares, codes, counts)
    areas = [one.auc for one in per_state.values()]
    complete = [area for area in areas if area is not None]
    bins = _calibrate(shares, codes, counts)
    errors = shares.copy()
    errors[np.arange(len(codes)), codes] -= 1
    squares = np.square(errors).sum(axis=1)
    brier = math.fsum(counts * squares) / n_rows / (2 if arity == 2 else 1)
    return PredictionMetrics(
        n_rows=n_rows,
        accuracy=float(np.trace(confusion) / n_rows),
        log_loss=-math.fsum(counts * logarithm(of_true)) / n_rows + 0.0,
        brier=brier,
        auc=math.fsum(complete) / len(complete) if len(complete) == len(areas) else None,
        calibration_error=sum(b.n * abs(b.predicted - b.observed) for b in bins) / (n_rows * arity),
        confusion=confusion,
        per_state=per_state,
        calibration=bins,
    )


def _measure_states(
    variable: Variable,
    confusion: NDArray[np.int64],
    shares: Numbers,
    codes: NDArray[np.intp],
    counts: NDArray[np.int64],
) -> dict[str, StateMetrics]:
    """Return the measures of each state against all others."""
    right, own, predicted = np.diag(confusion), confusion.sum(axis=1), confusion.sum(axis=0)
    n_all, found = int(own.sum()), {}
    for code, state in enumerate(variable.states):
        n_own = int(own[code])
        n_other, n_false = n_all - n_own, int(predicted[code] - right[code])
        is_split = n_own > 0 and n_other > 0
        found[state] = StateMetrics(
            n_rows=n_own,
            sensitivity=float(right[code] / n_own) if n_own else None,
            specificity=1 - n_false / n_other if n_other else None,
            auc=_compute_auc(shares[:, code], codes == code, counts) if is_split else None,
        )
    return found


def _compute_auc(shares: Numbers, is_own: NDArray[np.bool_], counts: NDArray[np.int64]) -> float:
    """Return the area under the ROC curve; ties count half."""
    _, place = np.unique(shares, return_inverse=True)
    own = np.bincount(place, np.where(is_own, counts, 0))
    other = np.bincount(place, np.where(is_own, 0, counts))
    below = np.cumsum(other) - other
    return float((own * (below + other / 2)).sum() / (own.sum() * other.sum()))


def compute_roc(
    shares: Numbers, is_own: NDArray[np.bool_], counts: NDArray[np.int64]
) -> tuple[Numbers, Numbers]:
    """Return the ROC curve: the shares of other and of own rows at or above each probability.

    Parameters
    ----------
    shares : array
        (n_rows,): the probability of a state.
    is_own : array of bool
        Whether each row has this state.
    counts : array of int
        Number of occurrences of each row.
    """
    _, place = np.unique(-shares, return_inverse=True)
    own = np.cumsum(np.bincount(place, np.where(is_own, counts, 0)))
    other = np.cumsum(np.bincount(place, np.where(is_own, 0, counts)))
    return (
        np.concatenate([[0.0], other / max(1.0, other[-1])]),
        np.concatenate([[0.0], own / max(1.0, own[-1])]),
    )


def _calibrate(
    shares: Numbers, codes: NDArray[np.intp], counts: NDArray[np.int64]
) -> tuple[CalibrationBin, ...]:
    """Return the calibration bins of all predicted probabilities."""
    n_states = shares.shape[1]
    values, weights = shares.ravel(), np.repeat(counts, n_states)
    place = np.minimum((values * CALIBRATION_BINS).astype(np.intp), CALIBRATION_BINS - 1)
    weighted = weights * values
    n_in = np.bincount(place, weights, minlength=CALIBRATION_BINS)
    of_true = place[np.arange(len(codes)) * n_states + codes]
    observed = np.bincount(of_true, counts, minlength=CALIBRATION_BINS)
    return tuple(
        CalibrationBin(
            i / CALIBRATION_BINS,
            (i + 1) / CALIBRATION_BINS,
            int(n_in[i]),
            math.fsum(weighted[place == i]) / float(n_in[i]),
            float(observed[i] / n_in[i]),
        )
        for i in np.flatnonzero(n_in).tolist()
    )
