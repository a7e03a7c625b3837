"""Draw the ablation of CCMA: what each part of it contributes."""

from __future__ import annotations

from figure_style import GREY, ORANGE, read_rows, save
from matplotlib.figure import Figure

NETWORKS = ("alarm", "insurance", "child", "hailfinder", "hepar2", "win95pts")
LEAST = 0.1  # where a loss of 0 is drawn on the logarithmic axis


def main() -> None:
    """Draw one panel a network, one bar a variant."""
    rows = read_rows("ablation steps")
    names = [row["variant"] for row in rows][::-1]
    figure = Figure(figsize=(9.2, 3.4), layout="constrained")
    panels = figure.subplots(1, len(NETWORKS), sharey=True, sharex=True)
    for panel, network in zip(panels, NETWORKS, strict=True):
        cells = [row[f"{network} (k2, 2 s)"].split(" ")[0] for row in rows][::-1]
        losses = [max(0.0, -float(cell.replace(",", ""))) for cell in cells]
        colours = [ORANGE if name.startswith("ccga") else "#9BB8CC" for name in names]
        panel.barh(names, [max(loss, LEAST) for loss in losses], color=colours)
        for place, loss in enumerate(losses):
            text = f"{loss:,.0f}" if loss >= 10 else f"{loss:.1f}"
            panel.text(max(loss, LEAST) * 1.3, place, text, va="center", fontsize=7, color=GREY)
        panel.set_title(network, fontsize=9)
        panel.set_xscale("log")
        panel.set_xlim(LEAST, 90_000)
        panel.set_xticks([1, 100, 10_000], ["1", "100", "10,000"])
        panel.minorticks_off()
        panel.tick_params(labelsize=7.5, left=False)
        panel.spines[["top", "right"]].set_visible(False)
    figure.supxlabel("nats below CCMA (logarithmic axis)", fontsize=9)
    save(figure, "ccma-parts")


if __name__ == "__main__":
    main()
