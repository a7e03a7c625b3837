"""Functions that the benchmarks share: random families, timing, and the description of a run."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from coevo import __version__
from coevo.experiments.experiment import describe_machine, find_versions

__all__ = [
    "Family",
    "Task",
    "add_output_options",
    "describe_run",
    "draw_families",
    "measure_least_seconds",
    "print_json",
    "replace_block",
    "show_table",
]

HERE = Path(__file__).parent
README = HERE / "README.md"

Task = Callable[[], object]
Family = tuple[int, tuple[int, ...]]  # child, parents ascending


def draw_families(n_variables: int, n: int, max_parents: int, seed: int) -> list[Family]:
    """Return n distinct families; the number of parents is drawn uniformly from 0 to the maximum.

    There are few families with no parent or one parent, so a long list has more larger families.
    """
    rng = random.Random(seed)
    families: dict[Family, None] = {}
    while len(families) < n:
        child, *parents = rng.sample(range(n_variables), rng.randint(0, max_parents) + 1)
        families[child, tuple(sorted(parents))] = None
    return list(families)


def measure_least_seconds(
    makers: Mapping[str, Callable[[], Task]], repeats: int
) -> dict[str, float]:
    """Return the least CPU time of each task, in seconds. Making a task is not timed.

    The tasks take turns, so that other load on the machine affects all of them alike.
    """
    least = dict.fromkeys(makers, float("inf"))
    for _ in range(repeats):
        for name, make in makers.items():
            run_task = make()
            began = time.process_time()
            run_task()
            least[name] = min(least[name], time.process_time() - began)
    return least


def describe_run(*packages: str) -> dict[str, Any]:
    """Return the machine, the versions and the command of this run."""
    return {
        "command": " ".join([os.path.relpath(sys.argv[0]), *sys.argv[1:]]),
        "machine": describe_machine(),
        "versions": find_versions(*packages),
    }


def print_json(answer: dict[str, Any]) -> None:
    """Print one JSON object."""
    print(json.dumps(answer, indent=2))


def describe_measurement() -> str:
    """Return the line that dates measured figures; `scripts/stale_figures.py` reads it."""
    run = subprocess.run(
        ["git", "-C", str(HERE), "rev-parse", "--short=7", "HEAD"], capture_output=True, text=True
    )
    commit = run.stdout.strip() or "0000000"
    return f"*Measured {datetime.now(UTC):%Y-%m-%d}, coevo {__version__}, commit {commit}.*"


def replace_block(path: Path, name: str, text: str) -> None:
    """Replace the text between the two comments called `name` in a Markdown file, and date it."""
    begin, end = f"<!-- {name}: made by the command below it -->", f"<!-- end of {name} -->"
    page = path.read_text(encoding="utf-8")
    before, rest = page.split(begin)
    after = rest.split(end)[1]
    dated = f"{text.strip()}\n\n{describe_measurement()}"
    path.write_text(f"{before}{begin}\n{dated}\n{end}{after}", encoding="utf-8")


def add_output_options(parser: ArgumentParser, block: str) -> None:
    """Add the options of `show_table`; `block` is the name of the table in benchmarks/README.md."""
    parser.add_argument(
        "--write", action="store_true", help="replace the table of benchmarks/README.md"
    )
    parser.add_argument("--block", default=block, help=f"name of that table (default: {block})")
    parser.add_argument("--format", choices=["text", "json"], default="text")


def show_table(table: str, answer: dict[str, Any], options: Namespace) -> None:
    """Print a table, or the answer as JSON; with ``--write``, replace the table of the README."""
    if options.write:
        replace_block(README, options.block, table)
    if options.format == "json":
        print_json(answer)
    else:
        print(table)
