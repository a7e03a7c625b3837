"""Measure whether parallel tempering helps the chains: two runs with the same CPU time.

Each run has a number of ladders, and each ladder has coupled chains at several temperatures
(`coevo posterior --chains 2 --temperatures 3`). The seconds are those after which no arc differs
between two independent runs by more than 0.05.

    python benchmarks/tempering.py insurance hailfinder
    python benchmarks/tempering.py --write
"""

from __future__ import annotations

import argparse
from typing import Any

from coevo.posteriors.chain_state import ChainSettings
from coevo.posteriors.chains import make_tables
from coevo.posteriors.family_weights import FamilyWeights
from harness import add_output_options, describe_run, show_table
from posterior import Run, Setting, compare_runs, format_table

CANDIDATES = {"insurance": 12, "alarm": 12, "hailfinder": 12, "hepar2": 10, "win95pts": 10}
LADDERS = ((4, 1), (2, 3), (1, 6))  # the number of ladders, and of temperatures
SECONDS = 1.0  # to measure the exchanges


def measure(weights: FamilyWeights, ladder: tuple[int, int], most: float) -> dict[str, Any]:
    """Return how soon two runs of these ladders agree, and how often they exchange."""
    settings = ChainSettings(chains=ladder[0], temperatures=ladder[1])
    tables = make_tables(weights, settings)
    found = compare_runs(tables, settings, most)
    run = Run(tables, settings, 3)
    run.advance(run.seconds + SECONDS)
    rate = run.state.exchange_rate
    return {
        "ladders x temperatures": f"{ladder[0]} x {ladder[1]}",
        "lowest power": round(tables.powers[-1], 2),
        "exchanged": "" if rate is None else f"{rate:.0%}",
        "seconds to 0.05": found["seconds to 0.05"],
        "difference at the end": found["difference at the end"],
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("networks", nargs="*", help=f"of {', '.join(CANDIDATES)} (default: all)")
    parser.add_argument("--seconds", type=float, default=16.0, help="of CPU time for each run")
    add_output_options(parser, "tempering")
    options = parser.parse_args()
    records = list[dict[str, Any]]()
    for name in options.networks or CANDIDATES:
        weights = Setting(name).choose_weights(CANDIDATES[name])
        for ladder in LADDERS:
            records.append({"network": name, **measure(weights, ladder, options.seconds)})
            print(records[-1], flush=True)
    facts = describe_run("numpy")
    table = format_table(records, f"Two runs of {options.seconds:g} CPU s ({facts['machine']}):")
    show_table(table, {**facts, "records": records}, options)


if __name__ == "__main__":
    main()
