"""The tables of a workspace: where they come from, and how they are read for the views.

A table comes from an upload, from a file in the workspace, from an example, or from rows sampled
from a published network. `TableReader` keeps the last few tables that were read, because every
view asks for them again and again.
"""

from __future__ import annotations

import shutil
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any
from uuid import uuid4

from coevo.data import ColumnInfo, CutPoints, Decision, Finding
from coevo.data.bins import format_number
from coevo.data.columns import Column
from coevo.data.labels import NumberLabels
from coevo.data.read.header_names import NEW_NAME
from coevo.data.summary import summarise_column
from coevo.errors import (
    DataError,
    FileError,
    FormatError,
    ParameterError,
    bad_choice,
    bad_parameter,
    suggest_match,
)
from coevo.files.run_folder import write_json
from coevo.learning import check_settings
from coevo.studio.run_options import TableSettings, parse_undo, read_settings
from coevo.studio.workspace import (
    INCOMING,
    TABLE_FILE,
    TABLES,
    StoredTable,
    Workspace,
    make_table_names,
    read_object,
)
from coevo.view.inspection.read import read_for_inspection
from coevo.view.inspection.result import (
    InspectedColumn,
    TableInspection,
    describe_inspected,
    find_dropped,
)

__all__ = [
    "EXAMPLES",
    "MAX_SAMPLED_ROWS",
    "InspectedSource",
    "TableReader",
    "add_table",
    "count_bin_rows",
    "describe_table",
    "inspect_source",
    "make_upload_path",
    "refuse_unreadable",
    "store_file",
]


# A table as the Data view shows it: preview, columns, decisions, findings, histograms.
#
# The table is read as `inspect_table` reads it. `InspectedSource` keeps the columns of the source,
# so that the rows of a bin can be counted again, while somebody drags a cut point, without a
# second reading of the file.


PREVIEW_ROWS = 12
MAX_CELL = 120  # characters of a cell in the preview


@dataclass(frozen=True, eq=False)
class InspectedSource:
    """An inspected table, its settings, and the columns of its source."""

    inspection: TableInspection
    settings: TableSettings
    columns: dict[str, Column]

    @property
    def variables(self) -> tuple[str, ...]:
        """The columns that become variables, in the order of the table."""
        return tuple(column.name for column in self.inspection.columns if column.is_variable)


def inspect_source(path: Path, settings: TableSettings) -> InspectedSource:
    """Read a table with the settings of a user, and describe it without learning."""
    options = settings.as_options()
    options.pop("missing", None)  # missing values are no error here, whatever the policy
    checked = check_settings("learn", missing="state", **options)
    found = read_for_inspection(path, checked)
    inspection = describe_inspected(found, path.name)
    return InspectedSource(inspection, settings, found.columns)


def describe_table(source: InspectedSource) -> dict[str, Any]:
    """Return the record of a table for the browser."""
    inspection = source.inspection
    return {
        "n_rows": inspection.n_rows,
        "n_columns": inspection.n_columns,
        "n_missing": inspection.n_missing,
        "missing_share": inspection.missing_share,
        "data_hash": inspection.data_hash,
        "kinds": inspection.count_kinds(),
        "variables": list(source.variables),
        "preview": _preview_rows(source),
        "columns": [_describe_column(column, source.settings) for column in inspection.columns],
        "decisions": [_describe_decision(one) for one in inspection.decisions],
        "findings": [_describe_finding(one) for one in inspection.findings],
        "settings": source.settings.as_dict(),
    }


def _preview_rows(source: InspectedSource) -> dict[str, Any]:
    """Return the first rows of the source; a missing value is None."""
    names = [column.name for column in source.inspection.columns if column.name in source.columns]
    n_rows = min(PREVIEW_ROWS, source.inspection.n_rows)
    cells = [_list_cells(source.columns[name], n_rows) for name in names]
    return {"names": names, "rows": [list(row) for row in zip(*cells, strict=True)]}


