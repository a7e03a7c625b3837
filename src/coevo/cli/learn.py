"""``coevo learn``: from a table to a network."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coevo.cli.learn_output import format_answer
from coevo.cli.missing import (
    check_imputed_file,
    check_missing_options,
    imputed_option,
    write_imputed_data,
)
from coevo.cli.options import (
    bundle_options,
    check_resume,
    format_option,
    make_cluster_option,
    make_n_jobs_option,
    make_options,
    make_search_options,
    make_seed_option,
)
from coevo.cli.output import announce_interrupt, print_json, show_status, show_warnings
from coevo.cli.run_folder import hold_folder
from coevo.cli.strength import describe_interrupt, show_bootstrap_progress
from coevo.cli.tables import column_options, read_declared_states
from coevo.errors import CoevoError
from coevo.names import match_name
from coevo.options import EvidenceFlags, LearnFlags

if TYPE_CHECKING:
    from coevo.data import Dataset
    from coevo.learning import LearnResult, LearnTask
    from coevo.options import SourceParameters
    from coevo.search import Method

__all__ = ["command"]

EXAMPLE_ROWS = 5000

evidence_options = bundle_options("extras", *make_options(EvidenceFlags))


@click.command("learn")
@click.argument("data", metavar="[DATA]", required=False)
@click.option(
    "--example",
    metavar="NAME",
    help="Learn from rows sampled from a bundled network (see coevo networks) instead of DATA.",
)
@click.option(
    "--rows",
    type=click.IntRange(min=1),
    help=f"Number of rows of the example.  [default: {EXAMPLE_ROWS}]",
)
@make_search_options("Stop", "", LearnFlags)
@column_options
@imputed_option
@make_seed_option("network")
@make_n_jobs_option("threads, and of processes for bootstraps", "answer", all_cores=True)
@click.option(
    "--islands",
    type=click.IntRange(min=1),
    help="Number of ccma populations that evolve side by side and exchange migrants. One "
    "generation of the search is then six generations of each population.  "
    "[default: 1; with -m islands: 3]",
)
@click.option(
    "--class-variable",
    metavar="NAME",
    help="The variable that the others predict, for -m tan and -m naive_bayes.",
)
@evidence_options
@make_cluster_option("Keep the rows (with --islands: evolve the islands)")
@click.option(
    "-o",
    "--output",
    metavar="DIR",
    help="Run folder for model.bif, run.json, history.jsonl and report.html, with bootstraps in "
    "DIR/strength. It holds a checkpoint while the search runs.",
)
@click.option(
    "--resume",
    is_flag=True,
    help="Resume the search of the run folder after it was stopped or killed, or extend it with a "
    "larger limit.",
)
@format_option
def command(
    data: str | None,
    example: str | None,
    rows: int | None,
    search: dict[str, Any],
    columns: dict[str, Any],
    imputed: str | None,
    seed: int,
    n_jobs: int,
    islands: int | None,
    class_variable: str | None,
    extras: dict[str, Any],
    cluster: str | None,
    output: str | None,
    resume: bool,
    output_format: str,
) -> None:
    """Learn a network from a table.

    DATA is a table: CSV and other text, Excel, Parquet, Feather, JSON, SQLite, Stata, SPSS or
    SAS; - reads the standard input. Columns of numbers are discretised, unless they have few
    values. Identifiers and other columns that nothing can be learned from are left out, dates
    become parts of dates, and missing values are imputed; the answer lists these decisions, and
    the option that undoes each. Scores are natural logarithms; higher is better.

    Without a limit ccma stops after 14 to 25 generations without improvement, islands after 24,
    ccga after 250 generations; the other methods stop by themselves. Ctrl-C stops the search and
    writes the best network so far; --resume continues it, or resumes a killed run from its last
    checkpoint. Arcs are listed by gain, the loss of score without them: decisive above 5, strong
    above 3, else weak.

    \b
    coevo learn --example alarm --rows 5000 -o run/
    coevo learn alarm.csv -s k2 --seed 7 -o run/
    coevo learn alarm.csv -m k2 -s bic -p 4
    coevo learn alarm.csv --bootstraps 100 -j 2 -o run/
    coevo learn alarm.csv -s bic --prove 60 -o run/
    coevo learn patients.csv --bins 3 --constraints known.json -o run/
    coevo learn patients.csv --type ward=categorical --imputed complete.csv -o run/
    coevo learn survey.xlsx --sheet answers -o run/
    coevo learn visits.sqlite --query "SELECT age, ward, ill FROM visits"
    coevo learn large.csv -t 3600 -o run/ --resume
    coevo learn larger.parquet --shards /var/tmp -o run/
    coevo learn largest/ --cluster tcp://HOST:8786 -o run/
    coevo learn large.csv --islands 4 --cluster local:4 -o run/
    coevo learn patients.csv -m tan --class-variable ill -o run/
    """
    bootstraps = extras["bootstraps"]
    rows_there = {"--shards": extras["shards"], "--cluster": None if islands else cluster}
    _check_source(data, example, rows, {**_name_options(columns), **rows_there})
    check_missing_options(columns, imputed)
    check_resume(resume, output)
    n_rows = EXAMPLE_ROWS if rows is None else rows
    status = f"Reading {data} ..." if data else f"Sampling {n_rows:,} rows of {example} ..."
    with show_status(status) as show:
        from coevo.learning import check_settings, open_task

        declared = read_declared_states(columns["states"])
        settings = check_settings(
            "learn",
            "--max-parents",
            **search | {"method": _choose_method(search["method"], islands, class_variable)},
            **declared.complete(columns),
            random_state=seed,
            n_jobs=n_jobs,
            **extras,
            cluster=cluster,
        )
        if imputed is not None:
            check_imputed_file(imputed, data)
        table = _sample_example(str(example), n_rows, seed) if data is None else data
        source = Path(str(data or example)).name
        hold_folder(output, ("model.bif", "run.json"))  # until the bootstraps, too, have ended
        with open_task(
            settings, table, source=source, output=output, resume=resume, command=sys.argv[1:]
        ) as task:
            declared.check(tuple(column.name for column in task.info.columns))
            n_shown = _print_notices(task, 0)
            memory = f"{task.memory / 1e9:.1f} GB of memory"
            show(f"Learning by {task.spec.method.name}, in at most {memory} ...")
            result = task.search([task.make_progress().as_callback(show)])
            interrupts: list[str] = []
            if bootstraps is None:
                if n_samples := task.count_quick_samples(result):
                    show(f"Quick bootstrap: {n_samples} samples by short searches ...")
                result = task.run_bootstraps(
                    result, on_interrupt=lambda: interrupts.append("quick")
                )
            if settings.posterior and not interrupts:
                from coevo.learning.structure_posterior import (
                    describe_step,
                    extend_with_posterior,
                    was_posterior_interrupted,
                )

                result = extend_with_posterior(task, result, resume, [describe_step(show)])
                if was_posterior_interrupted(result):
                    interrupts.append("posterior")
            is_stopped = result.search.stop_reason == "interrupt" or bool(interrupts)
            if settings.prove is not None and not is_stopped:
                from coevo.learning.structure_proof import extend_with_proof

                result = extend_with_proof(task, result, settings.prove, resume, show)
        n_shown = _print_notices(task, n_shown)
    imputed_files, failure = _write_imputed(result, imputed, data, settings.opening)
    if bootstraps and not is_stopped:
        with show_bootstrap_progress() as show_run:
            result = task.run_bootstraps(result, show_run, announce_interrupt)
        _print_notices(task, n_shown)
    _print_answer(result, {**result.files, **imputed_files}, output_format)
    failures = [*task.failures.values(), *filter(None, [failure])]
    if failures:
        raise failures[0]
    sentence = _describe_interrupt(result, bootstraps, output)
    if "quick" in interrupts and result.quick_bootstrap is None:
        sentence = "Interrupted. This is the network, without the quick bootstrap."
    elif "posterior" in interrupts and result.search.stop_reason != "interrupt":
        sentence = "Interrupted. The network is complete; the posterior is not."
    if sentence:
        print(sentence, file=sys.stderr)
        raise click.exceptions.Exit(130)


def _name_options(columns: dict[str, Any]) -> dict[str, Any]:
    """Return the column options by their names on the command line, without the constraints."""
    names = ("states", "drop", "types", "discretise", "bins", "missing", "decimal", "strict")
    named = {f"--{name}": columns[name] for name in names}
    named["--rename"] = columns["rename"]
    return {**named, "--type": columns["column_types"]}


def _choose_method(method: str, islands: int | None, class_variable: str | None) -> str | Method:
    """Return the method; with ``--islands`` that number of populations with its settings."""
    if class_variable is not None:
        return _add_class_variable(method, class_variable)
    name, _, settings = method.partition(":")
    if islands is None:
        return method
    if match_name(name, ("ccma", "islands")) is None:
        raise click.UsageError(f"--islands needs the method ccma; got -m {method}.")
    return f"islands:{','.join(filter(None, (settings, f'islands={islands}')))}"


def _add_class_variable(name: str, class_variable: str) -> Method:
    """Return the method with its class variable."""
    from coevo.search import TAN, NaiveBayes

    for kind in (TAN, NaiveBayes):
        if match_name(name, (kind.name,)):
            return kind(class_variable=class_variable)
    raise click.UsageError(f"--class-variable needs the method tan or naive_bayes; got -m {name}.")


def _print_notices(task: LearnTask, first: int) -> int:
    """Print the notices of a task from `first` on, as warnings; return the number of all."""
    for notice in task.notices[first:]:
        print(f"Warning: {notice}", file=sys.stderr)
    return len(task.notices)


def _write_imputed(
    result: LearnResult, imputed: str | None, data: str | None, opening: SourceParameters
) -> tuple[dict[str, str], CoevoError | None]:
    """Write the imputed DATA; return its files, or the error that prevented it.

    The caller prints the network before it raises the error, so that the network is not lost.
    """
    if imputed is None or data is None:
        return {}, None
    from coevo.runtime.deadline import defer_interrupts

    try:
        with defer_interrupts(), show_warnings():
            return write_imputed_data(result, imputed, data, opening), None
    except CoevoError as error:
        return {}, error


def _print_answer(result: LearnResult, files: dict[str, str], output_format: str) -> None:
    answer = result.as_dict() | ({"files": files} if files else {})
    if output_format == "json":
        print_json(answer)
    else:
        for line in format_answer(answer):
            click.echo(line)


def _describe_interrupt(result: LearnResult, bootstraps: int | None, output: str | None) -> str:
    """Return the sentence for a user who pressed Ctrl-C; empty if nobody did."""
    if result.search.stop_reason == "interrupt":
        return "Interrupted. This is the best network so far."
    if not bootstraps or (result.bootstrap is not None and result.bootstrap.is_complete):
        return ""
    if result.bootstrap is None:
        return "Interrupted. This is the network, without bootstrap samples."
    return describe_interrupt(
        result.bootstrap, output, "The network is complete; arc strengths are based"
    )


def _check_source(
    data: str | None, example: str | None, rows: int | None, data_options: dict[str, Any]
) -> None:
    """Raise a usage error unless there is one table, and options that fit it."""
    if data is None and example is None:
        raise click.UsageError(
            "There is no table. Name a file (coevo learn DATA), or try coevo learn --example alarm."
        )
    if data is not None and example is not None:
        raise click.UsageError(f"Give DATA or --example, not both; got {data!r} and {example!r}.")
    if example is None:
        if rows is not None:
            raise click.UsageError("--rows needs --example; of DATA all rows are used.")
        return
    for option, value in data_options.items():
        if value:
            raise click.UsageError(f"{option} needs DATA; it cannot be combined with --example.")


def _sample_example(name: str, n_rows: int, seed: int) -> Dataset:
    """Sample the rows of an example; they declare the states of its network."""
    from coevo.bundled import open_network
    from coevo.network import sample

    return sample(open_network(name), n_rows, seed)
