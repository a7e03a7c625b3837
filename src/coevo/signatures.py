"""Keyword arguments: options that several functions share, and hints for unknown names.

Options that functions share are listed once, in a `TypedDict`. Type checkers read
``**options: Unpack[SomeOptions]``. `accept_options` adds what they do at run time: an unknown name
is a `TypeError` with a suggestion, ``help`` and the documentation show every option with its
default, and the function receives the defaults that are shown. `check_keywords` gives the same hint
for a function without shared options.

A suggestion is the name that people mean who come from another library (`SYNONYMS`), else a name
that is spelled alike.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from coevo.errors import suggest_match

__all__ = ["accept_options", "check_keywords", "suggest_keyword"]

Function = TypeVar("Function", bound=Callable[..., Any])

# Our names, each with what others call it. A habit may stand at several names: the function that
# is called has one of them. Case, hyphens and underscores do not count.
SYNONYMS = {
    "random_state": "seed rng random_seed set_seed",
    "given": "evidence observed observations condition conditions conditioned_on",
    "targets": "target variable variables nodes node query",
    "target": "targets variable class_variable class_name label response outcome y",
    "table": "data df dataframe frame dataset x rows samples observations source file path csv",
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


def suggest_keyword(given: str, names: Sequence[str]) -> str:
    """Return `` Did you mean 'x'?`` for an unknown keyword, or an empty string.

    >>> suggest_keyword("seed", ["sheet", "random_state"])
    " Did you mean 'random_state'?"
    >>> suggest_keyword("blacklist", ["table", "constraints"]), suggest_keyword("lime", ["line"])
    (" Did you mean 'constraints'?", " Did you mean 'line'?")
    """
    meant = [name for name in names if _reduce(given) in _HABITS.get(name, ())]
    return f" Did you mean {meant[0]!r}?" if meant else suggest_match(given, names)


def _reduce(name: str) -> str:
    return name.lower().replace("_", "")


_HABITS = {name: set(map(_reduce, habits.split())) for name, habits in SYNONYMS.items()}


def check_keywords(*options: type) -> Callable[[Function], Function]:
    """Return a decorator that adds a suggestion to the error about an unknown keyword.

    `options` are the dicts of the options that the function takes as ``**options``.

    >>> @check_keywords()
    ... def query(targets, given=None): return targets, given
    >>> query("ill", given={}), query("ill", evidence={})
    Traceback (most recent call last):
    TypeError: query() got an unexpected keyword argument 'evidence'. Did you mean 'given'?
    """

    def decorate(function: Function) -> Function:
        named = inspect.signature(function).parameters.values()
        names = [p.name for p in named if p.kind not in (p.VAR_KEYWORD, p.POSITIONAL_ONLY)]
        names += [name for one in options for name in one.__annotations__]

        @functools.wraps(function)
        def check(*args: Any, **kwargs: Any) -> Any:
            for name in kwargs:
                if name not in names:
                    raise _make_error(function, name, names)
            return function(*args, **kwargs)

        return check  # type: ignore[return-value]

    return decorate


def _make_error(function: Callable[..., Any], name: str, names: Sequence[str]) -> TypeError:
    owner = function.__qualname__.removesuffix(".__init__")
    shown = [one for one in names if one != "self"]
    return TypeError(
        f"{owner}() got an unexpected keyword argument {name!r}.{suggest_keyword(name, shown)}"
    )


def accept_options(
    options: type, defaults: Mapping[str, Any], **own_defaults: Any
) -> Callable[[Function], Function]:
    """Return a decorator for a function that takes the keys of a `TypedDict` as ``**options``.

    `defaults` are shown in the signature and passed to the function; `own_defaults` replace some
    of them.

    >>> from typing import TypedDict, Unpack
    >>> class Colours(TypedDict, total=False):
    ...     line: str
    >>> @accept_options(Colours, {"line": "black"})
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
        applied = {**defaults, **own_defaults}
        applied = {name: applied[name] for name in options.__annotations__}
        given = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        own = [p for p in given if p.kind is p.KEYWORD_ONLY]
        first = [p for p in given if p.kind is not p.KEYWORD_ONLY]
        shown = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=applied[name],
                annotation=getattr(kind, "__forward_arg__", kind),
            )
            for name, kind in options.__annotations__.items()
        ]
        parameters = [*first, *shown, *own]
        names = [parameter.name for parameter in parameters]

        @functools.wraps(function)
        def accept(*args: Any, **kwargs: Any) -> Any:
            for name in kwargs:
                if name not in names:
                    raise _make_error(function, name, names)
            return function(*args, **{**applied, **kwargs})

        accept.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        return accept  # type: ignore[return-value]

    return decorate
