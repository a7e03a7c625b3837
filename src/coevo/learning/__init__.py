"""From a table to a network in one call: read, validate, search, fit and save.

The package is not called ``learn``: `coevo.learn` is the function, and a module of that name would
replace it.
"""

from coevo.learning.api import learn
from coevo.learning.result import LearnResult
from coevo.learning.settings import LearnSettings, check_settings
from coevo.learning.task import LearnTask, open_task

__all__ = ["LearnResult", "LearnSettings", "LearnTask", "check_settings", "learn", "open_task"]