def _list_cells(column: Column, n_rows: int) -> list[str | None]:
    found: list[str | None] = []
    for row in range(n_rows):
        is_missing = column.missing is not None and bool(column.missing[row])
        text = None if is_missing else column.labels[int(column.codes[row])]
        if text is not None and isinstance(column.labels, NumberLabels):
            text = format_number(float(text))  # 47, not 47.0
        found.append(text if text is None or len(text) <= MAX_CELL else f"{text[:MAX_CELL]}…")
    return found


def _describe_column(column: InspectedColumn, settings: TableSettings) -> dict[str, Any]:
    info, summary = column.info, column.summary
    return {
        "name": column.name,
        "kind": column.kind,
        "info": info.as_dict(),
        "is_variable": column.is_variable,
        "is_changed": column.name in {*settings.types, *settings.options.get("drop", ())},
        "summary": None if summary is None else summary.as_dict(),
    }


def _describe_decision(decision: Decision) -> dict[str, Any]:
    """Return a decision, whether it can be undone, and the columns that then need a name."""
    undo = parse_undo(decision)
    rename = {} if undo is None else undo.get("rename", {})
    return {
        **decision.as_dict(),
        "can_undo": undo is not None,
        "needs_names": [old for old, new in rename.items() if new.startswith(NEW_NAME)],
    }


def _describe_finding(finding: Finding) -> dict[str, Any]:
    """Return a finding, and the column that its recommendation leaves out."""
    return {**finding.as_dict(), "drop": find_dropped(finding)}


def count_bin_rows(source: InspectedSource, name: str, cuts: Sequence[Any]) -> dict[str, Any]:
    """Return the number of rows in each bin that cut points would make.

    The cut points may be any numbers; they are sorted first.
    """
    column = source.columns.get(name)
    if column is None:
        near = suggest_match(name, source.columns)
        raise DataError(f"The table has no column {name!r}.{near}")
    try:
        points = CutPoints(tuple(sorted({float(cut) for cut in cuts})))
    except (TypeError, ValueError):
        raise ParameterError(f"Cut points must be numbers; got {list(cuts)!r}.") from None
    info = ColumnInfo(name, "continuous", points.states, cuts=points)
    summary = summarise_column(column, info)
    if summary.numbers is None:
        raise DataError(f"Column {name!r} does not hold numbers, so it cannot be cut into bins.")
    return {
        "column": name,
        "cuts": list(points.points),
        "bins": [{"state": one.state, "count": one.count} for one in summary.numbers.bins],
    }


EXAMPLES = ("patients",)
MAX_SAMPLED_ROWS = 1_000_000
MAX_KEPT = 3  # tables in memory


