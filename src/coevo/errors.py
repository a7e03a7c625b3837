"""The exceptions of coevo, and the functions that build their messages.

    CoevoError
      ParameterError        an argument or an option has an invalid value
      DataError             a table cannot be used as it is
      GraphError            a set of arcs is not a DAG, or names an unknown variable
      NetworkError          tables do not match their variables, or do not sum to one
      FileError             a file cannot be opened, read or written
      FormatError           a file is malformed; the message has its line and column
      DependencyError       an optional library is not installed, or cannot be loaded
      NotFittedError        an estimator is used before `fit`
      MethodError           a search method from outside coevo breaks the interface
      WorkerError           a worker process died
      EngineError           the compiled library is missing, or cannot be loaded
    CoevoWarning            valid input that may be a mistake

The only argument of every exception is one complete message. The exception therefore
survives pickling on its way back from a worker, and prints the same everywhere.

A message says what is wrong, with the name and the value, and then what to do about it.
`bad_parameter` and `bad_choice` return exceptions to raise, and `warn_caller` warns. The other
functions return parts of messages.
"""

from __future__ import annotations

import difflib
import sys
import warnings
from collections.abc import Iterable, Sequence
from itertools import islice
from types import FrameType, ModuleType

__all__ = [
    "MAX_LISTED",
    "CoevoError",
    "CoevoWarning",
    "DataError",
    "DependencyError",
    "EngineError",
    "FileError",
    "FormatError",
    "GraphError",
    "MethodError",
    "NetworkError",
    "NotFittedError",
    "ParameterError",
    "WorkerError",
    "bad_choice",
    "bad_parameter",
    "describe_shortage",
    "find_duplicate",
    "format_count",
    "format_list",
    "get_address_space",
    "import_optional",
    "is_shortage",
    "suggest_match",
    "warn_caller",
]

MAX_VALUE_LENGTH = 200  # characters; a message shows the type of a longer value instead
_OWN_MODULES = ("coevo", "contextlib")  # contextlib runs the context managers of coevo
MAX_MESSAGE = 1500  # characters
MAX_COMPARED = 100  # characters of a name; a comparison takes the square of that
MAX_NAMES = 10_000  # that a name is compared with
MAX_LISTED = 5  # names or states that a message lists before it counts the rest
# What the system says where it has no memory for a library, in errors of other types.
_SHORTAGES = ("failed to map segment", "cannot allocate memory", "can't start new thread")


class CoevoError(Exception):
    """Base class of all exceptions of coevo.

    The middle of a very long message is left out: a name in a file may have any length.
    """

    def __init__(self, *args: object) -> None:
        super().__init__(*(_shorten(arg) if isinstance(arg, str) else arg for arg in args))


class ParameterError(CoevoError, ValueError):
    """An argument or an option has an invalid value."""


class DataError(CoevoError, ValueError):
    """A table cannot be used as it is."""


class GraphError(CoevoError, ValueError):
    """A set of arcs is not a DAG, or names an unknown variable."""


class NetworkError(CoevoError, ValueError):
    """The tables of a network do not match its variables, or do not sum to one."""


class FileError(CoevoError, OSError):
    """A file cannot be opened, read or written."""


class FormatError(CoevoError, ValueError):
    """A file is malformed."""


class DependencyError(CoevoError, ImportError):
    """An optional library is not installed, or cannot be loaded."""


class NotFittedError(CoevoError, ValueError, AttributeError):
    """An estimator is used before `fit`."""


class MethodError(CoevoError, TypeError):
    """A search method from outside coevo breaks the interface of methods."""


class WorkerError(CoevoError, RuntimeError):
    """A worker process died."""


class EngineError(CoevoError, ImportError):
    """The compiled library of coevo is missing, or cannot be loaded."""


class CoevoWarning(UserWarning):
    """Valid input that may be a mistake."""


def warn_caller(message: str, category: type[Warning] = CoevoWarning) -> None:
    """Issue a warning that points to the line outside coevo that led to it."""
    frame: FrameType | None = sys._getframe(1)
    level = 2
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] in _OWN_MODULES:
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level)


def _shorten(message: str) -> str:
    """Return a message without the middle of a very long one.

    >>> len(_shorten("x" * 10**6)), _shorten("short")
    (1500, 'short')
    """
    if len(message) <= MAX_MESSAGE:
        return message
    n_end = MAX_MESSAGE // 3
    return f"{message[: MAX_MESSAGE - n_end - 5]} ... {message[-n_end:]}"


def bad_parameter(name: str, owner: str, expected: str, got: object) -> ParameterError:
    """Return the exception for a parameter with an invalid value.

    >>> print(bad_parameter("max_parents", "learn", "an int >= 1 or None", 0))
    'max_parents' of learn must be an int >= 1 or None; got 0.
    """
    return ParameterError(f"{name!r} of {owner} must be {expected}; got {_format_value(got)}.")


