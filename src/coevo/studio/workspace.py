"""The folder of a user's work: its content, its trash, and the layouts that it keeps.

The workspace: the folder that holds everything a user does in the studio.

    tables/NAME/    a table: its file, and what was decided about it
        FILE              the table as it was given
        table.json        {"file": FILE, "options": {...}}: keywords of `coevo.learn` about reading
        types.json        the file of ``--types``, if types or cut points were chosen
        constraints.json  the file of ``--constraints``, if there is prior knowledge
    runs/NAME/      a run folder of ``coevo learn -o``
        studio.json       {"table": NAME, "options": {...}, "command": [...]}: how it was started
        job.json          the state of the work on it (`coevo.studio.jobs`)
        events.jsonl      what happened (`coevo.studio.events`)
    networks/       network files

Names come from requests, so they are never trusted: `check_name` allows no separator. Nor are
folders, which may come from anywhere: one that holds a symbolic link out of it, a FIFO or a device
is refused (`Workspace.locate`). A path outside is used only if the user named it on the command
line (`Workspace.add_named`).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from coevo import __version__
from coevo.errors import CoevoError, FileError, FormatError
from coevo.files.files import load_json
from coevo.files.run_folder import lock_run_folder, make_run_folder, write_json
from coevo.view.picture.layout import Box, Layout, lay_out

__all__ = [
    "NETWORKS",
    "RUNS",
    "TABLES",
    "TRASH",
    "InUseError",
    "StoredTable",
    "Workspace",
    "check_name",
    "make_lay_out",
    "make_name",
    "make_table_names",
    "put_back",
    "read_object",
    "throw_away",
]

TABLES, RUNS, NETWORKS = "tables", "runs", "networks"
KINDS = (TABLES, RUNS, NETWORKS)
TABLE_FILE, TYPES_FILE, CONSTRAINTS_FILE = "table.json", "types.json", "constraints.json"
OWN_FILES = (TABLE_FILE, TYPES_FILE, CONSTRAINTS_FILE)  # beside the file of a table
STUDIO_FILE, JOB_FILE = "studio.json", "job.json"
LOCK = ".studio.lock"
INCOMING = "incoming"  # the folder of uploads under way
MAX_NAME = 100  # characters
MAX_OBJECT = 1 << 24  # bytes of a small JSON file
NAME = re.compile(r"[^\W_][\w .,()+=-]*", re.ASCII)
RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)  # on Windows


class InUseError(FileError):
    """Something that cannot be changed now, because somebody else works on it."""


def check_name(name: str) -> str:
    """Return a name of a table, a run or a network; raise `FileError` unless it is harmless.

    >>> check_name("alarm 2.csv")
    'alarm 2.csv'
    >>> check_name("../secret")
    Traceback (most recent call last):
    coevo.errors.FileError: '../secret' cannot be a name: use letters, digits, spaces and . _ - \
