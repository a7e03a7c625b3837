"""The page of the comparison: what was run, what comes out, the tables and the figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from coevo import __version__
from coevo.experiments.data_sets import format_sample_command, make_file_name
from coevo.experiments.reviewed.findings import (
    describe_claim_of_paper,
    describe_older_systems,
    describe_winner,
    format_names,
    list_shd_winners,
)
from coevo.experiments.reviewed.plan import Reviewed
from coevo.experiments.reviewed.reasons import describe_reasons
from coevo.experiments.reviewed.summary import ReviewedResults
from coevo.experiments.reviewed.systems import SYSTEMS
from coevo.experiments.reviewed.tables import make_elsewhere_table
from coevo.report import ReportTable

__all__ = ["format_command", "format_readme", "make_figure_stem"]

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


def make_figure_stem(kind: str, network: str) -> str:
    """Return the file name of a figure without its suffix."""
    return f"figure-{kind}-{make_file_name(network)}"


def format_readme(
    reviewed: Reviewed,
    results: ReviewedResults,
    tables: Mapping[str, ReportTable],
    figures: Sequence[str],
) -> str:
    """Return the page in Markdown; `figures` are the kinds of figures."""
    deterministic = [s.name for s in reviewed.chosen_systems if not s.has_randomness]
    parts = [
        "# The systems that the 2011 paper reviews, on its data sets\n",
        f"Made by coevo {__version__} with\n\n    {format_command(reviewed)}\n",
        f"{reviewed.runs} runs of each system on each data set, one run of a system without "
        "randomness. The same seed gives the same files with any number of processes, except for "
        "the files named `times`.\n",
        _format_findings(results),
        describe_reasons(results),
        f"## Systems\n\n{_make_system_table(reviewed).to_markdown()}",
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
        _format_file_list(results, bool(figures)),
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


def _make_system_table(reviewed: Reviewed) -> ReportTable:
    rows = [
        [system.name, system.description, str(reviewed.count_runs(system))]
        for system in reviewed.chosen_systems
    ]
    return ReportTable(["system", "what it is", "runs"], rows, n_labels=2)


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


def _format_file_list(results: ReviewedResults, has_figures: bool) -> str:
    lines = [
        "## Files\n",
        "- `scores.*`, `shd.*`, `evaluations.*`, `tests-*`: the tables above, in Markdown, LaTeX "
        "and CSV.",
        "- `results.csv`: one row per data set and system, in full precision.",
        "- `times.*`: mean CPU seconds of a run on this machine; `times.jsonl`: those of each run.",
        "- `runs.jsonl`: one line per run: seed, score, distance, and each improvement.",
        "- `experiment.json`: the settings of all runs. Repeat the command to resume an "
        "interrupted comparison.",
    ]
    if has_figures:
        lines.append("- `figure-*`: the figures above, in PNG and SVG.")
    lines.append("\nThese commands sample the data sets again:\n")
    for data in results.data_sets:
        name = f"{make_file_name(data.network)}-{data.rows}"
        lines.append(f"    {format_sample_command(data.network, data.rows, data.seed, name)}")
    return "\n".join(lines) + "\n"
