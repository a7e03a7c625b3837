"""The registry of search methods: by name, from other packages, and with settings.

A method has a form as a text: its name and its settings. Classes from outside coevo are imported
and checked.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import math
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from importlib import import_module
from pathlib import Path, PurePath
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.errors import (
    CoevoError,
    GraphError,
    MethodError,
    ParameterError,
    bad_choice,
    bad_parameter,
    suggest_match,
)
from coevo.names import match_name
from coevo.search.base import Info, Method, Problem, Search, SearchState
from coevo.search.loop import Budget

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = [
    "ENTRY_POINTS",
    "METHODS",
    "CheckedSearch",
    "ChosenMethod",
    "MethodText",
    "choose_method",
    "find_code_hash",
    "find_entry_points",
    "hash_code",
    "is_own_method",
    "load_class",
    "make_method",
    "open_search",
    "split_methods",
]


# Methods from outside coevo: import a class, check its interface, and check what it returns.
#
# Nothing is imported unless the caller names it. A module is looked for where Python looks, and
# then in the current folder. The folder of a file is added to Python's path. So the processes that
# run bootstrap samples and comparisons can import it too.
#
# `CheckedSearch` checks each new best structure of such a method: a search that returns a cycle or
# a wrong score would otherwise give a wrong answer much later, or none.


ENTRY_POINTS = "coevo.methods"  # the group of entry points
SCORE_TOLERANCE = 1e-6  # relative; sums in another order differ by round-off
HASH_LENGTH = 16  # hexadecimal digits


def find_entry_points() -> dict[str, EntryPoint]:
    """Return the methods that installed packages offer, by name. This imports none of them."""
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=ENTRY_POINTS)}


def load_class(source: str | EntryPoint, name: str) -> type[Method]:
    """Import the class of a method, and check its interface.

    `source` is a module, a file or an entry point. It is named in messages.
    """
    # Not `isinstance(source, EntryPoint)`: importlib_metadata, if imported, has a class of its own.
    place = f"{source}:{name}" if isinstance(source, str) else source.value
    try:
        found = _load(source, name) if isinstance(source, str) else source.load()
    except CoevoError:
        raise
    except Exception as error:  # whatever a foreign module raises
        raise MethodError(
            f"The method {place!r} cannot be imported: {type(error).__name__}: {error}."
        ) from error
    problem = _find_class_problem(found)
    if problem:
        raise MethodError(f"{place!r} is not a search method: {problem}.")
    kind: type[Method] = found
    return kind


def _load(source: str, name: str) -> Any:
    module = _import_file(Path(source)) if source.endswith(".py") else _import_module(source)
    if not hasattr(module, name):
        methods = [key for key, value in vars(module).items() if _is_method_class(value)]
        raise ParameterError(f"{source!r} has no class {name!r}.{suggest_match(name, methods)}")
    return getattr(module, name)


def _import_module(name: str) -> ModuleType:
    """Import a module from Python's path, or else from the current folder."""
    top = name.partition(".")[0]
    folder = os.getcwd()
    try:
        is_here = Path(folder, top).is_dir() or Path(folder, f"{top}.py").is_file()
        if is_here and top not in sys.modules and importlib.util.find_spec(top) is None:
            _add_to_path(folder)
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing = error.name or ""
        if name != missing and not name.startswith(f"{missing}."):
            raise  # the module exists, and imports another one that does not
        raise ParameterError(
            f"There is no module {name!r}, neither installed nor in {folder!r}. Install it, or "
            "give the path of its file, as in lab/search.py:MySearch."
        ) from None


def _import_file(path: Path) -> ModuleType:
    """Import a file as the module of its name."""
    if not path.is_file():
        raise ParameterError(f"There is no file {str(path)!r}.")
    name, place = path.stem, path.resolve()
    if not name.isidentifier():
        raise ParameterError(
            f"{str(path)!r} cannot be imported, because {name!r} is not a Python name. Rename it."
        )
    _add_to_path(str(place.parent))
    module = importlib.import_module(name)
    if Path(module.__file__ or "").resolve() != place:
        raise ParameterError(
            f"{str(path)!r} cannot be imported, because there is another module {name!r}. Rename "
            "the file."
        )
    return module


def _add_to_path(folder: str) -> None:
    """Add a folder at the end of Python's path: its files never replace other modules."""
    if folder not in sys.path:
        sys.path.append(folder)
        importlib.invalidate_caches()


