"""Rows of data under a network: their log-likelihood, and the prediction of one column.

A cell may be unknown: its value is missing, its label is no state of the network, or the table has
no such column. Unknown variables are summed out, exactly. `log_likelihood` and `predict`
implement the methods of `BayesianNetwork` with the same names, which document them.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from coevo.data.known_rows import KnownRows, UnknownCells, read_known_rows
from coevo.data.match_states import UNKNOWN
from coevo.data.variable import Variable
from coevo.errors import format_count, warn_caller
from coevo.memory import check_memory
from coevo.network.bayesian_network import BayesianNetwork
from coevo.network.elimination import argmax_first, logarithm
from coevo.network.inference import query
from coevo.network.metrics import PredictionMetrics, compute_metrics
from coevo.network.row_elimination import Component, RowInference
from coevo.options import SourceParameters

__all__ = [
    "Prediction",
    "RowLikelihood",
    "log_likelihood",
    "predict",
    "read_rows",
]

GUESSES = ("decimal_mark", "date_order")  # decisions that may differ from those of the network

RowNumbers = NDArray[np.intp]
FindComponents = Callable[[int], Iterator[Component]]  # of rows that know these variables


@dataclass(frozen=True, eq=False)
class RowLikelihood:
    """The log-likelihood of rows under a network, in natural logarithms.

    Attributes
    ----------
    total : float
        Over all rows; a row of weight w counts w times.
    per_row : array
        (n_stored_rows,): of the known cells of each row.
    per_variable : mapping of str to float
        Of each variable given its parents; they add up to the total. Empty if a cell is unknown:
        the likelihood of such a row is no product over variables.
    n_rows : int
        Number of rows.
    unknown : UnknownCells
        The cells that are unknown, and why.
    """

    total: float
    per_row: NDArray[np.float64]
    per_variable: Mapping[str, float]
    n_rows: int
    unknown: UnknownCells = field(default_factory=UnknownCells)

    @property
    def mean(self) -> float:
        """The mean over all rows."""
        return self.total / self.n_rows


@dataclass(frozen=True, eq=False)
class Prediction:
    """The probability of each state of a variable in each row, given what is known of the row.

    Attributes
    ----------
    variable : Variable
        The target.
    probabilities : array
        (n_stored_rows, states), read-only.
    unknown : UnknownCells
        The cells that are unknown, and why.
    impossible : array of int
        The rows that are impossible under the network. Their prediction uses no evidence.
    """

    variable: Variable
    probabilities: NDArray[np.float64]
    unknown: UnknownCells = field(default_factory=UnknownCells)
    impossible: RowNumbers = field(default_factory=lambda: np.empty(0, dtype=np.intp))

    @property
    def codes(self) -> NDArray[np.intp]:
        """The number of the most probable state in each row; ties go to the first state."""
        return argmax_first(logarithm(self.probabilities))

    @property
    def states(self) -> tuple[str, ...]:
        """The most probable state in each row; ties go to the first state."""
        return tuple(self.variable.states[code] for code in self.codes)

    def join(self, frame: Any, probabilities: bool = False) -> Any:
        """Return a copy of a data frame with the prediction of each of its rows.

        The new columns are ``predicted`` and ``probability``, and with `probabilities` one for
        each state, as ``ill=yes``. The index and all other columns stay.
        """
        from coevo.data.frame_columns import add_columns  # imports narwhals

        return add_columns(frame, self.list_columns(probabilities), "join")

    def list_columns(self, probabilities: bool = False) -> list[tuple[str, list[Any]]]:
        """Return the names and the cells of the columns that `join` adds."""
        shares, name = self.probabilities, self.variable.name
        columns: list[tuple[str, list[Any]]] = [
            ("predicted", list(self.states)),
            ("probability", shares[np.arange(len(shares)), self.codes].tolist()),
        ]
        if probabilities:
            states = enumerate(self.variable.states)
            columns += [(f"{name}={state}", shares[:, code].tolist()) for code, state in states]
        return columns

    def evaluate(self, table: Any) -> PredictionMetrics:
        """Compare the prediction with the true states in the same rows.

        `table` is a table of any kind with the column of the target. Rows whose true state is
        unknown do not count.
        """
        rows = read_known_rows(table, [self.variable])
        true = rows.codes.get(self.variable.name, np.full(rows.n_stored, UNKNOWN, np.int32))
        return compute_metrics(self.variable, self.probabilities, true, rows.weights)


def read_rows(
    network: BayesianNetwork,
    table: Any,
    *,
    only: Iterable[str] | None = None,
    drop: Iterable[str] = (),
    names: Sequence[str] | None = None,
    types: Mapping[str, Any] | None = None,
    decimal: str | None = None,
    **opening: Unpack[SourceParameters],
) -> KnownRows:
    """Read a table with the variables, states and bins of a network; cells may be unknown.

    `only` names the variables to read (default: all). Columns that the network does not have
    are ignored. A part of a date (``visit_month``) is taken from its column (``visit``). `types`
    gives the order of day and month of a column of dates (``'dmy'``, ``'mdy'``; ``'date+mdy'`` for
    dates in bins). `read_known_rows` documents the other parameters. A guess about the decimal
    mark or the order of day and month is a warning.

    >>> from coevo.bundled import load_network
    >>> table = np.array([["yes", "7.5"], ["no", "9.25"]])
    >>> rows = read_rows(load_network("asia"), table, names=["smoke", "height"])
    >>> rows.n_rows, list(rows.codes), len(rows.unknown.absent)
    (2, ['smoke'], 7)
    """
    if isinstance(table, KnownRows):
        return table
    rows = read_known_rows(
        table,
        network.variables,
        only=only,
        drop=drop,
        names=names,
        types=types,
        decimal=decimal,
        **opening,
    )
    for decision in rows.decisions:
        if decision.kind in GUESSES:
            warn_caller(str(decision))
    return rows


def log_likelihood(network: BayesianNetwork, table: Any) -> RowLikelihood:
    """Return the log-likelihood of each row and of all rows."""
    rows = read_rows(network, table)
    columns, inference = _complete_columns(network, rows), RowInference(network)
    per_row, per_variable = np.zeros(rows.n_stored), dict[str, float]()
    for name in inference.names:
        family = (*network.parents(name), name)
        if any(member not in columns for member in family):
            continue
        known, cells = _find_cells(network, name, columns)
        table_logs = logarithm(network.table(name))
        per_row[known] += table_logs.ravel()[cells]
        if len(known) == rows.n_stored:
            n_rows = np.bincount(cells, rows.weights, minlength=table_logs.size)
            occurring = np.flatnonzero(n_rows)
            per_variable[name] = math.fsum(n_rows[occurring] * table_logs.ravel()[occurring])
    is_complete = len(per_variable) == len(network.variables)
    if not is_complete:
        for component, numbers in _group_rows(inference, columns, rows.n_stored):
            per_row[numbers] += inference.compute(component, _take(columns, numbers))
    _warn_of_impossible_rows(rows, np.flatnonzero(np.isneginf(per_row)))
    weighted = per_row if rows.weights is None else per_row * rows.weights
    total = math.fsum(weighted)
    shares = per_variable if is_complete else {}
    return RowLikelihood(total, per_row, shares, rows.n_rows, rows.unknown)


def _warn_of_impossible_rows(rows: KnownRows, impossible: RowNumbers) -> None:
    if len(impossible):
        more = f" (and {len(impossible) - 1:,} more)" if len(impossible) > 1 else ""
        warn_caller(
            f"{rows.describe_row(int(impossible[0]))}{more} is impossible under the network; its "
            "log-likelihood is -inf."
        )


def predict(network: BayesianNetwork, table: Any, target: str) -> Prediction:
    """Return the probability of each state of the target in each row, given what is known."""
    variable = network.variable(target)
    rows = read_rows(network, table).hide(target)
    n_rows = rows.n_stored
    check_memory(
        4 * 8 * n_rows * variable.arity,
        f"A prediction for {n_rows:,} rows",
        "Predict fewer rows at a time.",
    )
    columns, inference = _complete_columns(network, rows), RowInference(network)
    logs = np.zeros((n_rows, variable.arity))
    if variable.arity > 1:
        columns.pop(target, None)
        number = inference.number[target]
        find = partial(inference.iterate_components, target=number)
        for component, numbers in _group_rows(inference, columns, n_rows, find):
            logs[numbers] = inference.compute(component, _take(columns, numbers), target)
    is_impossible = _find_contradictions(network, inference, columns, n_rows, target)
    impossible = np.flatnonzero(np.isneginf(logs.max(axis=1)) | is_impossible)
    if len(impossible):
        prior = query(network, target, exact=True)
        logs[impossible] = logarithm(prior.probabilities)
        _warn_of_ignored_evidence(rows, impossible, target)
    logs -= logs.max(axis=1, keepdims=True)
    np.exp(logs, out=logs)
    logs /= logs.sum(axis=1, keepdims=True)
    logs.flags.writeable = False
    return Prediction(variable, logs, rows.unknown, impossible)


def _find_contradictions(
    network: BayesianNetwork,
    inference: RowInference,
    columns: Mapping[str, NDArray[np.int32]],
    n_rows: int,
    target: str,
) -> NDArray[np.bool_]:
    """Return whether each row is impossible because of tables that do not concern the target.

    Only a table with a probability of 0 can make a row impossible; most networks have none.
    """
    found = np.zeros(n_rows, dtype=np.bool_)
    strict = [name for name in inference.names if not network.table(name).all()]
    for name in strict:
        if all(member in columns for member in (*network.parents(name), name)):
            known, cells = _find_cells(network, name, columns)
            found[known] |= network.table(name).ravel()[cells] == 0
    if not strict:
        return found
    find: FindComponents = inference.iterate_components
    if target not in columns:
        find = partial(inference.iterate_other_components, target=inference.number[target])
    tables = inference.make_set(strict)
    for component, numbers in _group_rows(inference, columns, n_rows, find):
        if component.tables & tables:
            logs = inference.compute(component, _take(columns, numbers))
            found[numbers] |= np.isneginf(logs)
    return found


def _find_cells(
    network: BayesianNetwork, name: str, columns: Mapping[str, NDArray[np.int32]]
) -> tuple[RowNumbers, NDArray[np.intp]]:
    """Return the rows that know a variable and its parents, and the cell of its table in each."""
    family = (*network.parents(name), name)
    known = np.flatnonzero(_find_known([columns[member] for member in family]))
    codes = {member: columns[member][known] for member in family}
    arity = network.variable(name).arity
    return known, network.find_configurations(name, codes) * arity + codes[name]


def _warn_of_ignored_evidence(rows: KnownRows, impossible: RowNumbers, target: str) -> None:
    n = int(len(impossible) if rows.weights is None else rows.weights[impossible].sum())
    are, their = ("is", "its") if n == 1 else ("are", "their")
    first = rows.describe_row(int(impossible[0]))
    warn_caller(
        f"{format_count(n, 'row')} {are} impossible under the network for every state of "
        f"{target!r} ({first} is the first); {their} prediction uses no evidence."
    )


def _complete_columns(network: BayesianNetwork, rows: KnownRows) -> dict[str, NDArray[np.int32]]:
    """Return the codes of all columns; a variable with one state is always known."""
    single = [variable.name for variable in network.variables if variable.arity == 1]
    return {**rows.codes, **{name: np.zeros(rows.n_stored, np.int32) for name in single}}


def _find_known(columns: Sequence[NDArray[np.int32]]) -> NDArray[np.bool_]:
    """Return the rows in which all of these columns are known."""
    known: NDArray[np.bool_] = columns[0] != UNKNOWN
    for column in columns[1:]:
        known &= column != UNKNOWN
    return known


def _take(
    columns: Mapping[str, NDArray[np.int32]], numbers: RowNumbers
) -> dict[str, NDArray[np.int32]]:
    """Return some rows of all columns."""
    return {name: column[numbers] for name, column in columns.items()}


def _group_rows(
    inference: RowInference,
    columns: Mapping[str, NDArray[np.int32]],
    n_rows: int,
    find: FindComponents | None = None,
) -> Iterator[tuple[Component, RowNumbers]]:
    """Yield each component that occurs, with its rows; `find` chooses some of the components."""
    groups: dict[Component, list[RowNumbers]] = defaultdict(list)
    iterate = inference.iterate_components if find is None else find
    for known, numbers in _find_patterns(inference, columns, n_rows):
        for component in iterate(known):
            groups[component].append(numbers)
    for component, parts in groups.items():
        yield component, parts[0] if len(parts) == 1 else np.sort(np.concatenate(parts))


def _find_patterns(
    inference: RowInference, columns: Mapping[str, NDArray[np.int32]], n_rows: int
) -> Iterator[tuple[int, RowNumbers]]:
    """Yield each set of known variables that occurs, as a bit set, with its rows."""
    always = [name for name, column in columns.items() if (column != UNKNOWN).all()]
    sometimes = sorted(columns.keys() - set(always))
    base = inference.make_set(always)
    if not sometimes:
        yield base, np.arange(n_rows)
        return
    flags = np.stack([columns[name] != UNKNOWN for name in sometimes], axis=1)
    packed = np.ascontiguousarray(np.packbits(flags, axis=1))
    keys = packed.view(np.dtype((np.void, packed.shape[1])))[:, 0]
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(place, kind="stable")
    ends = np.cumsum(np.bincount(place))
    for row, numbers in zip(first.tolist(), np.split(order, ends[:-1]), strict=True):
        known = [name for name, is_known in zip(sometimes, flags[row], strict=True) if is_known]
        yield base | inference.make_set(known), numbers
