r"""Measure commands and small tasks beside another version of coevo, each in its own environment.

The two versions take turns, so that other load on the machine affects both alike. Each task runs
in a process of its own; its figure is the least number of CPU seconds, with the start of Python.

    git worktree add ../before b2369b0      the last commit before the engine
    (cd ../before && make demo)             its environment
    python benchmarks/engine.py --before ../before/.venv/bin/python --sizes --write
    python benchmarks/engine.py --before ../before/.venv/bin/python --tables DIR

`--tables` is a folder of CSV files: `coevo learn` on each of them, too. ``--sizes`` installs both
versions into empty environments at the end; it needs the packages of the index.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from harness import add_output_options, describe_run, show_table

ROOT = Path(__file__).resolve().parents[1]
VERSIONS = ("before", "now")

# Python's own start, NumPy's import, and the tasks of a user.
TASKS = {
    "start of Python": ["-c", "pass"],
    "import numpy": ["-c", "import numpy"],
    "import coevo; coevo.learn": ["-c", "import coevo; coevo.learn"],
    "coevo --version": ["-m", "coevo", "--version"],
    "coevo query RUN lung": ["-m", "coevo", "query", "{run}", "lung"],
    "coevo learn asia.csv": ["-m", "coevo", "learn", "{table}"],
    "coevo learn asia.csv -o RUN": ["-m", "coevo", "learn", "{table}", "-o", "{folder}/run"],
    "from Python: read asia.csv, learn": [
        "-c",
        "import coevo; coevo.learn({table!r}, bootstraps=0, random_state=0)",
    ],
}


def measure_process(command: list[str], folder: str) -> float:
    """Return the CPU seconds of a process and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPATH": ""}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure_task(
    arguments: list[str], pythons: dict[str, str], names: dict[str, str], repeats: int
) -> dict[str, float]:
    """Return the least CPU seconds of a task in each version. The first round is not counted."""
    least = dict.fromkeys(VERSIONS, float("inf"))
    for round_number in range(repeats + 1):
        for version, python in pythons.items():
            with tempfile.TemporaryDirectory() as folder:
                command = [python, *(part.format(folder=folder, **names) for part in arguments)]
                seconds = measure_process(command, folder)
            if round_number:
                least[version] = min(least[version], seconds)
    return least


def list_tasks(tables: Path | None) -> Iterator[tuple[str, list[str]]]:
    """Yield the name and the arguments of each task."""
    yield from TASKS.items()
    for table in sorted(tables.resolve().glob("*.csv*")) if tables else []:
        path = str(table).replace("{", "{{").replace("}", "}}")  # a task is a format
        yield f"coevo learn {table.name}", ["-m", "coevo", "learn", path, "-j", "1"]


def measure_sizes(pythons: dict[str, str]) -> dict[str, float]:
    """Return the megabytes of an environment with nothing but coevo, less an empty one."""
    sizes = {}
    for version, python in pythons.items():
        source = ROOT if version == "now" else Path(python).parents[2]
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, "-m", "venv", folder], check=True)
            empty = sum_sizes(Path(folder))
            pip = [f"{folder}/bin/python", "-m", "pip", "install", "--quiet", str(source)]
            subprocess.run(pip, check=True, stderr=subprocess.DEVNULL)
            sizes[version] = (sum_sizes(Path(folder)) - empty) / 1e6
    return sizes


def sum_sizes(folder: Path) -> int:
    """Return the bytes of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def main() -> None:
    """Measure and print the table."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--before", required=True, help="Python of the environment before.")
    parser.add_argument("--now", default=sys.executable, help="Python of this version.")
    parser.add_argument("--tables", type=Path, help="Folder of CSV files to learn from.")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--sizes", action="store_true", help="Measure installed sizes, too.")
    add_output_options(parser, "engine")
    options = parser.parse_args()
    pythons = {
        version: os.path.abspath(path)
        for version, path in zip(VERSIONS, (options.before, options.now), strict=True)
    }
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        names = {"table": f"{folder}/asia.csv", "run": f"{folder}/asked"}
        for arguments in (
            ["sample", "asia", "--rows", "500", "-o", names["table"]],
            ["learn", names["table"], "-o", names["run"]],
        ):
            measure_process([pythons["now"], "-m", "coevo", *arguments], folder)
        for name, arguments in list_tasks(options.tables):
            rows.append((name, measure_task(arguments, pythons, names, options.repeats)))
            print(rows[-1], file=sys.stderr)
    facts = describe_run("numpy")
    lines = [
        f"Least CPU seconds of {options.repeats} processes, in turns, with the start of Python "
        f"({facts['machine']}). asia.csv has 500 rows.",
        "",
        "| task | before | now | now / before |",
        "|---|---:|---:|---:|",
    ]
    for name, seconds in rows:
        before, now = seconds["before"], seconds["now"]
        lines.append(f"| `{name}` | {before:.2f} | {now:.2f} | {now / before:.2f} |")
    if options.sizes:
        sizes = measure_sizes(pythons)
        lines.append(
            f"| installed, MB | {sizes['before']:.0f} | {sizes['now']:.0f} "
            f"| {sizes['now'] / sizes['before']:.2f} |"
        )
        facts["sizes"] = sizes
    show_table("\n".join(lines), {**facts, "rows": rows}, options)


if __name__ == "__main__":
    main()
