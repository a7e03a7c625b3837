"""What a network says of rows: how probable they are, and a column from all the others.

Rows are complete, so that no variable has to be summed out: a row's probability is the
product of one entry of each table, and a variable depends on its Markov blanket alone.
These functions are the methods of `BayesianNetwork` that have their names; what they mean
stands there.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coevo.data import Dataset, Variable
from coevo.errors import CoevoWarning, DataError, bad_parameter, listed
from coevo.memory import check_memory
from coevo.network.bayesian_network import BayesianNetwork
from coevo.network.elimination import first_best, logarithm

__all__ = ["Prediction", "RowLikelihood", "log_likelihood", "predict"]


@dataclass(frozen=True, eq=False)
class RowLikelihood:
    """How probable rows are under a network, as natural logarithms."""

    total: float  # a row that occurs several times counts as often
    per_row: NDArray[np.float64]  # (n_stored_rows,)


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


def log_likelihood(network: BayesianNetwork, dataset: Dataset) -> RowLikelihood:
    """Return the logarithm of the probability of each row, and their sum."""
    names = sorted(variable.name for variable in network.variables)
    codes = _columns(network, dataset, names, "log_likelihood")
    per_row = np.zeros(dataset.codes.shape[1])
    for name in names:
        table = logarithm(network.table(name))
        per_row += table[network.configurations(name, codes), codes[name]]
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
    return RowLikelihood(math.fsum(weighted), per_row)


def predict(network: BayesianNetwork, dataset: Dataset, target: str) -> Prediction:
    """Return how probable each state of the target is in each row, given its blanket."""
    variable = network.variable(target)
    blanket = network.dag.markov_blanket(target)
    codes = _columns(network, dataset, blanket, "predict")
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
    network: BayesianNetwork, dataset: Dataset, names: Iterable[str], owner: str
) -> dict[str, NDArray[np.integer]]:
    """Return for each name the number of its state in each row, as the network counts."""
    if not isinstance(dataset, Dataset):
        raise bad_parameter("dataset", owner, "a Dataset (see read_data)", dataset)
    columns = {}
    for name in names:
        place = dataset.position(name)
        known = network.variable(name).states
        number = {state: i for i, state in enumerate(known)}
        found = np.array([number.get(state, -1) for state in dataset.variables[place].states])
        strange = found[dataset.codes[place]] < 0
        if strange.any():
            row = int(strange.argmax())
            state = dataset.variables[place].states[dataset.codes[place][row]]
            states = listed([repr(state) for state in known])
            raise DataError(
                f"Column {name!r} holds {state!r}, which is not one of its states in the "
                f"network: {states}. {_label(dataset, row)} is the first."
            )
        # As small as the codes of the data: there may be many rows.
        columns[name] = found.clip(0).astype(np.min_scalar_type(len(known)))[dataset.codes[place]]
    return columns