( ) + = , only, and begin with a letter or a digit.
    """
    is_plain = NAME.fullmatch(name) and len(name) <= MAX_NAME and not name.endswith((".", " "))
    if not is_plain or RESERVED.fullmatch(name):
        raise FileError(
            f"{name!r} cannot be a name: use letters, digits, spaces and . _ - ( ) + = , only, "
            "and begin with a letter or a digit."
        )
    return name


def make_name(text: str) -> str:
    """Return a harmless name that resembles a text, as the stem of a file.

    >>> make_name("Größe & Gewicht.csv"), make_name("..."), make_name("данные.csv")
    ('Gr e Gewicht.csv', 'table', 'table.csv')
    """
    plain = " ".join(re.sub(r"[^\w.()+=-]|_(?=\W|$)", " ", text, flags=re.ASCII).split())
    if plain.startswith(".") and plain.strip(". "):  # no letter before the extension is left
        plain = f"table{plain}"
    plain = plain.lstrip("._-()+= ")[:MAX_NAME].rstrip(". ")
    return "table" if not plain or RESERVED.fullmatch(plain) else plain


def make_table_names(text: str) -> tuple[str, str]:
    """Return the name of a table and of its file, which resemble the name of a given file.

    >>> make_table_names("alarm.csv"), make_table_names("types.json")
    (('alarm', 'alarm.csv'), ('types', 'types rows.json'))
    """
    file = make_name(text)
    name = make_name(file.split(".")[0])
    if file.lower() in OWN_FILES:
        file = f"{name} rows.json"
    return name, file


def read_object(path: Path) -> dict[str, Any]:
    """Read a JSON object; an empty one if there is no file. Raise `FormatError` if it is none."""
    try:
        if path.stat().st_size > MAX_OBJECT:
            raise FormatError(f"{str(path)!r} is larger than {MAX_OBJECT:,} bytes.")
        found = load_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        raise FormatError(f"{str(path)!r} is damaged: it does not hold a JSON object.") from None
    if not isinstance(found, dict):
        raise FormatError(f"{str(path)!r} is damaged: it does not hold a JSON object.")
    return found


@dataclass(frozen=True)
class StoredTable:
    """A table of the workspace."""

    name: str
    folder: Path

    @property
    def path(self) -> Path:
        """The file with the rows."""
        file = read_object(self.folder / TABLE_FILE).get("file")
        if not isinstance(file, str):
            raise FormatError(f"The table {self.name!r} is damaged: table.json names no file.")
        return _stay_inside(self.folder, self.folder / check_name(file), self.name)

    @property
    def options(self) -> dict[str, Any]:
        """The keywords of `coevo.learn` about reading this table, as a user chose them."""
        found = read_object(self.folder / TABLE_FILE).get("options", {})
        return found if isinstance(found, dict) else {}

    def write_options(self, options: Mapping[str, Any]) -> None:
        """Store the keywords of `coevo.learn` about reading this table."""
        known = read_object(self.folder / TABLE_FILE)
        write_json(self.folder / TABLE_FILE, {**known, "options": dict(options)})

    @property
    def types_path(self) -> Path:
        """The file of ``--types``; it may not exist."""
        return _stay_inside(self.folder, self.folder / TYPES_FILE, self.name)

    @property
    def constraints_path(self) -> Path:
        """The file of ``--constraints``; it may not exist."""
        return _stay_inside(self.folder, self.folder / CONSTRAINTS_FILE, self.name)


class Workspace:
    """The folder of the studio.

    Parameters
    ----------
    root : Path
        The folder. It is made if it does not exist.
    """

    def __init__(self, root: Path) -> None:
        make_run_folder(root)
        self.root = root.resolve()
        for kind in KINDS:
            make_run_folder(self.root / kind)
        self._named: dict[tuple[str, str], Path] = {}
        self._lock: Any = None
        self._naming = threading.Lock()

    def lock(self) -> None:
        """Keep other studios out of this folder until this process ends."""
        with contextlib.suppress(ImportError):  # Windows has no such locks
            import fcntl

            self._lock = (self.root / LOCK).open("a")
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                self.unlock()
                raise FileError(
                    f"Another studio uses the workspace {str(self.root)!r}. End it, or give "
                    "another folder with --workspace."
                ) from None

    def unlock(self) -> None:
        """Let other studios use this folder."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def add_named(self, kind: str, path: Path) -> str:
        """Let requests use a path that the user named on the command line; return its name."""
        name = self.find_free_name(kind, make_name(path.name), path)
        if path.resolve() != (self.root / kind / name).resolve():
            self._named[kind, name] = path.resolve()
        return name

    def find_free_name(self, kind: str, name: str, path: Path | None = None) -> str:
        """Return a name that nothing has yet (or only `path` itself): the name, or with a number.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     space = Workspace(Path(folder))
        ...     (space.root / "runs" / "alarm").mkdir()
        ...     space.find_free_name("runs", "alarm")
        'alarm 2'
        """
        tried, number = check_name(name), 1
        while (self.root / kind / tried).exists() or (kind, tried) in self._named:
            if path is not None and (self.root / kind / tried).resolve() == path.resolve():
                return tried
            number += 1
            tried = f"{name[: MAX_NAME - 5]} {number}"
        return tried

    def locate(self, kind: str, name: str) -> Path:
        """Return the path of something that exists; raise `FileError` for any other name."""
        named = self._named.get((kind, name))
        if named is not None:
            return named
        path = _stay_inside(self.root / kind, self.root / kind / check_name(name), name)
        if not path.exists():
            raise FileError(f"There is no {kind.removesuffix('s')} {name!r} in the workspace.")
        _refuse_odd_files(path, name)
        return path

    def make_folder(self, kind: str, name: str) -> Path:
        """Make a new folder whose name is free: this one, or with a number; return its path."""
        with self._naming:  # two requests at once get two names
            path = self.root / kind / self.find_free_name(kind, name)
            try:
                path.mkdir()
            except OSError as error:
                raise FileError(f"{str(path)!r} cannot be created: {error.strerror}.") from None
        return path

    def list_names(self, kind: str) -> list[str]:
        """Return the names of all tables, runs or networks, sorted."""
        return list(self.list_paths(kind))

    def list_paths(self, kind: str) -> dict[str, Path]:
        """Return the paths of all tables, runs or networks by their names, sorted."""
        found = {name: path for (at, name), path in self._named.items() if at == kind}
        for path in (self.root / kind).iterdir():
            with contextlib.suppress(FileError, OSError):
                found[path.name] = self.locate(kind, path.name)
        return dict(sorted(found.items()))

    def open_table(self, name: str) -> StoredTable:
        """Return a table; raise `FileError` if there is none of this name."""
        return StoredTable(name, self.locate(TABLES, name))

    def add_table(self, source: Path) -> str:
        """Copy a table that the user named into the workspace; return its name.

        The same file again, neither larger nor newer, is the table that is there.
        """
        name, file = make_table_names(source.name)
        if (self.root / TABLES / name).is_dir():
            with contextlib.suppress(FileError, FormatError, OSError):
                known, given = self.open_table(name).path.stat(), source.stat()
                if (known.st_size, int(known.st_mtime)) == (given.st_size, int(given.st_mtime)):
                    return name
        return self.store_table(name, file, lambda target: shutil.copy2(source, target))

    def store_table(self, name: str, file: str, write: Callable[[Path], object]) -> str:
        """Make a table, with a function that writes its file; return its name, which is free."""
        folder = self.make_folder(TABLES, name)
        try:
            write(folder / check_name(file))
            write_json(folder / TABLE_FILE, {"file": file, "options": {}})
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return folder.name

    def remove(self, kind: str, name: str) -> None:
        """Remove something from the workspace. A path outside is only forgotten."""
        if self._named.pop((kind, name), None) is not None:
            return
        path = self.locate(kind, name)
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def _refuse_odd_files(path: Path, name: str) -> None:
    """Raise `FileError` if a folder holds a link out of it, or a file that could block a reader.

    The list of a folder says what its entries are, so that few of them are asked one by one.
    """
    if not path.is_dir():
        if not path.is_file():
            raise FileError(f"{str(path)!r} is neither a file nor a folder.")
        return
    folders = [str(path)]
    while folders:
        try:
            with os.scandir(folders.pop()) as listed:
                entries = list(listed)
        except OSError:  # it was removed, or nobody may read it
            continue
        for entry in entries:
            if entry.is_symlink() and not Path(entry).resolve().is_relative_to(path.resolve()):
                raise FileError(
                    f"{entry.path!r} is a link out of its folder. Replace it by a copy."
                )
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.path)
            elif not entry.is_file() and not entry.is_dir() and os.path.lexists(entry):
                raise FileError(f"{entry.path!r} is neither a file nor a folder.")


