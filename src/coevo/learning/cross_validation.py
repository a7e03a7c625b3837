"""Cross-validation: how well networks learned from most of the rows describe the other rows.

The rows are split into folds. Each fold is held out once: a network is learned from all other
folds, exactly as `learn` does it, and measured on the fold that is held out. Reading is part of
learning: cut points come from the rows that are learned from, never from those held out. What must
be the same in all folds comes from the whole table: which columns are variables, the states of
categorical columns, and the cut points of the variable that is predicted.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Unpack, cast

import numpy as np
from numpy.typing import NDArray

from coevo.checks import finite_or_none, is_int
from coevo.data import ColumnInfo, IncompleteDataset, ReadPlan, Rows, Variable
from coevo.data.decisions import RawTable
from coevo.data.known_rows import UnknownCells, read_known_rows
from coevo.errors import (
    CoevoWarning,
    DataError,
    ParameterError,
    bad_parameter,
    format_list,
    suggest_match,
)
from coevo.graph import DAG, Constraints
from coevo.learning.arguments import flatten
from coevo.learning.folds import RowNumbers, hash_cells, split_clusters, split_rows
from coevo.learning.settings import LearnSettings, check_settings
from coevo.learning.task import open_task
from coevo.network import BayesianNetwork, PredictionMetrics
from coevo.network.metrics import check_evaluation, compute_metrics
from coevo.options import (
    CrossValidateOptions,
    FlatOptions,
    MovedOfCrossValidate,
    RowParameters,
    fill_defaults,
    get_defaults,
)
from coevo.progress import ProgressCallback, check_progress, show_progress
from coevo.runtime.deadline import defer_interrupts
from coevo.runtime.randomness import resolve_seed
from coevo.signatures import accept_options

__all__ = ["CrossValidation", "FoldResult", "cross_validate", "run_folds"]


@dataclass(frozen=True, slots=True)
class FoldResult:
    """One fold: what was learned from the other folds, and how well it describes this one.

    Attributes
    ----------
    n_rows : int
        Number of rows that were held out.
    n_arcs : int
        Number of arcs of the network that was learned from the others.
    log_likelihood : float
        The mean log-likelihood of a row that was held out.
    unknown : UnknownCells
        The cells of these rows that are unknown, and why.
    seconds : float
        Time to learn and to measure.
    """

    n_rows: int
    n_arcs: int
    log_likelihood: float
    unknown: UnknownCells
    seconds: float


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """The result of a cross-validation.

    Attributes
    ----------
    folds : tuple of FoldResult
        One for each fold.
    per_row : array
        (n_rows,): the log-likelihood of each row under the network that was not learned from it.
    n_variables : int
        Number of variables.
    target : Variable or None
        The variable that was predicted.
    probabilities : array or None
        (n_rows, states): the predicted probabilities of the target in each row.
    true : array of int or None
        The number of the true state of the target in each row; -1 is unknown.
    metrics : PredictionMetrics or None
        The quality of the predictions, over all rows whose true state is known.
    """

    folds: tuple[FoldResult, ...]
    per_row: NDArray[np.float64]
    n_variables: int
    target: Variable | None = None
    probabilities: NDArray[np.float64] | None = None
    true: NDArray[np.int32] | None = None
    metrics: PredictionMetrics | None = None

    @property
    def log_likelihood(self) -> float:
        """The mean log-likelihood of a row that was held out; higher is better."""
        return math.fsum(self.per_row) / len(self.per_row)

    @property
    def standard_error(self) -> float:
        """The standard error of the mean log-likelihood, over rows; NaN if a row is impossible."""
        if not np.isfinite(self.per_row).all():
            return math.nan
        n_rows, squares = len(self.per_row), (self.per_row - self.log_likelihood) ** 2
        return math.sqrt(math.fsum(squares) / (n_rows - 1) / n_rows)

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers as plain values; an infinite one is None."""
        answer: dict[str, Any] = {
            "log_likelihood": finite_or_none(self.log_likelihood),
            "standard_error": finite_or_none(self.standard_error),
            "n_rows": len(self.per_row),
            "n_variables": self.n_variables,
            "folds": [
                {
                    "n_rows": fold.n_rows,
                    "n_arcs": fold.n_arcs,
                    "log_likelihood": finite_or_none(fold.log_likelihood),
                    "unknown": fold.unknown.as_dict(),
                    "seconds": fold.seconds,
                }
                for fold in self.folds
            ],
        }
        if self.target is not None and self.metrics is not None:
            answer["target"] = self.target.name
            answer["states"] = list(self.target.states)
            answer["metrics"] = self.metrics.as_dict()
        return answer

    def __repr__(self) -> str:
        accuracy = "" if self.metrics is None else f", accuracy {self.metrics.accuracy:.3f}"
        return (
            f"<CrossValidation: {len(self.folds)} folds, {len(self.per_row):,} rows, "
            f"log-likelihood {self.log_likelihood:z.4f} a row{accuracy}>"
        )


