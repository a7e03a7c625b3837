"""Draw how the time of a proof grows with rows and with variables, from records of `prove.py`.

The left side has the K2 optima with at most three parents over rows, the right side BIC and BDeu on
1,000 rows over the number of variables. A proof that did not close is a mark without a fill, at the
time when it was stopped.

    python benchmarks/prove_growth.py RECORDS [RECORDS ...]
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from coevo import load_network
from coevo.view.figures import BLUE, ORANGE, apply_style

HERE = Path(__file__).parent

Point = tuple[int, float, bool]  # rows or variables, CPU seconds, and whether it closed


def make_point(size: int, row: dict[str, Any]) -> Point:
    """Return one mark of the figure."""
    return size, sum(row["seconds"].values()), row["gap"] < 1e-6


def list_by_rows(rows: Sequence[dict[str, Any]], network: str) -> list[Point]:
    """Return the marks of the reference tables of a network."""
    own = [row for row in rows if row["table"].startswith(f"{network}-") and "seconds" in row]
    return sorted(make_point(int(row["table"].split("-")[1]), row) for row in own)


def list_by_variables(rows: Sequence[dict[str, Any]], score: str) -> list[Point]:
    """Return the marks of the sampled tables with 1,000 rows."""
    own = [
        row
        for row in rows
        if row["table"].endswith(", 1,000 rows") and row["score"] == score and "seconds" in row
    ]
    sizes = [len(load_network(row["table"].split(",")[0]).variables) for row in own]
    return sorted(make_point(size, row) for size, row in zip(sizes, own, strict=True))


def draw_figure(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """Draw both sides."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt
    import matplotlib.ticker

    with apply_style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(7.6, 3.4), layout="constrained")
        for name, colour in (("insurance", BLUE), ("alarm", ORANGE)):
            draw_line(left, list_by_rows(rows, name), name, colour)
        for score, colour in (("bic", BLUE), ("bdeu", ORANGE)):
            draw_line(right, list_by_variables(rows, score), score, colour)
        left.set(xlabel="rows", ylabel="CPU seconds", yscale="log", ylim=(1, 300))
        left.set_title("K2, at most three parents", fontsize=10)
        right.set(xlabel="variables", yscale="log", ylim=(0.1, 300))
        right.set_title("1,000 rows", fontsize=10)
        for axes in (left, right):
            axes.legend(frameon=False)
            axes.set_yticks([0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200])
            axes.yaxis.set_major_formatter("{x:g}")
            axes.yaxis.set_minor_formatter(mpl.ticker.NullFormatter())
        figure.savefig(path, dpi=150)
        plt.close(figure)


def draw_line(axes: Any, points: Sequence[Point], label: str, colour: str) -> None:
    """Draw one line, with a mark for each proof."""
    axes.plot([one[0] for one in points], [one[1] for one in points], color=colour, label=label)
    for size, seconds, is_closed in points:
        fill = colour if is_closed else "white"
        axes.plot([size], [seconds], "o", color=colour, markerfacecolor=fill)


def main() -> None:
    """Read the records and draw the figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("records", type=Path, nargs="+", help="records of prove.py")
    arguments = parser.parse_args()
    lines = [line for path in arguments.records for line in path.read_text().splitlines()]
    draw_figure([json.loads(line) for line in lines], HERE / "prove-growth.png")


if __name__ == "__main__":
    main()
