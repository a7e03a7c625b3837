"""Tables in three formats (Markdown, LaTeX and CSV), and figures, drawn by matplotlib.

The same numbers give the same bytes; no display is needed. matplotlib is an optional extra. Its
global settings do not change, so the caller's plots keep their style.
"""

from __future__ import annotations

import contextlib
import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coevo.errors import ParameterError, import_optional
from coevo.files.files import check_output_path, replace_file, write_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "LINE_LOOKS",
    "POINT_LOOKS",
    "Look",
    "ReportTable",
    "TimeCurve",
    "apply_style",
    "check_figure_path",
    "draw_band_panel",
    "draw_box_panel",
    "draw_time_panel",
    "make_figure",
    "require_matplotlib",
    "save_figure",
    "set_gap_axis",
    "write_figure",
]


_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        **{character: f"\\{character}" for character in "&%$#_{}"},
        "<": "$<$",
        ">": "$>$",
    }
)


_GROUPED = re.compile(r"[-+]?\d{1,3}(,\d{3})+(\.\d+)?")


@dataclass(frozen=True)
class ReportTable:
    """A table of text cells with headers. The first `n_labels` columns are labels.

    Examples
    --------
    >>> table = ReportTable(["name", "score"], [["a_b", "-1.50"]], caption="Scores.")
    >>> print(table.to_markdown())
    Scores.
    <BLANKLINE>
    | name | score |
    |---|---:|
    | a_b | -1.50 |
    <BLANKLINE>
    """

    headers: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""
    n_labels: int = 1

    def to_markdown(self) -> str:
        """Return a Markdown table with its caption above it."""
        ruler = "|" + "---|" * self.n_labels + "---:|" * (len(self.headers) - self.n_labels)
        lines = [f"| {' | '.join(self.headers)} |", ruler]
        lines += [
            f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"
            for row in self.rows
        ]
        return f"{self.caption}\n\n" * bool(self.caption) + "\n".join(lines) + "\n"

    def to_latex(self) -> str:
        r"""Return a LaTeX table that needs no packages, only tabular and \hline."""
        columns = "l" * self.n_labels + "r" * (len(self.headers) - self.n_labels)
        head, *body = (
            " & ".join(cell.translate(_LATEX) for cell in row) + r" \\"
            for row in [self.headers, *self.rows]
        )
        return "\n".join(
            [
                r"\begin{table}",
                r"\centering",
                rf"\caption{{{self.caption.translate(_LATEX)}}}",
                rf"\begin{{tabular}}{{{columns}}}",
                r"\hline",
                head,
                r"\hline",
                *body,
                r"\hline",
                r"\end{tabular}",
                r"\end{table}",
                "",
            ]
        )

    def to_csv(self) -> str:
        """Return comma-separated values with a header. Numbers have no thousands separators."""
        stream = io.StringIO()
        rows = [
            [cell.replace(",", "") if _GROUPED.fullmatch(cell) else cell for cell in row]
            for row in self.rows
        ]
        csv.writer(stream, lineterminator="\n").writerows([self.headers, *rows])
        return stream.getvalue()

    def write(self, stem: Path) -> list[Path]:
        """Write ``stem.md``, ``stem.tex`` and ``stem.csv``."""
        written = []
        for suffix, text in (
            (".md", self.to_markdown()),
            (".tex", self.to_latex()),
            (".csv", self.to_csv()),
        ):
            path = stem.with_name(stem.name + suffix)
            write_text(path, text)
            written.append(path)
        return written


# Distinguishable in black and white, and by colour-blind readers (Okabe and Ito).
BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#555555"
STYLE: Any = {
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.labelsize": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "grid.linewidth": 0.5,
    "legend.frameon": False,
    "svg.hashsalt": "coevo",  # otherwise the identifiers differ from run to run
    "svg.fonttype": "none",
}

METADATA: dict[str, Any] = {  # of each format; without the date, for the same bytes
    ".png": {"Software": None},
    ".svg": {"Date": None},
    ".pdf": {"CreationDate": None, "Producer": None, "Creator": None},
}


