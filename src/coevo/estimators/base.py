"""What both estimators share: the protocol of scikit-learn, and a network learned from a table.

The estimators follow the conventions of scikit-learn (`__init__` only stores parameters, `fit`
validates them, the names of results end in ``_``) without importing it. Where scikit-learn looks
for an object of its own (tags, metadata routing, the page of an estimator in a notebook, an
exception), it is made when scikit-learn asks for it. The estimators also work without
scikit-learn.
"""

from __future__ import annotations

import inspect
import os
import sys
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from coevo.data import Dataset, IncompleteDataset, Variable, read_data
from coevo.data.known_rows import KnownRows, read_known_rows
from coevo.errors import (
    CoevoWarning,
    DataError,
    NotFittedError,
    ParameterError,
    format_list,
    import_optional,
    suggest_match,
    warn_caller,
)
from coevo.learning import LearnResult
from coevo.learning.api import run_learn

if TYPE_CHECKING:
    from coevo.graph import CPDAG, DAG
    from coevo.network import BayesianNetwork
    from coevo.search import HistoryRow

__all__ = [
    "FeatureTable",
    "NetworkEstimator",
    "choose_class_name",
    "encode_classes",
    "get_sklearn_class",
    "open_features",
    "read_labels",
]


# Tables of features, as scikit-learn passes them: data frames, arrays, lists of rows.
#
# `open_features` finds the names of the columns. An array has none; its columns are called x0, x1
# and so on. `FeatureTable.align` gives the columns of a new table the names of the training table,
# where one of the two has no names of its own. `FeatureTable.add_labels` adds a column of text.


@dataclass(frozen=True, slots=True)
class FeatureTable:
    """A table that `read_data` accepts.

    Attributes
    ----------
    table : Any
        The table.
    names : tuple of str, optional
        The names of its columns; None if the source must be read to find them (a path, a Dataset).
    has_names : bool
        Whether the names are those of the source.
    n_rows : int, optional
        Number of rows; None if the source must be read to find it.
    """

    table: Any
    names: tuple[str, ...] | None = None
    has_names: bool = True
    n_rows: int | None = None

    @property
    def array_names(self) -> list[str] | None:
        """The names to pass to `read_data`: those of an array without names."""
        is_plain = isinstance(self.table, np.ndarray) and self.table.dtype.names is None
        return list(self.names or ()) if is_plain else None

    def align(self, expected: Sequence[str], has_names: bool, owner: str) -> FeatureTable:
        """Return the table with the names of the training table, if one of them has no names.

        `expected` are the names of the training table. If both tables have names of their own, the
        names say which column is which.
        """
        if self.names is None or (self.has_names and has_names):
            return self
        if len(self.names) != len(expected):
            raise ParameterError(
                f"X has {len(self.names):,} features, but {owner} is expecting "
                f"{len(expected):,} features as input."
            )
        if has_names:
            warn_caller(
                f"X does not have valid feature names, but {owner} was fitted with feature names; "
                "the columns are taken in the order of the training data."
            )
        elif self.has_names:
            warn_caller(
                f"X has feature names, but {owner} was fitted without feature names; the columns "
                "are taken in the order of the training data."
            )
        return self._rename(tuple(expected))

    def _rename(self, names: tuple[str, ...]) -> FeatureTable:
        """Return the table with other names, in the order of the columns."""
        if self.array_names is not None:
            return replace(self, names=names)
        if isinstance(self.table, np.ndarray):
            fields = [(new, self.table.dtype[i]) for i, new in enumerate(names)]
            return replace(self, names=names, table=self.table.astype(fields))
        import narwhals as nw

        frame = nw.from_native(self.table, eager_only=True)
        renamed = frame.rename(dict(zip(frame.columns, names, strict=True)))
        return replace(self, names=names, table=renamed.to_native())

    def select(self, rows: NDArray[np.intp]) -> FeatureTable:
        """Return some of the rows."""
        if isinstance(self.table, np.ndarray):
            return replace(self, table=self.table[rows], n_rows=len(rows))
        import narwhals as nw

        frame = nw.from_native(self.table, eager_only=True)
        return replace(self, table=frame[rows].to_native(), n_rows=len(rows))

    def list_columns(self) -> list[Any]:
        """Return the cells of each column, sorted by name."""
        names = list(self.names or ())
        places = sorted(range(len(names)), key=lambda place: names[place])
        if isinstance(self.table, np.ndarray):
            fields = self.table.dtype.names
            return [self.table[fields[i]] if fields else self.table[:, i] for i in places]
        import narwhals as nw

        frame = nw.from_native(self.table, eager_only=True)
        return [frame[frame.columns[i]].to_list() for i in places]

    def add_labels(self, name: str, labels: NDArray[np.str_]) -> Any:
        """Return a table with a further column of text."""
        if isinstance(self.table, np.ndarray):
            columns = self.table if self.table.dtype.names is not None else self.table.T
            old = self.table.dtype.names or range(len(columns))
            names = list(self.names or ())
            fields = [(new, columns[i].dtype) for new, i in zip(names, old, strict=True)]
            is_masked = isinstance(self.table, np.ma.MaskedArray)
            make_empty: Any = np.ma.empty if is_masked else np.empty
            joined = make_empty(len(labels), dtype=[*fields, (name, labels.dtype)])
            for new, i in zip(names, old, strict=True):
                joined[new] = columns[i]
            joined[name] = labels
            return joined
        import narwhals as nw

        frame = nw.from_native(self.table, eager_only=True)
        backend = nw.get_native_namespace(frame)
        column = nw.new_series(name, labels.tolist(), nw.String(), backend=backend)
        if hasattr(self.table, "index"):  # pandas would align the rows by their labels
            column = nw.maybe_set_index(column, index=nw.maybe_get_index(frame))
        return frame.with_columns(column).to_native()


