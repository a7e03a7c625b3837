"""The content of run folders, to compare two runs."""

import csv
import json
from pathlib import Path

SUFFIXES = (".bif", ".dot", ".gz", ".tour")
NAMES = ("averaged.json", "runs.jsonl")
FACTS = ("arcs", "score", "generations", "stop_reason", "evaluations", "cpdag", "value", "order")


def read_files(folder):
    """Return the content of all files, without times, which differ between any two runs."""
    found = {}
    for path in sorted(Path(folder).rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.name == "times.csv":
            found[name] = None
        elif path.suffix == ".csv":
            found[name] = _read_table(path)
        elif path.suffix in SUFFIXES or path.name in NAMES:
            found[name] = path.read_bytes()
        elif path.name == "history.jsonl":
            rows = map(json.loads, path.read_text().splitlines())
            found[name] = [row | {"seconds": 0} for row in rows]
        elif path.name == "run.json":
            facts = json.loads(path.read_text())
            found[name] = {key: facts[key] for key in FACTS if key in facts}
        elif path.is_file():
            found[name] = None  # it must exist
    return found


def _read_table(path):
    """Return the rows of a table, without the columns of seconds."""
    with path.open(newline="") as stream:
        header, *rows = csv.reader(stream)
    kept = [i for i, name in enumerate(header) if "seconds" not in name]
    return [[row[i] for i in kept] for row in (header, *rows)]
