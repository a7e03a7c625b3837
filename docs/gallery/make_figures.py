"""Draw the pictures of the gallery: run each page, then draw what it computed.

The pictures show the same numbers as the pages, because the script runs the code blocks of the
pages. Run ``python docs/gallery/make_figures.py`` after a page or a result has changed. Name
pages to draw some pictures only, as in ``make_figures.py penguins``. The picture of a report needs
Chromium; ``COEVO_BROWSER`` may name it.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, PathPatch
from matplotlib.path import Path as Outline
from matplotlib.ticker import MultipleLocator

from coevo import CPDAG, DAG, open_network
from coevo.graph import Arc
from coevo.view.picture.layout import lay_out
from coevo.view.picture.routing import Curve

__all__ = ["FIGURES", "Style", "draw_graph", "main", "run_page"]

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

# Distinguishable in black and white, and by colour-blind readers (Okabe and Ito).
BLUE, ORANGE, GREY, LIGHT, WHITE = "#0072B2", "#D55E00", "#555555", "#EDF2F8", "#FFFFFF"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


@dataclass(frozen=True)
class Style:
    """How an arc is drawn."""

    label: str = ""
    colour: str = BLUE
    is_dashed: bool = False
    has_head: bool = True


def draw_graph(
    panel: Axes, dag: DAG, styles: Mapping[Arc, Style], highlighted: Sequence[str] = ()
) -> None:
    """Draw a graph, parents above children, with a style for each arc."""
    layout = lay_out(dag.nodes, dag.arcs)
    labels: list[tuple[float, float]] = []
    for arc in dag.arcs:
        curve, style = layout.curves[arc], styles[arc]
        _draw_arc(panel, curve, style)
        if style.label:
            labels.append(_find_free_point(curve, labels))
            _draw_label(panel, labels[-1], style)
    for name, box in layout.boxes.items():
        corner = (box.x - box.width / 2, box.y - box.height / 2)
        colour = ORANGE if name in highlighted else GREY
        panel.add_patch(
            FancyBboxPatch(
                corner,
                box.width,
                box.height,
                boxstyle="round,pad=0,rounding_size=7",
                facecolor=LIGHT,
                edgecolor=colour,
                linewidth=1.8 if name in highlighted else 1.0,
                zorder=3,
            )
        )
        panel.text(box.x, box.y, box.label, ha="center", va="center", fontsize=9, zorder=4)
    panel.set_xlim(-12, layout.width + 12)
    panel.set_ylim(layout.height + 8, -8)
    panel.set_aspect("equal")
    panel.set_axis_off()


def _draw_arc(panel: Axes, curve: Curve, style: Style) -> None:
    codes = [Outline.MOVETO, *[Outline.CURVE4] * (len(curve) - 1)]
    dashes = (0, (4, 3)) if style.is_dashed else "solid"
    outline = Outline(curve, codes)
    look = {"edgecolor": style.colour, "linewidth": 1.4, "linestyle": dashes, "zorder": 1}
    panel.add_patch(PathPatch(outline, facecolor="none", **look))
    if style.has_head:
        (x, y), end = _find_point(curve, 0.97), curve[-1]
        panel.add_patch(
            FancyArrowPatch(
                (x, y), end, arrowstyle="-|>", mutation_scale=11, color=style.colour, shrinkB=0
            )
        )


def _draw_label(panel: Axes, point: tuple[float, float], style: Style) -> None:
    box = {"facecolor": WHITE, "edgecolor": "none", "pad": 0.8}
    panel.text(
        *point, style.label, ha="center", va="center", fontsize=8, color=style.colour, bbox=box,
        zorder=2,
    )  # fmt: skip


def _find_free_point(curve: Curve, taken: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return a point near the middle of a curve, away from the points that are taken."""
    points = [_find_point(curve, share) for share in (0.5, 0.4, 0.6, 0.35, 0.65)]
    width, height = 44.0, 16.0  # of a label, with a margin
    for x, y in points:
        if all(abs(x - a) > width or abs(y - b) > height for a, b in taken):
            return x, y
    return points[0]


