"""Draw the idea of a proof: a weight on a cluster lowers the bound until it meets a network."""

from __future__ import annotations

import math
from typing import Any

from figure_style import BLUE, GREY, LIGHT, ORANGE, save
from matplotlib.figure import Figure

# The score of each family: a variable with its parent in the cycle, and without a parent.
WITH, WITHOUT = (-10.0, -12.0, -11.0), (-16.0, -15.0, -19.0)
PLACES = [(math.cos(a), math.sin(a)) for a in (math.pi / 2, -math.pi / 6, 7 * math.pi / 6)]
NAMES = "ABC"


def draw_graph(panel: Any, arcs: list[tuple[int, int]], is_cyclic: bool, title: str) -> None:
    """Draw three variables and their arcs."""
    for parent, child in arcs:
        (x0, y0), (x1, y1) = PLACES[parent], PLACES[child]
        panel.annotate(
            "",
            (x1 - 0.24 * (x1 - x0), y1 - 0.24 * (y1 - y0)),
            (x0 + 0.24 * (x1 - x0), y0 + 0.24 * (y1 - y0)),
            arrowprops={"arrowstyle": "-|>", "color": ORANGE if is_cyclic else BLUE, "lw": 1.8},
        )
    for name, (x, y) in zip(NAMES, PLACES, strict=True):
        panel.plot(x, y, "o", markersize=22, color=LIGHT, markeredgecolor=GREY)
        panel.text(x, y, name, ha="center", va="center", fontsize=11)
    panel.set_xlim(-1.5, 1.5)
    panel.set_ylim(-1.2, 1.5)
    panel.set_aspect("equal")
    panel.axis("off")
    panel.set_title(title, fontsize=9)


def compute_bound(weight: float) -> float:
    """Return the bound that a weight on the cluster of all three variables proves."""
    best = [max(a, b + weight) for a, b in zip(WITH, WITHOUT, strict=True)]
    return sum(best) - weight


def draw_bound(panel: Any) -> None:
    """Draw the bound against the weight."""
    weights = [i / 50 for i in range(301)]
    loss = min(a - b for a, b in zip(WITH, WITHOUT, strict=True))
    score = sum(WITH) - loss
    panel.plot(weights, [compute_bound(w) for w in weights], color=ORANGE, lw=2, label="bound")
    panel.axhline(score, color=BLUE, lw=1.6, ls="--", label="score of the network")
    panel.plot(loss, score, "o", color=BLUE, markersize=7)
    panel.annotate("proved", (loss, score), (loss + 0.5, score + 1.2), fontsize=8, color=GREY)
    panel.set_xlabel("weight of the cluster {A, B, C}, nats", fontsize=8)
    panel.set_ylabel("nats", fontsize=8)
    panel.tick_params(labelsize=7.5)
    panel.legend(frameon=False, fontsize=8, loc="upper right")
    panel.spines[["top", "right"]].set_visible(False)
    panel.set_title("the bound falls until it meets the score", fontsize=9)


def main() -> None:
    """Draw the cycle of the best families, the bound, and the best network."""
    figure = Figure(figsize=(9.2, 2.9), layout="constrained")
    cycle, bound, network = figure.subplots(1, 3, width_ratios=[1, 1.35, 1])
    arcs = [(2, 0), (0, 1), (1, 2)]
    draw_graph(cycle, arcs, True, f"best families alone: {sum(WITH):g} nats, a cycle")
    draw_bound(bound)
    draw_graph(network, [(1, 2), (2, 0)], False, "best network: B loses its parent, -36 nats")
    save(figure, "prove-idea")


if __name__ == "__main__":
    main()
