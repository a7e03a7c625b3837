"""Measure evidence clicks: all marginals after each new finding, coevo and pyAgrum.

A person enters findings one by one: variables drawn at random, each with its most probable state
at that time. After each finding both systems compute the marginals of all variables: the junction
tree of coevo, which keeps its messages, and LazyPropagation of pyAgrum on one thread, which keeps
its own. The time of a click is CPU time; the table has the median and the longest. The benchmark
checks that both systems compute the same marginals.

    python benchmarks/junction_tree.py
    python benchmarks/junction_tree.py --write    also replace the table of benchmarks/README.md
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
import warnings
from typing import Any

import numpy as np

from coevo import load_network
from coevo.interop import to_pyagrum
from coevo.network import BayesianNetwork, JunctionTree
from harness import add_output_options, describe_run, show_table

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import pyagrum

NETWORKS = ["alarm", "hepar2", "win95pts", "andes", "pigs", "diabetes"]
TOLERANCE = 1e-9


def measure_network(name: str, n_clicks: int) -> dict[str, Any]:
    """Return the CPU seconds of the clicks of both systems on one network."""
    network = load_network(name)
    began = time.process_time()
    tree = JunctionTree(network)
    beliefs = tree.compute_beliefs()
    first = time.process_time() - began
    peer: Any = pyagrum.LazyPropagation(to_pyagrum(network))  # type: ignore[no-untyped-call]
    peer.setNumberOfThreads(1)
    given: dict[str, str] = {}
    times: dict[str, list[float]] = {"coevo": [], "pyagrum": []}
    order = np.random.default_rng(1).permutation(len(network.variables))[:n_clicks]
    for variable in (network.variables[i] for i in order.tolist()):
        marginal = beliefs.marginals[variable.name]
        given[variable.name] = str(max(marginal, key=marginal.__getitem__))
        began = time.process_time()
        beliefs = tree.compute_beliefs(given)
        times["coevo"].append(time.process_time() - began)
        began = time.process_time()
        peer.setEvidence(given)
        peer.makeInference()
        theirs = {v.name: peer.posterior(v.name) for v in network.variables}
        times["pyagrum"].append(time.process_time() - began)
        check_agreement(network, theirs, beliefs.marginals)
    return {"network": name, "cells": tree.n_cells, "first": first, **summarise(times)}


def check_agreement(network: BayesianNetwork, theirs: Any, ours: Any) -> None:
    """Stop unless both systems have the same marginals."""
    for variable in network.variables:
        difference = np.abs(
            theirs[variable.name].toarray() - ours[variable.name].probabilities
        ).max()
        if difference > TOLERANCE:
            sys.exit(f"The marginals of {variable.name} differ by {difference:g}.")


def summarise(times: dict[str, list[float]]) -> dict[str, float]:
    """Return the median and the longest time of each system, and the ratio of the medians."""
    summary = {}
    for system, seconds in times.items():
        summary[system] = statistics.median(seconds)
        summary[f"{system}_longest"] = max(seconds)
    summary["ratio"] = summary["pyagrum"] / summary["coevo"]
    return summary


def format_table(records: list[dict[str, Any]], caption: str) -> str:
    """Return the records as a Markdown table."""
    lines = [
        caption,
        "",
        "| network | cells | first | click | longest | pyAgrum: click | longest | times |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for r in records:
        shown = [r["first"], r["coevo"], r["coevo_longest"], r["pyagrum"], r["pyagrum_longest"]]
        cells = " | ".join(f"{1000 * seconds:,.1f}" for seconds in shown)
        lines.append(f"| {r['network']} | {r['cells']:,} | {cells} | {r['ratio']:.1f} |")
    return "\n".join(lines)


def main() -> None:
    """Measure, print, and write the table if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--networks", nargs="+", default=NETWORKS)
    parser.add_argument("--clicks", type=int, default=12)
    add_output_options(parser, "junction tree")
    options = parser.parse_args()
    run = describe_run("pyagrum", "numpy")
    records = [measure_network(name, options.clicks) for name in options.networks]
    caption = (
        f"{options.clicks} findings one after the other, milliseconds of CPU time on one core "
        f"({run['machine']}). *first*: build the tree and compute all marginals; *click*: the "
        "median; *times*: pyAgrum's median divided by coevo's."
    )
    show_table(format_table(records, caption), {**run, "records": records}, options)


if __name__ == "__main__":
    main()
