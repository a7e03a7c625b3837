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
    "check_resume",
    "cluster_option",
    "format_option",
    "make_cluster_option",
    "make_n_jobs_option",
    "make_search_options",
    "make_seed_option",
    "score_options",
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

MOST_JOBS = 1024  # each costs memory


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


def check_resume(resume: bool, output: str | None) -> None:
    """Refuse ``--resume`` without a run folder."""
    if resume and output is None:
        raise click.UsageError("--resume needs -o, the run folder to resume.")


def make_n_jobs_option(workers: str, answer: str, all_cores: bool = False) -> Decorator[Any]:
    """Return the option for the number of workers, which never changes the answer.

    The default is one, or one for each core.
    """
    return click.option(
        "-j",
        "--n-jobs",
        type=click.IntRange(1, MOST_JOBS),
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
            "paper), islands (several populations of ccma), hill_climb, tabu, ges (greedy search "
            "over equivalence classes), k2 (greedy, random order), k2ga (a genetic algorithm over "
            "orders for k2), ga (a genetic algorithm over graphs), mdlep (evolutionary programming "
            "over graphs), wong (tests, then one species for each variable), pc (tests of "
            "independence, no score), mmhc (tests, then hill "
            "climbing), chow_liu (the best tree), or naive_bayes and tan (for a class). With "
            "settings: hill_climb:restarts=5. A method of your own: MODULE:CLASS or FILE.py:CLASS.",
        ),
        *_make_score_options(
            None,
            "bdeu with --ess 5, --parent-penalty 4 and --sparse-penalty 1",
            "5; with --score: 1",
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
            "--sparse-penalty",
            type=click.FloatRange(min=0),
            metavar="FACTOR",
            help="Cost of tables with more cells than rows can fill, as a multiple of the cost of "
            "learning the variable without parents; it keeps parents out that are found in noise.  "
            "[default: 1; with --score: 0]",
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
