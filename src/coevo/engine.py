"""Call the engine: the C library in which the inner loops run.

The sources are in the folder ``engine`` of the repository. A function of the library is declared
here by `kernel`, with the types of its arguments, above a Python function without a body that has
its name, its parameters and its documentation. A declaration knows nothing of the library until its
first call.

An array is passed as its address and its lengths. Arrays that travel together are fields of a
`Structure`, which is checked once, when it is made. What does not fit is a `TypeError`: a wrong
array never reaches C. `tests/test_engine.py` compares every declaration with the headers.

The library is called by `ctypes`, which releases the interpreter lock. It is not bound to a version
of Python. On x86-64 there is one library for each level of the processor, and the best one that can
run is loaded. All give the same bits. ``COEVO_ENGINE_LIBRARY`` names another one, for example a
build with sanitizers.
"""

from __future__ import annotations

import ctypes
import functools
import os
import struct
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar, ParamSpec, TypeVar, cast, dataclass_transform

import numpy as np

from coevo.errors import EngineError

__all__ = [
    "FLOAT",
    "INT",
    "KERNELS",
    "ArrayType",
    "Kernel",
    "NumberType",
    "Structure",
    "array",
    "find_library",
    "kernel",
    "load_library",
    "number",
    "read_array",
]

Parameters = ParamSpec("Parameters")
Answer = TypeVar("Answer")

SUFFIX = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
LEVELS = {4: "libengine_v4", 3: "libengine_v3", 0: "libengine"}

C_NAMES = {
    **{f"{kind}{bits}": f"{kind}{bits}_t" for kind in ("int", "uint") for bits in (8, 16, 32, 64)},
    "bool": "bool",
    "float64": "double",
}

WHOLE = (int, np.integer, np.bool_)
NUMBERS = (*WHOLE, float, np.floating)

PACKED_AS = {ctypes.c_void_p: "P", ctypes.c_int64: "q", ctypes.c_double: "d"}  # in a structure
NO_BYTES = ctypes.c_char * 0  # the type of whatever is at the address of an array

KERNELS: list[Kernel] = []  # all that are declared in the modules imported so far


class ArrayType:
    """A contiguous array of a dtype with a number of axes, writable unless it is only read."""

    def __init__(self, dtype: Any, n_axes: int, is_read_only: bool) -> None:
        self.dtype, self.n_axes, self.is_read_only = np.dtype(dtype), n_axes, is_read_only

    def __str__(self) -> str:
        kind = "an array" if self.is_read_only else "a writable array"
        axes = "axis" if self.n_axes == 1 else "axes"
        return f"{kind} of {self.dtype} with {self.n_axes} {axes}, contiguous"

    def align(self, value: Any) -> Any:
        """Return a copy of an array that is only read and lies at an odd address, else itself.

        Dask puts the arrays of a message one behind the other, wherever each begins.
        """
        if self.is_read_only and isinstance(value, np.ndarray) and not value.flags.aligned:
            return value.copy()
        return value

    def list_c_fields(self, name: str) -> list[tuple[str, str, Any]]:
        """Return the name, the C type and the ctypes type of the address and of each length."""
        const = "const " if self.is_read_only else ""
        lengths = [f"n_{name}", f"{name}_width", f"{name}_depth"][: self.n_axes]
        return [
            (name, f"{const}{C_NAMES[self.dtype.name]} *", ctypes.c_void_p),
            *((length, "int64_t", ctypes.c_int64) for length in lengths),
        ]

    def list_c_values(self, value: Any) -> tuple[int, ...] | None:
        """Return the address and the lengths of an array; None if the value cannot be passed."""
        if not isinstance(value, np.ndarray) or value.ndim != self.n_axes:
            return None
        if value.dtype is not self.dtype and value.dtype != self.dtype:  # most are the same object
            return None
        flags = value.flags
        if flags.carray:  # contiguous, aligned, writable; four times as fast as `value.ctypes`
            address = ctypes.addressof(NO_BYTES.from_buffer(value))  # type: ignore[arg-type]
            return (address, *value.shape)
        if self.is_read_only and flags.c_contiguous and flags.aligned:
            return (value.ctypes.data, *value.shape)
        return None


