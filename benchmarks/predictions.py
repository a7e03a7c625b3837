"""Measure predictions with unknown cells, in rows a second, beside pyAgrum and pgmpy.

Each table is sampled from a bundled network. In ``4 patterns``, 40 % of the columns are unknown,
and each row has one of four patterns of unknown columns, as in a table with a few kinds of
patients. In ``random``, each cell is unknown with probability 5 %. The peers compute the same
posterior distributions, one row after another, on the first rows only. The largest difference
between the answers is in the last column.

    python benchmarks/predictions.py --write
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.bundled import load_network
from coevo.data import Dataset, IncompleteDataset
from coevo.data.known_rows import read_known_rows
from coevo.io import write_bif
from coevo.network import BayesianNetwork, sample
from harness import describe_run, replace_block

HERE = Path(__file__).parent
NETWORKS = {"asia": "bronc", "alarm": "LVFAILURE", "insurance": "Accident", "hepar2": "Cirrhosis"}
N_ROWS, N_PYAGRUM, N_PGMPY = 100_000, 500, 25
GROWTH = (1_000, 10_000, 100_000, 1_000_000)
SEED = 7

Answer = NDArray[np.float64]  # (n_rows, states)


def hide_patterns(rows: Dataset, n_patterns: int, share: float) -> IncompleteDataset:
    """Return rows with few patterns of unknown columns."""
    rng = np.random.default_rng(SEED)
    patterns = rng.random((n_patterns, rows.n_variables)) < share
    mask = patterns[rng.integers(0, n_patterns, rows.n_rows)].T
    return IncompleteDataset(rows, np.ascontiguousarray(mask))


def hide_cells(rows: Dataset, share: float) -> IncompleteDataset:
    """Return rows with random unknown cells."""
    rng = np.random.default_rng(SEED)
    return IncompleteDataset(rows, rng.random(rows.codes.shape) < share)


def list_evidence(
    network: BayesianNetwork, table: IncompleteDataset, target: str, n: int
) -> list[dict[str, str]]:
    """Return the states that are known in the first rows."""
    rows = read_known_rows(table, network.variables)
    return [
        {
            variable.name: variable.states[rows.codes[variable.name][i]]
            for variable in network.variables
            if variable.name != target and rows.codes[variable.name][i] >= 0
        }
        for i in range(n)
    ]


def predict_by_pyagrum(path: Path, target: str, evidence: list[dict[str, str]]) -> Answer:
    """Return the posterior of each row, by lazy propagation."""
    import pyagrum

    peer: Any = pyagrum
    engine = peer.LazyPropagation(peer.loadBN(str(path)))
    answers = []
    for given in evidence:
        engine.setEvidence(given)
        engine.setTargets({target})
        answers.append(engine.posterior(target).tolist())
    return np.array(answers)


def predict_by_pgmpy(path: Path, target: str, evidence: list[dict[str, str]]) -> Answer:
    """Return the posterior of each row, by variable elimination."""
    from pgmpy.inference import VariableElimination
    from pgmpy.readwrite import BIFReader

    model = BIFReader(str(path)).get_model()
    engine, answers = VariableElimination(model), []
    for given in evidence:
        found = engine.query([target], given, show_progress=False)
        answers.append([found.values[found.get_state_no(target, s)] for s in _states(path, target)])
    return np.array(answers)


def _states(path: Path, target: str) -> tuple[str, ...]:
    from coevo.io import read_bif

    return read_bif(path).variable(target).states


def measure(call: Callable[[], Answer]) -> tuple[float, Answer]:
    """Return the seconds of a call and its answer."""
    began = time.perf_counter()
    answer = call()
    return time.perf_counter() - began, answer


def compare(name: str, target: str, kind: str) -> str:
    """Return one line of the table."""
    network = load_network(name)
    rows = sample(network, N_ROWS, SEED).expand()
    table = hide_patterns(rows, 4, 0.4) if kind == "4 patterns" else hide_cells(rows, 0.05)
    seconds, ours = measure(lambda: network.predict(table, target).probabilities)
    rates, worst = [N_ROWS / seconds], 0.0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.bif")
        write_bif(network, path)
        for n, predict in ((N_PYAGRUM, predict_by_pyagrum), (N_PGMPY, predict_by_pgmpy)):
            evidence = list_evidence(network, table, target, n)
            predict(path, target, evidence[:1])  # load the library
            seconds, theirs = measure(partial(predict, path, target, evidence))
            rates.append(n / seconds)
            worst = max(worst, float(np.abs(theirs - ours[:n]).max()))
    cells = " | ".join(f"{rate:,.0f}" for rate in rates)
    ratios = " | ".join(f"{rates[0] / rate:,.0f}" for rate in rates[1:])
    size = len(network.variables)
    return f"| {name} ({size}) | {kind} | {cells} | {ratios} | {worst:.0e} |"


def measure_growth(name: str, target: str) -> str:
    """Return how the time grows with the rows, for complete rows and four patterns."""
    network = load_network(name)
    cells = []
    for n in GROWTH:
        rows = sample(network, n, SEED).expand()
        for table in (rows, hide_patterns(rows, 4, 0.4)):
            seconds, _ = measure(lambda table=table: network.predict(table, target).probabilities)
            cells.append(f"{seconds:.3f}")
    return f"| {name} ({len(network.variables)}) | {' | '.join(cells)} |"


def main() -> None:
    """Run the benchmark and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="replace the tables of README.md")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    run = describe_run("pyagrum", "pgmpy")
    versions = run["versions"]
    lines = [
        f"Rows a second ({N_ROWS:,} rows; {run['machine']}; pyAgrum {versions['pyagrum']}, "
        f"{N_PYAGRUM} rows; pgmpy {versions['pgmpy']}, {N_PGMPY} rows):",
        "",
        "| network (variables) | unknown | coevo | pyAgrum | pgmpy | coevo / pyAgrum | "
        "coevo / pgmpy | largest difference |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
        *(
            compare(name, target, kind)
            for name, target in NETWORKS.items()
            for kind in ("4 patterns", "random 5 %")
        ),
        "",
        "Seconds, for complete rows and for four patterns:",
        "",
        f"| network (variables) | {' | '.join(f'{n:,} | 4 patterns' for n in GROWTH)} |",
        f"|---|{'---:|' * (2 * len(GROWTH))}",
        *(measure_growth(name, target) for name, target in NETWORKS.items()),
    ]
    print("\n".join(lines))
    if options.write:
        replace_block(HERE / "README.md", "predictions", "\n".join(lines))


if __name__ == "__main__":
    main()
