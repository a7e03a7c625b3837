"""What all experiments share: data sets and their seeds, the runs of a folder, and its files.

An experiment is a plan (networks, numbers of rows, runs), a journal of its runs in a folder, and
tables, figures and a README that are written when all runs are done. The runs that the folder lacks
are done on processes or a cluster, so that the same call resumes an interrupted experiment.

A seed is derived from names and numbers, never from a position in a list. So runs and data sets
can be added, left out or distributed over processes without changing any other.
"""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from coevo.bundled import list_networks, open_network
from coevo.checks import is_int
from coevo.errors import ParameterError, bad_parameter, find_duplicate
from coevo.io import check_run_folder, format_bif
from coevo.io.journal import Journal, JournalRecord, RunCallback
from coevo.parallel import Cluster, Workers, check_workers, open_workers
from coevo.runtime.deadline import defer_interrupts
from coevo.runtime.randomness import random_stream
from coevo.view.figures import ReportTable, require_matplotlib

__all__ = [
    "ExperimentResult",
    "check_data_sources",
    "check_experiment",
    "check_no_repeats",
    "derive_seed",
    "describe_machine",
    "find_versions",
    "format_file_list",
    "hash_networks",
    "make_figure_stem",
    "make_file_name",
    "make_numbers_table",
    "run_missing_jobs",
]


def derive_seed(seed: int, *key: str | int) -> int:
    """Return the seed of a data set or a run. It has 32 bits, so people can type it.

    >>> derive_seed(0, "alarm", 1000) == derive_seed(0, "alarm", 1000)
    True
    """
    numbers = [
        part
        if isinstance(part, int)
        else int.from_bytes(hashlib.sha256(part.encode()).digest()[:8], "big")
        for part in key
    ]
    return int(random_stream(seed, *numbers).integers(2**32))


def hash_networks(networks: Sequence[str]) -> dict[str, str]:
    """Return a hash of the content of each network that is a file. A version has all the others.

    >>> hash_networks(["alarm"])
    {}
    """
    files = [name for name in networks if name not in list_networks()]
    return {
        name: hashlib.sha256(format_bif(open_network(name)).encode()).hexdigest()[:32]
        for name in files
    }


def check_data_sources(owner: str, networks: Sequence[str], rows: Sequence[int]) -> None:
    """Raise `ParameterError` unless these are valid networks and sizes of data sets."""
    if not rows or not all(is_int(n, 1) for n in rows):
        raise bad_parameter("rows", owner, "ints >= 1", rows)
    check_no_repeats(owner, networks=networks, rows=[str(n) for n in rows])
    if not networks:
        raise bad_parameter("networks", owner, "names of networks", networks)


def check_no_repeats(owner: str, **lists: Sequence[str]) -> None:
    """Raise `ParameterError` if a list has an item twice."""
    for name, values in lists.items():
        repeated = find_duplicate(values)
        if repeated is not None:
            raise ParameterError(f"{name!r} of {owner} names {repeated} twice.")


def make_file_name(network: str) -> str:
    """Return a valid file name for a bundled network or a BIF file.

    >>> make_file_name("alarm"), make_file_name("../my networks/one.bif")
    ('alarm', 'my-networks-one.bif')
    """
    safe = "".join(c if c.isalnum() or c in "-_." else "-" for c in network)
    return safe.strip("-.")


def describe_machine() -> str:
    """Return the processor model and the number of cores."""
    try:
        with open("/proc/cpuinfo") as lines:
            model = next(line.split(":")[1].strip() for line in lines if "model name" in line)
    except (OSError, StopIteration):  # not Linux, or a processor that does not say its model
        model = platform.processor() or platform.machine()
    return f"{model}, {os.cpu_count()} cores"


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


def check_experiment(
    owner: str,
    networks: Iterable[str],
    folder: Path,
    n_jobs: int,
    figures: bool,
    cluster: Cluster = None,
) -> None:
    """Raise an error unless the networks, the folder and the workers are usable. Write nothing."""
    check_workers(owner, n_jobs, cluster)
    if figures:
        require_matplotlib()
    for network in networks:
        open_network(network)
    check_run_folder(folder)


class ExperimentJob(Protocol):
    """One run of an experiment; `key` is the key of its record."""

    @property
    def key(self) -> tuple[Any, ...]:
        """The values that identify the run among the runs of the experiment."""


class Summary(Protocol):
    """The numbers of one row of the tables."""

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers, as ``--format json`` prints them."""


Job = TypeVar("Job", bound=ExperimentJob)
Record = TypeVar("Record", bound=JournalRecord)
SummaryT = TypeVar("SummaryT", bound=Summary)


@dataclass(frozen=True)
class ExperimentResult(Generic[SummaryT]):
    """The result of an experiment. `summaries` is empty after an interrupt."""

    summaries: tuple[SummaryT, ...]
    n_done: int
    n_runs: int

    @property
    def is_complete(self) -> bool:
        """Whether every run is done."""
        return self.n_done == self.n_runs


def run_missing_jobs(
    jobs: Sequence[Job],
    journal: Journal[Record],
    run_all: Callable[[Workers, list[Job], Callable[[], bool]], Iterator[Record]],
    n_jobs: int,
    cluster: Cluster,
    on_run: RunCallback[Record],
    on_interrupt: Callable[[], object],
) -> list[Record]:
    """Do the jobs that the journal lacks, save each when it ends; return the records of all.

    `run_all` does jobs on workers until its last argument returns True, which is after Ctrl-C: the
    running jobs then finish and are saved, and fewer records than jobs are returned.
    """
    missing = [job for job in jobs if job.key not in journal.records]
    if missing:
        with open_workers(n_jobs, cluster) as workers, defer_interrupts(on_interrupt) as interrupts:
            runs = run_all(workers, missing, lambda: interrupts.is_pending)
            journal.save_runs(runs, len(jobs) - len(missing), len(jobs), on_run)
    return [journal.records[job.key] for job in jobs if job.key in journal.records]


def make_numbers_table(
    summaries: Sequence[Summary], timed: tuple[str, ...] = (), n_labels: int = 1
) -> ReportTable:
    """Return one row a summary, in full precision, without the columns that hold times."""
    records = [summary.as_dict() for summary in summaries]
    names = [name for name in records[0] if name not in timed]
    rows = [["" if r[name] is None else str(r[name]) for name in names] for r in records]
    return ReportTable(names, rows, n_labels=n_labels)


def make_figure_stem(kind: str, network: str) -> str:
    """Return the file name of a figure of one kind about a network, without its suffix."""
    return f"figure-{kind}-{make_file_name(network)}"


def format_file_list(
    lines: Sequence[str], has_figures: bool, samples: Sequence[tuple[str, int, int, str]]
) -> str:
    """Return the section of a README that lists the files, and how to sample the rows again.

    A sample is (network, rows, seed, name of the file without ``.csv``).
    """
    listed = ["## Files\n", *lines]
    if has_figures:
        listed.append("- `figure-*`: the figures above, in PNG and SVG.")
    if samples:
        listed.append("\nThese commands sample the data sets again:\n")
    listed += [
        f"    coevo sample {network} --rows {rows} --seed {seed} -o {name}.csv"
        for network, rows, seed, name in samples
    ]
    return "\n".join(listed) + "\n"
