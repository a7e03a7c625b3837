"""Draw an order, a mask and the DAG that they encode."""

from __future__ import annotations

from figure_style import BLUE, GREY, LIGHT, ORANGE, save
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch, Rectangle

ORDER = "DABC"
MASK = (1, 1, 0, 0, 1, 1)  # row by row: (1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4)
PLACES = {"D": (1.0, 2.6), "A": (0.2, 1.4), "B": (1.8, 1.4), "C": (1.0, 0.2)}


def draw_order(panel: Axes) -> None:
    """Draw the order as a row of boxes."""
    for position, name in enumerate(ORDER):
        panel.add_patch(Rectangle((position, 0), 1, 1, facecolor=LIGHT, edgecolor=BLUE))
        panel.text(position + 0.5, 0.5, name, ha="center", va="center", fontsize=15)
        panel.text(position + 0.5, -0.35, str(position + 1), ha="center", va="center", color=GREY)
    panel.text(2, -0.95, "position", ha="center", va="center", color=GREY)
    panel.set_title("order", fontsize=13)
    panel.set_xlim(-0.1, 4.1)
    panel.set_ylim(-2.4, 2.4)


def draw_mask(panel: Axes) -> list[tuple[str, str]]:
    """Draw the mask as an upper triangle; return the arcs."""
    bits = iter(MASK)
    arcs = []
    for row in range(4):
        panel.text(-0.45, 3.5 - row, f"{row + 1}", ha="center", va="center", color=GREY)
        panel.text(row + 0.5, 4.4, f"{row + 1}", ha="center", va="center", color=GREY)
        for column in range(row + 1, 4):
            bit = next(bits)
            colour = ORANGE if bit else "white"
            box = Rectangle((column, 3 - row), 1, 1, facecolor=colour, edgecolor=GREY)
            panel.add_patch(box)
            text_colour = "white" if bit else GREY
            panel.text(
                column + 0.5, 3.5 - row, str(bit), ha="center", va="center", color=text_colour
            )
            if bit:
                arcs.append((ORDER[row], ORDER[column]))
    panel.text(-1.0, 2, "position of the parent", ha="center", va="center", color=GREY, rotation=90)
    panel.text(2, 4.95, "position of the child", ha="center", va="center", color=GREY)
    panel.set_title("mask", fontsize=13)
    panel.set_xlim(-1.3, 4.1)
    panel.set_ylim(-0.2, 5.2)
    return arcs


def draw_dag(panel: Axes, arcs: list[tuple[str, str]]) -> None:
    """Draw the DAG."""
    for parent, child in arcs:
        arrow = FancyArrowPatch(
            PLACES[parent],
            PLACES[child],
            arrowstyle="-|>",
            mutation_scale=16,
            shrinkA=17,
            shrinkB=17,
            color=ORANGE,
            linewidth=1.6,
        )
        panel.add_patch(arrow)
    for name, place in PLACES.items():
        panel.add_patch(Circle(place, 0.28, facecolor=LIGHT, edgecolor=BLUE))
        panel.text(*place, name, ha="center", va="center", fontsize=13)
    panel.set_title("DAG", fontsize=13)
    panel.set_xlim(-0.4, 2.4)
    panel.set_ylim(-0.3, 3.1)


def main() -> None:
    """Draw the three parts side by side."""
    figure = Figure(figsize=(8.4, 2.9), layout="constrained")
    order, mask, dag = figure.subplots(1, 3)
    for panel in (order, mask, dag):
        panel.set_axis_off()
        panel.set_aspect("equal")
    draw_order(order)
    draw_dag(dag, draw_mask(mask))
    for panel, sign in ((order, "+"), (mask, "=")):
        panel.text(1.1, 0.5, sign, transform=panel.transAxes, fontsize=20, va="center")
    save(figure, "orders-and-masks")


if __name__ == "__main__":
    main()
