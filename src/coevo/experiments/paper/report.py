"""What the paper's experiment writes, and the published numbers that stand beside ours.

The numbers are computed from the runs of one data set. The tables are tables 3 and 4 of the paper,
the figures are its figures 5 and 6 (the convergence of CCGA, with the mean of K2), and the README
says where our results differ from the published ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coevo import __version__
from coevo.experiments.experiment import format_file_list, make_file_name
from coevo.experiments.paper.plan import Paper, PaperDataSet, PaperRecord
from coevo.experiments.t_test import compute_t_test
from coevo.view.figures import ReportTable, draw_band_panel, make_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "CROSSING",
    "FIGURE",
    "PUBLISHED",
    "TABLE",
    "PaperSummary",
    "Published",
    "describe_deviations",
    "draw_convergence_figure",
    "format_p_value",
    "format_readme",
    "make_convergence_table",
    "make_figure_stem",
    "make_result_table",
    "make_table_stem",
    "make_times_table",
    "summarise",
]


class Spread(NamedTuple):
    """The distribution of the scores of the runs (100 in the paper)."""

    mean: float
    sd: float
    min: float
    max: float


class Published(NamedTuple):
    """The published numbers of one data set."""

    original: float  # the score of the DAG from which the data were sampled
    ccga: Spread
    k2: Spread
    p_value: str


PUBLISHED = {
    ("alarm", 1000): Published(
        -11569.02,
        Spread(-12166.21, 178.23, -12663.12, -11850.92),
        Spread(-12226.24, 161.33, -12597.60, -11827.39),
        "0.0067",
    ),
    ("alarm", 3000): Published(
        -33759.28,
        Spread(-35020.31, 396.06, -36275.13, -34093.27),
        Spread(-35138.41, 341.31, -36291.70, -34491.62),
        "0.0125",
    ),
    ("alarm", 5000): Published(
        -55575.11,
        Spread(-57282.66, 548.55, -58636.40, -56185.14),
        Spread(-57574.12, 492.94, -58884.39, -56111.89),
        "<0.0001",
    ),
    ("insurance", 1000): Published(
        -15397.00,
        Spread(-15787.28, 279.19, -16581.80, -15180.42),
        Spread(-16107.61, 293.06, -16928.16, -15458.19),
        "<0.0001",
    ),
    ("insurance", 3000): Published(
        -43508.63,
        Spread(-45142.37, 722.67, -47530.71, -43789.77),
        Spread(-45778.39, 721.08, -47753.82, -44465.06),
        "<0.0001",
    ),
    ("insurance", 5000): Published(
        -72183.51,
        Spread(-74624.88, 995.01, -77083.61, -72526.31),
        Spread(-75837.82, 1249.83, -79275.45, -73011.77),
        "<0.0001",
    ),
}
CROSSING = {"alarm": 230, "insurance": 150}  # read from its figures, approximate
TABLE = {"alarm": 3, "insurance": 4}  # the numbers of the tables in the paper
FIGURE = {"alarm": 5, "insurance": 6}


@dataclass(frozen=True)
class PaperSummary:
    """One data set: two rows of a table and a panel of a figure.

    `curve` is the mean over the runs of CCGA of the best score so far, by generation.
    `curve_sd` is the standard deviation.
    """

    data: PaperDataSet
    original: float
    ccga: Spread
    k2: Spread
    p_value: float  # Welch's t-test, one-tailed: CCGA's mean is higher
    crossing_generation: int | None  # the first with CCGA's mean above K2's
    ccga_seconds: float  # CPU, mean of the runs
    k2_seconds: float
    curve: NDArray[np.float64]
    curve_sd: NDArray[np.float64]

    @property
    def time_ratio(self) -> float:
        """The time of CCGA divided by the time of K2."""
        return self.ccga_seconds / self.k2_seconds if self.k2_seconds else float("nan")

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers as a dict, as ``coevo paper --format json`` prints them."""
        spreads = {
            f"{name}_{field}": value
            for name, spread in (("ccga", self.ccga), ("k2", self.k2))
            for field, value in spread._asdict().items()
        }
        return {
            "network": self.data.network,
            "rows": self.data.rows,
            "original": self.original,
            **spreads,
            "p_value": self.p_value,
            "crossing_generation": self.crossing_generation,
            "ccga_seconds": self.ccga_seconds,
            "k2_seconds": self.k2_seconds,
        }