def _find_point(curve: Curve, share: float) -> tuple[float, float]:
    """Return the point of a curve of Bezier segments at a share of its segments."""
    n_segments = (len(curve) - 1) // 3
    segment = min(int(share * n_segments), n_segments - 1)
    t = share * n_segments - segment
    points = curve[3 * segment : 3 * segment + 4]
    weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3)
    x = sum(weight * point[0] for weight, point in zip(weights, points, strict=True))
    y = sum(weight * point[1] for weight, point in zip(weights, points, strict=True))
    return x, y


def draw_breast_cancer(values: Mapping[str, Any]) -> Figure:
    """Draw the network with the strength of each arc."""
    result = values["result"]
    strengths = {arc: result.bootstrap.strength_of(arc)[0] for arc in result.dag.arcs}
    figure = Figure(figsize=(7.2, 5.4), layout="constrained")
    styles = _style_by_strength(result.dag, result.cpdag, strengths)
    draw_graph(figure.subplots(), result.dag, styles, ["diagnosis"])
    return figure


def draw_diabetes(values: Mapping[str, Any]) -> Figure:
    """Draw the network with the strength of each arc, and the probability of high progression."""
    run = json.loads(Path("diabetes/run.json").read_text(encoding="utf-8"))
    network = open_network("diabetes/model.bif")
    strengths = {(arc["from"], arc["to"]): arc["strength"] for arc in run["arcs"]}
    figure = Figure(figsize=(11, 5.2), layout="constrained")
    graph, bars = figure.subplots(1, 2, width_ratios=(1.7, 1))
    styles = _style_by_strength(network.dag, CPDAG(network.dag), strengths)
    draw_graph(graph, network.dag, styles, ["progression"])
    _draw_progression(bars, network, values["patients"])
    return figure


def _draw_progression(panel: Axes, network: Any, patients: Any) -> None:
    """Draw the probability of high progression by body mass index and triglycerides."""
    bmi, fat = network.variable("bmi").states, network.variable("triglycerides").states
    high = network.variable("progression").states[-1]
    for i, colour in enumerate(("#9EC9E2", "#3C93C2", "#0D4A70")):
        for j, state in enumerate(bmi):
            given = {"bmi": state, "triglycerides": fat[i]}
            height = network.query("progression", given=given)[high]
            n_patients = _count(patients, "bmi", state) & _count(patients, "triglycerides", fat[i])
            label = _describe_bin(fat[i]) if j == 0 else None
            panel.bar(j + 0.27 * (i - 1), height, 0.25, color=colour, label=label)
            panel.text(
                j + 0.27 * (i - 1), height + 0.01, f"{n_patients.sum()}", ha="center", fontsize=8
            )
    panel.set_xticks(range(len(bmi)), [_describe_bin(state) for state in bmi])
    panel.set_xlabel("body mass index")
    panel.set_ylabel(f"probability of high progression ({_describe_bin(high)})")
    panel.legend(title="triglycerides", loc="upper left", frameon=False)
    panel.spines[["top", "right"]].set_visible(False)


def _describe_bin(state: str) -> str:
    """Return a state such as 'from_24.4_to_30.6' in words."""
    return state.replace("_", " ")


def _count(table: Any, column: str, state: str) -> Any:
    """Return which rows of a table are in a bin."""
    words = state.split("_")
    bounds = dict(zip(words[::2], map(float, words[1::2]), strict=True))
    upper = bounds.get("to", bounds.get("below", float("inf")))
    return (table[column] >= bounds.get("from", -float("inf"))) & (table[column] < upper)


