"""The environment of an experiment: the machine and the package versions."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version

__all__ = ["describe_machine", "find_versions"]


def describe_machine() -> str:
    """Return the processor model and the number of cores."""
    return f"{_find_processor()}, {os.cpu_count()} cores"


def find_versions(*packages: str) -> dict[str, str]:
    """Return the versions of Python, coevo, numpy and further packages.

    >>> list(find_versions("no-such-package"))
    ['python', 'coevo', 'numpy', 'no-such-package']
    >>> find_versions("no-such-package")["no-such-package"]
    'not installed'
    """
    found = {"python": platform.python_version()}
    for package in ("coevo", "numpy", *packages):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def _find_processor() -> str:
    try:
        with open("/proc/cpuinfo") as lines:
            return next(line.split(":")[1].strip() for line in lines if "model name" in line)
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
