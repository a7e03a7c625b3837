"""What a process that is forked from the fork server finds there: coevo, with loaded kernels."""

import contextlib
from importlib import import_module

from coevo import jit, warmup

for name in ("averaging", "cli.learn", "experiments", "learning", "problems"):
    import_module(f"coevo.{name}")
with contextlib.suppress(ImportError):
    for name in ("dask.__main__", "distributed.cli.dask_scheduler", "distributed.cli.dask_worker"):
        import_module(name)
for kernel in jit.KERNELS:
    if warmup.is_complete(warmup.find_room(kernel.__module__)):
        kernel.load()