@contextlib.contextmanager
def apply_style() -> Iterator[None]:
    """Draw in coevo's style inside the ``with`` block, independent of the user's settings."""
    from matplotlib import style

    with style.context(["default", STYLE]):
        yield


def require_matplotlib() -> None:
    """Raise `DependencyError` unless matplotlib is installed."""
    import_optional("matplotlib", "matplotlib", "plot")


def make_figure(
    n_panels: int, width: float = 3.3, height: float = 2.9
) -> tuple[Figure, list[Axes]]:
    """Return a figure with panels side by side. Width and height are inches per panel."""
    require_matplotlib()
    from matplotlib.figure import Figure

    with apply_style():
        figure = Figure(figsize=(width * n_panels, height), layout="constrained")
        panels = figure.subplots(1, n_panels, squeeze=False)
    return figure, list(panels[0])


def draw_band_panel(
    panel: Axes,
    curve: NDArray[np.float64],
    band: tuple[NDArray[np.float64], NDArray[np.float64]],
    lines: dict[str, float],
    label: str,
) -> None:
    """Draw a curve over generations with a band around it, and named horizontal lines."""
    with apply_style():
        generations = np.arange(len(curve))
        panel.fill_between(generations, *band, color=BLUE, alpha=0.2, linewidth=0)
        panel.plot(generations, curve, color=BLUE, linewidth=1.6, label=label)
        for (name, value), colour, dashes in zip(
            lines.items(), (ORANGE, GREY), ("--", ":"), strict=False
        ):
            panel.axhline(value, color=colour, linestyle=dashes, linewidth=1.3, label=name)
        panel.set_xlabel("generation")
        panel.yaxis.set_major_formatter("{x:,.0f}")
        panel.margins(x=0)


def check_figure_path(name: str) -> None:
    """Raise an error if a figure cannot be written to this file: no format, library or folder."""
    if Path(name).suffix.lower() not in METADATA:
        listed = ", ".join(METADATA)
        raise ParameterError(f"The name of a figure must end in one of {listed}; got {name!r}.")
    require_matplotlib()
    check_output_path(Path(name))


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure in the format of the suffix. A failure leaves no partial file."""
    kind = path.suffix.lower()
    with apply_style(), replace_file(path) as stream:
        figure.savefig(stream, format=kind[1:], dpi=200, metadata=METADATA[kind])


def write_figure(figure: Figure, stem: Path) -> list[Path]:
    """Write ``stem.png`` and ``stem.svg``."""
    written = [stem.with_name(f"{stem.name}.{kind}") for kind in ("png", "svg")]
    for path in written:
        save_figure(figure, path)
    return written


TimeCurve = Sequence[tuple[float, float]]  # (seconds, value); a value holds until the next
MIN_SECONDS = 1e-4  # resolution of the clock; a logarithmic axis has no zero


class Look(NamedTuple):
    """The style of a method. No two styles differ by colour alone."""

    colour: str
    shape: Any  # dashes of a line, marker of a point


# Distinguishable in black and white, and by colour-blind readers (Okabe and Ito).
LINE_LOOKS = (
    Look("#0072B2", "-"),
    Look("#D55E00", "--"),
    Look("#009E73", ":"),
    Look("#E69F00", "-."),
    Look("#CC79A7", (0, (5, 1, 1, 1, 1, 1))),
)
POINT_LOOKS = (
    Look("#000000", "o"),
    Look("#56B4E9", "s"),
    Look("#F0E442", "^"),
    Look("#FFFFFF", "D"),
)


def draw_time_panel(
    panel: Axes,
    curves: Mapping[str, Sequence[TimeCurve]],
    points: Mapping[str, TimeCurve],
    looks: Mapping[str, Look],
) -> None:
    """Draw values over time: curves for anytime methods, points for methods with one result.

    `curves` has one curve per run for each method; their median is drawn as a thick line.
    `points` has one (seconds, value) per run for each method.
    """
    with apply_style():
        for name, runs in curves.items():
            look = looks[name]
            style: dict[str, Any] = {"color": look.colour, "drawstyle": "steps-post"}
            for run in runs:
                panel.plot(*_split_columns(run), linewidth=0.6, alpha=0.35, **style)
            median = _split_columns(_compute_median_curve(runs))
            panel.plot(*median, linewidth=1.8, linestyle=look.shape, label=name, **style)
        for name, results in points.items():
            look = looks[name]
            seconds, values = _split_columns(results)
            panel.scatter(
                seconds,
                values,
                c=look.colour,
                marker=look.shape,
                s=22,
                linewidths=0.8,
                edgecolors="#333333",
                zorder=3,
                label=name,
            )
        panel.set_xscale("log")
        panel.set_xlabel("seconds")


def _split_columns(curve: TimeCurve) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return times and values. Times are at least `MIN_SECONDS`."""
    seconds, values = np.array(curve, dtype=float).T
    return np.maximum(seconds, MIN_SECONDS), values