@accept_options(CrossValidateOptions, MovedOfCrossValidate)
def cross_validate(
    data: Any,
    *,
    cv: int = 10,
    predict: str | None = None,
    structure: DAG | None = None,
    progress: bool | None = None,
    **options: Unpack[CrossValidateOptions],
) -> CrossValidation:
    """Measure how well networks learned from a table describe rows that they have not seen.

    Parameters
    ----------
    data : path, data frame, PyArrow table, array, SQL query or Dataset
        The observations, as for `learn`.
    cv : int
        Number of folds, at least 2 and at most the number of rows (default: 10).
    predict : str, optional
        The variable to predict. The answer then also has the quality of the predictions; the
        folds have equal shares of its states. Without it only the likelihood is measured.
    structure : DAG, optional
        Fit only the tables of this structure in each fold, instead of learning a structure.
    progress : bool, optional
        As for `learn`.
    **options
        As for `learn`; `random_state` also determines the folds. The order of rows does not.

    Returns
    -------
    CrossValidation
        Ctrl-C is a `KeyboardInterrupt`: a mean over some folds would not be that of the table.

    Examples
    --------
    >>> import coevo
    >>> rows = coevo.sample(coevo.load_network("asia"), 600, random_state=1)
    >>> cross_validate(rows, cv=3, predict="bronc", method="hill_climb", random_state=1)
    <CrossValidation: 3 folds, 600 rows, log-likelihood -2.2328 a row, accuracy 0.840>
    """
    check_progress(progress, "cross_validate")
    chosen = flatten("cross_validate", options)
    with show_progress(progress, "Reading the table ...") as show:
        return run_folds(data, cv, predict, structure, show, **chosen)


def run_folds(
    table: Any,
    cv: int,
    predict: str | None,
    structure: DAG | None,
    show: ProgressCallback,
    **options: Unpack[FlatOptions],
) -> CrossValidation:
    """Cross-validate as `cross_validate` does, and show the number of the fold."""
    if not is_int(cv, 2):
        raise bad_parameter("cv", "cross_validate", "an int >= 2", cv)
    if structure is not None and not isinstance(structure, DAG):
        raise bad_parameter("structure", "cross_validate", "a DAG or None", structure)
    chosen = fill_defaults(FlatOptions, options)
    seed = resolve_seed(chosen["random_state"], "cross_validate")
    fixed: FlatOptions = {**chosen, "random_state": seed, "bootstraps": 0}
    plan = _make_plan(table, cv, predict, structure, fixed)
    return _run(plan, lambda fold: show(f"Fold {fold + 1} of {cv} ..."))


@dataclass(frozen=True)
class _Plan:
    """What all folds share. `folds` has the rows that are held out in each."""

    raw: RawTable
    names: tuple[str, ...]
    target: Variable | None
    folds: tuple[RowNumbers, ...]
    options: FlatOptions


def _make_plan(
    table: Any, cv: int, target: str | None, structure: DAG | None, options: FlatOptions
) -> _Plan:
    """Read the table, and decide what all folds share."""
    chosen: dict[str, Any] = dict(options)
    if options.get("shards") is not None:
        raise ParameterError("'shards' of cross_validate cannot be used. Leave it out.")
    settings = check_settings("cross_validate", **options)
    raw = settings.load_raw(table)
    rows, info = settings.read_table(raw)
    infos = {column.name: column for column in info.columns if column.type != "ignore"}
    if structure is not None:
        infos = _select_structure(infos, structure)
        chosen |= {"constraints": _fix_structure(structure), "start": None, "max_parents": None}
        chosen |= {"roots": (), "leaves": ()}
        chosen |= {"method": "hill_climb", "max_table": None}
    variable = None if target is None else _find_target(rows, infos, target)
    n_rows = len(raw.columns[0].codes)
    if n_rows < 2:
        raise DataError("The table has one row. A cross-validation needs at least two.")
    n_parts = n_rows if raw.clusters is None else len(np.unique(raw.clusters))
    if cv > n_parts:
        noun = "" if raw.clusters is None else ", the number of clusters"
        raise bad_parameter("cv", "cross_validate", f"an int from 2 to {n_parts:,}{noun}", cv)
    sources = ReadPlan.from_parameters(only=list(infos)).find_sources(
        [column.name for column in raw.columns]
    )
    used = {*infos, *(name for pair in sources.values() for name in pair)}
    kept = [column for column in raw.columns if column.name in used]
    raw = replace(raw, columns=kept)
    strata = np.zeros(n_rows, np.int32)
    if variable is not None:
        strata = read_known_rows(raw, [variable.to_canonical()]).codes[variable.name]
    continuous = {name for name, column in infos.items() if column.type == "continuous"}
    hashes = hash_cells(kept, continuous, settings.find_missing)
    rng = np.random.default_rng([int(chosen["random_state"]), 0])
    if raw.clusters is None:
        folds = split_rows(strata, cv, rng, hashes)
    else:
        folds = split_clusters(strata, raw.clusters, cv, rng, hashes)
    chosen["types"] = {name: _fix_type(column, target) for name, column in infos.items()}
    chosen |= {"drop": (), "names": None, "states": None, "strict": False}
    chosen |= get_defaults(RowParameters)  # the rows are chosen already
    return _Plan(raw, tuple(infos), variable, folds, cast(FlatOptions, chosen))


