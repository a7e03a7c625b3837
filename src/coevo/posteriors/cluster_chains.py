"""Chains on the workers of a cluster: one step of one chain is one job.

The tables are sent once. A job takes the state of a chain and returns its next state, so the
answer is the same as on the threads of one machine.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from coevo.parallel import Cluster, Workers, open_workers
from coevo.posteriors.chain_state import ChainSettings
from coevo.posteriors.chain_tables import ChainTables
from coevo.posteriors.chains import ChainJob, ChainOutcome, ChainRunner, advance_chain

__all__ = ["open_chain_runner"]


@contextlib.contextmanager
def open_chain_runner(cluster: Cluster) -> Iterator[ChainRunner | None]:
    """Yield what runs chains on a cluster; None if there is none."""
    if cluster is None:
        yield None
        return
    with open_workers(cluster=cluster) as workers:
        yield ClusterChains(workers)


@dataclass(frozen=True)
class ClusterChains:
    """A runner that advances chains on workers."""

    workers: Workers

    def __call__(
        self, tables: ChainTables, settings: ChainSettings, jobs: Sequence[ChainJob]
    ) -> list[ChainOutcome]:
        """Return the outcome of each job, in the order of the jobs."""
        found = self.workers.run(_advance_on_worker, jobs, shared=(tables, settings))
        outcomes = {outcome.chain: outcome for outcome in found}
        return [outcomes[job.chain] for job in jobs]


def _advance_on_worker(tables: ChainTables, settings: ChainSettings, job: ChainJob) -> ChainOutcome:
    """Advance a chain, on a worker."""
    return advance_chain(tables, settings, job)
