"""What the comparison writes: tables, figures, and a page that says what comes out.

The tables have the systems from top to bottom and the data sets from left to right.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from coevo import __version__
from coevo.experiments.experiment import format_file_list, make_figure_stem, make_file_name
from coevo.experiments.paper.plan import PaperDataSet
from coevo.experiments.paper.report import format_p_value
from coevo.experiments.related_methods.findings import (
    describe_claim_of_paper,
    describe_older_systems,
    describe_reasons,
    describe_winner,
    format_names,
    list_shd_winners,
)
from coevo.experiments.related_methods.plan import SYSTEMS, Reviewed
from coevo.experiments.related_methods.summary import ELSEWHERE, ReviewedResults, ReviewedSummary
from coevo.view.figures import (
    LINE_LOOKS,
    ReportTable,
    draw_box_panel,
    draw_time_panel,
    make_figure,
    set_gap_axis,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "CURVES",
    "draw_curve_figure",
    "draw_score_figure",
    "format_command",
    "format_readme",
    "make_evaluations_table",
    "make_score_table",
    "make_shd_table",
    "make_test_table",
    "make_times_table",
]


Cell = Callable[[ReviewedSummary], str]


def _make_table(
    summaries: Sequence[ReviewedSummary],
    format_cell: Cell,
    caption: str,
    systems: Sequence[str] | None = None,
) -> ReportTable:
    """Return a table with a row for each system and a column for each data set."""
    chosen = list(dict.fromkeys(s.system for s in summaries)) if systems is None else systems
    columns = list(dict.fromkeys(s.data_key for s in summaries))
    by_place = {(s.system, s.data_key): s for s in summaries}
    rows = [
        [system, *(format_cell(by_place[system, column]) for column in columns)]
        for system in chosen
    ]
    headers = [f"{network.capitalize()} {n_rows}" for network, n_rows in columns]
    return ReportTable(["system", *headers], rows, caption)


def make_score_table(summaries: Sequence[ReviewedSummary]) -> ReportTable:
    """Return the scores minus that of the true network; the published ones come last."""

    def format_score(summary: ReviewedSummary) -> str:
        sd = "" if summary.sd is None else f" ({summary.sd:,.1f})"
        return f"{summary.mean:+z,.1f}{sd}"

    table = _make_table(
        summaries,
        format_score,
        "K2 score minus that of the true network, in nats: mean (standard deviation) over the "
        "runs. Higher is better.",
    )
    published = [
        [
            f"{system}, published",
            *("" if s.published is None else f"{s.published:+,.1f}" for s in of_system),
        ]
        for system in ("ccga", "k2")
        for of_system in ([s for s in summaries if s.system == system],)
        if any(s.published is not None for s in of_system)
    ]
    return ReportTable(table.headers, [*table.rows, *published], table.caption)


def make_shd_table(summaries: Sequence[ReviewedSummary]) -> ReportTable:
    """Return the mean distances to the true network."""
    return _make_table(
        summaries,
        lambda s: f"{s.mean_shd:.1f}",
        "Structural Hamming distance between the CPDAGs of the structure and of the true network, "
        "mean over the runs. Lower is better.",
    )


def make_evaluations_table(summaries: Sequence[ReviewedSummary]) -> ReportTable:
    """Return the mean numbers of evaluations, and the limit."""
    table = _make_table(
        summaries,
        lambda s: f"{s.mean_evaluations:,.0f}",
        "Evaluations (local scores requested, cached ones included, and tests of independence), "
        "mean over the runs. A run ends with the generation that reaches the limit.",
    )
    first = summaries[0].system
    limits = [f"{s.max_evaluations:,}" for s in summaries if s.system == first]
    return ReportTable(table.headers, [["limit", *limits], *table.rows], table.caption)


def make_test_table(summaries: Sequence[ReviewedSummary], other: str) -> ReportTable:
    """Return the differences to a system with the corrected p-values of the tests."""
    systems = list(dict.fromkeys(s.system for s in summaries if s.system != other))

    def format_cell(summary: ReviewedSummary) -> str:
        difference = getattr(summary, f"above_{other}")
        return f"{difference:+z,.1f} ({format_p_value(getattr(summary, f'p_{other}'))})"

    n_tests = len(systems) * len({s.data_key for s in summaries})
    return _make_table(
        summaries,
        format_cell,
        f"Mean score minus that of {SYSTEMS[other].label}, in nats, and p of a two-sided paired "
        f"t-test over the runs, corrected for {n_tests} tests by the method of Holm.",
        systems,
    )


def make_times_table(summaries: Sequence[ReviewedSummary]) -> ReportTable:
    """Return the mean CPU seconds of a run, which depend on the machine."""
    return _make_table(
        summaries,
        lambda s: f"{s.mean_seconds:.3f}",
        "CPU seconds of a run, mean over the runs. Each run starts with an empty cache.",
    )


def make_elsewhere_table() -> ReportTable:
    """Return the results of these systems that were published on other data."""
    rows = [
        [result.source, result.system, result.data, result.note, f"{result.difference:+z,.1f}"]
        for result in ELSEWHERE
    ]
    headers = ["source", "system", "data set", "note", "K2 score minus true"]
    return ReportTable(headers, rows, n_labels=4)


OF_PAPER, EVOLVES, OTHER, OURS = "#D55E00", "#E69F00", "#555555", "#0072B2"
KNOWS_ORDER = "#009E73"
CURVES = ("ccma", "ccga", "ga", "k2ga", "wong")  # as many as there are styles of lines
SMALLEST_STEP = 1.05  # between two points of a curve
GAP_LABEL = "nats below the best structure of all runs"


def draw_score_figure(results: ReviewedResults, data_sets: Sequence[PaperDataSet]) -> Figure:
    """Draw the score of each run of each system, one panel per data set."""
    height = 1.3 + 0.25 * len(results.systems)
    figure, panels = make_figure(len(data_sets), width=3.7, height=height)
    colours = {name: _choose_colour(name) for name in results.systems}
    for panel, data in zip(panels, data_sets, strict=True):
        best = _find_best(results, data)
        values = {
            name: [max(0.0, best - d) for d in results.list_differences(data, name)]
            for name in results.systems
        }
        draw_box_panel(panel, values, colours, {})
        panel.axvline(max(0.0, best), color="black", linestyle=":", linewidth=1.2)
        largest = max(best, *(gap for gaps in values.values() for gap in gaps))
        set_gap_axis(panel, "x", largest)
        panel.invert_xaxis()  # the best is on the right
        panel.set_xlabel(GAP_LABEL)
        panel.set_title(data.label)
    for panel in panels[1:]:
        panel.tick_params(labelleft=False)
    _add_legend(figure, results, n_columns=2 * len(panels))
    return figure


def _add_legend(figure: Figure, results: ReviewedResults, n_columns: int) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    kinds = {
        OF_PAPER: "the paper's CCGA and K2",
        EVOLVES: "older systems that evolve",
        KNOWS_ORDER: "knows the true order",
        OTHER: "other methods",
        OURS: "CCMA",
    }
    used = {_choose_colour(name) for name in results.systems}
    handles: list[Patch | Line2D] = [
        Patch(facecolor=colour, alpha=0.6, label=label)
        for colour, label in kinds.items()
        if colour in used
    ]
    handles.append(Line2D([], [], color="black", linestyle=":", label="the true network"))
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=min(len(handles), n_columns),
        frameon=False,
        fontsize=8,
    )


def _choose_colour(name: str) -> str:
    if name in ("ccga", "k2"):
        return OF_PAPER
    if name == "ccma":
        return OURS
    if SYSTEMS[name].order == "true":
        return KNOWS_ORDER
    return EVOLVES if SYSTEMS[name].evolves else OTHER


def draw_curve_figure(results: ReviewedResults, data_sets: Sequence[PaperDataSet]) -> Figure:
    """Draw the best score so far over evaluations, for the systems of `CURVES`."""
    names = [name for name in CURVES if name in results.systems]
    looks = dict(zip(names, LINE_LOOKS, strict=False))
    figure, panels = make_figure(len(data_sets), width=3.7, height=3.1)
    for panel, data in zip(panels, data_sets, strict=True):
        best = _find_best(results, data) + results.true_scores[data]
        curves = {
            name: [
                [
                    *((at, max(0.0, best - score)) for at, score in _thin(record.improvements)),
                    (float(record.evaluations), max(0.0, best - record.score)),
                ]
                for record in results.records[data, name]
            ]
            for name in names
        }
        draw_time_panel(panel, curves, {}, looks)
        largest = max(gap for runs in curves.values() for run in runs for _, gap in run)
        set_gap_axis(panel, "y", largest)
        panel.set_xlim(left=min(run[0][0] for runs in curves.values() for run in runs))
        panel.set_xlabel("evaluations")
        panel.set_title(data.label)
    panels[0].set_ylabel("nats below the best")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(
        handles,
        labels,
        loc="outside lower center",
        ncols=min(len(labels), 3 * len(panels)),
        frameon=False,
        fontsize=9,
    )
    return figure


def _thin(curve: Sequence[tuple[int, float]]) -> list[tuple[float, float]]:
    """Return a curve without points that a logarithmic axis cannot show apart.

    >>> _thin([(100, 1.0), (101, 2.0), (200, 3.0), (205, 4.0)])
    [(100.0, 1.0), (200.0, 3.0)]
    """
    kept: list[tuple[float, float]] = []
    for at, value in curve:
        if not kept or at >= kept[-1][0] * SMALLEST_STEP:
            kept.append((float(at), value))
    return kept


def _find_best(results: ReviewedResults, data: PaperDataSet) -> float:
    """Return the best score of all runs minus that of the true network."""
    return max(max(results.list_differences(data, name)) for name in results.systems)


_READING = """\
## How to read this

