"""The arguments of `learn`, `posterior`, `prove` and `cross_validate`, as one flat set of options.

A person names a score, a budget and how a table is read; each is one value that holds the options
which belong together: `Objective`, `Budget`, `ReadOptions`, `Constraints`. The command line, the
settings and the checks know the single options. `flatten` leads from the values to them.

In 0.2.0 the functions took the single options themselves. They still do in this version, with a
warning that names the new form.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, Unpack, cast

from coevo.data.read_options import ReadPlan
from coevo.errors import bad_parameter, warn_caller
from coevo.options import (
    HOME,
    HOMES,
    FlatOptions,
    LimitOptions,
    ObjectiveOptions,
    ReadKeywords,
    TableOptions,
    check_options,
    get_defaults,
    select_options,
)
from coevo.score import Score
from coevo.search import Budget
from coevo.signatures import accept_options, check_names, document_options

__all__ = ["Objective", "ReadOptions", "flatten"]

UNTIL = "The old keywords work until coevo 0.4."
LONGEST = 60  # characters of a value in a warning


class OptionValue:
    """Options that belong together, as one value that does not change."""

    _options: dict[str, Any]

    def as_dict(self) -> dict[str, Any]:
        """Return the options by name, also those with their default."""
        return dict(self._options)

    def replace(self, **options: Any) -> Self:
        """Return a copy with some of the options replaced."""
        return type(self)(**{**self._options, **options})

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._options == other._options

    def __hash__(self) -> int:
        return hash((type(self), tuple(self._options)))

    def _format(self, defaults: Mapping[str, Any]) -> str:
        given = (
            f"{name}={value!r}"
            for name, value in self._options.items()
            if name not in defaults or repr(value) != repr(defaults[name])
        )
        return f"{type(self).__name__}({', '.join(given)})"


@document_options(ReadKeywords)
class ReadOptions(OptionValue):
    """How a table is read, as one value: the options of `read_data`.

    Parameters
    ----------
    **options
        The options.

    Examples
    --------
    >>> import coevo
    >>> read = ReadOptions(drop=["id"], bins=3)
    >>> read, read.replace(bins=4)
    (ReadOptions(drop=['id'], bins=3), ReadOptions(drop=['id'], bins=4))
    >>> table = {"id": [1, 2, 3, 4] * 9, "a": list("xyxy") * 9, "b": list("uvuv") * 9}
    >>> import pandas
    >>> coevo.learn(pandas.DataFrame(table), read=read).dag.arcs
    (('a', 'b'),)
    """

    @accept_options(ReadKeywords)
    def __init__(self, **options: Unpack[ReadKeywords]) -> None:
        check_options(ReadKeywords, "ReadOptions", options)
        plan = select_options(TableOptions, options)
        discretise = plan["discretise"]
        if isinstance(discretise, str) and discretise.lower() == "none":  # of `learn` alone
            plan = {**plan, "discretise": None}
        ReadPlan.from_keywords("ReadOptions", plan)  # raises if they are wrong
        self._options = dict(options)

    def __repr__(self) -> str:
        return self._format(get_defaults(ReadKeywords))


@document_options(ObjectiveOptions)
class Objective(OptionValue):
    """What a search maximises: a score, with penalties and a limit on tables.

    Parameters
    ----------
    score : str or Score, optional
        The score (default: BDeu with the penalties of `learn`).
    **options
        The options.

    Examples
    --------
    >>> Objective("bdeu", ess=10)
    Objective(score='bdeu', ess=10)
    >>> Objective(parent_penalty=-1)
    Traceback (most recent call last):
    coevo.errors.ParameterError: 'parent_penalty' of Objective must be a number from 0 to \
1,000,000 or None; got -1.
    """

    @accept_options(ObjectiveOptions)
    def __init__(
        self, score: str | Score | None = None, **options: Unpack[ObjectiveOptions]
    ) -> None:
        check_options(ObjectiveOptions, "Objective", options)
        self._options = {"score": score, **options}

    def __repr__(self) -> str:
        return self._format({"score": None, **get_defaults(ObjectiveOptions)})


def flatten(owner: str, options: Mapping[str, Any]) -> FlatOptions:
    """Return the single options of the arguments of a function; warn of those of 0.2.0.

    >>> found = flatten("learn", {"budget": {"max_time": 3}, "read": {"bins": 4}, "score": None})
    >>> found["max_time"], found["bins"]
    (3, 4)
    """
    given = dict(options)
    old = {name: given.pop(name) for name in options if name in HOME}
    flat = {**_open_budget(given.pop("budget", None), owner)}
    flat |= _open_reading(given.pop("read", None), owner)
    if isinstance(given.get("score"), Objective):
        flat |= given.pop("score").as_dict()
    if old:
        warn_caller(_describe_new_form(owner, old, options), FutureWarning)
    return cast(FlatOptions, {**flat, **given, **old})


def _open_budget(budget: object, owner: str) -> dict[str, Any]:
    """Return the limits of a budget."""
    if budget is None:
        return {}
    if isinstance(budget, Budget):
        return {name: getattr(budget, name) for name in LimitOptions.__annotations__}
    if not isinstance(budget, Mapping):
        raise bad_parameter("budget", owner, "a Budget, a dict or None", budget)
    check_names("Budget", budget, LimitOptions)
    return dict(budget)


def _open_reading(read: object, owner: str) -> dict[str, Any]:
    """Return the options of reading."""
    if read is None:
        return {}
    if isinstance(read, ReadOptions):
        return read.as_dict()
    if not isinstance(read, Mapping):
        raise bad_parameter("read", owner, "ReadOptions, a dict or None", read)
    check_names("ReadOptions", read, ReadKeywords)
    return dict(read)


def _describe_new_form(owner: str, old: Mapping[str, Any], options: Mapping[str, Any]) -> str:
    """Return the sentence about keywords of 0.2.0, with the call that replaces them."""
    parts = []
    for home, (kind, _) in HOMES.items():
        inside = [f"{name}={_shorten(value)}" for name, value in old.items() if HOME[name] == home]
        if not inside:
            continue
        before = options.get(home)
        if home == "score" and before is not None:
            inside = [_shorten(before), *inside]
        elif isinstance(before, Mapping):
            inside = [*(f"{name}={_shorten(value)}" for name, value in before.items()), *inside]
        elif before is not None:
            parts.append(f"{home}=... with {', '.join(inside)} in it")
            continue
        parts.append(f"{home}={kind}({', '.join(inside)})")
    names = ", ".join(f"{name}={_shorten(value)}" for name, value in old.items())
    return f"{owner}({names}) is now {owner}({', '.join(parts)}). {UNTIL}"


def _shorten(value: object) -> str:
    text = repr(value)
    return text if len(text) <= LONGEST and "\n" not in text else "..."
