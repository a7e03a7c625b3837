"""What both estimators share: the protocol of scikit-learn, and a network learned from a table.

The estimators follow the conventions of scikit-learn (`__init__` only stores parameters, `fit`
validates them, the names of results end in ``_``) without importing it. Where scikit-learn looks
for an object of its own (tags, metadata routing, the page of an estimator in a notebook, an
exception), it is made when scikit-learn asks for it. The estimators also work without
scikit-learn.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from coevo.data import Dataset, Variable
from coevo.data.known_rows import KnownRows, read_known_rows
from coevo.errors import NotFittedError, ParameterError, import_optional, suggest_match
from coevo.estimators.feature_tables import FeatureTable, open_features
from coevo.learning import LearnResult
from coevo.learning.api import run_learn

if TYPE_CHECKING:
    from coevo.graph import CPDAG, DAG
    from coevo.network import BayesianNetwork
    from coevo.search import HistoryRow

__all__ = ["NetworkEstimator", "get_sklearn_class"]


class NetworkEstimator:
    """The parameters, the learned network and the reading of new rows."""

    dag_: DAG
    cpdag_: CPDAG
    score_: float
    history_: tuple[HistoryRow, ...]
    result_: LearnResult
    feature_names_in_: NDArray[np.object_]
    n_features_in_: int
    _has_names: bool  # whether the training table had names of its own
    _variables: tuple[Variable, ...]  # without the state "missing" of ``missing='state'``

    def _learn(self, features: FeatureTable, table: Any, options: Mapping[str, Any]) -> None:
        """Learn a network from a table, and store the results."""
        chosen = dict(options)
        if chosen["bootstraps"] is None:
            chosen["bootstraps"] = 0  # a grid search calls `fit` many times
        is_array = table is features.table
        names = features.array_names if is_array else None
        result = run_learn(table, score=chosen.pop("scoring"), names=names, **chosen)
        self.result_ = result
        self.dag_, self.cpdag_ = result.dag, result.cpdag
        self.score_, self.history_ = result.score, result.history
        listed = features.names
        if listed is None:  # ignored columns count, parts of dates do not
            listed = tuple(column.name for column in result.columns if column.source is None)
        self.feature_names_in_ = np.array(listed, dtype=object)
        self.n_features_in_ = len(listed)
        self._has_names = features.has_names
        states = {column.name: column.states for column in result.columns}
        self._variables = tuple(
            replace(variable, states=variable.states[: len(states[variable.name])])
            for variable in result.dataset.source_variables
        )

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

    # -- new rows

    def _open(self, table: Any) -> FeatureTable:
        """Return a table of new rows, its columns named as those of the training data."""
        self._get_result()
        rows = table.expand() if isinstance(table, Dataset) else table  # one answer for each row
        features = open_features(rows, type(self).__name__)
        names = [str(name) for name in self.feature_names_in_]
        return features.align(names, self._has_names, type(self).__name__)

    def _read(self, features: FeatureTable, without: str | None = None) -> KnownRows:
        """Read new rows; a missing value, an unseen label and an absent column are unknown."""
        wanted = [variable for variable in self._variables if variable.name != without]
        params = self.get_params()
        rows = read_known_rows(
            features.table,
            wanted,
            names=features.array_names,
            decimal=params["decimal"],
            missing_labels=params["missing_labels"],
            keep_labels=params["keep_labels"],
            merge=params["merge"],
        )
        imputation = self.result_.imputation
        if imputation is None or imputation.policy != "state":
            return rows
        codes = dict(rows.codes)
        for variable in wanted:  # a missing value has a state of its own, the last one
            has_state = self.network_.variable(variable.name).arity > variable.arity
            if has_state and variable.name in codes:
                known = codes[variable.name]
                codes[variable.name] = np.where(known < 0, variable.arity, known)
        return replace(rows, codes=codes)

    def _log_likelihood(self, rows: KnownRows) -> NDArray[np.float64]:
        """Return the log probability of the known states of each row."""
        return self.network_.log_likelihood(rows).per_row

    def _predict(self, rows: KnownRows, target: str) -> NDArray[np.float64]:
        """Return the probability of each state of a variable in each row."""
        return self.network_.predict(rows, target).probabilities

    def _get_result(self) -> LearnResult:
        if not self.__sklearn_is_fitted__():
            sentence = f"This {type(self).__name__} is not fitted yet. Call fit first."
            raise _get_not_fitted_class()(sentence)
        return self.result_

    # -- the protocol of scikit-learn

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return all parameters by name. None of them is an estimator, so `deep` is ignored."""
        return {name: getattr(self, name) for name in self._get_param_names()}

    def set_params(self, **params: Any) -> Self:
        """Set some parameters and return self; an unknown name is a `ParameterError`."""
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
            input_tags=InputTags(string=True, categorical=True, allow_nan=True),
        )

    def get_metadata_routing(self) -> Any:
        """Return what `fit`, `predict` and `score` take beside the data: nothing."""
        from sklearn.utils.metadata_routing import MetadataRequest

        return MetadataRequest(owner=self)

    def _repr_html_(self) -> str | None:
        """Return the page of the estimator in a notebook; None without scikit-learn."""
        try:
            from sklearn.utils import estimator_html_repr
        except ImportError:
            return None
        return str(estimator_html_repr(self))

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        changed = [
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if value is not defaults[name].default and repr(value) != repr(defaults[name].default)
        ]
        return f"{type(self).__name__}({', '.join(changed)})"


def get_sklearn_class(name: str, default: type) -> Any:
    """Return a class of ``sklearn.exceptions`` if scikit-learn is loaded, else the default."""
    module = sys.modules.get("sklearn.exceptions")
    return default if module is None else getattr(module, name)


def _get_not_fitted_class() -> type[NotFittedError]:
    """Return our `NotFittedError`; if scikit-learn is loaded, a class that is also its own."""
    theirs = get_sklearn_class("NotFittedError", NotFittedError)
    if theirs is NotFittedError:
        return NotFittedError
    if "SklearnNotFittedError" not in globals():
        space = {"__doc__": NotFittedError.__doc__, "__module__": __name__}
        made = type("SklearnNotFittedError", (NotFittedError, theirs), space)
        globals()["SklearnNotFittedError"] = made
    found: type[NotFittedError] = globals()["SklearnNotFittedError"]
    return found


def __getattr__(name: str) -> Any:
    """Return the class that an unpickled exception needs."""
    if name == "SklearnNotFittedError":
        import sklearn.exceptions  # noqa: F401

        return _get_not_fitted_class()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
