"""Compile all kernels once for a machine, in several processes.

The first search or command that calls a kernel finds the cache incomplete and compiles all
kernels, so that nothing is compiled later. Rooms with jobs of their own, which many users never
call, are compiled apart: tests of independence (``independence``), the repair of graphs in genetic
algorithms (``repair``), the posterior (``averaging``), proofs (``exact``), other problems than
networks (``problems``) and rows in shards (``outofcore``). ``coevo warmup`` compiles all of them
ahead. A marker in the folder of the cache says that a room is complete, so the check takes
milliseconds.

Each process compiles the kernels of one module at a time, or of a few modules that share parts,
and then asks for the next one. The processes are plain interpreters that import coevo and nothing
else, so the script of a user never runs again. They end when their input closes, even if this
process is killed. Where no process can start or the folder cannot be written, each kernel is
compiled on its first call.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import IO, ClassVar

import numba

from coevo import jit
from coevo.errors import FileError, WorkerError
from coevo.faster_numba import make_numba_faster
from coevo.kernel_cache import find_fault, has_warned, make_folder, warn_once
from coevo.threads import count_usable_cores

__all__ = [
    "COMPILING_MESSAGE",
    "INDEPENDENCE",
    "NETWORKS",
    "OUTOFCORE",
    "WarmUp",
    "announce_once",
    "compile_requested",
    "ensure_compiled",
    "find_room",
    "import_kernels",
    "is_complete",
    "is_jit_disabled",
    "list_groups",
    "warm_up",
]

COMPILING_MESSAGE = "Compiling kernels for this machine (once, about 10 s) ..."
PACKAGE = Path(__file__).parent
WORKER = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from coevo.warmup import compile_requested; compile_requested()"
)
MAX_PROCESSES = 3  # the first group takes nearly half of the time
UNSTORED = -1  # the answer of a process that cannot store its kernels
LONGEST_LOG, LONGEST_REASON = 1 << 20, 200  # what is read and shown of an error
MAX_WAIT = 300.0  # seconds for another process that compiles at the same time

NETWORKS = "networks"  # all kernels that are not in one of the next rooms
INDEPENDENCE = "independence"
REPAIR = "repair"
OUTOFCORE = "outofcore"
ROOMS = (NETWORKS, INDEPENDENCE, REPAIR, "averaging", "exact", "problems", OUTOFCORE)
ROOM_OF = {  # of modules inside other packages
    "coevo.score.independence_kernels": INDEPENDENCE,
    "coevo.search.repair_kernels": REPAIR,
}

# Modules with kernels that share parts, so that one process should compile them; then those that
# take longest, by measured time. Each other module follows by itself.
FIRST_GROUPS = (
    ("coevo.score.family_kernels", "coevo.missing.available_kernels"),
    ("coevo.search.perturbation_kernels", "coevo.search.order_kernels"),
    ("coevo.search.decode_kernels",),
    ("coevo.data.csv_kernels",),
    ("coevo.score.sparse_kernels",),
    ("coevo.missing.gibbs_kernels",),
    ("coevo.search.climb_kernels",),
)


@dataclass(frozen=True, slots=True)
class WarmUp:
    """What a warm-up did: all kernels, those that it compiled, its time, and their folder."""

    n_kernels: int
    n_compiled: int
    seconds: float
    folder: Path


def find_room(module: str) -> str:
    """Return the room that a module with kernels is compiled with.

    >>> find_room("coevo.problems.tour_kernels"), find_room("coevo.score.cache_kernels")
    ('problems', 'networks')
    """
    package = module.split(".")[1]
    return ROOM_OF.get(module, package if package in ROOMS else NETWORKS)


def list_groups(*rooms: str) -> list[tuple[str, ...]]:
    """Return the modules that declare the kernels of some rooms, in groups; imports none of them.

    Without a room, those of all rooms.
    """
    names = [
        ".".join(["coevo", *file.relative_to(PACKAGE).with_suffix("").parts])
        for file in jit.find_kernel_files()
    ]
    first = {name for group in FIRST_GROUPS for name in group}
    groups = [*FIRST_GROUPS, *((name,) for name in names if name not in first)]
    return [group for group in groups if not rooms or find_room(group[0]) in rooms]


def import_kernels(modules: Iterable[str] | None = None) -> list[jit.Kernel]:
    """Import modules with kernels, all if not told; return their kernels."""
    if modules is None:
        modules = [name for group in list_groups() for name in group]
    names = list(modules)
    for name in names:
        import_module(name)
    return [one for one in jit.KERNELS if one.__module__ in names]


def is_jit_disabled() -> bool:
    """Return whether kernels run as plain Python (``NUMBA_DISABLE_JIT``)."""
    return bool(numba.config.DISABLE_JIT)


def is_complete(room: str = NETWORKS) -> bool:
    """Return whether the cache holds all kernels of a room for this machine."""
    marker = _find_marker(room)
    return marker is not None and os.path.exists(marker)  # False in a folder of somebody else


def _find_marker(room: str) -> Path | None:
    folder = jit.find_compiled_code_folder()
    if folder is None:
        return None
    key = hashlib.sha256(jit.describe_target().encode()).hexdigest()[:16]
    return folder / f"complete-{room}-{key}"


class _State:
    """The rooms whose kernels this process has looked for in the cache."""

    lock = threading.Lock()
    checked: ClassVar[set[str]] = set()
    is_announced: ClassVar[bool] = False


def announce_once(show: Callable[[str], object]) -> None:
    """Show that kernels are compiled, unless this process has said so before.

    A command opens several displays, and a script may compile one room after another; "once" is to
    be read once.
    """
    if not _State.is_announced:
        _State.is_announced = True
        show(COMPILING_MESSAGE)


def ensure_compiled(*rooms: str) -> None:
    """Compile all kernels of some rooms unless the cache holds them; say so in one line.

    Without a room, those for networks. Call this before a clock starts. If the kernels cannot be
    stored, do nothing: each is then compiled on its first call.
    """
    with _State.lock:
        new = [room for room in rooms or (NETWORKS,) if room not in _State.checked]
        if is_jit_disabled():
            return
        _State.checked.update(new)  # whatever happens: nothing is tried twice
        lacking = [room for room in new if not is_complete(room)]
        if not lacking or not _can_start_processes():
            return
        try:
            _warm_up(lacking, jit.get_announcer() or _print_message)
        except FileError as error:
            warn_once(str(error))
        except (OSError, WorkerError):
            pass


def _print_message() -> None:
    announce_once(lambda message: print(message, file=sys.stderr, flush=True))


def _can_start_processes() -> bool:
    """Return whether ``sys.executable`` is a Python interpreter."""
    return bool(sys.executable) and not getattr(sys, "frozen", False)


def warm_up(announce: Callable[[], None] = lambda: None) -> WarmUp:
    """Compile all kernels of all rooms that the cache lacks; call `announce` if there are any.

    Raises
    ------
    FileError
        If the folder of the cache cannot be written.
    WorkerError
        If a process ended before its kernels were compiled.
    """
    began = time.perf_counter()
    rooms = [room for room in ROOMS if not is_complete(room)]
    n_compiled = _warm_up(rooms, announce) if rooms else 0
    folder = jit.find_compiled_code_folder()
    assert folder is not None
    seconds = time.perf_counter() - began
    return WarmUp(len(import_kernels()), n_compiled, seconds, folder)


def _warm_up(rooms: Sequence[str], announce: Callable[[], None]) -> int:
    """Compile what the cache lacks of some rooms and write their markers.

    Return how many kernels were compiled: zero if another process did the work.
    """
    markers = [marker for room in rooms if (marker := _find_marker(room)) is not None]
    marker = markers[0] if markers else None
    _check_folder(None if marker is None else marker.parent)
    assert marker is not None
    announce()
    with _lock(marker):
        if all(os.path.exists(one) for one in markers):  # another process was faster
            return 0
        groups = list_groups(*rooms)
        counts, reason = _compile_in_processes(groups)
        if (0, UNSTORED) in counts:
            raise _make_folder_error(marker.parent)
        if len(counts) < len(groups):
            raise WorkerError(
                f"{len(groups) - len(counts)} of {len(groups)} groups of kernels were not "
                f"compiled, because {reason}. Other commands compile these kernels when they "
                "need them."
            )
        for one in markers:
            one.touch()
        return sum(n for _, n in counts)


def _check_folder(folder: Path | None) -> None:
    """Make the folder of the cache; raise `FileError` if it cannot be written."""
    try:
        if folder is None:
            raise OSError
        make_folder(folder)
        fault = find_fault(folder)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError:
        raise _make_folder_error(folder) from None
    if fault:
        raise FileError(
            f"{str(folder)!r} cannot hold compiled kernels, because {fault}. Set COEVO_CACHE_DIR "
            "to a folder of your own."
        )


def _make_folder_error(folder: Path | None) -> FileError:
    place = f"{str(folder)!r} is not writable, or its disk is full"
    return FileError(
        f"{'There is no home folder' if folder is None else place}, so compiled kernels cannot be "
        "stored. Set COEVO_CACHE_DIR to a folder that is writable."
    )


@contextlib.contextmanager
def _lock(marker: Path) -> Iterator[None]:
    """Wait until no other process compiles: until its lock ends or it has written the marker.

    The operating system releases the lock when its holder ends. After `MAX_WAIT` seconds, or if
    the file system has no locks, continue without it. Then two processes may do the same work,
    and no result is wrong.
    """
    with open(marker.with_suffix(".lock"), "ab") as file:
        deadline = time.monotonic() + MAX_WAIT
        while not _try_lock(file) and time.monotonic() < deadline and not os.path.exists(marker):
            time.sleep(0.1)
        yield


def _try_lock(file: IO[bytes]) -> bool:
    """Return whether this process holds the lock now."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _compile_in_processes(groups: Iterable[tuple[str, ...]]) -> tuple[list[tuple[int, int]], str]:
    """Compile the kernels of all groups; return how many each group has and compiled.

    Return also why a process ended, if one did.
    """
    with tempfile.TemporaryFile() as errors:
        return _compile_and_log(groups, errors)


