"""Measure how well posterior, bootstrap and one network rank the arcs of the true network.

Tables are sampled from bundled networks. The score is BDeu with equivalent sample size 1. The
posterior has four chains for 32 steps, or fewer if they agree before; the bootstrap has samples of
hill climbing; the single network comes from `ccma`, and an edge that data cannot direct counts half
in each direction. The measure is the area under the ROC curve over all ordered pairs of variables
(arcs), and over all pairs (edges). Differences are tested by the signed-rank test over the means of
each network and number of rows, and over all tables.

*Posterior, chains only* and *bootstrap, restricted* are those without the arcs that the chains do
not consider. They show how much these arcs explain of a difference.

    python benchmarks/posterior_auc.py --seeds 1 2 3 --records auc.jsonl --write

With `--records`, tables that the file has are not measured again.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import wilcoxon

import coevo
from coevo.graph import CPDAG, DAG
from harness import describe_run, print_json, replace_block

HERE = Path(__file__).parent
NETWORKS = ["alarm", "insurance", "hepar2", "win95pts"]
ROWS = [200, 1000, 5000]
SYSTEMS = [
    *("posterior", "posterior, chains only", "bootstrap", "bootstrap, restricted"),
    "one network",
]
Shares = NDArray[np.float64]  # (n, n), [parent, child]


def make_matrix(names: tuple[str, ...], dag: DAG) -> Shares:
    """Return the arcs of a DAG; an edge that data cannot direct counts half in each direction."""
    place = {name: i for i, name in enumerate(names)}
    matrix = np.zeros((len(names), len(names)))
    for parent, child in dag.arcs:
        matrix[place[parent], place[child]] = 1.0
    for one, other in CPDAG(dag).edges:
        matrix[place[one], place[other]] = matrix[place[other], place[one]] = 0.5
    return matrix


def compute_auc(shares: Shares, truth: NDArray[np.bool_]) -> float:
    """Return the area under the ROC curve; ties count half."""
    rank = np.empty(len(shares))
    _, inverse, counts = np.unique(shares, return_inverse=True, return_counts=True)
    rank = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    n_true = int(truth.sum())
    above = rank[truth].sum() - n_true * (n_true + 1) / 2
    return float(above / (n_true * (len(truth) - n_true)))


def compute_areas(shares: Shares, truth: NDArray[np.bool_]) -> tuple[float, float]:
    """Return the areas for arcs and for edges."""
    n = len(shares)
    ordered, pairs = ~np.eye(n, dtype=np.bool_), np.triu_indices(n, 1)
    either = np.minimum(shares + shares.T, 1.0)
    return (
        compute_auc(shares[ordered], truth[ordered]),
        compute_auc(either[pairs], (truth | truth.T)[pairs]),
    )


def run_systems(rows: Any, samples: int) -> dict[str, tuple[Shares, float]]:
    """Return the shares of arcs of each system, and its CPU seconds."""
    options: dict[str, Any] = {"score": coevo.Objective("bdeu", ess=1), "random_state": 1}
    found = {}
    began = time.process_time()
    posterior = coevo.posterior(
        rows,
        **options,
        sampler="chains",
        max_steps=32,
        budget=coevo.Budget(max_time=600),
        progress=False,
    )
    found["posterior"] = posterior.arcs, time.process_time() - began
    is_sampled = ~np.isnan(posterior.errors)
    found["posterior, chains only"] = posterior.arcs * is_sampled, np.nan
    names = posterior.names
    began = time.process_time()
    strengths = coevo.bootstrap_strength(
        rows, bootstraps=samples, method="hill_climb", score="bdeu", ess=1, random_state=1
    )
    matrix = np.zeros((len(names), len(names)))
    place = {name: i for i, name in enumerate(names)}
    for arc in strengths.arcs:
        matrix[place[arc.parent], place[arc.child]] = arc.strength * arc.direction
        matrix[place[arc.child], place[arc.parent]] = arc.strength * (1 - arc.direction)
    found["bootstrap"] = matrix, time.process_time() - began
    found["bootstrap, restricted"] = matrix * is_sampled, np.nan
    found["one network"] = make_matrix(names, posterior.network), np.nan
    return found


def measure_table(name: str, rows: int, seed: int, samples: int) -> list[dict[str, Any]]:
    """Return the records of one table: one for each system."""
    network = coevo.load_network(name)
    table = coevo.sample(network, rows, random_state=seed)
    place = {v: i for i, v in enumerate(table.names)}
    truth = np.zeros((len(place), len(place)), dtype=np.bool_)
    for parent, child in network.dag.arcs:
        truth[place[parent], place[child]] = True
    records = []
    for system, (shares, cpu) in run_systems(table, samples).items():
        arcs, edges = compute_areas(shares, truth)
        is_table = {"network": name, "rows": rows, "seed": seed, "system": system}
        records.append({**is_table, "arcs": arcs, "edges": edges, "seconds": cpu})
    return records


def measure(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Return the records of all tables, with those that the file has."""
    path: Path | None = options.records
    stored = path.read_text(encoding="utf-8").splitlines() if path and path.exists() else []
    records: list[dict[str, Any]] = [json.loads(line) for line in stored]
    done = {(r["network"], r["rows"], r["seed"]) for r in records}
    wanted = itertools.product(options.seeds, options.networks, options.rows)
    for seed, name, rows in wanted:
        if (name, rows, seed) in done:
            continue
        new = measure_table(name, rows, seed, options.samples)
        print(*new, sep="\n", flush=True)
        records += new
        if path is not None:
            with path.open("a", encoding="utf-8") as stream:
                stream.writelines(f"{json.dumps(record)}\n" for record in new)
    chosen = set(itertools.product(options.networks, options.rows, options.seeds))
    return [r for r in records if (r["network"], r["rows"], r["seed"]) in chosen]


