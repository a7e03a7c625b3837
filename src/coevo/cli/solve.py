"""``coevo solve``: tours and orderings, with the two species of the 2011 paper."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coevo.cli.options import bundle_options, check_resume, format_option, make_seed_option
from coevo.cli.output import print_json, show_status

if TYPE_CHECKING:
    from coevo.problems import SolveResult, SolveRow
    from coevo.progress import ProgressCallback

__all__ = ["command"]

WORDS = {"tsp": ("tour", "length"), "lop": ("ordering", "weight")}
limit_options = bundle_options(
    "limits",
    click.option(
        "-t",
        "--max-time",
        type=click.FloatRange(min=0),
        metavar="SECONDS",
        help="Stop after this time.  [default: no limit]",
    ),
    click.option(
        "--max-generations",
        type=click.IntRange(min=0),
        help="Stop after this number of generations.  [default: by the form]",
    ),
    click.option(
        "--patience",
        type=click.IntRange(min=1),
        help="Stop after this number of generations without improvement.  [default: by the form]",
    ),
    click.option("--target", type=float, help="Stop at this length or weight.  [default: none]"),
)


@click.command("solve")
@click.argument("problem", type=click.Choice(list(WORDS)))
@click.argument("instance")
@click.option(
    "--form",
    type=click.Choice(["champion", "literal"]),
    default="champion",
    show_default=True,
    help="champion climbs by moves inside evolving neighbours; literal evolves orders and masks as "
    "the 2011 paper does.",
)
@limit_options
@make_seed_option("solution")
@click.option(
    "-o",
    "--output",
    metavar="DIR",
    help="Run folder for the solution, run.json, history.jsonl and the picture of a tour. It holds "
    "a checkpoint during the run.",
)
@click.option(
    "--resume",
    is_flag=True,
    help="Resume the run of the folder after it was stopped or killed, or extend it with a larger "
    "limit.",
)
@click.option(
    "--figure",
    metavar="FILE",
    help="File for a picture of the tour: .svg, or .png and .pdf with coevo[plot].",
)
@format_option
def command(
    problem: str,
    instance: str,
    form: str,
    limits: dict[str, Any],
    seed: int,
    output: str | None,
    resume: bool,
    figure: str | None,
    output_format: str,
) -> None:
    """Find a short tour or a heavy ordering.

    PROBLEM is tsp (a tour that visits each city once and returns) or lop (an ordering of items
    with the heaviest sum of weights above the diagonal). INSTANCE is a file in the format of
    TSPLIB or LOLIB, or the name of a bundled instance: burma14, bays29, att48, eil51, berlin52,
    st70 and kroA100; t59d11xx, t59n11xx, t65b11xx, t65l11xx, t65n11xx, t69r11xx, t70l11xx,
    t75k11xx, t75n11xx, be75eec, be75oi, be75tot, tiw56n54, tiw56n58, tiw56r54 and usa79. Cities and
    items are numbered from 1.

    Without a limit the champion form stops after 25 generations without improvement, the literal
    form after 250 generations. Ctrl-C stops the run and prints the best solution so far; --resume
    continues it, or resumes a killed run from its last checkpoint.

    \b
    coevo solve tsp berlin52 --figure tour.svg
    coevo solve tsp cities.tsp -t 60 -o run/
    coevo solve tsp cities.tsp -t 600 -o run/ --resume
    coevo solve lop t59n11xx --format json
    coevo solve tsp eil51 --form literal --seed 7
    """
    if figure is not None and problem != "tsp":
        raise click.UsageError("--figure needs a tour; it cannot be combined with lop.")
    check_resume(resume, output)
    with show_status(f"Reading {instance} ...") as show:
        from coevo.problems import open_ordering, open_tour
        from coevo.problems.result import check_coordinates
        from coevo.problems.task import SolveSettings, open_task
        from coevo.search import Budget

        _check_figure(figure)
        opened = open_tour(instance) if problem == "tsp" else open_ordering(instance)
        if figure is not None:
            check_coordinates(opened)
        settings = SolveSettings(form, Budget(**limits), seed, output, resume, sys.argv[1:])
        task = open_task(opened, settings, "solve")
        result = task.run([_make_callback(show, WORDS[problem][1])])
    files = _save_figure(result, figure)
    answer = result.as_dict() | ({"files": files} if files else {})
    if output_format == "json":
        print_json(answer)
    else:
        click.echo("\n".join(_format_answer(answer)))
    if task.failures:
        raise task.failures[0]
    if result.stop_reason == "interrupt":
        print(f"Interrupted. This is the best {WORDS[problem][0]} so far.", file=sys.stderr)
        raise click.exceptions.Exit(130)


def _check_figure(figure: str | None) -> None:
    """Raise an error before the run if the picture cannot be written."""
    from coevo.errors import ParameterError
    from coevo.files.files import check_output_path
    from coevo.view.picture import PICTURE_FORMATS, find_picture_format

    if figure is None:
        return
    check_output_path(Path(figure))
    if find_picture_format(figure) is None:
        raise ParameterError(
            f"The extension of {figure!r} names no format of pictures. Use one of "
            f"{', '.join(f'.{name}' for name in PICTURE_FORMATS)}."
        )


def _save_figure(result: SolveResult, figure: str | None) -> dict[str, str]:
    """Write the picture; return all files of the run."""
    if figure is None:
        return dict(result.files)
    result.plot().save(figure)
    return {**result.files, "figure": figure}


def _make_callback(show: ProgressCallback, word: str) -> Any:
    def report(row: SolveRow) -> None:
        show(
            f"generation {row.generation:,}, {row.seconds:,.1f} s, {word} {row.value:,.10g}, found "
            f"in generation {row.improved:,}"
        )

    return report


def _format_answer(answer: dict[str, Any]) -> list[str]:
    """Return the answer as lines."""
    solution, value = WORDS[answer["problem"]]
    found, optimum = answer[value], answer["optimum"]
    note = ""
    if optimum is not None:
        above = 100 * abs(found - optimum) / abs(optimum) if optimum else 0.0
        side = "above" if value == "length" else "below"
        is_best = found == optimum
        note = ", the optimum" if is_best else f", {above:.2f}% {side} the optimum {optimum:,}"
    numbers = answer[solution]
    return [
        f"{answer['instance']}: {len(numbers):,} {'cities' if solution == 'tour' else 'items'}, "
        f"{value} {found:,}{note}",
        f"{solution}: {' '.join(map(str, numbers))}",
        f"{answer['form']} form, {answer['generations']:,} generations, found in generation "
        f"{answer['improved']:,}, {answer['seconds']:.1f} s, stopped by {answer['stop_reason']}, "
        f"seed {answer['seed']}",
        *(f"wrote {path}" for path in answer.get("files", {}).values()),
    ]