def _format_value(got: object) -> str:
    """Return a value for a message: its repr, or its type if the repr is long.

    >>> _format_value([1, 2]), _format_value("x" * 500)
    ('[1, 2]', 'a str of 500 characters')
    """
    text = repr(got)
    if len(text) <= MAX_VALUE_LENGTH and "\n" not in text:
        return text
    length = f" of {len(got):,} characters" if isinstance(got, str) else ""
    return f"a {type(got).__name__}{length}"


def bad_choice(name: str, owner: str, choices: Iterable[str], got: object) -> ParameterError:
    """Return the exception for a value that is not one of the choices.

    >>> print(bad_choice("score", "learn", ["k2", "bdeu", "bic"], "bicc"))
    'score' of learn must be one of 'bdeu', 'bic', 'k2'; got 'bicc'. Did you mean 'bic'?
    """
    names = sorted(choices)
    expected = ", ".join(repr(choice) for choice in names)
    return ParameterError(
        f"{name!r} of {owner} must be one of {expected}; got {got!r}.{suggest_match(got, names)}"
    )


def suggest_match(got: object, names: Iterable[str]) -> str:
    """Return `` Did you mean 'x'?`` if a name is similar, ignoring case; else an empty string.

    >>> suggest_match("Bicc", ["bic", "bdeu"])
    " Did you mean 'bic'?"
    """
    text = str(got).lower()
    if len(text) > MAX_COMPARED:
        return ""
    by_lower = {name.lower(): name for name in names if len(name) <= MAX_COMPARED}
    close = difflib.get_close_matches(text, list(islice(by_lower, MAX_NAMES)), n=1)
    return f" Did you mean {by_lower[close[0]]!r}?" if close else ""


def find_duplicate(items: Iterable[str]) -> str | None:
    """Return the first item that is a repetition, or None if all items are different.

    >>> find_duplicate(["a", "b", "c", "b", "a"])
    'b'
    """
    seen: set[str] = set()
    for item in items:
        if item in seen:
            return item
        seen.add(item)
    return None


def format_count(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun.

    >>> format_count(1, "state"), format_count(2000, "state")
    ('1 state', '2,000 states')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def format_list(items: Sequence[str]) -> str:
    """Return the first few items with commas, and the number of the others.

    >>> format_list(["a", "b"]), format_list(list("abcdefgh"))
    ('a, b', 'a, b, c, d, e and 3 more')
    """
    text = ", ".join(items[:MAX_LISTED])
    n_others = len(items) - MAX_LISTED
    return f"{text} and {n_others:,} more" if n_others > 0 else text


def get_address_space() -> int | None:
    """Return the bytes of addresses that this process may use (``ulimit -v``), or None."""
    try:
        import resource
    except ImportError:  # on Windows, which gives no process more than it has
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if soft == resource.RLIM_INFINITY else int(soft)


def is_shortage(error: BaseException) -> bool:
    """Return whether an error means that there is not enough memory.

    >>> is_shortage(ImportError("lib.so: failed to map segment from shared object"))
    True
    """
    text = str(error).lower()
    return isinstance(error, MemoryError) or any(known in text for known in _SHORTAGES)


def describe_shortage(work: str = "", detail: str = "") -> str:
    """Return the sentence for memory that ran out during some work, such as ``"to load HiGHS"``."""
    limit = get_address_space()
    start = " ".join(f"There is not enough memory {work}".split())
    shown = f" ({detail.rstrip('.')})" if detail else ""
    if limit is None:
        return f"{start}{shown}. Free some, or use a machine with more."
    return (
        f"{start}{shown}: this process may use {limit / 1e6:,.0f} MB of address space. Free some, "
        "or raise the limit (ulimit -v)."
    )


def import_optional(module: str, label: str, extra: str) -> ModuleType:
    """Import an optional library; raise `DependencyError` if it is missing or cannot be loaded.

    >>> import_optional("no_such_module", "Dask", "dask")
    Traceback (most recent call last):
    coevo.errors.DependencyError: Dask is not installed. Install it with: pip install 'coevo[dask]'
    """
    import importlib

    try:
        return importlib.import_module(module)
    except (ImportError, OSError, MemoryError, RuntimeError) as error:
        # The name of another module means that the library is there, and a part of it is not.
        is_missing = isinstance(error, ModuleNotFoundError) and error.name is not None
        if is_missing and f"{module}.".startswith(f"{error.name}."):  # type: ignore[union-attr]
            sentence = f"{label} is not installed. Install it with: pip install 'coevo[{extra}]'"
        elif is_shortage(error):
            sentence = describe_shortage(f"to load {label}")
        else:
            reason = (str(error) or type(error).__name__).strip().splitlines()[0].rstrip(".")
            sentence = (
                f"{label} is installed, but it cannot be loaded ({reason}). Install it again with: "
                f"pip install --force-reinstall 'coevo[{extra}]'"
            )
        raise DependencyError(sentence) from None
