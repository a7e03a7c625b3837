"""Estimators with the interface of scikit-learn.

- `BayesianNetworkLearner`: the density of a table
- `BayesianNetworkClassifier`: the probability of a class
"""

from typing import TYPE_CHECKING

from coevo.lazy_names import import_lazily

if TYPE_CHECKING:
    from coevo.estimators.classifier import BayesianNetworkClassifier, BayesianNetworkLearner
else:
    __getattr__, __dir__ = import_lazily(
        __name__,
        classifier="BayesianNetworkClassifier BayesianNetworkLearner",
    )

__all__ = ["BayesianNetworkClassifier", "BayesianNetworkLearner"]
