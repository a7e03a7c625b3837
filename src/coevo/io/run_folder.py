"""The folder of a run: the network, the facts and the history, in public formats.

    model.bif       the network, with tables fitted to the data
    run.json        version, command, seed, hash of the data, settings, times, score, arcs
    history.jsonl   one line a generation: the best score so far and what it took
    report.html     all of it as a page (`coevo.report` makes it)

Each file is whole or not there: it is written under another name and renamed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coevo.errors import FileError, FormatError
from coevo.files import open_source, replacing, write_text
from coevo.io.bif_reader import read_bif
from coevo.io.bif_writer import write_bif
from coevo.network import BayesianNetwork

__all__ = [
    "Run",
    "check_run_folder",
    "json_line",
    "make_run_folder",
    "read_run",
    "write_json",
    "write_run",
]

MODEL, FACTS, HISTORY = "model.bif", "run.json", "history.jsonl"


@dataclass(frozen=True)
class Run:
    """What the folder of a run holds."""

    network: BayesianNetwork | None  # None where no tables could be fitted
    facts: dict[str, Any]
    history: list[dict[str, Any]]


def check_run_folder(folder: Path) -> None:
    """Raise `FileError` unless files could be written into this folder, made if needed."""
    if folder.exists() and not folder.is_dir():
        raise FileError(f"{str(folder)!r} is a file. Name a folder.")
    nearest = folder
    while not nearest.exists() and nearest != nearest.parent:
        nearest = nearest.parent
    if not nearest.is_dir():
        raise FileError(f"{str(folder)!r} cannot be made: {str(nearest)!r} is a file.")
    if not os.access(nearest, os.W_OK):
        raise FileError(f"{str(folder)!r} cannot be written: {str(nearest)!r} is write-protected.")


def make_run_folder(folder: Path) -> None:
    """Make a folder and those above it; there may be one already."""
    check_run_folder(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{str(folder)!r} cannot be made: {error.strerror}.") from None


def json_line(record: Mapping[str, Any]) -> str:
    """Return a record as one line of JSON."""
    return json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n"


def write_json(path: Path, facts: Mapping[str, Any]) -> None:
    """Write an object as JSON for people to read too."""
    text = json.dumps(facts, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    write_text(path, text)


def write_run(
    folder: Path,
    network: BayesianNetwork | None,
    facts: Mapping[str, Any],
    history: Iterable[Mapping[str, Any]],
) -> dict[str, str]:
    """Write the three files; return their paths by what they hold.

    There is no model where no tables could be fitted to the structure.
    """
    make_run_folder(folder)
    (folder / FACTS).unlink(missing_ok=True)  # of an older run
    if network is None:
        (folder / MODEL).unlink(missing_ok=True)
    else:
        write_bif(network, folder / MODEL)
    with replacing(folder / HISTORY) as stream:
        stream.writelines(json_line(row).encode() for row in history)
    write_json(folder / FACTS, facts)  # last: where it is, the run is complete
    names = {"model": MODEL, "run": FACTS, "history": HISTORY}
    if network is None:
        del names["model"]
    return {kind: str(folder / name) for kind, name in names.items()}


def read_run(folder: Path) -> Run:
    """Read what `write_run` wrote; raise `FileError` if there is no complete run.

    >>> read_run(Path("no_such_run"))
    Traceback (most recent call last):
    coevo.errors.FileError: There is no run in 'no_such_run': it has no file run.json.
    """
    if not (folder / FACTS).is_file():
        raise FileError(f"There is no run in {str(folder)!r}: it has no file {FACTS}.")
    (facts,) = _objects(folder / FACTS, whole=True)
    history = _objects(folder / HISTORY, whole=False)
    network = read_bif(folder / MODEL) if (folder / MODEL).is_file() else None
    return Run(network, facts, history)


def _objects(path: Path, whole: bool) -> list[dict[str, Any]]:
    """Return the objects of a file: one in the whole of it, or one a line."""
    with open_source(path) as stream:
        text = stream.read_all()
    try:
        found = [json.loads(part) for part in ([text] if whole else text.splitlines())]
    except (ValueError, RecursionError):
        found = [None]
    if not all(isinstance(each, dict) for each in found):
        raise FormatError(f"{str(path)!r} is damaged: it does not hold JSON objects.")
    return found
