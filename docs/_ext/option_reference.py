"""The table of all options, from their declarations in `coevo.options`.

``reference/options.md`` gets one row for each option: its name in Python, its default, its flag,
who takes it, and what it means. Nothing has to be edited here when an option is added.
"""

from __future__ import annotations

from typing import Any

import click
from sphinx.application import Sphinx

from coevo.cli import cli
from coevo.options import TAKEN_BY, Option, list_options

PLACEHOLDER = "% The table of options is generated here."


def list_commands() -> dict[str, list[str]]:
    """Return the commands that take a flag, by the flag."""
    context, found = click.Context(cli, info_name="coevo"), dict[str, list[str]]()
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        if command is None or command.hidden:
            continue
        for flag in (flag for param in command.params for flag in param.opts):
            found.setdefault(flag, []).append(name)
    return found


def format_options() -> str:
    """Return the table, as Markdown."""
    takers, declared = dict[str, list[str]](), dict[str, Option]()
    for function, group in TAKEN_BY.items():
        for name, option in list_options(group).items():
            takers.setdefault(name, []).append(function)
            declared.setdefault(name, option)
    commands = list_commands()
    lines = ["| Option | Default | Flag | Taken by | Meaning |", "|---|---|---|---|---|"]
    for name, option in sorted(declared.items()):
        flags = [] if option.flags == "" else option.list_flags(name)
        users = [f"`{function}`" for function in takers[name]]
        users += [f"`coevo {command}`" for command in commands.get(flags[-1] if flags else "", [])]
        cells = (
            f"`{name}`",
            f"`{option.default!r}`",
            ", ".join(f"`{flag}`" for flag in flags),
            ", ".join(users),
            _as_markdown(option.doc or option.help),
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _as_markdown(text: str) -> str:
    return text.replace("``", "`").replace("|", "\\|")


def insert_options(app: Sphinx, document: str, source: list[str]) -> None:
    """Put the table into ``reference/options.md``."""
    if document == "reference/options":
        source[0] = source[0].replace(PLACEHOLDER, format_options())


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect to the event of Sphinx."""
    app.connect("source-read", insert_options)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
