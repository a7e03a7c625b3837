"""Measure the speedup of a second worker, for runs and for rows, and extrapolate to many workers.

    runs    CCGA runs of `coevo paper` on Alarm, on 1 and on 2 workers of one thread
    rows    one batch of families over a Parquet file in shards on 1 and on 2 workers, for
            several numbers of rows

Workers are processes of this machine (``local:N``). One worker and two workers take turns, five
times. The least time of each counts, because other load on the machine can only add time.
``speedup_machine`` is the speedup of two processes that share nothing. The measured costs give an
estimate of the time for 10^9 rows on 10, 100 and 1,000 workers: the time to count falls with the
number of workers, and the time of the scheduler in a round trip rises with it.

The memory of a worker is its peak, minus the memory of a worker that has loaded the kernels and
no rows. For comparison, the output also has the size of the codes of the complete table, at one
byte for each cell.

    python benchmarks/scale_out.py --rows 2000000 --folder /tmp      takes a few minutes
    python benchmarks/scale_out.py --format json                     takes much longer
"""

from __future__ import annotations

import argparse
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

from coevo import load_network, sample
from coevo.experiments.paper.plan import Paper, run_paper_job
from coevo.parallel import ShardedScorer, open_shards, open_workers
from coevo.parallel.dask_jobs import DaskWorkers
from coevo.parallel.shard_stores import COUNTS_PER_SUM, GROUPS_PER_THREAD
from coevo.parallel.shards import CELLS_PER_BATCH, Shards, add_counts
from coevo.runtime.threads import Threads
from coevo.score import FamilyBatch, FamilyScorer
from coevo.score.counting import (
    compute_dense_limit,
    compute_table_offsets,
    split_into_batches,
)
from harness import describe_run, draw_families, print_json

ROWS_PER_FILE = 500_000  # rows of each Parquet file, sampled together
REPEATS = 5
LOOP = "total = 0\nfor i in range(30_000_000): total += i * i & 7"
MAX_PARENTS = 4
BILLION = 10**9


@contextmanager
def open_cluster(n_workers: int) -> Iterator[DaskWorkers]:
    """Yield workers that have loaded all kernels."""
    with open_workers(cluster=f"local:{n_workers}") as workers:
        assert isinstance(workers, DaskWorkers)
        yield workers


def measure_in_turns(*tasks: Callable[[], Any]) -> tuple[list[list[float]], list[Any]]:
    """Return the seconds of each repeat of each task, and the last result of each task.

    The tasks take turns, so that other load on the machine affects all of them alike.
    """
    seconds: list[list[float]] = [[] for _ in tasks]
    results: list[Any] = [None for _ in tasks]
    for _ in range(REPEATS):
        for i, run_task in enumerate(tasks):
            began = time.perf_counter()
            results[i] = run_task()
            seconds[i].append(round(time.perf_counter() - began, 3))
    return seconds, results


def compute_speedup(seconds: list[list[float]]) -> float:
    """Return the least time of the first task, divided by that of the second."""
    return round(min(seconds[0]) / min(seconds[1]), 3)


def measure_loops() -> list[list[float]]:
    """Return the times of one and of two processes that share nothing: the best case."""

    def run_processes(n: int) -> None:
        running = [subprocess.Popen([sys.executable, "-c", LOOP]) for _ in range(n)]
        for process in running:
            process.wait()

    return measure_in_turns(lambda: run_processes(1), lambda: run_processes(2))[0]


def measure_runs(n_runs: int, generations: int) -> list[list[float]]:
    """Return the times of the runs on one and on two workers."""
    paper = Paper(networks=("alarm",), rows=(1000,), runs=n_runs, generations=generations)
    jobs = [job for job in paper.list_jobs() if job.algorithm == "ccga"]
    with open_cluster(1) as one, open_cluster(2) as two:
        for workers in (one, two):
            list(workers.run(run_paper_job, jobs[: 2 * workers.n_threads]))  # loads the data

        def run_jobs(workers: DaskWorkers) -> list[float]:
            return sorted(record.score for record in workers.run(run_paper_job, jobs))

        seconds, scores = measure_in_turns(lambda: run_jobs(one), lambda: run_jobs(two))
    assert scores[0] == scores[1], "one and two workers give different scores"
    return seconds


