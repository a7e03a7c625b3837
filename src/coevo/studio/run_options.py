"""The options of a run in the studio, and the same run as text to copy.

The options of a run in the studio: which may be chosen, and the command that does the same.

Options come from requests and from files of the workspace. Only the options of `coevo.learn` that
are declared for the studio (`coevo.options.Option.in_studio`) are accepted. None of them names a
file or code: the studio itself adds the files of types and constraints, which it has copied into
the run folder.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coevo.errors import FormatError, ParameterError
from coevo.options import (
    HOME,
    HOMES,
    FlatOptions,
    LimitOptions,
    MissingFlags,
    Option,
    TableOptions,
    list_options,
)
from coevo.studio.workspace import STUDIO_FILE, read_object

if TYPE_CHECKING:
    pass

__all__ = [
    "BUDGET",
    "READING",
    "SEARCH",
    "check_given",
    "check_options",
    "describe_fields",
    "format_command",
    "format_python",
    "format_terminal",
    "format_text",
    "make_command",
    "read_given",
]


def _name_flags(options: Mapping[str, Option]) -> dict[str, str]:
    """Return those of the options that the studio takes, each with its first long flag."""
    flags = {name: one.list_flags(name) for name, one in options.items() if one.in_studio}
    return {name: next(f for f in given if f.startswith("--")) for name, given in flags.items()}


# Each keyword with its option on the command line.
OPTIONS = list_options(FlatOptions)
BUDGET = _name_flags(list_options(LimitOptions))
READING = _name_flags({**list_options(TableOptions), **list_options(MissingFlags)})
SEARCH = {name: flag for name, flag in _name_flags(OPTIONS).items() if name not in READING}
# Switches that are off without their flag.
FLAGS = [flag for name, flag in READING.items() if OPTIONS[name].default is False]
FILES = {"types": "--types", "constraints": "--constraints"}  # added by the studio alone
PLAIN = (str, int, float, bool)


def check_options(given: Mapping[str, Any], known: Mapping[str, str]) -> dict[str, Any]:
    """Return the options that are set; raise `ParameterError` for one that is not known.

    >>> check_options({"method": "ccma", "max_time": None}, SEARCH)
    {'method': 'ccma'}
    >>> check_options({"cluster": "tcp://example:1"}, SEARCH)
    Traceback (most recent call last):
    coevo.errors.ParameterError: The studio has no option 'cluster'.
    """
    for name, value in given.items():
        if name not in known:
            raise ParameterError(f"The studio has no option {name!r}.")
        _check_value(name, value)
    chosen = {name: value for name, value in given.items() if value is not None}
    if "method" in chosen:
        _check_method(chosen["method"])
    return chosen


def describe_fields() -> list[dict[str, Any]]:
    """Return the fields of further settings in the form, in the order of the options.

    >>> describe_fields()[1]["title"], describe_fields()[1]["least"]
    ('Cost of each parent', 0)
    """
    fields = []
    for name, option in OPTIONS.items():
        if option.field is not None:
            record = {"name": name, **asdict(option.field)}
            if option.rule is not None:
                record |= {"least": option.rule.least, "is_whole": option.rule.kind is int}
            fields.append(record)
    return fields


def check_given(given: Mapping[str, Any], run: str) -> dict[str, Any]:
    """Return what ``studio.json`` of a run holds, checked: a run folder may come from anywhere.

    The files that its options name must be those in the run folder.
    """
    table, options, command = (given.get(key) for key in ("table", "options", "command"))
    if not (isinstance(table, str) and isinstance(options, dict) and isinstance(command, list)):
        raise FormatError(f"The run {run!r} is damaged: studio.json does not say how it began.")
    check_options(options, {**SEARCH, **READING, **FILES})
    for kind in FILES:
        if options.get(kind, f"runs/{run}/{kind}.json") != f"runs/{run}/{kind}.json":
            raise FormatError(f"The run {run!r} is damaged: studio.json names a file elsewhere.")
    return {"table": table, "options": options, "command": [str(word) for word in command]}


def read_given(folder: Path) -> dict[str, Any]:
    """Return how a run was started in the studio; empty if it was not. See `check_given`."""
    known = read_object(folder / STUDIO_FILE)
    return check_given(known, folder.name) if known else {}


def _check_value(name: str, value: Any) -> None:
    listed = _flatten(value)
    if not all(part is None or isinstance(part, PLAIN) for part in listed):
        raise ParameterError(f"The option {name!r} must be a text, a number or a list of them.")


def _flatten(value: Any) -> list[Any]:
    """Return the plain values of an option: one, a list, or objects of lists and objects."""
    if isinstance(value, dict):
        return [one for part in value.values() for one in _flatten(part)]
    return list(value) if isinstance(value, list) else [value]


def _check_method(method: Any) -> None:
    """Raise `ParameterError` for a method that is not one of coevo's: a file would run as code."""
    from coevo.errors import bad_choice
    from coevo.search import METHODS

    name = str(method).partition(":")[0]
    if name not in METHODS or ".py" in str(method):
        raise bad_choice("method", "the studio", METHODS, name)