def _stay_inside(folder: Path, path: Path, name: str) -> Path:
    """Return a path, unless a symbolic link leads out of the folder."""
    if not path.resolve().is_relative_to(folder.resolve()):
        raise FileError(f"{name!r} is a link out of the workspace. Name it on the command line.")
    return path


# The trash of a workspace: what a user removed can be put back.
#
# Each removed table, run or network is moved into a folder of its own below ``trash``, beside a
# small file that says what it was. Nothing empties the trash but the user, who may delete the
# folder.


TRASH = "trash"
FACTS, CONTENT = "removed.json", "content"
_TOKEN = re.compile(r"[0-9a-f]{32}")


def throw_away(workspace: Workspace, kind: str, name: str) -> str | None:
    """Move something into the trash; return the token that puts it back.

    A path outside of the workspace is only forgotten, and has no token.
    """
    path = workspace.locate(kind, name)
    if not path.is_relative_to(workspace.root):
        workspace.remove(kind, name)
        return None
    token = uuid4().hex
    folder = workspace.root / TRASH / token
    make_run_folder(folder)
    write_json(folder / FACTS, {"kind": kind, "name": name})
    try:
        with _keep_commands_out(path) if kind == RUNS else contextlib.nullcontext():
            path.rename(folder / CONTENT)
    except (InUseError, OSError) as error:
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, InUseError):
            raise
        raise FileError(f"{name!r} cannot be removed: {error.strerror}.") from None
    return token


