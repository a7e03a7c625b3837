"""What a comparison writes: the summary over the seeds, its tables and figures, and the README.

The summary has the columns that make sense for its data sets: distances need a true structure, and
the held-out likelihood needs rows that were held out.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import cycle
from statistics import fmean, median
from typing import TYPE_CHECKING, Any, NamedTuple

from coevo import __version__
from coevo.experiments.bench.plan import Bench, BenchSetting
from coevo.experiments.bench.runs import BenchRecord, BenchRun, describe_implementation
from coevo.experiments.experiment import (
    describe_machine,
    find_versions,
    format_file_list,
    make_figure_stem,
    make_file_name,
)
from coevo.experiments.peers import PEERS
from coevo.view.figures import (
    LINE_LOOKS,
    POINT_LOOKS,
    Look,
    ReportTable,
    TimeCurve,
    draw_box_panel,
    draw_time_panel,
    make_figure,
    set_gap_axis,
)

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "FIGURES",
    "BenchSummary",
    "describe_missing_peer",
    "draw_figure",
    "format_bench_command",
    "format_readme",
    "format_summary_rows",
    "list_figures",
    "make_summary_table",
    "summarise",
]


BEST_TOLERANCE = 1e-6  # nats; allows for round-off
MEANS = (
    "held_out",
    "n_arcs",
    "true_score",
    "above_true",
    "shd",
    "shd_cpdag",
    "sid",
    "skeleton_f1",
    "arc_f1",
)


@dataclass(frozen=True)
class BenchSummary:
    """A method on one network and size.

    Means and the median are over the runs with a result, and None if there is none. The share is
    of all runs.
    """

    network: str
    rows: int
    method: str
    kind: str
    version: str | None
    score_used: str
    runs: int
    done: int
    timeouts: int
    failed: int
    mean_gap_to_best: float | None
    share_at_best: float
    mean_held_out: float | None
    mean_n_arcs: float | None
    mean_true_score: float | None
    mean_above_true: float | None
    mean_shd: float | None
    mean_shd_cpdag: float | None
    mean_sid: float | None
    mean_skeleton_f1: float | None
    mean_arc_f1: float | None
    median_seconds: float | None

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as a dict, as ``coevo bench --format json`` prints them."""
        return asdict(self)


def summarise(results: Iterable[BenchRun]) -> list[BenchSummary]:
    """Return a summary of each method on each network and size, in the order of the rows."""
    groups: dict[tuple[str, int, str], list[BenchRun]] = {}
    for result in results:
        groups.setdefault((result.network, result.rows, result.method), []).append(result)
    return [_summarise_group(group) for group in groups.values()]


def _summarise_group(results: Sequence[BenchRun]) -> BenchSummary:
    first = results[0]
    gaps = _collect_numbers(results, "gap_to_best")
    seconds = _collect_numbers(results, "seconds")
    return BenchSummary(
        network=first.network,
        rows=first.rows,
        method=first.method,
        kind=first.kind,
        version=first.version,
        score_used=first.score_used,
        runs=len(results),
        done=_count(results, "done"),
        timeouts=_count(results, "timeout"),
        failed=_count(results, "failed"),
        mean_gap_to_best=_mean_or_none(gaps),
        share_at_best=sum(gap <= BEST_TOLERANCE for gap in gaps) / len(results),
        **{f"mean_{name}": _mean_or_none(_collect_numbers(results, name)) for name in MEANS},
        median_seconds=median(seconds) if seconds else None,
    )


def _collect_numbers(results: Sequence[BenchRun], name: str) -> list[float]:
    return [value for value in (getattr(r, name) for r in results) if value is not None]


def _mean_or_none(numbers: Sequence[float]) -> float | None:
    return fmean(numbers) if numbers else None


def _count(results: Sequence[BenchRun], status: str) -> int:
    return sum(result.status == status for result in results)


_ALWAYS, _TABLE, _TRUE = range(3)  # which data sets have a column


class _Column(NamedTuple):
    header: str
    data: int
    format: Callable[[BenchSummary], str]
    explanation: str = ""


def _make_number_column(
    header: str, data: int, name: str, pattern: str, explanation: str = ""
) -> _Column:
    return _Column(header, data, lambda s: _format_number(getattr(s, name), pattern), explanation)


