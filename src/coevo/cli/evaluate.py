"""``coevo evaluate``: how well a network describes a table, or networks learned in folds of it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coevo.cli.evidence_args import exact_option
from coevo.cli.missing import check_missing_options
from coevo.cli.options import (
    format_option,
    make_n_jobs_option,
    make_search_options,
    make_seed_option,
)
from coevo.cli.output import (
    format_confusion,
    format_metrics,
    format_states,
    print_json,
    show_status,
)
from coevo.cli.tables import column_options, read_declared_states, read_network_rows
from coevo.errors import ParameterError
from coevo.options import SourceParameters, list_options

if TYPE_CHECKING:
    from coevo.learning import CrossValidation
    from coevo.network import BayesianNetwork, RowLikelihood

__all__ = ["command"]

OWN_OPTIONS = ("sources", "cv", "target", "figure", "per_variable", "exact", "output_format")


@click.command("evaluate")
@click.argument("sources", nargs=-1, required=True, metavar="[MODEL] DATA")
@click.option(
    "--cv",
    type=click.IntRange(min=2),
    metavar="FOLDS",
    help="Cross-validate: learn from all folds but one, measure on that one, for each fold.",
)
@click.option(
    "--target",
    metavar="VARIABLE",
    help="Also predict this variable: accuracy, log loss, Brier score, AUC, sensitivity, "
    "specificity, calibration.",
)
@click.option(
    "--figure",
    metavar="FILE",
    help="Draw the ROC curve and the calibration of the prediction (.png, .svg or .pdf). Needs "
    "coevo[plot].",
)
@click.option(
    "--per-variable",
    is_flag=True,
    help="Also print the log-likelihood of each variable given its parents.",
)
@exact_option
@make_search_options("Stop each fold")
@column_options
@make_seed_option("answer")
@make_n_jobs_option("threads", "answer")
@format_option
def command(
    sources: tuple[str, ...],
    cv: int | None,
    target: str | None,
    figure: str | None,
    per_variable: bool,
    exact: bool,
    search: dict[str, Any],
    columns: dict[str, Any],
    seed: int,
    n_jobs: int,
    output_format: str,
) -> None:
    """Compute how well a network describes a table.

    MODEL is a network: a file, the folder of a run or the name of a bundled network. DATA is a
    table, as for coevo learn. Numbers are put into the bins of the network; other columns are
    ignored. Missing values, labels that the network does not know and variables without a column
    are unknown: they are summed out. The log-likelihood is a natural logarithm; higher is better.
    On held-out rows, which the network was not learned from, it shows how well the network
    generalises. One impossible row makes the total -inf (null in JSON); the answer then also has
    the log-likelihood of the possible rows alone.

    With --cv, networks are learned from parts of DATA and measured on the rest, by any method and
    score. MODEL may then be left out; if it is given, its structure is kept and only its tables
    are fitted.

    \b
    coevo evaluate run held_out.csv
    coevo evaluate alarm alarm.csv --per-variable
    coevo evaluate run held_out.csv --target HR --figure HR.png
    coevo evaluate patients.csv --cv 10 --target ill -m hill_climb -s bic
    """
    model, data = _split_sources(sources, cv)
    _check_options(cv, target, figure, per_variable, exact)
    if cv is not None:
        found = _cross_validate(
            model, data, cv, target, {**search, "random_state": seed, "n_jobs": n_jobs}, columns
        )
        if figure is not None:
            _draw_folds(found, Path(figure))
        _print_folds(found, output_format, figure)
        return
    _evaluate(str(model), data, target, figure, per_variable, exact, columns, output_format)


def _split_sources(sources: tuple[str, ...], cv: int | None) -> tuple[str | None, str]:
    """Return the model, if there is one, and the table."""
    if len(sources) > 2:
        raise ParameterError("Name a model and a table, or with '--cv' a table alone.")
    if len(sources) == 2:
        return sources
    if cv is None:
        raise ParameterError(
            "Name a model and a table, or learn from parts of the table with '--cv 10'."
        )
    return None, sources[0]


def _list_reading_options() -> set[str]:
    """Return the options that also serve to read a table for a network, without learning."""
    return {*list_options(SourceParameters), "drop", "column_types", "decimal"}


def _check_options(
    cv: int | None, target: str | None, figure: str | None, per_variable: bool, exact: bool
) -> None:
    """Raise `ParameterError` for options that do not fit together."""
    if figure is not None:
        from coevo.view.figures import check_figure_path

        if target is None:
            raise ParameterError(
                "'--figure' shows a prediction. Name the variable with '--target'."
            )
        check_figure_path(figure)
    if cv is not None and per_variable:
        raise ParameterError("'--per-variable' and '--cv' cannot be combined.")
    if cv is not None and exact:
        raise ParameterError("'--cv' is always exact. Leave out '--exact'.")
    if cv is not None:
        return
    context = click.get_current_context()
    given = click.core.ParameterSource.COMMANDLINE
    reading = _list_reading_options()
    for parameter in context.command.params:
        name = parameter.name or ""
        is_for_learning = name not in {*reading, *OWN_OPTIONS}
        if is_for_learning and context.get_parameter_source(name) == given:
            option = max(parameter.opts, key=len)
            raise ParameterError(f"{option!r} is about learning. Use it together with '--cv'.")


def _cross_validate(
    model: str | None,
    data: str,
    cv: int,
    target: str | None,
    search: dict[str, Any],
    columns: dict[str, Any],
) -> CrossValidation:
    check_missing_options(columns)
    with show_status(f"Reading {data} ...") as show:
        from coevo.bundled import open_structure
        from coevo.learning.cross_validation import run_folds

        declared = read_declared_states(columns["states"])
        structure = None if model is None else open_structure(model)
        return run_folds(data, cv, target, structure, show, **search, **declared.complete(columns))


def _draw_folds(found: CrossValidation, path: Path) -> None:
    from coevo.view.prediction_figure import write_prediction_figure

    assert found.target is not None
    assert found.probabilities is not None
    assert found.metrics is not None
    assert found.true is not None
    write_prediction_figure(path, found.target, found.probabilities, found.true, found.metrics)


def _print_folds(found: CrossValidation, output_format: str, figure: str | None) -> None:
    answer = found.as_dict()
    if figure is not None:
        answer["figure"] = figure
    if output_format == "json":
        print_json(answer)
        return
    mean, error = answer["log_likelihood"], answer["standard_error"]
    spread = "" if error is None else f", standard error {error:.6f}"
    click.echo(f"folds       {len(found.folds)}")
    click.echo(f"mean        {_format(mean)} per row that was held out{spread}")
    click.echo(f"rows        {len(found.per_row):,}")
    click.echo(f"variables   {found.n_variables:,}")
    click.echo("\n  fold    rows   arcs   mean per row   seconds")
    for number, fold in enumerate(answer["folds"], 1):
        value, seconds = _format(fold["log_likelihood"]), fold["seconds"]
        counts = f"{fold['n_rows']:>7,} {fold['n_arcs']:>6,}"
        click.echo(f"  {number:>4} {counts} {value:>14} {seconds:>9.1f}")
    if "metrics" in answer:
        click.echo("")
        for line in _format_prediction(answer["target"], answer["states"], answer["metrics"]):
            click.echo(line)
    if figure is not None:
        click.echo(f"wrote       {figure}")


def _format_prediction(target: str, states: list[str], metrics: dict[str, Any]) -> Iterator[str]:
    """Yield the lines about a prediction."""
    yield f"target      {target}"
    yield from format_metrics(metrics)
    yield from format_states(metrics)
    yield from format_confusion(states, metrics["confusion"])


def _evaluate(
    model: str,
    data: str,
    target: str | None,
    figure: str | None,
    per_variable: bool,
    exact: bool,
    columns: dict[str, Any],
    output_format: str,
) -> None:
    with show_status(f"Reading {data} ..."):
        from coevo.bundled import open_network

        network = open_network(model)
        reading = {name: columns[name] for name in _list_reading_options() & columns.keys()}
        rows = read_network_rows(network, data, reading)
        likelihood = network.log_likelihood(rows, exact=exact)
        if per_variable and not likelihood.per_variable:
            raise ParameterError(
                "'--per-variable' needs rows without unknown cells. "
                + " ".join(likelihood.unknown.describe())
            )
        answer = _make_answer(likelihood, list(rows.codes))
        if target is not None:
            answer |= _predict(network, rows, target, figure, exact)
    if output_format == "json":
        print_json(answer)
        return
    for line in _format_answer(answer, likelihood.unknown.describe(), per_variable):
        click.echo(line)


def _predict(
    network: BayesianNetwork, rows: Any, target: str, figure: str | None, exact: bool
) -> dict[str, Any]:
    """Return the measures of the prediction of a target; draw the figure."""
    prediction = network.predict(rows, target, exact=exact)
    metrics = prediction.evaluate(rows)
    answer: dict[str, Any] = {"target": target, "states": list(prediction.variable.states)}
    answer["metrics"] = metrics.as_dict()
    if figure is not None:
        from coevo.view.prediction_figure import write_prediction_figure

        shares = prediction.probabilities
        true = rows.codes[target]
        write_prediction_figure(Path(figure), prediction.variable, shares, true, metrics)
        answer["figure"] = figure
    return answer


def _format_answer(answer: dict[str, Any], unknown: list[str], per_variable: bool) -> Iterator[str]:
    """Yield the lines of the answer."""
    total, n_rows = answer["log_likelihood"], answer["n_rows"]
    yield f"total       {_format(total)}  (log-likelihood; higher is better)"
    yield f"mean        {_format(answer['mean'])} per row"
    yield f"rows        {n_rows:,}"
    if answer["impossible_rows"]:
        possible = answer["possible_rows"]
        yield f"impossible  {answer['impossible_rows']:,}"
        if possible["n_rows"]:
            yield (
                f"possible    {possible['n_rows']:,}: total {_format(possible['log_likelihood'])}, "
                f"mean {_format(possible['mean'])} per row"
            )
    yield f"variables   {answer['n_variables']:,}"
    for sentence in unknown:
        yield f"unknown     {sentence}"
    if per_variable:
        yield "\n          total     mean per row variable"
        for name, value in answer["per_variable"].items():
            mean = None if value is None else value / n_rows
            yield f"{_format(value):>15} {_format(mean):>16} {name}"
    if "metrics" in answer:
        yield ""
        yield from _format_prediction(answer["target"], answer["states"], answer["metrics"])
    if "figure" in answer:
        yield f"wrote       {answer['figure']}"


def _make_answer(likelihood: RowLikelihood, names: list[str]) -> dict[str, Any]:
    """Return the numbers of the answer, variables in the order of the table."""
    from coevo.checks import finite_or_none

    n_rows = likelihood.n_rows
    possible = [value for value in likelihood.per_row.tolist() if value > -math.inf]
    total = math.fsum(possible)
    per_variable = likelihood.per_variable
    return {
        "log_likelihood": finite_or_none(likelihood.total),
        "mean": finite_or_none(likelihood.mean),
        "n_rows": n_rows,
        "n_variables": len(names),
        "unknown": likelihood.unknown.as_dict(),
        "impossible_rows": n_rows - len(possible),
        "possible_rows": {
            "n_rows": len(possible),
            "log_likelihood": total,
            "mean": total / len(possible) if possible else None,
        },
        "per_variable": {
            name: finite_or_none(per_variable[name]) for name in names if name in per_variable
        },
    }


def _format(value: float | None) -> str:
    return "-inf" if value is None else f"{value:z.6f}"