def make_command(table: str, run: str, options: Mapping[str, Any]) -> list[str]:
    """Return the words of the command that does the same, in the folder of the workspace.

    >>> make_command("tables/a/a.csv", "runs/a", {"method": "ccma", "random_state": 3})
    ['learn', 'tables/a/a.csv', '--method', 'ccma', '--seed', '3', '-o', 'runs/a']
    >>> make_command("a.csv", "runs/a", {"strict": False, "header": False})
    ['learn', 'a.csv', '--no-header', '-o', 'runs/a']
    """
    words = ["learn", table]
    for name, value in options.items():
        words += _list_words({**SEARCH, **READING, **FILES}[name], value)
    return [*words, "-o", run]


def _list_words(option: str, value: Any) -> Iterator[str]:
    """Yield the words of one option."""
    if isinstance(value, bool):
        if value or option not in FLAGS:
            yield option if value else f"--no-{option.removeprefix('--')}"
    elif isinstance(value, dict):
        for key, part in value.items():
            if isinstance(part, dict):  # of --merge: the new state of each old one of a column
                for old, new in part.items():
                    yield from (option, f"{key}:{old}={new}")
            else:
                for one in part if isinstance(part, list | tuple) else [part]:
                    yield from (option, f"{key}={one}" if key or "=" in str(one) else str(one))
    else:
        for one in value if isinstance(value, list | tuple) else [value]:
            yield from (option, str(one))


def format_command(words: list[str]) -> str:
    """Return the command as a user types it.

    >>> format_command(["learn", "my table.csv"])
    "coevo learn 'my table.csv'"
    """
    return shlex.join(["coevo", *words])


# The same search as text to copy: a command for a terminal, and lines of Python.
#
# Both give the network that the studio learned. The command is that of the run
# (`make_command`), in the folder of the workspace.


PATHS = ("types", "constraints")  # options that name files of the workspace
LINE = 88  # characters of a line of Python


def format_terminal(root: Path, table: str, run: str, options: Mapping[str, Any]) -> str:
    """Return the lines for a terminal; `table` and `run` are paths in the workspace `root`.

    >>> print(format_terminal(Path("/my work"), "tables/a/a.csv", "runs/a", {"random_state": 7}))
    cd '/my work'
    coevo learn tables/a/a.csv --seed 7 -o runs/a
    """
    command = format_command(make_command(table, run, options))
    return f"cd {shlex.quote(str(root))}\n{command}"


def format_python(root: Path, table: str, run: str, options: Mapping[str, Any]) -> str:
    """Return the lines of Python; `table` and `run` are paths in the workspace `root`.

    >>> print(format_python(Path("/work"), "tables/a/a.csv", "runs/a", {"random_state": 7}))
    from pathlib import Path
    <BLANKLINE>
    import coevo
    <BLANKLINE>
    folder = Path("/work")
    result = coevo.learn(
        folder / "tables/a/a.csv",
        random_state=7,
        output=folder / "runs/a",
    )
    print(result)
    """
    words = [f"folder / {format_text(table)}", *_list_arguments(options)]
    words.append(f"output=folder / {format_text(run)}")
    call = f"result = coevo.learn({', '.join(words)})"
    if len(call) > LINE:
        call = "result = coevo.learn(\n" + "".join(f"    {word},\n" for word in words) + ")"
    start = f"from pathlib import Path\n\nimport coevo\n\nfolder = Path({format_text(str(root))})"
    return f"{start}\n{call}\nprint(result)"


def _list_arguments(options: Mapping[str, Any]) -> Iterator[str]:
    """Yield the arguments of `learn`; options that belong together are one value."""
    inside = dict[str, list[str]]()
    for name, value in options.items():
        written = format_text(value) if isinstance(value, str) else repr(value)
        word = f"{name}={f'folder / {format_text(value)}' if name in PATHS else written}"
        home = HOME.get(name, "score" if name == "score" else "")
        if home:
            inside.setdefault(home, []).append(word)
        else:
            yield word
    for home, words in inside.items():
        if len(words) == 1 and words[0].startswith("score="):
            yield words[0]
        else:
            yield f"{home}=coevo.{HOMES[home][0]}({', '.join(words)})"


def format_text(text: str) -> str:
    """Return a text as a literal of Python, in double quotes where that is possible.

    >>> print(format_text("a"), format_text("it's"), format_text('"'))
    "a" "it's" '"'
    """
    plain = repr(text)
    return f'"{plain[1:-1]}"' if plain.startswith("'") and '"' not in text else plain
