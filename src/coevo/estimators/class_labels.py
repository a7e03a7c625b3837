"""The labels of a class: from `y`, as scikit-learn passes it, to states of a variable and back."""

from __future__ import annotations

import warnings
from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.errors import CoevoWarning, DataError, ParameterError, format_list
from coevo.estimators.base import get_sklearn_class

__all__ = ["choose_class_name", "encode_classes", "read_labels"]

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
