"""A scikit-learn estimator that learns a network.

It follows the conventions of scikit-learn (`__init__` only stores parameters, `fit` validates
them, the names of results end in ``_``) without importing scikit-learn. It can be cloned,
pickled and used in a grid search if scikit-learn is installed, and works without it.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Self, Unpack

import numpy as np
from numpy.typing import NDArray

from coevo.errors import NotFittedError, ParameterError, import_optional, suggest_match
from coevo.learning import LearnResult, learn
from coevo.learning.options import ESTIMATOR_DEFAULTS, EstimatorOptions
from coevo.network import read_rows
from coevo.signatures import accept_options

if TYPE_CHECKING:
    from coevo.data.known_rows import KnownRows
    from coevo.graph import CPDAG, DAG
    from coevo.network import BayesianNetwork
    from coevo.network.rows import Prediction
    from coevo.score import Score
    from coevo.search import HistoryRow

__all__ = ["BayesianNetworkLearner"]


class BayesianNetworkLearner:
    """Learn a Bayesian network from a table, as a scikit-learn estimator.

    Parameters
    ----------
    scoring : str or Score, optional
        The parameter `score` of `learn`. Here ``score`` is a method.
    method, ess, max_table, max_parents, parent_penalty, max_time, max_generations, patience, \
target, n_jobs, random_state, constraints, start, states, drop, types, discretise, bins, missing, \
missing_labels, decimal, strict, bootstraps
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
        The names and the number of the variables, in the order of the table.

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

    dag_: DAG
    cpdag_: CPDAG
    score_: float
    history_: tuple[HistoryRow, ...]
    result_: LearnResult
    feature_names_in_: NDArray[np.object_]
    n_features_in_: int

    @accept_options(EstimatorOptions, ESTIMATOR_DEFAULTS)
    def __init__(
        self,
        *,
        scoring: str | Score | None = None,
        progress: bool | None = False,
        **options: Unpack[EstimatorOptions],
    ) -> None:
        self.scoring, self.progress = scoring, progress
        for name, value in {**ESTIMATOR_DEFAULTS, **options}.items():
            setattr(self, name, value)

    def fit(self, X: Any, y: object = None) -> Self:  # noqa: N803
        """Learn a network from a table of any type that `read_data` accepts.

        The columns of an array get the names x0, x1, and so on. `y` is ignored: a network has
        no target variable.
        """
        params = self.get_params()
        if params["bootstraps"] is None:
            params["bootstraps"] = 0  # a grid search calls `fit` many times
        result = learn(X, score=params.pop("scoring"), names=_make_column_names(X), **params)
        self.result_ = result
        self.dag_, self.cpdag_ = result.dag, result.cpdag
        self.score_, self.history_ = result.score, result.history
        self.feature_names_in_ = np.array(result.dag.nodes, dtype=object)
        self.n_features_in_ = len(result.dag.nodes)
        return self

    @property
    def network_(self) -> BayesianNetwork:
        """The structure with tables fitted to the data."""
        return self._get_result().network

    @property
    def adjacency_(self) -> Any:
        """The adjacency matrix as a pandas DataFrame: a 1 in row i and column j is i -> j."""
        dag = self._get_result().dag
        pandas = import_optional("pandas", "pandas", "pandas")
        names = list(dag.nodes)
        return pandas.DataFrame(dag.adjacency().astype(int), index=names, columns=names)

    def predict(self, X: Any, target: str) -> NDArray[np.str_]:  # noqa: N803
        """Return the most probable state of a variable in each row, given the other columns.

        `X` does not need the column of the target; see `BayesianNetwork.predict`.
        """
        return np.array(self._predict(X, target).states)

    def predict_proba(self, X: Any, target: str) -> NDArray[np.float64]:  # noqa: N803
        """Return the probability of each state, in the order of ``network_.variable(target)``."""
        return self._predict(X, target).probabilities

    def score(self, X: Any, y: object = None) -> float:  # noqa: N803
        """Return the mean log-likelihood of the rows; higher is better. `y` is ignored."""
        return self.network_.log_likelihood(self._read(X)).mean

    def _predict(self, table: Any, target: str) -> Prediction:
        network = self.network_
        network.variable(target)  # raises if there is no such variable
        return network.predict(self._read(table), target)

    def _read(self, table: Any) -> KnownRows:
        """Read rows with the columns, states and bins of the network."""
        network, names = self.network_, _make_column_names(table)
        # Ignored columns count, parts of dates do not.
        expected = sum(column.source is None for column in self.result_.columns)
        if names is not None and len(names) != expected:
            raise ParameterError(
                f"X has {len(names):,} features, but {type(self).__name__} is expecting "
                f"{expected:,} features as input."
            )
        return read_rows(network, table, names=names)

    def _get_result(self) -> LearnResult:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(f"This {type(self).__name__} is not fitted yet. Call fit first.")
        return self.result_

    # -- scikit-learn's protocol

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return all parameters by name. None of them is an estimator, so `deep` is ignored."""
        return {name: getattr(self, name) for name in self._get_param_names()}

    def set_params(self, **params: Any) -> Self:
        """Set some parameters and return self.

        >>> BayesianNetworkLearner().set_params(max_parent=3)
        Traceback (most recent call last):
        coevo.errors.ParameterError: BayesianNetworkLearner has no parameter 'max_parent'. \
Did you mean 'max_parents'?
        """
        known = self._get_param_names()
        for name in params:
            if name not in known:
                raise ParameterError(
                    f"{type(self).__name__} has no parameter {name!r}.{suggest_match(name, known)}"
                )
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "result_")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            input_tags=InputTags(string=True, categorical=True),
        )

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        changed = [
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if value is not defaults[name].default and repr(value) != repr(defaults[name].default)
        ]
        return f"{type(self).__name__}({', '.join(changed)})"


def _make_column_names(table: object) -> list[str] | None:
    """Return names for the columns of an array without names, and None for other tables."""
    if isinstance(table, np.ndarray) and table.dtype.names is None and table.ndim == 2:
        return [f"x{i}" for i in range(table.shape[1])]
    return None