@contextlib.contextmanager
def _keep_commands_out(folder: Path) -> Iterator[None]:
    """Hold the lock of a run folder; raise `InUseError` if a command is writing to it."""
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(lock_run_folder(folder))
        except FileError:
            raise InUseError(
                f"Another command is writing to the run {folder.name!r}. Wait until it has ended, "
                "or end it, then remove the run."
            ) from None
        yield


def put_back(workspace: Workspace, token: str) -> tuple[str, str]:
    """Move something out of the trash; return its kind and its name, which is a free one."""
    folder = workspace.root / TRASH / token
    if not _TOKEN.fullmatch(token) or not (folder / CONTENT).exists():
        raise FileError("There is no such thing in the trash any more.")
    facts = read_object(folder / FACTS)
    kind, name = facts.get("kind"), facts.get("name")
    if kind not in KINDS or not isinstance(name, str):
        raise FormatError(f"{str(folder / FACTS)!r} is damaged: it does not say what was removed.")
    free = workspace.find_free_name(kind, check_name(name))
    try:
        (folder / CONTENT).rename(workspace.root / kind / free)
    except OSError as error:
        raise FileError(f"{name!r} cannot be put back: {error.strerror}.") from None
    (folder / FACTS).unlink(missing_ok=True)
    folder.rmdir()
    return kind, free


# Layouts that are kept in the workspace: a large graph takes seconds to lay out.
#
# A file holds the layout of one graph. Its name is the hash of the graph, of the sizes of its
# boxes and of the version of coevo. A file that is damaged is made again.


MOST = 300  # files; the oldest are removed
SMALL = 60  # variables; laying out a smaller graph takes no longer than reading a file

Arc = tuple[str, str]


def make_lay_out(folder: Path) -> Callable[..., Layout]:
    """Return a function like `lay_out` that keeps its results in a folder."""

    def lay_out_once(
        nodes: Iterable[str],
        arcs: Iterable[Arc],
        *,
        sizes: Mapping[str, tuple[float, float]] | None = None,
    ) -> Layout:
        names, pairs, least = sorted(nodes), sorted(arcs), dict(sizes or {})
        if len(names) <= SMALL:
            return lay_out(names, pairs, sizes=least)
        path = folder / f"{_make_hash(names, pairs, least)}.json"
        found = _read(path)
        if found is None:
            found = lay_out(names, pairs, sizes=least)
            _write(path, found)
        return found

    return lay_out_once


def _make_hash(names: list[str], arcs: list[Arc], sizes: dict[str, Any]) -> str:
    text = json.dumps([__version__, names, arcs, sorted(sizes.items())])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _read(path: Path) -> Layout | None:
    """Return a kept layout, or None if there is none or if it is damaged."""
    try:
        found = load_json(path.read_text("utf-8"))
        boxes = {
            str(name): Box(float(x), float(y), float(width), tuple(map(str, lines)), float(extra))
            for name, x, y, width, lines, extra in found["boxes"]
        }
        curves = {
            (str(parent), str(child)): tuple((float(x), float(y)) for x, y in curve)
            for parent, child, curve in found["curves"]
        }
        return Layout(float(found["width"]), float(found["height"]), boxes, curves)
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _write(path: Path, layout: Layout) -> None:
    """Keep a layout. Where the folder cannot be written, it is laid out again next time."""
    boxes = [[n, b.x, b.y, b.width, list(b.lines), b.extra] for n, b in layout.boxes.items()]
    curves = [[*arc, [list(point) for point in curve]] for arc, curve in layout.curves.items()]
    content = {"width": layout.width, "height": layout.height, "boxes": boxes, "curves": curves}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_json(path, content)
        kept = sorted(path.parent.glob("*.json"), key=lambda each: each.stat().st_mtime)
        for old in kept[:-MOST]:
            old.unlink(missing_ok=True)
    except (OSError, CoevoError):
        return
