"""The checks of every experiment before its first run."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from coevo.bundled import open_network
from coevo.io import check_run_folder
from coevo.parallel import Cluster, check_workers
from coevo.report import require_matplotlib

__all__ = ["check_experiment"]


def check_experiment(
    owner: str,
    networks: Iterable[str],
    folder: Path,
    n_jobs: int,
    figures: bool,
    cluster: Cluster = None,
) -> None:
    """Raise an error unless the networks, the folder and the workers are usable. Write nothing."""
    check_workers(owner, n_jobs, cluster)
    if figures:
        require_matplotlib()
    for network in networks:
        open_network(network)
    check_run_folder(folder)
