"""The commands that an inspection recommends: how to learn from the table, how to fix a problem."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from coevo.data import Finding
from coevo.data.decisions import Decision
from coevo.data.option_hints import format_label_hint, format_merge_hint, format_type_hint
from coevo.view.inspection.read import UNREADABLE
from coevo.view.inspection.result import TableInspection

__all__ = ["find_dropped", "make_learn_command", "split_undo", "suggest_option"]

# The column that a finding recommends to leave out, by its position in `Finding.columns`.
_DROPPED = {"constant": 0, "identifier": 0, "duplicate": 1, "deterministic": 0, UNREADABLE: 0}


def make_learn_command(
    inspection: TableInspection, data: str, options: Sequence[str] = (), types: str | None = None
) -> str:
    """Return the command that learns from the table.

    Parameters
    ----------
    inspection : TableInspection
        The inspection of the table.
    data : str
        The file with the table.
    options : sequence of str
        The options that the table was read with.
    types : str, optional
        A types file that replaces all options about columns but missing values.

    Examples
    --------
    >>> import numpy as np
    >>> from coevo.view.inspection import inspect_table
    >>> rows = np.array([["a", "x"], ["b", "?"]])
    >>> make_learn_command(inspect_table(rows, names=["p", "q"]), "my rows.csv")
    "coevo learn 'my rows.csv' -o run/"
    """
    words = ["coevo", "learn", data, *options]
    if types is not None:
        words += ["--types", types]
    else:
        for finding in inspection.findings:
            if finding.kind == UNREADABLE:
                words += ["--drop", finding.columns[0]]
    return shlex.join([*words, "-o", "run/"])


def suggest_option(finding: Finding) -> str:
    """Return the option that follows the recommendation of a finding, or an empty string.

    >>> suggest_option(Finding("duplicate", ("a", "b"), "'b' duplicates 'a' in every row."))
    '--drop b'
    >>> options = {"missing_labels": {"age": ["-99"]}}
    >>> suggest_option(Finding("sentinel", ("age",), "-99 in 'age' may be a code.", None, options))
    '--missing-label age=-99'
    """
    if finding.options is not None:
        return _format_options(finding.options)
    name = find_dropped(finding)
    if name is not None:
        return shlex.join(["--drop", name])
    return "" if finding.part is None else shlex.join(["--type", "=".join(finding.part)])


def _format_options(options: Mapping[str, Any]) -> str:
    """Return the keyword arguments of a finding as options of a command."""
    texts = []
    for name, columns in options.items():
        for column, value in columns.items():
            if name == "merge":
                hint = format_merge_hint(column, value)
            elif name == "types":
                hint = format_type_hint(column, value)
            else:
                hint = format_label_hint(name, column, value)
            texts.append("--" + hint.rpartition(", or --")[2])
    return " ".join(texts)


def find_dropped(finding: Finding) -> str | None:
    """Return the column of the source that a finding recommends to leave out; None if none.

    A part of a date is no column of the source. Its column of dates is left out if it has no
    other part; else another type of it leaves out the part.
    """
    if finding.part is not None:
        source, type_ = finding.part
        return source if type_ == "ignore" else None
    position = _DROPPED.get(finding.kind)
    return None if position is None else finding.columns[position]


def split_undo(decision: Decision) -> tuple[str, ...]:
    """Return the options that undo a decision, each alone: in Python, and for a command.

    >>> split_undo(Decision("identifier", ("id",), "", "types={'id': 'x'}, or --type id=x"))
    ("types={'id': 'x'}", '--type id=x')
    """
    undo = decision.undo.partition("; other ")[0]  # a sentence may follow
    python, separator, command = undo.rpartition(", or --")
    return (python, f"--{command}") if separator else (undo,)
