"""Measure whether parallel tempering helps the chains: two runs with the same CPU time.

A ladder has chains at several inverse temperatures: the weights of families are raised to a power.
After every ten rounds neighbours on the ladder may exchange their DAGs, with the acceptance rule of
coupled chains, so the first one keeps the posterior. `coevo posterior` has no tempering, because
this benchmark found that it costs more than it gives (docs/explanation/posterior.md).

    python benchmarks/tempering.py insurance hailfinder
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.averaging.chain_state import ChainSettings, ChainState
from coevo.averaging.chain_tables import prepare_tables
from coevo.averaging.chains import ChainJob, advance_chain, start_chains
from coevo.averaging.family_weights import FamilyWeights
from coevo.warmup import ensure_compiled
from harness import describe_run, print_json
from posterior import Setting

LADDERS: dict[str, tuple[int, tuple[float, ...]]] = {  # the number of ladders, and their powers
    "4 chains": (4, (1.0,)),
    "2 x 3 coupled": (2, (1.0, 0.8, 0.6)),
    "1 x 6 coupled": (1, (1.0, 0.85, 0.72, 0.6, 0.5, 0.4)),
}
SETTINGS = ChainSettings(rounds=10)


class Ladders:
    """Independent ladders of coupled chains, with the CPU time that they have taken."""

    def __init__(self, weights: FamilyWeights, kind: str, seed: int) -> None:
        self.n_ladders, self.powers = LADDERS[kind]
        self.tables = [prepare_tables(weights, power=power) for power in self.powers]
        self.rng, self.seed = np.random.default_rng(seed), seed
        began = time.process_time()
        settings = ChainSettings(chains=self.n_ladders * len(self.powers))
        self.first: ChainState = start_chains(self.tables[0], settings, seed=seed)
        self.level = self.first.level.reshape(self.n_ladders, len(self.powers), -1)
        self.seconds, self.step = time.process_time() - began, 0
        self.arcs = list[NDArray[np.float64]]()

    def advance(self, seconds: float) -> None:
        """Make steps until the CPU time is reached."""
        while self.seconds < seconds:
            began = time.process_time()
            self.arcs.append(np.mean([self._move(i) for i in range(self.n_ladders)], axis=0))
            self.step += 1
            self.seconds += time.process_time() - began

    def _move(self, ladder: int) -> NDArray[np.float64]:
        """Advance one ladder and exchange neighbours; return the arcs of its first chain."""
        blocks = self.first.near_begin, self.first.near, self.first.first
        arcs, logs = np.empty(0), list[float]()
        for k, tables in enumerate(self.tables):
            chain = ladder * len(self.powers) + k
            job = ChainJob(chain, self.seed, self.step, 10, self.level[ladder, k], blocks)
            done = advance_chain(tables, SETTINGS, job)
            self.level[ladder, k] = done.level
            logs.append(float(self.tables[0].arrays.weight[done.records.dags[0, -1]].sum()))
            arcs = done.records.arcs[0] / 10 if k == 0 else arcs
        for k in range(self.step % 2, len(self.powers) - 1, 2):
            gain = (self.powers[k] - self.powers[k + 1]) * (logs[k + 1] - logs[k])
            if np.log(self.rng.random()) < gain:
                self.level[ladder, [k, k + 1]] = self.level[ladder, [k + 1, k]]
                logs[k], logs[k + 1] = logs[k + 1], logs[k]
        return arcs

    @property
    def means(self) -> NDArray[np.float64]:
        """The probability of each possible arc, without the first half of the run."""
        means: NDArray[np.float64] = np.mean(self.arcs[len(self.arcs) // 2 :], axis=0)
        return means


def compare(weights: FamilyWeights, kind: str, most: float) -> dict[str, Any]:
    """Return the CPU seconds after which two runs stay within 0.05."""
    one, other = Ladders(weights, kind, 1), Ladders(weights, kind, 2)
    settled, seconds = 0.0, 2.0
    while seconds <= most:
        for run in (one, other):
            run.advance(seconds)
        difference = float(np.abs(one.means - other.means).max())
        settled = 0.0 if difference > 0.05 else settled or seconds
        seconds *= 2**0.5
    return {
        "chains": kind,
        "seconds to 0.05": round(settled, 1) if settled else f"> {most:g}",
        "difference at the end": round(difference, 3),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("networks", nargs="*", default=["insurance", "hailfinder"])
    parser.add_argument("--seconds", type=float, default=16.0)
    options = parser.parse_args()
    ensure_compiled()
    ensure_compiled("averaging")
    records = [
        {"network": name, **compare(weights, kind, options.seconds)}
        for name in options.networks
        for weights in [Setting(name).choose_weights(12)]
        for kind in LADDERS
    ]
    print_json({**describe_run("numpy", "numba"), "records": records})


if __name__ == "__main__":
    main()
