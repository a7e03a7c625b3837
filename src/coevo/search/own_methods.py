"""Methods from outside coevo: import a class, check its interface, and check what it returns.

Nothing is imported unless the caller names it. A module is looked for where Python looks, and then
in the current folder. The folder of a file is added to Python's path. So the processes that run
bootstrap samples and comparisons can import it too.

`CheckedSearch` checks each new best structure of such a method: a search that returns a cycle or a
wrong score would otherwise give a wrong answer much later, or none.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import math
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import is_dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.errors import CoevoError, GraphError, MethodError, ParameterError, suggest_match
from coevo.search.base import Info, Method, Problem, Search, SearchState
from coevo.search.budget import Budget

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["ENTRY_POINTS", "CheckedSearch", "find_entry_points", "hash_code", "load_class"]

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
