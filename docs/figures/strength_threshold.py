"""Draw the threshold of arc strengths on the example of Scutari and Nagarajan (2013)."""

from __future__ import annotations

from figure_style import BLUE, GREY, ORANGE, save
from matplotlib.figure import Figure

STRENGTHS = (0.0460, 0.2242, 0.3921, 0.7689, 0.8935, 0.9439)
HEIGHT = 0.5  # F(1/2), the median height
THRESHOLD = 0.3921


def main() -> None:
    """Draw the distribution function, the flat one that is nearest, and the area between."""
    figure = Figure(figsize=(5.6, 3.1), layout="constrained")
    panel = figure.subplots()
    edges = [0.0, *STRENGTHS, 1.0]
    heights = [step / len(STRENGTHS) for step in range(len(STRENGTHS) + 1)]
    panel.stairs(heights, edges, baseline=HEIGHT, fill=True, color=BLUE, alpha=0.15)
    panel.stairs(heights, edges, baseline=None, color=BLUE, linewidth=1.6, label="F, observed")
    panel.plot([0, 1], [HEIGHT] * 2, color=ORANGE, linestyle="--", label="always or never")
    panel.axvline(THRESHOLD, color=GREY, linewidth=1)
    panel.text(THRESHOLD + 0.012, 0.03, f"threshold {THRESHOLD}", color=GREY, fontsize=9)
    panel.plot(STRENGTHS, [0] * len(STRENGTHS), "o", color=BLUE, markersize=5, clip_on=False)
    panel.set_xlim(0, 1)
    panel.set_ylim(0, 1.02)
    panel.set_xlabel("arc strength")
    panel.set_ylabel("share of arcs up to this strength")
    panel.spines[["top", "right"]].set_visible(False)
    panel.legend(loc="upper left", frameon=False, fontsize=9)
    save(figure, "strength-threshold")


if __name__ == "__main__":
    main()