_COLUMNS = (
    _Column("method", _ALWAYS, lambda summary: summary.method),
    _Column("runs", _ALWAYS, lambda summary: _format_run_counts(summary)),
    _make_number_column(
        "below best",
        _ALWAYS,
        "mean_gap_to_best",
        ",.1f",
        "below best, nats below the best score of all runs on the same rows",
    ),
    _Column("at best", _ALWAYS, lambda summary: f"{100 * summary.share_at_best:.0f} %"),
    _make_number_column(
        "held-out",
        _TABLE,
        "mean_held_out",
        ".4f",
        "held-out, the log-likelihood of a row that was held out (higher is better)",
    ),
    _make_number_column("arcs", _TABLE, "mean_n_arcs", ".1f", "arcs, number of arcs"),
    _make_number_column(
        "above true",
        _TRUE,
        "mean_above_true",
        "+,.1f",
        "above true, nats above the score of the true structure",
    ),
    _make_number_column(
        "SHD",
        _TRUE,
        "mean_shd",
        ".1f",
        "SHD, structural Hamming distance of the DAGs and of the CPDAGs",
    ),
    _make_number_column("SHD CPDAG", _TRUE, "mean_shd_cpdag", ".1f"),
    _make_number_column(
        "SID", _TRUE, "mean_sid", ".1f", "SID, structural intervention distance of the DAGs"
    ),
    _make_number_column("skeleton F1", _TRUE, "mean_skeleton_f1", ".2f"),
    _make_number_column("arc F1", _TRUE, "mean_arc_f1", ".2f"),
    _Column("seconds", _ALWAYS, lambda summary: _format_seconds(summary.median_seconds)),
)


def _choose_columns(summaries: Sequence[BenchSummary]) -> list[_Column]:
    """Return the columns that at least one of these summaries has."""
    shown = {_ALWAYS}
    if any(summary.mean_true_score is not None for summary in summaries):
        shown.add(_TRUE)
    if any(summary.mean_held_out is not None for summary in summaries):
        shown.add(_TABLE)
    return [column for column in _COLUMNS if column.data in shown]


def make_summary_table(summaries: Sequence[BenchSummary], score: str) -> ReportTable:
    """Return the summary with rounded numbers, for readers."""
    columns = _choose_columns(summaries)
    explained = "; ".join(column.explanation for column in columns if column.explanation)
    caption = (
        f"Scores are {score}, natural logarithms, by coevo's scorer. Means over the runs with a "
        f"result: {explained}. At best: the share of runs that reached the best score. Seconds: "
        "the median."
    )
    headers, *rows = format_summary_rows(summaries)
    labels = [BenchSetting(summary.network, summary.rows).label for summary in summaries]
    labelled = [[label, *row] for label, row in zip(labels, rows, strict=True)]
    return ReportTable(["data sets", *headers], labelled, caption, n_labels=2)


def format_summary_rows(summaries: Sequence[BenchSummary]) -> list[list[str]]:
    """Return the headers, and a row of cells for each summary."""
    columns = _choose_columns(summaries)
    rows = [[column.format(summary) for column in columns] for summary in summaries]
    return [[column.header for column in columns], *rows]


def _format_run_counts(summary: BenchSummary) -> str:
    """Return the number of runs, of runs that timed out, and of runs that failed."""
    without_result = [
        f"{n} {what}"
        for n, what in ((summary.timeouts, "timed out"), (summary.failed, "failed"))
        if n
    ]
    return ", ".join([str(summary.runs), *without_result])


def _format_seconds(value: float | None) -> str:
    return _format_number(value, ".3f" if (value or 0) < 1 else ".1f")


def _format_number(value: float | None, pattern: str) -> str:
    return "-" if value is None else format(value, pattern)


OURS, PEER = "#0072B2", "#D55E00"
RecordedRun = tuple[BenchRecord, BenchRun]
USUAL_LENGTH, INCHES_PER_LETTER = 14, 0.08
GAP_LABEL = "nats below the best known score"


