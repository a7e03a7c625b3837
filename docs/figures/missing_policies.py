"""Draw how far each policy for missing values is from the true structure."""

from __future__ import annotations

from figure_style import BLUE, GREEN, GREY, ORANGE, read_rows, save
from matplotlib.figure import Figure

POLICIES = {
    "evolve": (BLUE, "o"),
    "em": (ORANGE, "s"),
    "available": (GREEN, "^"),
    "state": ("#CC79A7", "D"),
    "mode": ("#999999", "v"),
    "complete": ("black", "_"),
}
PANELS = (("alarm", "1,000"), ("alarm", "5,000"), ("insurance", "1,000"), ("insurance", "5,000"))


def read_distance(cell: str) -> float:
    """Return the SHD of a cell such as ``11.6 ± 1.2 (2)``."""
    return float(cell.split(" ± ")[0].replace(",", ""))


def main() -> None:
    """Draw one panel a data set; the policy drop is left out, because it is far off."""
    rows = read_rows("missing bdeu")
    figure = Figure(figsize=(9.2, 3.3), layout="constrained")
    for panel, (network, n_rows) in zip(figure.subplots(1, 4, sharey=True), PANELS, strict=True):
        part = [row for row in rows if (row["network"], row["rows"]) == (network, n_rows)]
        part.sort(
            key=lambda row: (row["missing"].split()[1] == "mar", int(row["missing"].split("%")[0]))
        )
        labels = [row["missing"].replace(" ", "\n") for row in part]
        for policy, (colour, sign) in POLICIES.items():
            line = ":" if policy == "complete" else "-"
            for half in (slice(0, 3), slice(3, 6)):
                panel.plot(
                    range(len(part))[half],
                    [read_distance(row[policy]) for row in part][half],
                    marker=sign,
                    markersize=4.5,
                    color=colour,
                    linestyle=line,
                    linewidth=1.2,
                    label=policy if half.start == 0 else None,
                )
        panel.set_title(f"{network}, {n_rows} rows", fontsize=9)
        panel.set_xticks(range(len(part)), labels)
        panel.tick_params(labelsize=7.5)
        panel.set_ylim(0, 65)
        panel.grid(axis="y", alpha=0.3, linewidth=0.5)
        panel.spines[["top", "right"]].set_visible(False)
    figure.axes[0].set_ylabel("SHD of CPDAGs to the true network", fontsize=9, color=GREY)
    handles, names = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=6, frameon=False, fontsize=9)
    save(figure, "missing-policies")


if __name__ == "__main__":
    main()
