"""The one-call face: from a table to a network, checked, searched, fitted and saved.

The package is not called ``learn``, because `coevo.learn` is the function: a module of that
name would take its place as soon as anyone imported it.
"""

from coevo.learning.api import learn
from coevo.learning.bootstrap import bootstraps_of, with_strength
from coevo.learning.plan import Plan
from coevo.learning.reading import reading
from coevo.learning.result import STRENGTH, LearnResult
from coevo.learning.task import Task, task_of

__all__ = [
    "STRENGTH",
    "LearnResult",
    "Plan",
    "Task",
    "bootstraps_of",
    "learn",
    "reading",
    "task_of",
    "with_strength",
]