def _fix_type(column: ColumnInfo, target: str | None) -> dict[str, Any]:
    """Return the type of a column in all folds: its states, but not the cut points it found."""
    declared = column.as_dict()
    declared.pop("name", None)
    is_found = column.cuts is not None and column.method is not None
    if is_found and column.name != target:
        for key in ("cuts", "states", "bins", "method"):
            declared.pop(key, None)
    return declared


def _find_target(rows: Rows, infos: Mapping[str, ColumnInfo], target: str) -> Variable:
    """Return the variable to predict, with its states in the whole table."""
    if target not in infos:
        raise DataError(
            f"{target!r} is not a variable of the table, so it cannot be predicted."
            f"{suggest_match(target, list(infos))}"
        )
    dataset = rows.dataset if isinstance(rows, IncompleteDataset) else rows
    states = infos[target].states
    place = dataset.find_position(target)
    return Variable(target, states or dataset.variables[place].states)


def _select_structure(infos: Mapping[str, ColumnInfo], structure: DAG) -> dict[str, ColumnInfo]:
    """Return the columns of a structure."""
    absent = [name for name in structure.nodes if name not in infos]
    if absent:
        raise DataError(
            f"The table has no variable {format_list([repr(name) for name in absent])}, which the "
            "structure has."
        )
    return {name: column for name, column in infos.items() if name in structure.nodes}


def _fix_structure(structure: DAG) -> Constraints:
    """Return constraints that only this structure fulfils."""
    arcs = set(structure.arcs)
    pairs = [(a, b) for a in structure.nodes for b in structure.nodes if a != b]
    return Constraints(required=sorted(arcs), forbidden=[p for p in pairs if p not in arcs])


def _run(plan: _Plan, show: Callable[[int], None]) -> CrossValidation:
    """Learn and measure in each fold."""
    n_rows, variable = len(plan.raw.columns[0].codes), plan.target
    settings = check_settings("cross_validate", **plan.options)
    per_row, folds = np.empty(n_rows), []
    shares = None
    if variable is not None:
        check_evaluation(variable, n_rows)
        shares = np.zeros((n_rows, variable.arity))
    for number, held_out in enumerate(plan.folds):
        show(number)
        began = time.perf_counter()
        others = np.setdiff1d(np.arange(n_rows), held_out)
        with warnings.catch_warnings():  # a column may be constant, a row impossible, in one fold
            warnings.simplefilter("ignore", CoevoWarning)
            network = _learn(settings, plan.raw.take(others))
            rows = read_known_rows(plan.raw.take(held_out), network.variables)
            likelihood = network.log_likelihood(rows, exact=True)
            per_row[held_out] = likelihood.per_row
            if variable is not None and shares is not None:
                shares[held_out] = _predict(network, rows, variable)
        seconds = time.perf_counter() - began
        n_arcs = len(network.dag.arcs)
        folds.append(
            FoldResult(len(held_out), n_arcs, likelihood.mean, likelihood.unknown, seconds)
        )
    found = CrossValidation(tuple(folds), per_row, len(plan.names))
    if variable is None or shares is None:
        return found
    true = read_known_rows(plan.raw, [variable]).codes[variable.name]
    metrics = compute_metrics(variable, shares, true)
    return replace(found, target=variable, probabilities=shares, true=true, metrics=metrics)


def _learn(settings: LearnSettings, raw: RawTable) -> BayesianNetwork:
    """Return the network of some rows.

    Ctrl-C ends the search after its generation, and then the cross-validation: the network of a
    search that was cut short would be measured as if it was the answer of the method.
    """
    with defer_interrupts() as interrupts:
        with open_task(settings, raw) as task:
            learned = task.search([lambda row: interrupts.is_pending])
        network = learned.network
    if interrupts.is_pending or learned.search.stop_reason == "interrupt":
        raise KeyboardInterrupt
    return network


def _predict(network: BayesianNetwork, rows: Any, variable: Variable) -> NDArray[np.float64]:
    """Return the probabilities of the states of a variable, in its own order of states."""
    found = network.predict(rows, variable.name, exact=True)
    places = {state: k for k, state in enumerate(found.variable.states)}
    chosen: NDArray[np.float64] = found.probabilities[:, [places[s] for s in variable.states]]
    return chosen
