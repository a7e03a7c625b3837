"""Worker processes do not run the script of the user, unless their jobs need it.

A fresh process of `multiprocessing` imports the main module of its parent. A script without
``if __name__ == "__main__":`` would start its work in every worker. The jobs of coevo have their
own modules, so the main module is left out. Only a job that holds a function or a class of the
script itself, such as a method of the user, needs it.
"""

from __future__ import annotations

import contextlib
import pickle
import threading
from collections.abc import Iterator
from multiprocessing import spawn
from typing import Any

__all__ = ["leave_main_out", "needs_main"]

MAIN_MODULE = b"__main__"
MAIN_FACTS = ("init_main_from_name", "init_main_from_path")
_LOCK = threading.Lock()


class _Finder:
    """A file that keeps nothing, and remembers whether the name of the main module was written."""

    has_found = False

    def write(self, text: bytes) -> int:
        self.has_found |= MAIN_MODULE in bytes(text)
        return len(text)


def needs_main(*values: Any) -> bool:
    """Return whether values hold something of the main module; True if they cannot be pickled.

    >>> needs_main(len, [1, 2])
    False
    """
    finder = _Finder()
    try:
        pickle.Pickler(finder).dump(values)
    except Exception:  # whatever the classes of users raise; it is raised again by the processes
        return True
    return finder.has_found


@contextlib.contextmanager
def leave_main_out() -> Iterator[None]:
    """Start processes without the main module, those that this thread starts in the block."""
    with _LOCK:
        original, here = spawn.get_preparation_data, threading.get_ident()

        def prepare(name: str) -> dict[str, Any]:
            facts: dict[str, Any] = original(name)
            if threading.get_ident() == here:
                facts = {key: fact for key, fact in facts.items() if key not in MAIN_FACTS}
            return facts

        spawn.get_preparation_data = prepare
        try:
            yield
        finally:
            spawn.get_preparation_data = original
