"""Measure the chains of the posterior: agreement of runs, moves, candidates and growth.

Rows are sampled from bundled networks (1,000 rows, BDeu with equivalent sample size 1). Candidates
come from a search with `ccma` and are then exchanged by measurement. Two independent runs have
different seeds, each of them four chains. The time is CPU time on one core, without the scores and
tables.

    python benchmarks/posterior.py --part agreement
    python benchmarks/posterior.py --write    all parts; also replace the tables of the README
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo import Constraints, Dataset, FamilyScorer, load_network, sample
from coevo.posteriors.chain_state import ChainSettings, ChainState
from coevo.posteriors.chain_tables import ChainTables, prepare_tables
from coevo.posteriors.chains import start_chains, step_chains
from coevo.posteriors.diagnostics import diagnose_chains
from coevo.posteriors.family_weights import FamilyWeights, choose_candidates, make_family_weights
from coevo.posteriors.outside import improve_weights, measure_outside
from coevo.search import CCMA, Budget, run_search
from coevo.search.base import Problem
from harness import describe_run, print_json, replace_block

HERE = Path(__file__).parent
NETWORKS = ["asia", "sachs", "child", "insurance", "alarm", "hailfinder"]
GROWTH = {"child": 10, "alarm": 10, "hepar2": 10, "andes": 8, "munin": 5}  # candidates
MOVES = {
    "relocations of layerings alone": {"blocks": 0, "relocations": 64, "rounds": 20},
    "blocks of 1": {"block_size": 1},
    "blocks of up to 2": {"block_size": 2},
    "blocks of up to 3": {"block_size": 3},
    "blocks of up to 4 (default)": {},
    "blocks of up to 5": {"block_size": 5},
    "blocks of up to 4, no relocations": {"relocations": 0},
    "blocks of up to 4, no warm-up": {"warm_up": 0},
    "order prior": {"prior": "order"},
}


class Setting:
    """A network with its rows, or the rows of its first variables, and a search on them."""

    def __init__(
        self,
        name: str,
        family_prior: str = "uniform",
        seed: int = 1,
        n_variables: int | None = None,
        max_parents: int | None = None,
    ) -> None:
        self.name, self.family_prior = name, family_prior
        dataset = sample(load_network(name), 1000, random_state=seed)
        some = Dataset(dataset.variables[:n_variables], list(dataset.codes[:n_variables]))
        limit, scorer = Constraints(max_parents=max_parents), FamilyScorer(some, "bdeu", ess=1)
        self.problem = Problem.from_scorer(scorer, limit)
        budget = Budget(max_generations=40, patience=10)  # the same on every machine
        self.state: Any = run_search(
            CCMA(), scorer, constraints=limit, budget=budget, random_state=seed
        ).state

    def choose(self, n_candidates: int) -> list[NDArray[np.int64]]:
        """Return the first candidates."""
        best = self.state.adjacency[None]
        return choose_candidates(self.problem, self.state.archive, n_candidates, best)

    def choose_weights(self, n_candidates: int) -> FamilyWeights:
        """Return the weights of the families that `coevo posterior` chooses."""
        best, first = self.state.adjacency[None], self.choose(n_candidates)
        chosen = (self.family_prior, ChainSettings(), best, 1)
        *_, (weights, _) = improve_weights(self.problem, first, *chosen)
        return weights

    def make_tables(self, n_candidates: int) -> ChainTables:
        """Return the tables of the chains."""
        return prepare_tables(self.choose_weights(n_candidates))


class Run:
    """A run of chains with the CPU time that it has taken."""

    def __init__(self, tables: ChainTables, settings: ChainSettings, seed: int) -> None:
        self.tables, self.settings = tables, settings
        began = time.process_time()
        self.state: ChainState = start_chains(tables, settings, seed=seed)
        self.seconds = time.process_time() - began

    def advance(self, seconds: float) -> None:
        """Make steps until the CPU time is reached."""
        while self.seconds < seconds:
            began = time.process_time()
            self.state = step_chains(self.tables, self.settings, self.state)
            self.seconds += time.process_time() - began

    @property
    def arcs(self) -> NDArray[np.float64]:
        """The probability of each arc."""
        arcs: NDArray[np.float64] = self.state.compute_arcs().mean(axis=0)
        return arcs


def load_kernels(tables: ChainTables) -> None:
    """Load the kernels before a clock starts."""
    for prior in ("uniform", "order"):
        settings = ChainSettings(prior, rounds=1)
        step_chains(tables, settings, start_chains(tables, settings))


def compare_runs(tables: ChainTables, settings: ChainSettings, most: float) -> dict[str, Any]:
    """Return the CPU seconds after which two runs stay within 0.05, and their difference."""
    one, other = Run(tables, settings, 1), Run(tables, settings, 2)
    settled, seconds = 0.0, 0.25
    while seconds <= most:
        one.advance(seconds)
        other.advance(seconds)
        difference = float(np.abs(one.arcs - other.arcs).max())
        if difference > 0.05:
            settled = 0.0
        elif not settled:
            settled = seconds
        seconds *= 2**0.5
    return {
        "seconds to 0.05": round(settled, 2) if settled else f"> {most:g}",
        "difference at the end": round(difference, 3),
        "moves a second": round(one.state.n_proposals / one.seconds),
        "largest R-hat": round(float(diagnose_chains(one.state).r_hat.max()), 3),
    }


def measure_agreement(most: float) -> list[dict[str, Any]]:
    """Return how soon two runs agree on each network."""
    records = []
    for name in NETWORKS:
        tables = Setting(name).make_tables(12)
        load_kernels(tables)
        for prior in ("uniform", "order") if name == "alarm" else ("uniform",):
            found = compare_runs(tables, ChainSettings(prior), most)
            records.append({"network": name, "prior": prior, **found})
            print(records[-1], flush=True)
    return records


def measure_moves(seconds: float) -> list[dict[str, Any]]:
    """Return the standard errors on alarm and hailfinder with some of the moves only."""
    records = []
    for name in ("alarm", "hailfinder"):
        tables = Setting(name).make_tables(12)
        load_kernels(tables)
        for moves, chosen in MOVES.items():
            run = Run(tables, replace(ChainSettings(), **chosen), 1)  # type: ignore[arg-type]
            run.advance(seconds)
            found = diagnose_chains(run.state)
            records.append(
                {
                    "network": name,
                    "moves": moves,
                    "moves a second": round(run.state.n_proposals / run.seconds),
                    "mean standard error": round(
                        float(np.sort(found.standard_error, axis=None)[-50:].mean()), 4
                    ),
                    "largest difference of chains": round(found.largest_difference, 3),
                }
            )
            print(records[-1], flush=True)
    return records


def measure_candidates(seconds: float) -> list[dict[str, Any]]:
    """Return what candidates leave out, as first chosen and as exchanged, and what it costs.

    It is measured from five samples of draws, to show how much one sample can differ.
    """
    records = []
    for name in ("insurance", "alarm", "hailfinder"):
        setting = Setting(name)
        for n_candidates in (8, 12):
            first = make_family_weights(setting.problem, setting.choose(n_candidates))
            for choice, weights in (
                ("of the archive", first),
                ("measured", setting.choose_weights(n_candidates)),
            ):
                tables = prepare_tables(weights)
                load_kernels(tables)
                run = Run(tables, ChainSettings(), 1)
                run.advance(seconds)
                draws = run.state.kept_dags.reshape(-1, tables.n_variables)
                found = [measure_outside(setting.problem, tables, draws[i::5]) for i in range(5)]
                totals = [float(one.probability.sum()) for one in found]
                records.append(
                    {
                        "network": name,
                        "candidates": n_candidates,
                        "choice": choice,
                        "families left out": round(float(np.mean(totals)), 3),
                        "of five samples": f"{min(totals):.3f} to {max(totals):.3f}",
                        "families kept beside": len(weights.outside.log_weight),
                        "moves a second": round(run.state.n_proposals / run.seconds),
                    }
                )
                print(records[-1], flush=True)
    return records


def measure_growth(seconds: float) -> list[dict[str, Any]]:
    """Return moves a second and the agreement of two runs with more variables."""
    records = []
    for name, n_candidates in GROWTH.items():
        began = time.process_time()
        tables = Setting(name).make_tables(n_candidates)
        prepared = time.process_time() - began
        load_kernels(tables)
        one, other = (Run(tables, ChainSettings(), seed) for seed in (1, 2))
        started = one.seconds
        for run in (one, other):
            run.advance(run.seconds + seconds)
        difference = np.abs(one.arcs - other.arcs)
        records.append(
            {
                "network": name,
                "variables": tables.n_variables,
                "candidates": n_candidates,
                "search and tables, s": round(prepared, 1),
                "warm-up, s": round(started, 1),
                "rounds": int(one.state.step * one.state.rounds),
                "moves a second": round(one.state.n_proposals / (one.seconds - started)),
                "largest difference": round(float(difference.max()), 3),
                "arcs that differ by 0.1": int((difference > 0.1).sum()),
                "arcs above 0.5": int((np.maximum(one.arcs, other.arcs) > 0.5).sum()),
            }
        )
        print(records[-1], flush=True)
    return records


def draw_growth(records: list[dict[str, Any]], path: Path) -> None:
    """Draw the moves a second and the largest difference of two runs, over the variables."""
    from coevo.view.figures import BLUE, GREY, ORANGE, apply_style, make_figure, save_figure

    figure, (left, right) = make_figure(2, width=3.9, height=3.2)
    n = [record["variables"] for record in records]
    with apply_style():
        left.plot(n, [record["moves a second"] for record in records], "o-", color=BLUE)
        left.set_ylabel("moves a second")
        left.set_ylim(bottom=0)
        left.yaxis.set_major_formatter("{x:,.0f}")
        right.plot(n, [record["largest difference"] for record in records], "o-", color=ORANGE)
        right.axhline(0.05, color=GREY, linestyle="--", linewidth=1.3)
        right.set_ylabel("largest difference of two runs")
        right.set_ylim(bottom=0)
        for panel in (left, right):
            panel.set_xscale("log")
            panel.set_xlabel("variables")
            panel.set_xticks(n, [str(value) for value in n], rotation=45)
            panel.minorticks_off()
    save_figure(figure, path)


def format_table(records: list[dict[str, Any]], caption: str) -> str:
    """Return the records as a Markdown table."""
    names = list(records[0])
    lines = [caption, "", f"| {' | '.join(names)} |", f"|{'---|' * len(names)}"]
    lines += [
        f"| {' | '.join(f'{r[n]:,}' if isinstance(r[n], int) else str(r[n]) for n in names)} |"
        for r in records
    ]
    return "\n".join(lines)


PARTS = {
    "agreement": (measure_agreement, 6.0, "CPU seconds until two runs stay within 0.05"),
    "moves": (measure_moves, 3.0, "Each set of moves for the same CPU time"),
    "candidates": (measure_candidates, 2.0, "What the candidates leave out of a network"),
    "growth": (measure_growth, 10.0, "Two runs of 10 CPU seconds after the warm-up"),
}


def main() -> None:
    """Measure, print, and write the tables if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--format", choices=["text", "json"], default="text")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    facts = describe_run("numpy")
    for part in options.part or PARTS:
        measure, seconds, caption = PARTS[part]
        records = measure(seconds)
        if options.format == "json":
            print_json({**facts, "part": part, "records": records})
            continue
        table = format_table(records, f"{caption} ({facts['machine']}):")
        print(table)
        if options.write:
            replace_block(HERE / "README.md", f"posterior {part}", table)
            if part == "growth":
                draw_growth(records, HERE / "posterior-growth.png")


if __name__ == "__main__":
    main()
