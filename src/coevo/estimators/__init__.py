"""Estimators with the interface of scikit-learn.

- `BayesianNetworkLearner`: the density of a table
- `BayesianNetworkClassifier`: the probability of a class
"""

from coevo.estimators.classifier import BayesianNetworkClassifier
from coevo.estimators.learner import BayesianNetworkLearner

__all__ = ["BayesianNetworkClassifier", "BayesianNetworkLearner"]
