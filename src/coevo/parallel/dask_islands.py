"""Islands on workers: an epoch of each island is one job.

The table goes out once, and each worker makes a scorer of its own from it, which it keeps from
epoch to epoch; an island goes out as its state and comes back as its next one.
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
    """Yield a method whose islands evolve on a cluster; what they find stays the same.

    Parameters
    ----------
    method : Islands
        The settings.
    cluster : str or distributed.Client, optional
        The cluster; see `strength`. Without one the islands evolve here.

    Examples
    --------
    >>> import coevo
    >>> rows = coevo.sample(coevo.load_network("asia"), 500, random_state=1)
    >>> scorer = coevo.FamilyScorer(rows, "k2")
    >>> limit = coevo.Budget(max_generations=2)
    >>> with coevo.distribute_islands(coevo.Islands(islands=2)) as method:  # cluster="local:2"
    ...     found = coevo.run_search(method, scorer, budget=limit, random_state=7)
    >>> found.settings["islands"]
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
    """Lets islands evolve on workers."""

    workers: Workers

    def __call__(self, epoch: Epoch, islands: Sequence[Island]) -> list[CCMAState]:
        """Return where each island stands at the end of an epoch."""
        scorer = epoch.problem.scorer
        if type(scorer) is not FamilyScorer:
            raise ParameterError(
                "Islands evolve on workers that hold the whole table each, by a FamilyScorer; "
                f"a {type(scorer).__name__} stays here. Leave the cluster of the islands out."
            )
        jobs = list(enumerate(islands))
        found = dict(self.workers.run(_evolved, jobs, shared=(epoch,)))
        return [found[number] for number in range(len(islands))]


def _evolved(epoch: Epoch, job: tuple[int, Island]) -> tuple[int, CCMAState]:
    """Let an island evolve, on a worker."""
    number, island = job
    return number, epoch(island)
