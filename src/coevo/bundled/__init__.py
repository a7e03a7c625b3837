"""Published benchmark networks, bundled as data files.

They come from the Bayesian Network Repository of R's bnlearn. `SOURCES.md` in this folder
names the publication of each network, and `scripts/bundle_networks.py` made the files. The
sizes of the networks are in `index.json`, so that listing the networks reads no tables.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path

from coevo.errors import FileError, FormatError, bad_choice, suggest_match
from coevo.files.files import check_path
from coevo.graph import DAG
from coevo.io.bif_reader import read_bif
from coevo.io.csv_structures import Model, require_network
from coevo.io.run_folder import FACTS, MODEL
from coevo.names import match_name
from coevo.network import BayesianNetwork

__all__ = [
    "NetworkInfo",
    "list_networks",
    "load_network",
    "open_model",
    "open_network",
    "open_structure",
    "read_network_index",
]


@dataclass(frozen=True, slots=True)
class NetworkInfo:
    """The size and the origin of a bundled network."""

    name: str
    n_variables: int
    n_arcs: int
    n_parameters: int  # free parameters
    max_parents: int
    min_states: int
    max_states: int
    domain: str  # the subject, in one line
    reference: str  # the publication


@cache
def read_network_index() -> tuple[NetworkInfo, ...]:
    """Return the size and the origin of each bundled network, smallest first.

    Returns
    -------
    tuple of NetworkInfo
        Ordered by the number of variables, then by name.

    Examples
    --------
    >>> [info.name for info in read_network_index() if info.n_parameters > 100_000]
    ['mildew', 'barley', 'diabetes']
    """
    text = files(__name__).joinpath("index.json").read_text(encoding="utf-8")
    return tuple(NetworkInfo(**entry) for entry in json.loads(text))


def list_networks() -> tuple[str, ...]:
    """Return the names of the bundled networks, smallest network first.

    Examples
    --------
    >>> list_networks()[:4]
    ('cancer', 'earthquake', 'survey', 'asia')
    """
    return tuple(info.name for info in read_network_index())


def load_network(name: str) -> BayesianNetwork:
    """Load a bundled network.

    Parameters
    ----------
    name : str
        One of `list_networks`, in upper or lower case.

    Returns
    -------
    BayesianNetwork
        The network as published, with the rows of its tables normalised.

    Raises
    ------
    ParameterError
        If there is no such network.

    Examples
    --------
    >>> load_network("alarm")
    <BayesianNetwork 'alarm': 37 variables, 46 arcs, 509 parameters>
    """
    known = match_name(name, list_networks())
    if known is None:
        raise bad_choice("name", "load_network", list_networks(), name)
    with as_file(files(__name__).joinpath(f"{known}.bif.gz")) as path:
        return read_bif(path)


def open_network(source: str | os.PathLike[str], format_name: str | None = None) -> BayesianNetwork:
    """Open a network file of any format, the folder of a run, or a bundled network by its name.

    Parameters
    ----------
    source : str or path
        The path of a file or of the folder of a run, or one of `list_networks`. A file has
        precedence over a bundled network of the same name; a folder has not, unless it is written
        with a slash (``asia/``).
    format_name : str, optional
        One of `coevo.io.FORMATS` (default: from the extension of the file).

    Raises
    ------
    FormatError
        If the file is malformed, or holds a structure without tables.

    Examples
    --------
    >>> open_network("asia")
    <BayesianNetwork 'asia': 8 variables, 8 arcs, 18 parameters>
    >>> open_network("alrm")
    Traceback (most recent call last):
    coevo.errors.FileError: There is no file and no bundled network 'alrm'. Did you mean 'alarm'?
    """
    return require_network(open_model(source, format_name, "open_network"), str(source))


def open_structure(source: str | os.PathLike[str], format_name: str | None = None) -> DAG:
    """Open the structure of a file of any format, or of a bundled network.

    Parameters
    ----------
    source, format_name
        As for `open_network`. The file does not need tables.

    Examples
    --------
    >>> open_structure("asia")
    <DAG: 8 variables, 8 arcs>
    """
    model = open_model(source, format_name, "open_structure")
    return model if isinstance(model, DAG) else model.dag


def open_model(
    source: str | os.PathLike[str], format_name: str | None = None, owner: str = "open_model"
) -> Model:
    """Open a network, or a structure if the file has no tables.

    Parameters
    ----------
    source, format_name
        As for `open_network`.
    owner : str
        The function that error messages name.
    """
    check_path(source, "source", owner, "a path, or the name of a bundled network")
    path = Path(source)
    if str(source) in list_networks() and not path.is_file():
        return load_network(str(source))
    if any((path / name).is_file() for name in (FACTS, MODEL)):
        return _open_run(path)
    if path.exists() or path.suffix or len(path.parts) > 1:
        from coevo.io.formats import read_model  # and with it the reader of every format

        return read_model(path, format_name)
    known = match_name(str(source), list_networks())
    if known is not None:
        return load_network(known)
    raise FileError(
        f"There is no file and no bundled network {str(source)!r}."
        f"{suggest_match(source, list_networks())}"
    )


def _open_run(folder: Path) -> Model:
    """Return the network of a run."""
    if not (folder / MODEL).is_file():
        raise FormatError(
            f"The run in {str(folder)!r} has no network, because no tables could be fitted to its "
            "structure."
        )
    return read_bif(folder / MODEL)
