"""Rows as the peers take them: data frames and whole numbers, every declared state kept."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.data import Dataset

__all__ = ["categorical_frame", "code_rows"]


def code_rows(dataset: Dataset) -> NDArray[Any]:
    """Return the code of each variable in each row, (n_vars, n_rows), no row folded.

    >>> from coevo.data import Variable
    >>> rain = Variable("rain", ("no", "yes"))
    >>> code_rows(Dataset([rain], [[0, 1]], weights=np.array([1, 3])))
    array([[0, 1, 1, 1]], dtype=uint8)
    """
    if dataset.weights is None:
        return dataset.codes
    return np.repeat(dataset.codes, dataset.weights, axis=1)


def categorical_frame(dataset: Dataset) -> Any:
    """Return the data as pandas has them, states by name, those that no row shows too."""
    import pandas as pd

    return pd.DataFrame(
        {
            variable.name: pd.Categorical.from_codes(codes, list(variable.states))
            for variable, codes in zip(dataset.variables, code_rows(dataset), strict=True)
        }
    )