def _is_method_class(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Method) and not inspect.isabstract(value)


def _find_class_problem(found: object) -> str:
    """Return what is wrong with the interface of a class; an empty text if nothing is."""
    if not (isinstance(found, type) and issubclass(found, Method)):
        return "it is not a subclass of coevo.search.Method"
    lacking = sorted(getattr(found, "__abstractmethods__", ()))
    if lacking:
        return f"it has no {lacking[0]!r}"
    for name, kind in (("name", str), ("default_budget", Budget)):
        if not isinstance(getattr(found, name, None), kind):
            return f"its {name!r} must be a {kind.__name__}"
    state = getattr(found, "state_type", None)
    if not (isinstance(state, type) and issubclass(state, SearchState)):
        return "its 'state_type' must be a subclass of coevo.search.SearchState"
    for own in (found, state):
        if _lacks_decorator(own):
            return f"{own.__name__!r} has fields and needs @dataclass(frozen=True)"
    return ""


def _lacks_decorator(kind: type) -> bool:
    """Return whether a class has fields of its own that no decorator has read."""
    own = inspect.get_annotations(kind)
    fields = [name for name, note in own.items() if "ClassVar" not in str(note)]
    return bool(fields) and not (is_dataclass(kind) and "__dataclass_params__" in vars(kind))


def hash_code(kind: type[Method]) -> str | None:
    """Return the hash of the file that defines a class; None if it is in no file."""
    try:
        file = inspect.getsourcefile(kind)
        content = Path(file or "").read_bytes()
    except (TypeError, OSError):
        return None
    return hashlib.sha256(content).hexdigest()[:HASH_LENGTH]


class CheckedSearch(Search[Any]):
    """A search whose states are checked: types, generations, constraints and scores."""

    def __init__(self, method: Method, problem: Problem) -> None:
        search = method.make_search(problem)
        if not isinstance(search, Search):
            raise MethodError(
                f"'make_search' of {method.name!r} must return a coevo.search.Search; got a "
                f"{type(search).__name__}."
            )
        self._method, self._problem, self._search = method, problem, search

    def start(self, rng: Generator) -> tuple[SearchState, Info]:
        """Return the checked state of generation 0."""
        return self._check(self._search.start(rng), None)

    def step(self, rng: Generator, state: SearchState) -> tuple[SearchState, Info]:
        """Return the checked state of the next generation."""
        return self._check(self._search.step(rng, state), state)

    def is_finished(self, state: SearchState) -> bool:
        """Return whether the search has ended."""
        return self._search.is_finished(state)

    def is_compatible(self, state: SearchState) -> bool:
        """Return whether a state fits the settings of this search."""
        return self._search.is_compatible(state)

    def iter_structures(self, state: SearchState) -> Iterable[NDArray[np.bool_]]:
        """Return the structures of the population."""
        return self._search.iter_structures(state)

    def _check(self, made: object, before: SearchState | None) -> tuple[SearchState, Info]:
        """Return what a method made; raise `MethodError` if it breaks the interface."""
        generation = 0 if before is None else before.generation + 1
        problem = self._find_problem(made, before, generation)
        if problem:
            raise MethodError(
                f"The method {self._method.name!r} is wrong in generation {generation}: {problem}."
            )
        checked: tuple[SearchState, Info] = made  # type: ignore[assignment]  # it has this type
        return checked

    def _find_problem(self, made: object, before: SearchState | None, generation: int) -> str:
        kind = self._method.state_type
        if not (isinstance(made, tuple) and len(made) == 2):
            return f"it must return a state and an info; got a {type(made).__name__}"
        state, info = made
        if not isinstance(state, kind):
            return f"its state must be a {kind.__name__}; got a {type(state).__name__}"
        if not isinstance(info, Mapping):
            return f"its info must be a mapping of names to numbers; got a {type(info).__name__}"
        if state.generation != generation:
            return f"its state has the generation {state.generation!r}"
        if before is not None and not state.score >= before.score:
            return f"its best score falls from {before.score!r} to {state.score!r}"
        if before is not None and state.adjacency is before.adjacency:
            return ""
        return self._find_structure_problem(state)

    def _find_structure_problem(self, state: SearchState) -> str:
        n, adjacency = self._problem.n_variables, state.adjacency
        if not isinstance(adjacency, np.ndarray) or adjacency.dtype != np.bool_:
            return "its adjacency must be an array of bool"
        if adjacency.shape != (n, n):
            return f"its adjacency has the shape {adjacency.shape}, and the table has {n} variables"
        rules = self._problem.rules
        try:
            self._problem.make_dag(adjacency)
        except GraphError as error:
            return f"its structure is not a DAG. {str(error).removesuffix('.')}"
        if not rules.is_satisfied_by(adjacency):
            violation = rules.describe_violation(adjacency, self._problem.names)
            return f"its structure breaks the constraints: {violation}"
        score = self._problem.score(adjacency)
        if not math.isclose(state.score, score, rel_tol=SCORE_TOLERANCE, abs_tol=SCORE_TOLERANCE):
            return f"its score is {state.score!r}, and that of its structure is {score!r}"
        return ""