class NumberType:
    """A number: a whole one, or a float."""

    def __init__(self, is_whole: bool) -> None:
        self.is_whole = is_whole

    def __str__(self) -> str:
        return "a whole number" if self.is_whole else "a number"

    def list_c_fields(self, name: str) -> list[tuple[str, str, Any]]:
        """Return the name, the C type and the ctypes type of the number."""
        if self.is_whole:
            return [(name, "int64_t", ctypes.c_int64)]
        return [(name, "double", ctypes.c_double)]

    def list_c_values(self, value: Any) -> tuple[int | float] | None:
        """Return the number as one of Python's own; None if the value cannot be passed."""
        if not isinstance(value, WHOLE if self.is_whole else NUMBERS):
            return None
        return (int(value) if self.is_whole else float(value),)


INT, FLOAT = NumberType(is_whole=True), NumberType(is_whole=False)


def array(dtype: Any, n_axes: int = 1) -> Any:
    """Return the type of an array that the engine may write to; a `field` of a structure, too."""
    return ArrayType(dtype, n_axes, is_read_only=False)


def read_array(dtype: Any, n_axes: int = 1) -> Any:
    """Return the type of an array that the engine only reads."""
    return ArrayType(dtype, n_axes, is_read_only=True)


def number(kind: type) -> Any:
    """Return the type of a field that is an `int` or a `float`."""
    return INT if kind is int else FLOAT


@dataclass_transform(field_specifiers=(array, read_array, number))
class Structure:
    """Arrays and numbers that travel to the engine together; they are checked when it is made.

    A subclass lists its fields as `array`, `read_array` and `number`. The C structure of the same
    name has the same fields in the same sequence, and the lengths of an array behind its address:
    ``n_NAME``, ``NAME_width``, ``NAME_depth``. The fields cannot be replaced, because C has their
    addresses.

    >>> class Entries(Structure):
    ...     slots: Any = array(np.int64)
    >>> Entries(np.zeros(3))
    Traceback (most recent call last):
    TypeError: 'slots' of Entries must be a writable array of int64 with 1 axis, contiguous.
    """

    field_types: ClassVar[dict[str, ArrayType | NumberType]]
    layout: ClassVar[struct.Struct]  # of the C structure; three times as fast as one of ctypes
    packed: bytes  # the C structure; ctypes passes its address

    def __init_subclass__(cls) -> None:
        own = {
            name: kind
            for name, kind in vars(cls).items()
            if isinstance(kind, ArrayType | NumberType)
        }
        cls.field_types = own
        kinds = [kind for name, type_ in own.items() for _, _, kind in type_.list_c_fields(name)]
        cls.layout = struct.Struct("@" + "".join(PACKED_AS[kind] for kind in kinds))

    def __init__(self, *values: Any, **named: Any) -> None:
        types, own = self.field_types, self.__dict__
        if named:
            rest = tuple(types)[len(values) :]
            is_complete = named.keys() == set(rest)
            values = (*values, *(named[name] for name in rest)) if is_complete else ()
        if len(values) != len(types):
            raise TypeError(f"{type(self).__name__} has the fields {', '.join(types)}.")
        passed: list[int | float] = []
        for (name, type_), value in zip(types.items(), values):  # noqa: B905 - just compared
            listed = type_.list_c_values(value)
            if listed is None and isinstance(type_, ArrayType):
                value = type_.align(value)
                listed = type_.list_c_values(value)
            if listed is None:
                raise TypeError(f"'{name}' of {type(self).__name__} must be {type_}.")
            passed += listed
            own[name] = value
        own["packed"] = self.layout.pack(*passed)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(
            f"'{name}' of {type(self).__name__} cannot be replaced; make a new one."
        )

    def __iter__(self) -> Iterator[Any]:
        return (self.__dict__[name] for name in self.field_types)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(self)


