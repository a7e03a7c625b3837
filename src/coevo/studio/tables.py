"""The tables of a workspace: where they come from, and how they are read for the views.

A table comes from an upload, from a file in the workspace, from an example, or from rows sampled
from a published network. `TableReader` keeps the last few tables that were read, because every
view asks for them again and again.
"""

from __future__ import annotations

import shutil
import threading
from collections import OrderedDict
from collections.abc import Callable
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any
from uuid import uuid4

from coevo.errors import (
    DataError,
    FileError,
    FormatError,
    ParameterError,
    bad_choice,
    bad_parameter,
)
from coevo.files.run_folder import write_json
from coevo.studio.table_record import InspectedSource, inspect_source
from coevo.studio.table_settings import TableSettings, read_settings
from coevo.studio.workspace import (
    INCOMING,
    TABLE_FILE,
    TABLES,
    StoredTable,
    Workspace,
    make_table_names,
    read_object,
)

__all__ = [
    "EXAMPLES",
    "MAX_SAMPLED_ROWS",
    "TableReader",
    "add_table",
    "make_upload_path",
    "refuse_unreadable",
    "store_file",
]

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
