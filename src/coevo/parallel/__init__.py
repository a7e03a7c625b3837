"""Where independent work runs: in this process or in several."""

from coevo.parallel.jobs import run_jobs

__all__ = ["run_jobs"]