def draw_protein_signalling(values: Mapping[str, Any]) -> Figure:
    """Draw the edges of the published graph that were found, and the distances by rows."""
    published, bootstrap = values["published"].dag, values["result"].bootstrap
    missing = set(values["found"].missing)
    styles = {
        arc: Style(
            label=_format_below_one(bootstrap.strength_of(arc)[0]),
            colour=ORANGE if arc in missing else BLUE,
            is_dashed=arc in missing,
        )
        for arc in published.arcs
    }
    figure = Figure(figsize=(11, 5), layout="constrained")
    graph, curves = figure.subplots(1, 2, width_ratios=(1.5, 1))
    draw_graph(graph, published, styles)
    looks = {"ccma": (BLUE, "o", 0.97), "hill_climb": (ORANGE, "s", 1.03)}
    for method, by_rows in values["distances"].items():
        colour, marker, shift = looks[method]
        sizes = [shift * n_rows for n_rows in by_rows]
        medians = [sorted(distances)[len(distances) // 2] for distances in by_rows.values()]
        curves.plot(sizes, medians, color=colour, linewidth=1.4, label=f"{method}, median")
        for size, distances in zip(sizes, by_rows.values(), strict=True):
            curves.plot(
                [size] * len(distances), distances, marker, color=colour, markersize=5, alpha=0.6
            )
    curves.set_xscale("log")
    curves.set_xticks(list(by_rows), [f"{n_rows:,}" for n_rows in by_rows])
    curves.minorticks_off()
    curves.set_xlabel("rows")
    curves.set_ylabel("structural Hamming distance of the CPDAGs")
    curves.set_ylim(-0.5, None)
    curves.yaxis.set_major_locator(MultipleLocator(5))
    curves.legend(frameon=False)
    curves.spines[["top", "right"]].set_visible(False)
    return figure


def _format_below_one(strength: float) -> str:
    """Return a strength as a label; arcs that every sample has get none."""
    return f"{strength:.2f}" if strength < 1 else ""


def _style_by_strength(dag: DAG, cpdag: CPDAG, strengths: Mapping[Arc, float]) -> dict[Arc, Style]:
    """Return a style for each arc: dashed if weak, and without head if data cannot direct it."""
    directed = set(cpdag.arcs)
    return {
        arc: Style(
            label=f"{strengths[arc]:.2f}",
            colour=BLUE if strengths[arc] > 0.5 else GREY,
            is_dashed=strengths[arc] <= 0.5,
            has_head=arc in directed,
        )
        for arc in dag.arcs
    }


def draw_penguins(values: Mapping[str, Any]) -> bytes:
    """Return a screenshot of the report, in the view of the equivalence class."""
    from playwright.sync_api import sync_playwright

    found = [os.environ.get("COEVO_BROWSER"), *map(shutil.which, BROWSERS)]
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=next((path for path in found if path), None), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": 1000, "height": 780})
        page.goto(Path("penguins/report.html").resolve().as_uri())
        page.get_by_text("CPDAG", exact=True).first.click()
        picture = page.screenshot()
        browser.close()
    return picture


FIGURES: dict[str, Callable[[Mapping[str, Any]], Figure | bytes]] = {
    "breast-cancer": draw_breast_cancer,
    "diabetes": draw_diabetes,
    "penguins": draw_penguins,
    "protein-signalling": draw_protein_signalling,
}


def run_page(name: str) -> dict[str, Any]:
    """Run the blocks of a page in the current folder; return its variables."""
    blocks = import_module("helpers.documents").run_document(HERE / f"{name}.md")
    variables: dict[str, Any] = blocks[-1].example.namespace
    return variables


def main() -> None:
    """Draw the pictures of the pages that the command line names, or of all pages."""
    sys.path.insert(0, str(ROOT / "tests"))  # the runner of pages is a helper of the tests
    for name in sys.argv[1:] or FIGURES:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            picture = FIGURES[name](run_page(name))
            target = HERE / f"{name}.png"
            if isinstance(picture, bytes):
                target.write_bytes(picture)
            else:
                picture.savefig(target, dpi=150, facecolor=WHITE, metadata={"Software": None})
        print(target.relative_to(ROOT))


if __name__ == "__main__":
    main()