def summarise(
    data: PaperDataSet, original: float, records: Iterable[PaperRecord], generations: int
) -> PaperSummary:
    """Return the summary of one data set; `records` are its runs."""
    runs = list(records)
    ccga = [record for record in runs if record.algorithm == "ccga"]
    k2 = [record for record in runs if record.algorithm == "k2"]
    curves = np.array([_expand_curve(record, generations) for record in ccga])
    curve = curves.mean(axis=0)
    k2_spread = _compute_spread(k2)
    above = np.flatnonzero(curve > k2_spread.mean + 1e-5)  # more than the rounding error
    return PaperSummary(
        data=data,
        original=original,
        ccga=_compute_spread(ccga),
        k2=k2_spread,
        p_value=_compute_p_value(
            [record.score for record in ccga], [record.score for record in k2]
        ),
        crossing_generation=int(above[0]) if len(above) else None,
        ccga_seconds=_compute_mean_seconds(ccga),
        k2_seconds=_compute_mean_seconds(k2),
        curve=curve,
        curve_sd=curves.std(axis=0, ddof=1),
    )


def _compute_spread(records: list[PaperRecord]) -> Spread:
    scores = np.array([record.score for record in records])
    return Spread(
        float(scores.mean()), float(scores.std(ddof=1)), float(scores.min()), float(scores.max())
    )


def _compute_p_value(first: list[float], second: list[float]) -> float:
    """Return the p-value of the test that the first mean is higher; 1/2 for equal constants."""
    if np.ptp(first) == 0 and np.ptp(second) == 0:
        return 0.5 if first[0] == second[0] else float(first[0] < second[0])
    return compute_t_test(first, second).p_greater


def _compute_mean_seconds(records: list[PaperRecord]) -> float:
    return float(np.mean([record.seconds for record in records]))


def _expand_curve(record: PaperRecord, generations: int) -> NDArray[np.float64]:
    """Return the best score so far after each generation."""
    at, scores = zip(*record.improvements, strict=True)
    lengths = np.diff([*at, generations + 1])
    return np.repeat(np.array(scores), lengths)


_SPREAD = ("average", "sd", "minimum", "maximum")


def make_result_table(network: str, summaries: Sequence[PaperSummary]) -> ReportTable:
    """Return the table of one network in the layout of the paper, published values last."""
    known = [PUBLISHED.get((network, summary.data.rows)) for summary in summaries]
    headers = ["data set", "algorithm", "original DAG", *_SPREAD, "p", "crossing"]
    if any(known):
        headers += ["published original DAG", *(f"published {name}" for name in _SPREAD)]
        headers += ["published p", "published crossing"]
    rows = [
        row
        for summary, published in zip(summaries, known, strict=True)
        for row in _format_rows(summary, published, any(known))
    ]
    number = f" (table {TABLE[network]} of the paper)" if network in TABLE else ""
    caption = (
        f"Results with the {network.capitalize()} network{number}. K2 scores, natural "
        "logarithm; p of a one-tailed Welch t-test that CCGA's mean is higher; crossing is "
        "the generation in which CCGA's mean passes K2's."
    )
    return ReportTable(headers, rows, caption, n_labels=2)


def _format_rows(
    summary: PaperSummary, published: Published | None, with_published: bool
) -> list[list[str]]:
    """Return the two rows of a data set."""
    label, original = summary.data.label, f"{summary.original:,.2f}"
    crossing = summary.crossing_generation
    comparison = [format_p_value(summary.p_value), "never" if crossing is None else str(crossing)]
    ours = [
        [label, "CCGA", original, *_format_spread(summary.ccga), *comparison],
        [label, "K2", "", *_format_spread(summary.k2), "", ""],
    ]
    if not with_published:
        return ours
    if published is None:
        return [row + [""] * 7 for row in ours]
    about = f"about {CROSSING[summary.data.network]}"
    theirs = [
        [f"{published.original:,.2f}", *_format_spread(published.ccga), published.p_value, about],
        ["", *_format_spread(published.k2), "", ""],
    ]
    return [our + their for our, their in zip(ours, theirs, strict=True)]


def _format_spread(spread: Spread) -> list[str]:
    return [f"{value:,.2f}" for value in spread]


def format_p_value(p_value: float) -> str:
    """Return a p-value in the format of the paper."""
    return "<0.0001" if p_value < 0.0001 else f"{p_value:.4f}"


