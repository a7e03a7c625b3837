"""Keyword arguments: options that several functions share, and hints for unknown names.

Options that functions share are declared once, in `coevo.options`. Type checkers read
``**options: Unpack[SomeOptions]``. `accept_options` adds what they do at run time: an unknown name
is a `TypeError` with a hint, ``help`` and the documentation show every option with its default, and
the function receives the defaults that are shown. `check_keywords` gives the same hint for a
function without shared options.

The hint is the name that people mean who come from another library (`SYNONYMS`), else the functions
that take an option of this name, else a name that is spelled alike.
"""

from __future__ import annotations

import functools
import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from coevo.errors import suggest_match, warn_caller
from coevo.options import HOME, HOMES, TAKEN_BY, get_defaults, get_type_text, list_options

__all__ = [
    "accept_options",
    "check_keywords",
    "check_names",
    "document_options",
    "suggest_keyword",
]

Function = TypeVar("Function", bound=Callable[..., Any])

# Our names, each with what others call it. A habit may stand at several names: the function that
# is called has one of them. Case, hyphens and underscores do not count.
SYNONYMS = {
    "random_state": "seed rng random_seed set_seed",
    "given": "evidence observed observations condition conditions conditioned_on",
    "targets": "target variable variables nodes node query",
    "target": "targets variable class_variable class_name label response outcome y",
    "table": "data df dataframe frame dataset x rows samples observations source file path csv",
    "data": "table df dataframe frame dataset x rows samples observations source file path csv",
    "source": "data df dataframe frame dataset table file path csv filename",
    "rows": "n size n_rows n_samples num_samples number samples",
    "bootstraps": "bootstrap n_bootstraps n_bootstrap n_boot nboot boot r n_resamples replicates",
    "ess": "iss alpha equivalent_sample_size imaginary_sample_size prior_sample_size pseudocount",
    "max_parents": "max_indegree max_in_degree indegree maxp max_fan_in max_n_parents",
    "required": "whitelist fixed_edges required_edges required_arcs known_arcs known_edges",
    "forbidden": "blacklist forbidden_edges forbidden_arcs banned tabu_edges excluded",
    "roots": "root exogenous sources",
    "leaves": "leaf sinks sink",
    "constraints": "whitelist blacklist required forbidden tiers fixed_edges required_edges "
    "forbidden_edges required_arcs forbidden_arcs tabu_edges knowledge prior_knowledge "
    "background_knowledge expert_knowledge temporal_order",
    "method": "algorithm algo search estimator optimizer optimiser strategy",
    "score": "scoring scoring_method score_type metric criterion scorer",
    "scoring": "score scoring_method score_type metric criterion",
    "max_time": "timeout time_limit max_seconds seconds max_runtime time budget",
    "max_generations": "max_iter max_iterations n_iter iterations generations n_generations epochs",
    "n_jobs": "n_threads threads num_threads workers num_workers n_workers processes cores jobs",
    "progress": "verbose show_progress progress_bar",
    "output": "out folder outdir output_dir output_folder save_to run_dir directory",
    "folder": "out output outdir output_dir save_to directory",
    "delimiter": "sep delim separator",
    "missing_labels": "na_values missing_values na_strings missing_label missing_codes",
    "missing": "impute imputation imputer missing_policy na_action dropna",
    "types": "dtype dtypes column_types schema",
    "names": "columns column_names feature_names variable_names",
    "drop": "drop_columns drop_cols ignore exclude remove",
    "only": "usecols keep select columns",
    "bins": "n_bins num_bins number_of_bins",
    "discretise": "discretize discretization discretisation binning",
    "parent_penalty": "penalty edge_penalty arc_penalty",
    "start": "start_dag initial initial_dag init start_graph initial_graph",
    "cv": "folds n_folds n_splits k kfold",
}


def suggest_keyword(given: str, names: Sequence[str], moved: Sequence[str] = ()) -> str:
    """Return a hint for an unknown keyword, with a blank before it, or an empty string.

    `moved` are names that are parts of values now; see `coevo.options.HOMES`.

    >>> suggest_keyword("seed", ["sheet", "random_state"])
    " Did you mean 'random_state'?"
    >>> suggest_keyword("blacklist", ["table", "constraints"]), suggest_keyword("lime", ["line"])
    (" Did you mean 'constraints'?", " Did you mean 'line'?")
    >>> suggest_keyword("prove", ["table", "score"])
    ' It is an option of learn.'
    """
    meant = [name for name in (*names, *moved) if _reduce(given) in _HABITS.get(name, ())]
    if meant and meant[0] in moved:
        home = HOME[meant[0]]
        return f" Did you mean {home}={HOMES[home][0]}({meant[0]}=...)?"
    if meant:
        return f" Did you mean {meant[0]!r}?"
    owners = [owner for owner, group in TAKEN_BY.items() if given in group.__annotations__]
    if owners and given not in names:
        return f" It is an option of {' and '.join(owners[:2])}."
    return suggest_match(given, names)


def _reduce(name: str) -> str:
    return name.lower().replace("_", "")


_HABITS = {name: set(map(_reduce, habits.split())) for name, habits in SYNONYMS.items()}


