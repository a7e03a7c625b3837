"""Write a dataset to a file; the suffix of its name determines the format."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

from coevo.data.dataset import Dataset
from coevo.errors import DataError, ParameterError, bad_parameter, import_optional
from coevo.files import check_output_path

__all__ = ["check_writable", "choose_delimiter", "write_data"]

_CSV = {".csv": ",", ".csv.gz": ",", ".tsv": "\t", ".tsv.gz": "\t"}
_PARQUET = (".parquet", ".pq")


def write_data(dataset: Dataset, path: str | os.PathLike[str]) -> None:
    """Write the observations of a dataset to a file.

    Columns and labels are those of the source. A row with a weight is repeated. The rows of a
    deduplicated dataset are in the order of storage, not in that of the source. The file is
    written under a temporary name and renamed when it is complete.

    Parameters
    ----------
    dataset : Dataset
        The observations.
    path : str or path
        The file. The suffix determines the format: ``.csv``, ``.tsv``, both also with ``.gz``, or
        ``.parquet`` (``.pq``), which needs PyArrow.

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
        _choose_writer(path)(dataset, Path(path))
    except UnicodeEncodeError as error:  # a lone surrogate, half of a UTF-16 pair
        character = error.object[error.start : error.end]
        raise DataError(
            f"{str(path)!r} cannot be written: a name or a state holds {character!r}, which "
            "UTF-8 does not have. Rename it."
        ) from None


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise the error that `write_data` would raise for this path.

    >>> check_writable("rows.xlsx")
    Traceback (most recent call last):
    coevo.errors.ParameterError: The name of a table must end in one of .csv, .csv.gz, .tsv, \
.tsv.gz, .parquet, .pq; got 'rows.xlsx'.
    """
    _choose_writer(path)
    check_output_path(Path(path))


def _choose_writer(path: str | os.PathLike[str]) -> Callable[[Dataset, Path], None]:
    """Return the function that writes the format of the suffix."""
    delimiter = choose_delimiter(path)
    if delimiter is not None:
        from coevo.data.csv_writer import write_csv

        return partial(write_csv, delimiter=delimiter)
    from coevo.data.parquet import write_parquet

    import_optional("pyarrow.parquet", "PyArrow", "parquet")
    return write_parquet


def choose_delimiter(path: str | os.PathLike[str]) -> str | None:
    """Return the delimiter of a text table with this name; None for Parquet."""
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