def make_times_table(summaries: Sequence[PaperSummary]) -> ReportTable:
    """Return the mean CPU seconds of a run, which depend on the machine."""
    rows = [
        [
            summary.data.label,
            f"{summary.ccga_seconds:.3f}",
            f"{summary.k2_seconds:.4f}",
            f"{summary.time_ratio:.0f}",
        ]
        for summary in summaries
    ]
    caption = (
        "Mean CPU seconds of a run; runs on the same data share cached local scores. The paper "
        "reports a ratio of about two orders of magnitude."
    )
    return ReportTable(["data set", "CCGA", "K2", "ratio"], rows, caption)


def make_convergence_table(summaries: Sequence[PaperSummary]) -> ReportTable:
    """Return the data of the figures: mean and standard deviation by generation."""
    rows = [
        [summary.data.network, str(summary.data.rows), str(generation), f"{mean:.2f}", f"{sd:.2f}"]
        for summary in summaries
        for generation, (mean, sd) in enumerate(zip(summary.curve, summary.curve_sd, strict=True))
    ]
    return ReportTable(["network", "rows", "generation", "ccga_mean", "ccga_sd"], rows)


def draw_convergence_figure(summaries: Sequence[PaperSummary], runs: int) -> Figure:
    """Draw one panel per data set: mean and standard deviation over the runs."""
    figure, panels = make_figure(len(summaries))
    for panel, summary in zip(panels, summaries, strict=True):
        _draw_panel(panel, summary)
    panels[0].set_ylabel("best K2 score so far")
    handles, labels = panels[0].get_legend_handles_labels()
    labels[0] = f"CCGA, mean and sd of {runs} runs"
    figure.legend(
        handles, labels, loc="outside lower center", ncols=len(labels), frameon=False, fontsize=9
    )
    return figure


def _draw_panel(panel: Axes, summary: PaperSummary) -> None:
    curve, sd = summary.curve, summary.curve_sd
    lines = {"K2, mean": summary.k2.mean, "original DAG": summary.original}
    draw_band_panel(panel, curve, (curve - sd, curve + sd), lines, "CCGA")
    panel.set_title(summary.data.label)
    crossing = summary.crossing_generation
    if crossing is not None and crossing > 0:
        panel.plot([crossing], [curve[crossing]], "o", color="black", markersize=4)
        panel.annotate(
            f"at {crossing}",
            (crossing, curve[crossing]),
            xytext=(4, -12),
            textcoords="offset points",
            fontsize=8,
        )
    # The first scores are far below all others. The comparison is at the top of the panel.
    top = max(summary.original, summary.k2.mean, float((curve + sd).max()))
    bottom = min(float((curve - sd)[-1]), summary.k2.mean)
    panel.set_ylim(bottom - 1.5 * (top - bottom), top + 0.08 * (top - bottom))


_DIFFERENCES = """\
## Where this differs from the paper

- **The data.** The paper does not give the parameters of its networks. The Alarm and Insurance
  networks that are common today (those of the bnlearn repository, bundled with coevo) give
  other scores: see the column "original DAG" of the table above. So compare the signs and
  sizes of differences, not the scores.
- **The samples.** Data sets and runs have their own seeds. The seeds of the paper are not known.
- **The t-test.** The paper uses a one-tailed t-test. This is Welch's t-test, which does not
  assume equal variances.
- **The score.** "BDe with every hyperparameter 1" is today called the K2 score. It is not score
  equivalent, although the paper says so.
- **The time.** The paper does not use that the score decomposes into local scores. Here each
  local score is computed once for all runs on the same data.
"""


_FILES = (
    "- `table-*`: the tables above, in Markdown, LaTeX and CSV.",
    "- `results.csv`: one row per data set, in full precision.",
    "- `times.*`: mean CPU seconds of a run on this machine; `times.jsonl`: those of each run.",
    "- `convergence.csv`: mean and standard deviation of the best score by generation.",
    "- `runs.jsonl`: one line per run: seed, score, number of arcs, and each improvement.",
    "- `experiment.json`: the settings of all runs. Repeat the command to resume an "
    "interrupted experiment.",
)


