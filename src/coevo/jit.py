"""Compile the kernels that the engine does not have yet."""
# ruff: noqa: D103

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba.core import types
from numba.extending import intrinsic

INT, FLOAT, FLAG = types.int64, types.float64, types.boolean


def array_of(dtype: Any, n_axes: int = 1, is_read_only: bool = False) -> Any:
    return types.Array(numba.from_dtype(np.dtype(dtype)), n_axes, "C", readonly=is_read_only)


def tuple_of(*fields: Any, kind: type = tuple) -> Any:
    return types.BaseTuple.from_types(fields, kind)


def kernel(*signatures: Any) -> Any:
    def declare(function: Any) -> Any:
        return numba.njit(nogil=True, error_model="numpy", cache=True)(function)

    return declare


def part(function: Any) -> Any:
    return numba.njit(nogil=True, error_model="numpy")(function)


allocating_part = fused = part


def inline(function: Any) -> Any:
    return numba.njit(nogil=True, error_model="numpy", inline="always")(function)


@intrinsic
def popcount(typing_context: Any, word: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), codegen
