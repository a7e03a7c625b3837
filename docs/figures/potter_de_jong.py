"""Draw the experiment of Potter and De Jong: the best value against the evaluations.

It runs ``examples/potter_de_jong.py`` with 100,000 evaluations and 20 runs, which takes about
five minutes.
"""

from __future__ import annotations

import runpy

import numpy as np
from figure_style import BLUE, GREEN, GREY, HERE, ORANGE, save
from matplotlib.figure import Figure

EVALUATIONS, RUNS = 100_000, 20
LINES = {"plain GA": (GREY, ":"), "CCGA-1": (BLUE, "-"), "CCGA-2": (ORANGE, "--")}
GRID = np.unique(np.geomspace(200, EVALUATIONS, 80).astype(int))
LEAST = 1e-5  # the resolution of 16 bits allows no exact minimum; smaller values are drawn here


def main() -> None:
    """Draw one panel a function, with one line an algorithm: the mean of all runs."""
    example = runpy.run_path(str(HERE.parents[1] / "examples" / "potter_de_jong.py"))
    figure = Figure(figsize=(9.2, 5.2), layout="constrained")
    panels = figure.subplots(2, 3).ravel()
    for panel, name in zip(panels, example["FUNCTIONS"], strict=False):
        for algorithm, (colour, line) in LINES.items():
            values = []
            for seed in range(RUNS):
                used, best = np.array(example["minimise"](name, algorithm, EVALUATIONS, seed)).T
                at = np.searchsorted(used, GRID, side="right") - 1
                values.append(np.where(at < 0, np.nan, best[at]))
            mean = np.mean(values, axis=0)
            panel.plot(
                GRID, np.maximum(mean, LEAST), line, color=colour, linewidth=1.6, label=algorithm
            )
        n_variables = example["FUNCTIONS"][name][1]
        is_separable = name != "Rosenbrock"
        panel.set_title(
            f"{name}, {n_variables} variables",
            fontsize=9.5,
            color="black" if is_separable else GREEN,
        )
        panel.set(xscale="log", yscale="log")
        panel.tick_params(labelsize=7.5)
        panel.grid(alpha=0.3, linewidth=0.5)
        panel.spines[["top", "right"]].set_visible(False)
    for panel in (panels[2], panels[3], panels[4]):
        panel.set_xlabel("evaluations of the function", fontsize=8.5, color=GREY)
    for panel in (panels[0], panels[3]):
        panel.set_ylabel("best value, mean of 20 runs", fontsize=8.5, color=GREY)
    panels[5].axis("off")
    handles, names = panels[0].get_legend_handles_labels()
    panels[5].legend(handles, names, loc="center", frameon=False, fontsize=10)
    save(figure, "potter-de-jong")


if __name__ == "__main__":
    main()
