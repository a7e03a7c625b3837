"""The folder of a run: the network, the facts of the run and its history.

    model.bif       the network, with tables fitted to the data
    run.json        version, command, seed, hash of the data, settings, times, score, arcs
    history.jsonl   one line a generation: the best score so far and its cost
    report.html     all of it as a page (`coevo.view` writes it)

Each file is first written under a temporary name and then renamed, so that no file is ever
incomplete.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coevo.errors import FileError, FormatError
from coevo.files.files import MAX_TEXT_BYTES, load_json, open_source
from coevo.files.run_folder import (
    check_run_folder,
    format_json_line,
    make_run_folder,
    write_json,
    write_json_lines,
)
from coevo.io.bif_reader import read_bif
from coevo.io.bif_writer import write_bif
from coevo.io.portable_names import describe_portable_names
from coevo.network import BayesianNetwork

__all__ = [
    "FACTS",
    "HISTORY",
    "MODEL",
    "SavedRun",
    "check_run_folder",
    "format_json_line",
    "make_run_folder",
    "read_run",
    "write_json",
    "write_run",
]

MODEL, FACTS, HISTORY = "model.bif", "run.json", "history.jsonl"


@dataclass(frozen=True)
class SavedRun:
    """The content of the folder of a run."""

    network: BayesianNetwork | None  # None if no tables could be fitted
    facts: dict[str, Any]
    history: list[dict[str, Any]]


def write_run(
    folder: Path,
    network: BayesianNetwork | None,
    facts: Mapping[str, Any],
    history: Iterable[Mapping[str, Any]],
) -> dict[str, str]:
    """Write the files of a run; return their paths by content: model, run and history.

    Without a network, because no tables could be fitted, there is no file of the model.
    """
    make_run_folder(folder)
    (folder / FACTS).unlink(missing_ok=True)  # remove the facts of an older run
    if network is None:
        (folder / MODEL).unlink(missing_ok=True)
    else:
        write_bif(network, folder / MODEL)
    spelled = describe_portable_names(network) if network is not None else {}
    facts = {**facts, "portable_names": spelled} if spelled else facts
    write_json_lines(folder / HISTORY, history)
    write_json(folder / FACTS, facts)  # last: this file shows that the run is complete
    names = {"model": MODEL, "run": FACTS, "history": HISTORY}
    if network is None:
        del names["model"]
    return {kind: str(folder / name) for kind, name in names.items()}


def read_run(folder: Path) -> SavedRun:
    """Read the files of `write_run`; raise `FileError` if there is no complete run.

    >>> read_run(Path("no_such_run"))
    Traceback (most recent call last):
    coevo.errors.FileError: There is no run in 'no_such_run': it has no file run.json.
    """
    if not (folder / FACTS).is_file():
        raise FileError(f"There is no run in {str(folder)!r}: it has no file {FACTS}.")
    (facts,) = _read_objects(folder / FACTS, is_jsonl=False)
    history = _read_objects(folder / HISTORY, is_jsonl=True)
    network = read_bif(folder / MODEL) if (folder / MODEL).is_file() else None
    return SavedRun(network, facts, history)


def _read_objects(path: Path, is_jsonl: bool) -> list[dict[str, Any]]:
    """Return the JSON objects of a file: one a line, or one only."""
    with open_source(path) as stream:
        content = stream.read_all(MAX_TEXT_BYTES)
    parts = content.splitlines() if is_jsonl else [content]
    try:
        objects = [load_json(part.decode()) for part in parts]
    except ValueError:
        objects = [None]
    if not all(isinstance(each, dict) for each in objects):
        raise FormatError(f"{str(path)!r} is damaged: it does not hold JSON objects.")
    return objects