def list_figures(bench: Bench, source: str) -> list[str]:
    """Return the kinds of figures about a network or a table."""
    table = next((table for table in bench.tables if table.name == source), None)
    left_out = {"held-out"} if table is None else set() if table.true is not None else {"shd"}
    return [kind for kind in FIGURES if kind not in left_out]


def draw_figure(kind: str, bench: Bench, network: str, rows: Sequence[RecordedRun]) -> Figure:
    """Draw a figure about one network or table, with a panel for each size of data sets."""
    return FIGURES[kind](bench, network, rows)


def _select_setting(rows: Sequence[RecordedRun], setting: BenchSetting) -> list[RecordedRun]:
    return [row for row in rows if row[1].setting == setting]


def _measure_long_names(bench: Bench) -> float:
    """Return the inches that names need beyond the usual place; settings make names long."""
    longest = max(map(len, bench.runners), default=0)
    return INCHES_PER_LETTER * max(0, longest - USUAL_LENGTH)


def _assign_looks(bench: Bench) -> dict[str, Look]:
    """Return the style of each method, the same in all figures."""
    looks: dict[str, Look] = dict(zip(bench.labels.values(), cycle(LINE_LOOKS), strict=False))
    return looks | dict(zip(bench.peers, cycle(POINT_LOOKS), strict=False))


def _draw_scores_figure(bench: Bench, network: str, rows: Sequence[RecordedRun]) -> Figure:
    """Draw the nats below the best score over time, for each method."""
    settings = bench.list_settings(network)
    width = 3.6 + (1.2 + _measure_long_names(bench)) / len(settings)
    figure, panels = make_figure(len(settings), width=width, height=3.4)
    looks = _assign_looks(bench)
    handles: dict[str, Artist] = {}
    for panel, setting in zip(panels, settings, strict=True):
        largest = _draw_scores_panel(panel, _select_setting(rows, setting), looks)
        set_gap_axis(panel, "y", largest)
        panel.set_title(setting.label, fontsize=10)
        drawn, labels = panel.get_legend_handles_labels()
        handles |= dict(zip(labels, drawn, strict=True))
    panels[0].set_ylabel(GAP_LABEL)
    shown = [name for name in looks if name in handles]
    figure.legend(
        [handles[name] for name in shown],
        shown,
        loc="outside right upper",
        frameon=False,
        fontsize=8,
    )
    return figure


def _draw_scores_panel(
    panel: Axes, rows: Sequence[RecordedRun], looks: Mapping[str, Look]
) -> float:
    """Draw one panel; return its largest value."""
    curves: dict[str, list[TimeCurve]] = {}
    points: dict[str, list[tuple[float, float]]] = {}
    for record, result in rows:
        best, seconds, gap = result.best_score, result.seconds, result.gap_to_best
        if best is None or seconds is None or gap is None:
            continue
        if record.kind == "peer":
            points.setdefault(record.method, []).append((seconds, gap))
            continue
        curve = [(at, max(0.0, best - score)) for at, score in record.curve]
        end = max(seconds, curve[-1][0]) if curve else seconds
        curves.setdefault(record.method, []).append([*curve, (end, gap)])
    draw_time_panel(panel, curves, points, looks)
    runs = [*points.values(), *(run for runs in curves.values() for run in runs)]
    return max((gap for run in runs for _, gap in run), default=1.0)


def _draw_gaps_figure(bench: Bench, network: str, rows: Sequence[RecordedRun]) -> Figure:
    """Draw the final nats below the best score, for each method."""
    figure, panels = _draw_boxes(bench, network, rows, "gap_to_best")
    for panel, setting in zip(panels, bench.list_settings(network), strict=True):
        gaps = [r.gap_to_best for _, r in _select_setting(rows, setting) if r.gap_to_best]
        set_gap_axis(panel, "x", max(gaps, default=1.0))
        panel.set_xlabel(GAP_LABEL)
    return figure


def _draw_shd_figure(bench: Bench, network: str, rows: Sequence[RecordedRun]) -> Figure:
    """Draw the structural Hamming distances, for each method."""
    figure, panels = _draw_boxes(bench, network, rows, "shd_cpdag")
    for panel in panels:
        panel.set_xlabel("SHD of the CPDAG")
        panel.set_xlim(left=min(0.0, panel.get_xlim()[0]))
    return figure