def format_table(records: list[dict[str, Any]], seeds: int) -> str:
    """Return the mean areas for each network and number of rows, and the paired tests."""
    lines = [
        f"Area under the ROC curve of arcs (of edges), means of {seeds} tables:",
        "",
        f"| network | rows | {' | '.join(SYSTEMS)} |",
        f"|---|---:|{'---|' * len(SYSTEMS)}",
    ]
    cells = sorted({(r["network"], r["rows"]) for r in records})
    for network, rows in cells:
        shown = []
        for system in SYSTEMS:
            some = [r for r in records if (r["network"], r["rows"]) == (network, rows)]
            some = [r for r in some if r["system"] == system]
            areas = [np.mean([r[what] for r in some]) for what in ("arcs", "edges")]
            shown.append(f"{areas[0]:.3f} ({areas[1]:.3f})")
        lines.append(f"| {network} | {rows:,} | {' | '.join(shown)} |")
    return "\n".join([*lines, "", *test_differences(records)])


def test_differences(records: list[dict[str, Any]]) -> list[str]:
    """Return a sentence for each comparison of the posterior with another system."""
    lines = []
    for what in ("arcs", "edges"):
        for other in SYSTEMS[1:]:
            by_table = {
                (r["network"], r["rows"], r["seed"]): r[what]
                for r in records
                if r["system"] == "posterior"
            }
            for r in records:
                if r["system"] == other:
                    by_table[r["network"], r["rows"], r["seed"]] -= r[what]
            by_cell: dict[Any, list[float]] = {}
            for (network, rows, _), difference in by_table.items():
                by_cell.setdefault((network, rows), []).append(difference)
            means = np.array([np.mean(cell) for cell in by_cell.values()])
            every = np.array(list(by_table.values()))
            lines.append(
                f"- {what}, posterior minus {other}: mean {every.mean():+.4f}; higher in "
                f"{int((means > 0).sum())} of {len(means)} lines (p = {wilcoxon(means).pvalue:.2g})"
                f", on {int((every > 0).sum())} of {len(every)} tables "
                f"(p = {wilcoxon(every).pvalue:.2g})"
            )
    by_system = {s: [r for r in records if r["system"] == s] for s in ("posterior", "bootstrap")}
    seconds = {s: np.mean([r["seconds"] for r in by_system[s]]) for s in ("posterior", "bootstrap")}
    lines.append(
        f"- mean CPU seconds: posterior {seconds['posterior']:.1f} (with its search), bootstrap "
        f"{seconds['bootstrap']:.1f}"
    )
    return lines


def main() -> None:
    """Measure, print, and write the table if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--networks", nargs="+", default=NETWORKS)
    parser.add_argument("--rows", nargs="+", type=int, default=ROWS)
    parser.add_argument("--seeds", nargs="+", type=int, default=[1])
    parser.add_argument("--samples", type=int, default=50, help="of the bootstrap")
    parser.add_argument("--records", type=Path, help="a file of records, which grows")
    parser.add_argument("--format", choices=["text", "json"], default="text")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore", coevo.CoevoWarning)  # chains that do not agree yet
    records = measure(options)
    facts = describe_run("numpy")
    if options.format == "json":
        print_json({**facts, "records": records})
        return
    table = (
        f"{format_table(records, len(options.seeds))}\n- measured on {facts['machine']}, under load"
    )
    print(table)
    if options.write:
        replace_block(HERE / "README.md", "posterior auc", table)


if __name__ == "__main__":
    main()
