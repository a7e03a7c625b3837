"""The README of the experiment: its settings, its results, and the comparison with the paper."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from coevo import __version__
from coevo.experiments.data_sets import format_sample_command, make_file_name
from coevo.experiments.paper.plan import Paper
from coevo.experiments.paper.published import CROSSING, FIGURE, PUBLISHED, TABLE
from coevo.experiments.paper.summary import PaperSummary
from coevo.report import ReportTable

__all__ = ["describe_deviations", "format_readme", "make_figure_stem", "make_table_stem"]

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
    parts.append(_format_file_list(summaries, figures))
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


def _format_file_list(summaries: Sequence[PaperSummary], figures: bool) -> str:
    lines = [
        "## Files\n",
        "- `table-*`: the tables above, in Markdown, LaTeX and CSV.",
        "- `results.csv`: one row per data set, in full precision.",
        "- `times.*`: mean CPU seconds of a run on this machine; `times.jsonl`: those of each run.",
        "- `convergence.csv`: mean and standard deviation of the best score by generation.",
        "- `runs.jsonl`: one line per run: seed, score, number of arcs, and each improvement.",
        "- `experiment.json`: the settings of all runs. Repeat the command to resume an "
        "interrupted experiment.",
    ]
    if figures:
        lines.append("- `figure-*`: the figures above, in PNG and SVG.")
    lines.append("\nThese commands sample the data sets again:\n")
    lines += [
        f"    {format_sample_command(data.network, data.rows, data.seed, name)}"
        for data in (summary.data for summary in summaries)
        for name in (f"{make_file_name(data.network)}-{data.rows}",)
    ]
    return "\n".join(lines) + "\n"
