"""``coevo learn``: from a table to a network."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coevo.cli.column_options import bin_options
from coevo.cli.common import (
    answer_json,
    format_option,
    n_jobs_option,
    plain_warnings,
    read_columns,
    search_options,
    seed_option,
    table_options,
    where_option,
    working,
)
from coevo.cli.learn_output import lines_of_answer
from coevo.cli.learn_sure import ended_by_hand, measured
from coevo.cli.missing import (
    check_completed,
    check_missing,
    completed_option,
    missing_options,
    write_whole,
)
from coevo.errors import CoevoError

if TYPE_CHECKING:
    from coevo.data import Dataset
    from coevo.learning import LearnResult
    from coevo.search import Method

__all__ = ["command"]

EXAMPLE_ROWS = 5000


@click.command("learn")
@click.argument("data", metavar="DATA", required=False)
@click.option(
    "--example",
    metavar="NAME",
    help="Learn from rows of a published network (see coevo networks) in place of DATA; the "
    "seed draws them.",
)
@click.option(
    "--rows",
    type=click.IntRange(min=1),
    help=f"How many rows of the example.  [default: {EXAMPLE_ROWS}]",
)
@search_options("Stop")
@click.option(
    "--patience",
    type=click.IntRange(min=1),
    help="Stop after some generations in a row that found nothing better.",
)
@click.option("--target", type=float, metavar="SCORE", help="Stop when a score is reached.")
@click.option(
    "--start",
    metavar="FILE_OR_NETWORK",
    help="A structure to begin with, in any format; what is found is at least as good.",
)
@table_options
@missing_options
@completed_option
@bin_options
@seed_option("network")
@n_jobs_option("Threads, and processes for bootstraps", "answer", all_cores=True)
@click.option(
    "--islands",
    type=click.IntRange(min=1),
    help="Let as many populations of ccma evolve side by side, which send each other their best; "
    "what is called a generation is then six of each.",
)
@click.option(
    "--bootstraps",
    type=click.IntRange(min=1),
    help="Say how sure each arc is: learn from as many samples of the rows too, as coevo "
    "strength does. Limits hold for each.",
)
@click.option(
    "--shards",
    metavar="DIR",
    help="For DATA larger than memory (Parquet, or a folder of it): read it in pieces into files "
    "of about a byte a cell in this folder, and remove them at the end.",
)
@where_option("The same with the rows, or with --islands the islands, on the workers of")
@click.option(
    "-o",
    "--output",
    metavar="DIR",
    help="Write model.bif, run.json, history.jsonl and report.html into this folder, "
    "bootstraps into DIR/strength, and keep a checkpoint while the search goes on.",
)
@click.option(
    "--resume",
    is_flag=True,
    help="Go on with the search of the folder, which was stopped or killed, or has now more time.",
)
@format_option
def command(
    data: str | None,
    example: str | None,
    rows: int | None,
    method: str,
    score_name: str,
    ess: float | None,
    max_parents: int | None,
    parent_penalty: float,
    max_time: float | None,
    max_generations: int | None,
    patience: int | None,
    target: float | None,
    start: str | None,
    states: str | None,
    drop: tuple[str, ...],
    types: str | None,
    discretise: str | None,
    bins: int | None,
    missing: str | None,
    missing_labels: tuple[str, ...],
    completed: str | None,
    constraints_file: str | None,
    seed: int,
    n_jobs: int,
    islands: int | None,
    bootstraps: int | None,
    shards: str | None,
    cluster: str | None,
    output: str | None,
    resume: bool,
    output_format: str,
) -> None:
    """Learn a network from a table.

    DATA is a CSV or Parquet file. Columns of numbers are cut into bins, unless they have few
    values. Scores are natural logarithms; higher is better. Without a limit ccma stops after
    25 generations that found nothing better, islands after 24, ccga after 250 generations; the
    other methods end by themselves. Ctrl-C ends the search with the best network so far, and
    writes it; --resume goes on from there, or from the last checkpoint of a run that was killed.
    The support of an arc is the share of the last population of ccma or ccga that joins the
    two: a hint, no probability. How sure it is in the face of other rows, --bootstraps tells.
    With --cluster the islands evolve on its workers, and find the same.

    \b
    coevo learn --example alarm --rows 5000 -o run/
    coevo learn alarm.csv -s k2 --seed 7 -o run/
    coevo learn alarm.csv -m k2 -s bic -p 4
    coevo learn alarm.csv --bootstraps 100 -j 2 -o run/
    coevo learn patients.csv --bins 3 --constraints known.json -o run/
    coevo learn patients.csv --missing evolve --completed whole.csv -o run/
    coevo learn large.csv -t 3600 -o run/ --resume
    coevo learn larger.parquet --shards /var/tmp -o run/
    coevo learn largest/ --cluster tcp://HOST:8786 -o run/
    coevo learn large.csv --islands 4 --cluster local:4 -o run/
    """
    about_columns = {
        "--states": states,
        "--drop": drop,
        "--types": types,
        "--discretise": discretise,
        "--bins": bins,
        "--missing": missing,
        "--shards": shards,
        "--cluster": None if islands else cluster,  # islands need no rows of their own
    }
    _check_source(data, example, rows, about_columns)
    check_missing(missing, missing_labels, completed)
    if resume and output is None:
        raise click.UsageError("--resume needs -o, the folder of the run to go on with.")
    n_rows = EXAMPLE_ROWS if rows is None else rows
    doing = f"Reading {data} ..." if data else f"Sampling {n_rows:,} rows of {example} ..."
    with working(doing) as say:
        from coevo.interrupts import gentle_interrupts
        from coevo.io import check_run_folder
        from coevo.learning import Plan, bootstraps_of, reading, task_of
        from coevo.search import Budget

        plan = Plan(
            method=_method(method, islands),
            score=score_name,
            ess=ess,
            max_parents=max_parents,
            parent_penalty=parent_penalty,
            budget=Budget(max_time, max_generations, None, patience, target),
            n_jobs=n_jobs,
            random_state=seed,
            constraints=constraints_file,
            start=start,
            types=types,
            discretise=discretise,
            bins=bins,
            missing=missing,
            missing_labels=missing_labels or None,
            bootstraps=bootstraps,
            shards=shards,
            cluster=cluster,
            limit_place="--max-parents",
        )
        if completed is not None:
            check_completed(completed, data)
        if output is not None:
            check_run_folder(Path(output))
        with reading(plan) as reader:
            if data is not None:
                read = read_columns(data, drop, states, reader=reader)
            else:
                read = reader(_example(str(example), n_rows, seed))
            task = task_of(plan, *read, Path(str(data or example)).name)
            work = bootstraps_of(task, output)
            memory = f"{task.memory / 1e9:.1f} GB of memory"
            say(f"Learning by {plan.method.name}, in at most {memory} ...")
            learned = task.run([task.progress().told_by(say)], output, resume)
        with gentle_interrupts():  # what was found is kept
            answer, failure = _saved(learned, output, completed, data)
    if work is not None and learned.search.stop_reason != "interrupt":
        learned = measured(learned, work)
        with gentle_interrupts(), plain_warnings():
            answer, failure = _saved(learned, output, completed, data)
    if output_format == "json":
        answer_json(answer)
    else:
        for line in lines_of_answer(answer):
            click.echo(line)
    if failure is not None:
        raise failure
    said = ended_by_hand(learned, work, output)
    if said:
        print(said, file=sys.stderr)
        raise click.exceptions.Exit(130)


def _method(name: str, islands: int | None) -> str | Method:
    """Return the method that is asked for; of islands, so many."""
    if islands is None:
        return name
    if name not in ("ccma", "islands"):
        raise click.UsageError(f"--islands goes with ccma; got -m {name}.")
    from coevo.search import Islands

    return Islands(islands=islands)


def _saved(
    learned: LearnResult, output: str | None, completed: str | None, data: str | None
) -> tuple[dict[str, Any], CoevoError | None]:
    """Return the answer; write it and the completed DATA too, where they are asked for.

    The second is why DATA was not written: the network is shown first, and not lost.
    """
    answer = learned.as_dict()
    files = {} if output is None else learned.save(output, command=sys.argv[1:])
    failure = None
    if completed is not None and data is not None:
        try:
            files |= write_whole(learned, completed, data)
        except CoevoError as error:
            failure = error
    return answer | ({"files": files} if files else {}), failure


def _check_source(
    data: str | None, example: str | None, rows: int | None, about_columns: dict[str, Any]
) -> None:
    """Raise a usage error unless there is one table, and options that go with it."""
    if data is None and example is None:
        raise click.UsageError(
            "There is no table. Name a file (coevo learn DATA), or try coevo learn --example alarm."
        )
    if data is not None and example is not None:
        raise click.UsageError(f"Give DATA or --example, not both; got {data!r} and {example!r}.")
    if example is None:
        if rows is not None:
            raise click.UsageError("--rows goes with --example; of DATA, all rows are used.")
        return
    for option, value in about_columns.items():
        if value:
            known = "rows" if option in ("--shards", "--cluster") else "columns"
            raise click.UsageError(f"{option} goes with DATA; the {known} of an example are known.")


def _example(name: str, n_rows: int, seed: int) -> Dataset:
    """Draw the rows of an example; they declare the states of its network."""
    from coevo.bundled import open_network
    from coevo.network import sample

    return sample(open_network(name), n_rows, seed)
