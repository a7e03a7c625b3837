r"""Compare `pc` with PC of causal-learn and with MIIC of pyAgrum.

All systems learn from the same rows of bundled networks. Both PCs use G2 with a significance level
of 0.05. A distance (SHD) is that between the answer and the CPDAG of the true network: pairs of
variables that have no edge, an edge, an arc, or an arc the other way round, in one of them only.
causal-learn and MIIC may answer with an arc in both directions, which counts as an edge. Times are
CPU seconds from the table in memory to the result, with libraries and kernels loaded.

    python benchmarks/pc.py --networks asia,alarm --seeds 1
    python benchmarks/pc.py --journal pc.jsonl --write    resumes, and replaces the tables
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo import Dataset, FamilyScorer, load_network, run_search, sample
from coevo.experiments.peers import PEERS
from coevo.graph import CPDAG
from coevo.search.pc import PCState
from harness import add_output_options, describe_run, show_table
from limited import Job, Journal, add_journal_options, measure

NETWORKS = "alarm,insurance,hailfinder,hepar2,win95pts"
OURS = "coevo"
OTHERS = {"causal-learn": "causal-learn", "MIIC": "pyagrum"}
Directions = NDArray[np.bool_]  # (n, n): arcs, and edges in both directions


def prepare(job: Job) -> Callable[[], Directions]:
    """Load a system and convert the data; return the function that learns."""
    dataset = sample(load_network(job.network), job.n_rows, job.seed)
    if job.system == OURS:
        run_search("pc", FamilyScorer(sample(load_network("asia"), 100, 0)))  # loads kernels
        return lambda: run_pc(dataset)
    make = {"causal-learn": make_causal_learn, "MIIC": make_miic}[job.system]
    return make(dataset)


def run_pc(dataset: Dataset) -> Directions:
    """Return the answer of PC."""
    state = run_search("pc", FamilyScorer(dataset)).state
    assert isinstance(state, PCState)
    return state.directions


def make_causal_learn(dataset: Dataset) -> Callable[[], Directions]:
    """Return the function that runs PC of causal-learn."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from causallearn.search.ConstraintBased.PC import pc
    rows = np.ascontiguousarray(dataset.expand().codes.T)

    def learn() -> Directions:
        graph = pc(rows, 0.05, "gsq", stable=True, show_progress=False).G.graph
        # [i, j] is -1 and [j, i] is 1 where i -> j; both are -1 in an edge
        is_joined = graph != 0
        is_arc = (graph == -1) & (graph.T == 1)
        directions: Directions = is_joined & ~is_arc.T
        return directions

    return learn


def make_miic(dataset: Dataset) -> Callable[[], Directions]:
    """Return the function that runs MIIC, on one thread, with its default correction (NML)."""
    from coevo.experiments.peers import _make_pyagrum_learner

    learner = _make_pyagrum_learner(dataset)
    learner.useMIIC()
    learner.setNumberOfThreads(1)

    def learn() -> Directions:
        graph = learner.learnPDAG()
        number = {node: int(learner.nameFromId(node)) for node in graph.nodes()}
        directions = np.zeros((len(number), len(number)), dtype=np.bool_)
        for parent, child in graph.arcs():
            directions[number[parent], number[child]] = True
        for one, other in graph.edges():
            directions[number[one], number[other]] = True
            directions[number[other], number[one]] = True
        return directions

    return learn


def describe(job: Job, found: Directions) -> dict[str, Any]:
    """Return the distance to the CPDAG of the truth, and F1 of the edges."""
    true_dag = load_network(job.network).dag
    names, truth = sorted(true_dag.nodes), np.zeros_like(found)
    number = {name: i for i, name in enumerate(names)}
    cpdag = CPDAG(true_dag)
    for a, b in (*cpdag.arcs, *cpdag.edges, *((b, a) for a, b in cpdag.edges)):
        truth[number[a], number[b]] = True
    differs = (found != truth) | (found != truth).T
    edges, true_edges = np.triu(found | found.T), np.triu(truth | truth.T)
    n_shared = int((edges & true_edges).sum())
    f1 = 2 * n_shared / max(1, int(edges.sum() + true_edges.sum()))
    return {"shd": int(np.triu(differs).sum()), "f1": f1, "n_edges": int(edges.sum())}


def list_jobs(options: argparse.Namespace) -> Iterator[Job]:
    """Yield the runs, sample by sample."""
    for seed in range(1, options.seeds + 1):
        for network in options.networks.split(","):
            for system in (OURS, *options.others):
                yield Job(system, network, options.rows, "g2", seed, options.max_time)


def format_table(answers: list[dict[str, Any]], options: argparse.Namespace, machine: str) -> str:
    """Return a Markdown table: one line for each network, with means over its samples."""
    systems = (OURS, *options.others)
    lines = [
        f"{options.rows:,} rows, means over the samples, one core of {machine}. Limit: "
        f"{options.max_time:g} CPU seconds a run. A sample counts if all systems have ended. "
        "*times* is the CPU time divided by that of coevo.",
        "",
        "| network | samples | "
        + " | ".join(
            f"{name}: SHD | F1 | s" + ("" if name == OURS else " | times") for name in systems
        )
        + " |",
        "|---|---:|" + "---:|---:|---:|" + "---:|---:|---:|---:|" * len(options.others),
    ]
    for network in options.networks.split(","):
        runs = {
            (a["seed"], a["system"]): a
            for a in answers
            if a["network"] == network and a["status"] == "done"
        }
        seeds = [
            seed
            for seed in range(1, options.seeds + 1)
            if all((seed, name) in runs for name in systems)
        ]
        cells = [network, str(len(seeds))]
        for name in systems if seeds else ():
            cells += format_system([runs[seed, name] for seed in seeds])
            if name != OURS:
                ratios = [runs[s, name]["seconds"] / runs[s, OURS]["seconds"] for s in seeds]
                cells.append(f"{sum(ratios) / len(ratios):,.0f}")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def format_system(runs: list[dict[str, Any]]) -> list[str]:
    """Return three cells: the means of the distance, of F1 and of the seconds."""
    shd, f1, seconds = (
        sum(run[key] for run in runs) / len(runs) for key in ("shd", "f1", "seconds")
    )
    return [f"{shd:.1f}", f"{f1:.3f}", f"{seconds:.2f}"]


def main() -> None:
    """Run the benchmark and print its table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--networks", default=NETWORKS)
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--seeds", type=int, default=5, help="number of samples (default: 5)")
    parser.add_argument("--others", default=",".join(OTHERS))
    parser.add_argument("--max-time", type=float, default=300, help="seconds a run (default: 300)")
    add_journal_options(parser)
    add_output_options(parser, "pc")
    options = parser.parse_args()
    requested = options.others.split(",")
    options.others = [name for name in requested if PEERS[OTHERS[name]].is_installed]
    answers = measure(
        list_jobs(options), prepare, describe, Journal(options.journal, options.only_journal), 10**6
    )
    environment = describe_run(*(PEERS[OTHERS[name]].package for name in options.others))
    table = format_table(answers, options, environment["machine"])
    missing = [name for name in requested if name not in options.others]
    show_table(table, {"runs": answers, "not_installed": missing, **environment}, options)


if __name__ == "__main__":
    main()
