"""Measure whether the coevolved population helps the chains as a proposal distribution.

Two uses of the last population of `ccma` are compared with the chains as they are, for the same CPU
time:

- *Jumps.* After every ten rounds a chain proposes a DAG that has nothing to do with its own. An
  order o of the population is drawn with a probability in proportion to W(o), the weight of all
  DAGs that fit it; then a DAG that fits it, in proportion to its weight w. So a DAG G is proposed
  with a probability in proportion to w(G) c(G), where c(G) is the number of orders of the
  population that G fits. The target is in proportion to w(G), so the weights cancel in the Hastings
  ratio, which is c(G) / c(G') for a jump from G to G'. A DAG that fits no order never jumps.
- *Near variables.* A block has a random variable and near ones, which are redrawn together. By
  default the near ones come from the warm-up; here from the share of each arc among the best
  structures of the orders of the population. The choice of a block does not depend on the DAG, so
  nothing else changes.

`coevo posterior` has neither: jumps are hardly ever accepted beyond 30 variables, and the blocks
are no better (docs/explanation/posterior.md). With `--check`, chains on asia that jump after every
round are compared with the exact posterior.

    python benchmarks/population_proposal.py --write
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.posteriors.chain_kernels import ChainRun, make_scratch, run_layerings, run_orders
from coevo.posteriors.chain_state import ChainSettings, make_round_plan
from coevo.posteriors.chain_tables import ChainTables
from coevo.posteriors.chains import find_layering, start_chains, step_chains
from coevo.posteriors.diagnostics import diagnose_chains
from coevo.posteriors.exact import compute_exact_posterior
from coevo.posteriors.family_weights import make_complete_weights
from harness import add_output_options, describe_run, show_table
from posterior import Run, Setting, format_table, load_kernels

NETWORKS = ["child", "insurance", "alarm", "hailfinder"]
KINDS = ["as they are", "jumps", "near variables"]
UNCERTAIN = 0.05  # an arc with a probability between this and 1 less this
Level = NDArray[np.int64]  # (n,), twice the layer of each variable, or twice its place in an order


class Population:
    """The distinct orders of the last population of a search."""

    def __init__(self, setting: Setting, tables: ChainTables) -> None:
        self.tables = tables
        self.place = np.argsort(np.unique(setting.state.orders, axis=0), axis=1)  # (n_orders, n)
        rng = np.random.default_rng(0)
        weight = np.array([self._draw(2 * place, rng, True)[1] for place in self.place])
        self.share = np.exp(weight - weight.max())
        self.share /= self.share.sum()
        self.n_proposed = self.n_accepted = self.n_fitting = 0

    def jump(self, level: Level, rng: Generator) -> Level:
        """Return the layering after a proposal: a new one, or the old one."""
        own = self._draw(level.copy(), rng, False)[0]
        chosen = int(rng.choice(len(self.share), p=self.share))
        other = self._draw(2 * self.place[chosen], rng, True)[0]
        fits_own, fits_other = self._count_orders(own), self._count_orders(other)
        is_accepted = rng.random() * fits_other < fits_own
        self.n_proposed += 1
        self.n_fitting += fits_own > 0
        self.n_accepted += is_accepted
        return find_layering(other if is_accepted else own)

    def _count_orders(self, dag: NDArray[np.bool_]) -> int:
        """Return the number of orders that a DAG fits."""
        parent, child = np.nonzero(dag)
        return int((self.place[:, parent] < self.place[:, child]).all(axis=1).sum())

    def _draw(
        self, level: Level, rng: Generator, is_order: bool
    ) -> tuple[NDArray[np.bool_], float]:
        """Return a random DAG of an order or a layering, and its log weight."""
        arrays, n = self.tables.arrays, len(level)
        run = ChainRun(
            level,
            rng.random((1, n)),
            np.zeros(len(arrays.pair_parent)),
            np.empty(1),
            np.empty((1, n), dtype=np.int32),
            np.zeros(n, dtype=np.int32),
            np.full(1, -np.inf),
            np.zeros((2, 2), dtype=np.int64),
        )
        plan = make_round_plan(self.tables.blocks, 0)
        run_chain = run_orders if is_order else run_layerings
        run_chain(arrays, plan, run, make_scratch(n, plan), 0, 1)
        return self.tables.make_adjacency(run.dags[0]), float(run.trace[0])


def find_structures(setting: Setting) -> NDArray[np.float64]:
    """Return the share of each arc among the best structures of the orders, [parent, child]."""
    state, n = setting.state, setting.problem.n_variables
    share = np.zeros((n, n))
    for choice in state.choice:
        for child, family in enumerate(choice):
            share[list(state.archive.parents_of(int(family))), child] += 1 / len(state.choice)
    return share


class Chains(Run):
    """A run of chains that uses the population in one of the ways."""

    def __init__(self, setting: Setting, tables: ChainTables, kind: str, seed: int) -> None:
        super().__init__(tables, ChainSettings(rounds=10), seed)
        self.rng, self.started = np.random.default_rng(seed), self.seconds
        self.population = Population(setting, tables) if kind == "jumps" else None
        if kind == "near variables":
            blocks = tables.with_near(find_structures(setting)).blocks
            self.state = replace(self.state, **blocks._asdict())

    def advance(self, seconds: float) -> None:
        """Make steps until the CPU time is reached; jump after each."""
        while self.seconds < seconds:
            began = time.process_time()
            self.state = step_chains(self.tables, self.settings, self.state)
            if self.population is not None:
                level = [self.population.jump(row[0], self.rng) for row in self.state.level]
                self.state = replace(self.state, level=np.stack(level)[:, None])
            self.seconds += time.process_time() - began


def measure(name: str, seconds: float, seeds: int) -> list[dict[str, Any]]:
    """Return the records of a network."""
    setting, records = Setting(name), []
    tables = setting.make_tables(12)
    load_kernels(tables)
    for kind in KINDS:
        runs = [Chains(setting, tables, kind, seed) for seed in range(1, seeds + 1)]
        for run in runs:
            run.advance(run.started + seconds)
        sizes = [measure_sizes(run) for run in runs]
        made = runs[0].population
        arcs = np.array([run.arcs for run in runs])
        records.append(
            {
                "network": name,
                "chains": kind,
                "effective samples a second, median": round(np.mean([s[0] for s in sizes])),
                "lowest": round(float(np.mean([s[1] for s in sizes])), 1),
                "largest difference of runs": round(float(np.ptp(arcs, axis=0).max()), 3),
                "DAGs that fit an order": f"{made.n_fitting / made.n_proposed:.3f}" if made else "",
                "jumps accepted": f"{made.n_accepted / made.n_proposed:.3f}" if made else "",
            }
        )
        print(records[-1], flush=True)
    return records


def measure_sizes(run: Chains) -> tuple[float, float]:
    """Return the median and the lowest effective size a second, of the uncertain arcs."""
    found = diagnose_chains(run.state)
    is_uncertain = (found.arcs > UNCERTAIN) & (found.arcs < 1 - UNCERTAIN)
    sizes = found.effective_size[is_uncertain] / (run.seconds - run.started)
    return float(np.median(sizes)), float(sizes.min())


def check_jumps() -> float:
    """Return the largest error of an arc on asia, with jumps after every round."""
    setting = Setting("asia")
    tables = setting.make_tables(12)
    run = Chains(setting, tables, "jumps", 1)
    run.settings = ChainSettings(rounds=1)
    run.state = start_chains(tables, run.settings, seed=1)
    run.advance(20.0)
    exact = compute_exact_posterior(make_complete_weights(setting.problem)).arcs
    assert run.population is not None
    print(f"{run.population.n_accepted:,} of {run.population.n_proposed:,} jumps accepted")
    return float(np.abs(run.arcs - exact).max())


def main() -> None:
    """Measure, print, and write the table if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("networks", nargs="*", default=NETWORKS)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--check", action="store_true", help="compare with the exact posterior")
    add_output_options(parser, "posterior population")
    options = parser.parse_args()
    if options.check:
        print(f"largest error of an arc: {check_jumps():.4f}")
        return
    records = [
        r for name in options.networks for r in measure(name, options.seconds, options.seeds)
    ]
    facts = describe_run("numpy")
    caption = (
        f"Means of {options.seeds} runs of {options.seconds:g} CPU seconds after the warm-up, on "
        f"arcs with a probability between 0.05 and 0.95 ({facts['machine']}, under load):"
    )
    show_table(format_table(records, caption), {**facts, "records": records}, options)


if __name__ == "__main__":
    main()
