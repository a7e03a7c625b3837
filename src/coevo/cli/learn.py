"""``coevo learn``: from a table to a network."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coevo.cli.brought import Brought, bin_options, lines_on_audit, lines_on_columns
from coevo.cli.common import (
    answer_json,
    format_option,
    n_jobs_option,
    score_options,
    seed_option,
    table_options,
    working,
)

if TYPE_CHECKING:
    from coevo.data import Dataset
    from coevo.score import FamilyScorer, Score
    from coevo.search import HistoryRow, SearchResult

__all__ = ["command"]


@click.command("learn")
@click.argument("data", metavar="DATA")
@click.option(
    "-m",
    "--method",
    default="ccma",
    show_default=True,
    help="ccma (coevolution with local search), ccga (that of the 2011 paper), hill_climb, tabu, "
    "or k2 (greedy, a random order).",
)
@score_options
@click.option(
    "-p", "--max-parents", type=click.IntRange(min=1), help="The most parents of a variable."
)
@click.option(
    "-t",
    "--max-time",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    help="Stop after some seconds.",
)
@click.option(
    "--max-generations",
    type=click.IntRange(min=0),
    help="Stop after some generations.",
)
@click.option(
    "--patience",
    type=click.IntRange(min=1),
    help="Stop after some generations in a row that found nothing better.",
)
@click.option("--target", type=float, metavar="SCORE", help="Stop when a score is reached.")
@table_options
@bin_options
@seed_option("network")
@n_jobs_option("Threads", "answer")
@click.option(
    "-o",
    "--output",
    metavar="DIR",
    help="Write model.bif, run.json, history.jsonl and report.html into this folder.",
)
@format_option
def command(
    data: str,
    method: str,
    score_name: str,
    ess: float | None,
    max_parents: int | None,
    max_time: float | None,
    max_generations: int | None,
    patience: int | None,
    target: float | None,
    states: str | None,
    drop: tuple[str, ...],
    types: str | None,
    discretise: str | None,
    bins: int | None,
    constraints_file: str | None,
    seed: int,
    n_jobs: int,
    output: str | None,
    output_format: str,
) -> None:
    """Learn a network from a table.

    DATA is a CSV or Parquet file. Columns of numbers are cut into bins, unless they have few
    values. Scores are natural logarithms; higher is better. Without a limit ccma stops after
    25 generations that found nothing better, ccga after 250 generations; the other methods
    end by themselves. Ctrl-C ends the search with the best network so far, and writes it.

    \b
    coevo learn alarm.csv -s k2 --seed 7 -o run/
    coevo learn alarm.csv -m k2 -s bic -p 4
    coevo learn patients.csv --bins 3 --constraints known.json -o run/
    """
    with working(f"Reading {data} ...") as say:
        from coevo.data import audit
        from coevo.interrupts import gentle_interrupts
        from coevo.io import check_run_folder
        from coevo.score import FamilyScorer, make_score
        from coevo.search import Budget, make_method, run_search

        scoring = make_score(score_name, ess, "learn")
        chosen = make_method(method, "learn")
        brought = Brought(types, discretise, bins, constraints_file, max_parents)
        budget = Budget(
            max_time=max_time, max_generations=max_generations, patience=patience, target=target
        )
        if output is not None:
            check_run_folder(Path(output))
        dataset, notes = brought.table(data, drop, states)
        known = brought.knowledge(dataset.names)
        findings = audit(dataset)
        scorer = FamilyScorer(dataset, scoring, n_jobs=n_jobs, weights=known.weights)
        memory = scorer.memory() + chosen.memory(dataset.n_variables)
        say(f"Learning by {chosen.name}, in at most {memory / 1e9:.1f} GB of memory ...")
        result = run_search(
            chosen,
            scorer,
            constraints=known.constraints,
            budget=budget,
            random_state=seed,
            callbacks=[_teller(say)],
        )
        with gentle_interrupts():  # what was found is kept
            answer = _answer(result, dataset, scoring) | {
                "columns": {note.name: note.as_dict() for note in notes},
                "audit": [finding.as_dict() for finding in findings],
            }
            answer["arcs"] = _arcs(result, scorer)
            if known.weights:
                answer["log_prior"] = sum(known.weights.get(arc, 0.0) for arc in result.dag.arcs)
            if output is not None:
                answer["files"] = _write(Path(output), result, dataset, answer)
    if output_format == "json":
        answer_json(answer)
    else:
        _print(answer, scoring)
    if result.stop_reason == "interrupt":
        print("Interrupted; this is the best network so far.", file=sys.stderr)
        raise click.exceptions.Exit(130)


def _teller(say: Callable[[str], None]) -> Callable[[HistoryRow], None]:
    """Return a callback that shows each generation."""

    def tell(row: HistoryRow) -> None:
        say(
            f"generation {row.generation:,}, best score {row.score:,.2f} "
            f"(found in {row.improved:,}), {row.n_arcs} arcs, {row.seconds:.1f} s"
        )

    return tell


def _answer(result: SearchResult, dataset: Dataset, scoring: Score) -> dict[str, Any]:
    """Return the numbers of the answer."""
    return {
        "score": result.score,
        "arcs": [{"from": parent, "to": child} for parent, child in result.dag.arcs],
        "n_arcs": len(result.dag.arcs),
        "seconds": round(result.seconds, 6),
        "generations": result.generations,
        "evaluations": result.evaluations,
        "stop_reason": result.stop_reason,
        "method": result.method,
        "scoring": scoring.name,
        "ess": getattr(scoring, "ess", None),
        "seed": result.seed,
        "n_rows": dataset.n_rows,
        "n_variables": dataset.n_variables,
        "data_hash": dataset.content_hash,
    }


def _arcs(result: SearchResult, scorer: FamilyScorer) -> list[dict[str, Any]]:
    """Return each arc, what it gains, and whether data can direct it."""
    from coevo.graph import CPDAG
    from coevo.score import arc_gains

    compelled = set(CPDAG(result.dag).arcs)
    return [
        {"from": arc[0], "to": arc[1], "gain": gain, "directed": arc in compelled}
        for arc, gain in arc_gains(scorer, result.dag).items()
    ]


def _write(
    folder: Path, result: SearchResult, dataset: Dataset, answer: dict[str, Any]
) -> dict[str, str]:
    """Fit the tables and write the folder of the run; return the paths."""
    import warnings

    from coevo import __version__
    from coevo.errors import CoevoWarning, NetworkError
    from coevo.graph import DAG
    from coevo.io import write_run
    from coevo.network import fit
    from coevo.report.page import run_page, write_page

    in_order = DAG([variable.name for variable in dataset.source_variables], result.dag.arcs)
    facts = {
        "version": __version__,
        "command": sys.argv[1:],
        **answer,
        "settings": result.settings,
        "per_variable": result.per_variable,
        "families_scored": result.cache.scored,
    }
    try:
        network = fit(in_order, dataset)
    except NetworkError as error:  # the structure is found all the same
        warnings.warn(f"model.bif is not written. {error}", CoevoWarning, stacklevel=2)
        network = None
    history = [row.as_dict() for row in result.history]
    files = write_run(folder, network, facts, history)
    files["report"] = str(folder / "report.html")
    write_page(files["report"], run_page(facts, history, network))
    return files


def _print(answer: dict[str, Any], scoring: Score) -> None:
    """Print the answer for people."""
    prior = "" if answer["ess"] is None else f", ess {answer['ess']:g}"
    if "log_prior" in answer:
        prior += f", weights of arcs {answer['log_prior']:+g}"
    click.echo(f"score       {answer['score']:.6f}  ({scoring.name}{prior}; higher is better)")
    click.echo(
        f"method      {answer['method']}, seed {answer['seed']}: generations: "
        f"{answer['generations']:,}, in {answer['seconds']:.2f} s, ended by "
        f"{answer['stop_reason']}"
    )
    click.echo(f"table       {answer['n_rows']:,} rows, {answer['n_variables']:,} variables")
    for line in (*lines_on_columns(answer["columns"]), *lines_on_audit(answer["audit"])):
        click.echo(line)
    click.echo(f"arcs        {answer['n_arcs']:,}")
    for arc in answer["arcs"]:
        click.echo(f"  {arc['from']} -> {arc['to']}")
    for path in answer.get("files", {}).values():
        click.echo(f"wrote       {path}")