def open_features(table: Any, owner: str, min_features: int = 1) -> FeatureTable:
    """Return a table with the names of its columns; raise `DataError` if it has none.

    >>> open_features([[1, 2], [3, 4]], "fit").names
    ('x0', 'x1')
    """
    from coevo.data.read.frames import as_frame

    if isinstance(table, str | os.PathLike | Dataset | IncompleteDataset):
        return FeatureTable(table)
    if isinstance(table, list | tuple):
        array = _stack_rows(table)
    elif isinstance(table, np.ndarray):
        array = table
    elif (frame := as_frame(table)) is not None:
        found = FeatureTable(table, tuple(map(str, frame.columns)), n_rows=len(frame))
        _check_shape((len(frame), len(frame.columns)), min_features)
        return found
    elif hasattr(table, "__array__") and not hasattr(table, "to_frame"):
        array = np.asarray(table)
    else:
        read_data(table)  # raises, and says how to convert it
    return _open_array(array, min_features)


def _stack_rows(rows: Sequence[Any]) -> NDArray[Any]:
    try:
        return np.asarray(rows)
    except ValueError:
        raise DataError(
            "The rows of X have different lengths. Give each row the same number of values."
        ) from None


def _open_array(given: NDArray[Any], min_features: int) -> FeatureTable:
    array = given if isinstance(given, np.ma.MaskedArray) else np.asarray(given)  # no matrix
    if array.dtype.names is not None:
        return FeatureTable(array, tuple(array.dtype.names), n_rows=len(array))
    if array.dtype.kind == "c":
        raise DataError(
            "Complex data not supported. Give the real and the imaginary parts as two columns."
        )
    if array.ndim != 2:
        raise DataError(
            f"Expected 2D array, got an array of the shape {array.shape}. Reshape your data to "
            "rows and columns."
        )
    _check_shape(array.shape, min_features)
    names = tuple(f"x{i}" for i in range(array.shape[1]))
    return FeatureTable(array, names, has_names=False, n_rows=len(array))


