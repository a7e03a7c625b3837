"""Measure exact inference beside pyAgrum: first answers, clicks and single queries.

*First* is a new network to all marginals: coevo's junction tree, and LazyPropagation and
ShaferShenoyInference of pyAgrum, on one thread. *Click* is what a person waits for who enters
findings one by one: all marginals after one more finding. The variables are drawn at random, each
with its most probable state at that time. *Query* is one marginal given the first two findings, by
a new engine; of pyAgrum also VariableElimination, which knows nothing else. Times are CPU times,
of each system the least of several runs (first, query) or the median (click). Of pyAgrum the
fastest engine counts, for each figure by itself; one that takes longer than 30 s is stopped.
The benchmark checks that all compute the same marginals.

    python benchmarks/junction_tree.py
    python benchmarks/junction_tree.py --write    also replace the table of benchmarks/README.md
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from coevo.bundled import list_networks, load_network
from coevo.interop import to_pyagrum
from coevo.network import BayesianNetwork, JunctionTree
from harness import add_output_options, describe_run, show_table

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import pyagrum

TOLERANCE = 1e-9
RUNS = 5
LONG = 1.0  # seconds; what takes longer is not repeated
LIMIT = 30.0  # seconds of an engine of pyAgrum; then it is stopped
ENGINES = ["LazyPropagation", "ShaferShenoyInference"]

Times = dict[str, float]


def measure_least(run: Callable[[], object]) -> float:
    """Return the least CPU seconds of several runs."""
    least = float("inf")
    for _ in range(RUNS):
        began = time.process_time()
        run()
        least = min(least, time.process_time() - began)
        if least > LONG:
            break
    return least


def run_limited(measure: Callable[[], float]) -> float:
    """Return what a process of its own measures; infinity if it does not end within the limit."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    context = multiprocessing.get_context("fork")
    process = context.Process(target=lambda: sender.send(measure()))
    process.start()
    process.join(LIMIT)
    if process.is_alive():
        process.kill()
        return math.inf
    if process.exitcode:
        sys.exit(f"A measurement failed with exit code {process.exitcode}.")
    return float(receiver.recv())


def copy_network(network: BayesianNetwork) -> BayesianNetwork:
    """Return an equal network of which nothing was asked yet."""
    variables = network.variables
    return BayesianNetwork(
        variables,
        {variable.name: network.parents(variable.name) for variable in variables},
        {variable.name: network.table(variable.name) for variable in variables},
    )


def open_engine(kind: str, peer: Any) -> Any:
    """Return an engine of pyAgrum on one thread."""
    engine = getattr(pyagrum, kind)(peer)
    if hasattr(engine, "setNumberOfThreads"):
        engine.setNumberOfThreads(1)
    return engine


def ask_engine(engine: Any, names: list[str]) -> dict[str, Any]:
    """Return the marginals of an engine of pyAgrum."""
    engine.makeInference()
    return {name: engine.posterior(name) for name in names}


def ask_new_engine(kind: str, peer: Any, names: list[str]) -> dict[str, Any]:
    """Return the marginals of a new engine of pyAgrum."""
    return ask_engine(open_engine(kind, peer), names)


def measure_first(network: BayesianNetwork, peer: Any) -> Times:
    """Return the seconds to all marginals of a new network."""
    names = [variable.name for variable in network.variables]
    copies = iter([copy_network(network) for _ in range(RUNS)])
    times = {"coevo": measure_least(lambda: JunctionTree(next(copies)).compute_beliefs())}
    for kind in ENGINES:
        ask = partial(ask_new_engine, kind, peer, names)
        times[kind] = run_limited(partial(measure_least, ask))
    return times


def measure_clicks(network: BayesianNetwork, peer: Any, findings: list[dict[str, str]]) -> Times:
    """Return the median seconds to all marginals after one more finding."""
    tree = JunctionTree(network)
    tree.compute_beliefs()
    seconds, expected = [], []
    for given in findings:
        began = time.process_time()
        expected.append(tree.compute_beliefs(given).marginals)
        seconds.append(time.process_time() - began)
    times = {"coevo": statistics.median(seconds)}
    for kind in ENGINES:
        click = partial(click_engine, kind, peer, network, findings, expected)
        times[kind] = run_limited(click)
    return times


