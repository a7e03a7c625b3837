"""The journal of an experiment: it saves each run as soon as the run ends.

    experiment.json   settings that all runs share; the journal refuses runs with others
    runs.jsonl        one line a run; the same for the same seed, on every machine
    times.jsonl       one line a run; its computing time on this machine

While runs arrive, the journal appends their lines. When it opens a folder again, it drops a
last line that a crash cut off. At the end it sorts both files into the order of the plan. If a
line cannot be written, as on a disk that is full for a moment, the runs continue: the next one
saves all, even if the folder has vanished.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from coevo.errors import FileError, FormatError, warn_caller
from coevo.files.checkpoints import describe_difference, write_with_retries
from coevo.files.files import MAX_TEXT_BYTES, load_json, open_source, replace_file
from coevo.files.run_folder import format_json_line, make_run_folder, write_json
from coevo.io.knowledge import check_record

__all__ = ["Journal", "JournalRecord", "RecordFormat", "RunCallback"]

Item = TypeVar("Item")
Line = dict[str, Any]
Key = tuple[Any, ...]
EXPERIMENT, RUNS, TIMES = "experiment.json", "runs.jsonl", "times.jsonl"
INPUTS = "inputs"  # a hash of the content of each input


class JournalRecord(Protocol):
    """The record of one run; a frozen dataclass."""

    @property
    def key(self) -> Key:
        """The values that identify the run among the runs of the experiment."""


Record = TypeVar("Record", bound=JournalRecord)
# Arguments: the record of a run, the number of finished runs, the number of all runs.
RunCallback = Callable[[Record, int, int], object]


@dataclass(frozen=True)
class RecordFormat(Generic[Record]):
    """The fields of a record in the files, and the functions that read them.

    Both functions raise `ValueError`, `KeyError` or `TypeError` for a malformed line.
    """

    key: tuple[str, ...]  # the fields of the key
    timed: tuple[str, ...]  # the fields that differ each time; they go to their own file
    read: Callable[[Line], Record]  # a record from its line, with any value for its times
    read_times: Callable[[Line], Line]  # the timed fields from their line


class Journal(Generic[Record]):
    """The runs of a folder, on disk and in memory.

    Parameters
    ----------
    folder : Path
        The folder of the files.
    record_format : RecordFormat
        The format of the records.
    settings : mapping
        The settings that all runs of the folder share.
    sort_key : callable
        Returns the position of a record's key in the order of the plan.
    metadata : mapping
        More entries for `experiment.json`; they may change.
    inputs : mapping
        A hash of the content of each input, such as a network file, by name. The journal refuses
        an input whose content has changed. Other plans may have other inputs.
    """

    def __init__(
        self,
        folder: Path,
        record_format: RecordFormat[Record],
        settings: Mapping[str, Any],
        sort_key: Callable[[Any], Any],
        metadata: Mapping[str, Any] | None = None,
        inputs: Mapping[str, str] | None = None,
    ) -> None:
        self._folder, self._format, self._sort_key = folder, record_format, sort_key
        self._settings, self._metadata = dict(settings), dict(metadata or {})
        self._inputs = dict(inputs or {})
        self.records: dict[Key, Record] = {}
        self._has_unsaved = False
        self._check_settings()

    def open(self, is_late: bool = False) -> None:
        """Create the folder, and read the runs in it.

        If it cannot be written, raise `FileError`. If it is late, because a result exists already,
        warn instead: the next run saves all.
        """
        times = dict(_read_lines(self._folder / TIMES, self._read_times))
        for record in _read_lines(self._folder / RUNS, self._read_record):
            if record.key in times:
                timed: Any = replace(record, **times[record.key])  # type: ignore[type-var]
                self.records[record.key] = timed
        # This also removes incomplete lines before `add` appends new ones.
        if is_late:
            self._write(self._write_all)
        else:
            self._write_all()

    def add(self, record: Record) -> None:
        """Save a run at once, its time first: a run counts only if both lines exist."""
        self.records[record.key] = record
        for name, line in self._format_lines(record).items():
            try:
                with (self._folder / name).open("a", encoding="utf-8") as stream:
                    stream.write(line)
            except OSError as error:
                raise FileError(f"{name!r} cannot be written: {error.strerror}.") from None

    def save(self, record: Record) -> None:
        """Save a run at once. If that fails, warn once; the next run saves all."""
        if self._has_unsaved:  # the last line may be incomplete
            self.records[record.key] = record
            self._write(self._write_all)
        else:
            self._write(lambda: self.add(record))

    def _write(self, write: Callable[[], None]) -> None:
        try:
            write()
            self._has_unsaved = False
        except OSError as error:
            if not self._has_unsaved:
                warn_caller(f"{error} The runs continue, and the next one tries again to save all.")
            self._has_unsaved = True

    def finish(self) -> None:
        """Put the files in order at the end. Warn if that fails: the runs are still in memory."""
        failure = write_with_retries(self._write_all if self._has_unsaved else self.put_in_order)
        if failure is not None:
            warn_caller(f"{failure} The runs are not all saved.")

    def remove(self, keys: Iterable[Key]) -> None:
        """Remove runs from the files."""
        removed = [self.records.pop(key) for key in keys]
        if removed:
            self.put_in_order()

    def save_runs(
        self, runs: Iterable[Record], n_before: int, n_runs: int, on_run: RunCallback[Record]
    ) -> None:
        """Save runs as they arrive and call `on_run` for each; then put all in order.

        `n_before` of the `n_runs` runs of the plan were already in the journal.
        """
        for n_done, record in enumerate(runs, start=n_before + 1):
            self.save(record)
            on_run(record, n_done, n_runs)
        self.finish()

    def _write_all(self) -> None:
        """Write the settings and all runs, into a new folder if it has vanished."""
        make_run_folder(self._folder)
        inputs = {INPUTS: self._inputs} if self._inputs else {}
        write_json(self._folder / EXPERIMENT, {**self._settings, **self._metadata, **inputs})
        self.put_in_order()

    def put_in_order(self) -> None:
        """Rewrite both files in the order of the plan; runs of other plans come last."""
        ordered = sorted(self.records, key=self._sort_key)
        lines = [self._format_lines(self.records[key]) for key in ordered]
        for name in (TIMES, RUNS):
            with replace_file(self._folder / name) as stream:
                stream.writelines(line[name].encode() for line in lines)

    def _read_record(self, line: Line) -> Record:
        record = self._format.read(line)
        check_record(record)
        return record

    def _read_times(self, line: Line) -> tuple[Key, Line]:
        key = tuple(line[name] for name in self._format.key)
        hash(key)  # raises TypeError for a list
        return key, self._format.read_times(line)

    def _format_lines(self, record: Record) -> dict[str, str]:
        """Return the lines of a run by file, the line of its times first."""
        fields: Line = asdict(record)  # type: ignore[call-overload]
        times = {name: fields[name] for name in (*self._format.key, *self._format.timed)}
        run = {name: value for name, value in fields.items() if name not in self._format.timed}
        return {TIMES: format_json_line(times), RUNS: format_json_line(run)}

    def _check_settings(self) -> None:
        """Raise `FileError` if the folder holds runs of another experiment."""
        path = self._folder / EXPERIMENT
        if not path.exists():
            if (self._folder / RUNS).exists():
                raise FileError(
                    f"{str(self._folder)!r} holds runs, but no {EXPERIMENT!r} with their settings. "
                    "Give another folder."
                )
            return
        stored = _read_object(path)
        if stored.get("experiment") != self._settings.get("experiment"):
            raise FileError(
                f"{str(self._folder)!r} holds runs of another experiment. Give another folder."
            )
        difference = describe_difference(stored, self._settings)
        if difference is not None:
            raise FileError(
                f"{str(self._folder)!r} holds runs with {difference}. Give another folder."
            )
        self._check_inputs(stored.get(INPUTS, {}), path)

    def _check_inputs(self, stored: Any, path: Path) -> None:
        """Raise `FileError` if an input has changed; remember those of other plans."""
        if not isinstance(stored, dict):
            raise _make_damage_error(path)
        for name, content in self._inputs.items():
            if stored.get(name, content) != content:
                raise FileError(
                    f"{str(self._folder)!r} holds runs on another version of {name!r}. Give "
                    "another folder."
                )
        self._inputs = {**stored, **self._inputs}


def _read_object(path: Path) -> dict[str, Any]:
    with open_source(path) as source:
        content = source.read_all(MAX_TEXT_BYTES)
    try:
        value = _load(content.decode())
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise _make_damage_error(path)
    return value


def _load(text: str) -> Any:
    """Return the value of JSON; raise `ValueError` for text that no file can hold again."""
    value = load_json(text)
    if "\\ud" in text.lower():  # perhaps half a character
        json.dumps(value, ensure_ascii=False).encode()
    return value


def _make_damage_error(path: Path) -> FormatError:
    return FormatError(f"{str(path)!r} is damaged. Give another folder.")


def _read_lines(path: Path, read: Callable[[Line], Item]) -> list[Item]:
    """Return the records of a file without a last line that was cut off."""
    if not path.exists():
        return []
    with open_source(path) as source:
        lines = source.read_all(MAX_TEXT_BYTES).decode("utf-8", "replace").split("\n")
    records = []
    for number, line in enumerate(lines[:-1], start=1):  # text after the last newline is cut off
        try:
            record = read(_load(line))
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
            raise FormatError(
                f"Line {number} of {str(path)!r} is damaged. Remove it or give another folder."
            ) from None
        records.append(record)
    return records
