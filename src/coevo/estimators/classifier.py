"""A scikit-learn classifier: the class is one variable of a network, the features are the others.

The table of the features and the column of the class are learned from together. The probability of
a class is its exact posterior probability, given the known cells of a row.
"""

from __future__ import annotations

from typing import Any, Self, Unpack

import numpy as np
from numpy.typing import NDArray

from coevo.checks import is_choice, is_number
from coevo.data import Dataset, Variable
from coevo.data.reader import DeclaredStates
from coevo.errors import ParameterError, bad_choice, bad_parameter, warn_caller
from coevo.estimators.base import NetworkEstimator
from coevo.estimators.class_labels import choose_class_name, encode_classes, read_labels
from coevo.estimators.feature_tables import open_features
from coevo.learning import LearnResult
from coevo.learning.options import ESTIMATOR_DEFAULTS, EstimatorOptions
from coevo.network import BayesianNetwork, fit_network
from coevo.score import Score
from coevo.search import TAN, NaiveBayes
from coevo.signatures import accept_options

__all__ = ["BayesianNetworkClassifier"]

FREE = "free"
SMOOTHING = 10.0
STRUCTURES = {"tan": TAN, "naive_bayes": NaiveBayes}


class BayesianNetworkClassifier(NetworkEstimator):
    """Predict a class with a Bayesian network, as a scikit-learn classifier.

    Parameters
    ----------
    structure : str
        The form of the network. ``'free'`` (default): any structure, found by `method`. Only the
        Markov blanket of the class counts for a prediction; if it is empty, a warning says so, and
        every prediction is the most frequent class. ``'tan'``: tree-augmented naive Bayes.
        ``'naive_bayes'``: the class is the only parent of every feature. These two use all
        features.
    smoothing : float
        Equivalent sample size of the prior of the tables (default: 10). `learn` takes 1, which
        makes probabilities too extreme: ``benchmarks/README.md`` compares them.
    scoring : str or Score, optional
        The parameter `score` of `learn`. Here ``score`` is a method.
    method, ess, max_table, max_parents, parent_penalty, max_time, max_generations, patience, \
target, n_jobs, random_state, constraints, start, states, drop, types, discretise, bins, missing, \
missing_labels, decimal, strict, bootstraps
        As for `learn`. `method` is for the structure ``'free'``. In constraints the class has the
        name `class_variable_`.
    progress : bool, optional
        As for `learn`, but the default is False.

    Attributes
    ----------
    classes_ : array
        The classes in ascending order, in the type of `y`.
    class_variable_ : str
        The name of the class in the network: the name of `y`, else ``'class'``; underscores are
        added until no feature has this name.
    network_ : BayesianNetwork
        The structure with smoothed tables; the class is one of the variables.
    dag_, cpdag_, score_, adjacency_, history_, result_
        As for `BayesianNetworkLearner`.
    feature_names_in_, n_features_in_ : array of str, int
        The names and the number of the features, in the order of the table.

    Notes
    -----
    In new rows a missing value, a label that the training data do not have, and a column that is
    absent are unknown: they are summed out.

    Examples
    --------
    >>> import coevo
    >>> codes = coevo.sample(coevo.load_network("asia"), 2000, random_state=1).expand().codes
    >>> X, y = np.delete(codes, 2, axis=0).T, np.array(["normal", "short"])[codes[2]]
    >>> model = BayesianNetworkClassifier(structure="tan").fit(X[:1500], y[:1500])
    >>> model.classes_.tolist(), model.class_variable_
    (['normal', 'short'], 'class')
    >>> model.predict(X[1500:1503]).tolist()
    ['short', 'normal', 'short']
    >>> model.score(X[1500:], y[1500:])
    0.848
    """

    classes_: NDArray[Any]
    class_variable_: str
    _network: BayesianNetwork

    @accept_options(EstimatorOptions, ESTIMATOR_DEFAULTS)
    def __init__(
        self,
        *,
        structure: str = FREE,
        smoothing: float = SMOOTHING,
        scoring: str | Score | None = None,
        progress: bool | None = False,
        **options: Unpack[EstimatorOptions],
    ) -> None:
        self.structure, self.smoothing = structure, smoothing
        self.scoring, self.progress = scoring, progress
        for name, value in {**ESTIMATOR_DEFAULTS, **options}.items():
            setattr(self, name, value)

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803
        """Learn a network of the features and the class.

        `X` is a data frame, an array or a list of rows; `y` has one label for each row.
        """
        owner, params = type(self).__name__, self.get_params()
        structure, smoothing = params.pop("structure"), params.pop("smoothing")
        if not (is_number(smoothing) and smoothing > 0):
            raise bad_parameter("smoothing", owner, "a number > 0", smoothing)
        if not is_choice(structure, (FREE, *STRUCTURES)):
            raise bad_choice("structure", owner, (FREE, *STRUCTURES), structure)
        features = open_features(X, owner)
        if features.names is None:
            raise ParameterError(
                f"'X' of {owner}.fit must be a data frame, an array or a list of rows, so that 'y' "
                "can be added to it. Read the file first, for example with pandas."
            )
        labels = read_labels(y, features.n_rows, owner)
        classes, codes, states = encode_classes(labels)
        name = choose_class_name(y, features.names)
        if structure in STRUCTURES:
            params["method"] = STRUCTURES[structure](class_variable=name)
        params["states"] = _declare(params["states"], Variable(name, states))
        self._learn(features, features.add_labels(name, np.array(states)[codes]), params)
        self.classes_, self.class_variable_ = classes, name
        self._network = _fit_tables(self.result_, float(smoothing))
        if len(classes) > 1 and not self.dag_.markov_blanket(name):
            warn_caller(
                f"No feature is connected to the class {name!r}, so every prediction is "
                f"{states[int(np.bincount(codes).argmax())]!r}. Try structure='tan', or more rows."
            )
        return self

    @property
    def network_(self) -> BayesianNetwork:
        """The structure with smoothed tables."""
        self._get_result()
        return self._network

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """Return the most probable class of each row; ties go to the first class."""
        codes = self.predict_proba(X).argmax(axis=1)
        predicted: NDArray[Any] = self.classes_[codes]
        return predicted

    def predict_proba(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """Return the probability of each class in each row, in the order of `classes_`."""
        features = self._open(X)
        rows = self._read(features, without=self.class_variable_)
        return self._predict(rows, self.class_variable_)

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """Return the natural logarithm of each probability."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def score(self, X: Any, y: Any) -> float:  # noqa: N803
        """Return the accuracy: the share of rows whose predicted class is the true one."""
        predicted = self.predict(X)
        true = read_labels(y, len(predicted), type(self).__name__)
        return float(np.mean([a == b for a, b in zip(predicted, true, strict=True)]))

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags

        tags = super().__sklearn_tags__()
        tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        tags.target_tags.required = True
        return tags


def _declare(states: DeclaredStates | None, variable: Variable) -> DeclaredStates:
    """Return declared states with those of the class, so that nothing is decided about them."""
    if states is None:
        return {variable.name: variable.states}
    if isinstance(states, list | tuple):
        return [*states, variable]
    return {**dict(states), variable.name: variable.states}  # type: ignore[arg-type]


def _fit_tables(result: LearnResult, smoothing: float) -> BayesianNetwork:
    """Return the network with tables of this equivalent sample size."""
    imputation, rows, n_imputations = result.imputation, result.dataset, 1
    if imputation is not None:  # fitted to all imputed tables, one below the other
        rows = imputation.fitted_to
        if imputation.imputed_table is not None:
            n_imputations = rows.n_rows // imputation.imputed_table.dataset.n_rows
    assert isinstance(rows, Dataset)
    return fit_network(result.dag, rows, ess=smoothing * n_imputations)
