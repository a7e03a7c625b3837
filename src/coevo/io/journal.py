"""The journal of an experiment: each run is kept as soon as it ends.

    experiment.json   what the runs have in common; runs of anything else are refused
    runs.jsonl        one line a run; the same for the same seed, whoever did the runs
    times.jsonl       one line a run; how long it took here

While runs come in, lines are appended as they come. A line that a crash cut off is dropped
when the journal is opened again. At the end both files are put into the order of the plan.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from coevo.errors import FileError, FormatError
from coevo.files import open_source, replacing
from coevo.io.run_folder import json_line, make_run_folder, write_json
from coevo.search.fingerprint import first_difference

__all__ = ["Form", "Journal", "Run", "Tell"]

Item = TypeVar("Item")
Line = dict[str, Any]
Key = tuple[Any, ...]
EXPERIMENT, RUNS, TIMES = "experiment.json", "runs.jsonl", "times.jsonl"


class Run(Protocol):
    """What is kept of a run; a frozen dataclass."""

    @property
    def key(self) -> Key:
        """What tells it from the other runs of the experiment."""


Record = TypeVar("Record", bound=Run)
Tell = Callable[[Record, int, int], object]  # a run, how many are done, how many there are


@dataclass(frozen=True)
class Form(Generic[Record]):
    """How the runs of an experiment stand in its files.

    Both functions raise `ValueError`, `KeyError` or `TypeError` for a line that is none.
    """

    key: tuple[str, ...]  # the fields of a run's key
    timed: tuple[str, ...]  # the fields that are never the same again, kept apart
    read: Callable[[Line], Record]  # the run of a line, whatever for its times
    read_times: Callable[[Line], Line]  # the fields of a line of times


class Journal(Generic[Record]):
    """The runs of a folder, on disk and in memory.

    Parameters
    ----------
    folder : Path
        Where the files are, or will be.
    form : Form
        How runs are written down.
    common : mapping
        What all runs of the folder share.
    place : callable
        The place of a key in the order of the plan.
    stamp : mapping
        What else is written beside it; it may change.
    """

    def __init__(
        self,
        folder: Path,
        form: Form[Record],
        common: Mapping[str, Any],
        place: Callable[[Any], Any],
        stamp: Mapping[str, Any] | None = None,
    ) -> None:
        self._folder, self._form, self._place = folder, form, place
        self._common, self._stamp = dict(common), dict(stamp or {})
        self.records: dict[Key, Record] = {}
        self._check_common()

    def open(self) -> None:
        """Make the folder and read the runs that it holds."""
        make_run_folder(self._folder)
        times = dict(_lines(self._folder / TIMES, self._times))
        for record in _lines(self._folder / RUNS, self._form.read):
            if record.key in times:
                held: Any = replace(record, **times[record.key])  # type: ignore[type-var]
                self.records[record.key] = held
        write_json(self._folder / EXPERIMENT, {**self._common, **self._stamp})
        self.put_in_order()  # whole lines only, before any is added

    def add(self, record: Record) -> None:
        """Keep a run at once. Its time goes first: a run counts when both lines are there."""
        self.records[record.key] = record
        for name, line in self._written(record).items():
            try:
                with (self._folder / name).open("a", encoding="utf-8") as stream:
                    stream.write(line)
            except OSError as error:
                raise FileError(f"{name!r} cannot be written: {error.strerror}.") from None

    def keep(self, runs: Iterable[Record], n_before: int, n_runs: int, tell: Tell[Record]) -> None:
        """Keep runs as they come, and tell of each; in the end, put all in order.

        `n_before` of the `n_runs` runs of the plan are there already.
        """
        for n_done, record in enumerate(runs, start=n_before + 1):
            self.add(record)
            tell(record, n_done, n_runs)
        self.put_in_order()

    def put_in_order(self) -> None:
        """Rewrite both files in the order of the plan; runs of other plans come last."""
        ordered = sorted(self.records, key=self._place)
        lines = [self._written(self.records[key]) for key in ordered]
        for name in (TIMES, RUNS):
            with replacing(self._folder / name) as stream:
                stream.writelines(line[name].encode() for line in lines)

    def _times(self, line: Line) -> tuple[Key, Line]:
        return tuple(line[name] for name in self._form.key), self._form.read_times(line)

    def _written(self, record: Record) -> dict[str, str]:
        """Return the lines of a run by file, that of its times first."""
        whole: Line = asdict(record)  # type: ignore[call-overload]
        times = {name: whole[name] for name in (*self._form.key, *self._form.timed)}
        run = {name: value for name, value in whole.items() if name not in self._form.timed}
        return {TIMES: json_line(times), RUNS: json_line(run)}

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
        difference = first_difference(_object(path), self._common)
        if difference is not None:
            raise FileError(
                f"{str(self._folder)!r} holds runs with {difference}. Give another folder."
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


def _lines(path: Path, read: Callable[[Line], Item]) -> list[Item]:
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
