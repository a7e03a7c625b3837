"""The folder of a run: the network, the facts and the history, in public formats.

    model.bif       the network, with tables fitted to the data
    run.json        version, command, seed, hash of the data, settings, times, score, arcs
    history.jsonl   one line a generation: the best score so far and what it took

Each file is whole or not there: it is written under another name and renamed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from coevo.errors import FileError
from coevo.files import replacing, write_text
from coevo.io.bif_writer import write_bif
from coevo.network import BayesianNetwork

__all__ = ["check_run_folder", "json_line", "make_run_folder", "write_json", "write_run"]

MODEL, FACTS, HISTORY = "model.bif", "run.json", "history.jsonl"


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