def write_files(folder: Path, rows: int) -> Path:
    """Write rows of Alarm as Parquet files; return their folder."""
    from coevo.data import write_data

    target = folder / f"alarm-{rows}"
    target.mkdir(exist_ok=True)
    network = load_network("alarm")
    for number, first in enumerate(range(0, rows, ROWS_PER_FILE)):
        path = target / f"part-{number:04}.parquet"
        if not path.exists():
            write_data(sample(network, min(ROWS_PER_FILE, rows - first), number), path)
    return target


def measure_rows(source: Path, batch: FamilyBatch) -> list[dict[str, Any]]:
    """Measure one batch over the rows, on one and on two workers."""
    with ExitStack() as opened:
        scorings = [ClusterScoring(opened, source, n, batch) for n in (1, 2)]
        seconds, scores = measure_in_turns(*(scoring.score for scoring in scorings))
        assert scores[0].tobytes() == scores[1].tobytes(), "one and two workers give other scores"
        pairs = zip(scorings, seconds, strict=True)
        return [scoring.describe(own_seconds, scores[0]) for scoring, own_seconds in pairs]


class ClusterScoring:
    """Rows in shards on several workers, and a batch of families to score there."""

    def __init__(self, opened: ExitStack, source: Path, n_workers: int, batch: FamilyBatch) -> None:
        self.workers, self.batch = opened.enter_context(open_cluster(n_workers)), batch
        self.base_bytes = max(self.workers.client.run(_get_peak_bytes).values())
        began = time.perf_counter()
        options = {"cluster": self.workers.client, "rows": ROWS_PER_FILE}
        self.shards = opened.enter_context(open_shards(source, **options))
        self.read_seconds = time.perf_counter() - began
        self._score_batch(FamilyBatch(batch.members[:1].copy(), np.array([0, 1])))  # loads kernels

    def score(self) -> NDArray[np.float64]:
        """Return the scores of the batch."""
        return self._score_batch(self.batch)

    def _score_batch(self, batch: FamilyBatch) -> NDArray[np.float64]:
        return ShardedScorer(self.shards, "bic").local_scores(batch)

    def describe(self, seconds: list[float], scores: NDArray[np.float64]) -> dict[str, Any]:
        """Return the measured times, traffic and memory."""
        one_family = FamilyBatch(self.batch.members[:1].copy(), np.array([0, 1]))
        round_trip = min(measure_in_turns(lambda: self._score_batch(one_family))[0][0])
        earlier = self.shards.traffic
        self.score()
        traffic = self.shards.traffic
        peak = max(self.workers.client.run(_get_peak_bytes).values())
        sent, received = traffic.sent - earlier.sent, traffic.received - earlier.received
        return {
            "workers": self.workers.n_threads,
            "rows": self.shards.n_rows,
            "shards": len(self.shards.digests),
            "families": len(self.batch),
            "read_seconds": round(self.read_seconds, 3),
            "batch_seconds": min(seconds),
            "all_batch_seconds": seconds,
            "round_trip_seconds": round_trip,
            "batches": traffic.batches - earlier.batches,
            "bytes_per_family": round((sent + received) / len(self.batch), 1),
            "level_seconds": round(measure_adding_level(self.workers, self.shards, self.batch), 4),
            "worker_peak_mb": round(peak / 1e6, 1),
            "worker_base_mb": round(self.base_bytes / 1e6, 1),  # without rows
            "worker_rows_mb": round((peak - self.base_bytes) / 1e6, 1),
            "table_mb": round(self.shards.n_rows * 37 / 1e6, 1),  # one byte for each cell
            "checksum": float(scores.sum()),
        }


def measure_adding_level(workers: DaskWorkers, shards: Shards, batch: FamilyBatch) -> float:
    """Return the seconds of one level of adding: receive the counts of others, and add them."""
    begin = compute_table_offsets(batch, shards.arities, compute_dense_limit(shards.n_rows))
    seconds = 0.0
    for first, last in split_into_batches(begin, CELLS_PER_BATCH):
        counts = shards.count_families(batch.slice(first, last), Threads(1))
        future = workers.share(counts)
        workers.get_result(workers.submit(_is_there, future))
        began = time.perf_counter()
        received = workers.get_result(future)
        seconds += (COUNTS_PER_SUM - 1) * (time.perf_counter() - began)
        began = time.perf_counter()
        add_counts([received] * COUNTS_PER_SUM)
        seconds += time.perf_counter() - began
    return seconds


