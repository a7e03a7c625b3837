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


def run(path: str, numbers: list[int], seed: int) -> tuple[Any, float, float]:
    """Return the arc probabilities of one run, and the CPU seconds of its sampling."""
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
    began = time.process_time()
    gadget._find_candidate_parents()
    gadget._precompute_scores_for_all_candidate_psets()
    gadget._precompute_candidate_restricted_scoring()
    gadget._precompute_candidate_complement_scoring()
    gadget._init_mcmc()
    prepared = time.process_time()
    gadget._run_mcmc()
    dags, _ = gadget._sample_dags()
    ended = time.process_time()
    n = gadget.n
    arcs = np.zeros((n, n))
    for dag in dags:
        for child, *rest in dag:
            for parent in rest[0] if rest else ():
                arcs[parent, child] += 1
    return arcs / len(dags), prepared - began, ended - prepared


def main() -> None:
    """Print one JSON object."""
    path, numbers = sys.argv[1], [int(word) for word in sys.argv[2:6]]
    runs = [run(path, numbers, seed) for seed in (1, 2)]
    difference = float(np.abs(runs[0][0] - runs[1][0]).max())
    answer = {
        "difference": difference,
        "prepare_seconds": runs[0][1],
        "seconds": runs[0][2],
        "arcs": [one[0].tolist() for one in runs],
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
