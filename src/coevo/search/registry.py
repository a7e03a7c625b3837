"""The registry of search methods: by name, from other packages, and with settings.

`coevo.search.method_text` has the form of a method as a text. `coevo.search.own_methods` imports
and checks classes from outside coevo.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from importlib import import_module
from pathlib import PurePath
from typing import Any

from coevo.errors import ParameterError, bad_choice, bad_parameter, suggest_match
from coevo.names import match_name
from coevo.search.base import Method, Problem, Search
from coevo.search.budget import Budget
from coevo.search.method_text import MethodText, split_methods
from coevo.search.own_methods import CheckedSearch, find_entry_points, hash_code, load_class

__all__ = [
    "METHODS",
    "ChosenMethod",
    "choose_method",
    "find_code_hash",
    "is_own_method",
    "make_method",
    "open_search",
]

# The class of each method, in the module of its name.
_CLASSES = {
    "ccga": "CCGA",
    "ccma": "CCMA",
    "chow_liu": "ChowLiu",
    "ga": "GA",
    "ges": "GES",
    "hill_climb": "HillClimb",
    "islands": "Islands",
    "k2": "K2",
    "k2ga": "K2GA",
    "mdlep": "MDLEP",
    "mmhc": "MMHC",
    "naive_bayes": "NaiveBayes",
    "pc": "PC",
    "tabu": "Tabu",
    "tan": "TAN",
    "wong": "Wong",
}


class _Methods(Mapping[str, type[Method]]):
    """The methods of coevo by name. A method is imported when it is chosen."""

    def __getitem__(self, name: str) -> type[Method]:
        if name not in _CLASSES:
            raise KeyError(name)
        method: type[Method] = getattr(import_module(f"coevo.search.{name}"), _CLASSES[name])
        return method

    def __contains__(self, name: object) -> bool:
        return name in _CLASSES

    def __iter__(self) -> Iterator[str]:
        return iter(_CLASSES)

    def __len__(self) -> int:
        return len(_CLASSES)


METHODS: Mapping[str, type[Method]] = _Methods()


@dataclass(frozen=True)
class ChosenMethod:
    """A method, the limits that its text gives (``ccma:patience=20``), and the text.

    The text has the name of a method as coevo writes it.
    """

    method: Method
    limits: Mapping[str, Any] = field(default_factory=dict)
    text: str = field(default="", compare=False)

    @property
    def label(self) -> str:
        """The text, without the folder of a file."""
        file, mark, rest = self.text.partition(".py:")
        return f"{PurePath(file).name}:{rest}" if mark else self.text

    def limit(self, budget: Budget | None, owner: str) -> Budget:
        """Return a budget with these limits; raise `ParameterError` if a limit is given twice."""
        given = Budget() if budget is None else budget
        for name in self.limits:
            if getattr(given, name) is not None:
                raise ParameterError(
                    f"{name!r} of {owner} is {getattr(given, name)}, and the method says "
                    f"{self.limits[name]}. Give it once."
                )
        return replace(given, **self.limits)


def choose_method(method: str | Method, owner: str, parameter: str = "method") -> ChosenMethod:
    """Return the method of a text; return a `Method` unchanged.

    >>> choose_method("hill_climb:restarts=5", "learn").method
    HillClimb(restarts=5, perturbations=10)
    >>> choose_method("tabo", "learn")
    Traceback (most recent call last):
    coevo.errors.ParameterError: 'method' of learn must be one of 'ccga', 'ccma', \
'chow_liu', 'ga', 'ges', 'hill_climb', 'islands', 'k2', 'k2ga', 'mdlep', 'mmhc', 'naive_bayes', \
'pc', 'tabu', 'tan', 'wong'; got 'tabo'. Did you mean 'tabu'?
    """
    if isinstance(method, Method):
        return ChosenMethod(method, text=method.name)
    if not isinstance(method, str):
        raise bad_parameter(parameter, owner, "the name of a method or a Method", method)
    parts = split_methods([method])
    given = parts[0] if len(parts) == 1 else method
    text = MethodText.parse(given)
    name, kind = _find_class(text, method, owner, parameter)
    known = [setting.name for setting in fields(kind) if setting.init and setting.compare]
    limits = {name: value for name, value in text.settings.items() if name not in known}
    for limit in limits:
        _check_setting(limit, kind.name, known)
    settings = {name: value for name, value in text.settings.items() if name in known}
    Budget(**limits)  # raises if a limit is wrong
    if text.source is None:
        settings_text = ",".join(part.strip() for part in given.partition(":")[2].split(","))
        given = f"{name}:{settings_text}".removesuffix(":")
    return ChosenMethod(kind(**settings), limits, given)


def _check_setting(name: str, method: str, known: list[str]) -> None:
    limits = [limit.name for limit in fields(Budget)]
    if name not in limits:
        listed = ", ".join(sorted(known)) or "none"
        raise ParameterError(
            f"The method {method!r} has no setting {name!r}. Its settings: {listed}. Limits: "
            f"{', '.join(limits)}.{suggest_match(name, [*known, *limits])}"
        )


def _find_class(
    text: MethodText, method: str, owner: str, parameter: str
) -> tuple[str, type[Method]]:
    """Return the name and the class of a method: of coevo, of a package, or of a named module."""
    if text.source is not None and match_name(text.source, METHODS) is None:
        return text.name, load_class(text.source, text.name)
    if text.source is not None:
        raise ParameterError(
            f"{method!r} has no value for {text.name!r}. Write METHOD:SETTING=VALUE, as in "
            "hill_climb:restarts=5."
        )
    known = match_name(text.name, METHODS)
    if known is not None:
        return known, METHODS[known]
    points = find_entry_points()
    offered = match_name(text.name, points)
    if offered is None:
        raise bad_choice(parameter, owner, {*METHODS, *points}, method)
    return offered, load_class(points[offered], offered)


def make_method(method: str | Method, owner: str, **settings: Any) -> Method:
    """Return the method of a text with further settings; return a `Method` unchanged.

    >>> make_method("ccga", "learn", population=50).name
    'ccga'
    """
    if isinstance(method, Method) and settings:
        raise bad_parameter("method", owner, "the name of a method", method)
    chosen = choose_method(method, owner).method
    return replace(chosen, **settings) if settings else chosen


def is_own_method(method: Method) -> bool:
    """Return whether a method comes from outside coevo."""
    return METHODS.get(method.name) is not type(method)


def find_code_hash(method: Method) -> str | None:
    """Return the hash of the file of a method from outside coevo; None for the others."""
    return hash_code(type(method)) if is_own_method(method) else None


def open_search(method: Method, problem: Problem) -> Search[Any]:
    """Return the search of a method; what a method from outside coevo returns is checked."""
    return CheckedSearch(method, problem) if is_own_method(method) else method.make_search(problem)