def _draw_held_out_figure(bench: Bench, network: str, rows: Sequence[RecordedRun]) -> Figure:
    """Draw the log-likelihoods of held-out rows, for each method."""
    figure, panels = _draw_boxes(bench, network, rows, "held_out")
    for panel in panels:
        panel.set_xlabel("log-likelihood of a held-out row")
    return figure


def _draw_boxes(
    bench: Bench, network: str, rows: Sequence[RecordedRun], name: str
) -> tuple[Figure, list[Axes]]:
    """Draw box plots of one quantity, methods from top to bottom."""
    height = 1.2 + 0.27 * len(bench.runners)
    settings = bench.list_settings(network)
    width = 3.6 + _measure_long_names(bench) / len(settings)
    figure, panels = make_figure(len(settings), width=width, height=height)
    colours = {name: OURS if kind == "ours" else PEER for name, kind in bench.runners.items()}
    for panel, setting in zip(panels, settings, strict=True):
        values: dict[str, list[float]] = {method: [] for method in bench.runners}
        statuses: dict[str, set[str]] = {method: set() for method in bench.runners}
        for _, result in _select_setting(rows, setting):
            statuses[result.method].add(result.status)
            if getattr(result, name) is not None:
                values[result.method].append(getattr(result, name))
        notes = {
            method: "failed" if "failed" in seen else "timed out"
            for method, seen in statuses.items()
        }
        draw_box_panel(panel, values, colours, notes)
        panel.set_title(setting.label, fontsize=10)
    for panel in panels[1:]:
        panel.tick_params(labelleft=False)
    return figure, panels


# kind of figure, used in its file name: function that draws it
FIGURES: dict[str, Callable[[Bench, str, Sequence[RecordedRun]], Figure]] = {
    "scores": _draw_scores_figure,
    "gaps": _draw_gaps_figure,
    "shd": _draw_shd_figure,
    "held-out": _draw_held_out_figure,
}


_READING = """\
## How to read this

- **The same rows.** Every method gets the same rows of a data set, in the same order of
  columns, and all declared states of each variable, also those that occur in no row (but
  causal-learn ignores them, and pgmpy's BDeu score is wrong with them).
- **One scorer.** coevo's scorer scores all structures; the scores that peers report are not
  used. A peer without the requested score maximises its nearest score (see *Methods*). The
  best known score is the highest score of all runs on the same rows.
- **One process per run**, with one thread, and with Python's hash seed set to 0. The clock
  starts when the libraries are loaded and the data are converted.
{tables}- **Time limit.** A peer that is not done after {seconds:g} s is killed and has no result. A
  method of coevo has a best network at every moment. It stops by itself (CCMA after 14 to 25
  generations without a better network, CCGA after 250), or at the end of the generation in which
  the {seconds:g} s pass.
- **Reproducibility.** The same seed gives the same data sets. A run that the time limit stopped
  (`stop_reason` is `time`) may give another network on another machine, and times differ from
  run to run. All other runs of coevo give the same networks again.
"""
_CAPTIONS = {
    "scores": "Nats below the best known score over time on {}: thick lines are medians, thin "
    "lines are single runs, points are peers at the time of their end",
    "gaps": "Box plots over the seeds of the nats below the best known score on {}",
    "shd": "Box plots over the seeds of the structural Hamming distance of the CPDAGs on {}",
    "held-out": "Box plots over the seeds of the log-likelihood of a held-out row of {}",
}
_TABLES = """\
- **Held-out rows.** Each seed holds out {share:g} of the rows of a table, drawn at random. Bins
  and states come from all rows. The methods learn from the others. The tables of each network are
  fitted to the rows that it was learned from (ess 1), and *held-out* is the mean log-likelihood of
  a row that was held out. The true network is not known unless it was given, so a table may have no
  distances.
"""


_FILES = (
    "- `results.csv`: one row per run, in full precision.",
    "- `summary.*`: the tables above in Markdown and LaTeX; as CSV in full precision.",
    "- `runs.jsonl`: one line per run, with the learned arcs; `times.jsonl`: the seconds of "
    "each run, and the score over time of coevo's methods.",
    "- `experiment.json`: the settings of all runs, the machine and the versions. Repeat the "
    "command to resume an interrupted comparison.",
)


