"""Naive Bayes: the class is the only parent of every other variable.

The form is given, so there is nothing to search: generation 0 holds the structure, and the only
step changes nothing. Arcs that lower the score are kept, since they are the form. Constraints come
first: a forbidden arc is left out, and required arcs are added. A start structure with a higher
score stays.

References
----------
R. O. Duda, P. E. Hart (1973). Pattern classification and scene analysis. Wiley.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from coevo.search.class_structure import ClassStructure

__all__ = ["NaiveBayes"]


@dataclass(frozen=True)
class NaiveBayes(ClassStructure):
    """Settings of naive Bayes.

    Parameters
    ----------
    class_variable : str
        The variable that the others predict.
    """

    name: ClassVar[str] = "naive_bayes"
    has_tree: ClassVar[bool] = False