# A method as a text: its name or its class, and its settings.
#
#     hill_climb                         a method of coevo, or of an installed package
#     hill_climb:restarts=5              with settings
#     ccma:orders=40,patience=20         settings, and limits of the search (`Budget`)
#     mypackage.search:Annealing         a class of a module
#     path/to/search.py:Annealing        a class of a file
#     search.py:Annealing:steps=500      with settings
#
# `make_method` turns such a text into a method.


_CLASS = re.compile(r"(?P<source>.+?\.py|[^:=]+):(?P<name>[^:=]+)(?::(?P<settings>.*))?")
_NAME = re.compile(r"(?P<name>[^:=]+)(?::(?P<settings>.*))?")
_SETTING = re.compile(r"[^:=]+=")
_WORDS: dict[str, Any] = {"none": None, "true": True, "false": False}


@dataclass(frozen=True)
class MethodText:
    """A parsed text. `source` is the module or the file of a class; a name has none."""

    name: str
    source: str | None = None
    settings: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> MethodText:
        """Parse a text; raise `ParameterError` if it is malformed.

        >>> MethodText.parse("ccma:orders=40,patience=20").settings
        {'orders': 40, 'patience': 20}
        >>> found = MethodText.parse("lab/search.py:Annealing:cooling=0.9")
        >>> found.source, found.name, found.settings
        ('lab/search.py', 'Annealing', {'cooling': 0.9})
        """
        found = _CLASS.fullmatch(text) or _NAME.fullmatch(text)
        if found is None:
            return cls(text)  # no method has such a name
        parts = found.groupdict()
        settings = _parse_settings(text, parts["settings"] or "")
        return cls(parts["name"].strip(), parts.get("source"), settings)


def _parse_settings(text: str, listed: str) -> dict[str, Any]:
    """Return the settings of a list with commas."""
    settings: dict[str, Any] = {}
    for item in filter(None, listed.split(",")):
        name, mark, value = (part.strip() for part in item.partition("="))
        if not (name and mark and value):
            raise ParameterError(
                f"{item!r} of {text!r} is not a setting. Write NAME=VALUE, as in "
                "hill_climb:restarts=5."
            )
        if name in settings:
            raise ParameterError(f"{text!r} gives {name!r} twice.")
        settings[name] = _parse_value(value)
    return settings


def _parse_value(text: str) -> Any:
    """Return a number, a truth value, None or a text.

    >>> [_parse_value(text) for text in ("40", "0.5", "true", "none", "fast")]
    [40, 0.5, True, None, 'fast']
    """
    for convert in (int, float):
        try:
            return convert(text)
        except ValueError:
            continue
    return _WORDS.get(text.lower(), text)


def split_methods(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the methods of lists with commas; a setting belongs to the method before it.

    >>> split_methods(["ccma:orders=40,patience=20,k2", "tabu"])
    ('ccma:orders=40,patience=20', 'k2', 'tabu')
    >>> split_methods(["ccma,patience=20"])  # as it was meant
    ('ccma:patience=20',)
    """
    methods: list[str] = []
    for text in texts:
        first = len(methods)
        for item in (part.strip() for part in text.split(",")):
            if _SETTING.match(item) and len(methods) > first:
                begin = methods[-1].removesuffix(":")
                methods[-1] = f"{begin}{',' if '=' in begin else ':'}{item}"
            elif item:
                methods.append(item)
    return tuple(methods)


# The class of each method, in the module of its name.
_TREES = ("chow_liu", "naive_bayes", "tan")  # three methods that share a module
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
        module = import_module(f"coevo.search.{'trees' if name in _TREES else name}")
        method: type[Method] = getattr(module, _CLASSES[name])
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
