"""What coevo raises, and the one place where its sentences are built.

    CoevoError
      ParameterError        an argument or an option has a value that it cannot have
      DataError             a table cannot be used as it is
      GraphError            a set of arcs is not a DAG, or names an unknown variable
      NetworkError          tables do not fit their variables, or do not sum to one
      FileError             a file cannot be opened, read or written
      FormatError           a file is malformed; the message has its line and column
      DependencyError       an optional library is needed and not installed
      NotFittedError        an estimator is asked before it has learned anything
      WorkerError           a process that did a part of the work died
    CoevoWarning            legal, but worth a look

Every exception carries one finished string as its only argument, so that it survives
pickling on its way back from a worker and prints the same everywhere.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from types import ModuleType

__all__ = [
    "CoevoError",
    "CoevoWarning",
    "DataError",
    "DependencyError",
    "FileError",
    "FormatError",
    "GraphError",
    "NetworkError",
    "NotFittedError",
    "ParameterError",
    "WorkerError",
    "bad_choice",
    "bad_parameter",
    "first_repeated",
    "listed",
    "require",
    "suggestion",
]

LONGEST = 200  # characters of a value that a sentence repeats
SHOWN = 5  # names or states that a sentence lists before it says how many more there are


class CoevoError(Exception):
    """Base of every error that coevo raises on purpose."""


class ParameterError(CoevoError, ValueError):
    """An argument or an option has a value that it cannot have."""


class DataError(CoevoError, ValueError):
    """A table cannot be used as it is."""


class GraphError(CoevoError, ValueError):
    """A set of arcs is not a DAG, or names an unknown variable."""


class NetworkError(CoevoError, ValueError):
    """The tables of a network do not fit its variables, or do not sum to one."""


class FileError(CoevoError, OSError):
    """A file cannot be opened, read or written."""


class FormatError(CoevoError, ValueError):
    """A file is malformed."""


class DependencyError(CoevoError, ImportError):
    """An optional library is needed and not installed."""


class NotFittedError(CoevoError, ValueError, AttributeError):
    """An estimator is asked for what it has not learned yet."""


class WorkerError(CoevoError, RuntimeError):
    """A process that did a part of the work died."""


class CoevoWarning(UserWarning):
    """Legal input that is worth a second look."""


def bad_parameter(name: str, owner: str, expected: str, got: object) -> ParameterError:
    """Build the house sentence for a parameter that is out of range.

    >>> print(bad_parameter("max_parents", "learn", "an int >= 1 or None", 0))
    'max_parents' of learn must be an int >= 1 or None; got 0.
    """
    return ParameterError(f"{name!r} of {owner} must be {expected}; got {_shown(got)}.")


def _shown(got: object) -> str:
    """Return what stands in a sentence for a value: itself, or its type where it is long.

    >>> _shown([1, 2]), _shown("x" * 500)
    ('[1, 2]', 'a str of 500 characters')
    """
    text = repr(got)
    if len(text) <= LONGEST and "\n" not in text:
        return text
    of = f" of {len(got):,} characters" if isinstance(got, str) else ""
    return f"a {type(got).__name__}{of}"


def bad_choice(name: str, owner: str, choices: Iterable[str], got: object) -> ParameterError:
    """Build the house sentence for a value that is not one of a few names.

    >>> print(bad_choice("score", "learn", ["k2", "bdeu", "bic"], "bicc"))
    'score' of learn must be one of 'bdeu', 'bic', 'k2'; got 'bicc'. Did you mean 'bic'?
    """
    names = sorted(choices)
    listed = ", ".join(repr(choice) for choice in names)
    return ParameterError(
        f"{name!r} of {owner} must be one of {listed}; got {got!r}.{suggestion(got, names)}"
    )


def suggestion(got: object, names: Iterable[str]) -> str:
    """Return `` Did you mean 'x'?`` for a near miss, whatever its case, else nothing."""
    by_lower = {name.lower(): name for name in names}
    close = difflib.get_close_matches(str(got).lower(), list(by_lower), n=1)
    return f" Did you mean {by_lower[close[0]]!r}?" if close else ""


def first_repeated(items: Iterable[str]) -> str | None:
    """Return the first item that occurred before, or None if all are different.

    >>> first_repeated(["a", "b", "c", "b", "a"])
    'b'
    """
    seen: set[str] = set()
    for item in items:
        if item in seen:
            return item
        seen.add(item)
    return None


def listed(items: Sequence[str]) -> str:
    """Return the first few items as a sentence lists them, and how many more there are.

    >>> listed(["a", "b"]), listed(list("abcdefgh"))
    ('a, b', 'a, b, c, d, e and 3 more')
    """
    shown = ", ".join(items[:SHOWN])
    rest = len(items) - SHOWN
    return f"{shown} and {rest:,} more" if rest > 0 else shown


def require(module: str, label: str, extra: str) -> ModuleType:
    """Import an optional library, or say how to install it.

    >>> require("no_such_module", "Dask", "dask")
    Traceback (most recent call last):
    coevo.errors.DependencyError: Dask is not installed. Install it with: pip install 'coevo[dask]'
    """
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError:
        raise DependencyError(
            f"{label} is not installed. Install it with: pip install 'coevo[{extra}]'"
        ) from None
