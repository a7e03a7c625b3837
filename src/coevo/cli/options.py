"""The options that several commands share.

A group of options that belong together reaches a command as one dictionary, whose keys are the
names of the Python parameters (`bundle_options`). So a new option is added here, and nowhere else.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import click

__all__ = [
    "bundle_options",
    "cluster_option",
    "column_options",
    "drop_option",
    "format_option",
    "make_cluster_option",
    "make_n_jobs_option",
    "make_search_options",
    "make_seed_option",
    "missing_options",
    "reading_options",
    "score_options",
    "source_options",
    "table_options",
]

Function = TypeVar("Function", bound=Callable[..., Any])
Decorator = Callable[[Function], Function]

format_option = click.option(
    "--format",
    "output_format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Format of the answer.",
)


def bundle_options(parameter: str, *options: Decorator[Any]) -> Decorator[Any]:
    """Return a decorator that adds options to a command, and passes them as one dictionary."""

    def declare() -> None:
        """Collect the options, to learn their names."""

    for option in options:
        option(declare)
    names = [param.name for param in declare.__click_params__]  # type: ignore[attr-defined]

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def pack(*args: Any, **values: Any) -> Any:
            bundle = {name: values.pop(name) for name in names}
            return function(*args, **{parameter: bundle}, **values)

        for option in reversed(options):
            pack = option(pack)
        return pack

    return decorate


def make_n_jobs_option(workers: str, answer: str, all_cores: bool = False) -> Decorator[Any]:
    """Return the option for the number of workers, which never changes the answer.

    The default is one, or one for each core.
    """
    return click.option(
        "-j",
        "--n-jobs",
        type=click.IntRange(min=1),
        default=_count_cores if all_cores else 1,
        show_default="one for each core, up to 8" if all_cores else True,
        help=f"Number of {workers}. It changes the time, never the {answer}.",
    )


def _count_cores() -> int:
    from coevo.threads import count_usable_cores

    return count_usable_cores()


def make_cluster_option(what: str) -> Decorator[Any]:
    """Return the option for a cluster; `what` runs there."""
    return click.option(
        "--cluster",
        metavar="ADDRESS",
        help=f"{what} on a Dask cluster (tcp://HOST:PORT, tls://HOST:PORT), or on workers of this "
        "machine (local:4). Needs coevo[dask].",
    )


cluster_option = make_cluster_option("Run")


def make_seed_option(answer: str) -> Decorator[Any]:
    """Return the option for the seed."""
    return click.option(
        "--seed",
        type=click.IntRange(min=0),
        default=0,
        show_default=True,
        help=f"Random seed. The same seed gives the same {answer}.",
    )


def _make_score_options(
    score: str | None, default: str, ess: str
) -> tuple[Decorator[Any], Decorator[Any]]:
    """Return the options of a score: its default, and what help says about the defaults."""
    return (
        click.option(
            "-s",
            "--score",
            default=score,
            help="Score: bdeu (bde), bds, k2, bic, aic, fnml, qnml or loglik.  "
            f"[default: {default}]",
        ),
        click.option(
            "--ess",
            "--iss",
            "--alpha",
            "ess",
            type=float,
            help=f"Equivalent sample size of bdeu and bds.  [default: {ess}]",
        ),
    )


score_options = bundle_options("scoring", *_make_score_options("bdeu", "bdeu", "1"))


def make_search_options(stop: str, note: str = "", *more: Decorator[Any]) -> Decorator[Any]:
    """Return the options of a search, as the dictionary ``search``.

    `stop` says what a limit stops, as in "Stop each sample". `note` is added to the help of the
    time limit. `more` are further options of the same command.
    """
    return bundle_options(
        "search",
        click.option(
            "-m",
            "--method",
            default="ccma",
            show_default=True,
            help="Search method: ccma (memetic coevolution), ccga (the algorithm of the 2011 "
            "paper), islands (several populations of ccma), hill_climb, tabu, k2 (greedy, "
            "random order), pc (tests of independence, no score), or mmhc (tests, then hill "
            "climbing).",
        ),
        *_make_score_options(
            None, "bdeu with --ess 5 and --parent-penalty 4", "5; with --score: 1"
        ),
        click.option(
            "-p",
            "--max-parents",
            type=click.IntRange(min=1),
            help="Maximum number of parents of a variable.  [default: no limit]",
        ),
        click.option(
            "--parent-penalty",
            type=click.FloatRange(min=0),
            metavar="NATS",
            help="Cost of each parent. A parent must gain more than this.  "
            "[default: 4; with --score: 0]",
        ),
        click.option(
            "--max-table",
            type=click.IntRange(min=0),
            callback=lambda context, parameter, value: value or None,
            default=10_000,
            show_default=True,
            metavar="CELLS",
            help="Maximum number of cells of a conditional probability table; 0 for no limit.",
        ),
        click.option(
            "-t",
            "--max-time",
            type=click.FloatRange(min=0),
            metavar="SECONDS",
            help=f"{stop} after this time{note}.  [default: no limit]",
        ),
        click.option(
            "--max-generations",
            type=click.IntRange(min=0),
            help=f"{stop} after this number of generations.  [default: by the method]",
        ),
        *more,
    )


drop_option = click.option(
    "--drop", multiple=True, metavar="COLUMN", help="Leave a column out (repeatable)."
)
_SOURCE_OPTIONS: tuple[Decorator[Any], ...] = (
    click.option(
        "--encoding",
        metavar="NAME",
        help="Encoding of a text table, as latin-1.  [default: as detected]",
    ),
    click.option(
        "--delimiter",
        metavar="CHARACTER",
        help="Character between the fields of a text table; a space stands for any number of "
        "spaces.  [default: as detected]",
    ),
    click.option(
        "--comment",
        metavar="TEXT",
        help="Skip the lines of a text table that start with this text; an empty text skips none.  "
        "[default: as detected: #, % or //]",
    ),
    click.option(
        "--header/--no-header",
        default=None,
        help="Whether the first row has the column names.  [default: as detected]",
    ),
    click.option(
        "--skiprows",
        type=click.IntRange(min=0),
        metavar="N",
        help="Number of lines above the table.  [default: as detected]",
    ),
    click.option(
        "--skipfooter",
        type=click.IntRange(min=0),
        metavar="N",
        help="Number of lines below the table.  [default: as detected]",
    ),
    click.option(
        "--sheet",
        "--table",
        "sheet",
        metavar="NAME",
        callback=lambda _context, _option, name: int(name) if name and name.isdecimal() else name,
        help="Name or number of a sheet of a spreadsheet, or name of a table of an SQLite file.  "
        "[default: the first sheet with rows; the only table]",
    ),
    click.option("--query", metavar="SQL", help="Read the rows that this query to DATA returns."),
)
source_options = bundle_options("opening", *_SOURCE_OPTIONS)
_TABLE_OPTIONS: tuple[Decorator[Any], ...] = (
    click.option(
        "--states",
        metavar="MODEL",
        help="Declare states that may not occur in the rows: a network, or a JSON object with a "
        "list of states for each column.",
    ),
    drop_option,
    *_SOURCE_OPTIONS,
)
table_options = bundle_options("reading", *_TABLE_OPTIONS)

_missing_label_option = click.option(
    "--missing-label",
    "missing_labels",
    multiple=True,
    metavar="TEXT",
    help="Label of a missing value (repeatable).  [default: empty text, NA, N/A, NaN, null, ? and "
    "others]",
)
missing_options: tuple[Decorator[Any], ...] = (
    click.option(
        "--missing",
        metavar="POLICY",
        help="Policy for missing values: evolve (a third species imputes them), em (structural "
        "EM), available (score each family on the rows that observe all its variables), "
        "state (missing is a state), drop (leave out incomplete rows), refuse (missing values are "
        "an error).  [default: evolve; with --strict, --shards or --cluster: refuse]",
    ),
    _missing_label_option,
)

_TYPE_OPTIONS: tuple[Decorator[Any], ...] = (
    click.option(
        "--type",
        "column_types",
        multiple=True,
        metavar="COLUMN=TYPE",
        help="Type of one column (repeatable): categorical, continuous, ignore, or parts of dates "
        "(year, month, weekday, hour, year+month, date). It undoes what was decided about the "
        "column.",
    ),
    click.option(
        "--types",
        metavar="FILE",
        help="Types of columns (continuous, categorical, ignore, or cut points), as JSON or CSV. "
        "The run.json of an earlier run gives the same cut points.",
    ),
    click.option(
        "--discretise",
        metavar="METHOD",
        help="How to discretise columns of numbers: mdl (chooses the number of bins), quantile, "
        "uniform, kmeans or none.  [default: mdl]",
    ),
    click.option(
        "--bins",
        type=click.IntRange(min=2),
        help="Number of bins, by quantiles unless --discretise is given; for mdl the maximum.  "
        "[default: 3; mdl: 5]",
    ),
    click.option(
        "--decimal",
        type=click.Choice([".", ","]),
        help="Decimal mark of numbers.  [default: found from the table]",
    ),
)
# How to read a table, without a search: `column_options` adds what a search needs.
reading_options = bundle_options("columns", *_TABLE_OPTIONS, _missing_label_option, *_TYPE_OPTIONS)
column_options = bundle_options(
    "columns",
    *_TABLE_OPTIONS,
    *missing_options,
    *_TYPE_OPTIONS,
    click.option(
        "--strict",
        is_flag=True,
        help="Make an error of everything that would be decided about the table.",
    ),
    click.option(
        "--constraints",
        metavar="FILE",
        help="Prior knowledge: required and forbidden arcs, tiers, groups, roots, leaves, "
        "max_parents and arc weights, as JSON or CSV.",
    ),
)
