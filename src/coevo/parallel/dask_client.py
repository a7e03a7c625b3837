"""The client of a Dask cluster.

Only this module imports Dask, and only inside its functions. Addresses, TLS and timeouts follow
Dask's own configuration (https://docs.dask.org/en/stable/configuration.html). Only ``local:N``
starts processes: a scheduler and N workers with one thread each, on the loopback interface of
this machine.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from typing import Any

from coevo.errors import ParameterError, WorkerError, import_optional
from coevo.parallel.signals import block_interrupts

__all__ = ["import_delayed", "import_distributed", "is_client", "open_client"]

# For ``local:N``. A worker that is silent for one minute counts as dead; Dask's default is five
# minutes. Nobody reads the dashboard, so its monitoring is off: two idle workers and their
# scheduler used 15 % of a core with it and use 4 % without it.
LOCAL_SETTINGS = {
    "distributed.scheduler.http.routes": [],
    "distributed.scheduler.worker-ttl": "60s",
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "5s",
}
LOGGERS = ("client", "scheduler", "core", "comm", "batched", "nanny", "worker", "utils")


def import_distributed() -> Any:
    """Return the package `distributed`, or raise `DependencyError`."""
    return import_optional("distributed", "Dask", "dask")


def import_delayed() -> Any:
    """Return ``dask.delayed``, or raise `DependencyError`."""
    return import_optional("dask", "Dask", "dask").delayed


def is_client(cluster: object) -> bool:
    """Return whether this is a synchronous Dask client; raise `DependencyError` without Dask."""
    return isinstance(cluster, import_distributed().Client) and not cluster.asynchronous


@contextlib.contextmanager
def open_client(cluster: Any) -> Iterator[Any]:
    """Yield a client for an address or for ``local:N``, or the given client itself."""
    distributed = import_distributed()
    if not isinstance(cluster, str):
        yield cluster
        return
    with contextlib.ExitStack() as opened:
        _check_certificates(distributed, cluster)
        opened.enter_context(_silence_logs())
        address = cluster
        with block_interrupts():  # processes and threads started here inherit this
            if cluster.startswith("local:"):
                address = opened.enter_context(_start_local_cluster(distributed, int(cluster[6:])))
            try:
                client = distributed.Client(address, set_as_default=False)
            except (OSError, ValueError) as error:
                reason = str(error).splitlines()[0].rstrip(".")
                raise WorkerError(
                    f"No cluster answers at {cluster} ({reason}). Start one with: dask scheduler"
                ) from None
        opened.callback(_close_client, client)
        yield client


def _check_certificates(distributed: Any, address: str) -> None:
    """Raise `ParameterError` for a TLS address without certificates in Dask's configuration."""
    if not address.startswith(("tls://", "wss://")):
        return
    try:
        context = distributed.Security().get_connection_args("client")["ssl_context"]
    except OSError as error:
        raise ParameterError(
            f"The TLS certificates for {address} in Dask's configuration cannot be read ({error})."
        ) from None
    if context is None:
        raise ParameterError(
            f"{address} needs TLS certificates, but Dask's configuration has none. Set "
            "distributed.comm.tls.ca-file, .client.cert and .client.key "
            "(https://distributed.dask.org/en/stable/tls.html)."
        )


@contextlib.contextmanager
def _start_local_cluster(distributed: Any, n_workers: int) -> Iterator[Any]:
    """Yield a cluster on this machine, without a dashboard."""
    import dask

    with dask.config.set(LOCAL_SETTINGS):
        local = distributed.LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            host="127.0.0.1",
            silence_logs=logging.CRITICAL,
            scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
        )
    try:
        yield local
    finally:
        with contextlib.suppress(AssertionError):  # a worker that was killed is being started again
            local.close()


@contextlib.contextmanager
def _silence_logs() -> Iterator[None]:
    """Silence Dask's loggers. Important problems are raised as errors."""
    root = logging.getLogger("distributed")
    loggers = [root, *(logging.getLogger(f"distributed.{name}") for name in LOGGERS)]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


def _close_client(client: Any) -> None:
    """Close a client, whether its scheduler is reachable or not."""
    with contextlib.suppress(Exception):  # closing fails if the scheduler is lost
        client.close(timeout=5)