class Kernel:
    """A function of the engine that accepts only what it was declared for."""

    __name__: str

    def __init__(
        self, function: Callable[..., Any], types: tuple[Any, ...], returns: NumberType | None
    ) -> None:
        functools.update_wrapper(self, function)
        code = function.__code__
        self.parameters = dict(
            zip(code.co_varnames[: code.co_argcount], types, strict=True)
        )  # by name: an array, a number or a structure
        self.types, self.returns = types, returns
        self._function: Any = None

    def __call__(self, *values: Any) -> Any:
        """Check the arguments, and call the function."""
        function = self._function or self._load()
        if len(values) != len(self.types):
            raise TypeError(f"{self.__name__} takes {len(self.types)} arguments.")
        passed: list[Any] = []
        for type_, value in zip(self.types, values):  # noqa: B905 - faster, and just checked
            kind = type(value)
            if kind is type_:
                passed.append(value.packed)
            elif kind is int and type_ is INT:
                passed.append(value)
            else:
                is_structure = isinstance(type_, type)  # of another type, then
                listed = None if is_structure else type_.list_c_values(value)
                if listed is None:
                    return self(*self._align(values))
                passed += listed
        return function(*passed)

    def _load(self) -> Any:
        function = getattr(load_library(), self.__name__)
        kinds: list[Any] = []
        for name, type_ in self.parameters.items():
            if isinstance(type_, type):
                kinds.append(ctypes.c_char_p)
            else:
                kinds += [kind for _, _, kind in type_.list_c_fields(name)]
        function.argtypes = kinds
        function.restype = None if self.returns is None else self.returns.list_c_fields("")[0][2]
        self._function = function
        return function

    def _align(self, values: tuple[Any, ...]) -> list[Any]:
        """Return the arguments with arrays aligned; refuse them if none is changed by that."""
        aligned = [
            type_.align(value) if isinstance(type_, ArrayType) else value
            for type_, value in zip(self.types, values, strict=True)
        ]
        if all(one is other for one, other in zip(aligned, values, strict=True)):
            self._refuse(values)
        return aligned

    def _refuse(self, values: tuple[Any, ...]) -> None:
        for (name, type_), value in zip(self.parameters.items(), values, strict=True):
            is_structure = isinstance(type_, type)
            fits = type(value) is type_ if is_structure else type_.list_c_values(value) is not None
            if not fits:
                wanted = f"a {type_.__name__}" if is_structure else str(type_)
                raise TypeError(f"'{name}' of {self.__name__} must be {wanted}.")


def kernel(
    *types: Any, returns: NumberType | None = None
) -> Callable[[Callable[Parameters, Answer]], Callable[Parameters, Answer]]:
    """Declare a function of the engine, with the types of its arguments and of its answer.

    The decorated function has no body but its documentation.
    """

    def declare(function: Callable[Parameters, Answer]) -> Callable[Parameters, Answer]:
        declared = Kernel(function, types, returns)
        KERNELS.append(declared)
        return cast("Callable[Parameters, Answer]", declared)

    return declare


@functools.cache
def load_library() -> ctypes.CDLL:
    """Return the library for this processor, which is loaded once."""
    return _open(find_library())


def find_library() -> Path:
    """Return the path of the library for this processor."""
    chosen = os.environ.get("COEVO_ENGINE_LIBRARY")
    if chosen:
        return Path(chosen)
    folder = Path(__file__).parent
    baseline = folder / f"{LEVELS[0]}{SUFFIX}"
    find_cpu_level = _open(baseline).find_cpu_level
    find_cpu_level.restype = ctypes.c_int64
    level = find_cpu_level()
    paths = [folder / f"{name}{SUFFIX}" for own, name in LEVELS.items() if own <= level]
    return next(path for path in paths if path.exists())


def _open(path: Path) -> ctypes.CDLL:
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        raise EngineError(
            f"The engine of coevo could not be loaded from {path.name}: {error}. Install coevo "
            "again; in a copy of the repository: make engine"
        ) from None
