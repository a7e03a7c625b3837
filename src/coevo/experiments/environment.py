"""Where and with what an experiment was made: the machine and the versions."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version

__all__ = ["machine", "versions"]


def machine() -> str:
    """Return the processor and how many cores there are."""
    return f"{_processor()}, {os.cpu_count()} cores"


def versions(*packages: str) -> dict[str, str]:
    """Return the versions of Python, of what coevo computes with, and of further packages.

    >>> list(versions("no-such-package"))
    ['python', 'coevo', 'numpy', 'numba', 'no-such-package']
    >>> versions("no-such-package")["no-such-package"]
    'not installed'
    """
    found = {"python": platform.python_version()}
    for package in ("coevo", "numpy", "numba", *packages):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as lines:
            return next(line.split(":")[1].strip() for line in lines if "model name" in line)
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
