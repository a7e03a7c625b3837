"""Writing a dataset back to a table, in the format that the name of the file asks for."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

from coevo.data.dataset import Dataset
from coevo.errors import DataError, ParameterError, bad_parameter, require
from coevo.files import check_folder

__all__ = ["check_writable", "delimiter_of", "write_data"]

_CSV = {".csv": ",", ".csv.gz": ",", ".tsv": "\t", ".tsv.gz": "\t"}
_PARQUET = (".parquet", ".pq")


def write_data(dataset: Dataset, path: str | os.PathLike[str]) -> None:
    """Write the observations of a dataset to a file.

    Columns and labels are those of the source, and a row that occurs several times is
    written as often. The rows of a folded dataset are written in the order in which they
    are stored. The file appears under its name once it is complete.

    Parameters
    ----------
    dataset : Dataset
        What to write.
    path : str or path
        Where to. The suffix chooses the format: ``.csv``, ``.tsv``, both also with
        ``.gz``, or ``.parquet`` (``.pq``), which needs PyArrow.

    Examples
    --------
    >>> import tempfile
    >>> from coevo.data import Variable
    >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
    >>> rows = Dataset([rain, wet], [[0, 1], [0, 1]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_data(rows, f"{folder}/rows.csv")
    ...     print(Path(f"{folder}/rows.csv").read_text(), end="")
    rain,wet
    no,no
    yes,yes
    """
    if not isinstance(dataset, Dataset):
        raise bad_parameter("dataset", "write_data", "a Dataset", dataset)
    try:
        _writer(path)(dataset, Path(path))
    except UnicodeEncodeError as error:  # half of a pair that UTF-16 needs two of
        character = error.object[error.start : error.end]
        raise DataError(
            f"{str(path)!r} cannot be written: a name or a state holds {character!r}, which "
            "UTF-8 does not have. Rename it."
        ) from None


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise what `write_data` would raise for this name, before there is anything to write.

    >>> check_writable("rows.xlsx")
    Traceback (most recent call last):
    coevo.errors.ParameterError: The name of a table must end in one of .csv, .csv.gz, .tsv, \
.tsv.gz, .parquet, .pq; got 'rows.xlsx'.
    """
    _writer(path)
    check_folder(Path(path))


def _writer(path: str | os.PathLike[str]) -> Callable[[Dataset, Path], None]:
    """Return the function that writes the format which the suffix names."""
    delimiter = delimiter_of(path)
    if delimiter is not None:
        from coevo.data.csv_writer import write_csv  # imports numba

        return partial(write_csv, delimiter=delimiter)
    from coevo.data.parquet import write_parquet

    require("pyarrow.parquet", "PyArrow", "parquet")
    return write_parquet


def delimiter_of(path: str | os.PathLike[str]) -> str | None:
    """Return what separates fields in a text table of this name; None for Parquet."""
    if not isinstance(path, str | os.PathLike):
        raise bad_parameter("path", "write_data", "the name of a file", path)
    name = os.fspath(path).lower()
    for suffix, delimiter in _CSV.items():
        if name.endswith(suffix):
            return delimiter
    if name.endswith(_PARQUET):
        return None
    accepted = ", ".join([*_CSV, *_PARQUET])
    raise ParameterError(f"The name of a table must end in one of {accepted}; got {str(path)!r}.")
