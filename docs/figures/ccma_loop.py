"""Draw one generation of CCMA: two species around one archive of scored families."""

from __future__ import annotations

from figure_style import BLUE, GREEN, GREY, LIGHT, ORANGE, save
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

BOXES = {
    "orders": (1.5, 3.0, "orders", "20 orders of the variables", BLUE),
    "archive": (5.0, 3.0, "archive", "scored families of each child,\nbest first", GREY),
    "masks": (8.5, 3.0, "masks", "8 masks: candidate parents\nof each child", ORANGE),
    "scorer": (8.5, 0.75, "scorer", "counts and local scores,\nin batches", GREEN),
}
WIDTH, HEIGHT = 2.5, 1.1


def draw_box(panel: Axes, name: str) -> None:
    """Draw a box with a title and a description."""
    x, y, title, text, colour = BOXES[name]
    corner = (x - WIDTH / 2, y - HEIGHT / 2)
    panel.add_patch(
        FancyBboxPatch(
            corner,
            WIDTH,
            HEIGHT,
            boxstyle="round,pad=0,rounding_size=0.12",
            facecolor=LIGHT if name in ("orders", "masks") else "white",
            edgecolor=colour,
            linewidth=1.6,
        )
    )
    panel.text(x, y + 0.3, title, ha="center", va="center", fontsize=11, weight="bold")
    panel.text(x, y - 0.18, text, ha="center", va="center", fontsize=8.5)


def draw_arrow(
    panel: Axes,
    start: tuple[float, float],
    end: tuple[float, float],
    text: str,
    at: tuple[float, float],
    bend: float = 0.0,
) -> None:
    """Draw an arrow with a label."""
    panel.add_patch(
        FancyArrowPatch(
            start,
            end,
            arrowstyle="-|>",
            mutation_scale=14,
            color=GREY,
            linewidth=1.4,
            connectionstyle=f"arc3,rad={bend}",
        )
    )
    panel.text(*at, text, ha="center", va="center", fontsize=8.5)


def main() -> None:
    """Draw the boxes and the arrows between them."""
    figure = Figure(figsize=(8.8, 3.9), layout="constrained")
    panel = figure.subplots()
    panel.set_axis_off()
    panel.set_xlim(0.1, 9.9)
    panel.set_ylim(0.0, 4.75)
    for name in BOXES:
        draw_box(panel, name)
    draw_arrow(panel, (3.75, 3.0), (2.75, 3.0), "best\nfamilies", (3.25, 3.4))
    draw_arrow(
        panel,
        (1.9, 3.55),
        (8.1, 3.55),
        "parent sets that the orders choose, and credit: what the orders gain for each family",
        (5.0, 4.55),
        -0.22,
    )
    draw_arrow(
        panel,
        (8.5, 2.45),
        (8.5, 1.3),
        "parent sets,\neach with its\ncandidates",
        (9.35, 1.88),
    )
    draw_arrow(panel, (7.25, 0.75), (5.0, 2.45), "new families", (4.95, 1.35), -0.3)
    draw_arrow(
        panel,
        (1.1, 2.45),
        (1.9, 2.45),
        "cross, climb by insertion moves,\nperturb, climb again",
        (1.75, 1.55),
        1.1,
    )
    save(figure, "ccma-loop")


if __name__ == "__main__":
    main()
