"""What a second worker buys, for runs and for rows, and what many would.

    runs    CCGA runs of `coevo paper` on Alarm, on 1 and on 2 workers of one thread
    rows    one batch of families over a Parquet file in shards on 1 and on 2 workers, for
            several numbers of rows

Workers are processes of this machine (``local:N``). One and two take turns, five times, and of
each the fastest counts, because what else the machine does only ever adds; ``speedup_machine``
is what two processes get that share nothing. From the costs that are measured follows what
10^9 rows would take on 10, 100 and 1,000 workers: counting shrinks with the workers, while the
scheduler's part of a round trip grows with them.

Memory is the most that a worker ever took, less what one takes that has loaded the kernels
and seen no row; beside it stand the codes of the whole table, at a byte a cell.

    python benchmarks/scale_out.py --rows 2000000 --folder /tmp      a few minutes
    python benchmarks/scale_out.py --format json                     as the issue asks
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo import FamilyBatch, ShardedScorer, load_network, open_shards, sample
from coevo.experiments.paper.plan import Paper
from coevo.experiments.paper.runs import load_kernels, run_one
from coevo.outofcore.cluster_shards import ADDED_AT_ONCE, GROUPS_A_THREAD
from coevo.outofcore.family_counts import (
    CELLS_PER_BATCH,
    add_counts,
    split_into_batches,
    table_offsets,
)
from coevo.outofcore.shards import Shards
from coevo.parallel import open_workers
from coevo.parallel.dask_jobs import DaskWorkers
from coevo.score import FamilyScorer
from coevo.score.counting import dense_limit
from coevo.threads import Threads
from harness import print_json, random_families, stamp

ROWS_A_PART = 500_000  # of the Parquet file, drawn at once
REPEATS = 5
LOOP = "total = 0\nfor i in range(30_000_000): total += i * i & 7"
MAX_PARENTS = 4
BILLION = 10**9


@contextmanager
def cluster(n_workers: int) -> Iterator[DaskWorkers]:
    """Yield workers that have loaded what they need."""
    with open_workers(cluster=f"local:{n_workers}") as workers:
        assert isinstance(workers, DaskWorkers)
        workers.client.run(load_kernels)
        yield workers


def by_turns(*work: Callable[[], Any]) -> tuple[list[list[float]], list[Any]]:
    """Return the seconds that each work took, and what it returned last.

    They take turns, so that what else the machine does meets all of them.
    """
    seconds: list[list[float]] = [[] for _ in work]
    found: list[Any] = [None for _ in work]
    for _ in range(REPEATS):
        for i, one in enumerate(work):
            began = time.perf_counter()
            found[i] = one()
            seconds[i].append(round(time.perf_counter() - began, 3))
    return seconds, found


def speedup(seconds: list[list[float]]) -> float:
    """Return how much faster the second work was, each at its fastest."""
    return round(min(seconds[0]) / min(seconds[1]), 3)


def seconds_of_loops() -> list[list[float]]:
    """Return what one and two processes take that share nothing: all that can be had here."""

    def in_processes(n: int) -> None:
        running = [subprocess.Popen([sys.executable, "-c", LOOP]) for _ in range(n)]
        for process in running:
            process.wait()

    return by_turns(lambda: in_processes(1), lambda: in_processes(2))[0]


def seconds_of_runs(n_runs: int, generations: int) -> list[list[float]]:
    """Return how long the runs took on one and on two workers."""
    paper = Paper(networks=("alarm",), rows=(1000,), runs=n_runs, generations=generations)
    jobs = [job for job in paper.jobs() if job.algorithm == "ccga"]
    with cluster(1) as one, cluster(2) as two:
        for workers in (one, two):
            list(workers.run(run_one, jobs[: 2 * workers.n_threads]))  # each has the data

        def runs(workers: DaskWorkers) -> list[float]:
            return sorted(record.score for record in workers.run(run_one, jobs))

        seconds, found = by_turns(lambda: runs(one), lambda: runs(two))
    assert found[0] == found[1], "two workers found something else"
    return seconds


def write_table(folder: Path, rows: int) -> Path:
    """Write rows of Alarm as Parquet, a part at a time; return the folder of the parts."""
    from coevo.data import write_data

    target = folder / f"alarm-{rows}"
    target.mkdir(exist_ok=True)
    network = load_network("alarm")
    for number, first in enumerate(range(0, rows, ROWS_A_PART)):
        path = target / f"part-{number:04}.parquet"
        if not path.exists():
            write_data(sample(network, min(ROWS_A_PART, rows - first), number), path)
    return target


def measure_rows(source: Path, batch: FamilyBatch) -> list[dict[str, Any]]:
    """Measure one batch over the rows, on one and on two workers."""
    with ExitStack() as opened:
        tables = [Rows(opened, source, n, batch) for n in (1, 2)]
        seconds, scores = by_turns(*(table.scored for table in tables))
        assert scores[0].tobytes() == scores[1].tobytes(), "two workers counted something else"
        return [table.measured(own, scores[0]) for table, own in zip(tables, seconds, strict=True)]


class Rows:
    """The rows in shards on some workers, and a batch of families to be scored there."""

    def __init__(self, opened: ExitStack, source: Path, n_workers: int, batch: FamilyBatch) -> None:
        self.workers, self.batch = opened.enter_context(cluster(n_workers)), batch
        self.base = max(self.workers.client.run(_peak).values())
        began = time.perf_counter()
        options = {"cluster": self.workers.client, "rows": ROWS_A_PART}
        self.shards = opened.enter_context(open_shards(source, **options))
        self.reading = time.perf_counter() - began
        self._score(FamilyBatch(batch.members[:1].copy(), np.array([0, 1])))  # loads the kernels

    def scored(self) -> NDArray[np.float64]:
        """Return the scores of the batch."""
        return self._score(self.batch)

    def _score(self, batch: FamilyBatch) -> NDArray[np.float64]:
        return ShardedScorer(self.shards, "bic").local_scores(batch)

    def measured(self, seconds: list[float], scores: NDArray[np.float64]) -> dict[str, Any]:
        """Return all that there is to say."""
        few = FamilyBatch(self.batch.members[:1].copy(), np.array([0, 1]))
        trip = min(by_turns(lambda: self._score(few))[0][0])
        earlier = self.shards.traffic
        self.scored()
        traffic = self.shards.traffic
        peak = max(self.workers.client.run(_peak).values())
        sent, received = traffic.sent - earlier.sent, traffic.received - earlier.received
        return {
            "workers": self.workers.n_threads,
            "rows": self.shards.n_rows,
            "shards": len(self.shards.digests),
            "families": len(self.batch),
            "read_seconds": round(self.reading, 3),
            "batch_seconds": min(seconds),
            "all_batch_seconds": seconds,
            "round_trip_seconds": trip,
            "split_into_batches": traffic.batches - earlier.batches,
            "bytes_per_family": round((sent + received) / len(self.batch), 1),
            "level_seconds": round(seconds_of_a_level(self.workers, self.shards, self.batch), 4),
            "worker_peak_mb": round(peak / 1e6, 1),
            "worker_base_mb": round(self.base / 1e6, 1),  # before it had any row
            "worker_rows_mb": round((peak - self.base) / 1e6, 1),
            "table_mb": round(self.shards.n_rows * 37 / 1e6, 1),  # a byte a cell
            "checksum": float(scores.sum()),
        }


def seconds_of_a_level(workers: DaskWorkers, shards: Shards, batch: FamilyBatch) -> float:
    """Return what one level of adding takes: the counts of others come, and are add_counts up."""
    begin = table_offsets(batch, shards.arities, dense_limit(shards.n_rows))
    seconds = 0.0
    for first, last in split_into_batches(begin, CELLS_PER_BATCH):
        held = shards.count_families(batch.part(first, last), Threads(1))
        future = workers.given(held)
        workers.result(workers.submit(_is_there, future))
        began = time.perf_counter()
        one = workers.result(future)
        seconds += (ADDED_AT_ONCE - 1) * (time.perf_counter() - began)
        began = time.perf_counter()
        add_counts([one] * ADDED_AT_ONCE)
        seconds += time.perf_counter() - began
    return seconds


def _is_there(value: object) -> bool:
    return value is not None


def _peak() -> int:
    """Return the most memory that this process has taken, in bytes."""
    # Not ru_maxrss, in which a new process begins with what its parent held.
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024


def seconds_a_task() -> float:
    """Return what the scheduler and the client, in this process, compute for one more job."""
    with open_workers(cluster="local:2") as workers:
        assert isinstance(workers, DaskWorkers)
        times = []
        for n in (50, 1050):
            began = time.process_time()
            workers.result(workers.submit(sum, workers.submit_all(abs, [(-i,) for i in range(n)])))
            times.append(time.process_time() - began)
    return (times[1] - times[0]) / 1000


def extrapolated(one: dict[str, Any], task: float) -> list[dict[str, Any]]:
    """Return what a batch over 10^9 rows would take on more and more workers.

    The last line is for the workers at which counting and the scheduler take the same time;
    beyond it more workers make a batch slower.

    Counting is shared evenly. The scheduler hands out two groups of shards a worker and
    the jobs that add them up, one after another; tallies are add_counts eight at a time, on as
    many workers at once as there are eights, so that each level takes as long as one of them.
    """
    row_second = (one["batch_seconds"] - one["round_trip_seconds"]) / one["rows"]
    found = []
    jobs_a_worker = GROUPS_A_THREAD * (1 + 1 / (ADDED_AT_ONCE - 1))
    turning = round((row_second * BILLION / (jobs_a_worker * task)) ** 0.5)
    for workers in (10, 100, 1000, turning):
        counting = row_second * BILLION / workers
        groups = GROUPS_A_THREAD * workers
        scheduling = jobs_a_worker * workers * task
        levels = int(np.ceil(np.log(groups) / np.log(ADDED_AT_ONCE)))
        adding = levels * one["level_seconds"]
        found.append(
            {
                "workers": workers,
                "counting_seconds": round(counting, 2),
                "scheduler_seconds": round(scheduling, 2),
                "adding_seconds": round(adding, 2),
                "batch_seconds": round(counting + scheduling + adding, 2),
                "codes_gb_a_worker": round(BILLION * 46 / workers / 1e9, 2),
                "limit": max(
                    [(counting, "counting"), (scheduling, "scheduler"), (adding, "adding")]
                )[1],
            }
        )
    return found


def same_here(source: Path, batch: FamilyBatch) -> float:
    """Return the checksum of one machine, the whole table in memory."""
    from coevo import read_data
    from coevo.data import Dataset

    parts = [read_data(path, fold=False) for path in sorted(source.iterdir())]
    whole = Dataset(parts[0].variables, list(np.concatenate([p.codes for p in parts], axis=1)))
    return float(FamilyScorer(whole, "bic").local_scores(batch).sum())


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--families", type=int, default=5000)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--generations", type=int, default=250)
    parser.add_argument("--folder", help="where the Parquet files go, and stay")
    parser.add_argument("--check", action="store_true", help="also score in one piece, in memory")
    parser.add_argument("--format", choices=["text", "json"], default="text")
    options = parser.parse_args()
    os.environ.setdefault("NUMBA_NUM_THREADS", "1")
    loops = seconds_of_loops()
    runs = seconds_of_runs(options.runs, options.generations)
    batch = FamilyBatch.from_pairs(random_families(37, options.families, MAX_PARENTS, 1))
    lines = []
    with tempfile.TemporaryDirectory() as own:
        for rows in (options.rows // 10, options.rows // 3, options.rows):
            source = write_table(Path(options.folder or own), rows)
            lines += measure_rows(source, batch)
        if options.check:
            assert lines[-1]["checksum"] == same_here(source, batch)
    task = seconds_a_task()
    answer = {
        **stamp("distributed", "dask"),
        "loop_seconds": loops,
        "run_seconds": runs,
        "speedup_machine": 2 * speedup(loops),
        "speedup_runs": speedup(runs),
        "speedup_rows": speedup([line["all_batch_seconds"] for line in lines[-2:]]),
        "bytes_per_family": lines[-1]["bytes_per_family"],
        "worker_rows_mb": lines[-1]["worker_rows_mb"],
        "whole_table_mb": lines[-1]["table_mb"],
        "microseconds_a_task": round(task * 1e6, 1),
        "growth": lines,
        "billion_rows": extrapolated(lines[-2], task),
    }
    if options.format == "json":
        print_json(answer)
        return
    for name, value in answer.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            print(name)
            for line in value:
                print("   ", ", ".join(f"{key} {number}" for key, number in line.items()))
        else:
            print(f"{name:20} {value}")


if __name__ == "__main__":
    main()
