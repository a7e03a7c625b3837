"""``coevo compare``: the differences between two structures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from coevo.cli.options import format_option, make_n_jobs_option, score_options
from coevo.cli.output import print_json, show_status
from coevo.cli.tables import read_table, split_model, table_options
from coevo.errors import ParameterError

if TYPE_CHECKING:
    from coevo.data import Variable
    from coevo.graph import Comparison
    from coevo.score import Score

__all__ = ["command"]

SHARES = ("precision", "recall", "f1")
DISTANCES = ("shd", "shd_cpdag", "sid", "sid_lower", "sid_upper")
EDGE_FILES = ("posterior.json", "strength.json")  # `coevo.posteriors.edge_files` reads them
DATA_OPTIONS = {  # parameters that have no effect without --data
    "score": "--score",
    "ess": "--ess",
    "drop": "--drop",
    "states": "--states",
    "n_jobs": "-j",
}


@click.command("compare")
@click.argument("found", metavar="FOUND")
@click.argument("true", metavar="TRUE")
@click.option("--data", metavar="FILE", help="Also score both structures on this table.")
@click.option(
    "--figure",
    metavar="FILE",
    help="Draw the edges of two posteriors or bootstraps (.png, .svg or .pdf). Needs coevo[plot].",
)
@score_options
@make_n_jobs_option("threads", "answer")
@table_options
@format_option
@click.pass_context
def command(
    context: click.Context,
    found: str,
    true: str,
    data: str | None,
    figure: str | None,
    scoring: dict[str, Any],
    n_jobs: int,
    reading: dict[str, Any],
    output_format: str,
) -> None:
    """Compare a structure with the true one, or the edges of a posterior and a bootstrap.

    FOUND and TRUE are files of any format (see coevo convert) or names of bundled networks.
    Both must have the same variables. The structural Hamming distance (SHD) is the number of
    pairs of variables on which the structures differ. The SHD of the CPDAGs ignores directions
    that data cannot determine. The structural intervention distance (SID) is the number of ordered
    pairs of variables for which FOUND gives a wrong effect of the first on the second. Its range
    over the CPDAG is that of all structures equivalent to FOUND. With --data, both structures are
    scored on the same rows; their states count as declared, also those that do not occur in the
    rows.

    If both are folders of coevo posterior (RUN/posterior) or coevo strength, the probabilities or
    strengths of their edges are compared instead.

    \b
    coevo compare run/model.bif alarm
    coevo compare run/model.bif alarm --data alarm.csv --score k2
    coevo compare run/posterior strength --figure differences.png
    """
    score = _choose_score(context, data, scoring)
    if _have_edges(found, true, data, figure):
        _compare_edges(found, true, figure, output_format)
        return
    with show_status(f"Comparing {found} with {true} ..."):
        from coevo.bundled import open_model
        from coevo.graph import compare

        ours, our_states = split_model(open_model(found))
        theirs, their_states = split_model(open_model(true))
        comparison = compare(ours, theirs)
        answer = {**_list_measures(comparison), **asdict(comparison)}
        if data is not None and score is not None:
            from coevo.score import FamilyScorer

            states = _merge_states(our_states + their_states)
            dataset = read_table(data, reading, ours.nodes, states)
            scorer = FamilyScorer(dataset, score, n_jobs=n_jobs)
            answer["scores"] = {
                "scoring": score.name,
                "ess": getattr(score, "ess", None),
                "n_rows": dataset.n_rows,
                "data_hash": dataset.content_hash,
                "found": scorer.score(ours),
                "true": scorer.score(theirs),
            }
    if output_format == "json":
        print_json(answer)
    else:
        _print(answer)


def _have_edges(found: str, true: str, data: str | None, figure: str | None) -> bool:
    """Return whether both are posteriors or bootstraps; raise an error if only one is."""
    is_stored = [
        any(Path(source, name).is_file() for name in EDGE_FILES) for source in (found, true)
    ]
    if is_stored[0] != is_stored[1]:
        stored, other = (found, true) if is_stored[0] else (true, found)
        raise ParameterError(
            f"{stored!r} has edges with probabilities or strengths, and {other!r} is a structure. "
            "Compare two of the same kind."
        )
    if all(is_stored) and data is not None:
        raise ParameterError("'--data' scores two structures. Leave it out for lists of edges.")
    if not all(is_stored) and figure is not None:
        raise ParameterError("'--figure' shows two posteriors or bootstraps. Name their folders.")
    return all(is_stored)


def _compare_edges(one: str, other: str, figure: str | None, output_format: str) -> None:
    """Print how the edges of two posteriors or bootstraps differ."""
    from coevo.posteriors.edge_files import compare_edges, draw_comparison, read_edges
    from coevo.view.figures import check_figure_path, save_figure

    if figure is not None:
        check_figure_path(figure)
    found = compare_edges(read_edges(one), read_edges(other))
    if figure is not None:
        save_figure(draw_comparison(found), Path(figure))
    if output_format == "json":
        print_json({**found.as_dict(), **({} if figure is None else {"figure": figure})})
        return
    for name, side in (("first", found.first), ("second", found.second)):
        click.echo(f"{name:<12}{side.measure}, {side.source}")
    if not found.is_same_table:
        click.echo("            The two belong to different tables.")
    n_edges, n_notable = len(found.edges), len(found.notable)
    click.echo(f"edges       {n_edges:,} in either; {n_notable:,} differ by more than 0.1")
    if n_notable:
        click.echo("  first  second  difference")
    for edge in found.notable:
        numbers = f"  {edge.first:>5.3f}  {edge.second:>6.3f}  {edge.difference:>+10.3f}"
        click.echo(f"{numbers}  {edge.parent} -> {edge.child}")
    if figure is not None:
        click.echo(f"wrote       {figure}")


def _choose_score(
    context: click.Context, data: str | None, scoring: dict[str, Any]
) -> Score | None:
    """Return the score to compute, or None; reject options that would have no effect."""
    if data is not None:
        from coevo.score import make_score

        return make_score(scoring["score"], scoring["ess"], "compare")
    for name, option in DATA_OPTIONS.items():
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            raise ParameterError(f"'{option}' needs --data, the table to score on.")
    return None


def _list_measures(comparison: Comparison) -> dict[str, Any]:
    """Return the numbers of a comparison, distances first."""
    shares = [f"{what}_{share}" for what in ("arc", "skeleton") for share in SHARES]
    return {name: getattr(comparison, name) for name in (*DISTANCES, *shares)}


def _format_bounds(answer: dict[str, Any]) -> str:
    """Return the range of the SID over the equivalence class."""
    if answer["sid_lower"] is None:
        return "not computed: the class is too large"
    return f"{answer['sid_lower']:,} to {answer['sid_upper']:,}"


def _merge_states(variables: Iterable[Variable]) -> tuple[Variable, ...]:
    """Return each variable once, with its states in all networks."""
    from coevo.data import Variable

    states: dict[str, dict[str, None]] = {}
    for variable in variables:
        states.setdefault(variable.name, {}).update(dict.fromkeys(variable.states))
    return tuple(Variable(name, tuple(merged)) for name, merged in states.items())


def _print(answer: dict[str, Any]) -> None:
    """Print an answer as text."""
    click.echo(f"SHD         {answer['shd']:,} (DAG), {answer['shd_cpdag']:,} (CPDAG)")
    click.echo(f"SID         {answer['sid']:,} (DAG), {_format_bounds(answer)} (CPDAG)")
    for what in ("arc", "skeleton"):
        shares = (f"{share} {answer[f'{what}_{share}']:.4f}" for share in SHARES)
        click.echo(f"{what + 's' if what == 'arc' else what:<12}{', '.join(shares)}")
    click.echo(f"correct     {len(answer['correct']):,}")
    for kind in ("reversed", "added", "missing"):
        click.echo(f"{kind:<12}{len(answer[kind]):,}")
        for parent, child in answer[kind]:
            click.echo(f"  {parent} -> {child}")
    if "scores" in answer:
        scores = answer["scores"]
        prior = "" if scores["ess"] is None else f", ess {scores['ess']:g}"
        click.echo(f"scores      {scores['scoring']}{prior}, {scores['n_rows']:,} rows")
        click.echo(f"  {scores['found']:z.6f} found")
        click.echo(f"  {scores['true']:z.6f} true")