def format_readme(
    paper: Paper,
    summaries: Sequence[PaperSummary],
    tables: Mapping[str, ReportTable],
    figures: bool,
) -> str:
    """Return the README in Markdown."""
    command = (
        f"coevo paper --networks {','.join(paper.networks)} "
        f"--rows {','.join(map(str, paper.rows))} --runs {paper.runs} "
        f"--max-generations {paper.generations} --population {paper.population} "
        f"--seed {paper.seed} -o DIR"
    )
    parts = [
        "# The experiments of the 2011 paper, repeated\n",
        f"Made by coevo {__version__} with\n\n    {command}\n",
        f"{paper.runs} runs of CCGA ({paper.generations} generations, population "
        f"{paper.population}) and of K2 (random orders, at most ten parents) on each data set. "
        "The same seed gives the same files with any number of processes, except for the files "
        "named `times`.\n",
    ]
    for network, table in tables.items():
        parts.append(f"## {network.capitalize()}\n\n{table.to_markdown()}")
        if figures:
            parts.append(f"![Convergence on {network}]({make_figure_stem(network)}.png)\n")
    if any((summary.data.network, summary.data.rows) in PUBLISHED for summary in summaries):
        parts.append(f"## The original DAGs\n\n{_make_original_table(summaries).to_markdown()}")
        parts.append("\n".join(describe_deviations(summaries)))
        parts.append(_DIFFERENCES)
    samples = [
        (data.network, data.rows, data.seed, f"{make_file_name(data.network)}-{data.rows}")
        for data in (summary.data for summary in summaries)
    ]
    parts.append(format_file_list(_FILES, figures, samples))
    return "\n".join(parts)


def make_figure_stem(network: str) -> str:
    """Return the file name of a network's figure without its suffix."""
    number = f"-{FIGURE[network]}" if network in FIGURE else ""
    return f"figure{number}-{make_file_name(network)}"


def make_table_stem(network: str) -> str:
    """Return the file name of a network's table without its suffix."""
    number = f"-{TABLE[network]}" if network in TABLE else ""
    return f"table{number}-{make_file_name(network)}"


def _make_original_table(summaries: Sequence[PaperSummary]) -> ReportTable:
    """Return the table of the original DAGs: our scores and the published ones."""
    rows = []
    for summary in summaries:
        published = PUBLISHED.get((summary.data.network, summary.data.rows))
        if published is not None:
            difference = summary.original / published.original - 1
            rows.append(
                [
                    summary.data.label,
                    f"{summary.original:,.2f}",
                    f"{published.original:,.2f}",
                    f"{100 * difference:+.1f} %",
                    f"{summary.ccga.mean - summary.k2.mean:+,.2f}",
                    f"{published.ccga.mean - published.k2.mean:+,.2f}",
                ]
            )
    headers = ["data set", "original DAG", "published", "larger by", "CCGA - K2", "published"]
    return ReportTable(headers, rows)


def describe_deviations(summaries: Sequence[PaperSummary]) -> Iterator[str]:
    """Yield the section on results that differ from the published ones, with what is known of why.

    It names only what these runs show: another seed or fewer runs can give another list.
    """
    compared = [
        (summary, PUBLISHED[summary.data.network, summary.data.rows])
        for summary in summaries
        if (summary.data.network, summary.data.rows) in PUBLISHED
    ]
    yield "## Where the results differ\n"
    signs = [one.data.label for one, _ in compared if one.ccga.mean <= one.k2.mean]
    if signs:
        yield (
            f"- **The sign.** CCGA's mean is not above K2's on {', '.join(signs)}. In the paper "
            "it is everywhere."
        )
    else:
        yield "- **The sign agrees.** CCGA's mean is above K2's on all data sets, as in the paper."
    above = [
        one.data.label
        for one, published in compared
        if min(one.ccga.mean, one.k2.mean) > one.original
        and max(published.ccga.mean, published.k2.mean) < published.original
    ]
    if above:
        yield (
            f"- **Above the original DAG.** On {', '.join(above)} the means of both algorithms are "
            "above the score of the original DAG. In the paper both stay below it. A few rows "
            "cannot pay for the parameters of the original DAG, so sparser networks score more. "
            "The networks of the paper have other parameters, whose score a row is lower (see the "
            "table above)."
        )
    earlier = [
        f"{one.data.label} {one.crossing_generation} (about {CROSSING[one.data.network]})"
        for one, _ in compared
        if one.crossing_generation is not None
        and one.crossing_generation < CROSSING[one.data.network]
    ]
    if earlier:
        yield (
            "- **Earlier crossings.** CCGA's mean passes K2's in an earlier generation than "
            f"published (in brackets): {', '.join(earlier)}. The reason is not known. The data "
            "differ, and the paper leaves details open, such as ties in tournaments and for the "
            "elite."
        )
    yield ""
