r"""Compare greedy equivalence search (`ges`) with that of causal-learn and of pgmpy.

All systems learn from the same rows of bundled networks. causal-learn has one score for states:
BDeu with a prior on arcs. pgmpy maximises the score of `--scores`. coevo scores all structures.
Each run has its own process and a limit of CPU time. A peer that has reached the limit
`--max-timeouts` times with a score is not tried on the networks that follow. Times are CPU seconds
from the table in memory to the result, with libraries and kernels loaded.

    python benchmarks/ges.py --networks asia,child --rows 1000
    python benchmarks/ges.py --journal ges.jsonl --write    resumes, and replaces the table
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import Any

from coevo import Dataset, FamilyScorer, load_network, run_search, sample
from coevo.experiments.peers import PEERS, make_categorical_frame
from coevo.graph import DAG
from coevo.score import BIC, make_score
from harness import add_output_options, describe_run, show_table
from limited import Job, Journal, add_journal_options, format_peer_time, measure

NETWORKS = (
    "cancer,earthquake,survey,asia,sachs,child,insurance,alarm,water,hailfinder,hepar2,win95pts,"
    "mildew,barley,andes"
)
OURS = "coevo"
OTHERS = ("causal-learn", "pgmpy")


def make_learner(system: str, dataset: Dataset, score: str) -> Callable[[], DAG]:
    """Load a system and convert the data; return the function that learns."""
    if system == OURS:
        run_search(
            "ges", FamilyScorer(sample(load_network("asia"), 100, 0), score)
        )  # loads kernels
        return lambda: run_search("ges", FamilyScorer(dataset, score)).dag
    if system == "causal-learn":
        learn = PEERS[system].prepare(dataset, make_score("bdeu", None, "benchmark"))
        return lambda: DAG(dataset.names, learn())
    return make_pgmpy_learner(dataset, score)


def make_pgmpy_learner(dataset: Dataset, score: str) -> Callable[[], DAG]:
    """Return the function that runs pgmpy's GES; `coevo.experiments.peers` explains its scores."""
    from pgmpy import structure_score
    from pgmpy.causal_discovery import GES

    frame = make_categorical_frame(dataset).astype(str)
    peer_score: Any
    if isinstance(make_score(score, None, "benchmark"), BIC):
        states = {variable.name: list(variable.states) for variable in dataset.variables}
        peer_score = structure_score.BIC(frame, state_names=states)
    else:
        peer_score = structure_score.BDeu(frame, equivalent_sample_size=1.0)
    search = GES(scoring_method=peer_score, return_type="dag")

    def learn() -> DAG:
        search.fit(frame)
        return DAG(dataset.names, list(search.causal_graph_.edges()))

    return learn


def prepare(job: Job) -> Callable[[], DAG]:
    """Return the function that learns."""
    dataset = sample(load_network(job.network), job.n_rows, job.seed)
    return make_learner(job.system, dataset, job.scoring)


def describe(job: Job, dag: DAG) -> dict[str, float]:
    """Return the score of a structure."""
    dataset = sample(load_network(job.network), job.n_rows, job.seed)
    return {"score": FamilyScorer(dataset, job.scoring).score(dag)}


def list_jobs(options: argparse.Namespace) -> Iterator[Job]:
    """Yield the runs, network by network. causal-learn runs with BDeu only."""
    for network in options.networks.split(","):
        for score in options.scores.split(","):
            for system in (OURS, *options.others):
                if system != "causal-learn" or score == "bdeu":
                    yield Job(system, network, options.rows, score, options.seed, options.max_time)


def format_table(answers: list[dict[str, Any]], options: argparse.Namespace, machine: str) -> str:
    """Return a Markdown table: one line for each data set."""
    lines = [
        f"{options.rows:,} rows, one core of {machine}. Limit: {options.max_time:g} CPU seconds a "
        "run; *> n* did not end within it. *ahead* is the score of coevo minus that of the peer, "
        "*times* the CPU time of the peer divided by that of coevo.",
        "",
        "| network | score | coevo | s | "
        + " | ".join(f"{name}: ahead | s | times" for name in options.others)
        + " |",
        "|---|---|---:|---:|" + "---:|---:|---:|" * len(options.others),
    ]
    by_key = {(a["network"], a["scoring"], a["system"]): a for a in answers}
    for network, score, system in by_key:
        if system != OURS:
            continue
        ours = by_key[network, score, OURS]
        cells = [format_peer(by_key.get((network, score, name)), ours) for name in options.others]
        lines.append(
            f"| {network} | {score} | {ours['score']:,.2f} | {ours['seconds']:.2f} | "
            + " | ".join(cells)
            + " |"
        )
    return "\n".join(lines)


def format_peer(peer: dict[str, Any] | None, ours: dict[str, Any]) -> str:
    """Return the three cells of a peer."""
    if peer is None:
        return "| |"
    seconds, times = format_peer_time(peer, ours)
    if peer["status"] != "done":
        return f"| {seconds} | {times}"
    return f"{ours['score'] - peer['score']:+,.2f} | {seconds} | {times}"


def main() -> None:
    """Run the benchmark and print its table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--networks", default=NETWORKS, help="from few variables to many")
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1, help="seed of the samples (default: 1)")
    parser.add_argument("--scores", default="bdeu,bic")
    parser.add_argument("--others", default=",".join(OTHERS))
    parser.add_argument("--max-time", type=float, default=600, help="seconds a run (default: 600)")
    parser.add_argument("--max-timeouts", type=int, default=2, help="then give a peer up")
    add_journal_options(parser)
    add_output_options(parser, "ges")
    options = parser.parse_args()
    requested = options.others.split(",")
    options.others = [name for name in requested if PEERS[name].is_installed]
    journal = Journal(options.journal, options.only_journal)
    answers = measure(list_jobs(options), prepare, describe, journal, options.max_timeouts)
    environment = describe_run(*(PEERS[name].package for name in options.others))
    table = format_table(answers, options, environment["machine"])
    missing = [name for name in requested if name not in options.others]
    show_table(table, {"runs": answers, "not_installed": missing, **environment}, options)


if __name__ == "__main__":
    main()
