"""The README of the folder: who was compared on what, what came out, and how to read it."""

from __future__ import annotations

from collections.abc import Sequence

from coevo import __version__
from coevo.experiments.bench.plan import Bench
from coevo.experiments.bench.results import Result
from coevo.experiments.bench.summary import Summary
from coevo.experiments.bench.tables import summary_table
from coevo.experiments.data_sets import file_name, sample_command
from coevo.experiments.environment import machine, versions
from coevo.experiments.peers import PEERS
from coevo.report import ReportTable

__all__ = ["bench_command", "figure_stem", "folder_page", "not_installed"]

_READING = """\
## How to read this

- **The same rows.** Everyone gets the very same rows of a data set, in the same order of
  columns, and is told all states of each variable, those that no row shows too (but
  causal-learn does not ask for them, and the BDeu score of pgmpy is wrong with them).
- **One judge.** Structures are scored by coevo's scorer, whatever score a peer reports; a
  peer that does not have the score that was asked for maximises its nearest (see *Who*).
  The best score known is the highest that any run found on the same rows.
- **One process a run**, on one thread, with Python's hash seed set to 0. The time begins
  when libraries and kernels are loaded and the data are handed over.
- **Time-outs.** A peer that is not done after {seconds:g} s is killed and has no result. A method
  of coevo holds its best network at every moment: it stops by itself (CCMA after 25
  generations without a better network, CCGA after 250), or after the generation in which
  the {seconds:g} s are over.
- **The same again.** The same seed gives the same data sets. A run that the clock stopped
  (`stop_reason` is `time`) may end elsewhere on another machine, and no time is the same
  twice; all other runs of coevo give the same networks again.
"""
_CAPTIONS = {
    "scores": "Nats below the best score known over time on {}: the median thick, each run thin; "
    "peers at the moment they end",
    "gaps": "Boxes over the seeds of the nats below the best score known on {}",
    "shd": "Boxes over the seeds of the structural Hamming distance of the CPDAGs on {}",
}


def bench_command(bench: Bench) -> str:
    """Return the command that makes the folder again."""
    ess = getattr(bench.score, "ess", None)
    return (
        f"coevo bench --networks {','.join(bench.networks)} "
        f"--rows {','.join(map(str, bench.rows))} --seeds {bench.seeds} "
        f"--methods {','.join(bench.methods) or 'none'} "
        f"--peers {','.join(bench.peers) or 'none'} --score {bench.score.name}"
        f"{'' if ess is None else f' --ess {ess:g}'} --max-time {bench.max_time:g} "
        f"--seed {bench.seed} -o DIR"
    )


def not_installed(name: str) -> str:
    """Return the sentence about a peer that is missing.

    >>> print(not_installed("pgmpy"))
    pgmpy is not installed, so it is left out; pip install 'coevo[bench]' brings it.
    """
    return f"{name} is not installed, so it is left out; pip install 'coevo[bench]' brings it."


def figure_stem(kind: str, network: str) -> str:
    """Return the name of a figure without its suffix."""
    return f"figure-{kind}-{file_name(network)}"


def folder_page(
    bench: Bench, summaries: Sequence[Summary], results: Sequence[Result], figures: Sequence[str]
) -> str:
    """Return the page in Markdown; `figures` are the kinds that were drawn."""
    found = versions(*(PEERS[name].package for name in bench.peers))
    listed = ", ".join(f"{name} {version}" for name, version in found.items())
    parts = [
        "# Structure learners compared\n",
        f"Made by coevo {__version__} with\n\n    {bench_command(bench)}\n",
        f"on {machine()}; {listed}.\n",
        f"## Who\n\n{_who(bench).markdown()}",
    ]
    parts += [f"{not_installed(name)}\n" for name in bench.missing_peers]
    for network in bench.networks:
        own = [summary for summary in summaries if summary.network == network]
        parts.append(f"## {network}\n\n{summary_table(own, bench.score.label).markdown()}")
        parts += [
            f"![{_CAPTIONS[kind].format(network)}]({figure_stem(kind, network)}.png)\n"
            for kind in figures
        ]
    parts += [_failures(results), _READING.format(seconds=bench.max_time), _files(bench, figures)]
    return "\n".join(part for part in parts if part)


def _who(bench: Bench) -> ReportTable:
    """Return who runs, and what each of them maximises."""
    rows = []
    for name, kind in bench.runners.items():
        if kind == "ours":
            rows.append([name, f"coevo {__version__}", bench.score.label])
        else:
            peer = PEERS[name]
            what = f"{peer.method} of {name} {peer.version or '(version unknown)'}"
            rows.append([name, what, peer.score_used(bench.score)])
    return ReportTable(["method", "what it is", "maximises"], rows, n_labels=3)


def _failures(results: Sequence[Result]) -> str:
    """Return what went wrong, a line for each error and method."""
    lines: dict[str, int] = {}
    for result in results:
        if result.status == "failed":
            line = f"{result.method} on {result.setting.label}: {result.error}"
            lines[line] = lines.get(line, 0) + 1
    if not lines:
        return ""
    listed = [f"- {line}{f' ({n} runs)' if n > 1 else ''}" for line, n in lines.items()]
    return "\n".join(["## Runs that failed\n", *listed, ""])


def _files(bench: Bench, figures: Sequence[str]) -> str:
    lines = [
        "## Files\n",
        "- `results.csv`: one row a run, all digits.",
        "- `summary.*`: the tables above in Markdown and LaTeX; as CSV with all digits.",
        "- `runs.jsonl`: one line a run, with the arcs that it found; `times.jsonl`: how long it "
        "took, and when a method of coevo had which score.",
        "- `experiment.json`: what all runs have in common, the machine and the versions. The "
        "same command goes on where an interrupted one stopped.",
    ]
    if figures:
        lines.append("- `figure-*`: the figures above, in PNG and SVG.")
    lines.append("\nThe data sets can be drawn again:\n")
    for data in bench.data_sets():
        network, rows = data.setting.network, data.setting.rows
        name = f"{file_name(network)}-{rows}-{data.repetition}"
        lines.append(f"    {sample_command(network, rows, data.seed, name)}")
    return "\n".join(lines) + "\n"