def _compute_median_curve(runs: Sequence[TimeCurve]) -> TimeCurve:
    """Return the median of the runs, from the first time at which all runs have a value.

    A run keeps its last value after its end.

    >>> _compute_median_curve([[(0, 9), (2, 5)], [(1, 7), (3, 6)], [(1, 1), (9, 1)]])
    [(1.0, 7.0), (2.0, 5.0), (3.0, 5.0), (9.0, 5.0)]
    """
    start = max(run[0][0] for run in runs)
    times = sorted({at for run in runs for at, _ in run if start <= at} | {start})
    values_at = [
        [run[int(np.searchsorted([at for at, _ in run], now, side="right")) - 1][1] for run in runs]
        for now in times
    ]
    return [
        (float(now), float(np.median(values))) for now, values in zip(times, values_at, strict=True)
    ]


def set_gap_axis(panel: Axes, axis: str, largest: float) -> None:
    """Scale an axis from 0 to large values: linear up to 1, logarithmic beyond."""
    end = max(1.0, largest) * 1.6
    ticks = [0.0] + [10.0**power for power in range(1 + int(np.log10(end)))]
    with apply_style():
        if axis == "y":
            panel.set_yscale("symlog", linthresh=1.0, linscale=0.5)
            panel.set_yticks(ticks, [f"{tick:,.0f}" for tick in ticks])
            panel.set_ylim(end, -0.15)  # the best is at the top
        else:
            panel.set_xscale("symlog", linthresh=1.0, linscale=0.5)
            panel.set_xticks(ticks, [f"{tick:,.0f}" for tick in ticks])
            panel.set_xlim(-0.15, end)
        panel.minorticks_off()


def draw_box_panel(
    panel: Axes,
    values: Mapping[str, Sequence[float]],
    colours: Mapping[str, str],
    notes: Mapping[str, str],
) -> None:
    """Draw a box plot per method, the first at the top: quartiles, extremes, and each value.

    `notes` are shown for methods without values.
    """
    with apply_style():
        for y, (name, numbers) in enumerate(values.items()):
            if not numbers:
                panel.annotate(
                    notes.get(name, ""),
                    (0.02, y),
                    xycoords=("axes fraction", "data"),
                    va="center",
                    fontsize=8,
                    color="#555555",
                )
                continue
            low, first, median, third, high = np.quantile(numbers, [0, 0.25, 0.5, 0.75, 1])
            colour = colours[name]
            panel.hlines(y, low, high, color=colour, linewidth=1.0)
            panel.barh(
                y, third - first, 0.55, first, facecolor=colour, edgecolor=colour, alpha=0.35
            )
            panel.vlines(median, y - 0.275, y + 0.275, color=colour, linewidth=2.0)
            panel.plot(numbers, [y] * len(numbers), "o", color="#333333", markersize=2.6, alpha=0.8)
        panel.set_yticks(range(len(values)), list(values))
        panel.set_ylim(len(values) - 0.5, -0.5)
        panel.grid(axis="y", visible=False)
