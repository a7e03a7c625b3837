r"""The command-line reference, from the commands themselves.

``reference/cli.md`` gets one section for each command that `coevo` lists; sphinx-click
reads the options and the help text of each. A help text marks its examples with ``\b``,
which sphinx-click turns into lines that start with ``| ``; a group of such lines that
starts with ``coevo`` becomes a code block.
"""

from __future__ import annotations

from itertools import groupby

import click
from sphinx.application import Sphinx

from coevo.cli import cli

PLACEHOLDER = "% The list of commands is generated here."


def format_commands() -> str:
    """Return a section for each command, as Markdown."""
    context = click.Context(cli, info_name="coevo")
    sections = []
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        if command is None or command.hidden or command.callback is None:
            continue
        place = f"{command.callback.__module__}:command"
        sections.append(f"```{{eval-rst}}\n.. click:: {place}\n   :prog: coevo {name}\n```\n")
    return "\n".join(sections)


def insert_commands(app: Sphinx, document: str, source: list[str]) -> None:
    """Put the sections into ``reference/cli.md``."""
    if document == "reference/cli":
        source[0] = source[0].replace(PLACEHOLDER, format_commands())


def show_examples_as_code(app: Sphinx, context: click.Context, lines: list[str]) -> None:
    """Turn the examples of a help text into a code block, in place."""
    changed: list[str] = []
    for is_group, group in groupby(lines, key=lambda line: line.startswith("| ")):
        block = list(group)
        if is_group and block[0].startswith("| coevo "):
            commands = [f"   $ {line.removeprefix('| ')}" for line in block]
            changed += ["", ".. code-block:: console", "", *commands, ""]
        else:
            changed += block
    lines[:] = changed


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to the events of Sphinx and sphinx-click."""
    app.connect("source-read", insert_commands)
    app.connect("sphinx-click-process-description", show_examples_as_code)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
