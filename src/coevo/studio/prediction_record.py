"""A table through a network: the predictions of a target, and how good they are.

The numbers are those of ``coevo predict`` and ``coevo evaluate``. The curves are thinned, because a
screen shows a few hundred points. Of a target with many states the most frequent ones are shown: a
confusion matrix of 1,000 states has a million cells.
"""

from __future__ import annotations

import warnings
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.data.copy_rows import copy_with_predictions
from coevo.data.known_rows import KnownRows
from coevo.data.source_options import SourceOptions
from coevo.errors import CoevoWarning
from coevo.network import BayesianNetwork, Prediction, read_rows
from coevo.network.metrics import compute_roc
from coevo.options import SourceParameters, select_options
from coevo.studio.table_settings import TableSettings

__all__ = ["PredictedTable", "predict_table"]

MAX_POINTS = 200  # of a ROC curve
MAX_SHOWN = 30  # states with measures and curves
PREVIEW_ROWS = 12


class PredictedTable:
    """The predictions of one target in one table."""

    def __init__(
        self, prediction: Prediction, rows: KnownRows, path: Path, opening: SourceOptions
    ) -> None:
        self._prediction, self._rows, self._path, self._opening = prediction, rows, path, opening

    def describe(self) -> dict[str, Any]:
        """Return the record for the browser; without true states there are no measures."""
        prediction, rows = self._prediction, self._rows
        target = prediction.variable.name
        answer: dict[str, Any] = {
            "target": target,
            "n_states": prediction.variable.arity,
            "n_rows": rows.n_rows,
            "unknown": prediction.unknown.describe(),
            "n_impossible": len(prediction.impossible),
            "preview": self._preview(),
        }
        true = rows.codes.get(target)
        if true is not None and (true >= 0).any():
            measured = prediction.evaluate(rows)
            codes = _find_frequent(measured.confusion.sum(axis=1))
            states = [prediction.variable.states[code] for code in codes]
            answer["states"] = states
            answer["metrics"] = measured.as_dict() | {
                "confusion": measured.confusion[np.ix_(codes, codes)].tolist(),
                "per_state": {state: asdict(measured.per_state[state]) for state in states},
            }
            answer["roc"] = self._trace_curves(true, codes)
        return answer

    def _preview(self) -> list[dict[str, Any]]:
        columns = dict(self._prediction.list_columns())
        pairs = zip(columns["predicted"], columns["probability"], strict=True)
        return [
            {"row": row, "predicted": state, "probability": share}
            for row, (state, share) in enumerate(list(pairs)[:PREVIEW_ROWS], 1)
        ]

    def _trace_curves(
        self, true: NDArray[np.integer], codes: NDArray[np.intp]
    ) -> dict[str, list[list[float]]]:
        """Return the ROC curve of each of these states that some rows have and others do not."""
        known = np.flatnonzero(true >= 0)
        weights = self._rows.weights
        counts = np.ones(len(known), np.int64) if weights is None else weights[known]
        curves = {}
        for code in codes.tolist():
            is_own = true[known] == code
            if is_own.any() and not is_own.all():
                shares = self._prediction.probabilities[known, code]
                state = self._prediction.variable.states[code]
                curves[state] = _thin(*compute_roc(shares, is_own, counts))
        return curves

    def write(self, target: Path) -> None:
        """Write the table with the predictions and the probability of each state."""
        columns = self._prediction.list_columns(probabilities=True)
        copy_with_predictions(self._path, target, columns, self._opening)


def predict_table(
    network: BayesianNetwork, path: Path, target: str, settings: TableSettings
) -> PredictedTable:
    """Predict a variable in each row of a table that was read with the settings of a user."""
    network.variable(target)  # raises if there is none
    given = settings.options
    opening = select_options(SourceParameters, given)
    types = {name: kind for name, kind in settings.types.items() if _is_date_order(kind)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CoevoWarning)  # the record says the same
        rows = read_rows(
            network,
            path,
            types=types or None,
            decimal=given.get("decimal"),
            **opening,
        )
        prediction = network.predict(rows, target)
    source = SourceOptions.from_parameters("predict", **opening)
    return PredictedTable(prediction, rows, path, source)


def _is_date_order(kind: Any) -> bool:
    """Return whether a type gives the order of day and month; the network has all other types."""
    return isinstance(kind, str) and kind.rpartition("+")[2] in ("dmy", "mdy")


def _find_frequent(counts: NDArray[np.integer]) -> NDArray[np.intp]:
    """Return the codes of the `MAX_SHOWN` most frequent states, in the order of the states."""
    return np.sort(np.argsort(-counts, kind="stable")[:MAX_SHOWN])


def _thin(others: NDArray[np.float64], own: NDArray[np.float64]) -> list[list[float]]:
    """Return at most `MAX_POINTS` points of a curve, with its ends."""
    n = len(own)
    kept = np.unique(np.linspace(0, n - 1, min(n, MAX_POINTS)).round().astype(np.intp))
    return [[float(a), float(b)] for a, b in zip(others[kept], own[kept], strict=True)]
