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
from typing import Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from coevo.data.known_rows import KnownRows, UnknownCells, read_known_rows
from coevo.data.prepare.spellings import UNKNOWN
from coevo.data.variable import Variable
from coevo.errors import format_count, import_optional, warn_caller
from coevo.network.bayesian_network import BayesianNetwork
from coevo.network.elimination import Cost, argmax_first, count_bytes, logarithm
from coevo.network.inference import query
from coevo.network.metrics import PredictionMetrics, compute_metrics
from coevo.network.row_elimination import Component, RowInference, RowPlan
from coevo.network.work_limit import WorkLimit, check_exact
from coevo.options import SourceParameters
from coevo.runtime.memory import check_memory

__all__ = [
    "Prediction",
    "RowLikelihood",
    "log_likelihood",
    "predict",
    "read_rows",
]

FEWER = "Give fewer rows, or fewer unknown cells"
GUESSES = ("decimal_mark", "date_order")  # decisions that may differ from those of the network

RowNumbers = NDArray[np.intp]
FindComponents = Callable[[int], Iterator[Component]]  # of rows that know these variables


class _Job(NamedTuple):
    plan: RowPlan
    numbers: RowNumbers  # the rows that it is for


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
        from coevo.data.write_imputed import add_columns  # imports narwhals

        return add_columns(frame, self.list_columns(probabilities), "join")

    def to_pandas(self, probabilities: bool = False) -> Any:
        """Return the prediction as a data frame of pandas, with the columns that `join` adds.

        >>> from coevo.bundled import load_network
        >>> table = np.array([["yes", "yes"], ["no", "no"]])
        >>> rows = read_rows(load_network("asia"), table, names=["dysp", "smoke"])
        >>> load_network("asia").predict(rows, "bronc").to_pandas(probabilities=True).round(3)
          predicted  probability  bronc=yes  bronc=no
        0       yes        0.880      0.880     0.120
        1        no        0.913      0.087     0.913
        """
        pandas = import_optional("pandas", "pandas", "pandas")
        return pandas.DataFrame(dict(self.list_columns(probabilities)))

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


def log_likelihood(network: BayesianNetwork, table: Any, exact: bool = False) -> RowLikelihood:
    """Return the log-likelihood of each row and of all rows."""
    check_exact(exact, "log_likelihood")
    rows = read_rows(network, table)
    columns, inference = _complete_columns(network, rows), RowInference(network)
    per_row, per_variable = np.zeros(rows.n_stored), dict[str, float]()
    for name in inference.names:
        family = (*network.parents(name), name)
        if any(member not in columns for member in family):
            continue
        known = np.flatnonzero(_find_known([columns[member] for member in family]))
        values = {member: columns[member][known] for member in family}
        distribution = network.distribution(name)
        per_row[known] += distribution.log_density(values)
        if len(known) == rows.n_stored:
            per_variable[name] = distribution.total_log_density(values, rows.weights)
    is_complete = len(per_variable) == len(network.variables)
    if not is_complete:
        jobs = _plan_rows(inference, columns, rows.n_stored, inference.iterate_components)
        limit = WorkLimit("The log-likelihood of rows with unknown cells", exact, FEWER)
        limit.add(_measure_jobs(inference, columns, jobs), is_all=True)
        for plan, numbers in jobs:
            per_row[numbers] += inference.compute(plan, _take(columns, numbers))
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


