"""What a network says of rows: how probable they are, and a column from all the others.

Rows are complete, so that no variable has to be summed out: a row's probability is the
product of one entry of each table, and a variable depends on its Markov blanket alone.
These functions are the methods of `BayesianNetwork` that have their names; what they mean
stands there.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.data import Dataset, Variable, read_data
from coevo.errors import CoevoWarning, DataError, bad_parameter, listed
from coevo.memory import check_memory
from coevo.network.bayesian_network import BayesianNetwork
from coevo.network.elimination import first_best, logarithm

__all__ = ["Agreement", "Prediction", "RowLikelihood", "log_likelihood", "predict", "rows_for"]


@dataclass(frozen=True, eq=False)
class RowLikelihood:
    """How probable rows are under a network, as natural logarithms."""

    total: float  # a row that occurs several times counts as often
    per_row: NDArray[np.float64]  # (n_stored_rows,)
    per_variable: Mapping[str, float]  # of each given its parents; they add up to the total


@dataclass(frozen=True, eq=False)
class Agreement:
    """How well a prediction agrees with what the rows show."""

    accuracy: float  # the share of rows whose most probable state is the true one
    log_loss: float  # minus the mean logarithm of the probability of the true state
    confusion: NDArray[np.int64]  # (states, states): rows of each true and predicted state


@dataclass(frozen=True, eq=False)
class Prediction:
    """How probable each state of a variable is in each row, given the rest of the row."""

    variable: Variable
    probabilities: NDArray[np.float64]  # (n_stored_rows, states)

    @property
    def codes(self) -> NDArray[np.intp]:
        """The number of the most probable state in each row; of several the first."""
        return first_best(logarithm(self.probabilities))

    @property
    def states(self) -> tuple[str, ...]:
        """The most probable state in each row; of several the first."""
        return tuple(self.variable.states[code] for code in self.codes)

    def agreement(self, dataset: Dataset) -> Agreement:
        """Compare with the column of the variable in the rows that were predicted from."""
        true, arity = _codes(self.variable, dataset), self.variable.arity
        if len(true) != len(self.probabilities):
            raise DataError(
                f"The prediction is about {len(self.probabilities):,} rows, and there are "
                f"{len(true):,}. Give those that it was made for."
            )
        pairs = true * np.intp(arity) + self.codes
        confusion = np.bincount(pairs, dataset.weights, minlength=arity * arity).astype(np.int64)
        logs = logarithm(self.probabilities[np.arange(len(true)), true])
        weighted = logs if dataset.weights is None else logs * dataset.weights
        return Agreement(
            accuracy=int(confusion[:: arity + 1].sum()) / dataset.n_rows,
            log_loss=-math.fsum(weighted) / dataset.n_rows + 0.0,  # never a minus zero
            confusion=confusion.reshape(arity, arity),
        )


def rows_for(
    network: BayesianNetwork,
    table: Any,
    *,
    only: Iterable[str] | None = None,
    drop: Iterable[str] = (),
    names: Sequence[str] | None = None,
    fold: bool = False,
) -> Dataset:
    """Read a table as rows of a network: its columns, its states, numbers put into its bins.

    `only` are the variables to read, all if left out; what the network does not have is left
    alone. A Dataset is returned as it is; for the rest see `read_data`.

    >>> from coevo.bundled import load_network
    >>> table = np.array([["yes", "7.5"], ["no", "9.25"]])
    >>> rows_for(load_network("asia"), table, names=["smoke", "height"])
    <Dataset: 2 rows, 1 variables>
    """
    if isinstance(table, Dataset):
        return table
    wanted = [variable.name for variable in network.variables] if only is None else only
    with warnings.catch_warnings():  # of a few new rows, columns may well be constant
        warnings.simplefilter("ignore", CoevoWarning)
        return read_data(
            table, states=network.variables, drop=drop, names=names, fold=fold, only=wanted
        )


def log_likelihood(network: BayesianNetwork, dataset: Dataset) -> RowLikelihood:
    """Return the logarithm of the probability of each row, and their sum."""
    names = sorted(variable.name for variable in network.variables)
    why = "A log-likelihood needs every variable of the network."
    codes = _columns(network, dataset, names, "log_likelihood", why)
    per_row, per_variable = np.zeros(dataset.codes.shape[1]), {}
    for name in names:
        table = logarithm(network.table(name))
        configurations = network.configurations(name, codes)
        per_row += table[configurations, codes[name]]
        cells = configurations * np.intp(table.shape[1]) + codes[name]
        rows = np.bincount(cells, dataset.weights, minlength=table.size)
        seen = np.flatnonzero(rows)
        per_variable[name] = math.fsum(rows[seen] * table.ravel()[seen])
    impossible = np.flatnonzero(np.isneginf(per_row))
    if len(impossible):
        more = f" (and {len(impossible) - 1:,} more)" if len(impossible) > 1 else ""
        warnings.warn(
            f"{_label(dataset, impossible[0])}{more} is impossible under the network; its "
            "log-likelihood is -inf.",
            CoevoWarning,
            stacklevel=3,  # the method stands between
        )
    weighted = per_row if dataset.weights is None else per_row * dataset.weights
    return RowLikelihood(math.fsum(weighted), per_row, per_variable)


def predict(network: BayesianNetwork, dataset: Dataset, target: str) -> Prediction:
    """Return how probable each state of the target is in each row, given its blanket."""
    variable = network.variable(target)
    blanket = network.dag.markov_blanket(target)
    why = f"A prediction of {target!r} needs its parents, its children and their parents."
    codes = _columns(network, dataset, blanket, "predict", why)
    n_rows = dataset.codes.shape[1]
    check_memory(
        4 * 8 * n_rows * variable.arity,
        f"A prediction for {n_rows:,} rows",
        "Predict fewer rows at a time.",
    )
    logs = np.zeros((n_rows, variable.arity))
    logs += logarithm(network.table(target))[network.configurations(target, codes)]
    columns = {name: column[:, None] for name, column in codes.items()}
    columns[target] = np.arange(variable.arity)
    for child in network.dag.children(target):
        logs += logarithm(network.table(child))[
            network.configurations(child, columns), columns[child]
        ]
    top = logs.max(axis=1, keepdims=True)
    impossible = np.flatnonzero(np.isneginf(top))
    if len(impossible):
        raise DataError(
            f"{_label(dataset, impossible[0])} is impossible under the network, whatever "
            f"{target!r} is, so that nothing can be predicted."
        )
    logs -= top
    np.exp(logs, out=logs)
    logs /= logs.sum(axis=1, keepdims=True)
    logs.flags.writeable = False
    return Prediction(variable, logs)


def _label(dataset: Dataset, place: int) -> str:
    """Return how a sentence names a row; equal rows that are stored once have no number."""
    return f"{'Row' if dataset.weights is None else 'Distinct row'} {place + 1:,}"


def _columns(
    network: BayesianNetwork, dataset: Dataset, names: Sequence[str], owner: str, why: str
) -> dict[str, NDArray[np.integer]]:
    """Return for each name the number of its state in each row, as the network counts."""
    if not isinstance(dataset, Dataset):
        raise bad_parameter("dataset", owner, "a Dataset (see read_data)", dataset)
    for name in names:
        if name not in dataset.names:
            raise DataError(f"There is no column {name!r}. {why}")
    return {name: _codes(network.variable(name), dataset) for name in names}


def _codes(variable: Variable, dataset: Dataset) -> NDArray[np.integer]:
    """Return the number of the state of a variable in each row, as the network counts."""
    place = dataset.position(variable.name)
    number = {state: i for i, state in enumerate(variable.states)}
    found = np.array([number.get(state, -1) for state in dataset.variables[place].states])
    strange = found[dataset.codes[place]] < 0
    if strange.any():
        row = int(strange.argmax())
        state = dataset.variables[place].states[dataset.codes[place][row]]
        states = listed([repr(state) for state in variable.states])
        raise DataError(
            f"Column {variable.name!r} holds {state!r}, which is not one of its states in the "
            f"network: {states}. {_label(dataset, row)} is the first."
        )
    # As small as the codes of the data: there may be many rows.
    small = found.clip(0).astype(np.min_scalar_type(variable.arity))
    codes: NDArray[np.integer] = small[dataset.codes[place]]
    return codes
