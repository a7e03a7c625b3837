"""The same search as text to copy: a command for a terminal, and lines of Python.

Both give the network that the studio learned. The command is that of the run
(`coevo.studio.run_options`), in the folder of the workspace.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from coevo.options import HOME, HOMES
from coevo.studio.run_options import format_command, make_command

__all__ = ["format_python", "format_terminal", "format_text"]

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
