"""The measure of the source tree counts what it says, on a package of a few lines."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "house.py"

MODULE = '''"""Two functions and two helpers.

A docstring is no code.
"""

from coevo.low import deep

TEXT = """one

three"""  # three lines of code: the blank one is part of the text


# a comment line
def outer(max_table):
    """Call the helpers."""
    # and another

    def inner():
        return deep()

    return _once() + _twice() + _twice() + inner()


def _once():
    return 1


def _twice():
    return 2
'''


@pytest.fixture(scope="module")
def house():
    spec = importlib.util.spec_from_file_location("house", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules["house"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules["house"]


def test_a_module_is_measured(house):
    found = house.measure_module(MODULE)
    assert found.modules == 1
    assert found.code_lines == 12
    assert found.comment_lines == 2
    assert (found.functions, found.function_lines) == (4, 4 + 2 + 2 + 2)
    assert (found.helpers, found.helpers_used_once) == (2, 1)


def test_changes_of_packages_are_counted(house):
    assert house.count_changes([]) == 0
    assert house.count_changes(["cli/learn.py", "cli/a.py", "data/b.py", "cli/c.py", "a.py"]) == 3


def test_a_tree_is_measured_and_its_commands_are_traced(house, tmp_path):
    package = tmp_path / "coevo"
    for room in ("cli", "low"):
        (package / room).mkdir(parents=True)
    (package / "__init__.py").write_text('"""A package."""\n')
    (package / "loose.py").write_text('"""Loose."""\n\nmax_table = 3\nmax_tables = 4\n')
    (package / "low" / "__init__.py").write_text("def deep(): return 1\n")
    (package / "low" / "outer.py").write_text(MODULE)
    (package / "cli" / "__init__.py").write_text(
        "import sys\n\n"
        "def main():\n"
        "    if sys.argv[1] != 'learn':\n"
        "        print('Not here.', file=sys.stderr); sys.exit(1)\n"
        "    from coevo.low.outer import outer\n"
        "    outer(1)\n"
        "    back()\n"
        "    outer(2)\n\n"
        "def back(): pass\n"
    )
    rows = dict(
        line.strip("| ").split(" | ") for line in house.make_table(tmp_path).splitlines()[2:]
    )
    assert rows["modules"] == "5"
    assert (rows["packages"], rows["loose modules"]) == ("2", "1")
    assert rows["files with `max_table`"] == "2"
    assert rows["files with `bootstraps`"] == "0"
    assert rows["`coevo learn`: modules imported"] == "4"  # coevo, its cli, low and low.outer
    assert rows["`coevo learn`: modules entered"] == "3"
    assert rows["`coevo learn`: functions called"] == "7"
    assert rows["`coevo learn`: package changes"] == "2"  # cli, low, cli again
    assert rows["`coevo query`: modules imported"] == "does not run: Not here."
