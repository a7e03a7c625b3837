"""The same search as text to copy: a command for a terminal, and lines of Python.

Both give the network that the studio learns. Options have the names of `coevo.learn`. The command
has them under the names of ``coevo learn``; a test compares the two for every option.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from coevo.errors import ParameterError, suggest_match
from coevo.learning.options import LEARN_DEFAULTS

__all__ = ["format_command", "format_python", "list_words"]

# Options of the command whose names are not those of the parameters.
_NAMES = {"random_state": "seed", "missing_labels": "missing-label"}
# Options that are the same text in a command many times, one for each item.
_REPEATED = ("drop", "missing_labels")
# Parameters without an option of the command.
_PYTHON_ONLY = ("names", "connection", "weights")
_NO_LIMIT = {"max_table": 0}  # how the command says None
LINE = 88  # characters of a line of Python


def format_command(
    table: str | Path, options: Mapping[str, Any], output: str | Path | None = None
) -> str:
    """Return the command that learns from a table.

    >>> format_command("my rows.csv", {"method": "tabu", "random_state": 7, "drop": ["id"]}, "run")
    "coevo learn 'my rows.csv' --method tabu --seed 7 --drop id -o run"
    """
    words = ["coevo", "learn", str(table), *list_words(options)]
    return shlex.join([*words, *(() if output is None else ("-o", str(output)))])


def list_words(options: Mapping[str, Any]) -> list[str]:
    """Return options of `learn` as words of a command, without those that have their default."""
    return [word for name, value in _drop_defaults(options) for word in _make_words(name, value)]


def _drop_defaults(options: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    defaults: Mapping[str, Any] = {**LEARN_DEFAULTS}
    for name, value in options.items():
        if name not in defaults:
            raise ParameterError(f"There is no option {name!r}.{suggest_match(name, defaults)}")
        # The seed is always written, because it is what repeats the run.
        if name == "random_state" or value != defaults[name]:
            yield name, value


def _make_words(name: str, value: Any) -> list[str]:
    if name in _PYTHON_ONLY:
        raise ParameterError(f"{name!r} has no option on the command line.")
    option = f"--{_NAMES.get(name, name.replace('_', '-'))}"
    if isinstance(value, bool):
        return [option if value else f"--no-{option[2:]}"]
    if name == "rename":
        return [word for old, new in value.items() for word in (option, f"{old}={new}")]
    if name in _REPEATED:
        return [word for one in value for word in (option, str(one))]
    if value is None:
        return [option, str(_NO_LIMIT[name])]
    if isinstance(value, Mapping):
        raise ParameterError(f"{name!r} must be the path of a file on the command line.")
    return [option, str(value)]


def format_python(
    table: str | Path, options: Mapping[str, Any], output: str | Path | None = None
) -> str:
    """Return the lines of Python that learn from a table.

    >>> print(format_python("rows.csv", {"method": "tabu", "random_state": 7}), end="")
    import coevo
    <BLANKLINE>
    result = coevo.learn("rows.csv", method="tabu", random_state=7)
    print(result)
    """
    items = dict(_drop_defaults(options))
    if output is not None:
        items["output"] = str(output)
    words = [_quote(str(table)), *(f"{name}={_format_value(v)}" for name, v in items.items())]
    call = f"result = coevo.learn({', '.join(words)})"
    if len(call) > LINE:
        call = "result = coevo.learn(\n" + "".join(f"    {word},\n" for word in words) + ")"
    return f"import coevo\n\n{call}\nprint(result)\n"


def _format_value(value: Any) -> str:
    return _quote(str(value)) if isinstance(value, str | Path) else repr(value)


def _quote(text: str) -> str:
    """Return a text in double quotes, as most people write it, where that is possible."""
    plain = repr(text)
    return f'"{plain[1:-1]}"' if plain.startswith("'") and '"' not in text else plain
