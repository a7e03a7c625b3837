"""The README of a comparison: methods, data sets, results, and how to read them."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from coevo import __version__
from coevo.experiments.bench.own_methods import describe_implementation
from coevo.experiments.bench.plan import Bench
from coevo.experiments.bench.results import BenchRun
from coevo.experiments.bench.summary import BenchSummary
from coevo.experiments.bench.tables import make_summary_table
from coevo.experiments.data_sets import format_sample_command, make_file_name
from coevo.experiments.environment import describe_machine, find_versions
from coevo.experiments.peers import PEERS
from coevo.report import ReportTable

__all__ = ["describe_missing_peer", "format_bench_command", "format_readme", "make_figure_stem"]

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


def make_figure_stem(kind: str, network: str) -> str:
    """Return the file name of a figure without its suffix."""
    return f"figure-{kind}-{make_file_name(network)}"


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
        _format_file_list(bench, has_figures=any(figures.values())),
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


def _format_file_list(bench: Bench, has_figures: bool) -> str:
    lines = [
        "## Files\n",
        "- `results.csv`: one row per run, in full precision.",
        "- `summary.*`: the tables above in Markdown and LaTeX; as CSV in full precision.",
        "- `runs.jsonl`: one line per run, with the learned arcs; `times.jsonl`: the seconds of "
        "each run, and the score over time of coevo's methods.",
        "- `experiment.json`: the settings of all runs, the machine and the versions. Repeat the "
        "command to resume an interrupted comparison.",
    ]
    if has_figures:
        lines.append("- `figure-*`: the figures above, in PNG and SVG.")
    if bench.networks:
        lines.append("\nThese commands sample the data sets again:\n")
    for data in bench.list_data_sets():
        if data.table is not None:
            continue
        network, rows = data.setting.network, data.setting.rows
        name = f"{make_file_name(network)}-{rows}-{data.repetition}"
        lines.append(f"    {format_sample_command(network, rows, data.seed, name)}")
    return "\n".join(lines) + "\n"