def check_keywords(*options: type) -> Callable[[Function], Function]:
    """Return a decorator that adds a suggestion to the error about an unknown keyword.

    `options` are the dicts of the options that the function takes as ``**options``.

    A function that takes `given` understands ``evidence``, which most libraries say, too.

    >>> @check_keywords()
    ... def query(targets, given=None): return targets, given
    >>> query("ill", given=3), query("ill", evidence=3)
    (('ill', 3), ('ill', 3))
    >>> query("ill", observed=3)
    Traceback (most recent call last):
    TypeError: query() got an unexpected keyword argument 'observed'. Did you mean 'given'?
    """

    def decorate(function: Function) -> Function:
        named = inspect.signature(function).parameters.values()
        names = [p.name for p in named if p.kind not in (p.VAR_KEYWORD, p.POSITIONAL_ONLY)]
        names += [name for one in options for name in one.__annotations__]

        @functools.wraps(function)
        def check(*args: Any, **kwargs: Any) -> Any:
            if "evidence" in kwargs and "given" in names and "given" not in kwargs:
                kwargs["given"] = kwargs.pop("evidence")
            for name in kwargs:
                if name not in names:
                    raise _make_error(function, name, names)
            return function(*args, **kwargs)

        return check  # type: ignore[return-value]

    return decorate


def _make_error(
    function: Callable[..., Any], name: str, names: Sequence[str], moved: Sequence[str] = ()
) -> TypeError:
    owner = function.__qualname__.removesuffix(".__init__")
    hint = suggest_keyword(name, [one for one in names if one != "self"], moved)
    return TypeError(f"{owner}() got an unexpected keyword argument {name!r}.{hint}")


def check_names(owner: str, given: Iterable[str], options: type) -> None:
    """Raise `TypeError` for the first name that is no option of a class; `owner` is the value."""
    for name in given:
        if name not in options.__annotations__:
            hint = suggest_keyword(str(name), list(options.__annotations__))
            raise TypeError(f"{owner}() got an unexpected keyword argument {name!r}.{hint}")


def accept_options(options: type, moved: type | None = None) -> Callable[[Function], Function]:
    """Return a decorator for a function that takes a class of `coevo.options` as ``**options``.

    The function receives every option, those that are not given with their default. A parameter of
    the function itself stands for the option of the same name. It also receives the options of
    `moved` that are given: they work, but signature and documentation do not show them. If there
    are some, the first parameter may be called ``table``, as in 0.2.0.

    >>> from typing import Annotated, TypedDict, Unpack
    >>> from coevo.options import Option
    >>> line = Annotated[str, Option("black", "The colour of lines.")]
    >>> Colours = TypedDict("Colours", {"line": line}, total=False)
    >>> @accept_options(Colours)
    ... def draw(size, **options: Unpack[Colours]): return size, options
    >>> draw(3, line="red"), str(inspect.signature(draw))
    ((3, {'line': 'red'}), "(size, *, line: 'str' = 'black')")
    >>> draw(3)
    (3, {'line': 'black'})
    >>> draw(3, lime="red")
    Traceback (most recent call last):
    TypeError: draw() got an unexpected keyword argument 'lime'. Did you mean 'line'?
    """

    def decorate(function: Function) -> Function:
        signature = inspect.signature(function)
        given = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        defaults = get_defaults(options)
        for parameter in given:
            defaults.pop(parameter.name, None)
        own = [p for p in given if p.kind is p.KEYWORD_ONLY]
        first = [p for p in given if p.kind is not p.KEYWORD_ONLY]
        shown = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=default,
                annotation=get_type_text(options, name),
            )
            for name, default in defaults.items()
        ]
        parameters = [*first, *shown, *own]
        names = [parameter.name for parameter in parameters]

        old = () if moved is None else tuple(moved.__annotations__)

        @functools.wraps(function)
        def accept(*args: Any, **kwargs: Any) -> Any:
            if old and "table" in kwargs and not args:
                kwargs[names[0]] = kwargs.pop("table")
                now = f"{function.__name__}({names[0]}=...)"
                said = f"{function.__name__}(table=...) is now {now}."
                warn_caller(f"{said} The old keyword works until coevo 0.4.", FutureWarning)
            for name in kwargs:
                if name not in names and name not in old:
                    raise _make_error(function, name, names, old)
            return function(*args, **{**defaults, **kwargs})

        accept.__doc__ = _describe_options(function.__doc__, options, defaults)
        accept.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        return accept  # type: ignore[return-value]

    return decorate


def document_options(options: type) -> Callable[[type], type]:
    """Return a decorator that describes the options of ``__init__`` in the text of its class."""

    def decorate(kind: type) -> type:
        kind.__doc__ = _describe_options(kind.__doc__, options, get_defaults(options))
        return kind

    return decorate


def _describe_options(text: str | None, options: type, names: Iterable[str]) -> str | None:
    """Return a docstring in which the entry ``**options`` is replaced by one for each option."""
    found = re.search(r"^( *)\*\*options\n(\1    .*\n)+", text or "", re.M)
    if text is None or found is None:
        return text
    indent, declared, entries = found[1], list_options(options), []
    for name in names:
        entries.append(f"{indent}{name} : {_describe_type(get_type_text(options, name))}\n")
        meaning = declared[name].doc or declared[name].help
        entries += [f"{indent}    {line}\n" for line in textwrap.wrap(meaning, 88)]
    return text[: found.start()] + "".join(entries) + text[found.end() :]


def _describe_type(text: str) -> str:
    """Return a type for a reader.

    >>> _describe_type("str | Score | None"), _describe_type("Iterable[str]")
    ('str or Score, optional', 'Iterable[str]')
    """
    kinds = text.split(" | ")
    optional = ", optional" if "None" in kinds else ""
    return " or ".join(kind for kind in kinds if kind != "None") + optional
