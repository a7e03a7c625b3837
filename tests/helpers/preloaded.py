"""What a process that is forked from the fork server finds there: coevo, with its engine."""

import contextlib
from importlib import import_module

from coevo.engine import load_library

for name in ("posteriors", "cli.learn", "experiments", "learning", "problems"):
    import_module(f"coevo.{name}")
with contextlib.suppress(ImportError):
    for name in ("dask.__main__", "distributed.cli.dask_scheduler", "distributed.cli.dask_worker"):
        import_module(name)
load_library()
