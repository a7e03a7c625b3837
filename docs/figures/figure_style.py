"""What the figures of the documentation share: colours, saving, and the benchmark tables.

Run a script of this folder to draw its figure again, as in
``python docs/figures/ccma_parts.py``. The same numbers give the same file.
"""

from __future__ import annotations

from pathlib import Path

from matplotlib import rc_context
from matplotlib.figure import Figure

__all__ = ["BLUE", "GREEN", "GREY", "HERE", "LIGHT", "ORANGE", "read_rows", "save"]

HERE = Path(__file__).resolve().parent
BENCHMARKS = HERE.parents[1] / "benchmarks" / "README.md"

# Distinguishable in black and white, and by colour-blind readers (Okabe and Ito).
BLUE, ORANGE, GREEN, GREY, LIGHT = "#0072B2", "#D55E00", "#009E73", "#555555", "#DDE8F0"


def save(figure: Figure, name: str) -> None:
    """Write a figure as SVG. Text becomes outlines, so that every browser draws the same."""
    with rc_context({"svg.hashsalt": "coevo", "svg.fonttype": "path"}):
        figure.savefig(HERE / f"{name}.svg", metadata={"Date": None}, facecolor="white")


def read_rows(marker: str) -> list[dict[str, str]]:
    """Return the rows of the first table below a marker of ``benchmarks/README.md``."""
    text = BENCHMARKS.read_text(encoding="utf-8")
    part = text.split(f"<!-- {marker}: ", 1)[1].split("<!-- end of ", 1)[0]
    lines = iter(part.splitlines())
    table: list[list[str]] = []
    for line in lines:
        if line.startswith("|"):
            table.append([cell.strip() for cell in line.strip("|").split("|")])
        elif table:
            break
    header, _, *rows = table
    return [dict(zip(header, row, strict=True)) for row in rows]