class TableReader:
    """Reads the tables of a workspace; a table that did not change is read once."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._kept: OrderedDict[str, tuple[Any, InspectedSource]] = OrderedDict()
        self._lock = threading.Lock()

    def open(self, name: str) -> InspectedSource:
        """Return a table as it is read with its stored settings."""
        table = self._workspace.open_table(name)
        return self.read(table, read_settings(table))

    def read(self, table: StoredTable, settings: TableSettings) -> InspectedSource:
        """Return a table as it would be read with other settings."""
        if not table.path.is_file():
            raise FileError(f"There is no file of the table {table.name!r}.")
        facts = table.path.stat()
        key = (facts.st_mtime_ns, facts.st_size, repr(settings.as_dict()))
        with self._lock:
            known, source = self._kept.get(table.name, (None, None))
        if source is not None and known == key:
            return source
        source = inspect_source(table.path, settings)
        with self._lock:
            self._kept[table.name] = (key, source)
            self._kept.move_to_end(table.name)
            while len(self._kept) > MAX_KEPT:
                self._kept.popitem(last=False)
        return source


def refuse_unreadable(workspace: Workspace, reader: TableReader, name: str) -> None:
    """Remove a new table again, and raise why, if no option could help to read its file.

    A message about what the file is (a picture, damaged, empty) names the file. One about what it
    holds (one column, no rows) names the table, or the option that helps: then the table stays, and
    the Data view shows the message above the settings of the reader.
    """
    table = workspace.open_table(name)
    path, is_new = table.path, not table.options
    is_new &= {one.name for one in table.folder.iterdir()} == {path.name, TABLE_FILE}
    try:
        reader.read(table, read_settings(table))
    except (DataError, FileError, FormatError) as error:
        file, sentence = repr(str(path)), str(error)
        if is_new and file in sentence and "--" not in sentence:
            workspace.remove(TABLES, name)
            raise DataError(sentence.replace(file, repr(path.name))) from None
    except ParameterError:
        pass  # the Data view shows it


def make_upload_path(workspace: Workspace) -> Path:
    """Return the path of a new temporary file in the workspace."""
    folder = workspace.root / INCOMING
    folder.mkdir(exist_ok=True)
    return folder / uuid4().hex


def store_file(workspace: Workspace, upload: Path, file: str) -> str:
    """Make a table of an upload that is complete; return its name."""
    try:
        return _store(workspace, Path(file).name, lambda target: shutil.move(upload, target))
    finally:
        upload.unlink(missing_ok=True)


def _store(workspace: Workspace, file: str, write: Callable[[Path], object]) -> str:
    return workspace.store_table(*make_table_names(file), write)


def add_table(workspace: Workspace, given: dict[str, Any]) -> str:
    """Make a table of what a request names: ``path``, ``example`` or ``network``."""
    makers = {"path": _add_path, "example": _add_example, "network": _add_sample}
    for key, maker in makers.items():
        if key in given:
            return maker(workspace, given)
    raise ParameterError("Name a path, an example or a network.")


def _add_path(workspace: Workspace, given: dict[str, Any]) -> str:
    """Add a file inside of the workspace; other files must be named on the command line."""
    try:
        path = (workspace.root / str(given["path"]).strip()).resolve()
        is_file = path.is_file()
    except (OSError, ValueError):  # no name of a file: too long, or with a zero byte
        raise FileError("The path is not that of a file.") from None
    if not path.is_relative_to(workspace.root):
        raise FileError(
            "Only files in the workspace folder can be added by their path. Drop the file into the "
            "page, or name it on the command line: coevo studio FILE."
        )
    if not is_file:
        raise FileError(f"There is no file {str(given['path'])!r} in the workspace folder.")
    return workspace.add_table(path)


def _add_example(workspace: Workspace, given: dict[str, Any]) -> str:
    name = given["example"]
    if name not in EXAMPLES:
        raise bad_choice("example", "the studio", EXAMPLES, name)
    with as_file(files("coevo.studio").joinpath("examples", f"{name}.csv")) as path:
        return _store(workspace, path.name, lambda target: shutil.copyfile(path, target))


def _add_sample(workspace: Workspace, given: dict[str, Any]) -> str:
    """Sample rows of a published network."""
    from coevo.bundled import list_networks, load_network
    from coevo.checks import is_int
    from coevo.data import write_data
    from coevo.network import sample

    name, rows, seed = given["network"], given.get("rows", 1000), given.get("seed", 0)
    if name not in list_networks():
        raise bad_choice("network", "the studio", list_networks(), name)
    if not is_int(rows, 1) or rows > MAX_SAMPLED_ROWS:
        expected = f"an int from 1 to {MAX_SAMPLED_ROWS:,}"
        raise bad_parameter("rows", "the studio", expected, rows)
    if not is_int(seed, 0):
        raise bad_parameter("seed", "the studio", "an int >= 0", seed)
    dataset = sample(load_network(name), rows, seed)
    table = _store(workspace, f"{name} {rows}.csv", lambda target: write_data(dataset, target))
    path = workspace.open_table(table).folder / TABLE_FILE
    write_json(path, {**read_object(path), "network": name})  # a search compares its score with it
    return table
