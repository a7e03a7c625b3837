"""Writing a dataset back to a table, in the format that the name of the file asks for."""

from __future__ import annotations

import os
from pathlib import Path

from coevo.data.dataset import Dataset
from coevo.errors import ParameterError, bad_parameter

__all__ = ["write_data"]

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
    if not isinstance(path, str | os.PathLike):
        raise bad_parameter("path", "write_data", "the name of a file", path)
    target = Path(path)
    lowered = target.name.lower()
    for suffix, delimiter in _CSV.items():
        if lowered.endswith(suffix):
            from coevo.data.csv_writer import write_csv  # imports numba

            write_csv(dataset, target, delimiter)
            return
    if lowered.endswith(_PARQUET):
        from coevo.data.parquet import write_parquet

        write_parquet(dataset, target)
        return
    accepted = ", ".join([*_CSV, *_PARQUET])
    raise ParameterError(f"'path' of write_data must end in one of {accepted}; got {str(path)!r}.")
