"""The events of a run: a file that only grows, sent to any number of browser tabs.

An event is one line of ``events.jsonl`` in the run folder, a JSON object with its ``kind``. Its
number is the number of its line, from 1. The worker process appends events (`EventLog`). The
server reads each line once and gives it to all tabs that follow the run (`Feed`), as Server-Sent
Events with that number as the id. A tab that lost its connection says the last number that it
saw (``Last-Event-ID``) and receives everything after it. So no event is lost, whatever happens to
tabs, connection, worker or server.

A line that is no event (`parse_event`) is passed over; tabs are told how many there are. Where the
disk is full, an event waits in the process until there is space, and reaches the server through
its output instead (`EventLog`, `Feed.wake`): the search and its page continue.

Notices (``runs``, ``tables``, ``networks``) tell all tabs that a list has changed. They have
numbers too. The page comes with that of the last notice, and a stream is asked for those after a
number. A later notice about a list stands for all earlier ones, so only the last of each is kept.
The numbers belong to one server: a tab with those of another reads all lists again.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from coevo.files.files import load_json
from coevo.files.run_folder import format_json_line
from coevo.files.species_record import are_masks, are_orders, is_list_of, is_number, is_row, is_work

__all__ = ["EVENTS", "EventLog", "Feed", "format_event", "parse_event", "read_events"]

EVENTS = "events.jsonl"
LISTS = ("networks", "runs", "tables")  # what notices are about
HEARTBEAT = 15.0  # seconds without an event, after which a comment keeps the connection


def _are_rows(value: Any) -> bool:
    return bool(value) and is_list_of(value, lambda row: is_list_of(row, is_number, 6))


def _are_credits(value: Any) -> bool:
    """Return whether these are a generation and the credit of each mask, if there are any."""
    return value is None or is_list_of(value, lambda row: bool(row) and is_list_of(row, is_number))


def _are_arcs(value: Any) -> bool:
    return is_list_of(
        value, lambda arc: is_list_of(arc, lambda end: isinstance(end, int) and end >= 0, 2)
    )


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


# What an event of each kind must hold, so that the page and a resumed search can use it.
FIELDS: Mapping[str, Mapping[str, Callable[[Any], bool]]] = {
    "status": {"text": _is_text},
    "opened": {"variables": lambda value: is_list_of(value, _is_text), "limits": _is_object},
    "resumed": {"generation": is_number},
    "rows": {"rows": _are_rows, "credit": _are_credits},
    "level": {"name": _is_text, "score": is_number},
    "network": {"arcs": _are_arcs},
    "species": {
        "generation": is_number,
        "orders": are_orders,
        "masks": are_masks,
        "work": is_work,
        "row": is_row,
    },
    "samples": {"done": is_number, "total": is_number},
    "result": {"stop_reason": _is_text},
    "failed": {"error": _is_text},
}


def parse_event(line: bytes) -> dict[str, Any] | None:
    """Return the event of a line; None if the line is damaged.

    >>> parse_event(b'{"kind": "status", "text": "Reading ..."}')
    {'kind': 'status', 'text': 'Reading ...'}
    >>> [parse_event(line) for line in (b"{", b"[1]", b"{}", b'{"kind": "rows", "rows": 5}')]
    [None, None, None, None]
    """
    try:
        found = load_json(line.decode(), parse_constant=_refuse_constant)
        json.dumps(found, ensure_ascii=False).encode()  # half a character is no text
    except ValueError:
        return None
    if not isinstance(found, dict) or not isinstance(found.get("kind"), str):
        return None
    fields = FIELDS.get(found["kind"], {})
    return found if all(check(found.get(name)) for name, check in fields.items()) else None


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


class EventLog:
    """The end of a file of events to which a worker process appends.

    A process that was killed may have left an incomplete last line. It is removed. A lock keeps
    out a second process, which may still be ending. Events that cannot be written, because the
    disk is full, wait for the next one.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / EVENTS
        self._file: int | None = None
        self._waiting: list[bytes] = []
        self._end = 0  # of the last complete line
        with contextlib.suppress(OSError):
            self._open()

    def _open(self) -> int:
        if self._file is None:
            binary, no_link = getattr(os, "O_BINARY", 0), getattr(os, "O_NOFOLLOW", 0)
            file = os.open(self._path, os.O_RDWR | os.O_CREAT | binary | no_link, 0o644)
            with contextlib.suppress(ImportError):  # Windows has no such locks
                import fcntl

                fcntl.flock(file, fcntl.LOCK_EX)
            self._file, self._end = file, self._path.read_bytes().rfind(b"\n") + 1
            os.ftruncate(file, self._end)
        return self._file

    def append(self, kind: str, content: Mapping[str, Any]) -> bytes:
        """Append an event; return its line if it waits, else nothing."""
        line = format_json_line({"kind": kind, **content}).encode()
        self._waiting.append(line)
        try:
            while self._waiting:
                self._write(self._waiting[0])
                del self._waiting[0]
        except OSError:
            return line
        return b""

    def _write(self, line: bytes) -> None:
        """Write a line, all of it or nothing."""
        file, rest = self._open(), memoryview(line)
        try:
            os.lseek(file, self._end, os.SEEK_SET)
            while rest:
                rest = rest[os.write(file, rest) :]
        except OSError:
            with contextlib.suppress(OSError):
                os.ftruncate(file, self._end)
            raise
        self._end += len(line)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            os.close(self._file)


