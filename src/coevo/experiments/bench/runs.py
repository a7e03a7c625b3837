"""The runs of a comparison: one process each, a record in the journal, and its evaluation.

Before the clock starts, the data are sampled, and converted for a peer. A method of coevo runs with
its default budget and for `max_time` at most. A peer has no time limit of its own; its process is
killed.

The scores that peers report are not used. All structures are scored here by coevo's scorer, on the
rows from which they were learned. The tables of a network are fitted to these rows too, and give
the likelihood of the rows that were held out.

A method from outside coevo is tried on a small table before the first run, which finds one that
breaks the interface. Its other errors belong to its runs: they are recorded there.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from functools import cache, lru_cache
from importlib.metadata import packages_distributions, version
from pathlib import Path
from typing import Any

from coevo import __version__
from coevo.bundled import load_network
from coevo.checks import is_int, is_number
from coevo.errors import MethodError, NetworkError
from coevo.experiments.bench.plan import (
    Bench,
    BenchDataSet,
    BenchJob,
    BenchSetting,
    find_true_structure,
    open_held_out_rows,
    open_rows,
)
from coevo.experiments.experiment import describe_machine, find_versions, hash_networks
from coevo.experiments.peers import PEERS
from coevo.graph import DAG, Arc, compare
from coevo.io.journal import Journal, RecordFormat
from coevo.io.knowledge import read_number
from coevo.network import fit_network, sample
from coevo.parallel import JobOutcome, StartClock
from coevo.score import FamilyScorer, Score
from coevo.search import Budget, choose_method, make_spec
from coevo.search.registry import find_code_hash, is_own_method

__all__ = [
    "ENVIRONMENT",
    "BenchRecord",
    "BenchRun",
    "describe_implementation",
    "evaluate_runs",
    "find_method_hash",
    "get_time_limit",
    "make_bench_journal",
    "make_record",
    "run_bench_job",
    "score_true_network",
    "try_method",
]


TRIAL_ROWS, TRIAL_GENERATIONS, TRIAL_SECONDS = 100, 6, 10.0


def try_method(method: str, score: Score) -> None:
    """Run a method on a small table. Raise `MethodError` if it breaks the interface of methods."""
    chosen = choose_method(method, "bench").method
    budget = Budget(max_generations=TRIAL_GENERATIONS, max_time=TRIAL_SECONDS)
    spec = make_spec("bench", method=chosen, score=score, budget=budget, random_state=0)
    scorer = spec.make_scorer(sample(load_network("asia"), TRIAL_ROWS, 0))
    if not is_own_method(chosen):
        spec.run(scorer)
        return
    try:
        spec.run(scorer)
    except MethodError:
        raise
    except Exception:  # the runs of the method record its errors
        return


def find_method_hash(method: str) -> str | None:
    """Return the hash of the code of a method from outside coevo; None for the others."""
    return find_code_hash(choose_method(method, "bench").method)


@cache
def find_method_version(method: str) -> str | None:
    """Return the version of the package of a method; None if it is in no package."""
    chosen = choose_method(method, "bench").method
    if not is_own_method(chosen):
        return __version__
    top = type(chosen).__module__.partition(".")[0]
    for distribution in packages_distributions().get(top, ()):
        with contextlib.suppress(ModuleNotFoundError):
            return version(distribution)
    return None


def describe_implementation(method: str) -> str:
    """Return the package and the version of a method, and the class of an own method.

    >>> describe_implementation("ccma:orders=40") == f"coevo {__version__}"
    True
    """
    chosen = choose_method(method, "bench").method
    if not is_own_method(chosen):
        return f"coevo {__version__}"
    kind, found = type(chosen), find_method_version(method)
    return f"{kind.__module__}.{kind.__qualname__}{f' {found}' if found else ''}"


# One thread for every run, and one hash seed, because the result of pgmpy depends on it.
ENVIRONMENT = {
    "PYTHONHASHSEED": "0",
    **{f"{kind}_NUM_THREADS": "1" for kind in ("OMP", "OPENBLAS", "MKL")},
}
# A search stops at the end of the generation in which its time limit passes.
EXTRA_FRACTION, EXTRA_SECONDS = 0.5, 5.0  # time allowed for that last generation


@dataclass(frozen=True)
class LearnedStructure:
    """The structure that a run learned; `curve` has (seconds, score) of each improvement."""

    arcs: tuple[Arc, ...]
    seconds: float
    stop_reason: str = "finished"
    curve: tuple[tuple[float, float], ...] = ()


def get_time_limit(job: BenchJob) -> float:
    """Return the seconds after which a run is killed."""
    if job.kind == "peer":
        return job.max_time
    return job.max_time * (1 + EXTRA_FRACTION) + EXTRA_SECONDS


def run_bench_job(job: BenchJob, start_clock: StartClock) -> LearnedStructure:
    """Run one method or peer on one data set."""
    dataset = open_rows(job.data)
    if job.kind == "peer":
        dag, seconds = PEERS[job.method].learn(dataset, job.score, start_clock)
        return LearnedStructure(dag.arcs, seconds)
    spec = job.make_spec()
    scorer = spec.make_scorer(dataset)
    start_clock()
    result = spec.run(scorer)
    improvements = tuple(
        (round(row.seconds, 4), round(row.score, 6))
        for row in result.history
        if row.improved == row.generation
    )
    return LearnedStructure(result.dag.arcs, result.seconds, result.stop_reason, improvements)


@dataclass(frozen=True)
class BenchRecord:
    """One run. If it has no result, `score`, `arcs` and `seconds` are None."""

    network: str
    rows: int
    repetition: int
    method: str
    kind: str
    version: str | None
    data_seed: int
    search_seed: int | None
    score_name: str
    score_used: str
    status: str
    error: str
    stop_reason: str | None
    score: float | None
    held_out: float | None  # mean log-likelihood of a row that was held out
    arcs: tuple[Arc, ...] | None
    data_hash: str | None  # of a table
    code_hash: str | None  # of a method from outside coevo
    seconds: float | None
    curve: tuple[tuple[float, float], ...]

    @property
    def key(self) -> tuple[str, int, int, str]:
        """The key that identifies the run."""
        return self.network, self.rows, self.repetition, self.method


@lru_cache(maxsize=1)  # runs on the same data follow each other
def _make_scorer(data: BenchDataSet, score: Score) -> FamilyScorer:
    return FamilyScorer(open_rows(data), score)


def score_true_network(data: BenchDataSet, score: Score) -> float | None:
    """Return the score of the true structure, if it is known."""
    true = find_true_structure(data)
    return None if true is None else _make_scorer(data, score).score(true)


def _measure_held_out(data: BenchDataSet, dag: DAG) -> float | None:
    """Return the mean log-likelihood of a held-out row; None without one, or without tables."""
    held_out = open_held_out_rows(data)
    if held_out is None:
        return None
    try:
        network = fit_network(dag, open_rows(data))
    except NetworkError:  # a peer has no limit on tables
        return None
    return network.log_likelihood(held_out).total / held_out.n_rows


def make_record(outcome: JobOutcome[BenchJob, LearnedStructure]) -> BenchRecord:
    """Return the record of a run; score its structure."""
    job, learned = outcome.job, outcome.result
    peer = PEERS[job.method] if job.kind == "peer" else None
    table = job.data.table
    score = held_out = None
    if learned is not None:
        scorer = _make_scorer(job.data, job.score)
        dag = DAG(scorer.dataset.names, learned.arcs)
        score, held_out = scorer.score(dag), _measure_held_out(job.data, dag)
    return BenchRecord(
        network=job.data.setting.network,
        rows=job.data.setting.rows,
        repetition=job.data.repetition,
        method=job.method,
        kind=job.kind,
        version=find_method_version(job.text) if peer is None else peer.version,
        data_seed=job.data.seed,
        search_seed=job.seed,
        score_name=job.score.label,
        score_used=job.score.label if peer is None else peer.describe_score_used(job.score),
        status=outcome.status,
        error=outcome.error,
        stop_reason=None if learned is None else learned.stop_reason,
        score=score,
        held_out=held_out,
        data_hash=None if table is None else table.dataset.content_hash,
        code_hash=None if peer else find_method_hash(job.text),
        arcs=None if learned is None else learned.arcs,
        seconds=None if learned is None else round(learned.seconds, 4),
        curve=() if learned is None else learned.curve,
    )


KEY = ("network", "rows", "repetition", "method")
TEXTS = ("network", "method", "kind", "score_name", "score_used", "status", "error")


def make_bench_journal(folder: Path, bench: Bench, command: str) -> Journal[BenchRecord]:
    """Return the journal of a folder; raise an error if it holds another comparison.

    Times of two machines cannot be compared, so a folder belongs to one machine.
    """
    common = {
        "version": __version__,
        "seed": bench.seed,
        "score": bench.score.label,
        "max_time": bench.max_time,
        "machine": describe_machine(),
    }
    tables: dict[str, Any] = {}
    if bench.tables:
        hashes = {table.name: table.dataset.content_hash for table in bench.tables}
        tables = {"tables": hashes, "held_out": bench.held_out}
    stamp = {
        "command": command,
        "networks": bench.networks,
        **tables,
        "rows": bench.rows,
        "seeds": bench.seeds,
        "methods": bench.methods,
        "peers": bench.peers,
        "not_installed": bench.missing_peers,
        "versions": find_versions(*(PEERS[name].package for name in bench.peers)),
    }
    networks = {name: i for i, name in enumerate(bench.sources)}
    runners = {name: i for i, name in enumerate((*bench.labels.values(), *bench.peers))}

    def get_sort_key(key: tuple[str, int, int, str]) -> tuple[int, str, int, int, int, str]:
        network, rows, repetition, method = key
        first = networks.get(network, len(networks))
        return first, network, rows, repetition, runners.get(method, len(runners)), method

    return Journal(
        folder,
        RecordFormat(KEY, ("seconds", "curve"), _read_record, _read_times),
        common,
        get_sort_key,
        stamp,
        hash_networks(bench.networks),
    )


def _read_times(line: dict[str, Any]) -> dict[str, Any]:
    seconds = line["seconds"]
    curve = tuple((read_number(at), read_number(score)) for at, score in line["curve"])
    return {"seconds": None if seconds is None else read_number(seconds), "curve": curve}


def _read_record(line: dict[str, Any]) -> BenchRecord:
    """Return the record of a line, without its times, which are in another file."""
    arcs = line["arcs"]
    if arcs is not None:
        arcs = tuple((str(parent), str(child)) for parent, child in arcs)
    record = BenchRecord(**{**line, "arcs": arcs}, seconds=None, curve=())
    if (
        not all(isinstance(getattr(record, name), str) for name in TEXTS)
        or not is_int(record.rows, 1)
        or not is_int(record.repetition, 0)
        or record.status not in ("done", "timeout", "failed")
        or (record.status == "done") != (is_number(record.score) and arcs is not None)
    ):
        raise ValueError
    return record


DISTANCES = ("shd", "shd_cpdag", "sid", "skeleton_f1", "arc_f1")  # to the true structure


@dataclass(frozen=True)
class BenchRun:
    """The evaluation of a run. Fields without a value are None, as in a run without a result.

    `network` is the network or the table. `seed` is the number of the data set among those of its
    network and size. `best_score` is the highest score of all runs on the same rows.
    """

    network: str
    rows: int
    seed: int
    method: str
    kind: str
    version: str | None
    score_name: str
    score_used: str
    status: str
    stop_reason: str | None
    score: float | None
    held_out: float | None  # mean log-likelihood of a row that was held out
    true_score: float | None
    best_score: float | None
    gap_to_best: float | None  # best_score - score, >= 0
    above_true: float | None  # score - true_score, of either sign
    n_arcs: int | None
    shd: int | None
    shd_cpdag: int | None
    sid: int | None
    skeleton_f1: float | None
    arc_f1: float | None
    seconds: float | None
    data_seed: int
    search_seed: int | None
    error: str

    @classmethod
    def list_column_names(cls) -> list[str]:
        """Return the names of the columns."""
        return [field.name for field in fields(cls)]

    @property
    def setting(self) -> BenchSetting:
        """The network and the size."""
        return BenchSetting(self.network, self.rows)

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as a dict."""
        return asdict(self)


def evaluate_runs(
    data: BenchDataSet, records: Sequence[BenchRecord], true: DAG | None, true_score: float | None
) -> list[BenchRun]:
    """Return the evaluation of all runs on one data set."""
    best = max((r.score for r in records if r.score is not None), default=None)
    shared = [
        name for name in BenchRun.list_column_names() if name in BenchRecord.__dataclass_fields__
    ]
    runs = []
    for record in records:
        found: dict[str, Any] = dict.fromkeys(("gap_to_best", "above_true", "n_arcs", *DISTANCES))
        if record.score is not None and record.arcs is not None and best is not None:
            found |= {"gap_to_best": best - record.score, "n_arcs": len(record.arcs)}
            if true is not None and true_score is not None:
                comparison = compare(DAG(true.nodes, record.arcs), true)
                found["above_true"] = record.score - true_score
                found |= {name: getattr(comparison, name) for name in DISTANCES}
        found |= {name: getattr(record, name) for name in shared}
        runs.append(BenchRun(**found, seed=data.repetition, true_score=true_score, best_score=best))
    return runs