def _check_shape(shape: tuple[int, ...], min_features: int) -> None:
    n_rows, n_columns = shape
    if n_columns < min_features:
        raise DataError(
            f"X has {n_columns} feature(s) (shape={shape}) while a minimum of {min_features} is "
            "required."
        )
    if not n_rows:
        raise DataError(f"X has 0 sample(s) (shape={shape}) while a minimum of 1 is required.")


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


# The labels of a class: from `y`, as scikit-learn passes it, to states of a variable and back.


CLASS = "class"
MAX_CLASSES = 65_535


def read_labels(y: Any, n_rows: int | None, owner: str) -> NDArray[Any]:
    """Return one label for each row; raise if labels are missing, or are measurements."""
    if y is None:
        raise ParameterError(f"{owner} requires y to be passed, but the target y is None.")
    labels = np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Give y.ravel().",
            get_sklearn_class("DataConversionWarning", CoevoWarning),
            stacklevel=3,
        )
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise DataError(
            f"y should be a 1d array, got an array of shape {labels.shape} instead. Give one label "
            "for each row."
        )
    if n_rows is not None and len(labels) != n_rows:
        raise DataError(
            f"X has {n_rows:,} rows and y has {len(labels):,} labels, which are inconsistent "
            "numbers of samples. Give one label for each row."
        )
    _check_labels(labels)
    return labels


def _check_labels(labels: NDArray[Any]) -> None:
    kind = labels.dtype.kind
    missing = np.isnan(labels) if kind == "f" else np.zeros(len(labels), dtype=np.bool_)
    if kind == "O":
        missing = np.array([_is_missing(label) for label in labels])
    if missing.any():
        first = int(missing.argmax()) + 1
        raise DataError(
            f"Input y contains NaN: {int(missing.sum()):,} labels are missing, the first in row "
            f"{first:,}. Leave these rows out."
        )
    if kind not in "fcOUbiuST":
        raise DataError(f"Unknown label type: {labels.dtype}. Give text, whole numbers or bool.")
    if kind in "fc" and not (np.isfinite(labels) & (labels == np.floor(labels.real))).all():
        raise DataError(
            "Unknown label type: continuous. y has numbers that are not whole, and a classifier "
            "needs classes. Discretise y first."
        )


def _is_missing(label: Any) -> bool:
    return label is None or type(label).__name__ == "NAType" or bool(label != label)


def encode_classes(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp], tuple[str, ...]]:
    """Return the classes in ascending order, the class of each label, and a state for each class.

    >>> encode_classes(np.array([2, 1, 2]))
    (array([1, 2]), array([1, 0, 1]), ('1', '2'))
    """
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError:
        kinds = sorted({type(label).__name__ for label in labels})
        raise DataError(
            f"Unknown label type: y has labels of the types {format_list(kinds)}, which have no "
            "order. Give labels of one type."
        ) from None
    if len(classes) > MAX_CLASSES:
        raise DataError(f"y has {len(classes):,} classes; the maximum of coevo is {MAX_CLASSES:,}.")
    states = tuple(_name_state(label) for label in classes.tolist())
    if len(set(states)) < len(states):
        states = tuple(f"{state} ({i})" for i, state in enumerate(states))
    return classes, codes, states


def _name_state(label: Any) -> str:
    is_whole = isinstance(label, float) and label.is_integer()
    return str(int(label)) if is_whole else str(label)


def choose_class_name(y: Any, features: Collection[str]) -> str:
    """Return the name of `y`, or ``'class'``, with underscores until no feature has the name.

    >>> choose_class_name([0, 1], ["a", "class"])
    'class_'
    """
    given = getattr(y, "name", None)
    name = given if isinstance(given, str) and given.strip() else CLASS
    while name in features:
        name += "_"
    return name
