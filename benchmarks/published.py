r"""Compare CCMA with published scores on public tables: proved optima, and the best of heuristics.

`--data` is a folder with the tables and their states (``NAME.csv.gz`` or ``NAME.ts.csv.gz``,
``NAME.states.json``). The published scores stand in `published_scores`, with their sources. The
density tables are learned under two scores, which must never be compared with each other:
``bic-blip``, the smoothed BIC of the published numbers (`blip_score`), and exact BIC, for which no
number is published. Each run has its own process and one thread. Times are CPU seconds from the
table in memory on, with kernels loaded, so that other load on the machine hardly matters. Memory is
the peak of the process.

    python benchmarks/published.py --data DIR --sets nltcs,dna --max-time 20
    python benchmarks/published.py --data DIR --journal published.jsonl --write    resumes
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from blip_score import check_scores, make_scorer
from coevo import Budget, Dataset, load_network, read_data, run_search, sample
from coevo.graph import Constraints
from coevo.search.result import HistoryRow
from harness import describe_run, print_json, replace_block
from limited import Job, Journal, add_journal_options, measure
from public_tables import read_frame
from published_scores import DENSITY, PROVED, WIDE, Proved

HERE = Path(__file__).parent
ALL_ROWS = 0
SLACK = 2  # times the limit of CPU time, as a last resort
TOLERANCE = 1e-6  # of the relative difference to a proved optimum
WHOLE = 1.0  # published numbers of the density tables are whole nats, without their digits
PROOFS = {proved.table: proved for proved in PROVED}


def load_table(folder: Path, name: str) -> Dataset:
    """Return a table with its declared states."""
    frame, states = read_frame(folder, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some columns are constant
        return read_data(frame, states=states)


class Run:
    """A search with its trace of CPU seconds and scores."""

    def __init__(self, job: Job) -> None:
        self._folder, name = job.system.split("|")[1], job.network
        self._job, self._proved = job, PROOFS.get(name)
        self.dataset = load_table(Path(self._folder), name)
        self.trace: list[tuple[float, float]] = []
        small = make_scorer(sample(load_network("asia"), 200, 0), job.scoring)
        run_search("ccma", small, budget=Budget(max_generations=8), random_state=0)

    def __call__(self) -> Run:
        """Search until the limit of CPU time, or until a proved optimum is reached."""
        began, limit = time.process_time(), self._job.max_time / SLACK
        target = None
        constraints = None
        if self._proved is not None:
            target = self._proved.score - abs(self._proved.score) * TOLERANCE
            constraints = Constraints(max_parents=self._proved.max_parents)

        def record(row: HistoryRow) -> bool:
            seconds = time.process_time() - began
            self.trace.append((seconds, row.score))
            return seconds >= limit

        run_search(
            "ccma",
            make_scorer(self.dataset, self._job.scoring),
            constraints=constraints,
            budget=Budget(patience=1_000_000, target=target),
            random_state=self._job.seed,
            callbacks=[record],
        )
        return self


def describe(job: Job, run: Run) -> dict[str, Any]:
    """Return the size of the table, the trace and the memory."""
    return {
        "n_variables": run.dataset.n_variables,
        "n_rows_read": run.dataset.n_rows,
        "trace": [(round(seconds, 3), score) for seconds, score in run.trace],
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def list_jobs(options: argparse.Namespace) -> Iterator[Job]:
    """Yield the runs: first the proved optima, then the density tables under each score."""
    system = f"coevo|{options.data}"
    limit, wide_limit = SLACK * options.max_time, SLACK * options.max_time_wide
    wanted = options.sets.split(",") if options.sets else [*PROOFS, *DENSITY]
    for proved in PROVED:
        if proved.table in wanted:
            yield Job(system, proved.table, ALL_ROWS, proved.scoring, options.seed, limit)
    for name in DENSITY:
        for score in options.scores.split(","):
            if name in wanted:
                most = wide_limit if name in WIDE else limit
                yield Job(system, name, ALL_ROWS, score, options.seed, most)


def find_time(answer: dict[str, Any], score: float) -> str:
    """Return the CPU seconds after which a run has reached a score."""
    times = [seconds for seconds, reached in answer["trace"] if reached >= score]
    return f"{times[0]:.1f}" if times else "never"


def format_size(answer: dict[str, Any]) -> str:
    """Return the number of variables and of rows."""
    return f"{answer['n_variables']} x {answer['n_rows_read']:,}"


def format_proved(answer: dict[str, Any], proved: Proved) -> str:
    """Return the line of a table with a proved optimum."""
    best = answer["trace"][-1][1]
    least = proved.score - abs(proved.score) * TOLERANCE
    return (
        f"| {proved.table} | {format_size(answer)} | {proved.label} "
        f"| {proved.score:,.4f} | {best:,.4f} | {best - proved.score:+.4f} "
        f"| {find_time(answer, least)} | {answer['peak_mb']:,.0f} |"
    )


def format_density(answer: dict[str, Any]) -> str:
    """Return the line of a density table."""
    published = DENSITY[answer["network"]]
    best = answer["trace"][-1][1]
    to_best = find_time(answer, best - 0.01)
    if answer["scoring"] == "bic":
        cells = f"| | {best:,.1f} | | | {to_best}"
    else:
        name, score = published.best
        cells = (
            f"| {score:,} ({name}) | {best:,.1f} | {best - score:+,.1f} "
            f"| {find_time(answer, score - WHOLE)} | {to_best}"
        )
    table = f"{answer['network']} | {format_size(answer)} | {answer['scoring']}"
    return f"| {table} {cells} | {answer['peak_mb']:,.0f} |"


def format_tables(answers: list[dict[str, Any]], options: argparse.Namespace, machine: str) -> str:
    """Return both Markdown tables; runs that have not ended are left out."""
    done = [answer for answer in answers if answer["status"] == "done"]
    lines = [
        f"CPU seconds on one thread of {machine}, one seed. Limit: {options.max_time:g} s, "
        f"{options.max_time_wide:g} s with more than 200 variables.",
        "",
        "| table | variables x rows | score | proved optimum | coevo | difference | s to reach it "
        "| MB |",
        "|---|---:|---|---:|---:|---:|---:|---:|",
        *(format_proved(a, PROOFS[a["network"]]) for a in done if a["network"] in PROOFS),
        "",
        "| table | variables x rows | score | best published | coevo | difference | s to reach it "
        "| s to the best | MB |",
        "|---|---:|---|---:|---:|---:|---:|---:|---:|",
        *(format_density(a) for a in done if a["network"] in DENSITY),
    ]
    return "\n".join(lines)


def prepare(job: Job) -> Callable[[], Run]:
    """Read the table and load the kernels; return the function that learns."""
    return Run(job)


def main() -> None:
    """Run the benchmark and print its tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, required=True, help="folder of the tables")
    parser.add_argument("--sets", help="names of tables (default: all)")
    parser.add_argument("--scores", default="bic-blip,bic", help="of the density tables")
    parser.add_argument("--seed", type=int, default=1, help="seed of the search (default: 1)")
    parser.add_argument("--max-time", type=float, default=20, help="CPU seconds (default: 20)")
    parser.add_argument(
        "--max-time-wide",
        type=float,
        default=60,
        help="the same for tables of more than 200 variables (default: 60)",
    )
    add_journal_options(parser)
    parser.add_argument(
        "--write", action="store_true", help="replace the table of benchmarks/README.md"
    )
    parser.add_argument("--format", choices=["text", "json"], default="text")
    options = parser.parse_args()
    check_scores()
    journal = Journal(options.journal, options.only_journal)
    answers = measure(list_jobs(options), prepare, describe, journal, max_timeouts=1_000)
    environment = describe_run()
    table = format_tables(answers, options, environment["machine"])
    if options.write:
        replace_block(HERE / "README.md", "published", table)
    if options.format == "json":
        print_json({"runs": answers, **environment})
    else:
        print(table)


if __name__ == "__main__":
    main()
