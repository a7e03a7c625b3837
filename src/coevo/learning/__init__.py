"""From a table to a network in one call: read, validate, search, fit and save.

The package is not called ``learn``: `coevo.learn` is the function, and a module of that name would
replace it.
"""

from typing import TYPE_CHECKING

from coevo.lazy_names import import_lazily

if TYPE_CHECKING:
    from coevo.learning.api import learn
    from coevo.learning.arguments import Objective, ReadOptions
    from coevo.learning.cross_validation import CrossValidation, FoldResult, cross_validate
    from coevo.learning.dependence import Dependence, measure_dependence
    from coevo.learning.result import LearnResult
    from coevo.learning.settings import LearnSettings, check_settings
    from coevo.learning.structure_posterior import posterior
    from coevo.learning.structure_proof import check_proof, prove
    from coevo.learning.task import LearnTask, open_task
else:
    __getattr__, __dir__ = import_lazily(
        __name__,
        api="learn",
        arguments="Objective ReadOptions",
        cross_validation="CrossValidation FoldResult cross_validate",
        dependence="Dependence measure_dependence",
        result="LearnResult",
        settings="LearnSettings check_settings",
        structure_posterior="posterior",
        structure_proof="check_proof prove",
        task="LearnTask open_task",
    )

__all__ = [
    "CrossValidation",
    "Dependence",
    "FoldResult",
    "LearnResult",
    "LearnSettings",
    "LearnTask",
    "Objective",
    "ReadOptions",
    "check_proof",
    "check_settings",
    "cross_validate",
    "learn",
    "measure_dependence",
    "open_task",
    "posterior",
    "prove",
]
