"""The content of run folders, to compare two runs."""

import json
from pathlib import Path

FACTS = ("arcs", "score", "generations", "stop_reason", "evaluations", "cpdag", "value", "order")


def read_files(folder):
    """Return the content of all files, without times, which differ between any two runs."""
    found = {}
    for path in sorted(Path(folder).rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.name == "times.csv":
            found[name] = None
        elif path.suffix in (".bif", ".csv", ".dot", ".tour") or path.name == "runs.jsonl":
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