def _compile_and_log(
    groups: Iterable[tuple[str, ...]], errors: IO[bytes]
) -> tuple[list[tuple[int, int]], str]:
    counts = list[tuple[int, int]]()
    waiting = deque(groups)
    n = min(max(1, count_usable_cores()), MAX_PROCESSES)
    processes = [_start_process(errors) for _ in range(n)]
    try:
        threads = [
            threading.Thread(target=_feed, args=(process, waiting, counts), daemon=True)
            for process in processes
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                thread.join(0.5)  # a wait without a limit would defer Ctrl-C on Windows
        ended = [process.poll() for process in processes]
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            process.communicate()
    return counts, _describe_end(ended, errors)


def _describe_end(codes: Sequence[int | None], errors: IO[bytes]) -> str:
    """Return why a process ended: its signal, else the last line that it wrote to stderr."""
    killed = [-code for code in codes if code is not None and code < 0]
    if killed:
        name = signal.Signals(killed[0]).name if killed[0] in set(signal.Signals) else killed[0]
        cause = ", as happens when the memory is full" if name == "SIGKILL" else ""
        return f"a process was ended by {name}{cause}"
    errors.seek(0)
    lines = errors.read(LONGEST_LOG).decode("utf-8", "replace").strip().splitlines()
    reason = lines[-1].strip().rstrip(".")[:LONGEST_REASON] if lines else "no reason is known"
    return f"a process ended early ({reason})"


def _start_process(errors: IO[bytes]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-P", "-c", WORKER, str(PACKAGE.parent)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        text=True,
    )


def _feed(
    process: subprocess.Popen[str],
    waiting: deque[tuple[str, ...]],
    counts: list[tuple[int, int]],
) -> None:
    """Give one group after another to a process, until none is left or the process ends."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        while True:
            print(*waiting.popleft(), file=process.stdin, flush=True)
            n_kernels, n_compiled = map(int, process.stdout.readline().split())
            counts.append((n_kernels, n_compiled))
    except IndexError:
        pass  # none is left
    except (OSError, ValueError):
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(5.0)  # its exit code tells why it ended


def compile_requested() -> None:
    """Compile the kernels of the modules that stdin names, one group on each line.

    Answer each line with the number of kernels and the number of those that were compiled, and end
    if they cannot be stored.
    """
    for name in ("SIGINT", "SIGHUP"):  # the process that started this one handles them
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    gc.disable()  # it takes a tenth of the time, and there is little garbage
    make_numba_faster()
    _empty_packages()
    lines = queue.SimpleQueue[str]()
    threading.Thread(target=_read_lines, args=(lines,), daemon=True).start()
    while True:
        line = lines.get()
        kernels = import_kernels(line.split())
        n_compiled = sum(one.load() > 0 for one in kernels)
        print(*((0, UNSTORED) if has_warned() else (len(kernels), n_compiled)), flush=True)
        if has_warned():
            return


def _empty_packages() -> None:
    """Let the packages around the kernels import nothing.

    Kernels need other kernels and `coevo.jit` only. The packages import hundreds of modules.
    """
    for folder in {file.parent for file in jit.find_kernel_files()} - {PACKAGE}:
        name = ".".join(["coevo", *folder.relative_to(PACKAGE).parts])
        sys.modules[name] = package = ModuleType(name)
        package.__path__ = [str(folder)]


def _read_lines(lines: queue.SimpleQueue[str]) -> None:
    """Put the lines of stdin into a queue; end the process with the one that writes them."""
    for line in sys.stdin:
        lines.put(line)
    os._exit(0)
