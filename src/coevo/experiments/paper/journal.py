"""The journal of an experiment: each run is kept as soon as it ends.

    experiment.json   what the runs have in common; runs of anything else are refused
    runs.jsonl        one line a run; the same for the same seed, whoever did the runs
    times.jsonl       one line a run; how long it took here

While runs come in, lines are appended as they come. A line that a crash cut off is dropped
when the journal is opened again. At the end both files are put into the order of the plan.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TypeVar

from coevo import __version__
from coevo.errors import FileError, FormatError
from coevo.experiments.paper.plan import ALGORITHMS, Paper
from coevo.experiments.paper.runs import RunRecord
from coevo.files import open_source, replacing
from coevo.io import json_line, make_run_folder, write_json

__all__ = ["Journal", "Key"]

Item = TypeVar("Item")
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
        times = dict(_lines(self._folder / TIMES, _time))
        for record in _lines(self._folder / RUNS, _record):
            if record.key in times:
                self.records[record.key] = replace(record, seconds=times[record.key])
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
            if (self._folder / RUNS).exists():
                raise FileError(
                    f"{str(self._folder)!r} holds runs, and no {EXPERIMENT!r} that says of what. "
                    "Give another folder."
                )
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
        raise FormatError(f"{str(path)!r} is damaged. Give another folder.")
    return held


def _lines(path: Path, read: Callable[[dict[str, Any]], Item]) -> list[Item]:
    """Return the records of a file; a last line that was cut off is left out."""
    if not path.exists():
        return []
    with open_source(path) as source:
        lines = source.read_all().decode("utf-8", "replace").split("\n")
    records = []
    for number, line in enumerate(lines[:-1], start=1):  # what follows the last newline is cut
        try:
            record = read(json.loads(line))
        except (ValueError, KeyError, TypeError):
            raise FormatError(
                f"Line {number} of {str(path)!r} is damaged. Remove it or give another folder."
            ) from None
        records.append(record)
    return records


def _time(line: dict[str, Any]) -> tuple[Key, float]:
    key = (str(line["network"]), int(line["rows"]), str(line["algorithm"]), int(line["run"]))
    return key, float(line["seconds"])


def _record(line: dict[str, Any]) -> RunRecord:
    """Return the run of a line; its time stands elsewhere."""
    steps = tuple((int(generation), float(score)) for generation, score in line["improvements"])
    record = RunRecord(**{**line, "improvements": steps}, seconds=0.0)
    whole = (record.rows, record.run, record.seed, record.n_arcs, record.generations)
    if (
        not isinstance(record.network, str)
        or record.algorithm not in ALGORITHMS
        or not all(isinstance(number, int) for number in whole)
        or not math.isfinite(record.score)
        or (record.algorithm == "ccga" and (not steps or steps[0][0] != 0))
    ):
        raise ValueError
    return record


def _run_line(record: RunRecord) -> str:
    line = asdict(record)
    del line["seconds"]  # the one thing that is never the same again
    return json_line(line)


def _time_line(record: RunRecord) -> str:
    key = ("network", "rows", "algorithm", "run", "seconds")
    return json_line({name: getattr(record, name) for name in key})
