"""What the benchmarks share: random families, the clock, and the stamp of a run."""

from __future__ import annotations

import json
import os
import random
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from coevo.experiments.environment import machine, versions

__all__ = [
    "Family",
    "Run",
    "best_seconds",
    "print_json",
    "random_families",
    "rewrite",
    "stamp",
]

Run = Callable[[], object]
Family = tuple[int, tuple[int, ...]]  # child, parents ascending


def random_families(n_variables: int, n: int, max_parents: int, seed: int) -> list[Family]:
    """Return n distinct families, the number of parents drawn evenly from 0 to the most.

    Few families have no parent or one, so that a long list has more of the larger ones.
    """
    rng = random.Random(seed)
    families: dict[Family, None] = {}
    while len(families) < n:
        child, *parents = rng.sample(range(n_variables), rng.randint(0, max_parents) + 1)
        families[child, tuple(sorted(parents))] = None
    return list(families)


def best_seconds(makers: Mapping[str, Callable[[], Run]], repeats: int) -> dict[str, float]:
    """Return the least CPU time of each run, in seconds; making it is not timed.

    The runs take turns, so that a busy moment of the machine hits all of them alike.
    """
    best = dict.fromkeys(makers, float("inf"))
    for _ in range(repeats):
        for name, make in makers.items():
            run = make()
            began = time.process_time()
            run()
            best[name] = min(best[name], time.process_time() - began)
    return best


def stamp(*packages: str) -> dict[str, Any]:
    """Return the machine, the versions and the command of this run."""
    return {
        "command": " ".join([os.path.relpath(sys.argv[0]), *sys.argv[1:]]),
        "machine": machine(),
        "versions": versions(*packages),
    }


def print_json(answer: dict[str, Any]) -> None:
    """Print one JSON object."""
    print(json.dumps(answer, indent=2))


def rewrite(path: Path, name: str, text: str) -> None:
    """Put `text` between the markers called `name` in a Markdown file."""
    begin, end = f"<!-- {name}: made by the command below it -->", f"<!-- end of {name} -->"
    page = path.read_text(encoding="utf-8")
    before, rest = page.split(begin)
    after = rest.split(end)[1]
    path.write_text(f"{before}{begin}\n{text.strip()}\n{end}{after}", encoding="utf-8")
