"""Islands on workers: one epoch of one island is one job.

The table is sent once. Each worker makes its own scorer from it and keeps that scorer from epoch
to epoch. A job takes the state of an island and returns its next state.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from coevo.errors import ParameterError, bad_parameter
from coevo.parallel.workers import Cluster, Workers, check_workers, open_workers
from coevo.score import FamilyScorer
from coevo.search import CCMAState, Islands
from coevo.search.islands import Epoch, Island

__all__ = ["DaskIslands", "distribute_islands"]


@contextlib.contextmanager
def distribute_islands(method: Islands, *, cluster: Cluster = None) -> Iterator[Islands]:
    """Yield a method whose islands evolve on a cluster. The result is the same.

    Parameters
    ----------
    method : Islands
        The settings.
    cluster : str or distributed.Client, optional
        The cluster; see `bootstrap_strength`. Without one, the islands evolve in this process.

    Examples
    --------
    >>> import coevo
    >>> rows = coevo.sample(coevo.load_network("asia"), 500, random_state=1)
    >>> scorer = coevo.FamilyScorer(rows, "k2")
    >>> limit = coevo.Budget(max_generations=2)
    >>> islands = coevo.Islands(islands=2)
    >>> with coevo.parallel.distribute_islands(islands) as method:  # cluster="local:2"
    ...     result = coevo.run_search(method, scorer, budget=limit, random_state=7)
    >>> result.settings["islands"]
    2
    """
    if not isinstance(method, Islands):
        raise bad_parameter("method", "distribute_islands", "Islands", method)
    check_workers("distribute_islands", 1, cluster)
    if cluster is None:
        yield method
        return
    with open_workers(cluster=cluster) as workers:
        yield replace(method, runner=DaskIslands(workers))


@dataclass(frozen=True)
class DaskIslands:
    """A runner that evolves islands on workers."""

    workers: Workers

    def __call__(self, epoch: Epoch, islands: Sequence[Island]) -> list[CCMAState]:
        """Return the state of each island at the end of an epoch."""
        scorer = epoch.problem.scorer
        if type(scorer) is not FamilyScorer:
            raise ParameterError(
                "Islands on a cluster need a FamilyScorer, because each worker holds the complete "
                f"table; got a {type(scorer).__name__}. Leave out the cluster of the islands."
            )
        jobs = list(enumerate(islands))
        states = dict(self.workers.run(_evolve_island, jobs, shared=(epoch,)))
        return [states[number] for number in range(len(islands))]


def _evolve_island(epoch: Epoch, job: tuple[int, Island]) -> tuple[int, CCMAState]:
    """Evolve an island for one epoch, on a worker."""
    number, island = job
    return number, epoch(island)
