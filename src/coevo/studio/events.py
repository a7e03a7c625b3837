"""The events of a run: a file that only grows, sent to any number of browser tabs.

An event is one line of ``events.jsonl`` in the run folder, a JSON object with its ``kind``. Its
number is the number of its line, from 1. The worker process appends events (`EventLog`). The
server reads each line once and gives it to all tabs that follow the run (`Feed`), as Server-Sent
Events with that number as the id. A tab that lost its connection says the last number that it
saw (``Last-Event-ID``) and receives everything after it. So no event is lost, whatever happens to
tabs, connection, worker or server.

Notices (``runs``, ``tables``) tell all tabs that a list has changed. They have no number: a tab
reads the list again when it connects.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import Any

from coevo.run_files import format_json_line

__all__ = ["EVENTS", "EventLog", "Feed", "format_event", "read_events"]

EVENTS = "events.jsonl"
HEARTBEAT = 15.0  # seconds without an event, after which a comment keeps the connection


class EventLog:
    """The end of a file of events to which a worker process appends.

    A process that was killed may have left an incomplete last line. It is removed. A lock keeps
    out a second process, which may still be ending.
    """

    def __init__(self, folder: Path) -> None:
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
        self._file = os.open(folder / EVENTS, flags, 0o644)
        with contextlib.suppress(ImportError):  # Windows has no such locks
            import fcntl

            fcntl.flock(self._file, fcntl.LOCK_EX)
        content = (folder / EVENTS).read_bytes()
        os.ftruncate(self._file, content.rfind(b"\n") + 1)
        os.lseek(self._file, 0, os.SEEK_END)

    def append(self, kind: str, content: Mapping[str, Any]) -> None:
        """Append an event with one call of the system."""
        os.write(self._file, format_json_line({"kind": kind, **content}).encode())

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def read_events(folder: Path) -> list[dict[str, Any]]:
    """Return all complete events of a run."""
    return [json.loads(line) for line in _Tail(folder / EVENTS).lines]


class _Tail:
    """The complete lines of a growing file; `n_files` counts the files that had this path.

    A run can be removed, and another one gets its name: the lines are then those of the new file.
    """

    def __init__(self, path: Path) -> None:
        self.lines: list[bytes] = []
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
        except FileNotFoundError:
            return
        complete = content[: content.rfind(b"\n") + 1]
        self._offset += len(complete)
        self.lines += complete.splitlines()

    def _look_at(self, file: tuple[int, int], size: int) -> None:
        """Begin again if this is another file than before, or has become shorter."""
        if file != self._file or size < self._offset:
            self._file, self._offset, self.lines = file, 0, []
            self.n_files += 1


def format_event(content: bytes, number: int | None = None) -> bytes:
    r"""Return a Server-Sent Event.

    >>> format_event(b'{"kind":"done"}', 3)
    b'id: 3\ndata: {"kind":"done"}\n\n'
    """
    head = b"" if number is None else b"id: %d\n" % number
    return head + b"data: " + content + b"\n\n"


class Feed:
    """The events of all runs for all tabs. All methods run in the thread of the event loop."""

    def __init__(self) -> None:
        self._tails: dict[Path, _Tail] = {}
        self._n_readers: dict[Path, int] = {}
        self._n_changes: dict[str, int] = {}  # of each list that notices are about
        self._changed = asyncio.Event()
        self._is_closed = False

    def wake(self, folder: Path) -> None:
        """Read the new events of a run that somebody follows, and send them."""
        if folder in self._tails:
            self._tails[folder].read()
            self._wake_all()

    def notify(self, kind: str) -> None:
        """Tell all tabs that a list has changed."""
        self._n_changes[kind] = self._n_changes.get(kind, 0) + 1
        self._wake_all()

    def close(self) -> None:
        """End all streams."""
        self._is_closed = True
        self._wake_all()

    def _wake_all(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def follow(self, folder: Path | None, after: int = 0) -> AsyncIterator[bytes]:
        """Yield the events of a run after a number, then new ones and notices, as they come."""
        seen, told = max(0, after), dict(self._n_changes)
        yield b": connected\n\n"
        with self._reading(folder) as tail:
            n_files = tail.n_files
            while not self._is_closed:
                changed, parts = self._changed, []
                if folder is not None and (seen > len(tail.lines) or n_files != tail.n_files):
                    if seen:  # of a file that is gone
                        parts.append(format_event(b'{"kind":"restart"}'))
                    seen, n_files = 0, tail.n_files
                fresh = tail.lines[seen:]
                parts += [format_event(line, seen + i + 1) for i, line in enumerate(fresh)]
                seen += len(fresh)
                for kind, n_changes in self._n_changes.items():
                    if told.get(kind) != n_changes:
                        parts.append(format_event(json.dumps({"kind": kind}).encode()))
                told = dict(self._n_changes)
                if parts:
                    yield b"".join(parts)
                elif not await _wait(changed):
                    yield b": still here\n\n"

    @contextlib.contextmanager
    def _reading(self, folder: Path | None) -> Iterator[_Tail]:
        """Keep the lines of a run while somebody reads them."""
        if folder is None:  # notices only
            yield _Tail(Path(os.devnull))
            return
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


async def _wait(changed: asyncio.Event) -> bool:
    """Wait for a change; return False if none came before the next heartbeat."""
    try:
        await asyncio.wait_for(changed.wait(), HEARTBEAT)
    except TimeoutError:
        return False
    return True
