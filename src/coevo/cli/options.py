"""The options that several commands share.

The options themselves are declared in `coevo.options`; `make_options` makes the flags of a class
of them. A group of options that belong together reaches a command as one dictionary, whose keys are
the names of the Python parameters (`bundle_options`). So a new option is added there, and nowhere
else.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import click

from coevo.options import (
    ESS,
    N_JOBS,
    ON_CLUSTER,
    RANDOM_STATE,
    SCORE,
    Option,
    SearchFlags,
    list_options,
)

__all__ = [
    "bundle_options",
    "check_resume",
    "cluster_option",
    "format_option",
    "make_cluster_option",
    "make_n_jobs_option",
    "make_option",
    "make_options",
    "make_plain_options",
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


def make_options(group: type, helps: Mapping[str, str] | None = None) -> list[Decorator[Any]]:
    """Return the options of a class of `coevo.options`; `helps` replaces some of the texts."""
    given = {} if helps is None else helps
    return [
        make_option(name, replace(option, help=given.get(name, option.help)))
        for name, option in list_options(group).items()
        if option.flags != ""
    ]


def make_plain_options(group: type) -> list[Decorator[Any]]:
    """Return the options of a class whose values Python validates; help says all defaults."""
    found = []
    for name, option in list_options(group).items():
        kind = None if option.rule is None else option.rule.kind
        said = option.said or str(option.default)
        found.append(make_option(name, replace(option, rule=None, kind=kind, said=said)))
    return found


def make_option(name: str, option: Option) -> Decorator[Any]:
    """Return an option of the command line, as it is declared."""
    flags, settings = option.list_flags(name), _make_settings(name, option)
    if option.rule is not None and option.rule.kind is bool:
        if option.default is False:
            settings["is_flag"] = True
        else:
            flags = [f"{flag}/--no-{flag.removeprefix('--')}" for flag in flags]
    if option.is_repeated:
        settings["multiple"] = True
    settings["help"] = option.help + (f"  [default: {option.said}]" if option.said else "")
    if not option.said and option.default not in (None, (), False):
        settings["show_default"] = True
    return click.option(*flags, name, default=option.default, metavar=option.metavar, **settings)


def _make_settings(name: str, option: Option) -> dict[str, Any]:
    """Return the type of an option of the command line, and how its text is read."""
    rule, settings = option.rule, dict[str, Any]()
    if rule is None:
        if option.kind is not None:
            settings["type"] = option.kind
    elif rule.choices:
        settings["type"] = click.Choice(rule.choices)
    elif rule.kind is int and rule.is_optional and option.default is not None:
        settings["type"] = click.IntRange(min=0)  # 0 stands for None
        settings["callback"] = lambda _context, _option, value: value or None
    elif rule.kind is int:
        settings["type"] = click.IntRange(min=int(rule.least or 0))
    elif rule.kind is float:
        settings["type"] = click.FloatRange(min=rule.least)
    if option.is_repeated and option.default is None:
        settings["callback"] = lambda _context, _option, texts: list(texts) or None
    if name in _READERS:
        read = _READERS[name]
        settings["callback"] = lambda _context, _option, value: read(value)
    return settings


def _read_renames(texts: tuple[str, ...]) -> dict[str, str] | None:
    """Return the names of ``--rename OLD=NEW``; None if there are none."""
    names = {}
    for text in texts:
        old, mark, new = text.rpartition("=")
        if not (mark and old and new):
            raise click.UsageError(f"--rename must be OLD=NEW; got {text!r}.")
        if old in names:
            raise click.UsageError(f"--rename gives {old!r} two names. Give one of them.")
        names[old] = new
    return names or None


def _read_sheet(name: str | None) -> str | int | None:
    return int(name) if name and name.isdecimal() else name


# Options whose text on the command line is not their value.
_READERS: dict[str, Callable[[Any], Any]] = {"rename": _read_renames, "sheet": _read_sheet}


def check_resume(resume: bool, output: str | None) -> None:
    """Refuse ``--resume`` without a run folder."""
    if resume and output is None:
        raise click.UsageError("--resume needs -o, the run folder to resume.")


def make_n_jobs_option(workers: str, answer: str, all_cores: bool = False) -> Decorator[Any]:
    """Return the option for the number of workers, which never changes the answer.

    The default is one, or one for each core.
    """
    return click.option(
        *N_JOBS.list_flags("n_jobs"),
        type=click.IntRange(1, MOST_JOBS),
        default=_count_cores if all_cores else 1,
        show_default="one for each core, up to 8" if all_cores else True,
        help=f"Number of {workers}. It changes the time, never the {answer}.",
    )


def _count_cores() -> int:
    from coevo.runtime.threads import count_usable_cores

    return count_usable_cores()


def make_cluster_option(what: str) -> Decorator[Any]:
    """Return the option for a cluster; `what` runs there."""
    return click.option("--cluster", metavar="ADDRESS", help=f"{what} {ON_CLUSTER}")


cluster_option = make_cluster_option("Run")


def make_seed_option(answer: str) -> Decorator[Any]:
    """Return the option for the seed."""
    return click.option(
        *RANDOM_STATE.list_flags("random_state"),
        type=click.IntRange(min=0),
        default=RANDOM_STATE.default,
        show_default=True,
        help=f"Random seed. The same seed gives the same {answer}.",
    )


score_options = bundle_options(
    "scoring",
    make_option("score", replace(SCORE, default="bdeu", said="bdeu")),
    make_option("ess", replace(ESS, said="1")),
)


def make_search_options(stop: str, note: str = "", group: type = SearchFlags) -> Decorator[Any]:
    """Return the options of a search, as the dictionary ``search``.

    `stop` says what a limit stops, as in "Stop each sample". `note` is added to the help of the
    time limit. `group` has the options.
    """
    helps = {
        "max_time": f"{stop} after this time{note}.",
        "max_generations": f"{stop} after this number of generations.",
    }
    return bundle_options("search", *make_options(group, helps))
