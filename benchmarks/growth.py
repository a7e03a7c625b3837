"""Measure how the time and memory of a local score grow with rows and with variables.

Random families of 0 to 4 parents, BIC, one core. Each measurement runs in its own process, so the
peak memory belongs to it alone.

    python benchmarks/growth.py --write     also replace the tables of benchmarks/README.md
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from harness import (
    Task,
    describe_run,
    draw_families,
    measure_least_seconds,
    print_json,
    replace_block,
)

HERE = Path(__file__).parent
ROWS = [1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000]
NETWORKS = ["alarm", "hepar2", "andes", "link", "munin"]


def measure(network_name: str, rows: int, system: str) -> dict[str, Any]:
    """Return one line of a table. Call it in a new process."""
    from coevo import FamilyScorer, load_network, sample
    from coevo.score import FamilyBatch

    network = load_network(network_name)
    dataset = sample(network, rows, 1)
    n_families = max(200, min(20_000, 2_000_000_000 // (rows * (1 if system == "coevo" else 20))))
    families = draw_families(dataset.n_variables, n_families, 4, 1)
    batch = FamilyBatch.from_pairs(families)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if system == "coevo":
        FamilyScorer(dataset, "bic").local_scores(batch)  # loads the kernels
        began = time.process_time()
        FamilyScorer(dataset, "bic")
        set_up = time.process_time() - began
        make: Callable[[], Task] = lambda: partial(FamilyScorer(dataset, "bic").local_scores, batch)  # noqa: E731
    else:
        from local_scores import make_numpy_scores, make_pybnesian_scores

        makers = {"numpy": make_numpy_scores, "pybnesian": make_pybnesian_scores}
        scores = makers[system](dataset, "bic")
        set_up = 0.0
        make = lambda: partial(scores, families)  # noqa: E731
    seconds = measure_least_seconds({system: make}, 3)[system]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "network": network_name,
        "variables": dataset.n_variables,
        "rows": rows,
        "system": system,
        "families": n_families,
        "microseconds": round(seconds / n_families * 1e6, 3),
        "set_up_seconds": round(set_up, 4),
        "data_megabytes": round(dataset.codes.nbytes / 1e6, 1),
        "peak_megabytes": round(peak / 1024, 0),
        "added_megabytes": round((peak - before) / 1024, 0),
    }


def measure_in_process(*arguments: object) -> dict[str, Any]:
    """Call `measure` in a new process."""
    command = [sys.executable, __file__, "--one", *map(str, arguments)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def draw_figure(lines: list[dict[str, Any]], path: Path) -> None:
    """Draw the time of a local score over rows, both axes logarithmic."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
    for system, marker in (("coevo", "o"), ("pybnesian", "s"), ("numpy", "^")):
        own_lines = [line for line in lines if line["system"] == system]
        rows = [line["rows"] for line in own_lines]
        axes.plot(rows, [line["microseconds"] for line in own_lines], marker=marker, label=system)
    axes.set(xscale="log", yscale="log", xlabel="rows", ylabel="microseconds for each family")
    axes.set_title("One local score (Alarm, BIC, 0 to 4 parents, one core)", fontsize=10)
    axes.grid(True, which="major", alpha=0.3)
    axes.legend(frameon=False)
    figure.savefig(path, dpi=150)


def format_rows_table(lines: list[dict[str, Any]]) -> str:
    """Return the growth with rows as a Markdown table."""
    text = [
        "| rows | coevo, µs a family | pybnesian | numpy | set-up, s | data, MB | peak, MB |",
        "|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for rows in ROWS:
        by_system = {line["system"]: line for line in lines if line["rows"] == rows}
        own = by_system["coevo"]
        text.append(
            f"| {rows:,} | {own['microseconds']:.2f} | "
            f"{by_system['pybnesian']['microseconds']:.1f} | "
            f"{by_system['numpy']['microseconds']:.1f} | {own['set_up_seconds']:.3f} | "
            f"{own['data_megabytes']} | {own['peak_megabytes']:.0f} |"
        )
    return "\n".join(text)


def format_variables_table(lines: list[dict[str, Any]]) -> str:
    """Return the growth with variables as a Markdown table."""
    text = [
        "| network | variables | µs a family | set-up, s | data, MB | peak, MB |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    text += [
        f"| {line['network']} | {line['variables']:,} | {line['microseconds']:.2f} | "
        f"{line['set_up_seconds']:.3f} | {line['data_megabytes']} | {line['peak_megabytes']:.0f} |"
        for line in lines
    ]
    return "\n".join(text)


def main() -> None:
    """Run the benchmark, print the results, and replace the tables with --write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "--one", nargs=3, metavar=("NETWORK", "ROWS", "SYSTEM"), help="measure one line"
    )
    parser.add_argument(
        "--write",
        action="store_true",
        help="replace the tables of benchmarks/README.md, and growth.png",
    )
    options = parser.parse_args()
    if options.one:
        network, rows, system = options.one
        print_json(measure(network, int(rows), system))
        return
    systems = ["coevo", "pybnesian", "numpy"]
    by_rows = [measure_in_process("alarm", rows, system) for rows in ROWS for system in systems]
    by_variables = [measure_in_process(name, 5_000, "coevo") for name in NETWORKS]
    if options.write:
        machine = f"One core of {describe_run()['machine']}.\n\n"
        replace_block(HERE / "README.md", "growth with rows", machine + format_rows_table(by_rows))
        replace_block(
            HERE / "README.md",
            "growth with variables",
            machine + format_variables_table(by_variables),
        )
        draw_figure(by_rows, HERE / "growth.png")
    print_json({"rows": by_rows, "variables": by_variables, **describe_run("pybnesian")})


if __name__ == "__main__":
    main()
