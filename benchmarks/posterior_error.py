"""Compare the chains with the exact posterior: the largest error of an arc after ten CPU seconds.

Tables of 1,000 rows are sampled from asia, sachs and child. The score is BDeu with equivalent
sample size 1, with at most 5 parents. All of child fits the exact sums of the prior over orders;
for the uniform prior over DAGs its first 15 variables do. The ten seconds include the search and
the tables. An error is also given in units of the standard error that the chains report: the root
of the mean square over arcs with a standard error above 0.0005. It is near 1 if the chains know
their error.

    python benchmarks/posterior_error.py --write
"""

from __future__ import annotations

import argparse
import time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coevo.posteriors.chain_state import ChainSettings
from coevo.posteriors.diagnostics import diagnose_chains
from coevo.posteriors.exact import compute_exact_posterior
from coevo.posteriors.family_weights import make_complete_weights
from harness import add_output_options, describe_run, show_table
from posterior import Run, Setting, format_table, load_kernels

SECONDS = 10.0
BAR = 0.02
LEAST_ERROR = 0.0005  # a smaller standard error is round-off of certain arcs
MAX_PARENTS = 5


class Case(NamedTuple):
    """A kind of table."""

    network: str
    prior: str
    n_variables: int


CASES = [
    Case("asia", "uniform", 8),
    Case("asia", "order", 8),
    Case("sachs", "uniform", 11),
    Case("sachs", "order", 11),
    Case("child", "uniform", 15),
    Case("child", "order", 20),
]


def measure_errors(case: Case, seed: int) -> dict[str, float]:
    """Return the errors of one table."""
    began = time.process_time()
    setting = Setting(case.network, "uniform", seed, case.n_variables, MAX_PARENTS)
    tables = setting.make_tables(12)
    prepared = time.process_time() - began
    exact = compute_exact_posterior(make_complete_weights(setting.problem), case.prior).arcs
    load_kernels(tables)
    run = Run(tables, ChainSettings(case.prior), seed)
    run.seconds += prepared
    seconds, settled = prepared + 0.25, 0.0
    while seconds < SECONDS:
        run.advance(seconds)
        is_small = _find_largest(run, exact) < BAR
        settled = (settled or run.seconds) if is_small else 0.0
        seconds *= 2**0.5
    run.advance(SECONDS)
    found = diagnose_chains(run.state)
    is_uncertain = found.standard_error > LEAST_ERROR
    ratio = (run.arcs - exact)[is_uncertain] / found.standard_error[is_uncertain]
    return {
        "prepared": prepared,
        "settled": settled or np.inf,
        "error": _find_largest(run, exact),
        "ratio": float(np.sqrt((ratio**2).mean())) if len(ratio) else np.nan,
    }


def _find_largest(run: Run, exact: NDArray[np.float64]) -> float:
    return float(np.abs(run.arcs - exact).max())


def make_record(case: Case, tables: int) -> dict[str, Any]:
    """Return the line of a kind of table: the worst of its tables."""
    found = [measure_errors(case, seed) for seed in range(1, tables + 1)]
    return {
        "network": case.network,
        "variables": case.n_variables,
        "prior": case.prior,
        "search and tables, s": round(max(one["prepared"] for one in found), 2),
        "error below 0.02 from, s": round(max(one["settled"] for one in found), 2),
        "largest error after 10 s": round(max(one["error"] for one in found), 4),
        "in standard errors": round(float(np.nanmean([one["ratio"] for one in found])), 2),
    }


def main() -> None:
    """Measure, print, and write the table if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--tables", type=int, default=3)
    add_output_options(parser, "posterior error")
    options = parser.parse_args()
    records = [make_record(case, options.tables) for case in CASES]
    facts = describe_run("numpy")
    caption = (
        f"The chains beside the exact posterior, the worst of {options.tables} tables, CPU seconds "
        f"on one core of {facts['machine']}, under load:"
    )
    show_table(format_table(records, caption), {**facts, "records": records}, options)


if __name__ == "__main__":
    main()
