"""Measure the size and the shape of a source tree, and what two commands import and call.

    python scripts/house.py src                 this tree
    python scripts/house.py ../other/src        another checkout, for comparison
    python scripts/house.py src --static        without the commands

It prints one table in Markdown. What each figure counts:

- *modules*: Python files; *packages* and *loose modules*: what stands directly in ``coevo``
- *code lines*: lines that are not blank, not only a comment, and not a docstring
- *code lines a function*: the mean over all functions and methods, with their signature
- *private helpers used once*: of the functions of a module whose name begins with ``_``, the share
  whose name is read at exactly one place of that module
- *comment lines*: lines that hold only a comment
- *files with X*: files of any kind in which the option X stands as a word
- *modules imported* and *entered* by a command: modules of coevo that Python loads, and those of
  which it calls a function
- *package changes*: the functions of coevo in the order of their first call; how often the next one
  stands in another package (or loose module) than the one before
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import tokenize
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

OPTIONS = ("max_table", "bootstraps", "parent_penalty")
ENTRY_POINTS = ("__init__.py", "__main__.py")  # of the package itself: no topics of their own
COMMANDS = {
    "learn": "learn rows.csv -o run",
    "query": "query asia lung --given smoke=yes",
}
Function = ast.FunctionDef | ast.AsyncFunctionDef

# Runs one command of coevo in this process and writes what it imported and called. The profile
# function sees the calls of one thread, so that the order is that of the command itself.
TRACE = """
import json, os, sys
import coevo

root = os.path.dirname(coevo.__file__) + os.sep
calls = []  # file and line of each function of coevo, in the order of their first call
seen = set()

def note(frame, event, argument):
    if event == "call" and frame.f_code.co_filename.startswith(root):
        place = (frame.f_code.co_filename[len(root):], frame.f_code.co_firstlineno)
        # A module is executed, not called; a class body and a comprehension are no functions.
        if frame.f_code.co_name[0] != "<" and frame.f_code.co_flags & 2 and place not in seen:
            seen.add(place)
            calls.append(place[0])

from coevo.cli import main
output = sys.argv[1]
sys.argv = ["coevo", *sys.argv[2:]]
sys.setprofile(note)
code = 0
try:
    main()
except SystemExit as ended:
    code = ended.code
sys.setprofile(None)
imported = sorted(name for name in sys.modules if name.split(".")[0] == "coevo")
with open(output, "w") as file:
    json.dump({"imported": imported, "calls": calls, "code": code}, file)
