"""TAN, tree-augmented naive Bayes: naive Bayes with a tree over the other variables.

The class is a parent of every other variable, as in naive Bayes. In addition, each of them may
have one parent among the others. Friedman, Geiger and Goldszmidt (1997) weigh an arc by the mutual
information of its two variables given the class. Here the weight is the gain in the score, given
the class; with the score ``'loglik'`` it is that information times the number of rows. A score
that penalises parameters leaves weak arcs out, so the tree can be a forest. Nothing is random.

Generation 0 is naive Bayes. Constraints come first, as in `coevo.search.naive_bayes`. A limit of
one parent leaves naive Bayes.

References
----------
N. Friedman, D. Geiger, M. Goldszmidt (1997). Bayesian network classifiers. Machine Learning 29,
131-163.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from coevo.search.class_structure import ClassStructure

__all__ = ["TAN"]


@dataclass(frozen=True)
class TAN(ClassStructure):
    """Settings of TAN.

    Parameters
    ----------
    class_variable : str
        The variable that the others predict.
    """

    name: ClassVar[str] = "tan"
    has_tree: ClassVar[bool] = True
