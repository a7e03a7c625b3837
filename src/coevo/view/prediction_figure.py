"""A figure of predicted probabilities: ROC curves and calibration."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from coevo.data.variable import Variable
from coevo.network.metrics import PredictionMetrics, compute_roc
from coevo.view.figures import BLUE, GREY, apply_style, make_figure, save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["write_prediction_figure"]

MAX_CURVES = 6  # states; more curves cannot be told apart
# Okabe and Ito: distinguishable by colour-blind readers.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")


def write_prediction_figure(
    path: Path,
    variable: Variable,
    probabilities: NDArray[np.float64],
    true: NDArray[np.integer],
    metrics: PredictionMetrics,
) -> None:
    """Write a figure of the ROC curves and the calibration, in the format of the suffix.

    Parameters
    ----------
    path : Path
        The file; it ends in .png, .svg or .pdf.
    variable : Variable
        The target.
    probabilities : array
        (n_rows, states): the predicted probabilities.
    true : array of int
        The number of the true state in each row; -1 is unknown.
    metrics : PredictionMetrics
        The measures of the same prediction.
    """
    figure, (roc, calibration) = make_figure(2, 3.6, 3.4)
    known = np.flatnonzero(np.asarray(true) >= 0)
    with apply_style():
        _draw_roc(roc, variable, probabilities[known], np.asarray(true)[known], metrics)
        _draw_calibration(calibration, metrics)
        figure.suptitle(f"{variable.name}: {metrics.n_rows:,} rows", fontsize=10)
    save_figure(figure, path)


def _draw_roc(
    panel: Axes,
    variable: Variable,
    probabilities: NDArray[np.float64],
    true: NDArray[np.integer],
    metrics: PredictionMetrics,
) -> None:
    """Draw one curve for each state, or for the second one of two."""
    shown = [
        code
        for code, state in enumerate(variable.states)
        if metrics.per_state[state].auc is not None and (variable.arity > 2 or code == 1)
    ]
    counts = np.ones(len(true), np.int64)
    for colour, code in zip(COLOURS, shown[:MAX_CURVES], strict=False):
        state = variable.states[code]
        other, own = compute_roc(probabilities[:, code], true == code, counts)
        label = f"{_shorten(state)}: AUC {metrics.per_state[state].auc:.3f}"
        panel.plot(other, own, color=colour, linewidth=1.4, label=label)
    panel.plot([0, 1], [0, 1], color=GREY, linestyle=":", linewidth=1)
    panel.set(
        xlabel="false positive rate (1 - specificity)",
        ylabel="true positive rate (sensitivity)",
        title="ROC curve",
        xlim=(-0.02, 1.02),
        ylim=(-0.02, 1.02),
    )
    if shown:
        panel.legend(loc="lower right", fontsize=8)


def _draw_calibration(panel: Axes, metrics: PredictionMetrics) -> None:
    """Draw the observed share of each bin of predicted probabilities."""
    bins = metrics.calibration
    predicted = [one.predicted for one in bins]
    observed = [one.observed for one in bins]
    most = max(one.n for one in bins)
    sizes = [12 + 60 * one.n / most for one in bins]
    panel.plot([0, 1], [0, 1], color=GREY, linestyle=":", linewidth=1)
    panel.plot(predicted, observed, color=BLUE, linewidth=1)
    panel.scatter(predicted, observed, s=sizes, color=BLUE, zorder=3)
    panel.set(
        xlabel="predicted probability",
        ylabel="share that came true",
        title=f"Calibration (mean error {metrics.calibration_error:.3f})",
        xlim=(-0.02, 1.02),
        ylim=(-0.02, 1.02),
    )


def _shorten(text: str, most: int = 18) -> str:
    return text if len(text) <= most else text[: most - 1] + "\u2026"