def _is_there(value: object) -> bool:
    return value is not None


def _get_peak_bytes() -> int:
    """Return the peak memory of this process, in bytes."""
    # Not ru_maxrss: in a new process it starts with the memory of the parent.
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024


def measure_job_seconds() -> float:
    """Return the CPU time of scheduler and client, in this process, for one more job."""
    with open_workers(cluster="local:2") as workers:
        assert isinstance(workers, DaskWorkers)
        times = []
        for n in (50, 1050):
            began = time.process_time()
            values = workers.submit_all(abs, [(-i,) for i in range(n)])
            workers.get_result(workers.submit(sum, values))
            times.append(time.process_time() - began)
    return (times[1] - times[0]) / 1000


def extrapolate(one_worker: dict[str, Any], job_seconds: float) -> list[dict[str, Any]]:
    """Return the estimated times of a batch over 10^9 rows on 10, 100, 1,000 and more workers.

    The last line has the number of workers for which counting and the scheduler take the same
    time. With more workers a batch becomes slower.

    Counting is divided evenly. The scheduler starts two groups of shards for each worker and the
    jobs that add their counts, one job after another. Each adding job adds eight counts. All jobs
    of a level run at the same time on different workers, so a level takes as long as one job.
    """
    counting_seconds = one_worker["batch_seconds"] - one_worker["round_trip_seconds"]
    seconds_per_row = counting_seconds / one_worker["rows"]
    estimates = []
    jobs_per_worker = GROUPS_PER_THREAD * (1 + 1 / (COUNTS_PER_SUM - 1))
    most_workers = round((seconds_per_row * BILLION / (jobs_per_worker * job_seconds)) ** 0.5)
    for workers in (10, 100, 1000, most_workers):
        counting = seconds_per_row * BILLION / workers
        groups = GROUPS_PER_THREAD * workers
        scheduling = jobs_per_worker * workers * job_seconds
        levels = int(np.ceil(np.log(groups) / np.log(COUNTS_PER_SUM)))
        adding = levels * one_worker["level_seconds"]
        estimates.append(
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
    return estimates


def score_in_memory(source: Path, batch: FamilyBatch) -> float:
    """Return the checksum of the scores with the complete table in memory."""
    from coevo import read_data
    from coevo.data import Dataset

    parts = [read_data(path, deduplicate=False) for path in sorted(source.iterdir())]
    codes = np.concatenate([part.codes for part in parts], axis=1)
    table = Dataset(parts[0].variables, list(codes))
    return float(FamilyScorer(table, "bic").local_scores(batch).sum())


def main() -> None:
    """Run the benchmark and print the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--families", type=int, default=5000)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--generations", type=int, default=250)
    parser.add_argument("--folder", help="keep the Parquet files in this folder")
    parser.add_argument("--check", action="store_true", help="compare with scores in memory")
    parser.add_argument("--format", choices=["text", "json"], default="text")
    options = parser.parse_args()
    loops = measure_loops()
    runs = measure_runs(options.runs, options.generations)
    batch = FamilyBatch.from_pairs(draw_families(37, options.families, MAX_PARENTS, 1))
    lines = []
    with tempfile.TemporaryDirectory() as temporary:
        for rows in (options.rows // 10, options.rows // 3, options.rows):
            source = write_files(Path(options.folder or temporary), rows)
            lines += measure_rows(source, batch)
        if options.check:
            assert lines[-1]["checksum"] == score_in_memory(source, batch)
    job_seconds = measure_job_seconds()
    answer = {
        **describe_run("distributed", "dask"),
        "loop_seconds": loops,
        "run_seconds": runs,
        "speedup_machine": 2 * compute_speedup(loops),
        "speedup_runs": compute_speedup(runs),
        "speedup_rows": compute_speedup([line["all_batch_seconds"] for line in lines[-2:]]),
        "bytes_per_family": lines[-1]["bytes_per_family"],
        "worker_rows_mb": lines[-1]["worker_rows_mb"],
        "whole_table_mb": lines[-1]["table_mb"],
        "microseconds_a_task": round(job_seconds * 1e6, 1),
        "growth": lines,
        "billion_rows": extrapolate(lines[-2], job_seconds),
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