def read_events(folder: Path) -> list[dict[str, Any]]:
    """Return all events of a run; damaged lines are passed over."""
    found = map(parse_event, _Tail(folder / EVENTS).lines)
    return [event for event in found if event is not None]


class _Tail:
    """The events in a growing file, as lines; `n_files` counts the files that had this path.

    A run can be removed, and another one gets its name: the lines are then those of the new file.
    """

    def __init__(self, path: Path) -> None:
        self.lines: list[bytes] = []
        self.n_damaged = 0  # lines that are no events
        self.n_files = 0
        self._path, self._offset = path, 0
        self._file: tuple[int, int] | None = None
        self.read()

    def read(self) -> None:
        """Read the lines since the last call."""
        try:
            with self._path.open("rb") as stream:
                facts = os.fstat(stream.fileno())
                self._look_at((facts.st_dev, facts.st_ino), facts.st_size)
                stream.seek(self._offset)
                content = stream.read()
        except OSError:
            return
        complete = content[: content.rfind(b"\n") + 1]
        self._offset += len(complete)
        for line in complete.splitlines():
            if parse_event(line) is None:
                self.n_damaged += 1
            else:
                self.lines.append(line)

    def _look_at(self, file: tuple[int, int], size: int) -> None:
        """Begin again if this is another file than before, or has become shorter."""
        if file != self._file or size < self._offset:
            self._file, self._offset, self.lines, self.n_damaged = file, 0, [], 0
            self.n_files += 1


def format_event(content: bytes, number: int | None = None, run: str | None = None) -> bytes:
    r"""Return a Server-Sent Event.

    >>> format_event(b'{"kind":"done"}', 3, "alarm")
    b'event: run:alarm\nid: 3\ndata: {"kind":"done"}\n\n'
    """
    kind = b"" if run is None else f"event: run:{run}\n".encode()
    head = b"" if number is None else b"id: %d\n" % number
    return kind + head + b"data: " + content + b"\n\n"


