"""Run sumu's Gadget twice on a table of codes; print the CPU seconds and how the runs differ.

It runs in an environment of its own, with sumu 0.1.2, NumPy below 2 and Python below 3.12, and
must not import coevo.

    python benchmarks/sumu_runs.py codes.txt K D CHAINS ITERATIONS
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import numpy as np
import sumu  # type: ignore[import-not-found]

PARTS = 16  # of a run; the probabilities are compared after each


def run(path: str, numbers: list[int], seed: int) -> tuple[Any, float, float]:
    """Return the arc probabilities after each part of a run, and its CPU seconds.

    The seconds are those to score all sets of candidates, and those of the sampling.
    """
    k, d, chains, iterations = numbers
    np.random.seed(seed)  # noqa: NPY002  # what sumu draws from
    gadget = sumu.Gadget(
        data=sumu.Data(path, discrete=True, arities=True),
        scoref="bdeu",
        ess=1,
        max_id=-1,
        K=k,
        d=d,
        cp_algo="greedy-lite",
        mc3_chains=chains,
        burn_in=iterations // 5,
        iterations=iterations,
        thinning=max(1, iterations // 2000),
        tolerance=2.0**-32,
    )
    gadget._find_candidate_parents()
    began = time.process_time()
    gadget._precompute_scores_for_all_candidate_psets()
    scored = time.process_time() - began
    gadget._precompute_candidate_restricted_scoring()
    gadget._precompute_candidate_complement_scoring()
    gadget._init_mcmc()
    began = time.process_time()
    gadget._run_mcmc()
    dags, _ = gadget._sample_dags()
    return add_arcs(dags, gadget.n), scored, time.process_time() - began


def add_arcs(dags: Any, n: int) -> Any:
    """Return the share of each arc among the DAGs up to the end of each part."""
    sums = np.zeros((PARTS, n, n))
    for number, dag in enumerate(dags):
        for child, *rest in dag:
            for parent in rest[0] if rest else ():
                sums[number * PARTS // len(dags), parent, child] += 1
    counts = -(-np.arange(1, PARTS + 1) * len(dags) // PARTS)
    return np.cumsum(sums, axis=0) / counts[:, None, None]


def main() -> None:
    """Print one JSON object."""
    path, numbers = sys.argv[1], [int(word) for word in sys.argv[2:6]]
    runs = [run(path, numbers, seed) for seed in (1, 2)]
    shares = runs[0][0], runs[1][0]
    answer = {
        "differences": np.abs(shares[0] - shares[1]).max(axis=(1, 2)).tolist(),
        "seconds_to_score": runs[0][1],
        "seconds": runs[0][2],
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
