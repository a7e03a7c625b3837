"""Measure the time to compile: an empty cache, then ten varied commands, then the same again.

Each command is a process of its own. The first pass begins with an empty cache, so its first
command compiles all kernels. Wall and CPU time include the start of Python and all processes that
a command starts. `compiled` is the number of kernels that the cache gained.

    python benchmarks/warmup.py
    python benchmarks/warmup.py --write    also replace the table of benchmarks/README.md
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from harness import describe_run, replace_block

HERE = Path(__file__).parent
FEW = ("--max-generations", "2")


class Measured(NamedTuple):
    """The time of one command, in seconds, and what it added to the cache."""

    wall: float
    cpu: float
    compiled: int


def write_tables(folder: Path) -> None:
    """Write a table with 300 states and one with missing values."""
    rows = [f"s{i % 300},{i % 2},{i % 3},{i * 7919 % 1000 / 10}" for i in range(3000)]
    (folder / "wide.csv").write_text("\n".join(["a,b,c,x", *rows, ""]))
    rows = [
        f"{'' if i % 7 == 0 else i % 2},{i % 3},{'' if i % 11 == 0 else i % 5 // 2}"
        for i in range(1000)
    ]
    (folder / "holes.csv").write_text("\n".join(["a,b,c", *rows, ""]))


def list_commands() -> list[Sequence[str]]:
    """Return ten commands that differ in method, score, table and policy."""
    return [
        ["learn", "--example", "alarm", "--rows", "5000", *FEW, "-o", "run"],
        ["sample", "asia", "--rows", "100000", "-o", "asia.csv"],
        ["learn", "asia.csv", "-m", "hill_climb", "-s", "bic"],
        ["learn", "asia.csv", "-m", "ccga", "-s", "k2", *FEW],
        ["learn", "wide.csv", "-s", "bds", *FEW],
        ["learn", "wide.csv", "-m", "k2", "-s", "loglik"],
        ["learn", "holes.csv", "--missing", "evolve", *FEW],
        ["learn", "holes.csv", "--missing", "available", "-m", "tabu"],
        ["strength", "asia.csv", "--bootstraps", "2", "-j", "2", *FEW],
        ["query", "run/model.bif", "HR"],
    ]


def measure_command(arguments: Sequence[str], folder: Path, cache: Path) -> Measured:
    """Run a command in a folder; return its time."""
    environment = {**os.environ, "COEVO_CACHE_DIR": str(cache)}
    n_before, before = _count_kernels(cache), resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "coevo", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    wall = time.perf_counter() - began
    if done.returncode:
        sys.exit(f"coevo {' '.join(arguments)} failed: {done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Measured(wall, cpu, _count_kernels(cache) - n_before)


def _count_kernels(cache: Path) -> int:
    return len(list(cache.rglob("*.nbc")))


def make_table(commands: list[Sequence[str]], passes: list[list[Measured]]) -> list[str]:
    """Return the lines of the table."""
    lines = [
        "| command | cold: wall, s | CPU, s | compiled | warm: wall, s | CPU, s | compiled |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for arguments, cold, warm in zip(commands, *passes, strict=True):
        times = (f"{one.wall:.1f} | {one.cpu:.1f} | {one.compiled}" for one in (cold, warm))
        lines.append(f"| `{' '.join(arguments)}` | {' | '.join(times)} |")
    return lines


def main() -> None:
    """Run the benchmark and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="replace the table of README.md")
    options = parser.parse_args()
    commands = list_commands()
    with tempfile.TemporaryDirectory() as name:
        folder, cache = Path(name), Path(name) / "cache"
        write_tables(folder)
        passes = [
            [measure_command(arguments, folder, cache) for arguments in commands] for _ in range(2)
        ]
    machine = describe_run("numba")
    caption = f"An empty cache, then the same commands again ({machine['machine']}):"
    lines = [caption, "", *make_table(commands, passes)]
    print("\n".join(lines))
    if options.write:
        replace_block(HERE / "README.md", "warm-up", "\n".join(lines))


if __name__ == "__main__":
    main()
