"""Measure ``coevo solve`` on all bundled tours and orderings, beside elkai and OR-Tools.

Each instance is solved from several seeds, and coevo does not know the optimum: the champion form
runs until 25 generations bring no improvement, the literal form 250 generations. The seconds are
CPU seconds of this process, the median of the seeds. *Until found* is the time to the best
solution. elkai is LKH, with its default of ten runs. OR-Tools is its routing library with guided
local search for one second. Both are optional (``pip install elkai ortools``), and know tours only.

    python benchmarks/solve.py
    python benchmarks/solve.py --seeds 3 --format json
    python benchmarks/solve.py --write      also replace the tables of benchmarks/README.md
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from coevo.problems import (
    ORDERINGS,
    TOURS,
    OrderingProblem,
    SolveRow,
    TourProblem,
    open_ordering,
    open_tour,
)
from coevo.problems.task import SolveSettings, open_task
from harness import describe_run, print_json, replace_block

HERE = Path(__file__).parent
OR_TOOLS_SECONDS = 1
Peer = Callable[[TourProblem], list[int]]


def make_clock(times: list[float]) -> Callable[[SolveRow], None]:
    """Return a callback that adds the CPU time of each generation to a list."""
    return lambda row: times.append(time.process_time())


def measure_champion(problem: Any, n_seeds: int) -> dict[str, Any]:
    """Return the values of all seeds, and the median CPU seconds."""
    values, found, total = [], [], []
    for seed in range(n_seeds):
        times: list[float] = []
        task = open_task(problem, SolveSettings(random_state=seed), "solve")
        began = time.process_time()
        result = task.run([make_clock(times)])
        total.append(time.process_time() - began)
        found.append(times[result.history[-1].improved] - began)
        values.append(result.value)
    return {
        "values": values,
        "until_found": statistics.median(found),
        "seconds": statistics.median(total),
    }


def measure_literal(problem: Any, n_seeds: int) -> list[float]:
    """Return the distance of each seed from the optimum, in per cent."""
    results = [
        open_task(problem, SolveSettings("literal", random_state=seed), "solve").run()
        for seed in range(n_seeds)
    ]
    return [100 * abs(result.value - problem.optimum) / problem.optimum for result in results]


def measure_peer(problem: TourProblem, solve: Peer, runs: int) -> dict[str, Any]:
    """Return the lengths that a peer finds, and its median CPU seconds."""
    lengths, seconds = [], []
    for _ in range(runs):
        began = time.process_time()
        tour = solve(problem)
        seconds.append(time.process_time() - began)
        lengths.append(problem.measure(tour))
    return {"values": lengths, "seconds": statistics.median(seconds)}


def solve_by_elkai(problem: TourProblem) -> list[int]:
    """Return the tour of LKH."""
    elkai = import_module("elkai")
    tour: list[int] = elkai.DistanceMatrix(problem.distances.astype(int).tolist()).solve_tsp()
    return tour[:-1]


def solve_by_or_tools(problem: TourProblem) -> list[int]:
    """Return the tour of the routing library."""
    pywrapcp = import_module("ortools.constraint_solver.pywrapcp")
    kinds = import_module("ortools.constraint_solver.routing_enums_pb2")
    distances = problem.distances.astype(int).tolist()
    manager = pywrapcp.RoutingIndexManager(problem.n_places, 1, 0)
    routing = pywrapcp.RoutingModel(manager)
    index = routing.RegisterTransitCallback(
        lambda i, j: distances[manager.IndexToNode(i)][manager.IndexToNode(j)]
    )
    routing.SetArcCostEvaluatorOfAllVehicles(index)
    options = pywrapcp.DefaultRoutingSearchParameters()
    options.first_solution_strategy = kinds.FirstSolutionStrategy.PATH_CHEAPEST_ARC
    options.local_search_metaheuristic = kinds.LocalSearchMetaheuristic.GUIDED_LOCAL_SEARCH
    options.time_limit.FromSeconds(OR_TOOLS_SECONDS)
    found = routing.SolveWithParameters(options)
    place, tour = routing.Start(0), []
    while not routing.IsEnd(place):
        tour.append(manager.IndexToNode(place))
        place = found.Value(routing.NextVar(place))
    return tour


def measure(n_seeds: int, n_literal: int) -> list[dict[str, Any]]:
    """Return one record an instance."""
    peers: dict[str, Peer] = {"elkai": solve_by_elkai, "ortools": solve_by_or_tools}
    peers = {name: solve for name, solve in peers.items() if find_spec(name) is not None}
    problems: list[TourProblem | OrderingProblem] = [*map(open_tour, TOURS)]
    problems += map(open_ordering, ORDERINGS)
    for kind in (open_tour("burma14"), open_ordering("t59n11xx")):  # load the kernels
        measure_champion(kind, 1)
        measure_literal(kind, 1)
    records = []
    for problem in problems:
        record: dict[str, Any] = {
            "instance": problem.name,
            "places": problem.n_places,
            "optimum": problem.optimum,
            "champion": measure_champion(problem, n_seeds),
            "literal": measure_literal(problem, n_literal),
        }
        if isinstance(problem, TourProblem):
            for package, solve in peers.items():
                runs = n_seeds if package == "elkai" else 1
                record[package] = measure_peer(problem, solve, runs)
        records.append(record)
    return records


def format_champion(record: dict[str, Any]) -> list[str]:
    """Return the cells of the champion form."""
    champion = record["champion"]
    hits = sum(value == record["optimum"] for value in champion["values"])
    n = len(champion["values"])
    return [
        f"{record['instance']} | {record['places']} | {record['optimum']:,} | {hits} of {n}",
        f"{champion['until_found']:.3f}",
        f"{champion['seconds']:.3f}",
    ]


def format_literal(record: dict[str, Any]) -> str:
    """Return the mean and the range of the literal form, in per cent."""
    values = record["literal"]
    return f"{statistics.mean(values):.1f} ({min(values):.1f} to {max(values):.1f})"


def format_tours(records: list[dict[str, Any]], machine: str) -> str:
    """Return the table of tours."""
    lines = [
        f"CPU seconds on one core ({machine}):",
        "",
        "| tour | cities | optimum | champion: seeds at the optimum | s until found | s to the end "
        "| elkai: runs at the optimum | s | coevo to elkai: until found, to the end "
        f"| OR-Tools, {OR_TOOLS_SECONDS} s: % above | literal: % above |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for record in records:
        cells = format_champion(record)
        if "elkai" in record:
            peer, own = record["elkai"], record["champion"]
            hits = sum(length == record["optimum"] for length in peer["values"])
            cells += [f"{hits} of {len(peer['values'])}", f"{peer['seconds']:.3f}"]
            ratios = (own[name] / peer["seconds"] for name in ("until_found", "seconds"))
            cells.append(", ".join(f"{ratio:.1f} x" for ratio in ratios))
        else:
            cells += ["", "", ""]
        lengths = record.get("ortools", {}).get("values", [])
        above = [f"{100 * (length / record['optimum'] - 1):.1f}" for length in lengths]
        cells += ["".join(above), format_literal(record)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def format_orderings(records: list[dict[str, Any]], machine: str) -> str:
    """Return the table of orderings."""
    lines = [
        f"CPU seconds on one core ({machine}):",
        "",
        "| ordering | items | optimum | champion: seeds at the optimum | s until found "
        "| s to the end | literal: % below |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    rows = ([*format_champion(record), format_literal(record)] for record in records)
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def main() -> None:
    """Run the benchmark and print its tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seeds", type=int, default=10, help="of the champion form (default: 10)")
    parser.add_argument("--literal", type=int, default=3, help="of the literal form (default: 3)")
    parser.add_argument("--format", choices=["text", "json"], default="text")
    parser.add_argument("--write", action="store_true", help="write into benchmarks/README.md")
    options = parser.parse_args()
    records = measure(options.seeds, options.literal)
    run = describe_run("elkai", "ortools")
    machine = run["machine"]
    tours = format_tours([one for one in records if one["instance"] in TOURS], machine)
    orderings = format_orderings([one for one in records if one["instance"] in ORDERINGS], machine)
    if options.format == "json":
        print_json({**run, "records": records})
    else:
        print(f"{tours}\n\n{orderings}")
    if options.write:
        replace_block(HERE / "README.md", "tours", tours)
        replace_block(HERE / "README.md", "orderings", orderings)


if __name__ == "__main__":
    main()