class Feed:
    """The events of all runs for all tabs. All methods run in the thread of the event loop."""

    def __init__(self) -> None:
        self._tails: dict[Path, _Tail] = {}
        self._n_readers: dict[Path, int] = {}
        self._unsaved: dict[Path, list[bytes]] = {}  # lines of events for which there is no space
        self._server = secrets.token_hex(4)  # whose numbers of notices these are
        self._notices = {kind: number for number, kind in enumerate(LISTS, 1)}  # the last of each
        self._changed = asyncio.Event()
        self._is_closed = False
        self.n_streams = 0  # open requests for events; see `coevo.studio.routes.shell`

    def wake(self, folder: Path, unsaved: Sequence[bytes] = ()) -> None:
        """Read the new events of a run that somebody follows, and send them.

        `unsaved` are events after those in the file.
        """
        self._unsaved.pop(folder, None)
        if unsaved:
            self._unsaved[folder] = list(unsaved)
        if folder in self._tails:
            self._tails[folder].read()
            self._wake_all()

    def notify(self, kind: str) -> None:
        """Tell all tabs that a list has changed."""
        self._notices[kind] = max(self._notices.values()) + 1
        self._wake_all()

    @property
    def stamp(self) -> str:
        """The number of the last notice, with the server that it belongs to."""
        return self._make_stamp(max(self._notices.values()))

    def _make_stamp(self, number: int) -> str:
        return f"{self._server}.{number}"

    def _read_stamp(self, stamp: str) -> int:
        """Return the number of a stamp; 0, before all notices, for one of another server."""
        server, _, number = stamp.partition(".")
        is_own = server == self._server and number.isdecimal() and len(number) < 16
        return int(number) if is_own else 0

    def close(self) -> None:
        """End all streams."""
        self._is_closed = True
        self._wake_all()

    def _wake_all(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def follow(
        self, runs: Sequence[tuple[str, Path, int]] = (), stamp: str | None = None
    ) -> AsyncIterator[bytes]:
        """Yield the events of runs after a number, then new ones and notices, as they come.

        `runs` has names, folders and numbers. An event names its run:
        one stream serves all tabs of a browser. Notices after `stamp` are sent (default: new ones).
        """
        told = self._read_stamp(self.stamp if stamp is None else stamp)
        yield b": connected\n\n"
        with contextlib.ExitStack() as stack:
            readers = [
                _Reader(name, folder, stack.enter_context(self._reading(folder)), after)
                for name, folder, after in runs
            ]
            while not self._is_closed:
                changed, parts = self._changed, []
                for reader in readers:
                    parts += reader.read(self._unsaved.get(reader.folder, ()))
                for kind, number in sorted(self._notices.items(), key=lambda pair: pair[1]):
                    if number > told:
                        told = number
                        content = {"kind": kind, "stamp": self._make_stamp(number)}
                        parts.append(format_event(json.dumps(content).encode()))
                if parts:
                    yield b"".join(parts)
                elif not await _wait(changed):
                    yield b": still here\n\n"

    @contextlib.contextmanager
    def _reading(self, folder: Path) -> Iterator[_Tail]:
        """Keep the lines of a run while somebody reads them."""
        if folder not in self._tails:
            self._tails[folder] = _Tail(folder / EVENTS)
        else:
            self._tails[folder].read()
        self._n_readers[folder] = self._n_readers.get(folder, 0) + 1
        try:
            yield self._tails[folder]
        finally:
            self._n_readers[folder] -= 1
            if not self._n_readers[folder]:
                for kept in (self._tails, self._n_readers):
                    del kept[folder]


class _Reader:
    """What one stream has sent of the events of one run."""

    def __init__(self, name: str, folder: Path, tail: _Tail, seen: int) -> None:
        self._name, self.folder, self._tail, self._seen = name, folder, tail, max(0, seen)
        self._n_files, self._n_damaged = tail.n_files, 0

    def read(self, unsaved: Sequence[bytes]) -> list[bytes]:
        """Return what is new, ready to be sent."""
        tail, parts, run = self._tail, [], self._name
        lines = [*tail.lines, *unsaved] if unsaved else tail.lines
        if self._seen > len(lines) or self._n_files != tail.n_files:
            if self._seen:  # of a file that is gone
                parts.append(format_event(b'{"kind":"restart"}', run=run))
            self._seen, self._n_files, self._n_damaged = 0, tail.n_files, 0
        fresh = lines[self._seen :]
        parts += [format_event(line, self._seen + i + 1, run) for i, line in enumerate(fresh)]
        self._seen += len(fresh)
        if tail.n_damaged != self._n_damaged:
            self._n_damaged = tail.n_damaged
            text = json.dumps({"kind": "damaged", "n_lines": tail.n_damaged})
            parts.append(format_event(text.encode(), run=run))
        return parts


async def _wait(changed: asyncio.Event) -> bool:
    """Wait for a change; return False if none came before the next heartbeat."""
    try:
        await asyncio.wait_for(changed.wait(), HEARTBEAT)
    except TimeoutError:
        return False
    return True
