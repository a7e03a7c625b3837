"""The README of the folder: what was done, what came out, and how it compares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from coevo import __version__
from coevo.experiments.data_sets import file_name, sample_command
from coevo.experiments.paper.plan import Paper
from coevo.experiments.paper.published import FIGURE, PUBLISHED, TABLE
from coevo.experiments.paper.summary import Summary
from coevo.report import ReportTable

__all__ = ["figure_stem", "folder_page", "table_stem"]

_DIFFERENCES = """\
## Where this differs from the paper

- **The data.** The paper does not say which parameters its networks had, and the Alarm and
  Insurance networks in circulation today (those of the bnlearn repository, bundled with
  coevo) give other scores: see the column "original DAG" of the table above. So compare
  signs and sizes of differences, not scores.
- **The draws.** Data sets and runs have seeds of their own; nothing is known of those of
  the paper.
- **The t-test.** The paper names a one-tailed t-test; here it is Welch's, which does not
  suppose equal variances.
- **The score.** "BDe with every hyperparameter 1" is what is called the K2 score today. It
  is not score equivalent, although the paper calls it so.
- **The time.** The paper did not use that the score falls apart into local scores; here
  each local score is computed once for all runs on the same data.
"""


def folder_page(
    paper: Paper, summaries: Sequence[Summary], tables: Mapping[str, ReportTable], figures: bool
) -> str:
    """Return the page in Markdown."""
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
        "The same seed gives the same files on any number of processes, but for those called "
        "`times`.\n",
    ]
    for network, table in tables.items():
        parts.append(f"## {network.capitalize()}\n\n{table.markdown()}")
        if figures:
            parts.append(f"![Convergence on {network}]({figure_stem(network)}.png)\n")
    if any((summary.data.network, summary.data.rows) in PUBLISHED for summary in summaries):
        parts.append(f"## The original DAGs\n\n{_originals(summaries).markdown()}")
        parts.append(_DIFFERENCES)
    parts.append(_files(summaries, figures))
    return "\n".join(parts)


def figure_stem(network: str) -> str:
    """Return the name of a network's figure without its suffix."""
    number = f"-{FIGURE[network]}" if network in FIGURE else ""
    return f"figure{number}-{file_name(network)}"


def table_stem(network: str) -> str:
    """Return the name of a network's table without its suffix."""
    number = f"-{TABLE[network]}" if network in TABLE else ""
    return f"table{number}-{file_name(network)}"


def _originals(summaries: Sequence[Summary]) -> ReportTable:
    """Return the scores of the original DAGs beside the published ones."""
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


def _files(summaries: Sequence[Summary], figures: bool) -> str:
    lines = [
        "## Files\n",
        "- `table-*`: the tables above, in Markdown, LaTeX and CSV.",
        "- `results.csv`: one row a data set, all digits.",
        "- `times.*`: mean CPU seconds of a run, as measured here; `times.jsonl`: of each run.",
        "- `convergence.csv`: mean and standard deviation of the best score by generation.",
        "- `runs.jsonl`: one line a run: seed, score, arcs, and each generation that improved.",
        "- `experiment.json`: what all runs have in common. The same command goes on where an "
        "interrupted one stopped.",
    ]
    if figures:
        lines.append("- `figure-*`: the figures above, in PNG and SVG.")
    lines.append("\nThe data sets can be drawn again:\n")
    lines += [
        f"    {sample_command(data.network, data.rows, data.seed, name)}"
        for data in (summary.data for summary in summaries)
        for name in (f"{file_name(data.network)}-{data.rows}",)
    ]
    return "\n".join(lines) + "\n"
