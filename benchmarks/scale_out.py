"""What a second worker buys, for runs and for rows, and what many would.

    runs    CCGA runs of `coevo paper` on Alarm, on 1 and on 2 workers of one thread
    rows    one batch of families over a Parquet file in shards on 1 and on 2 workers, for
            several numbers of rows

Workers are processes of this machine (``local:N``). From the costs that are measured
follows a table of what 10^9 rows would take on 10, 100 and 1,000 workers: counting shrinks
with the workers, while the scheduler's part of a round trip grows with them.

Memory is the most that a worker ever took, less what one takes that has loaded the kernels
and seen no row; beside it stand the codes of the whole table, at a byte a cell.

    python benchmarks/scale_out.py --rows 2000000 --folder /tmp      a few minutes
    python benchmarks/scale_out.py --format json                     as the issue asks
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from coevo import FamilyBatch, ShardedScorer, load_network, open_shards, sample
from coevo.experiments.paper.plan import Paper
from coevo.experiments.paper.runs import load_kernels, run_one
from coevo.parallel import open_workers
from coevo.parallel.dask_jobs import DaskWorkers
from coevo.parallel.row_shards import ADDED_AT_ONCE, GROUPS_A_THREAD
from coevo.score import FamilyScorer, Shards, added
from coevo.score.counting import dense_limit
from coevo.score.tallies import CELLS_A_TRIP, table_begins, trips
from coevo.threads import Threads
from harness import print_json, random_families, stamp

ROWS_A_PART = 500_000  # of the Parquet file, drawn at once
MAX_PARENTS = 4
BILLION = 10**9


@contextmanager
def cluster(n_workers: int) -> Iterator[DaskWorkers]:
    """Yield workers that have loaded what they need."""
    with open_workers(cluster=f"local:{n_workers}") as workers:
        assert isinstance(workers, DaskWorkers)
        workers.client.run(load_kernels)
        yield workers


def seconds_of_runs(n_workers: int, n_runs: int, generations: int) -> tuple[float, list[float]]:
    """Return how long the runs took, and their scores."""
    paper = Paper(networks=("alarm",), rows=(1000,), runs=n_runs, generations=generations)
    jobs = [job for job in paper.jobs() if job.algorithm == "ccga"]
    with cluster(n_workers) as workers:
        list(workers.run(run_one, jobs[:n_workers]))  # each has the data
        began = time.perf_counter()
        records = list(workers.run(run_one, jobs))
        seconds = time.perf_counter() - began
    return seconds, sorted(record.score for record in records)


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


def measure_rows(source: Path, batch: FamilyBatch, n_workers: int) -> dict[str, Any]:
    """Measure one batch over the rows on some workers."""
    with cluster(n_workers) as workers:
        before = max(workers.client.run(_peak).values())
        began = time.perf_counter()
        with open_shards(source, cluster=workers.client, rows=ROWS_A_PART) as shards:
            reading = time.perf_counter() - began
            few = FamilyBatch(batch.members[:1].copy(), np.array([0, 1]))
            ShardedScorer(shards, "bic").local_scores(batch)  # loads the kernels
            began = time.perf_counter()
            ShardedScorer(shards, "bic").local_scores(few)
            round_trip = time.perf_counter() - began
            earlier = shards.traffic
            scorer = ShardedScorer(shards, "bic")
            began = time.perf_counter()
            scores = scorer.local_scores(batch)
            seconds = time.perf_counter() - began
            traffic = shards.traffic
            peak = max(workers.client.run(_peak).values())
            rows = shards.n_rows
            adding = seconds_of_a_level(workers, shards, batch)
    received = traffic.received - earlier.received
    sent = traffic.sent - earlier.sent
    return {
        "workers": n_workers,
        "rows": rows,
        "shards": len(shards.digests),
        "families": len(batch),
        "read_seconds": round(reading, 3),
        "batch_seconds": round(seconds, 3),
        "round_trip_seconds": round(round_trip, 4),
        "trips": traffic.batches - earlier.batches,
        "bytes_per_family": round((sent + received) / len(batch), 1),
        "level_seconds": round(adding, 4),
        "worker_peak_mb": round(peak / 1e6, 1),
        "worker_base_mb": round(before / 1e6, 1),  # before it had any row
        "worker_rows_mb": round((peak - before) / 1e6, 1),
        "table_mb": round(rows * 37 / 1e6, 1),  # a byte a cell
        "checksum": float(scores.sum()),
    }


def seconds_of_a_level(workers: DaskWorkers, shards: Shards, batch: FamilyBatch) -> float:
    """Return what one level of adding takes: the counts of others come, and are added up."""
    begin = table_begins(batch, shards.arities, dense_limit(shards.n_rows))
    seconds = 0.0
    for first, last in trips(begin, CELLS_A_TRIP):
        held = shards.tallies(batch.part(first, last), Threads(1))
        future = workers.given(held)
        workers.result(workers.submit(_is_there, future))
        began = time.perf_counter()
        one = workers.result(future)
        seconds += (ADDED_AT_ONCE - 1) * (time.perf_counter() - began)
        began = time.perf_counter()
        added([one] * ADDED_AT_ONCE)
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
    """Return what the scheduler takes for one more job of a batch."""
    with open_workers(cluster="local:1") as workers:
        assert isinstance(workers, DaskWorkers)
        times = []
        for n in (50, 550):
            began = time.perf_counter()
            workers.result(workers.submit(sum, workers.submit_all(abs, [(-i,) for i in range(n)])))
            times.append(time.perf_counter() - began)
    return (times[1] - times[0]) / 500


def extrapolated(one: dict[str, Any], task: float) -> list[dict[str, Any]]:
    """Return what a batch over 10^9 rows would take on more and more workers.

    Counting is shared evenly. The scheduler hands out two groups of shards a worker and
    the jobs that add them up, one after another; tallies are added eight at a time, on as
    many workers at once as there are eights, so that each level takes as long as one of them.
    """
    row_second = (one["batch_seconds"] - one["round_trip_seconds"]) / one["rows"]
    found = []
    for workers in (10, 100, 1000):
        counting = row_second * BILLION / workers
        groups = GROUPS_A_THREAD * workers
        scheduling = groups * (1 + 1 / (ADDED_AT_ONCE - 1)) * task
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
    runs = [seconds_of_runs(n, options.runs, options.generations) for n in (1, 2)]
    assert runs[0][1] == runs[1][1], "two workers found something else"
    batch = FamilyBatch.from_pairs(random_families(37, options.families, MAX_PARENTS, 1))
    lines = []
    with tempfile.TemporaryDirectory() as own:
        for rows in (options.rows // 10, options.rows // 3, options.rows):
            source = write_table(Path(options.folder or own), rows)
            lines += [measure_rows(source, batch, n) for n in (1, 2)]
            assert lines[-1]["checksum"] == lines[-2]["checksum"]
        if options.check:
            assert lines[-1]["checksum"] == same_here(source, batch)
    task = seconds_a_task()
    answer = {
        **stamp("distributed", "dask"),
        "run_seconds": [round(seconds, 3) for seconds, _ in runs],
        "speedup_runs": round(runs[0][0] / runs[1][0], 3),
        "speedup_rows": round(lines[-2]["batch_seconds"] / lines[-1]["batch_seconds"], 3),
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