def predict(network: BayesianNetwork, table: Any, target: str, exact: bool = False) -> Prediction:
    """Return the probability of each state of the target in each row, given what is known."""
    check_exact(exact, "predict")
    variable = network.variable(target)
    rows = read_rows(network, table).hide(target)
    n_rows = rows.n_stored
    check_memory(
        4 * 8 * n_rows * variable.arity,
        f"A prediction for {n_rows:,} rows",
        "Predict fewer rows at a time.",
    )
    columns, inference = _complete_columns(network, rows), RowInference(network)
    jobs = list[_Job]()
    if variable.arity > 1:
        columns.pop(target, None)
        find = partial(inference.iterate_components, target=inference.number[target])
        jobs = _plan_rows(inference, columns, n_rows, find, target)
    strict = [name for name in inference.names if not network.table(name).all()]
    checks = _plan_checks(inference, columns, n_rows, target, strict)
    limit = WorkLimit("A prediction", exact, FEWER)
    limit.add(_measure_jobs(inference, columns, [*jobs, *checks]), is_all=True)
    logs = np.zeros((n_rows, variable.arity))
    for plan, numbers in jobs:
        logs[numbers] = inference.compute(plan, _take(columns, numbers))
    is_impossible = _find_contradictions(network, inference, columns, n_rows, strict, checks)
    impossible = np.flatnonzero(np.isneginf(logs.max(axis=1)) | is_impossible)
    if len(impossible):
        prior = query(network, target, limit=limit)
        logs[impossible] = logarithm(prior.probabilities)
        _warn_of_ignored_evidence(rows, impossible, target)
    logs -= logs.max(axis=1, keepdims=True)
    np.exp(logs, out=logs)
    logs /= logs.sum(axis=1, keepdims=True)
    logs.flags.writeable = False
    return Prediction(variable, logs, rows.unknown, impossible)


def _plan_checks(
    inference: RowInference,
    columns: Mapping[str, NDArray[np.int32]],
    n_rows: int,
    target: str,
    strict: Sequence[str],
) -> list[_Job]:
    """Return the components that can make rows impossible, without that of the target."""
    if not strict:
        return []
    find: FindComponents = inference.iterate_components
    if target not in columns:
        find = partial(inference.iterate_other_components, target=inference.number[target])
    return _plan_rows(inference, columns, n_rows, find, among=inference.make_set(strict))


def _find_contradictions(
    network: BayesianNetwork,
    inference: RowInference,
    columns: Mapping[str, NDArray[np.int32]],
    n_rows: int,
    strict: Sequence[str],
    checks: Sequence[_Job],
) -> NDArray[np.bool_]:
    """Return whether each row is impossible because of tables that do not concern the target.

    Only a `strict` table, with a probability of 0, can make a row impossible; most networks have
    none.
    """
    found = np.zeros(n_rows, dtype=np.bool_)
    for name in strict:
        if all(member in columns for member in (*network.parents(name), name)):
            known, cells = _find_cells(network, name, columns)
            found[known] |= network.table(name).ravel()[cells] == 0
    for plan, numbers in checks:
        found[numbers] |= np.isneginf(inference.compute(plan, _take(columns, numbers)))
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


def _plan_rows(
    inference: RowInference,
    columns: Mapping[str, NDArray[np.int32]],
    n_rows: int,
    find: FindComponents,
    target: str | None = None,
    among: int = -1,
) -> list[_Job]:
    """Return a plan for each component that occurs, with its rows.

    `find` chooses some of the components of a row. Those without a table of the bit set `among` are
    left out.
    """
    groups: dict[Component, list[RowNumbers]] = defaultdict(list)
    for known, numbers in _find_patterns(inference, columns, n_rows):
        for component in find(known):
            if component.tables & among:
                groups[component].append(numbers)
    return [
        _Job(
            inference.plan(component, target),
            parts[0] if len(parts) == 1 else np.sort(np.concatenate(parts)),
        )
        for component, parts in groups.items()
    ]


def _measure_jobs(
    inference: RowInference, columns: Mapping[str, NDArray[np.int32]], jobs: Sequence[_Job]
) -> Cost:
    """Return what the jobs take, one after the other."""
    n_bytes = max((count_bytes(plan.n_peak) for plan, _ in jobs), default=0)  # of one row
    cost = Cost(n_bytes, sum(plan.n_cells * len(numbers) for plan, numbers in jobs))
    if cost.is_feasible:
        return cost
    # Rows with equal evidence are computed once. To count them takes time, so it is done here only.
    n_operations = sum(
        plan.n_cells * inference.count_distinct(plan, _take(columns, numbers))
        for plan, numbers in jobs
    )
    return Cost(n_bytes, n_operations)


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
