"""The scikit-learn face: an estimator that learns a network from ``X``.

It keeps scikit-learn's rules (`__init__` only stores, `fit` checks, what was found ends in
``_``) by hand, so that it clones, pickles and goes into a grid search where scikit-learn is
installed, and works where it is not.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from coevo.errors import NotFittedError, ParameterError, require, suggestion
from coevo.learning import LearnResult, learn
from coevo.network import rows_for

if TYPE_CHECKING:
    from coevo.data import Dataset
    from coevo.graph import CPDAG, DAG
    from coevo.learning.plan import Known, Start, States, Types
    from coevo.network import BayesianNetwork
    from coevo.network.rows import Prediction
    from coevo.randomness import RandomState
    from coevo.score import Score
    from coevo.search import HistoryRow, Method

__all__ = ["BayesianNetworkLearner"]


class BayesianNetworkLearner:
    """Learn a network from a table, in the manner of scikit-learn.

    Parameters
    ----------
    scoring : str or Score
        The parameter `score` of `learn`; here ``score`` is a method.
    method, ess, max_parents, parent_penalty, max_time, max_generations, patience, target, n_jobs, \
random_state, constraints, start, states, drop, types, discretise, bins, missing, \
missing_labels, bootstraps
        As for `learn`.
    progress : bool, optional
        As for `learn`, but nothing is shown unless asked for: there may be many fits.

    Attributes
    ----------
    dag_, cpdag_ : DAG, CPDAG
        The structure, and which of its arcs the data cannot direct.
    score_ : float
        Its score on the table, a natural logarithm; higher is better.
    network_ : BayesianNetwork
        The structure with tables.
    adjacency_ : pandas DataFrame of int
        A 1 in row i and column j is the arc i -> j.
    history_ : tuple of HistoryRow
        How the search went.
    learned_ : LearnResult
        All of it, as `learn` returns it.
    feature_names_in_, n_features_in_ : array of str, int
        The variables, in the order of the table.

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
    BayesianNetworkLearner(max_generations=20, random_state=7)
    """

    dag_: DAG
    cpdag_: CPDAG
    score_: float
    history_: tuple[HistoryRow, ...]
    learned_: LearnResult
    feature_names_in_: NDArray[np.object_]
    n_features_in_: int

    def __init__(
        self,
        *,
        method: str | Method = "ccma",
        scoring: str | Score = "bdeu",
        ess: float | None = None,
        max_parents: int | None = None,
        parent_penalty: float = 0.0,
        max_time: float | None = None,
        max_generations: int | None = None,
        patience: int | None = None,
        target: float | None = None,
        n_jobs: int = 1,
        random_state: RandomState = 0,
        constraints: Known | None = None,
        start: Start | None = None,
        states: States | None = None,
        drop: Iterable[str] = (),
        types: Types | None = None,
        discretise: str | None = None,
        bins: int | None = None,
        missing: str | None = None,
        missing_labels: Sequence[str] | None = None,
        bootstraps: int | None = None,
        progress: bool | None = False,
    ) -> None:
        self.method = method
        self.scoring = scoring
        self.ess = ess
        self.max_parents = max_parents
        self.parent_penalty = parent_penalty
        self.max_time = max_time
        self.max_generations = max_generations
        self.patience = patience
        self.target = target
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.constraints = constraints
        self.start = start
        self.states = states
        self.drop = drop
        self.types = types
        self.discretise = discretise
        self.bins = bins
        self.missing = missing
        self.missing_labels = missing_labels
        self.bootstraps = bootstraps
        self.progress = progress

    def fit(self, X: Any, y: object = None) -> Self:  # noqa: N803
        """Learn a network from a table of any kind that `read_data` takes.

        The columns of an array are called x0, x1, and so on. `y` is ignored: a network has
        no target, or all of its variables are.
        """
        wanted = self.get_params()
        found = learn(X, score=wanted.pop("scoring"), names=_names(X), **wanted)
        self.learned_ = found
        self.dag_, self.cpdag_ = found.dag, found.cpdag
        self.score_, self.history_ = found.score, found.history
        self.feature_names_in_ = np.array(found.dag.nodes, dtype=object)
        self.n_features_in_ = len(found.dag.nodes)
        return self

    @property
    def network_(self) -> BayesianNetwork:
        """The structure with tables fitted to the data."""
        return self._found().network

    @property
    def adjacency_(self) -> Any:
        """The arcs as a pandas DataFrame: a 1 in row i and column j is i -> j."""
        dag = self._found().dag
        pandas = require("pandas", "pandas", "pandas")
        names = list(dag.nodes)
        return pandas.DataFrame(dag.adjacency().astype(int), index=names, columns=names)

    def predict(self, X: Any, target: str) -> NDArray[np.str_]:  # noqa: N803
        """Return the most probable state of a variable in each row, given the rest of the row.

        `X` need not have the column itself; see `BayesianNetwork.predict`.
        """
        return np.array(self._predicted(X, target).states)

    def predict_proba(self, X: Any, target: str) -> NDArray[np.float64]:  # noqa: N803
        """Return the probability of each state (as ``network_.variable(target)`` has them)."""
        return self._predicted(X, target).probabilities

    def score(self, X: Any, y: object = None) -> float:  # noqa: N803
        """Return the mean log-likelihood of a row; higher is better. `y` is ignored."""
        rows = self._read(X, fold=True)
        return self.network_.log_likelihood(rows).total / rows.n_rows

    def _predicted(self, table: Any, target: str) -> Prediction:
        network = self.network_
        network.variable(target)  # says if there is none
        return network.predict(self._read(table, fold=False), target)

    def _read(self, table: Any, fold: bool) -> Dataset:
        """Read rows as those that the network was learned from, bins and all."""
        network, names = self.network_, _names(table)
        expected = len(self.learned_.columns)  # those that were ignored too
        if names is not None and len(names) != expected:
            raise ParameterError(
                f"X has {len(names):,} features, but {type(self).__name__} is expecting "
                f"{expected:,} features as input."
            )
        return rows_for(network, table, names=names, fold=fold)

    def _found(self) -> LearnResult:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(f"This {type(self).__name__} has learned nothing yet. Call fit.")
        return self.learned_

    # -- scikit-learn's protocol

    @classmethod
    def _parameters(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return all parameters by name; none of them is an estimator, so `deep` is ignored."""
        return {name: getattr(self, name) for name in self._parameters()}

    def set_params(self, **params: Any) -> Self:
        """Set some parameters; return self.

        >>> BayesianNetworkLearner().set_params(max_parent=3)
        Traceback (most recent call last):
        coevo.errors.ParameterError: BayesianNetworkLearner has no parameter 'max_parent'. \
Did you mean 'max_parents'?
        """
        known = self._parameters()
        for name in params:
            if name not in known:
                raise ParameterError(
                    f"{type(self).__name__} has no parameter {name!r}.{suggestion(name, known)}"
                )
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "learned_")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            input_tags=InputTags(string=True, categorical=True),
        )

    def __repr__(self) -> str:
        usual = inspect.signature(type(self).__init__).parameters
        changed = [
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if value is not usual[name].default and repr(value) != repr(usual[name].default)
        ]
        return f"{type(self).__name__}({', '.join(changed)})"


def _names(table: object) -> list[str] | None:
    """Return names for the columns of an array that has none."""
    if isinstance(table, np.ndarray) and table.dtype.names is None and table.ndim == 2:
        return [f"x{i}" for i in range(table.shape[1])]
    return None
