"""Measure whether probabilities of arcs are calibrated: the posterior beside the bootstrap.

Networks are drawn from the prior: a DAG uniformly, then tables from the Dirichlet distributions
that BDeu assumes. Rows are sampled from each, and the probability of each possible arc is computed
from them: by the exact posterior, and as the strength of the arc over bootstrap samples, times its
direction. Among all arcs with a probability near p, a share p should be arcs of the network. The
expected calibration error is the mean distance of the two over ten bins, weighted by their arcs.

    python benchmarks/calibration.py
    python benchmarks/calibration.py --write    also replace the table and the figure
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo import BayesianNetwork, Objective, bootstrap_strength, posterior, sample
from coevo.data.variable import Variable
from coevo.posteriors.exact import ExactSampler
from coevo.posteriors.family_weights import FamilyWeights, OutsideFamilies
from coevo.view.figures import BLUE, ORANGE, apply_style
from harness import describe_run, print_json, replace_block

HERE = Path(__file__).parent
N_BINS = 10
ESS = 1.0
Shares = NDArray[np.float64]


def draw_dag(n: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Return a DAG that is uniformly distributed."""
    candidates = tuple(np.delete(np.arange(n), child) for child in range(n))
    tables = tuple(np.zeros(1 << (n - 1)) for _ in range(n))
    nothing = np.zeros(n + 1, dtype=np.int64)
    outside = OutsideFamilies(
        nothing, np.zeros(0), np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32)
    )
    weights = FamilyWeights(candidates, tables, outside, 0)
    found: NDArray[np.bool_] = ExactSampler(weights, "uniform").draw_dags(1, rng)[0]
    return found


def draw_network(n: int, arity: int, rng: np.random.Generator) -> BayesianNetwork:
    """Return a network that is drawn from the prior of BDeu."""
    dag = draw_dag(n, rng)
    states = tuple(map(str, range(arity)))
    variables = [Variable(f"x{i}", states) for i in range(n)]
    parents = {f"x{c}": tuple(f"x{p}" for p in np.flatnonzero(dag[:, c])) for c in range(n)}
    tables = {}
    for name, listed in parents.items():
        n_configurations = arity ** len(listed)
        alpha = np.full(arity, ESS / (arity * n_configurations))
        drawn = rng.gamma(np.broadcast_to(alpha, (n_configurations, arity))) + 1e-300
        tables[name] = drawn / drawn.sum(axis=1, keepdims=True)
    return BayesianNetwork(variables, parents, tables)


def compute_shares(network: BayesianNetwork, n_rows: int, seed: int) -> dict[str, Shares]:
    """Return the probabilities of all arcs by each way, and which of them are there."""
    rows = sample(network, n_rows, random_state=seed)
    names = [v.name for v in network.variables]
    n = len(names)
    found = posterior(
        rows, networks=1, sampler="exact", score=Objective("bdeu", ess=ESS, max_table=None)
    )
    place = [found.names.index(name) for name in names]
    strengths = bootstrap_strength(
        rows, bootstraps=100, method="hill_climb", score="bdeu", ess=ESS, random_state=seed
    )
    shares, truth = np.zeros((n, n)), np.zeros((n, n))
    for i, parent in enumerate(names):
        for j, child in enumerate(names):
            if i != j:
                arc = strengths.describe_arc((parent, child))
                # an undirected edge is an arc in half of the members of its class
                along = (1 + arc["direction"] - arc["reverse"]) / 2
                shares[i, j] = arc["strength"] * along
                truth[i, j] = parent in network.parents(child)
    apart = ~np.eye(n, dtype=np.bool_)
    return {
        "posterior": found.arcs[np.ix_(place, place)][apart],
        "bootstrap": shares[apart],
        "truth": truth[apart],
    }


def find_bins(shares: Shares, truth: Shares) -> list[dict[str, float]]:
    """Return the number of arcs in each bin, their mean probability and the share that is there."""
    number = np.minimum((shares * N_BINS).astype(np.int64), N_BINS - 1)
    return [
        {
            "n": int((number == k).sum()),
            "said": float(shares[number == k].mean()),
            "true": float(truth[number == k].mean()),
        }
        for k in range(N_BINS)
        if (number == k).any()
    ]


def compute_error(bins: list[dict[str, float]]) -> float:
    """Return the expected calibration error."""
    total = sum(one["n"] for one in bins)
    return sum(one["n"] * abs(one["said"] - one["true"]) for one in bins) / total


def compute_log_loss(shares: Shares, truth: Shares) -> float:
    """Return the mean log loss; shares of 0 and 1 are moved by 0.001."""
    p = shares.clip(0.001, 0.999)
    return float(-(truth * np.log(p) + (1 - truth) * np.log(1 - p)).mean())


def draw_figure(records: dict[str, Any], path: Path) -> None:
    """Draw the share of true arcs over the probability that was said."""
    from coevo.view.figures import make_figure

    figure, (panel,) = make_figure(1, width=4.6, height=4.2)
    with apply_style():
        panel.plot([0, 1], [0, 1], color="0.6", linewidth=1, linestyle="--")
        for name, colour in (("posterior", BLUE), ("bootstrap", ORANGE)):
            bins = records[name]["bins"]
            label = f"{name}: error {records[name]['error']:.3f}"
            said, true = [b["said"] for b in bins], [b["true"] for b in bins]
            panel.plot(said, true, "o-", color=colour, label=label)
        panel.set_xlabel("probability of an arc, as said")
        panel.set_ylabel("share of these arcs that are there")
        panel.legend(frameon=False)
    figure.savefig(path, dpi=150)


def main() -> None:
    """Measure, print, and write the table and the figure if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--tables", type=int, default=50)
    parser.add_argument("--variables", type=int, default=8)
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--format", choices=["text", "json"], default="text")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    parts = []
    for seed in range(options.tables):
        network = draw_network(options.variables, 2, np.random.default_rng(seed))
        parts.append(compute_shares(network, options.rows, seed))
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    truth = joined.pop("truth")
    records: dict[str, Any] = {}
    for name, shares in joined.items():
        bins = find_bins(shares, truth)
        records[name] = {
            "bins": bins,
            "error": compute_error(bins),
            "log_loss": compute_log_loss(shares, truth),
        }
    facts = describe_run("numpy")
    if options.format == "json":
        print_json({**facts, **records})
        return
    lines = [
        f"{options.tables} networks of {options.variables} binary variables drawn from the prior, "
        f"{options.rows} rows each, {len(truth):,} possible arcs, BDeu with ess {ESS:g}:",
        "",
        "| | expected calibration error | log loss |",
        "|---|---:|---:|",
        *(
            f"| {name} | {facts['error']:.4f} | {facts['log_loss']:.4f} |"
            for name, facts in records.items()
        ),
    ]
    table = "\n".join(lines)
    print(table)
    if options.write:
        draw_figure(records, HERE / "calibration.png")
        replace_block(HERE / "README.md", "calibration", table)


if __name__ == "__main__":
    main()
