"""Write arrays to an NPZ file, without a pickle and with any version of NumPy.

`numpy.savez` takes ``allow_pickle`` only in newer versions of NumPy. Older ones store it as one
more array. So objects, which alone would be pickled, are refused here.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from coevo.files import replace_file

__all__ = ["write_arrays"]

MOST_COMPRESSED = 1 << 24  # bytes; compressing more would take longer than a search can wait


def write_arrays(path: Path, values: Mapping[str, Any]) -> None:
    """Write arrays, numbers and texts. The file is replaced only when writing succeeds."""
    arrays = {name: np.asanyarray(value) for name, value in values.items()}
    for name, array in arrays.items():
        if array.dtype.hasobject:
            raise ValueError(f"{name!r} holds objects, which cannot be stored without a pickle.")
    n_bytes = sum(array.nbytes for array in arrays.values())
    save = np.savez_compressed if n_bytes <= MOST_COMPRESSED else np.savez
    with replace_file(path) as stream:
        save(stream, **arrays)
