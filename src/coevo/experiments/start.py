"""What every experiment checks before its first run, so that nothing is half done."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from coevo.bundled import open_network
from coevo.io import check_run_folder
from coevo.parallel import Cluster, check_workers
from coevo.report import require_matplotlib

__all__ = ["check_start"]


def check_start(
    owner: str,
    networks: Iterable[str],
    folder: Path,
    n_jobs: int,
    figures: bool,
    cluster: Cluster = None,
) -> None:
    """Raise what is wrong with the networks, the folder or the machine; write nothing."""
    check_workers(owner, n_jobs, cluster)
    if figures:
        require_matplotlib()
    for network in networks:
        open_network(network)
    check_run_folder(folder)