"""


@dataclass
class Figures:
    """The figures of one or several modules; they can be added."""

    modules: int = 0
    code_lines: int = 0
    comment_lines: int = 0
    functions: int = 0
    function_lines: int = 0
    helpers: int = 0
    helpers_used_once: int = 0
    option_files: Counter[str] = field(default_factory=Counter)


def count_lines(text: str) -> tuple[set[int], int]:
    """Return the numbers of the code lines of a module, and how many lines are comments."""
    docstrings = set[int]()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | Function) and ast.get_docstring(node):
            first = node.body[0]
            docstrings.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    code = set[int]()
    comments = set[int]()
    ignored = (tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            comments.add(token.start[0])
        elif token.type not in ignored:
            code.update(range(token.start[0], token.end[0] + 1))
    return code - docstrings, len(comments - code)


def measure_module(text: str) -> Figures:
    """Return the figures of the text of one module."""
    tree = ast.parse(text)
    lines, comment_lines = count_lines(text)
    functions = [node for node in ast.walk(tree) if isinstance(node, Function)]
    spans = [range(one.lineno, (one.end_lineno or one.lineno) + 1) for one in functions]
    # Names that are read anywhere in the module; a definition does not read its own name.
    uses = Counter(
        node.id if isinstance(node, ast.Name) else node.attr
        for node in ast.walk(tree)
        if (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
        or isinstance(node, ast.Attribute)
    )
    helpers = [
        node.name
        for node in tree.body
        if isinstance(node, Function) and node.name.startswith("_") and node.name[1:2] != "_"
    ]
    return Figures(
        modules=1,
        code_lines=len(lines),
        comment_lines=comment_lines,
        functions=len(functions),
        function_lines=sum(len(lines.intersection(span)) for span in spans),
        helpers=len(helpers),
        helpers_used_once=sum(uses[name] == 1 for name in helpers),
    )


def measure_tree(package: Path) -> Figures:
    """Return the sum of the figures of all modules below a package."""
    total = Figures()
    for path in sorted(package.rglob("*.py")):
        one = measure_module(path.read_text(encoding="utf-8"))
        for name in vars(one).keys() - {"option_files"}:
            setattr(total, name, getattr(total, name) + getattr(one, name))
    for path in sorted(package.rglob("*")):
        if path.is_file() and path.suffix in (".py", ".js", ".html", ".json"):
            text = path.read_text(encoding="utf-8")
            found = (name for name in OPTIONS if re.search(rf"\b{name}\b", text))
            total.option_files.update(found)
    return total


def count_changes(files: list[str]) -> int:
    """Return how often two files in a row stand in different packages or loose modules."""
    places = [file.split(os.sep)[0] for file in files]
    return sum(one != other for one, other in pairwise(places))


def trace_command(source: Path, command: str, folder: Path) -> dict[str, str]:
    """Return the figures of one command that runs on a source tree, or why there are none."""
    output = folder / "trace.json"
    done = subprocess.run(
        [sys.executable, "-c", TRACE, str(output), *command.split()],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        check=False,
    )
    found: dict[str, Any] = {"code": done.returncode}
    if output.exists():
        found = json.loads(output.read_text())
    output.unlink(missing_ok=True)
    if found["code"]:
        why = (done.stderr.strip().splitlines() or ["no message"])[-1]
        return {"modules imported": f"does not run: {why}"}
    return {
        "modules imported": str(len(found["imported"])),
        "modules entered": str(len(set(found["calls"]))),
        "functions called": str(len(found["calls"])),
        "package changes": str(count_changes(found["calls"])),
    }


def trace_commands(source: Path) -> dict[str, str]:
    """Return the figures of `COMMANDS`, on 500 rows of the network asia."""
    figures = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        trace_command(source, "sample asia --rows 500 --seed 1 -o rows.csv", folder)
        for title, command in COMMANDS.items():
            for what, value in trace_command(source, command, folder).items():
                figures[f"`coevo {title}`: {what}"] = value
    return figures


def make_table(source: Path, is_static: bool = False) -> str:
    """Return the table of a source folder, which holds the package ``coevo``."""
    package = source.resolve() / "coevo"
    total = measure_tree(package)
    loose = [path for path in package.glob("*.py") if path.name not in ENTRY_POINTS]
    figures = {
        "modules": f"{total.modules}",
        "packages": f"{len(list(package.glob('*/__init__.py')))}",
        "loose modules": f"{len(loose)}",
        "code lines": f"{total.code_lines:,}",
        "code lines a function": f"{total.function_lines / max(total.functions, 1):.1f}",
        "private helpers": f"{total.helpers}",
        "private helpers used once": f"{total.helpers_used_once / max(total.helpers, 1):.0%}",
        "comment lines": f"{total.comment_lines}",
        **{f"files with `{name}`": str(total.option_files[name]) for name in OPTIONS},
        **({} if is_static else trace_commands(source.resolve())),
    }
    return "\n".join(["| | |", "|---|--:|", *(f"| {k} | {v} |" for k, v in figures.items())])


def main() -> None:
    """Print the table of the source folder that is given."""
    parser = argparse.ArgumentParser(description="Measure the size and the shape of a source tree.")
    parser.add_argument("source", type=Path, help="the folder that holds the package coevo")
    parser.add_argument("--static", action="store_true", help="do not run the commands")
    given = parser.parse_args()
    print(make_table(given.source, given.static))


if __name__ == "__main__":
    main()
