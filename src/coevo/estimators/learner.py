"""A scikit-learn estimator of the density of a table: a network, learned by `learn`."""

from __future__ import annotations

from typing import Any, Self, Unpack

import numpy as np
from numpy.typing import NDArray

from coevo.data.measurements import read_measurements
from coevo.errors import ParameterError
from coevo.estimators.base import NetworkEstimator
from coevo.estimators.density import BinDensity
from coevo.estimators.feature_tables import FeatureTable, open_features
from coevo.options import EstimatorOptions
from coevo.score import Score
from coevo.signatures import accept_options, document_options

__all__ = ["BayesianNetworkLearner"]

MIN_FEATURES = 2  # of a network


@document_options(EstimatorOptions)
class BayesianNetworkLearner(NetworkEstimator):
    """Learn a Bayesian network from a table, as a scikit-learn estimator.

    Parameters
    ----------
    scoring : str or Score, optional
        The parameter `score` of `learn`. Here ``score`` is a method.
    **options
        As for `learn`, but without the quick bootstrap.
    progress : bool, optional
        As for `learn`, but the default is False: a grid search calls `fit` many times.

    Attributes
    ----------
    dag_, cpdag_ : DAG, CPDAG
        The learned structure, and its equivalence class.
    score_ : float
        The score of the structure, a natural logarithm; higher is better.
    network_ : BayesianNetwork
        The structure with tables fitted to the data.
    adjacency_ : pandas DataFrame of int
        The adjacency matrix: a 1 in row i and column j is the arc i -> j.
    history_ : tuple of HistoryRow
        The progress of the search.
    result_ : LearnResult
        The complete result, as `learn` returns it.
    feature_names_in_, n_features_in_ : array of str, int
        The names and the number of the columns of the table, in its order.

    Notes ----- `score` and `score_samples` measure the density of the raw numbers, not the
    probability of their bins, so that networks with different bins can be compared
    (`coevo.estimators.density`). In new rows a missing value, a label that the training data do
    not have, and a column that is absent are unknown: they are summed out.

    Examples
    --------
    >>> import coevo
    >>> rows = coevo.sample(coevo.load_network("asia"), 2000, random_state=1)
    >>> learner = BayesianNetworkLearner(max_generations=20, random_state=7).fit(rows)
    >>> learner.dag_, learner.cpdag_
    (<DAG: 8 variables, 7 arcs>, <CPDAG: 8 variables, 5 arcs, 2 edges>)
    >>> int(learner.adjacency_.loc["tub", "either"])
    1
    >>> round(learner.score(rows), 3)
    -2.172
    >>> learner
    BayesianNetworkLearner(random_state=7, max_generations=20)
    """

    _densities: dict[str, BinDensity]  # of the columns that were cut into bins

    @accept_options(EstimatorOptions)
    def __init__(
        self,
        *,
        scoring: str | Score | None = None,
        progress: bool | None = False,
        **options: Unpack[EstimatorOptions],
    ) -> None:
        self.scoring, self.progress = scoring, progress
        for name, value in options.items():
            setattr(self, name, value)

    def fit(self, X: Any, y: object = None) -> Self:  # noqa: N803
        """Learn a network from a table of any type that `read_data` accepts.

        The columns of an array get the names x0, x1, and so on. `y` is ignored: a network has
        no target variable.
        """
        features = open_features(X, type(self).__name__, MIN_FEATURES)
        self._learn(features, features.table, self.get_params())
        cuts = {column.name: column.cuts for column in self.result_.columns if column.cuts}
        self._densities = {
            name: BinDensity.from_numbers(cuts[name], numbers)
            for name, numbers in self._read_numbers(features, cuts).items()
        }
        return self

    def predict(self, X: Any, target: str | None = None) -> NDArray[np.str_]:  # noqa: N803
        """Return the most probable state of a variable in each row, given the other columns.

        A network has no single target, so `target` must name the variable. `X` does not need its
        column. Ties go to the first state. `BayesianNetworkClassifier` has one target.
        """
        probabilities = self.predict_proba(X, target)
        states = np.array(self.network_.variable(str(target)).states)
        predicted: NDArray[np.str_] = states[probabilities.argmax(axis=1)]
        return predicted

    def predict_proba(
        self,
        X: Any,  # noqa: N803
        target: str | None = None,
    ) -> NDArray[np.float64]:
        """Return the probability of each state, in the order of ``network_.variable(target)``."""
        features = self._open(X)
        if target is None:
            raise ParameterError(
                f"'target' of {type(self).__name__} must name the variable to predict: a network "
                "has no single target. BayesianNetworkClassifier has one."
            )
        self.network_.variable(target)  # raises if there is no such variable
        return self._predict(self._read(features, without=target), target)

    def score_samples(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """Return the log density of each row: of its numbers, and of its labels."""
        features = self._open(X)
        logs = self._log_likelihood(self._read(features))
        for name, numbers in self._read_numbers(features, self._densities).items():
            logs = logs + self._densities[name].log_density(numbers)
        return logs

    def score(self, X: Any, y: object = None) -> float:  # noqa: N803
        """Return the mean log density of the rows; higher is better. `y` is ignored."""
        return float(self.score_samples(X).mean())

    def _read_numbers(self, features: FeatureTable, columns: Any) -> dict[str, NDArray[np.float64]]:
        """Return the numbers of some columns."""
        wanted = [variable for variable in self._variables if variable.name in columns]
        if features.names is not None:
            wanted = [variable for variable in wanted if variable.name in features.names]
        if not wanted:
            return {}
        params = self.get_params()
        return read_measurements(
            features.table,
            wanted,
            names=features.array_names,
            decimal=params["decimal"],
            missing_labels=params["missing_labels"],
            keep_labels=params["keep_labels"],
            merge=params["merge"],
        )