- **The same rows.** All systems get the same data sets and maximise the K2 score. But PC only tests
  independence, and MMHC and Wong's hybrid use such tests to choose the pairs that may be connected.
- **The same number of evaluations.** A run of CCGA requests a certain number of local scores. Every
  system that evolves may use as many. Wong's hybrid and MDLEP also end after 200 generations
  without a better structure, CCMA after 25. The others end by themselves, much earlier.
- **Runs.** Run r of all systems has the same seed, and the same random order where one is needed.
  A system without randomness has one run: {deterministic}.
- **The tests** are about runs on these rows. They do not say what happens on other rows. A
  system without randomness has no variation, so a small p-value against it says that the runs
  of the other system are on one side of it.
- **Limits on parents** are those of the systems: none for CCGA and CCMA, ten for K2, five for GA,
  MDLEP and Wong's hybrid, four for K2GA.
- **Readings.** The primary texts of GA, K2GA, MDLEP and Wong's hybrid could not be had. The
  documentation of coevo says what is known of them and what is our reading.
- **The true order** is a topological order of the network that the rows come from. No user
  has it.
"""
_ELSEWHERE = """\
## Published on other data

The published rows of the table of scores are those of the 2011 paper, on its own samples of the
two networks. The other systems were published on other data. Compare signs and sizes. Wong et al.
(2004) report scores and distances no worse than those of MDLEP, in a quarter of the time, on
Alarm.
"""


_FILES = (
    "- `scores.*`, `shd.*`, `evaluations.*`, `tests-*`: the tables above, in Markdown, LaTeX "
    "and CSV.",
    "- `results.csv`: one row per data set and system, in full precision.",
    "- `times.*`: mean CPU seconds of a run on this machine; `times.jsonl`: those of each run.",
    "- `runs.jsonl`: one line per run: seed, score, distance, and each improvement.",
    "- `experiment.json`: the settings of all runs. Repeat the command to resume an "
    "interrupted comparison.",
)


def format_command(reviewed: Reviewed) -> str:
    """Return the command that repeats the comparison."""
    is_all = reviewed.systems == tuple(SYSTEMS)
    systems = "" if is_all else f" --systems {','.join(reviewed.systems)}"
    return (
        f"coevo paper --reviewed --networks {','.join(reviewed.networks)} "
        f"--rows {','.join(map(str, reviewed.rows))} --runs {reviewed.runs} "
        f"--max-generations {reviewed.generations} --population {reviewed.population}{systems} "
        f"--seed {reviewed.seed} -o DIR"
    )


def format_readme(
    reviewed: Reviewed,
    results: ReviewedResults,
    tables: Mapping[str, ReportTable],
    figures: Sequence[str],
) -> str:
    """Return the page in Markdown; `figures` are the kinds of figures."""
    deterministic = [s.name for s in reviewed.chosen_systems if not s.has_randomness]
    systems = ReportTable(
        ["system", "what it is", "runs"],
        [[s.name, s.description, str(reviewed.count_runs(s))] for s in reviewed.chosen_systems],
        n_labels=2,
    )
    parts = [
        "# The systems that the 2011 paper reviews, on its data sets\n",
        f"Made by coevo {__version__} with\n\n    {format_command(reviewed)}\n",
        f"{reviewed.runs} runs of each system on each data set, one run of a system without "
        "randomness. The same seed gives the same files with any number of processes, except for "
        "the files named `times`.\n",
        _format_findings(results),
        describe_reasons(results),
        f"## Systems\n\n{systems.to_markdown()}",
        f"## Scores\n\n{tables['scores'].to_markdown()}",
        *_format_figures(reviewed, figures),
        f"## Distances\n\n{tables['shd'].to_markdown()}",
        _describe_distances(results),
        *(
            f"## Tests against {SYSTEMS[other].label}\n\n{tables[f'tests-{other}'].to_markdown()}"
            for other in results.comparisons
        ),
        f"## Evaluations\n\n{tables['evaluations'].to_markdown()}",
        "The CPU seconds of a run are in `times.md`. They depend on the machine.\n",
        f"{_ELSEWHERE}\n{make_elsewhere_table().to_markdown()}",
        _READING.format(deterministic=", ".join(deterministic) or "there is none here"),
        format_file_list(
            _FILES,
            bool(figures),
            [
                (data.network, data.rows, data.seed, f"{make_file_name(data.network)}-{data.rows}")
                for data in results.data_sets
            ],
        ),
    ]
    return "\n".join(part for part in parts if part)


def _format_findings(results: ReviewedResults) -> str:
    paragraphs = (
        describe_claim_of_paper(results),
        describe_older_systems(results),
        describe_winner(results),
    )
    text = "\n\n".join(paragraph for paragraph in paragraphs if paragraph)
    return f"## What comes out\n\n{text}\n" if text else ""


def _format_figures(reviewed: Reviewed, figures: Sequence[str]) -> list[str]:
    captions = {
        "scores": "Nats below the best structure of all runs on {}, for each run of each system; "
        "boxes are quartiles, the dotted line is the true network",
        "curves": "Nats below the best structure of all runs on {} over evaluations; thick lines "
        "are medians, thin lines are single runs",
    }
    return [
        f"![{captions[kind].format(network)}]({make_figure_stem(kind, network)}.png)\n"
        for network in reviewed.networks
        for kind in figures
    ]


def _describe_distances(results: ReviewedResults) -> str:
    """Return which systems are nearest to the true network; they may not have the best score."""
    winners = list_shd_winners(results)
    lines = [
        f"- {data.label}: {format_names(names)} ({least:.1f})"
        for data, (names, least) in winners.items()
    ]
    n_others = sum(
        max(results.systems, key=lambda name: results.compute_mean(data, name)) not in names
        for data, (names, _) in winners.items()
    )
    said = (
        f"On {n_others} of {len(winners)} data sets, the system with the highest mean score is not "
        "the one with the smallest distance: the K2 score and the distance are two aims."
        if n_others
        else "The system with the highest mean score also has the smallest distance."
    )
    return "\n".join(["The smallest mean distance:\n", *lines, "", said, ""])
