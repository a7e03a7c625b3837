"""Read the public tables. Older versions of coevo run with it, so it imports nothing of coevo."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd


def find_table(folder: Path, name: str) -> Path | None:
    """Return the file of a table, or None if there is none."""
    paths = [folder / f"{name}{end}" for end in (".ts.csv.gz", ".csv.gz")]
    return next((path for path in paths if path.exists()), None)


def read_frame(folder: Path, name: str) -> tuple[pd.DataFrame, dict[str, list[str]]]:
    """Return a table and the declared states of its columns."""
    path = find_table(folder, name)
    if path is None:
        raise FileNotFoundError(folder / f"{name}.csv.gz")
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)  # None is the name of a state
    states = json.loads((folder / f"{name}.states.json").read_text(encoding="utf-8"))
    return frame, states
