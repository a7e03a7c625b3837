"""The journal of an experiment: each run is kept as soon as it ends.

    experiment.json   what the runs have in common; runs of anything else are refused
    runs.jsonl        one line a run; the same for the same seed, whoever did the runs
    times.jsonl       one line a run; how long it took here

While runs come in, lines are appended as they come. A line that a crash cut off is dropped
when the journal is opened again. At the end both files are put into the order of the plan.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from coevo import __version__
from coevo.errors import FileError, FormatError
from coevo.experiments.paper.plan import ALGORITHMS, Paper
from coevo.experiments.paper.runs import RunRecord
from coevo.files import open_source, replacing
from coevo.io import json_line, make_run_folder, write_json

__all__ = ["Journal", "Key"]

Key = tuple[str, int, str, int]  # network, rows, algorithm, run
EXPERIMENT, RUNS, TIMES = "experiment.json", "runs.jsonl", "times.jsonl"
COMMON = ("seed", "generations", "population")  # what all runs of a folder share


class Journal:
    """The runs of a folder, on disk and in memory."""

    def __init__(self, folder: Path, paper: Paper) -> None:
        self._folder = folder
        self._paper = paper
        self._common: dict[str, Any] = {"version": __version__}
        self._common |= {name: getattr(paper, name) for name in COMMON}
        self.records: dict[Key, RunRecord] = {}
        self._check_common()

    def open(self) -> None:
        """Make the folder and read the runs that it holds."""
        make_run_folder(self._folder)
        times = {_key(line): line["seconds"] for line in _lines(self._folder / TIMES)}
        for line in _lines(self._folder / RUNS):
            if _key(line) in times:
                record = _record(line, times[_key(line)])
                self.records[record.key] = record
        write_json(self._folder / EXPERIMENT, self._common)
        self.put_in_order()  # whole lines only, before any is added

    def add(self, record: RunRecord) -> None:
        """Keep a run at once. Its time goes first: a run counts when both lines are there."""
        self.records[record.key] = record
        for name, line in ((TIMES, _time_line(record)), (RUNS, _run_line(record))):
            try:
                with (self._folder / name).open("a", encoding="utf-8") as stream:
                    stream.write(line)
            except OSError as error:
                raise FileError(f"{name!r} cannot be written: {error.strerror}.") from None

    def put_in_order(self) -> None:
        """Rewrite both files in the order of the plan; runs of other plans come last."""
        networks = {name: place for place, name in enumerate(self._paper.networks)}

        def place(key: Key) -> tuple[int, str, int, int, int]:
            network, rows, algorithm, run = key
            first = networks.get(network, len(networks))
            return first, network, rows, ALGORITHMS.index(algorithm), run

        records = [self.records[key] for key in sorted(self.records, key=place)]
        for name, line in ((TIMES, _time_line), (RUNS, _run_line)):
            with replacing(self._folder / name) as stream:
                stream.writelines(line(record).encode() for record in records)

    def _check_common(self) -> None:
        """Raise `FileError` if the folder holds runs of another experiment."""
        path = self._folder / EXPERIMENT
        if not path.exists():
            return
        held = _object(path)
        for name, value in self._common.items():
            if held.get(name) != value:
                raise FileError(
                    f"{str(self._folder)!r} holds runs with {name} {held.get(name)}; this is "
                    f"{value}. Give another folder."
                )


def _object(path: Path) -> dict[str, Any]:
    with open_source(path) as source:
        text = source.read_all()
    try:
        held = json.loads(text)
    except ValueError:
        held = None
    if not isinstance(held, dict):
        raise FormatError(f"{str(path)!r} is damaged. Remove it or give another folder.")
    return held


def _lines(path: Path) -> list[dict[str, Any]]:
    """Return the records of a file; a last line that was cut off is left out."""
    if not path.exists():
        return []
    with open_source(path) as source:
        lines = source.read_all().decode("utf-8", "replace").split("\n")
    records = []
    for number, line in enumerate(lines[:-1], start=1):  # what follows the last newline is cut
        try:
            record = json.loads(line)
            _key(record)
        except (ValueError, KeyError, TypeError):
            raise FormatError(
                f"Line {number} of {str(path)!r} is damaged. Remove it or give another folder."
            ) from None
        records.append(record)
    return records


def _key(line: dict[str, Any]) -> Key:
    return line["network"], line["rows"], line["algorithm"], line["run"]


def _record(line: dict[str, Any], seconds: float) -> RunRecord:
    improvements = tuple((generation, score) for generation, score in line["improvements"])
    return RunRecord(**{**line, "improvements": improvements}, seconds=seconds)


def _run_line(record: RunRecord) -> str:
    line = asdict(record)
    del line["seconds"]  # the one thing that is never the same again
    return json_line(line)


def _time_line(record: RunRecord) -> str:
    key = ("network", "rows", "algorithm", "run", "seconds")
    return json_line({name: getattr(record, name) for name in key})
