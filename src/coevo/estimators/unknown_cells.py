"""TO BE REPLACED: rows with unknown cells, and slow exact inference for them.

`BayesianNetwork.predict` and `BayesianNetwork.log_likelihood` will take any table, with missing
values, absent columns and labels that are no states. Until then this module does it for the
estimators: `read_known_rows` reads the rows, and the other two functions eliminate the unknown
variables of one distinct row at a time. `NetworkEstimator._read` is the only caller of the first
one, and `NetworkEstimator._log_likelihood` and `NetworkEstimator._predict` are those of the other
two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.data import CutPoints, Dataset, IncompleteDataset, Variable
from coevo.data.columns import Column, check_rows
from coevo.data.load import load_table
from coevo.data.number_labels import NumberLabels, parse_numbers
from coevo.data.prepare_columns import prepare_columns
from coevo.data.read_options import ReadOptions
from coevo.network import BayesianNetwork

__all__ = ["KnownRows", "log_likelihood", "predict", "read_known_rows"]

UNKNOWN = -1

Codes = NDArray[np.int64]  # (n_rows,), the number of the state, or -1 if it is unknown


@dataclass(frozen=True, eq=False)
class KnownRows:
    """Rows in the states of variables; a code of -1, or no codes, is unknown."""

    codes: Mapping[str, Codes]
    n_rows: int


def read_known_rows(
    source: Any,
    variables: Sequence[Variable],
    *,
    names: Sequence[str] | None = None,
    decimal: str | None = None,
    missing_labels: Sequence[str] | None = None,
) -> KnownRows:
    """Read a table in the states and bins of variables; other columns are ignored."""
    if isinstance(source, Dataset | IncompleteDataset):
        return _convert_dataset(source, variables)
    only = [variable.name for variable in variables]
    options = ReadOptions.from_parameters(tuple(variables), only=only)
    lenient = options.use_decimal(decimal).allow_missing(missing_labels)
    raw = load_table(source, replace(lenient, is_lenient=True), names)
    check_rows(raw.columns)
    n_rows = len(raw.columns[0].codes)
    filled = [
        column
        for column in raw.columns
        if column.counts[column.find_missing(lenient.missing_labels)].sum() < n_rows
    ]
    by_name: dict[str, Column] = {}
    if filled:
        by_name = {column.name: column for column in prepare_columns(filled, lenient).columns}
    codes = {}
    for variable in variables:
        if variable.name in by_name:
            column = by_name[variable.name]
            codes[variable.name] = _match(variable, column.labels)[column.codes]
            if column.missing is not None:
                codes[variable.name][column.missing] = UNKNOWN
    return KnownRows(codes, n_rows)


def _convert_dataset(
    source: Dataset | IncompleteDataset, variables: Sequence[Variable]
) -> KnownRows:
    rows = source.expand() if isinstance(source, Dataset) else source.dataset
    codes = {}
    for variable in variables:
        if variable.name in rows.names:
            place = rows.find_position(variable.name)
            known = _match(variable, rows.variables[place].states)[rows.codes[place]]
            if isinstance(source, IncompleteDataset):
                known = np.where(source.missing[place], UNKNOWN, known)
            codes[variable.name] = known
    return KnownRows(codes, rows.n_rows)


def _match(variable: Variable, labels: Sequence[str | None]) -> Codes:
    """Return for each label the number of its state, or -1."""
    number = {state: code for code, state in enumerate(variable.states)}
    cuts = CutPoints.from_states(variable.states)
    if isinstance(labels, NumberLabels):
        parsed = labels.numbers.astype(np.float64)
    else:
        one_by_one = [parse_numbers([label]) for label in labels]
        parsed = np.array([np.nan if one is None else one[0] for one in one_by_one], dtype=float)
    if cuts is not None:
        bins = cuts.apply(np.nan_to_num(parsed))
        found = np.array([number[state] for state in cuts.states])[bins]
        found = np.where(np.isnan(parsed), UNKNOWN, found)
    else:
        values = {_parse(state): code for state, code in reversed(number.items())}
        found = np.array([values.get(value, UNKNOWN) for value in parsed.tolist()], dtype=np.int64)
    if isinstance(labels, NumberLabels):
        return found
    exact = np.array([number.get(str(label), UNKNOWN) for label in labels], dtype=np.int64)
    return np.where(exact == UNKNOWN, found, exact)


def _parse(state: str) -> float:
    parsed = parse_numbers([state])
    return np.nan if parsed is None else float(parsed[0])


def log_likelihood(network: BayesianNetwork, rows: KnownRows) -> NDArray[np.float64]:
    """Return the log-likelihood of each row; unknown cells are summed out."""
    variables = network.variables
    distinct, place = _find_distinct(rows, [variable.name for variable in variables])
    found = np.empty(len(distinct))
    is_complete = (distinct != UNKNOWN).all(axis=1)
    if is_complete.any():
        dataset = Dataset(variables, list(distinct[is_complete].T))
        found[is_complete] = network.log_likelihood(dataset).per_row
    for i in np.flatnonzero(~is_complete).tolist():
        found[i] = network.log_probability(_make_evidence(variables, distinct[i]))
    return found[place]


def predict(network: BayesianNetwork, rows: KnownRows, target: str) -> NDArray[np.float64]:
    """Return the probability of each state of the target in each row, given its known cells."""
    variables = [variable for variable in network.variables if variable.name != target]
    arity = network.variable(target).arity
    if not variables:
        return np.tile(network.table(target), (rows.n_rows, 1))
    distinct, place = _find_distinct(rows, [variable.name for variable in variables])
    found = np.empty((len(distinct), arity))
    blanket = set(network.dag.markov_blanket(target))
    in_blanket = np.array([variable.name in blanket for variable in variables])
    is_known = (distinct[:, in_blanket] != UNKNOWN).all(axis=1)
    if is_known.any():
        kept = distinct[is_known].clip(0)  # unknown cells outside the blanket do not matter
        dataset = Dataset(variables, list(kept.T))
        found[is_known] = network.predict(dataset, target).probabilities
    for i in np.flatnonzero(~is_known).tolist():
        found[i] = network.query(target, _make_evidence(variables, distinct[i])).probabilities
    return found[place]


def _find_distinct(rows: KnownRows, names: Sequence[str]) -> tuple[NDArray[np.int64], Codes]:
    """Return the distinct rows over some variables, and the place of each row among them."""
    unknown = np.full(rows.n_rows, UNKNOWN)
    table = np.stack([rows.codes.get(name, unknown) for name in names], axis=1)
    distinct, place = np.unique(table, axis=0, return_inverse=True)
    return distinct, place.reshape(-1)


def _make_evidence(variables: Sequence[Variable], codes: NDArray[np.int64]) -> dict[str, str]:
    pairs = zip(variables, codes.tolist(), strict=True)
    return {variable.name: variable.states[code] for variable, code in pairs if code != UNKNOWN}
