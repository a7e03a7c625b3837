"""Where independent work runs: in this process, in several, or each job in one of its own."""

from coevo.parallel.apart import Begin, Ending, run_apart
from coevo.parallel.jobs import run_jobs

__all__ = ["Begin", "Ending", "run_apart", "run_jobs"]