def format_bench_command(bench: Bench) -> str:
    """Return the command that repeats the comparison."""
    ess = getattr(bench.score, "ess", None)
    tables = "".join(f" {shlex.quote(table.name)}" for table in bench.tables)
    if bench.table_options:
        tables += f" {bench.table_options}"
    if bench.tables:
        tables += f" --held-out {bench.held_out:g}"
    networks = (
        f" --networks {','.join(bench.networks)} --rows {','.join(map(str, bench.rows))}"
        if bench.networks
        else ""
    )
    methods = shlex.quote(",".join(bench.methods) or "none")
    return (
        f"coevo bench{tables}{networks} --seeds {bench.seeds} "
        f"--methods {methods} "
        f"--peers {','.join(bench.peers) or 'none'} --score {bench.score.name}"
        f"{'' if ess is None else f' --ess {ess:g}'} --max-time {bench.max_time:g} "
        f"--seed {bench.seed} -o DIR"
    )


def describe_missing_peer(name: str) -> str:
    """Return the message about a peer that is not installed.

    >>> print(describe_missing_peer("pgmpy"))
    pgmpy is not installed and is left out. Install it with: pip install 'coevo[bench]'
    """
    return f"{name} is not installed and is left out. Install it with: pip install 'coevo[bench]'"


def format_readme(
    bench: Bench,
    summaries: Sequence[BenchSummary],
    results: Sequence[BenchRun],
    figures: Mapping[str, Sequence[str]],
) -> str:
    """Return the README in Markdown; `figures` are the kinds of figures of each source."""
    packages = find_versions(*(PEERS[name].package for name in bench.peers))
    listed = ", ".join(f"{name} {version}" for name, version in packages.items())
    parts = [
        "# Structure learners compared\n",
        f"Made by coevo {__version__} with\n\n    {format_bench_command(bench)}\n",
        f"on {describe_machine()}; {listed}.\n",
        f"## Methods\n\n{_make_method_table(bench).to_markdown()}",
    ]
    parts += [f"{describe_missing_peer(name)}\n" for name in bench.missing_peers]
    for source in bench.sources:
        table = make_summary_table(
            [summary for summary in summaries if summary.network == source], bench.score.label
        )
        parts.append(f"## {source}\n\n{table.to_markdown()}")
        parts += [
            f"![{_CAPTIONS[kind].format(source)}]({make_figure_stem(kind, source)}.png)\n"
            for kind in figures[source]
        ]
    tables = _TABLES.format(share=bench.held_out) if bench.tables else ""
    parts += [
        _format_failures(results),
        _READING.format(seconds=bench.max_time, tables=tables),
        format_file_list(
            _FILES,
            any(figures.values()),
            [
                (
                    s.network,
                    s.rows,
                    data.seed,
                    f"{make_file_name(s.network)}-{s.rows}-{data.repetition}",
                )
                for data in bench.list_data_sets()
                for s in (data.setting,)
                if data.table is None
            ],
        ),
    ]
    return "\n".join(part for part in parts if part)


def _make_method_table(bench: Bench) -> ReportTable:
    """Return the table of the methods and peers, and the score that each maximises."""
    rows = []
    texts = {label: text for text, label in bench.labels.items()}
    for name, kind in bench.runners.items():
        if kind == "ours":
            rows.append([name, describe_implementation(texts[name]), bench.score.label])
        else:
            peer = PEERS[name]
            implementation = f"{peer.method} of {name} {peer.version or '(version unknown)'}"
            rows.append([name, implementation, peer.describe_score_used(bench.score)])
    return ReportTable(["method", "implementation", "maximises"], rows, n_labels=3)


def _format_failures(results: Sequence[BenchRun]) -> str:
    """Return the section about failed runs, with one line per error and method."""
    lines: dict[str, int] = {}
    for result in results:
        if result.status == "failed":
            line = f"{result.method} on {result.setting.label}: {result.error}"
            lines[line] = lines.get(line, 0) + 1
    if not lines:
        return ""
    listed = [f"- {line}{f' ({n} runs)' if n > 1 else ''}" for line, n in lines.items()]
    return "\n".join(["## Failed runs\n", *listed, ""])
