"""The client of a Dask cluster. No other module imports Dask, and this one when it is asked.

Addresses, TLS and timeouts are Dask's own matter: its configuration holds
(https://docs.dask.org/en/stable/configuration.html). Only ``local:N`` starts something: a
scheduler and N workers of one thread, as processes of this machine, on its loopback.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from typing import Any

from coevo.errors import ParameterError, WorkerError, require
from coevo.parallel.signals import interrupts_held

__all__ = ["delayed_function", "distributed_module", "is_client", "open_client"]

# Of ``local:N``. A worker that is silent for a minute counts as dead, however it went; Dask
# waits for five. Nobody looks at its pages, so it need not watch itself for them: of two idle
# workers and their scheduler that took 15 % of a core, and takes 4 % now.
LOCAL_SETTINGS = {
    "distributed.scheduler.http.routes": [],
    "distributed.scheduler.worker-ttl": "60s",
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "5s",
}
LOGGERS = ("client", "scheduler", "core", "comm", "batched", "nanny", "worker", "utils")


def distributed_module() -> Any:
    """Return Dask's package for clusters, or say how to install it."""
    return require("distributed", "Dask", "dask")


def delayed_function() -> Any:
    """Return what makes a task of Dask of a function."""
    return require("dask", "Dask", "dask").delayed


def is_client(cluster: object) -> bool:
    """Return whether this is the client of a Dask cluster, or say how to install Dask."""
    return isinstance(cluster, distributed_module().Client) and not cluster.asynchronous


@contextlib.contextmanager
def open_client(cluster: Any) -> Iterator[Any]:
    """Yield the client of an address or of ``local:N``, or the one that is given."""
    distributed = distributed_module()
    if not isinstance(cluster, str):
        yield cluster
        return
    with contextlib.ExitStack() as opened:
        _check_certificates(distributed, cluster)
        opened.enter_context(_quiet())
        address = cluster
        with interrupts_held():  # which the processes and threads started here inherit
            if cluster.startswith("local:"):
                address = opened.enter_context(_local(distributed, int(cluster[6:])))
            try:
                client = distributed.Client(address, set_as_default=False)
            except (OSError, ValueError) as error:
                reason = str(error).splitlines()[0].rstrip(".")
                raise WorkerError(
                    f"No cluster answers at {cluster} ({reason}). Start one with: dask scheduler"
                ) from None
        opened.callback(_close, client)
        yield client


def _check_certificates(distributed: Any, address: str) -> None:
    """Raise `ParameterError` for a TLS address without certificates in Dask's settings."""
    if not address.startswith(("tls://", "wss://")):
        return
    try:
        context = distributed.Security().get_connection_args("client")["ssl_context"]
    except OSError as error:
        raise ParameterError(
            f"The certificates for {address} in Dask's settings cannot be read ({error})."
        ) from None
    if context is None:
        raise ParameterError(
            f"{address} needs certificates, and Dask's settings name none. Set distributed.comm.tls"
            ".ca-file, .client.cert and .client.key (https://distributed.dask.org/en/stable/tls.html)."
        )


@contextlib.contextmanager
def _local(distributed: Any, n_workers: int) -> Iterator[Any]:
    """Yield a cluster of this machine without pages on the web."""
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
        local.close()


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep what Dask logs to itself: what matters is raised."""
    logger = logging.getLogger("distributed")
    loggers = [logger, *(logging.getLogger(f"distributed.{name}") for name in LOGGERS)]
    before = [one.level for one in loggers]
    for one in loggers:
        one.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for one, level in zip(loggers, before, strict=True):
            one.setLevel(level)


def _close(client: Any) -> None:
    """Close a client, however the scheduler is."""
    with contextlib.suppress(Exception):  # whatever it says of a scheduler that is gone
        client.close(timeout=5)
