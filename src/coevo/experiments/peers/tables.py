"""Rows in the formats of the peers: data frames and integer codes, with all declared states."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.data import Dataset

__all__ = ["expand_codes", "make_categorical_frame"]


def expand_codes(dataset: Dataset) -> NDArray[Any]:
    """Return the code of each variable in each row, (n_vars, n_rows); weighted rows are repeated.

    >>> from coevo.data import Variable
    >>> rain = Variable("rain", ("no", "yes"))
    >>> expand_codes(Dataset([rain], [[0, 1]], weights=np.array([1, 3])))
    array([[0, 1, 1, 1]], dtype=uint8)
    """
    if dataset.weights is None:
        return dataset.codes
    return np.repeat(dataset.codes, dataset.weights, axis=1)


def make_categorical_frame(dataset: Dataset) -> Any:
    """Return a pandas data frame of categorical columns, with unobserved states too."""
    import pandas as pd

    return pd.DataFrame(
        {
            variable.name: pd.Categorical.from_codes(codes, list(variable.states))
            for variable, codes in zip(dataset.variables, expand_codes(dataset), strict=True)
        }
    )
