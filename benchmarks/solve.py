"""Measure ``coevo solve`` on all bundled tours and orderings, beside elkai and OR-Tools.

Each instance is solved from several seeds, and coevo does not know the optimum: the champion form
runs until 25 generations of tours, or 100 of orderings, bring no improvement, the literal form 250
generations. The seconds are CPU seconds of this process, the median of the seeds. *Until found* is
the time to the best solution. elkai is LKH, with its default of ten runs. OR-Tools is its routing
library with guided local search for one second. Both are optional (``pip install elkai ortools``),
and know tours only.

``--random`` compares the champion form on random orderings with an iterated local search, both for
the same CPU seconds. The random instances of LOLIB cannot be downloaded here, so the matrices are
made by their published recipes (`make_weights`).

    python benchmarks/solve.py
    python benchmarks/solve.py --seeds 3 --format json
    python benchmarks/solve.py --write      also replace the tables of benchmarks/README.md
    python benchmarks/solve.py --random 5 --seconds 2 --write    five matrices of each kind and size
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from coevo.problems import (
    ORDERINGS,
    TOURS,
    OrderingProblem,
    SolveRow,
    TourProblem,
    open_ordering,
    open_tour,
)
from coevo.problems.champion import ChampionOrderings
from coevo.problems.solver import run_solver
from coevo.problems.task import SolveSettings, open_task
from coevo.search import Budget
from harness import describe_run, print_json, replace_block

HERE = Path(__file__).parent
OR_TOOLS_SECONDS = 1
KINDS, SIZES = ("uniform", "sparse", "permutations", "noise"), (100, 150)
N_SWAPS = 10  # of a perturbation of the iterated local search; 2 and 5 were not better
Peer = Callable[[TourProblem], list[int]]
Weights = NDArray[np.float64]


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


def make_weights(kind: str, n: int, seed: int) -> Weights:
    """Return a random matrix by a published recipe.

    - *uniform*: whole numbers from 0 to 100, as type A1 of LOLIB (Laguna, Marti and Campos 1999).
    - *permutations*: how often i is before j in n / 2 random permutations, as type A2 of LOLIB.
    - *noise*: numbers up to 100 above the diagonal and up to 85 below it, with rows and columns
      shuffled together, as type B of LOLIB (Mitchell and Borchers 2000; LOLIB has several limits).
    - *sparse*: whole numbers from 1 to 99 in one of ten cells (Sakuraba and Yagiura 2010).
    """
    rng = np.random.default_rng([KINDS.index(kind), n, seed])
    weights = rng.integers(0, 101, (n, n)).astype(np.float64)
    if kind == "permutations":
        places = np.argsort([rng.permutation(n) for _ in range(n // 2)], axis=1)
        weights = (places[:, :, None] < places[:, None, :]).sum(axis=0).astype(np.float64)
    elif kind == "noise":
        shuffled = rng.permutation(n)
        lower = np.tril(rng.integers(0, 86, (n, n)), k=-1)
        weights = (np.triu(weights) + lower)[np.ix_(shuffled, shuffled)].astype(np.float64)
    elif kind == "sparse":
        weights = (rng.integers(1, 100, (n, n)) * (rng.random((n, n)) < 0.1)).astype(np.float64)
    np.fill_diagonal(weights, 0.0)
    return weights


@numba.njit  # type: ignore[untyped-decorator]
def search_iteratively(weights: Any, order: Any, n_rounds: int, seed: int) -> float:
    """Overwrite an order by iterated local search; return its weight.

    Each item goes to its best place until no move helps. Then random pairs of items are swapped,
    and the search begins again. A lighter order is undone.
    """
    np.random.seed(seed)  # noqa: NPY002 - numba has this generator only
    n, best, old = len(order), -np.inf, order.copy()
    for _ in range(n_rounds):
        at, n_idle = 0, 0
        while n_idle < n:  # insertion moves, each place from that of its neighbour
            item, target, most = order[at], at, 1e-9
            gain = 0.0
            for place in range(at - 1, -1, -1):
                gain += weights[item, order[place]] - weights[order[place], item]
                if gain > most:
                    target, most = place, gain
            gain = 0.0
            for place in range(at + 1, n):
                gain += weights[order[place], item] - weights[item, order[place]]
                if gain > most:
                    target, most = place, gain
            n_idle = n_idle + 1 if target == at else 0
            step = 1 if target > at else -1
            for place in range(at, target, step):
                order[place] = order[place + step]
            order[target] = item
            at = (at + 1) % n
        total = 0.0
        for i in range(n):
            for j in range(i + 1, n):
                total += weights[order[i], order[j]]
        if total >= best:
            best, old[:] = total, order
        order[:] = old
        for _swap in range(N_SWAPS):
            i, j = np.random.randint(n), np.random.randint(n)  # noqa: NPY002
            order[i], order[j] = order[j], order[i]
    order[:] = old
    return best


def run_iterated_search(weights: Weights, seconds: float, seed: int) -> float:
    """Return the weight that iterated local search finds in these CPU seconds."""
    order = np.random.default_rng(seed).permutation(len(weights))
    began, best, part = time.process_time(), -math.inf, 0
    while time.process_time() - began < seconds:
        best = search_iteratively(weights, order, 50, 10_000 * seed + part)
        part += 1
    return best


def run_champion(weights: Weights, seconds: float, seed: int) -> float:
    """Return the weight that the champion form finds in these CPU seconds."""
    solver = ChampionOrderings(OrderingProblem.from_matrix(weights))
    began = time.process_time()

    def is_over(row: SolveRow) -> bool:
        return time.process_time() - began >= seconds

    last, _ = run_solver(solver, Budget(max_generations=1 << 40), seed, [is_over])
    return last.state.score


def measure_random(n_matrices: int, seconds: float) -> list[dict[str, Any]]:
    """Return the weights of both searches on each random matrix."""
    for run in (run_champion, run_iterated_search):  # compile
        run(make_weights("uniform", 10, 0), 0.0, 0)
    return [
        {
            "kind": kind,
            "items": n,
            "champion": run_champion(make_weights(kind, n, seed), seconds, seed),
            "iterated": run_iterated_search(make_weights(kind, n, seed), seconds, seed),
        }
        for kind in KINDS
        for n in SIZES
        for seed in range(n_matrices)
    ]


def test_signs(n_wins: int, n_losses: int) -> float:
    """Return the two-sided p-value of the sign test; ties do not count."""
    n, few = n_wins + n_losses, min(n_wins, n_losses)
    return float(min(1.0, 2 * sum(math.comb(n, k) for k in range(few + 1)) / 2**n))


def format_random(records: list[dict[str, Any]], seconds: float, machine: str) -> str:
    """Return the table of random orderings."""
    lines = [
        f"{seconds:g} CPU seconds each on one core ({machine}):",
        "",
        "| matrices | items | number | champion heavier | equal | lighter | mean difference, % "
        "| p (sign test) |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    groups = [(kind, n) for kind in KINDS for n in SIZES]
    for kind, n in [*groups, ("all", "")]:
        chosen = [r for r in records if kind == "all" or (r["kind"], r["items"]) == (kind, n)]
        gains = [100 * (r["champion"] / r["iterated"] - 1) for r in chosen]
        n_wins, n_losses = sum(gain > 0 for gain in gains), sum(gain < 0 for gain in gains)
        lines.append(
            f"| {kind} | {n} | {len(gains)} | {n_wins} | {len(gains) - n_wins - n_losses} "
            f"| {n_losses} | {statistics.mean(gains):+.3f} | {test_signs(n_wins, n_losses):.2g} |"
        )
    return "\n".join(lines)


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


def report_random(options: argparse.Namespace) -> None:
    """Run the comparison on random orderings and print its table."""
    records, run = measure_random(options.random, options.seconds), describe_run()
    table = format_random(records, options.seconds, run["machine"])
    if options.format == "json":
        print_json({**run, "records": records})
    else:
        print(table)
    if options.write:
        replace_block(HERE / "README.md", "random orderings", table)


def main() -> None:
    """Run the benchmark and print its tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seeds", type=int, default=10, help="of the champion form (default: 10)")
    parser.add_argument("--literal", type=int, default=3, help="of the literal form (default: 3)")
    parser.add_argument("--format", choices=["text", "json"], default="text")
    parser.add_argument("--write", action="store_true", help="write into benchmarks/README.md")
    parser.add_argument("--random", type=int, help="number of random matrices of each kind")
    parser.add_argument(
        "--seconds", type=float, default=2.0, help="of a random matrix (default: 2)"
    )
    options = parser.parse_args()
    if options.random is not None:
        report_random(options)
        return
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
