"""An inspection for tests of pages: every kind of column, and names that could break the markup."""

import numpy as np
import pandas as pd

from coevo.data import Finding
from coevo.data.decisions import Decision
from coevo.view.inspection import TableInspection, inspect_table
from helpers.pages import NASTY


def inspect_nasty_table(seed=0):
    """Return an inspection of a table with nasty names, states and numbers."""
    rng = np.random.default_rng(seed)
    n = 300
    values = {name: rng.choice(["</td>", "<b>", "x" * 90, "{{title}}"], n) for name in NASTY}
    table = pd.DataFrame(
        values
        | {
            "id": [f"row {i}" for i in range(n)],
            "huge": rng.lognormal(20, 3, n) * 1e6,
            "many": [f"state number {i % 40}" for i in range(n)],
            "incomplete": np.where(rng.random(n) < 0.4, np.nan, rng.normal(size=n)),
            "age": rng.integers(18, 90, n),
        }
    )
    found = inspect_table(table)
    undo = "encoding='utf-8', or --encoding utf-8"
    decisions = (
        Decision("encoding", (), "The file is not UTF-8; it is read as <Latin-1>.", undo),
        Decision("number_format", ("age",), "'age' holds numbers with a comma.", "decimal=','"),
    )
    problem = Finding("unreadable", ("id",), "Column 'id' cannot be read. Leave it out.")
    columns, findings = found.columns, (problem, *found.findings)
    return TableInspection("</title>.csv", n, columns, decisions, findings, found.data_hash)
