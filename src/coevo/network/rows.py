"""Rows of data under a network: their log-likelihood, and the prediction of one column.

Rows are complete, so no variable must be summed out. The probability of a row is the product
of one entry of each table, and a variable depends on its Markov blanket only. `log_likelihood`
and `predict` implement the methods of `BayesianNetwork` with the same names, which document
them.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from coevo.data import Dataset, Variable, read_data
from coevo.data.column_types import ColumnType
from coevo.data.cut_points import CutPoints
from coevo.data.source_options import SourceParameters
from coevo.errors import (
    CoevoWarning,
    DataError,
    ParameterError,
    bad_parameter,
    format_list,
    warn_caller,
)
from coevo.memory import check_memory
from coevo.network.bayesian_network import BayesianNetwork
from coevo.network.elimination import argmax_first, logarithm

__all__ = [
    "Prediction",
    "PredictionMetrics",
    "RowLikelihood",
    "log_likelihood",
    "predict",
    "read_rows",
]


GUESSES = ("decimal_mark", "date_order")  # decisions that may differ from those of the network


@dataclass(frozen=True, eq=False)
class RowLikelihood:
    """The log-likelihood of rows under a network, in natural logarithms."""

    total: float  # over all rows; a row of weight w counts w times
    per_row: NDArray[np.float64]  # (n_stored_rows,)
    per_variable: Mapping[
        str, float
    ]  # of each variable given its parents; they add up to the total


@dataclass(frozen=True, eq=False)
class PredictionMetrics:
    """The quality of a prediction, measured on rows with known states."""

    accuracy: float  # the share of rows whose predicted state is the true one
    log_loss: float  # minus the mean log-probability of the true state
    confusion: NDArray[np.int64]  # (true states, predicted states): number of rows


@dataclass(frozen=True, eq=False)
class Prediction:
    """The probability of each state of a variable in each row, given the rest of the row."""

    variable: Variable
    probabilities: NDArray[np.float64]  # (n_stored_rows, states)

    @property
    def codes(self) -> NDArray[np.intp]:
        """The number of the most probable state in each row; ties go to the first state."""
        return argmax_first(logarithm(self.probabilities))

    @property
    def states(self) -> tuple[str, ...]:
        """The most probable state in each row; ties go to the first state."""
        return tuple(self.variable.states[code] for code in self.codes)

    def evaluate(self, dataset: Dataset) -> PredictionMetrics:
        """Compare the prediction with the true states in the same rows."""
        true, arity = _encode_column(self.variable, dataset), self.variable.arity
        if len(true) != len(self.probabilities):
            raise DataError(
                f"The prediction has {len(self.probabilities):,} rows, but the dataset has "
                f"{len(true):,}. Pass the rows that were predicted."
            )
        pairs = true * np.intp(arity) + self.codes
        confusion = np.bincount(pairs, dataset.weights, minlength=arity * arity).astype(np.int64)
        logs = logarithm(self.probabilities[np.arange(len(true)), true])
        weighted = logs if dataset.weights is None else logs * dataset.weights
        return PredictionMetrics(
            accuracy=int(confusion[:: arity + 1].sum()) / dataset.n_rows,
            log_loss=-math.fsum(weighted) / dataset.n_rows + 0.0,  # + 0.0 turns -0.0 into 0.0
            confusion=confusion.reshape(arity, arity),
        )


def read_rows(
    network: BayesianNetwork,
    table: Any,
    *,
    only: Iterable[str] | None = None,
    drop: Iterable[str] = (),
    names: Sequence[str] | None = None,
    deduplicate: bool = False,
    types: Mapping[str, Any] | None = None,
    decimal: str | None = None,
    **opening: Unpack[SourceParameters],
) -> Dataset:
    """Read a table with the variables, states and bins of a network.

    `only` names the variables to read (default: all). Columns that the network does not have
    are ignored. A part of a date (``visit_month``) is taken from its column (``visit``). A Dataset
    is returned unchanged. `types` gives the order of day and month of a column of dates (``'dmy'``,
    ``'mdy'``; ``'date+mdy'`` for dates in bins). `read_data` documents the other parameters. A
    guess about the decimal mark or the order of day and month is a warning.

    >>> from coevo.bundled import load_network
    >>> table = np.array([["yes", "7.5"], ["no", "9.25"]])
    >>> read_rows(load_network("asia"), table, names=["smoke", "height"])
    <Dataset: 2 rows, 1 variables>
    """
    if isinstance(table, Dataset):
        return table
    wanted = [variable.name for variable in network.variables] if only is None else only
    with warnings.catch_warnings():  # a column can be constant in a few new rows
        warnings.simplefilter("ignore", CoevoWarning)
        dataset, info = read_data(
            table,
            states=network.variables,
            drop=drop,
            names=names,
            deduplicate=deduplicate,
            only=wanted,
            types=_fit_types(network, types),
            decimal=decimal,
            return_info=True,
            **opening,
        )
    for decision in info.decisions:
        if decision.kind in GUESSES:
            warn_caller(str(decision))
    return dataset


def _fit_types(
    network: BayesianNetwork, types: Mapping[str, Any] | None
) -> dict[str, ColumnType] | None:
    """Return types of columns; a variable keeps its states and bins, whatever its type."""
    if types is None:
        return None
    if not isinstance(types, Mapping):
        raise bad_parameter("types", "read_rows", "a mapping of column to its type", types)
    variables = {variable.name: variable for variable in network.variables}
    found = {}
    for name, given in types.items():
        declared = ColumnType.parse(str(name), given)
        if str(name) in variables:
            cuts = CutPoints.from_states(variables[str(name)].states)
            if cuts is None or declared.kind != "continuous":
                raise ParameterError(
                    f"'types' of read_rows names {str(name)!r}, a variable of the network, whose "
                    "states are known. Give types only of columns of dates, as 'dmy' or 'date+dmy'."
                )
            declared = replace(declared, cuts=cuts)
        found[str(name)] = declared
    return found


def log_likelihood(network: BayesianNetwork, dataset: Dataset) -> RowLikelihood:
    """Return the log-likelihood of each row and of all rows."""
    names = sorted(variable.name for variable in network.variables)
    reason = "A log-likelihood needs every variable of the network."
    codes = _encode_columns(network, dataset, names, "log_likelihood", reason)
    per_row, per_variable = np.zeros(dataset.codes.shape[1]), {}
    for name in names:
        table = logarithm(network.table(name))
        configurations = network.find_configurations(name, codes)
        per_row += table[configurations, codes[name]]
        cells = configurations * np.intp(table.shape[1]) + codes[name]
        rows = np.bincount(cells, dataset.weights, minlength=table.size)
        occurring = np.flatnonzero(rows)
        per_variable[name] = math.fsum(rows[occurring] * table.ravel()[occurring])
    impossible = np.flatnonzero(np.isneginf(per_row))
    if len(impossible):
        more = f" (and {len(impossible) - 1:,} more)" if len(impossible) > 1 else ""
        warn_caller(
            f"{_format_row(dataset, impossible[0])}{more} is impossible under the network; its "
            "log-likelihood is -inf."
        )
    weighted = per_row if dataset.weights is None else per_row * dataset.weights
    return RowLikelihood(math.fsum(weighted), per_row, per_variable)


def predict(network: BayesianNetwork, dataset: Dataset, target: str) -> Prediction:
    """Return the probability of each state of the target in each row, given its blanket."""
    variable = network.variable(target)
    blanket = network.dag.markov_blanket(target)
    reason = f"A prediction of {target!r} needs its parents, its children and their parents."
    codes = _encode_columns(network, dataset, blanket, "predict", reason)
    n_rows = dataset.codes.shape[1]
    check_memory(
        4 * 8 * n_rows * variable.arity,
        f"A prediction for {n_rows:,} rows",
        "Predict fewer rows at a time.",
    )
    logs = np.zeros((n_rows, variable.arity))
    logs += logarithm(network.table(target))[network.find_configurations(target, codes)]
    columns = {name: column[:, None] for name, column in codes.items()}
    columns[target] = np.arange(variable.arity)
    for child in network.dag.children(target):
        logs += logarithm(network.table(child))[
            network.find_configurations(child, columns), columns[child]
        ]
    top = logs.max(axis=1, keepdims=True)
    impossible = np.flatnonzero(np.isneginf(top))
    if len(impossible):
        raise DataError(
            f"{_format_row(dataset, impossible[0])} is impossible under the network for every "
            f"state of {target!r}, so {target!r} cannot be predicted. Remove the row."
        )
    logs -= top
    np.exp(logs, out=logs)
    logs /= logs.sum(axis=1, keepdims=True)
    logs.flags.writeable = False
    return Prediction(variable, logs)


def _format_row(dataset: Dataset, place: int) -> str:
    """Return a row for a message. Rows of deduplicated data have no number of their own."""
    return f"{'Row' if dataset.weights is None else 'Distinct row'} {place + 1:,}"


def _encode_columns(
    network: BayesianNetwork, dataset: Dataset, names: Sequence[str], owner: str, reason: str
) -> dict[str, NDArray[np.integer]]:
    """Return for each name the number of its state in each row, in the order of the network."""
    if not isinstance(dataset, Dataset):
        raise bad_parameter("dataset", owner, "a Dataset (see read_data)", dataset)
    for name in names:
        if name not in dataset.names:
            raise DataError(f"There is no column {name!r}. {reason}")
    return {name: _encode_column(network.variable(name), dataset) for name in names}


def _encode_column(variable: Variable, dataset: Dataset) -> NDArray[np.integer]:
    """Return the number of the state of a variable in each row, in the order of the network."""
    place = dataset.find_position(variable.name)
    number = {state: i for i, state in enumerate(variable.states)}
    new_codes = np.array([number.get(state, -1) for state in dataset.variables[place].states])
    is_unknown = new_codes[dataset.codes[place]] < 0
    if is_unknown.any():
        row = int(is_unknown.argmax())
        state = dataset.variables[place].states[dataset.codes[place][row]]
        states = format_list([repr(state) for state in variable.states])
        raise DataError(
            f"Column {variable.name!r} holds {state!r}, which is not one of its states in the "
            f"network: {states}. {_format_row(dataset, row)} is the first."
        )
    # Use the smallest dtype: there may be many rows.
    small = new_codes.clip(0).astype(np.min_scalar_type(variable.arity))
    codes: NDArray[np.integer] = small[dataset.codes[place]]
    return codes