def click_engine(
    kind: str, peer: Any, network: BayesianNetwork, findings: list[dict[str, str]], expected: Any
) -> float:
    """Return the median seconds of an engine of pyAgrum, whose marginals are compared with ours."""
    names, seconds = [variable.name for variable in network.variables], []
    engine = open_engine(kind, peer)
    ask_engine(engine, names)
    for given, ours in zip(findings, expected, strict=True):
        began = time.process_time()
        engine.setEvidence(given)
        theirs = ask_engine(engine, names)
        seconds.append(time.process_time() - began)
        check_agreement(network, theirs, ours)
    return statistics.median(seconds)


def check_agreement(network: BayesianNetwork, theirs: Any, ours: Any) -> None:
    """Stop unless both systems have the same marginals."""
    for variable in network.variables:
        difference = np.abs(
            theirs[variable.name].toarray() - ours[variable.name].probabilities
        ).max()
        if difference > TOLERANCE:
            sys.exit(f"The marginals of {variable.name} differ by {difference:g}.")


def measure_query(network: BayesianNetwork, peer: Any, target: str, given: dict[str, str]) -> Times:
    """Return the seconds of one marginal."""

    def ask(kind: str) -> None:
        engine = open_engine(kind, peer)
        engine.addTarget(target)
        engine.setEvidence(given)
        engine.makeInference()
        engine.posterior(target)

    times = {"coevo": measure_least(lambda: network.query(target, given))}
    for kind in [*ENGINES, "VariableElimination"]:
        times[kind] = run_limited(partial(measure_least, partial(ask, kind)))
    return times


def draw_findings(network: BayesianNetwork, n_clicks: int) -> tuple[list[dict[str, str]], str]:
    """Return findings that grow one by one, and a variable that is none of them."""
    tree, given = JunctionTree(network), dict[str, str]()
    beliefs, findings = tree.compute_beliefs(), []
    order = np.random.default_rng(1).permutation(len(network.variables)).tolist()
    for variable in (network.variables[i] for i in order[:-1][:n_clicks]):
        marginal = beliefs.marginals[variable.name]
        given[variable.name] = str(max(marginal, key=marginal.__getitem__))
        findings.append(dict(given))
        beliefs = tree.compute_beliefs(given)
    return findings, network.variables[order[-1]].name


def measure_network(name: str, n_clicks: int) -> dict[str, Any]:
    """Return the times of all systems on one network."""
    network = load_network(name)
    peer = to_pyagrum(network)
    findings, target = draw_findings(network, n_clicks)
    return {
        "network": name,
        "cells": JunctionTree(network).n_cells,
        "first": measure_first(network, peer),
        "click": measure_clicks(network, peer, findings),
        "query": measure_query(network, peer, target, findings[:2][-1]),
    }


def format_table(records: list[dict[str, Any]], caption: str) -> str:
    """Return the records as a Markdown table."""
    lines = [
        caption,
        "",
        "| network | cells | first | pyAgrum | times | click | pyAgrum | times "
        "| query | pyAgrum | times |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for record in records:
        cells = [record["network"], f"{record['cells']:,}"]
        for what in ("first", "click", "query"):
            ours = record[what]["coevo"]
            theirs = min(t for system, t in record[what].items() if system != "coevo")
            is_over = "> " if theirs == math.inf else ""
            shown = LIMIT if is_over else theirs
            cells += [f"{1000 * ours:,.2f}"]
            cells += [f"{is_over}{1000 * shown:,.2f}", f"{is_over}{shown / ours:.1f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Measure, print, and write the table if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--networks", nargs="+", default=list_networks())
    parser.add_argument("--clicks", type=int, default=12)
    add_output_options(parser, "junction tree")
    options = parser.parse_args()
    run = describe_run("pyagrum", "numpy")
    records = [measure_network(name, options.clicks) for name in options.networks]
    caption = (
        f"Milliseconds of CPU time on one core ({run['machine']}). *first*: from a new network to "
        f"all marginals; *click*: all marginals after one more of {options.clicks} findings, the "
        "median; *query*: one marginal given two findings. *pyAgrum*: its fastest engine; *times*: "
        "pyAgrum divided by coevo."
    )
    show_table(format_table(records, caption), {**run, "records": records}, options)


if __name__ == "__main__":
    main()
